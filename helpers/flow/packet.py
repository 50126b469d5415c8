"""The packet of the next hop: what the chain holds, what the call adds, who hands what to whom, and what the receiver may do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..arguments.handover import HandoverRequest
from ..chain import merge
from ..chain.chain import Chain
from ..chain.rules import Sender
from ..text.masking import safe
from ..values.call import Caller, Ports, utc
from ..values.packet import Authority, Identity, Turn
from ..values.roster import Specialist
from .package import Look


def build(
    request: HandoverRequest,
    specialist: Specialist,
    sender: Sender,
    caller: Caller,
    chain: Chain,
    look: Look,
    ports: Ports,
) -> merge.Built:
    """The packet: what the chain holds, what the call adds, who hands what to whom, and what the receiver may do."""
    identity = Identity(
        handover_id=ports.new_id("ho"),
        chain_id=chain.id,
        hop=chain.next_hop,
        parent=caller.inside,
        depth=sender.depth(chain),
        sender=sender.profile,
        receiver=specialist.profile,
        created_at=utc(ports.clock()),
    )
    evidence = merge.Evidence(
        since=lambda field: caller.said_since(chain.declined.get(field, caller.person_count)),
        when=chain.time_of,
        lifts=caller.lifts,
        artifact=lambda path: (look(path).sha256, look(path).size),
    )
    built = merge.merge(chain.newest, request, identity, evidence)
    turns, told = turns_of(request, caller, ports)
    told_authority = request.authority if asks(request) else inherited_authority(chain, caller)
    authority, widened = merge.narrowed(giver(chain, sender, caller, specialist), told_authority)
    widened = widened if asks(request) else ()
    authority = merge.bounded(authority, specialist.authority)
    packet = built.packet.model_copy(
        update={
            "topic": sender.inside.packet.topic if sender.inside else request.topic,
            "summary": request.summary,
            "user_state": request.user_state,
            "recent_turns": turns,
            "next_action": request.next_action,
            "return_condition": request.return_condition,
            "handover_reason": request.handover_reason,
            "authority": authority,
        }
    )
    warnings = [*request.warnings, *built.warnings]
    warnings += told
    warnings += (
        [f"authority narrowed: {', '.join(widened)} is not {sender.profile}'s to give"]
        if widened
        else []
    )
    return replace(
        built, packet=packet, warnings=tuple(warnings), widened=widened, asked=told_authority
    )


def turns_of(
    request: HandoverRequest, caller: Caller, ports: Ports
) -> tuple[tuple[Turn, ...], tuple[str, ...]]:
    """The newest turns that travel, each once, and warnings of what was told already."""
    wanted = request.include_recent_turns
    given = request.recent_turns if request.recent_turns is not None else caller.turns(wanted)
    newest = tuple(turn for turn in given if turn.text.strip())[-wanted:] if wanted else ()
    cleaned = tuple(
        Turn(role=turn.role or "user", text=safe(turn.text, ports.mask)[0]) for turn in newest
    )
    return merge.told_once(cleaned, request.summary)


def giver(chain: Chain, sender: Sender, caller: Caller, specialist: Specialist) -> Authority:
    """Whose authority bounds the receiver's: the sender's own, and at the root what the roster's entry says."""
    last = chain.find(caller.continues) or sender.inside
    return last.packet.authority if last else specialist.authority


def asks(request: HandoverRequest) -> bool:
    """Whether the call says what the receiver may do."""
    return bool(request.authority and any(request.authority.values()))


def inherited_authority(chain: Chain, caller: Caller) -> Mapping[str, tuple[str, ...]] | None:
    """What the newest handover from the same place was given in words; what a receiver's own entry took away is not passed on."""
    for item in reversed(chain.handovers):
        told = item.events[0].data.get("authority_asked")
        if item.packet.identity.parent == caller.inside and told:
            return {name: tuple(map(str, told.get(name, ()))) for name in ("granted", "denied")}
    return None

"""The packet of the next hop: what the chain holds, what the call adds, and what the receiver may do."""

from __future__ import annotations

from dataclasses import dataclass

from ..arguments.handover import HandoverRequest
from ..chain import merge, rules
from ..chain.chain import Chain
from ..chain.evidence import Evidence
from ..chain.lifts import check_lifts
from ..chain.tools import tools_in
from ..history import consent
from ..history.consent import Declined
from ..text.masking import masked_together, safe
from ..values import authority
from ..values.call import COMMAND_LINE, Call, utc
from ..values.events import Asked, DeclineLifted
from ..values.names import words
from ..values.packet import Authority, HandoverPacket, Identity, StateField, Turn
from ..values.roster import Specialist
from ..values.tools import Tools, tools_named
from .artifacts import Files
from .grounded import grounded, with_persons_words


@dataclass(frozen=True)
class NextPacket:
    """A packet, what its maker should know, the declines it lifts, and authority that was asked for
    in vain (`widened`) beside what was asked, the tools that its receiver may use, and `contradicted`
    as in `Grounded`."""

    packet: HandoverPacket
    files: Files
    tools: Tools
    warnings: tuple[str, ...] = ()
    lifts: tuple[DeclineLifted, ...] = ()
    widened: tuple[str, ...] = ()
    authority_asked: Asked | None = None
    contradicted: tuple[str, ...] = ()


def next_packet(request: HandoverRequest, chain: Chain, files: Files, call: Call) -> NextPacket:
    """What the chain holds, what the call adds, who hands what to whom, what the receiver may do."""
    caller = call.caller
    specialist = call.settings.roster.find(request.specialist_profile)
    sender = sender_of(chain, call)
    identity = Identity(
        handover_id=call.ports.new_id("ho"),
        chain_id=chain.id,
        hop=max(chain.next_hop, caller.hop),
        parent=caller.inside,
        depth=sender.depth(chain) if sender.inside else caller.depth,
        sender=sender.profile,
        receiver=specialist.profile,
        created_at=utc(call.ports.clock()),
    )
    claims = grounded(request.given, chain, call, identity.depth + 1)
    merged = merge.merge(chain.newest, claims.given, identity, evidence(chain, files, call))
    check_lifts(caller.lifts, merged)
    turns, told = turns_of(request, call)
    asked = asked_authority(request) or inherited_authority(chain, caller.inside)
    allowed, widened = authority.narrowed(giver(chain, sender, call, specialist), asked)
    if not asked_authority(request):
        widened = ()
    allowed = authority.bounded(allowed, specialist.authority)
    topic = sender.inside.packet.topic if sender.inside else request.topic
    packet = merged.packet.model_copy(
        update={"topic": topic, "recent_turns": turns, "authority": allowed}
    )
    packet = with_persons_words(packet, chain, call, merged.lifts)
    warnings = [*claims.warnings, *merged.warnings, *told]
    if widened:
        given = f"{', '.join(widened)} is not {sender.profile}'s to give"
        warnings.append(f"authority narrowed: {given}")
    tools = receivers_tools(chain, sender, call, specialist, asked)
    return NextPacket(
        packet,
        files,
        tools,
        tuple(warnings),
        merged.lifts,
        widened,
        asked,
        claims.contradicted,
    )


def sender_of(chain: Chain, call: Call) -> rules.Sender:
    """Who hands over: the caller, with the handover that it works in."""
    inside = call.caller.inside
    return rules.Sender(call.caller.sender, chain.find(inside) if inside else None)


def evidence(chain: Chain, files: Files, call: Call) -> Evidence:
    """What the rules about declines and files need to know."""
    caller = call.caller

    def takes_back(decline: StateField, item: StateField) -> bool:
        said = caller.said_since(chain.declined.get(decline.field, caller.person_count))
        declined = Declined(decline.field, decline.verbatim, item.value)
        return consent.takes_back(item.verbatim, said, declined)

    def persons_words(text: str) -> bool:
        if caller.chat_id == COMMAND_LINE:
            return True
        said = words(text)
        return bool(said) and any(said in words(message) for message in caller.person_messages)

    return Evidence(
        takes_back=takes_back,
        persons_words=persons_words,
        when=chain.time_of,
        lifts=caller.lifts,
        artifact=files.hash_and_size,
    )


def turns_of(request: HandoverRequest, call: Call) -> tuple[tuple[Turn, ...], tuple[str, ...]]:
    """The newest turns that travel, each once, and warnings of what was told already."""
    wanted = request.include_recent_turns
    if "recent_turns" in request.given.model_fields_set:
        given = request.given.recent_turns
    else:
        given = call.caller.turns(wanted)
    spoken = [turn for turn in given if turn.text.strip()]
    newest = spoken[-wanted:] if wanted else []
    mask = call.ports.mask
    cleaned = []
    for turn, text in zip(
        newest, masked_together([turn.text for turn in newest], mask), strict=True
    ):
        cleaned.append(Turn(role=turn.role or "user", text=safe(text, mask)[0]))
    return merge.told_once(tuple(cleaned), request.given.summary)


def giver(chain: Chain, sender: rules.Sender, call: Call, specialist: Specialist) -> Authority:
    """Whose authority bounds the receiver's: the sender's own, and at the root what the roster's
    entry says."""
    last = chain.find(call.caller.continues) or sender.inside
    return last.packet.authority if last else specialist.authority


def receivers_tools(
    chain: Chain, sender: rules.Sender, call: Call, specialist: Specialist, asked: Asked | None
) -> Tools:
    """At most its sender's, its own role's, and none that it is denied by name.

    A leg has the tools of its own role, not of the one before: nobody before it started it.
    """
    words = (*(asked.denied if asked else ()), *specialist.authority.denied)
    named = tools_named(words, call.caller.tools()) if words else Tools()
    around = tools_in(chain, sender.inside, call.settings.roster)
    return around.narrowed(specialist.tools).narrowed(named)


def asked_authority(request: HandoverRequest) -> Asked | None:
    """What the call says the receiver may do, None where it says nothing."""
    told = request.given.authority
    if not (told.granted or told.denied):
        return None
    return Asked(granted=told.granted, denied=told.denied)


def inherited_authority(chain: Chain, inside: str) -> Asked | None:
    """What the newest handover from the same place was given in words; what a receiver's own entry
    took away is not passed on."""
    for item in reversed(chain.handovers):
        if item.parent == inside and item.prepared.authority_asked is not None:
            return item.prepared.authority_asked
    return None

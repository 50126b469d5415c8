"""Who may get the work, who may say what of it: all rules. Each returns or raises, nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..values.call import Caller
from ..values.errors import RefusedError
from ..values.events import CLOSED
from ..values.names import key, quoted
from ..values.packet import HandoverPacket
from ..values.roster import Roster, Specialist, normal
from ..values.settings import Settings
from .answered import SETTLED, name_key
from .chain import Chain, Handover
from .news import news

Again = Literal["new", "repeat", "repeat_open", "supersede"]
ASK_THE_PERSON = (
    "tell the person what stands and ask how to go on; their next message lifts the stop"
)
# What `stopped_by` makes up where nobody says where the work stands still.
_STOPPED_BY = re.compile(r"[^,\n]*, hop \d+: [a-z ]+")


@dataclass(frozen=True)
class Sender:
    """Who hands over, and the handover it works in (None: the orchestrator, at depth 0)."""

    profile: str
    inside: Handover | None = None

    def line(self, chain: Chain) -> tuple[Handover, ...]:
        """The handovers around the sender, innermost first."""
        return chain.ancestors(self.inside.id) if self.inside else ()

    def depth(self, chain: Chain) -> int:
        """How many handovers are open around it, those on the machine that it came from included."""
        line = self.line(chain)
        return len(line) + line[-1].packet.identity.depth if line else 0


def check_sender(sender: Sender, caller: Caller, receiver: Specialist, roster: Roster) -> None:
    """Who hands over works in the handover, and may hand over along the graph.

    Raises RefusedError (nothing_open, graph, self).
    """
    inside = sender.inside
    if inside and not caller.continues:
        if inside.state in CLOSED:
            raise RefusedError(
                f"{inside.id} is closed ({inside.state}): nothing of it can be handed over",
                "answer your superior with response; it hands over what is left",
                "nothing_open",
            )
        if normal(inside.receiver) != normal(sender.profile):
            raise RefusedError(
                f"{sender.profile} does not work in {inside.id}, {inside.receiver} does",
                "name the right sender",
            )
    check_route(roster, sender.profile, receiver)


def check_route(roster: Roster, sender: str, receiver: Specialist) -> None:
    """Nobody hands over to itself, and only along the graph. Raises RefusedError (self, graph)."""
    if normal(sender) == normal(receiver.profile):
        raise RefusedError(
            f"{sender} cannot hand over to itself",
            f"do this part of the work yourself, or name another specialist; {roster.choice(sender)}",
            "self",
        )
    if roster.allows(sender, receiver.profile):
        return
    allowed = roster.edges(sender)
    if allowed:
        hint = f"allowed from here: {', '.join(allowed)}"
    else:
        hint = "hand back with handover_reply and name what is needed"
    raise RefusedError(f"{sender} may not hand over to {receiver.profile}", hint)


def check_stop(chain: Chain, settings: Settings) -> None:
    """A stopped chain waits for the person. Raises RefusedError (stopped), with the reason quoted:
    it may be a specialist's words."""
    if chain.stop:
        raise RefusedError(
            f"this chain is stopped: {quoted(chain.stop, settings.handback_note_tokens)}",
            ASK_THE_PERSON,
            "stopped",
        )


def check_answers(chain: Chain, handover_id: str, receiver: str) -> None:
    """An answer goes to whoever asked. Raises RefusedError (unknown_reference)."""
    if not handover_id:
        return
    asked = chain.find(handover_id)
    if asked and asked.state == "clarify" and normal(asked.receiver) == normal(receiver):
        return
    waiting = []
    for handover in chain.handovers:
        if handover.state == "clarify" and chain.newest_to(handover.receiver) is handover:
            waiting.append(f"{handover.id} ({handover.receiver})")
    if waiting:
        hint = f"waiting for an answer here: {', '.join(waiting)}"
    else:
        hint = "nothing of this topic waits for an answer: leave answers out"
    raise RefusedError(
        f"answers names {handover_id}, which is no open question of {receiver} on this topic",
        hint,
        "unknown_reference",
    )


def check_depth(chain: Chain, sender: Sender, settings: Settings) -> None:
    """At most `max_handover_depth` handovers inside each other. Raises RefusedError (depth)."""
    line = sender.line(chain)
    if sender.depth(chain) >= settings.max_handover_depth:
        path = " > ".join(handover.receiver for handover in reversed(line))
        raise RefusedError(
            f"max_handover_depth {settings.max_handover_depth} is reached ({path})",
            "finish this part yourself or hand back with handover_reply",
            "depth",
        )


def check_hops(chain: Chain, settings: Settings) -> None:
    """At most `max_handovers_per_chain` since the person last lifted a stop.

    Raises RefusedError (hops), which stops the chain.
    """
    most = settings.max_handovers_per_chain
    if len(chain.counted) >= most:
        why = f"max_handovers_per_chain {most} is reached ({chain.path})"
        raise RefusedError(why, ASK_THE_PERSON, "hops", stops=why)


def check_rounds(made: int, settings: Settings) -> None:
    """At most `max_handovers_per_chat` rounds between two messages of the person, on whatever topic.

    Raises RefusedError (hops), which stops all handovers of the chat.
    """
    most = settings.max_handovers_per_chat
    if made >= most:
        why = f"max_handovers_per_chat {most} is reached, on all topics since the person last wrote"
        raise RefusedError(why, ASK_THE_PERSON, "hops", stops=why, whole_chat=True)


def second_call(
    chain: Chain, sender: Sender, receiver: str, fingerprint: str, *, leg: bool = False
) -> Again:
    """What a call means beside the newest handover to the same receiver.

    The table is in docs/architecture.md, A second call. Raises RefusedError (receiver_open,
    nothing_new). Whether something is new is asked later, of the packet: `check_packet`.
    """
    for handover in sender.line(chain):
        if normal(handover.receiver) == normal(receiver):
            raise RefusedError(
                f"{receiver} holds the work that this part belongs to",
                "hand back with handover_reply instead",
                "receiver_open",
            )
    newest = chain.newest_to(receiver)
    if newest is None:
        return "new"
    here = sender.inside.id if sender.inside else ""
    same = newest.fingerprint == fingerprint and newest.parent == here
    if newest.state == "prepared":
        return "repeat" if same else "supersede"
    if newest.is_open:
        if same:
            return "repeat_open"
        raise RefusedError(
            f"{receiver} is already working on this topic ({newest.id}, {newest.state})",
            "wait for its hand-back, or write to it with call_subordinate, reset false",
            "receiver_open",
        )
    if same and not leg and newest.state in ("done", "rejected"):
        raise _nothing_new(newest)
    return "new"


def check_goal(chain: Chain, sender: Sender, goal: str) -> None:
    """A part is less than the whole: the same goal at an inner level is a loop.

    Raises RefusedError (nothing_new).
    """
    wanted = key(goal)
    for handover in sender.line(chain):
        if wanted and key(handover.packet.goal) == wanted:
            giver = handover.packet.identity.sender
            raise RefusedError(
                f"the same goal was handed over at hop {handover.hop}"
                f" ({giver} > {handover.receiver})",
                "state the part that is handed over, or do the work and hand back",
                "nothing_new",
            )


def check_packet(
    packet: HandoverPacket, chain: Chain, receiver: Specialist, roster: Roster, continues: str
) -> None:
    """Before responsibility may move: something new, and all that the receiver insists on.

    `continues` is the id of the leg after which the work moves on by itself, else "". Raises
    RefusedError (nothing_new, incomplete; for a leg also graph, self).
    """
    newest = chain.newest_to(receiver.profile)
    fields = news(packet, newest.known) if newest else ("first",)
    last = chain.find(continues)
    if last is not None:
        check_leg(chain, roster, last, receiver, fields)
    else:
        check_news(chain, receiver.profile, fields)
    check_required(packet, receiver)


def check_news(chain: Chain, receiver: str, fields: Sequence[str]) -> None:
    """After done or rejected a receiver gets the topic again only with something new.

    `fields` are those with news. Raises RefusedError (nothing_new).
    """
    newest = chain.newest_to(receiver)
    if newest is not None and newest.state in ("done", "rejected") and not fields:
        raise _nothing_new(newest)


def _nothing_new(newest: Handover) -> RefusedError:
    return RefusedError(
        f"nothing new since {newest.id} (hop {newest.hop}, {newest.state}) to {newest.receiver}",
        "use its hand-back, or add what changed: a decision, field value, artifact, answer,"
        " rejected path or another summary",
        "nothing_new",
    )


def check_leg(
    chain: Chain, roster: Roster, last: Handover, receiver: Specialist, fields: Sequence[str]
) -> None:
    """The next leg of a run: along the graph, to nobody twice unless `fields` have news.

    Raises RefusedError (graph, self, nothing_new); a visited receiver stops the chain. Seed 004
    escalates every revisit; we allow one along an edge with news, because review and fix need it
    and the hop cap still ends it.
    """
    check_route(roster, last.receiver, receiver)
    visited = [handover.receiver for handover in chain.run(last.id)]
    if normal(receiver.profile) in map(normal, visited) and not fields:
        path = " > ".join([*visited, receiver.profile])
        why = f"{receiver.profile} already had this run and nothing is new ({path})"
        hint = "tell the person what stands and ask how to go on"
        raise RefusedError(why, hint, "nothing_new", stops=why)


def check_required(packet: HandoverPacket, receiver: Specialist) -> None:
    """Raises RefusedError (incomplete) naming what the receiver insists on."""
    missing = missing_fields(packet, receiver.requires)
    if missing:
        raise RefusedError(
            f"{receiver.profile} requires {', '.join(missing)}",
            "send these, as arguments or as fields of state",
            "incomplete",
        )


def missing_fields(packet: HandoverPacket, requires: Sequence[str]) -> tuple[str, ...]:
    """Which of the required fields the packet does not fill. A declined field is filled."""
    return tuple(name for name in requires if not _is_filled(packet, name))


def _is_filled(packet: HandoverPacket, name: str) -> bool:
    if _is_carried(name):
        wanted = name_key(name)
        settled = [item.field for item in packet.state if item.status in SETTLED]
        return wanted in map(name_key, settled)
    if name == "authority":
        return bool(packet.authority.granted or packet.authority.denied)
    return bool(getattr(packet, name))


def _is_carried(name: str) -> bool:
    """Whether a required name is one of the carried fields, not of the packet's own."""
    return name.startswith("state.") or name not in HandoverPacket.model_fields


def never_came_up(packet: HandoverPacket, requires: Sequence[str]) -> tuple[str, ...]:
    """The carried fields that were required and that nobody filled, by their own names."""
    missing = missing_fields(packet, requires)
    names = [name.removeprefix("state.") for name in missing if _is_carried(name)]
    return tuple(dict.fromkeys(names))


def stopped_by(stopped_at: str, handover: Handover, how: str) -> str:
    """Where the work stands still when nobody says it now.

    What a specialist said before counts more than who stopped last.
    """
    if stopped_at and not _STOPPED_BY.fullmatch(stopped_at):
        return stopped_at
    return f"{handover.receiver}, hop {handover.hop}: {how}"


def check_deliverable(handover: Handover, chain: Chain, inside: str, settings: Settings) -> None:
    """Open or prepared, and by whoever works `inside` the handover where it was prepared.

    Depth and authority are those of that place. Raises RefusedError (unknown_reference, stopped).
    """
    if handover.parent != inside:
        giver = handover.packet.identity.sender
        raise RefusedError(
            f"handover {handover.id} is not yours to start, {giver} prepared it",
            "prepare one of your own",
            "unknown_reference",
        )
    if handover.state in CLOSED:
        raise RefusedError(
            f"handover {handover.id} is closed ({handover.state})",
            "prepare a new one with handover_to_specialist",
            "unknown_reference",
        )
    check_stop(chain, settings)


def check_reply_open(handover: Handover, chain: Chain) -> None:
    """A verdict goes to a handover that is open or may be reopened.

    Raises RefusedError (nothing_open).
    """
    if handover.may_be_open:
        return
    if handover.state in ("prepared", "superseded"):
        why = f"handover {handover.id} is {handover.state}, not open"
        raise RefusedError(why, "answer with response", "nothing_open")
    outer = closed_around(chain, handover)
    if outer:
        why = (
            f"handover {handover.id} was closed with {outer.id}, which it was a part of"
            f" ({outer.state})"
        )
        raise RefusedError(why, "answer with response", "nothing_open")


def closed_around(chain: Chain, handover: Handover) -> Handover | None:
    """The handover around this one that is over: what is a part of it cannot go on."""
    for outer in chain.ancestors(handover.id)[1:]:
        if outer.state in CLOSED:
            return outer
    return None

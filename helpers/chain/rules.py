"""Who may get the work: the loop guard, the graph and what a second call means. Rules return or raise."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..values.errors import RefusedError
from ..values.packet import HandoverPacket
from ..values.roster import Roster, Specialist, normal
from ..values.settings import Settings
from .answered import name_key
from .chain import Chain, Handover

Again = Literal["new", "repeat", "repeat_open", "supersede"]


@dataclass(frozen=True)
class Sender:
    """Who hands over: the profile, and the handover it works in (None: the orchestrator, depth 0)."""

    profile: str
    inside: Handover | None = None

    def line(self, chain: Chain) -> tuple[Handover, ...]:
        """The handovers around the sender, innermost first."""
        return chain.ancestors(self.inside.id) if self.inside else ()

    def depth(self, chain: Chain) -> int:
        return len(self.line(chain))


def check_route(roster: Roster, sender: str, receiver: Specialist) -> None:
    """Nobody hands over to itself, and only along the graph. Raises RefusedError (self, graph)."""
    if normal(sender) == normal(receiver.profile):
        raise RefusedError(
            f"{sender} cannot hand over to itself",
            "do this part of the work yourself, or name another specialist",
            "self",
        )
    if not roster.allows(sender, receiver.profile):
        allowed = roster.find(sender).can_handoff_to
        raise RefusedError(
            f"{sender} may not hand over to {receiver.profile}",
            f"allowed from here: {', '.join(allowed)}"
            if allowed
            else "hand back with handover_reply and name what is needed",
            "graph",
        )


def check_stop(chain: Chain) -> None:
    """A stopped chain waits for the person. Raises RefusedError (stopped)."""
    if chain.stop:
        raise RefusedError(
            f"this chain is stopped: {chain.stop}",
            "tell the person what stands and ask how to go on; their next message lifts the stop",
            "stopped",
        )


def check_depth(chain: Chain, sender: Sender, settings: Settings) -> None:
    """At most `max_handover_depth` handovers inside each other. Raises RefusedError (depth), which stops the chain."""
    depth = sender.depth(chain)
    if depth >= settings.max_handover_depth:
        line = " > ".join(item.receiver for item in reversed(sender.line(chain)))
        why = f"max_handover_depth {settings.max_handover_depth} is reached ({line})"
        raise RefusedError(
            why, "finish this part yourself or hand back with handover_reply", "depth", stops=why
        )


def check_hops(chain: Chain, settings: Settings) -> None:
    """At most `max_handovers_per_chain` since the person last lifted a stop. RefusedError (hops) stops the chain."""
    if len(chain.counted) >= settings.max_handovers_per_chain:
        why = (
            f"max_handovers_per_chain {settings.max_handovers_per_chain} is reached ({chain.path})"
        )
        raise RefusedError(
            why,
            "tell the person what stands and ask how to go on; their next message lifts the stop",
            "hops",
            stops=why,
        )


def second_call(
    chain: Chain, sender: Sender, receiver: str, fingerprint: str, *, leg: bool = False
) -> Again:
    """What a call means beside the newest handover to the same receiver (docs/architecture.md, A second call).

    Raises RefusedError (receiver_open, nothing_new). Whether something is new is asked later, of the packet: see `check_news`,
    and for the next `leg` of a run `check_leg`.
    """
    if any(normal(item.receiver) == normal(receiver) for item in sender.line(chain)):
        raise RefusedError(
            f"{receiver} holds the work that this part belongs to",
            "hand back with handover_reply instead",
            "receiver_open",
        )
    newest = chain.newest_to(receiver)
    if newest is None:
        return "new"
    here = sender.inside.id if sender.inside else ""
    same = newest.fingerprint == fingerprint and newest.packet.identity.parent == here
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


def check_news(chain: Chain, receiver: str, news: Sequence[str]) -> None:
    """After done or rejected a receiver gets the topic again only with something new. Raises RefusedError (nothing_new)."""
    newest = chain.newest_to(receiver)
    if newest is not None and newest.state in ("done", "rejected") and not news:
        raise _nothing_new(newest)


def _nothing_new(newest: Handover) -> RefusedError:
    return RefusedError(
        f"nothing new since {newest.id} (hop {newest.hop}, {newest.state}) to {newest.receiver}",
        "use its hand-back, or add what changed: a decision, field value, artifact, answer, rejected path or another summary",
        "nothing_new",
    )


def check_goal(chain: Chain, sender: Sender, goal: str) -> None:
    """A part is less than the whole: the same goal at an inner level is a loop. Raises RefusedError (nothing_new)."""
    wanted = _undressed(goal)
    for item in sender.line(chain):
        if wanted and _undressed(item.packet.goal) == wanted:
            raise RefusedError(
                f"the same goal was handed over at hop {item.hop} ({item.packet.identity.sender} > {item.receiver})",
                "state the part that is handed over, or do the work and hand back",
                "nothing_new",
            )


_BULLET = re.compile(r"\A\s*(?:[-*•–—#>]+|\d{1,3}[.)])\s+")
_QUOTES = re.compile("[\"'`´‘’‚“”„‹›«»「」『』*_]")
_MEANT = "#%&@/\\"  # punctuation that may be part of the last word: C#, 50%


def _undressed(goal: str) -> str:
    """A goal without bullet, quotes, emphasis, case and closing punctuation; one of nothing else stays as it is."""
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", goal).casefold())
    while (bare := _BULLET.sub("", plain)) != plain:
        plain = bare
    plain = " ".join(_QUOTES.sub(" ", plain).split())
    while plain and plain[-1] not in _MEANT and unicodedata.category(plain[-1])[0] in "PZ":
        plain = plain[:-1]
    return plain or " ".join(goal.split())


def check_leg(
    chain: Chain, roster: Roster, last: Handover, receiver: Specialist, news: Sequence[str]
) -> None:
    """The next leg of a run: along the graph, and to nobody twice unless something is new since (review, then fix).

    Raises RefusedError (graph, self, nothing_new); a visited receiver stops the chain. Seed 004 escalates every revisit; we allow
    one along an edge with news, because review and fix need it and the hop cap still ends it.
    """
    check_route(roster, last.receiver, receiver)
    visited = [item.receiver for item in chain.run(last.id)]
    if normal(receiver.profile) in map(normal, visited) and not news:
        why = f"{receiver.profile} already had this run and nothing is new ({' > '.join([*visited, receiver.profile])})"
        raise RefusedError(
            why, "tell the person what stands and ask how to go on", "nothing_new", stops=why
        )


def missing_fields(packet: HandoverPacket, requires: Sequence[str]) -> tuple[str, ...]:
    """Which of the receiver's required fields the packet does not fill. A declined field is filled: it is a value."""
    return tuple(name for name in requires if not _filled(packet, name))


def _filled(packet: HandoverPacket, name: str) -> bool:
    if name == "authority":
        return bool(packet.authority.granted or packet.authority.denied)
    if not name.startswith("state.") and name in type(packet).model_fields:
        return bool(getattr(packet, name))
    wanted = name_key(name)
    return any(
        name_key(item.field) == wanted and item.status in ("answered", "declined", "volunteered")
        for item in packet.state
    )


def check_required(packet: HandoverPacket, receiver: Specialist) -> None:
    """Raises RefusedError (incomplete) naming what the receiver insists on."""
    if lacking := missing_fields(packet, receiver.requires):
        raise RefusedError(
            f"{receiver.profile} requires {', '.join(lacking)}",
            "send these, as arguments or as fields of state",
            "incomplete",
        )

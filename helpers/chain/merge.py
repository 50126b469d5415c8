"""What the chain holds and what a call adds, made into the next packet.

Nothing that was said before is dropped. How a field goes on follows from its row in
`values.packet`: not inherited, the newest one said, or all gathered, by the type of its items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..values.events import DeclineLifted
from ..values.names import words
from ..values.packet import (
    Artifact,
    Authority,
    Contents,
    Decision,
    HandoverPacket,
    Identity,
    OpenQuestion,
    Row,
    StateField,
    Turn,
    Value,
    main_field,
    rows,
)
from .answered import SETTLED, name_key
from .decisions import gather_decisions
from .evidence import Evidence, Hop
from .fields import gather_fields

__all__ = ["Evidence", "Merged", "brought_up", "merge", "told_once", "with_own"]

Item = TypeVar("Item", bound=Value)
# Which turns travel and what a receiver may do is more than the call says: the flow sets them.
SET_BY_FLOW = frozenset({Turn, Authority})
LONG_ENOUGH = 20  # characters of a turn that are found again anywhere in a summary


@dataclass(frozen=True)
class Merged:
    """A packet, what its maker should know, and declines that the person took back."""

    packet: HandoverPacket
    warnings: tuple[str, ...] = ()
    lifts: tuple[DeclineLifted, ...] = ()


def brought_up(packet: HandoverPacket, newest: HandoverPacket | None) -> HandoverPacket:
    """What was handed over, with all that the chain has gathered since."""
    return packet if newest is None else with_own(newest, packet)


def with_own(packet: HandoverPacket, own: HandoverPacket) -> HandoverPacket:
    """A packet under the identity of another, with what that never passes on."""
    update = {row.name: getattr(own, row.name) for row in rows() if not row.travels.inherited}
    return packet.model_copy(update={**update, "identity": own.identity, "topic": own.topic})


def merge(
    previous: HandoverPacket | None, given: Contents, identity: Identity, evidence: Evidence
) -> Merged:
    """The packet after what was given, by a call or a reply, from the chain's newest one.

    What is never inherited is as given. The topic is that of `previous`; turns and authority stay
    empty, they are for the caller to set.
    """
    base = previous or HandoverPacket(identity=identity, topic="")
    nothing = Contents()
    hop = Hop(identity.sender, identity.hop, evidence)
    update: dict[str, object] = {"identity": identity}
    for row in rows():
        before = base if row.travels.inherited else nothing
        update[row.name] = _next(row, before, given, hop)
    packet = base.model_copy(update=update)
    packet = packet.model_copy(update={"state": _without_reopened(packet.state, given)})
    still_open = _unsettled(packet.open_questions, packet.state)
    packet = packet.model_copy(update={"open_questions": still_open})
    return Merged(packet, tuple(hop.warnings), tuple(hop.lifts))


def _next(row: Row, before: Contents, given: Contents, hop: Hop) -> object:
    """A field of the next packet."""
    old, new = getattr(before, row.name), getattr(given, row.name)
    if row.kind in SET_BY_FLOW:
        return old
    if row.travels.inherited == "all" and row.plural:
        gather = _GATHER.get(row.kind, _gather_items)
        return gather(old, new, hop)
    return new or old


def _gather_items(before: Iterable[Item], given: Iterable[Item], hop: Hop) -> tuple[Item, ...]:
    """By their main field, each once; one that says more replaces the old one where it stands."""
    items: dict[str, Item] = {}
    for item in (*before, *given):
        main = main_field(type(item))
        name = words(getattr(item, main))
        says_more = item != type(item)(**{main: getattr(item, main)})
        if name not in items or says_more:
            items[name] = item
    return tuple(items.values())


def _gather_texts(before: Iterable[str], given: Iterable[str], hop: Hop) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *given)))


def _gather_artifacts(
    before: Iterable[Artifact], given: Iterable[Artifact], hop: Hop
) -> tuple[Artifact, ...]:
    """By path; one that is named again is recorded as it is now."""
    artifacts = {item.path: item for item in before}
    for item in given:
        old = artifacts.get(item.path, item)
        sha256, size = hop.evidence.artifact(item.path)
        artifacts[item.path] = Artifact(
            path=item.path,
            kind=item.kind or old.kind,
            version=item.version or old.version,
            sha256=sha256,
            size=size,
        )
    return tuple(artifacts.values())


def _gather_questions(
    before: Iterable[OpenQuestion], given: Iterable[OpenQuestion], hop: Hop
) -> tuple[OpenQuestion, ...]:
    """By their words; each gets an id of its own, `q1` and so on where the call gives none."""
    questions = {words(item.text): item for item in before}
    used = {item.id for item in questions.values()}
    number = 0
    for item in given:
        if words(item.text) in questions:
            continue
        name = item.id
        while not name or name in used:
            number += 1
            name = f"q{number}"
        used.add(name)
        questions[words(item.text)] = item.model_copy(update={"id": name})
    return tuple(questions.values())


_GATHER: Mapping[type, Callable[..., tuple[object, ...]]] = {
    str: _gather_texts,
    StateField: gather_fields,
    Decision: gather_decisions,
    Artifact: _gather_artifacts,
    OpenQuestion: _gather_questions,
}


def _unsettled(
    questions: Iterable[OpenQuestion], state: Iterable[StateField]
) -> tuple[OpenQuestion, ...]:
    """Without those whose field now has a value, or was declined."""
    settled = {name_key(item.field) for item in state if item.status in SETTLED}
    return tuple(
        item for item in questions if settled.isdisjoint((name_key(item.field), name_key(item.id)))
    )


def _without_reopened(state: Iterable[StateField], given: Contents) -> tuple[StateField, ...]:
    """Without claimed declines that are now said to be open."""
    reopened = {name_key(item.field) for item in given.open_questions if item.field}
    kept = []
    for item in state:
        if item.status != "claimed" or name_key(item.field) not in reopened:
            kept.append(item)
    return tuple(kept)


def told_once(turns: Sequence[Turn], summary: str) -> tuple[tuple[Turn, ...], tuple[str, ...]]:
    """The turns that the summary does not tell word for word, each once; warnings say what not."""
    lines, whole = set(map(words, summary.split("\n"))), words(summary)
    kept: list[Turn] = []
    in_summary = repeated = 0
    for turn in turns:
        text = words(turn.text)
        is_line = text in lines or f"{words(turn.role)}: {text}" in lines
        if is_line or (len(text) >= LONG_ENOUGH and text in whole):
            in_summary += 1
        elif kept and kept[-1] == turn:
            repeated += 1
        else:
            kept.append(turn)
    warnings = []
    if in_summary:
        stand = "stands" if in_summary == 1 else "stand"
        warnings.append(
            f"{in_summary} of the recent turns {stand} word for word in the summary and travel once"
        )
    if repeated:
        repeat = "repeats" if repeated == 1 else "repeat"
        warnings.append(
            f"{repeated} of the recent turns {repeat} the turn before it and travel once"
        )
    return tuple(kept), tuple(warnings)

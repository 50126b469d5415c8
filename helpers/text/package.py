"""The stage-1 package: the rows of a packet as parts that travel whole, short, cut or not at all.

`DRAWINGS` says how an item of each type is written, in a package and in a briefing alike. How a row
becomes parts follows from its type and its `Travels`; a type with a rule of its own stands in
`_PARTS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..values.names import words
from ..values.packet import (
    NEVER_CUT,
    Artifact,
    Authority,
    Contents,
    Decision,
    Flag,
    HandoverPacket,
    OpenQuestion,
    PersonSaid,
    RejectedPath,
    Row,
    StateField,
    Turn,
    package_rows,
)
from .fitting import Part
from .quote import BULLET, PACKAGE, Frame, one_line, plain_name, quote

TITLE_CHARS = 80
DECLINED = "Declined by the person: do not ask again"
NOT_AS_RECORDED = ("changed", "gone", "outside")
NAMES = frozenset({"sections_done"})  # rows of names: a line each, in a briefing one line
EARLIER_RANK = 7
_NOT_ID = re.compile(r"[^\w.\-]")


# --- an item as a block of lines


def _decision(decision: Decision, frame: Frame) -> str:
    """Id, version and text, then what it rests on, each in a line of its own."""
    owner = f" ({frame.words(one_line(decision.owner))})" if decision.owner else ""
    block = frame.quote(decision.text, f"{_version(decision)}{owner}: ")
    if decision.rationale:
        block += frame.quote(decision.rationale, "  why: ")
    for item in decision.evidence:
        block += frame.quote(one_line(item), "  evidence: ")
    return block


def decision_title(decision: Decision, limit: int = TITLE_CHARS) -> str:
    return quote(one_line(decision.text, limit), f"{_version(decision)}: ")


_STATUS_WORDS = {"answered": "", "claimed": " [declined? claimed, ask before relying on it]"}


def state_line(item: StateField, frame: Frame = PACKAGE) -> str:
    is_claim = item.status == "claimed" and item.value is None
    value = "" if is_claim else f" = {frame.words(json.dumps(item.value, ensure_ascii=False))}"
    status = _STATUS_WORDS.get(item.status, f" [{item.status}]")
    words = f" — {_spoken(item, frame)}" if item.verbatim else ""
    return frame.quote("", f"{frame.words(one_line(item.field))}{value}{status}{words}")


def decline_line(item: StateField, frame: Frame = PACKAGE) -> str:
    words = f": {_spoken(item, frame)}" if item.verbatim else ""
    return frame.quote("", f"{frame.words(one_line(item.field))} (declined, hop {item.hop}){words}")


def _spoken(item: StateField, frame: Frame) -> str:
    return frame.words(json.dumps(one_line(item.verbatim), ensure_ascii=False))


def artifact_line(artifact: Artifact, frame: Frame = PACKAGE, status: str = "") -> str:
    facts = [frame.words(one_line(artifact.kind)), frame.words(one_line(artifact.version))]
    if artifact.size is not None:
        facts.append(f"{artifact.size:,} bytes")
    if artifact.sha256:
        facts.append(f"sha256 {artifact.sha256[:12]}")
    facts.append(status if status == "unchanged" else status.upper())
    known = ", ".join(filter(None, facts))
    path = frame.words(one_line(artifact.path))
    return frame.quote("", f"{path} ({known})" if known else path)


def authority_lines(authority: Authority, frame: Frame = PACKAGE) -> str:
    block = ""
    for name, items in authority:
        if items:
            block += frame.quote(", ".join(map(one_line, items)), f"{name}: ")
    return block


def turn_lines(role: str, text: str) -> str:
    """A turn: who, outside the quote where text cannot forge it, then the words."""
    words = text.strip("\n")
    return f"{plain_name(role) or 'someone'}:\n{quote(words)}"


def _turn(said: PersonSaid) -> str:
    return f"turn {said.turn}: " if said.turn else BULLET


def _pair(words: str, more: str, frame: Frame) -> str:
    return frame.quote(f"{words} — {more}" if more else words, BULLET)


def _id(identifier: str) -> str:
    if identifier.isalnum() and len(identifier) <= 40:
        return identifier
    return _NOT_ID.sub("", identifier)[:40] or "d"


def _version(decision: Decision) -> str:
    status = "" if decision.status == "active" else f" {decision.status}"
    return f"{_id(decision.id)} v{decision.version}{status}"


DRAWINGS: Mapping[type, Callable[[Any, Frame], str]] = {
    str: lambda text, frame: frame.quote(text, BULLET),
    Decision: _decision,
    StateField: state_line,
    RejectedPath: lambda path, frame: _pair(path.what, path.why, frame),
    OpenQuestion: lambda item, frame: frame.quote(item.text, f"{_id(item.id)}: "),
    Artifact: artifact_line,
    PersonSaid: lambda said, frame: frame.quote(said.text, _turn(said)),
    Flag: lambda flag, frame: _pair(flag.text, ", ".join(flag.fields), frame),
    Authority: authority_lines,
    Turn: lambda turn, frame: turn_lines(turn.role, turn.text),
}


# --- a row as parts


@dataclass(frozen=True)
class Look:
    """How a package is to look.

    `title_chars`: decisions may be shortened to a title of that length, 0: not at all.
    `artifact_status` tells by path how a file is now compared with what was recorded; the lines of
    those that are not as recorded are never cut, unless the line `artifact_counts` stands for them.
    `said_elsewhere` is a line on sentences of the person that are not here.
    """

    title_chars: int = TITLE_CHARS
    artifact_status: Mapping[str, str] = field(default_factory=dict)
    artifact_counts: str = ""
    said_elsewhere: str = ""


def package_parts(
    packet: HandoverPacket,
    *,
    head: str,
    foot: str,
    notices: Sequence[str] = (),
    earlier: Sequence[tuple[str, str]] = (),
    title_chars: int = TITLE_CHARS,
    artifact_status: Mapping[str, str] | None = None,
    artifact_counts: str = "",
    said_elsewhere: str = "",
) -> tuple[Part, ...]:
    """The packet as parts in the order in which they stand.

    `head`, `foot` and `notices` are trusted text, blocks of lines and single lines. The next three
    and the last are those of `Look`. `earlier` are sections about the receiver's own earlier work, first to go.
    """
    frame = identity_lines(packet) + head
    for line in notices:
        frame += f"Notice: {line}\n"
    parts = [Part("", "identity", frame, frame)]
    look = Look(title_chars, artifact_status or {}, artifact_counts, said_elsewhere)
    parts += rows_as_parts(packet, package_rows(), look)
    for section, text in earlier:
        parts += text_part(section, text, EARLIER_RANK)
    parts.append(Part("", "foot", foot, foot))
    return tuple(parts)


def identity_lines(packet: HandoverPacket) -> str:
    identity = packet.identity
    parent = f", inside {identity.parent}" if identity.parent else ""
    way = f"{plain_name(identity.sender)} → {plain_name(identity.receiver)}"
    return (
        f"# Handover {identity.handover_id}\n"
        f"{way}, hop {identity.hop}, depth {identity.depth}{parent}\n"
        f"{quote(one_line(packet.topic), 'topic: ')}"
    )


def rows_as_parts(contents: Contents, rows: Sequence[Row], look: Look) -> Iterator[Part]:
    """The rows in their order; what the person declined stands before the decisions."""
    declines = list(_declines(contents, rows))
    for row in rows:
        if row.kind is Decision:
            yield from declines
            declines = []
        yield from _parts_of(row)(row, getattr(contents, row.name), look)
    yield from declines


def _parts_of(row: Row) -> Callable[[Row, Any, Look], Iterator[Part]]:
    if row.kind is str and not row.plural:
        return _text
    return _PARTS.get(row.kind, _items)


def _declines(contents: Contents, rows: Sequence[Row]) -> Iterator[Part]:
    lines = []
    for row in rows:
        if row.kind is StateField:
            state = getattr(contents, row.name)
            lines += [decline_line(item) for item in state if item.status == "declined"]
    yield from list_parts(DECLINED, lines, NEVER_CUT)


def text_part(section: str, text: str, rank: int) -> Iterator[Part]:
    """A text that is cut at its end when room is short."""
    if text:
        yield Part(section, section.lower(), quote(text), "", rank, (text, quote))


def list_parts(section: str, blocks: Iterable[str], rank: int) -> Iterator[Part]:
    """Items that travel whole or not at all."""
    for number, block in enumerate(blocks, 1):
        short = block if rank == NEVER_CUT else ""
        yield Part(section, f"{section.lower()} {number}", block, short, rank)


def _text(row: Row, text: str, look: Look) -> Iterator[Part]:
    section, rank = row.travels.section, row.travels.rank
    if rank != NEVER_CUT:
        yield from text_part(section, text, rank)
    elif text:
        yield Part(section, section.lower(), quote(text), quote(text), rank)


def _items(row: Row, items: Sequence[Any], look: Look) -> Iterator[Part]:
    drawing = _line if row.name in NAMES else DRAWINGS[row.kind]
    blocks = [drawing(item, PACKAGE) for item in items]
    yield from list_parts(row.travels.section, blocks, row.travels.rank)


def _line(text: str, frame: Frame) -> str:
    return frame.quote(one_line(text))


def _decisions(row: Row, decisions: Sequence[Decision], look: Look) -> Iterator[Part]:
    """Titles of the active ones are never cut; the others are a section of their own."""
    section = row.travels.section
    over = []
    for decision in decisions:
        item = f"decision {_id(decision.id)}"
        if decision.status != "active":
            line = decision_title(decision, TITLE_CHARS * 2)
            short = line if decision.status == "declined" else ""
            over.append(Part(f"{section} no longer active", item, line, short))
            continue
        full = _decision(decision, PACKAGE)
        short = decision_title(decision, look.title_chars) if look.title_chars else full
        yield Part(section, item, full, short, row.travels.rank)
    yield from over


def _state(row: Row, state: Sequence[StateField], look: Look) -> Iterator[Part]:
    lines = [state_line(item) for item in state if item.status != "declined"]
    yield from list_parts(row.travels.section, lines, row.travels.rank)


def _artifacts(row: Row, artifacts: Sequence[Artifact], look: Look) -> Iterator[Part]:
    section, counts = row.travels.section, look.artifact_counts
    if counts:
        yield Part(section, "how many are not as recorded", counts, counts, NEVER_CUT)
    for artifact in artifacts:
        status = look.artifact_status.get(artifact.path, "")
        line = artifact_line(artifact, PACKAGE, status)
        short = line if status in NOT_AS_RECORDED and not counts else ""
        item = f"artifact {one_line(artifact.path, 60)}"
        yield Part(section, item, line, short, row.travels.rank)


def artifact_counts(status: Iterable[str]) -> str:
    """One line on the files that are not as recorded, "" when all are.

    Such as `2 of the artifacts not as recorded: 1 changed, 1 gone`.
    """
    changed = [word for word in status if word in NOT_AS_RECORDED]
    counts = [f"{changed.count(word)} {word}" for word in NOT_AS_RECORDED if word in changed]
    if not counts:
        return ""
    return f"{len(changed)} of the artifacts not as recorded: {', '.join(counts)}\n"


def _authority(row: Row, authority: Authority, look: Look) -> Iterator[Part]:
    if lines := authority_lines(authority):
        yield Part(row.travels.section, "authority", lines, lines, row.travels.rank)


def _turns(row: Row, turns: Sequence[Turn], look: Look) -> Iterator[Part]:
    """Newest turns are worth more: the last one, then the two before it, then the others."""
    section = row.travels.section
    if not turns:
        yield Part(section, "no turns", "none\n", "none\n")
    for number, turn in enumerate(turns, 1):
        behind = len(turns) - number
        rank = row.travels.rank + (behind > 0) + (behind > 2)
        yield Part(
            section,
            f"turn {number} of {len(turns)}",
            turn_lines(turn.role, turn.text),
            rank=rank,
            cut=(turn.text, _said_by(turn.role)),
        )


def _said_by(role: str) -> Callable[[str], str]:
    return lambda text: turn_lines(role, text)


def _persons_words(row: Row, said: Sequence[PersonSaid], look: Look) -> Iterator[Part]:
    section = row.travels.section
    for item in said:
        name = f"turn {item.turn}" if item.turn else "an earlier sentence"
        yield Part(section, name, DRAWINGS[PersonSaid](item, PACKAGE), "", row.travels.rank)
    if look.said_elsewhere:
        yield Part(section, "what is not here", look.said_elsewhere, look.said_elsewhere)


@dataclass(frozen=True)
class Travelling:
    """The person's sentences that travel, and the turns of those for which there is no room."""

    said: tuple[PersonSaid, ...]
    elsewhere: tuple[int, ...] = ()

    @property
    def line(self) -> str:
        """What the package says of the others, "" where all are here."""
        return f"More of it in turns {self.turns}: request_full_history\n" if self.turns else ""

    @property
    def turns(self) -> str:
        """Their numbers, runs as ranges: `3, 7-9`."""
        runs: list[list[int]] = []
        for turn in self.elsewhere:
            if runs and turn == runs[-1][-1] + 1:
                runs[-1] = [runs[-1][0], turn]
            else:
                runs.append([turn])
        return ", ".join("-".join(map(str, run)) for run in runs)


def travelling(
    packet: Contents, room_tokens: int, count: Callable[[str], int], *, with_turns: bool
) -> Travelling:
    """The newest sentences of the person that fit, each once and not where a field holds it, nor,
    `with_turns`, a recent turn."""
    held = "\n".join(map(words, _held(packet, with_turns)))
    wanted = [item for item in packet.person_said if words(item.text).rstrip(".!") not in held]
    kept: list[PersonSaid] = []
    left: list[int] = []
    all_turns = sorted({item.turn for item in wanted if item.turn})
    room = room_tokens - count(Travelling((), tuple(all_turns)).line)
    for item in wanted:
        size = count(DRAWINGS[PersonSaid](item, PACKAGE))
        if size <= room:
            kept.append(item)
            room -= size
        else:
            left.append(item.turn)
    return Travelling(tuple(kept), tuple(sorted(dict.fromkeys(filter(None, left)))))


def _held(packet: Contents, with_turns: bool) -> Iterator[str]:
    """The texts of a packet in which a sentence of the person may stand already."""
    for item in packet.state:
        yield item.verbatim
        yield json.dumps(item.value, ensure_ascii=False)
    for decision in packet.decisions:
        yield decision.text if decision.status == "active" else ""
    for path in packet.rejected_paths:
        yield path.what
    yield from packet.acceptance_criteria
    yield packet.next_action
    if with_turns:
        for turn in packet.recent_turns:
            yield turn.text


_PARTS: Mapping[type, Callable[[Row, Any, Look], Iterator[Part]]] = {
    Decision: _decisions,
    StateField: _state,
    Artifact: _artifacts,
    Authority: _authority,
    PersonSaid: _persons_words,
    Turn: _turns,
}

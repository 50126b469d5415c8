"""What comes back: the hand-back note for the superior, and the entries of the briefing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..values.events import Note
from ..values.packet import (
    NEVER_CUT,
    Decision,
    HandoverPacket,
    Row,
    StateField,
    Turn,
    package_rows,
    rows,
)
from .fitting import Part
from .package import DRAWINGS, NAMES, Look, decline_line, list_parts, rows_as_parts, text_part
from .quote import BRIEFING, BULLET, one_line, plain_name, quote

# The note's own sections, and how dearly each travels.
ASKED, ANSWERED = "Asked for", "Asked for, but the packet holds it"
_TEXTS = {"reason": 1, "what_happened": 1, "next": 1, "observations": 2, "user_state": 2}
_WARNINGS_RANK = 4
_ANSWERED_RANK = 5
NO_VERDICT = ("failed", "cancelled")


# --- for the superior


def note_parts(
    packet: HandoverPacket,
    kind: str,
    outcome: str,
    note: Note,
    warnings: Sequence[str],
    *,
    before: HandoverPacket,
    foot: str,
) -> tuple[Part, ...]:
    """The hand-back for the superior; of the packet only what changed since `before`."""
    head = _head(packet, kind, outcome, note)
    parts = [Part("", "identity", head, head)]
    parts += list_parts(ASKED, _bullets(note.missing), NEVER_CUT)
    parts += list_parts(ANSWERED, _bullets(note.already_held), _ANSWERED_RANK)
    for name, rank in _TEXTS.items():
        parts += text_part(title(name), getattr(note, name), rank)
    parts += change_parts(packet, before)
    parts += list_parts("Warnings", _bullets(warnings), _WARNINGS_RANK)
    parts.append(Part("", "foot", foot, foot))
    return tuple(parts)


def _head(packet: HandoverPacket, kind: str, outcome: str, note: Note) -> str:
    identity = packet.identity
    who = one_line(identity.receiver)
    if kind in NO_VERDICT:  # of a specialist that may never have started
        head = f"# {identity.handover_id} to {who} (hop {identity.hop}) was closed as {kind}"
    else:
        head = f"# {who} handed back {identity.handover_id} (hop {identity.hop}): {kind}"
    head += f", {outcome}\n" if outcome else "\n"
    if note.incomplete:
        head += f"The note is incomplete: no {', '.join(map(one_line, note.incomplete))}.\n"
    return head


def change_parts(packet: HandoverPacket, before: HandoverPacket) -> tuple[Part, ...]:
    """What a specialist added to the packet it was given, as parts."""
    returned = [row for row in package_rows() if row.travels.returned]
    changed = packet.model_copy(update=_changes(packet, before))
    return tuple(rows_as_parts(changed, returned, Look()))


def _changes(packet: HandoverPacket, before: HandoverPacket) -> dict[str, Any]:
    """Of each row that a specialist may add to, what is new in it."""
    changes: dict[str, Any] = {}
    for row in rows():
        if not row.travels.returned:
            continue
        new, old = getattr(packet, row.name), getattr(before, row.name)
        if row.plural:
            changes[row.name] = _additions(new, old)
        else:
            changes[row.name] = "" if new == old else new
    return changes


def _additions(items: Sequence[Any], before: Sequence[Any]) -> tuple[Any, ...]:
    known = {repr(item) for item in before}  # a value may hold JSON, which has no hash
    return tuple(item for item in items if repr(item) not in known)


def _bullets(items: Iterable[str]) -> list[str]:
    return [quote(item, BULLET) for item in items]


# --- for the briefing


def entry_body(packet: HandoverPacket, travelled: str, *, created: str) -> str:
    """The entry of a handover, from "##" to its last line.

    A pure function of packet and what travelled (trusted text). `created` is "2026-06-05 14:03
    UTC". A briefing is no chat log: turns are counted, never held.
    """
    identity = packet.identity
    sections = [("Topic", BRIEFING.quote(one_line(packet.topic)))]
    for row in rows():
        if row.kind is not Turn:
            name = row.travels.entry or row.travels.section
            sections.append((name, _entry_block(row, getattr(packet, row.name))))
    sections.append(("Travelled", travelled))
    first = heading(created, identity.sender, identity.receiver, "handover", identity.handover_id)
    return first + sections_text(sections)


def _entry_block(row: Row, value: Any) -> str:
    if row.name in NAMES:
        value = ", ".join(value)
    if isinstance(value, str):
        return BRIEFING.quote(value) if value else ""
    items = value if row.plural else (value,)
    return "".join(_entry_item(row, item) for item in items)


def _entry_item(row: Row, item: Any) -> str:
    if isinstance(item, StateField) and item.status == "declined":
        return decline_line(item, BRIEFING)
    if isinstance(item, Decision) and item.status != "active":
        # What no longer holds is told without what it rested on.
        item = Decision(id=item.id, text=item.text, version=item.version, status=item.status)
    return DRAWINGS[row.kind](item, BRIEFING)


def note_body(
    packet: HandoverPacket,
    verdict: str,
    note: Note,
    *,
    created: str,
    before: HandoverPacket | None = None,
    warnings: Sequence[str] = (),
) -> str:
    """The entry of a hand-back, of the same shape: all that its superior may read only in part.

    The verdict stands in place of "handover"; then the note, what changed in the packet since
    `before`, and the warnings of the hand-back.
    """
    identity = packet.identity
    sections = []
    for name, words in note.said():
        texts = (words,) if isinstance(words, str) else words
        sections.append((title(name), "".join(map(BRIEFING.quote, texts))))
    changes = _changes(packet, before) if before else {}
    for row in rows():
        if row.name in changes:
            name = row.travels.entry or row.travels.section
            sections.append((name, _entry_block(row, changes[row.name])))
    told = [BRIEFING.quote(warning, BULLET) for warning in warnings]
    sections.append(("Warnings", "".join(told)))
    first = heading(created, identity.receiver, identity.sender, verdict, identity.handover_id)
    return first + sections_text(sections)


def title(name: str) -> str:
    """The heading of a part of a note: `what_happened` is "What happened"."""
    return name.replace("_", " ").capitalize()


def heading(created: str, sender: str, receiver: str, verdict: str, handover_id: str) -> str:
    way = f"{plain_name(sender)} → {plain_name(receiver)}"
    return f"## {created} · {way} · {verdict} · {handover_id}\n"


OWN_SECTIONS = frozenset({"", ASKED, ANSWERED, *map(title, _TEXTS)})


def sections_text(sections: Iterable[tuple[str, str]]) -> str:
    text = ""
    for name, block in sections:
        if block:
            text += f"\n### {name}\n{block}"
    return text

"""What the superior reads when a handover comes back: the note within its limit, and the same as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from ..arguments.reply import NOTE_PARTS
from ..chain.chain import Handover
from ..records.book import briefing_path, newest_verdict
from ..records.folder import HandoverFolder
from ..text import fitting, note
from ..text.fitting import Part
from ..text.quote import on_one_line
from ..values.call import Call
from ..values.errors import RequestError
from ..values.events import Closing, DeclineLifted, Escalated, Event, Note
from ..values.names import quoted
from ..values.packet import HandoverPacket

Values = dict[str, JsonValue]
_LISTS = ("missing", "already_held", "incomplete")


@dataclass(frozen=True)
class Answer:
    """What a reply leads to.

    `ends` tells whether the specialist's run is over; then `note` is the text for its superior,
    else `message` is for the specialist. `summary` is the same as values, for the superior's tool
    result.
    """

    message: str
    ends: bool = False
    note: str = ""
    summary: Mapping[str, JsonValue] = field(default_factory=dict)
    hand_to: str = ""
    stops: str = ""
    lifts: tuple[DeclineLifted, ...] = ()


def told_before(handover: Handover, folder: HandoverFolder, call: Call) -> Answer:
    """The answer of a handover that is closed, made again from the record."""
    return answer_of(handover, handover.latest, newest_verdict(handover), folder, call)


def answer_of(
    handover: Handover,
    packet: HandoverPacket,
    event: Event,
    folder: HandoverFolder,
    call: Call,
    *,
    warnings: tuple[str, ...] = (),
) -> Answer:
    """What a closing event tells the superior: the note as text, and the same as values, each
    within `handback_note_tokens`.

    `warnings` are about recording it; those of the hand-back itself stand in the event.
    """
    closing = event.payload
    assert isinstance(closing, Closing)
    parts = note_parts(handover, packet, closing, folder, warnings)
    text = note_text(parts, call)
    summary: Values = {
        "verdict": closing.verdict or closing.kind,
        "outcome": closing.outcome,
        "implicit": closing.implicit,
        "handover_id": handover.id,
        **note_values(closing.note, parts, call),
    }
    return Answer(
        text,
        ends=True,
        note=text,
        summary=summary,
        hand_to=closing.hand_to,
        stops=_stop_of(closing, call),
    )


def _stop_of(closing: Closing, call: Call) -> str:
    """Why the specialist needs the person, in its own words, "" where it does not."""
    if not isinstance(closing, Escalated):
        return ""
    return quoted(closing.why, call.settings.handback_note_tokens)


def note_parts(
    handover: Handover,
    packet: HandoverPacket,
    closing: Closing,
    folder: HandoverFolder,
    more: tuple[str, ...],
) -> tuple[Part, ...]:
    """The hand-back in parts; all but its first and last lines may be left out, as the briefing has
    them."""
    made = note.note_parts(
        packet,
        closing.kind,
        closing.outcome,
        closing.note,
        (*more, *closing.warnings),
        before=handover.packet,
        foot=f"briefing: {on_one_line(str(briefing_path(folder, packet)))}\n",
    )
    parts = []
    for part in made:
        if part.section:
            part = replace(part, short="")
        parts.append(fitting.inert_part(part))
    return tuple(parts)


def note_text(parts: tuple[Part, ...], call: Call) -> str:
    """The hand-back as its superior reads it; what is left out is named (seed 002)."""
    count, limit = call.ports.counter().count, call.settings.handback_note_tokens
    whole = fitting.whole(parts, count)
    if whole.tokens <= limit:
        return whole.text
    try:
        return fitting.fit(parts, limit, count, _in_briefing).text
    except RequestError:  # not even the frame fits
        return "".join(part.full for part in parts if not part.section)


def note_values(told: Note, parts: tuple[Part, ...], call: Call) -> Values:
    """The hand-back as values for a program or a model, together within `handback_note_tokens`.

    The note's own parts, then `changes`: decisions, fields, questions and artifacts as text.
    `omitted` names what was cut.
    """
    count, limit = call.ports.counter().count, call.settings.handback_note_tokens
    left, omitted = limit, []
    lists: Values = {}
    for name in _LISTS:
        items: tuple[str, ...] = getattr(told, name)
        if not items:
            continue
        kept = fitting.fit_items(items, limit // 2, count)
        left -= sum(map(count, kept))
        lists[name] = list(kept)
        if len(kept) < len(items):
            omitted.append(f"{name}: {len(kept)} of {len(items)} told; {_in_briefing(name)}")
    texts = {name: getattr(told, name) for name in ("reason", *NOTE_PARTS) if getattr(told, name)}
    fitted, cut = fitting.fit_texts(texts, max(0, left), count)
    omitted += [f"{name}: cut; {_in_briefing(name)}" for name in cut]
    changes, missing = _changes(parts, left - sum(map(count, fitted.values())), count)
    omitted += missing
    values: Values = {**fitted, **lists}
    if changes:
        values["changes"] = changes
    if omitted:
        values["omitted"] = list(omitted)
    return values


def _changes(
    parts: tuple[Part, ...], limit_tokens: int, count: fitting.Count
) -> tuple[str, tuple[str, ...]]:
    """What of the packet changed, and the warnings, as text; and a line for each thing left out."""
    changed = tuple(part for part in parts if part.section not in note.OWN_SECTIONS)
    whole = fitting.whole(changed, count)
    if whole.tokens <= limit_tokens:
        return whole.text, ()
    try:
        fitted = fitting.fit(changed, limit_tokens, count, _in_briefing)
    except RequestError:
        sections = dict.fromkeys(part.section for part in changed)
        return "", tuple(f"{name}: left out; {_in_briefing(name)}" for name in sections)
    return fitted.text, fitted.omitted


def _in_briefing(section: str) -> str:
    return "the briefing has all of it"

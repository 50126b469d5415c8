"""What the superior reads when a handover comes back: the note within its limit, and the same as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..arguments.reply import NOTE_PARTS
from ..chain.chain import Handover
from ..records.folder import HandoverFolder
from ..text import fitting, render
from ..values.call import Ports
from ..values.errors import RequestError
from ..values.events import Event, Note
from ..values.packet import HandoverPacket
from ..values.settings import Settings
from .package import briefing_path

KIND = {"clarify": "clarify", "reject": "rejected", "done": "done", "escalate": "escalated"}
_VERDICT = {kind: verdict for verdict, kind in KIND.items()}


@dataclass(frozen=True)
class Answer:
    """What a reply leads to.

    `ends` tells whether the specialist's run is over; then `note` is the text for its superior, else `message` is for the
    specialist. `summary` is the same as values, for the superior's tool result.
    """

    message: str
    ends: bool = False
    note: str = ""
    summary: Mapping[str, Any] = field(default_factory=dict)
    hand_to: str = ""
    stops: str = ""


def told_before(
    handover: Handover, folder: HandoverFolder, settings: Settings, ports: Ports
) -> Answer:
    """The answer of a handover that is closed, made again from the record."""
    return answer_of(
        handover,
        handover.latest,
        next(e for e in reversed(handover.events) if e.kind == handover.state),
        folder,
        settings,
        ports,
    )


def answer_of(
    handover: Handover,
    packet: HandoverPacket,
    event: Event,
    folder: HandoverFolder,
    settings: Settings,
    ports: Ports,
    *,
    warnings: tuple[str, ...] = (),
) -> Answer:
    """What a closing event tells the superior: the note as text, and the same as values, each within `handback_note_tokens`.

    `warnings` are about recording it; those of the hand-back itself stand in the event.
    """
    data, note = event.data, event.data.get("note", {})
    parts = note_parts(handover, packet, event, folder, warnings)
    text = note_text(parts, settings, ports)
    return Answer(
        text,
        ends=True,
        note=text,
        summary={
            "verdict": _VERDICT.get(event.kind, event.kind),
            "outcome": str(data.get("outcome", "")),
            "implicit": bool(data.get("implicit")),
            "handover_id": handover.id,
            **note_values(note, parts, settings, ports),
        },
        hand_to=str(data.get("hand_to", "")),
        stops=str(data.get("why", "")) if event.kind == "escalated" else "",
    )


def note_parts(
    handover: Handover,
    packet: HandoverPacket,
    event: Event,
    folder: HandoverFolder,
    more: tuple[str, ...] = (),
) -> tuple[fitting.Part, ...]:
    """The hand-back in parts; all but its first and last lines may be left out, as the briefing has them."""
    foot = f"briefing: {on_one_line(str(briefing_path(folder, packet)))}\n"
    outcome, note, warnings = (event.data.get(name) for name in ("outcome", "note", "warnings"))
    told = (*more, *(warnings or ()))
    parts = text_note.note_parts(
        packet,
        event.kind,
        outcome or "",
        Note.model_validate(note or {}),
        told,
        before=handover.packet,
        foot=foot,
    )
    return tuple(
        fitting.inert_part(part if not part.section else replace(part, short="")) for part in parts
    )


def note_text(parts: tuple[fitting.Part, ...], settings: Settings, ports: Ports) -> str:
    """The hand-back as its superior reads it, within `handback_note_tokens`; what is left out is named (seed 002)."""
    count, limit = ports.counter().count, settings.handback_note_tokens
    whole = fitting.whole(parts, count)
    if whole.tokens <= limit:
        return whole.text
    try:
        return fitting.fit(parts, limit, count, _in_briefing).text
    except RequestError:  # not even the frame fits
        return "".join(part.full for part in parts if not part.section)


def note_values(
    note: Mapping[str, Any], parts: tuple[fitting.Part, ...], settings: Settings, ports: Ports
) -> dict[str, Any]:
    """The hand-back as values for a program or a model, together within `handback_note_tokens`.

    The note's own parts, then `changes`: decisions, fields, questions and artifacts as text. `omitted` names what was cut.
    """
    count, limit = ports.counter().count, settings.handback_note_tokens
    items = {
        name: tuple(map(str, note[name]))
        for name in ("missing", "already_held", "incomplete")
        if note.get(name)
    }
    lists = {name: fitting.fit_items(told, limit // 2, count) for name, told in items.items()}
    left = limit - sum(count(item) for told in lists.values() for item in told)
    texts = {name: str(note[name]) for name in ("reason", *NOTE_PARTS) if note.get(name)}
    told, cut = fitting.fit_texts(texts, max(0, left), count)
    changes, omitted = _changes(parts, left - sum(map(count, told.values())), count)
    omitted = (
        *(
            f"{name}: {len(told)} of {len(items[name])} told; {_in_briefing(name)}"
            for name, told in lists.items()
            if len(told) < len(items[name])
        ),
        *(f"{name}: cut; {_in_briefing(name)}" for name in cut),
        *omitted,
    )
    return {
        **told,
        **{name: list(told) for name, told in lists.items()},
        **({"changes": changes} if changes else {}),
        **({"omitted": list(omitted)} if omitted else {}),
    }


def _changes(
    parts: tuple[fitting.Part, ...], limit_tokens: int, count: fitting.Count
) -> tuple[str, tuple[str, ...]]:
    found = tuple(part for part in parts if part.section not in text_note.OWN_SECTIONS)
    whole = fitting.whole(found, count)
    if whole.tokens <= limit_tokens:
        return whole.text, ()
    try:
        fitted = fitting.fit(found, limit_tokens, count, _in_briefing)
    except RequestError:
        return "", tuple(
            f"{name}: left out; {_in_briefing(name)}"
            for name in dict.fromkeys(part.section for part in found)
        )
    return fitted.text, fitted.omitted


def _in_briefing(section: str) -> str:
    return "the briefing has all of it"

"""What comes back: the hand-back note for the superior, and the entries of the briefing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..values.packet import Decision, HandoverPacket, StateField
from .fitting import Part
from .package import (
    TITLE_CHARS,
    _artifacts,
    _bullet,
    _decisions,
    _id,
    _list,
    _pair,
    _text,
    artifact_line,
    authority_lines,
    decision_lines,
    decline_line,
    state_line,
)
from .quote import one_line, plain_name, quote

# the hand-back


def note_parts(
    packet: HandoverPacket,
    kind: str,
    outcome: str,
    note: Mapping[str, Any],
    warnings: Sequence[str],
    *,
    before: HandoverPacket,
    foot: str,
) -> tuple[Part, ...]:
    """The hand-back for the superior; of the packet only what changed since `before`."""
    identity = packet.identity
    who = one_line(identity.receiver)
    if kind in (
        "failed",
        "cancelled",
    ):  # no verdict of its specialist, which may never have started
        head = f"# {identity.handover_id} to {who} (hop {identity.hop}) was closed as {kind}"
    else:
        head = f"# {who} handed back {identity.handover_id} (hop {identity.hop}): {kind}"
    head += f", {outcome}\n" if outcome else "\n"
    lacking = note.get("incomplete", ())
    head += f"The note is incomplete: no {', '.join(map(one_line, lacking))}.\n" if lacking else ""
    new = tuple(item for item in packet.decisions if item not in before.decisions)
    changed = tuple(item for item in packet.state if item not in before.state)
    questions = tuple(item for item in packet.open_questions if item not in before.open_questions)
    return (
        Part("", "identity", head, head),
        *_list("Asked for", tuple(note.get("missing", ())), _bullet, rank=0),
        *_list(
            "Asked for, but the packet holds it",
            tuple(note.get("already_held", ())),
            _bullet,
            rank=5,
        ),
        *_text("Reason", str(note.get("reason", "")), 1),
        *_text("What happened", str(note.get("what_happened", "")), 1),
        *_text("Next", str(note.get("next", "")), 1),
        *_text("Observations", str(note.get("observations", "")), 2),
        *_text("User state", str(note.get("user_state", "")), 2),
        *_decisions(new, TITLE_CHARS),
        *_list(
            "State",
            changed,
            lambda item: decline_line(item) if item.status == "declined" else state_line(item),
            rank=3,
        ),
        *_list(
            "Open questions", questions, lambda item: quote(item.text, f"{_id(item.id)}: "), rank=3
        ),
        *_list("Warnings", tuple(warnings), _bullet, rank=4),
        *_artifacts(tuple(item for item in packet.artifacts if item not in before.artifacts), {}),
        Part("", "foot", foot, foot),
    )


# the briefing


def entry_body(packet: HandoverPacket, travelled: str, *, created: str) -> str:
    """The entry of a handover, from "##" to its last line; a pure function of packet and what travelled (trusted text).

    `created` is "2026-06-05 14:03 UTC". A briefing is no chat log: turns are counted, never held.
    """
    identity = packet.identity
    sections = (
        ("Topic", quote(one_line(packet.topic))),
        ("Goal", _quoted(packet.goal)),
        ("Summary", _quoted(packet.summary)),
        ("User state", _quoted(packet.user_state)),
        ("Decisions", "".join(map(_entry_decision, packet.decisions))),
        ("Rejected paths", "".join(_pair(path.what, path.why) for path in packet.rejected_paths)),
        ("State", "".join(map(_entry_state, packet.state))),
        ("Flags", "".join(_pair(flag.text, ", ".join(flag.fields)) for flag in packet.flags)),
        ("Sections done", _quoted(", ".join(packet.sections_done))),
        ("Stopped at", _quoted(packet.stopped_at)),
        ("Notes", "".join(map(_bullet, packet.notes))),
        ("Artifacts", "".join(map(artifact_line, packet.artifacts))),
        (
            "Open questions",
            "".join(quote(item.text, f"{_id(item.id)}: ") for item in packet.open_questions),
        ),
        ("Next action", _quoted(packet.next_action)),
        ("Acceptance", "".join(map(_bullet, packet.acceptance_criteria))),
        ("Authority", authority_lines(packet.authority)),
        ("Return condition", _quoted(packet.return_condition)),
        ("Reason", _quoted(packet.handover_reason)),
        ("Travelled", travelled),
    )
    return heading(
        created, identity.sender, identity.receiver, "handover", identity.handover_id
    ) + sections_text(sections)


def note_body(
    packet: HandoverPacket, verdict: str, note: Mapping[str, Any], *, created: str
) -> str:
    """The entry of a hand-back, of the same shape: the verdict in place of "handover", the note in place of the packet."""
    identity = packet.identity
    named = (
        (plain_name(str(name).replace("_", " ")).capitalize(), _note_value(value))
        for name, value in note.items()
    )
    return heading(
        created, identity.receiver, identity.sender, verdict, identity.handover_id
    ) + sections_text(named)


def heading(created: str, sender: str, receiver: str, what: str, handover_id: str) -> str:
    return (
        f"## {created} · {plain_name(sender)} → {plain_name(receiver)} · {what} · {handover_id}\n"
    )


def sections_text(sections: Iterable[tuple[str, str]]) -> str:
    return "".join(f"\n### {name}\n{block}" for name, block in sections if block)


def _note_value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "".join(map(_note_value, value))
    if isinstance(value, Mapping):
        return quote(json.dumps(value, ensure_ascii=False, sort_keys=True))
    return _quoted("" if value is None else str(value))


def _quoted(text: str) -> str:
    return quote(text) if text else ""


def _entry_decision(decision: Decision) -> str:
    return (
        decision_lines(decision)
        if decision.status == "active"
        else quote(decision.text, f"{_id(decision.id)} v{decision.version} {decision.status}: ")
    )


def _entry_state(field: StateField) -> str:
    return decline_line(field) if field.status == "declined" else state_line(field)

"""The verdict in what an agent of another machine answered, which may know nothing of verdicts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .reply import NOTE_PARTS

MOST_CHARS = 200_000
_MOST_OBJECTS = 50
_HEADING = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+|\d\.[ \t]+)?[*_]{0,2}"
    r"(what happened|observations|user state|next(?: steps?)?)"
    r"[*_]{0,2}[ \t]*(?:(:)[*_]{0,2}[ \t]*(.*))?",
    re.IGNORECASE,
)


def reply_in(text: str) -> dict[str, Any] | None:
    """The arguments of `handover_reply` that an answer means; None where it tells no verdict.

    Read are their JSON (bare, in a fence, among words, as a whole tool call) and a note with the four
    headings of seed 002.
    """
    text = text[:MOST_CHARS]
    for found in _objects(text):
        reply = _reply(found)
        if reply is not None:
            return reply
    return _note(text)


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects that stand in a text, one after the other."""
    decoder = json.JSONDecoder()
    place = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if place < 0:
            return
        try:
            found, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield found
        place = text.find("{", end)


def _reply(found: Mapping[str, Any]) -> dict[str, Any] | None:
    inner = found.get("tool_args")
    if found.get("tool_name") == "handover_reply" and isinstance(inner, dict):
        found = inner
    if isinstance(found.get("verdict"), str):
        return dict(found)
    if all(name in found for name in NOTE_PARTS):
        return {"verdict": "done", **found}
    return None


def _note(text: str) -> dict[str, Any] | None:
    """All four headings, each with what stands below it or behind its colon."""
    parts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        heading = _HEADING.fullmatch(line)
        if heading is None:
            lines.append(line)
            continue
        name = heading[1].lower().replace(" ", "_")
        lines = parts.setdefault("next" if name.startswith("next") else name, [])
        if heading[3]:
            lines.append(heading[3])
    if parts.keys() != set(NOTE_PARTS):
        return None
    return {"verdict": "done", **{name: "\n".join(said).strip() for name, said in parts.items()}}

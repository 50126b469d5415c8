"""Carried fields (seed 000), and the fields that answer a question."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import JsonValue as Json

from ..values.names import short
from ..values.packet import OpenQuestion, StateField, StateStatus
from .plain import is_name, key, lines, listed, text
from .sent import Sent

STATUSES: tuple[str, ...] = get_args(StateStatus)
WITHOUT_VALUE = frozenset(
    {"declined", "claimed", "skipped_not_triggered", "skipped_section_omitted"}
)
# Nobody has answered yet, in the words that models use for it.
_OPEN = frozenset((
    "open", "open_question", "open_questions", "unknown", "unanswered", "not_answered", "undecided",
    "pending", "tbd", "to_be_decided", "to_be_determined", "unresolved", "unclear", "missing",
    "question", "asked", "not_asked",
))  # fmt: skip
_ABOUT = frozenset({"value", "status", "owner", "hop"})
_WORDS = ("verbatim", "words", "quote", "reason", "why")
_NAMES = ("field", "id", "name")
_ID = re.compile(r"ho-[0-9a-f]{16}")
Answer = tuple[str, tuple[StateField, ...]]
NO_ANSWER: Answer = ("", ())


def state(value: Json, sent: Sent) -> tuple[StateField, ...]:
    """Carried fields from an object, a list of `{"field", "value"}`, or lines `field: value`.

    A bare value is answered. A field that is said to be open becomes an open question.
    """
    fields = []
    for name, part in _pairs(value, sent):
        match _field(name.strip(), part):
            case StateField(field=""):
                sent.warn("a field without a name was left out")
            case StateField() as field:
                fields.append(field)
            case question:
                sent.also.setdefault("open_questions", []).append(question)
                sent.warn(f"field {short(name)} is open and was taken as an open question")
    return tuple(fields)


def _pairs(value: Json, sent: Sent) -> Iterator[tuple[str, Json]]:
    """Names of fields with what is said of them. An object may name its field."""
    names = _NAMES if isinstance(value, list) else _NAMES[:1]
    for item in map(sent.opened, listed(value)):
        if not isinstance(item, dict):
            yield _line(text(item))
        elif own := next(filter(None, (text(item.get(name)) for name in names)), ""):
            yield own, {name: part for name, part in item.items() if name not in _NAMES}
        elif is_bare_status(item):
            yield "", item
        else:
            yield from item.items()


def _line(line: str) -> tuple[str, str]:
    found = re.match(r"([^:=]*)[:=]", line)
    if found is None or not found[1].strip():
        raise ValueError("must map field names to values")
    return found[1], line[found.end() :].strip()


def _field(name: str, value: Json) -> StateField | OpenQuestion:
    told = _told(value)
    status = _status(told)
    if not told:
        return StateField(field=name, value=value)
    if status in _OPEN:
        words = text(told.get("value")) or text(told.get("verbatim")) or name
        return OpenQuestion(text=words, field=name)
    if status not in ("", *STATUSES):
        raise ValueError(f'has no status "{short(status)}" (field {short(name)})')
    return StateField(field=name, **_said(told, status))


def _told(value: Json) -> dict[str, Json]:
    """What an object says of a field; nothing where it is the field's value itself."""
    if isinstance(value, str) and value.strip(" []().").lower() == "declined":
        return {"status": "declined"}
    told = _by_key(value)
    about = told.keys() <= {*_ABOUT, "verbatim"} or _status(told) in WITHOUT_VALUE
    return told if about else {}


def _by_key(value: Json) -> dict[str, Json]:
    return {key(name): part for name, part in value.items()} if isinstance(value, dict) else {}


def _status(told: Mapping[str, Json]) -> str:
    """The status that an object says: `Skipped — not triggered` is skipped_not_triggered."""
    return re.sub(r"[^a-z]+", "_", text(told.get("status"))[:100].lower()).strip("_")


def _said(told: Mapping[str, Json], status: str) -> dict[str, Any]:
    """What is said of a field; all words beside its value and status are the person's."""
    quoted = [text(part) for name, part in told.items() if name not in _ABOUT]
    verbatim = "\n".join(dict.fromkeys(filter(None, quoted)))
    words = {"status": status, "verbatim": verbatim, "owner": text(told.get("owner"))}
    said: dict[str, Any] = {name: part for name, part in words.items() if part}
    return {**said, "value": told["value"]} if "value" in told else said


def is_bare_status(value: Json) -> bool:
    """Whether an object says that there is nothing, and of no field: `{"status": "declined"}`."""
    told = _by_key(value)
    only_about = told.keys() <= {*_ABOUT, *_WORDS} and not text(told.get("value"))
    return only_about and _status(told) in {*WITHOUT_VALUE, *_OPEN}


def answers(value: Json, sent: Sent) -> Answer:
    """The id of the handover that asked ("" for none), wherever it stands, and the fields it gets.

    Sentences that name no field travel as notes.
    """
    asked = _ID.search(json.dumps(value))
    fields: list[StateField] = []
    for part in map(sent.opened, listed(value)):
        if isinstance(part, dict):
            fields += _answered(part, sent)
        elif not _ID.search(text(part)):
            for line in lines(text(part)):
                fields += _answer(line.strip(), sent)
    return asked[0] if asked else "", tuple(fields)


def _answered(value: Mapping[str, Json], sent: Sent) -> Iterator[StateField]:
    """The fields of an object, which may stand beside an id or under it."""
    for name, part in value.items():
        if not _ID.fullmatch(name):
            yield from state({name: part}, sent) if not _ID.fullmatch(text(part)) else ()
        elif isinstance(part, (dict, list)):
            yield from state(part, sent)


def _answer(line: str, sent: Sent) -> tuple[StateField, ...]:
    name, mark, value = line.partition(":")
    if mark and is_name(name.strip()):
        return state({name.strip(): value.strip()}, sent)
    if line:
        sent.also.setdefault("notes", []).append(line)
        sent.warn("answers that name no field were taken as notes")
    return ()

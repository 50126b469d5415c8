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
WITHOUT_VALUE = frozenset({"declined", "skipped_not_triggered", "skipped_section_omitted"})
_ABOUT = frozenset({"value", "status", "owner", "hop"})
_WORDS = ("verbatim", "words", "quote", "reason", "why")
_NAMES = ("field", "id", "name")
_ID = re.compile(r"ho-[0-9a-f]{16}")


def state(value: Json, sent: Sent) -> tuple[StateField, ...]:
    """Carried fields from an object, a list of `{"field", "value"}`, or lines `field: value`.

    A bare value is answered. A field that is said to be open becomes an open question.
    """
    fields = []
    for name, part in _pairs(value, sent):
        if not name.strip():
            raise ValueError("needs a name for every field")
        match _field(name.strip(), part):
            case StateField() as field:
                fields.append(field)
            case question:
                sent.also.setdefault("open_questions", []).append(question)
                sent.warn(f"field {short(name)} is open and was taken as an open question")
    return tuple(fields)


def _pairs(value: Json, sent: Sent) -> Iterator[tuple[str, Json]]:
    """Names of fields with what is said of them."""
    for item in map(sent.opened, listed(value)):
        names = _NAMES if isinstance(value, list) else _NAMES[:1]
        match item:
            case dict() if is_bare_status(item):
                yield "", item
            case dict() if own := [name for name in names if text(item.get(name))]:
                rest = {name: part for name, part in item.items() if name not in _NAMES}
                yield text(item[own[0]]), rest
            case dict():
                yield from item.items()
            case _:
                yield _line(text(item))


def _line(line: str) -> tuple[str, str]:
    mark = re.search(r"[:=]", line)
    name = line[: mark.start()].strip() if mark else ""
    if mark is None or not name:
        raise ValueError("must map field names to values")
    return name, line[mark.end() :].strip()


def _field(name: str, value: Json) -> StateField | OpenQuestion:
    told = _told(value)
    status = _status(told)
    if not told:
        return StateField(field=name, value=value)
    if status == "open":
        words = text(told.get("value")) or text(told.get("verbatim")) or name
        return OpenQuestion(text=words, field=name)
    if status not in ("", *STATUSES):
        allowed = ", ".join(STATUSES)
        raise ValueError(f'has no status "{status}" (field {short(name)}; allowed: {allowed})')
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
    """What is said of a field: its words are those of the person, and what stands beside them."""
    quoted = [text(told.get(word)) for word in _WORDS]
    beside = {name: part for name, part in told.items() if name not in (*_ABOUT, *_WORDS)}
    verbatim = "\n".join(dict.fromkeys(filter(None, (*quoted, text(beside)))))
    owner = text(told.get("owner"))
    words = {"status": status, "verbatim": verbatim, "owner": owner}
    said: dict[str, Any] = {name: part for name, part in words.items() if part}
    return {**said, "value": told["value"]} if "value" in told else said


def is_bare_status(value: Json) -> bool:
    """Whether an object says that there is nothing, and of no field: `{"status": "declined"}`."""
    told = _by_key(value)
    return told.keys() <= {*_ABOUT, *_WORDS} and _status(told) in WITHOUT_VALUE


def answers(value: Json, sent: Sent) -> tuple[str, tuple[StateField, ...]]:
    """The id of the handover that asked ("" for none), wherever it stands, and the fields it gets.

    Sentences that name no field travel as notes.
    """
    asked = _ID.search(json.dumps(value))
    fields: list[StateField] = []
    for part in map(sent.opened, listed(value)):
        match part:
            case dict():
                fields += _answered(part, sent)
            case _ if not _ID.search(text(part)):
                for line in filter(None, map(str.strip, lines(text(part)))):
                    fields += _answer(line, sent)
    return asked[0] if asked else "", tuple(fields)


def _answered(value: Mapping[str, Json], sent: Sent) -> Iterator[StateField]:
    """The fields of an object that may stand beside an id, or under it."""
    for name, part in value.items():
        if _ID.fullmatch(name):
            yield from state(part, sent) if isinstance(part, (dict, list)) else ()
        elif not _ID.fullmatch(text(part)):
            yield from state({name: part}, sent)


def _answer(line: str, sent: Sent) -> tuple[StateField, ...]:
    name, mark, value = line.partition(":")
    if mark and is_name(name.strip()):
        return state({name.strip(): value.strip()}, sent)
    sent.also.setdefault("notes", []).append(line)
    sent.warn("answers that name no field were taken as notes")
    return ()

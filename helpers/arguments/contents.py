"""What a call says for the packet, read row by row: how follows from the row's type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import JsonValue as Json

from ..values.names import same
from ..values.packet import Authority, Contents, Row, StateField, Turn, Value
from .items import items
from .plain import shown, text, texts
from .sent import MOST_CHARACTERS, Sent
from .state import is_bare_status, state
from .turns import turns

_ELEMENT = "script|style|img|div|span|form|input|button|body|html|header|footer|main|nav|table"
_PLACEHOLDER = re.compile(rf"\s*<(?!(?:{_ELEMENT})\b)[A-Za-z][\w ,.:/'’|-]{{2,80}}>\s*")


def contents(sent: Sent, rows: Iterable[Row]) -> Contents:
    """The rows that the call said something for; `model_fields_set` names them."""
    given: dict[str, Any] = {}
    for row in rows:
        if value := read_row(row, sent):
            given[row.name] = value
    for name, values in sent.also.items():
        given[name] = (*given.get(name, ()), *values)
    return Contents(**given)


def read_row(row: Row, sent: Sent) -> Any:
    """The value of a row, false where the call says nothing for it."""
    if row.kind is str and not row.plural:
        return read_text(row.name, sent)
    return sent.read(
        row.name, lambda value: _read(row, value, sent), None, most=MOST_CHARACTERS, json=True
    )


def read_text(name: str, sent: Sent) -> str:
    """A text of any length; "" where it says nothing."""
    return sent.read(name, lambda value: text(said(name, value, sent)), "", most=MOST_CHARACTERS)


def _read(row: Row, value: Json, sent: Sent) -> Any:
    """A value by the type of its row."""
    filled = said(row.name, value, sent)
    if row.kind in _READERS:
        return _READERS[row.kind](filled, sent)
    read: tuple[Value, ...] = items(filled, row.kind, row.name, sent)
    return read if row.plural else next(iter(read), None)


def said(name: str, value: Json, sent: Sent) -> Json:
    """The value without what was copied from a form, which says nothing and is warned of.

    Seen of models: `<what belongs here>`, the argument's own name, true, and a bare
    `{"status": "declined"}`.
    """
    only = value[0] if isinstance(value, list) and len(value) == 1 else value
    named_itself = isinstance(only, str) and len(only) < 60 and same(only, name)
    if named_itself or isinstance(value, bool) or is_bare_status(value):
        sent.warn(f"{name} {shown(value)} says nothing and was left out")
        return None
    filled = _filled(value)
    if filled != value:
        sent.warn(f"{name} held placeholders in angle brackets, which were left out")
    return filled


def _filled(value: Json) -> Json:
    """The value without texts that are placeholders, and without the entries that have one."""
    match value:
        case str():
            return None if _is_placeholder(value) else value
        case list():
            return [_filled(item) for item in value if not _is_placeholder(item)]
        case dict():
            kept = [pair for pair in value.items() if not any(map(_is_placeholder, pair))]
            return {name: _filled(item) for name, item in kept}
    return value


def _is_placeholder(value: Json) -> bool:
    return isinstance(value, str) and len(value) < 120 and bool(_PLACEHOLDER.fullmatch(value))


def authority(value: Json, sent: Sent) -> Authority | None:
    """`{"granted": [...], "denied": [...]}`; a bare list is what is granted; None inherits."""
    told = value if isinstance(value, dict) else {"granted": value}
    unknown = ", ".join(name for name in told if name not in Authority.model_fields)
    if unknown:
        raise ValueError(f"has granted and denied only, not {unknown[:100]}")
    lists = {name: texts(words, words=2) for name, words in told.items()}
    filled = {name: words for name, words in lists.items() if words}
    return Authority(**filled) if filled else None


_READERS: Mapping[type, Callable[[Json, Sent], Any]] = {
    str: lambda value, sent: texts(value),
    Turn: turns,
    StateField: state,
    Authority: authority,
}

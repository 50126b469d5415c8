"""What a call says for the packet, read row by row: how follows from the row's type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import JsonValue as Json

from ..values.names import same
from ..values.packet import Authority, Contents, Row, StateField, Turn, Value
from .items import items
from .plain import MOST_CHARACTERS, decoded, key, shown, text, texts
from .sent import Sent
from .state import is_bare_status, state
from .turns import turns

_SHORT = 200  # characters of what may say nothing
_BLANK = frozenset({"declined", "true", "false", "...", "…"})


def contents(sent: Sent, rows: Iterable[Row]) -> Contents:
    """The rows that the call said something for; `model_fields_set` names them."""
    given: dict[str, Any] = {}
    for row in rows:
        if value := _read_row(row, sent):
            given[row.name] = value
    for name, values in sent.also.items():
        given[name] = (*given.get(name, ()), *values)
    return Contents(**given)


def _read_row(row: Row, sent: Sent) -> Any:
    if row.kind is str and not row.plural:
        return read_text(row.name, sent)
    return sent.read_long(
        row.name, lambda value: _value(row, said(row.name, value, sent), sent), None
    )


def read_text(name: str, sent: Sent) -> str:
    """A text of any length; "" where it says nothing."""
    return sent.read(name, lambda value: text(said(name, value, sent)), "", most=MOST_CHARACTERS)


def _value(row: Row, value: Json, sent: Sent) -> Any:
    """A value by the type of its row."""
    if row.kind in _READERS:
        return _READERS[row.kind](value, sent)
    read: tuple[Value, ...] = items(value, row.kind, row.name, sent)
    return read if row.plural else next(iter(read), None)


def said(name: str, value: Json, sent: Sent) -> Json:
    """The value without what says nothing, which is warned of; None where nothing is left.

    Seen of models: the argument's own name, true, and a bare `{"status": "declined"}`, alone, in a
    list or as JSON in a text.
    """
    if says_nothing(name, value):
        sent.warn(f"{name} {shown(value)} says nothing and was left out")
        return None
    if not isinstance(value, list):
        return value
    kept = [part for part in value if not says_nothing(name, part)]
    if len(kept) < len(value):
        sent.warn(f"{name} {shown(value)} holds what says nothing; that was left out")
    return kept or None


def says_nothing(name: str, value: Json) -> bool:
    """Whether a value, or an item, was filled in only because there was a place for it."""
    match value:
        case bool():
            return True
        case [alone]:
            return says_nothing(name, alone)
        case dict():
            return is_bare_status(_unwrapped(name, value))
        case str() if len(value) < _SHORT:
            return _is_blank(name, value)
    return False


def _unwrapped(name: str, value: dict[str, Json]) -> Json:
    """What stands under the argument's own name, where nothing else does."""
    names = [*value]
    return value[names[0]] if len(names) == 1 and key(names[0]) == name else value


def _is_blank(name: str, word: str) -> bool:
    inner = decoded(word)
    if isinstance(inner, dict):
        return is_bare_status(inner)
    own_name = same(word, name) or same(word, name.removesuffix("s"))
    return own_name or (name != "answers" and word.strip("[]() ").lower() in _BLANK)


def _authority(value: Json, sent: Sent) -> Authority | None:
    """`{"granted": [...], "denied": [...]}`; a bare list is what is granted; None inherits."""
    told = value if isinstance(value, dict) else {"granted": value}
    if told.keys() - Authority.model_fields.keys():
        raise ValueError("has granted and denied only")
    granted, denied = (texts(told.get(name), words=2) for name in ("granted", "denied"))
    return Authority(granted=granted, denied=denied) if granted or denied else None


_READERS: Mapping[type, Callable[[Json, Sent], Any]] = {
    str: lambda value, sent: texts(value),
    Turn: turns,
    StateField: state,
    Authority: _authority,
}

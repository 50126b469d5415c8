"""What may never reach the disk, a package or a screen as it came: secrets, halves of characters.

A `Mask` hides the secrets of one text: the host's the exact values of the person's own secrets, and
then the shapes that `credentials.redact` knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeVar, get_origin

from pydantic import BaseModel, JsonValue

from ..values.packet import EXACT
from .credentials import BETWEEN, CREDENTIAL, is_placeholder, names_a_secret, redact
from .embedded import without_blobs

__all__ = [
    "Mask",
    "clean",
    "is_clean",
    "map_text",
    "masked",
    "masked_json",
    "masked_together",
    "masked_value",
    "redact",
    "safe",
]

Mask = Callable[[str], str]
Model = TypeVar("Model", bound=BaseModel)
# A field that is written as an object: {"name": …, "value": …}, and the words that said it.
_NAMES, _VALUE, _WORDS = ("field", "name", "key"), "value", "verbatim"
_SHORTEST_NUMBER = 100_000  # beside the name of a secret; a smaller one is a count


def safe(text: str, mask: Mask) -> tuple[str, bool]:
    """What may be kept of a text: characters whole, files told by size and hash, secrets masked.

    Also tells whether a lone half of a character was replaced.
    """
    whole, lone = clean(text)
    return mask(without_blobs(whole)), lone


def clean(text: str) -> tuple[str, bool]:
    """Joins surrogate pairs and replaces lone halves by U+FFFD; tells whether any was lone."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole, whole.count("\ufffd") > text.count("\ufffd")
    return text, False


def map_text(value: Any, change: Mask) -> Any:
    """The same JSON value with `change` applied to every string in it, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        names = _changed_names(value, change)
        return {names[key]: map_text(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [map_text(item, change) for item in value]
    return value


def _changed_names(names: Iterable[str], change: Mask) -> dict[str, str]:
    """The name that each has after the change, with a number where it made two alike."""
    changed: dict[str, str] = {}
    numbers: dict[str, int] = {}
    taken: set[str] = set()
    for name in names:
        plain = free = change(name)
        while free in taken:
            numbers[plain] = numbers.get(plain, 1) + 1
            free = f"{plain} ({numbers[plain]})"
        taken.add(free)
        changed[name] = free
    return changed


# --- values with names


def masked(value: JsonValue, mask: Mask, name: str = "") -> JsonValue:
    """The value with its secrets masked; a name and what it holds are looked at together.

    What a name of a secret holds is masked whatever it looks like. Texts that follow each other in
    a list, or stand in the same field of objects that do, are masked as one: a key may be spread
    over lines or turns. `name` is that of the field which holds the value.
    """
    if isinstance(value, dict):
        return _masked_fields(value, mask, name)
    if isinstance(value, (list, tuple)):
        return [masked(item, mask, name) for item in _masked_neighbours(value, mask)]
    if names_a_secret(name):
        return _hidden(value, mask)
    return masked_json(value, mask) if isinstance(value, str) else value


def masked_json(text: str, mask: Mask) -> str:
    """A text that is JSON decoded, masked and encoded again; any other text masked.

    Encoded, a secret has no shape that a mask knows: quotes and line feeds in it are escaped.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return mask(text)
    try:
        value = json.loads(text)
        hidden = masked(value, mask)
    except (ValueError, RecursionError):
        return mask(text)
    return mask(text) if hidden == value else json.dumps(hidden, ensure_ascii=False)


def masked_together(texts: Sequence[str], mask: Mask) -> list[str]:
    """Texts that stand one after the other, each masked as a part of the whole."""
    pieces = mask(BETWEEN.join(texts)).split(BETWEEN)
    return pieces if len(pieces) == len(texts) else [mask(text) for text in texts]


def is_clean(value: JsonValue, mask: Mask) -> bool:
    """A quick look at all texts at once: True where `masked` would surely change nothing."""
    texts: list[str] = []
    names: set[str] = set()
    _gather(value, texts, names)
    if any(map(names_a_secret, names)):
        return False
    for text in texts:
        if text.lstrip()[:1] in ("{", "["):
            return False
    whole = BETWEEN.join([*texts, *names])
    return mask(whole) == whole


def _gather(value: JsonValue, texts: list[str], names: set[str]) -> None:
    """Every text in a value, and every name that a field has in it."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict):
        names.update(value)
        for key in _NAMES:
            if isinstance(name := value.get(key), str):
                names.add(name)
        for item in value.values():
            _gather(item, texts, names)
    elif isinstance(value, list):
        for item in value:
            _gather(item, texts, names)


def masked_value(value: Model, mask: Mask) -> Model:
    """The same value with its words masked; ids, hashes, paths (`Exact`) and choices stay."""
    return _with_words(value, masked(value.model_dump(mode="json"), mask))


def _with_words(value: Model, words: Any) -> Model:
    """`words` is the value as JSON after a mask, which keeps the order of fields and items."""
    changes: dict[str, Any] = {}
    fields = type(value).model_fields.items()
    for (name, field), word in zip(fields, words.values(), strict=True):
        own = getattr(value, name)
        if EXACT in field.metadata or get_origin(field.annotation) is Literal:
            continue
        if isinstance(own, BaseModel):
            changes[name] = _with_words(own, word)
        elif isinstance(own, tuple) and own and isinstance(own[0], BaseModel):
            changes[name] = tuple(map(_with_words, own, word))
        else:
            changes[name] = tuple(word) if isinstance(own, tuple) else word
    return value.model_copy(update=changes)


def _masked_fields(fields: dict[str, JsonValue], mask: Mask, name: str) -> dict[str, JsonValue]:
    """An object masked; `name` is that of the field which holds it."""
    for key in _NAMES:
        own = fields.get(key)
        if isinstance(own, str) and names_a_secret(own):
            name = own
    names = _changed_names(fields, mask)
    hidden: dict[str, JsonValue] = {}
    for key, item in fields.items():
        hidden[names[key]] = masked(item, mask, name if key == _VALUE else key)
    secret, words = fields.get(_VALUE), hidden.get(_WORDS)
    if isinstance(secret, str) and isinstance(words, str) and hidden.get(_VALUE) == CREDENTIAL:
        hidden[_WORDS] = words.replace(secret, CREDENTIAL)
    return hidden


def _hidden(value: JsonValue, mask: Mask) -> JsonValue:
    if isinstance(value, str):
        text = mask(value)
        return text if is_placeholder(text) else CREDENTIAL
    is_number = isinstance(value, int) and abs(value) >= _SHORTEST_NUMBER
    return CREDENTIAL if is_number else value


def _masked_neighbours(items: Sequence[JsonValue], mask: Mask) -> list[JsonValue]:
    """A list with its texts masked as one, and so those of each field of its objects."""
    copies: list[Any] = [dict(item) if isinstance(item, dict) else item for item in items]
    rows: dict[str | None, list[tuple[Any, Any]]] = {}
    for index, item in enumerate(copies):
        if isinstance(item, str):
            rows.setdefault(None, []).append((copies, index))
        elif isinstance(item, dict):
            for key, text in item.items():
                if isinstance(text, str):
                    rows.setdefault(key, []).append((item, key))
    for places in rows.values():
        texts = masked_together([holder[key] for holder, key in places], mask)
        for (holder, key), text in zip(places, texts, strict=True):
            holder[key] = text
    return copies

"""What may never reach the disk, a package or a screen as it came: secrets, halves of characters.

A `Mask` hides the secrets of one text: the host's the exact values of the person's own secrets, and
then the shapes that `credentials.redact` knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import JsonValue

from .credentials import BETWEEN, CREDENTIAL, is_placeholder, names_a_secret, redact
from .embedded import without_blobs

__all__ = [
    "Mask",
    "clean",
    "map_text",
    "masked",
    "masked_json",
    "masked_together",
    "redact",
    "safe",
]

Mask = Callable[[str], str]
_NAMES = (
    "field",
    "name",
    "key",
)  # of a field that is written as an object: {"name": …, "value": …}
_SHORTEST_SECRET = 4
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
        changed: dict[Any, Any] = {}
        for key, item in value.items():
            changed[_free_name(map_text(key, change), changed)] = map_text(item, change)
        return changed
    if isinstance(value, (list, tuple)):
        return [map_text(item, change) for item in value]
    return value


def _free_name(name: Any, taken: dict[Any, Any]) -> Any:
    """The name; with a number where masking made two alike."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free


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


def _masked_fields(fields: dict[str, JsonValue], mask: Mask, name: str) -> JsonValue:
    names = (fields.get(key) for key in _NAMES)
    label = next((own for own in names if isinstance(own, str)), name)
    hidden: dict[str, JsonValue] = {}
    for key, item in fields.items():
        holder = label if key == "value" else key
        hidden[_free_name(mask(key), hidden)] = masked(item, mask, holder)
    secret = fields.get("value")
    if isinstance(secret, str) and len(secret) >= _SHORTEST_SECRET and names_a_secret(label):
        for key, item in hidden.items():  # the words beside it may hold it too
            if isinstance(item, str) and item != label:
                hidden[key] = item.replace(secret, CREDENTIAL)
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

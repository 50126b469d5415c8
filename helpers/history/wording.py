"""Words as they are compared: folded, cut into sentences and tokens, equal but for an ending."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from ..values.names import words
from . import patterns
from .extract import MAX_QUOTE_CHARS, any_of

_SENTENCE = re.compile(r"(?<=[.!?…;])\s+|(?<=[。！？；؟])|\n+")
_WORD = re.compile(r"\w+")
UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def matches(alternatives: tuple[str, ...], text: str) -> bool:
    return any_of(alternatives).search(text) is not None


def folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")


def sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(folded(text)):
        for start in range(0, len(sentence), MAX_QUOTE_CHARS):
            if part := sentence[start : start + MAX_QUOTE_CHARS].strip():
                yield part


def tokens(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(folded(text).replace("_", " ")))


def has(spoken: Iterable[str], token: str) -> bool:
    return any(same_word(word, token) for word in spoken)


def same_word(word: str, other: str) -> bool:
    """Equal but for an ending: price and prices, цены and цену."""
    if word == other:
        return True
    short, long = sorted((word, other), key=len)
    if len(short) < 4 or len(long) - len(short) > 3:
        return False
    inflected = not short.isascii() or len(short) >= 6
    return long.startswith(short[:-1] if inflected else short)


def leaves(value: JsonValue) -> Iterator[tuple[str, ...]]:
    """The texts of a value, each in all its spellings."""
    match value:
        case bool() | None:
            return
        case int() | float():
            yield str(value), f"{value:,}", f"{value:g}"
        case str():
            if any(word not in patterns.NO_VALUE for word in tokens(value)):
                yield (words(value),)
        case list():
            for item in value:
                yield from leaves(item)
        case dict():
            for item in value.values():
                yield from leaves(item)


def found(spellings: Iterable[str]) -> re.Pattern[str]:
    """Finds any of them; one of letters and digits as a word of its own."""
    alternatives = []
    for text in spellings:
        plain = r"\s+".join(map(re.escape, folded(text).split()))
        alternatives.append(rf"(?<!\w){plain}(?!\w)" if text.isascii() else plain)
    return re.compile("|".join(alternatives))


_PIECE = re.compile(
    "[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\\W_\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)


def pieces(text: str) -> list[str]:
    """The words of a folded text; a run without spaces is a piece of its own."""
    return _PIECE.findall(text)


def has_ending_of(word: str, other: str) -> bool:
    """As `same_word`, and more forgiving: pricing and prices."""
    if word == other:
        return True
    shorter = min(len(word), len(other))
    stem = max(4, shorter - 3)
    return word[:stem] == other[:stem] and shorter >= 4 and abs(len(word) - len(other)) <= 5

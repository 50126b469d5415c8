"""One value of a call as what it means: a text, a list of texts, a number, a switch.

What cannot be understood is a ValueError whose words follow the argument's name. Nothing here takes
longer than its input is long.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TypeVar

from pydantic import JsonValue as Json

from ..values.names import short

Word = TypeVar("Word", bound=str)
MOST_CHARACTERS = 8_000_000  # of an argument: the longest text that still fits a ledger's line
MOST_ITEMS = 80_000  # of a list
MOST_LEVELS = 40  # of lists and objects; the host's parser allows more, nothing useful needs it
_MOST_BITS = 1024  # of a number that JSON readers agree about
_LONGEST_LITERAL = 100_000  # characters; the syntax tree of a Python literal is 100 times as large
_LONGEST_WORD = 100  # characters of a number, a switch or a choice
_NOTHING = frozenset({"", "none", "null", "undefined", "nil", "n/a"})
_TRUE, _FALSE = ("true", "yes", "y", "on", "1"), ("false", "no", "n", "off", "0", "")
_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip
# No three digits behind the point: 3.000 is three or three thousand.
_NUMBER = re.compile(
    r"(?:(?:the )?(?:last|newest|latest) )?(?P<number>[+-]?(?:\d{1,3}(?:[,_ ]\d{3}){1,4}|\d{1,15})(?:\.\d{1,2})?)"
    r"\s?(?P<kilo>k?)(?:\s?(?:tokens?|turns?|messages?))?"
)
_BULLET = re.compile(r"(?:[-*•]|\d{1,3}[.)])\s+")
# `<what belongs here>`, copied from a form; elements of HTML are none.
_ELEMENT = "script|style|img|div|span|form|input|button|body|html|header|footer|main|nav|table"
_PLACEHOLDER = re.compile(rf"\s?<(?!(?:{_ELEMENT})\b)[A-Za-z][\w ,.:/'’|-]{{2,80}}>\s?")


def check_size(value: object, most_characters: int) -> None:
    """Raises ValueError for what is too long, too deep, or holds a number too long for JSON.

    It stops as soon as more than `most_characters` are seen; an item of a list counts as 100.
    """
    level: Iterable[object] = (value,)
    depth = size = 0
    while level:
        below: list[object] = []
        for item in level:
            length, parts = _parts(item)
            size += length
            if size > most_characters:
                most = f"{most_characters:,} characters"
                raise ValueError(f"is longer than {most}, an item counted as 100")
            if depth and isinstance(item, int) and item.bit_length() > _MOST_BITS:
                raise ValueError(f"holds a number of {item.bit_length():,} bits")
            below.extend(parts)
        depth += 1
        if depth > MOST_LEVELS:
            raise ValueError(f"is nested more than {MOST_LEVELS} levels deep")
        level = below


def _parts(value: object) -> tuple[int, Iterable[object]]:
    """How long a value itself is, and what is in it."""
    match value:
        case str():
            return len(value), ()
        case dict():
            return 100 * len(value), (*value.keys(), *value.values())
        case list() | tuple():
            return 100 * len(value), value
    return 1, ()


def as_json(value: object) -> Json:
    """The value as plain JSON: what JSON cannot hold becomes text."""
    match value:
        case None | bool() | str():
            return value
        case int():
            bits = value.bit_length()
            return value if bits <= _MOST_BITS else f"a number of {bits:,} bits"
        case float():
            return value if math.isfinite(value) else str(value)
        case dict():
            return {str(as_json(name)): as_json(item) for name, item in value.items()}
        case list() | tuple():
            return [as_json(item) for item in value]
        case set() | frozenset():
            return sorted(map(as_json, value), key=str)
    return str(value)


def read_json(source: str) -> Json:
    """The JSON in a text.

    Raises ValueError: json.JSONDecodeError for what is no JSON, another for a name that stands
    twice in one object (either could be meant), for what is too deep, and for numbers that no JSON
    reader holds.
    """
    try:
        found = json.loads(
            source,
            object_pairs_hook=_object,
            parse_int=_whole,
            parse_float=_finite,
            parse_constant=_finite,
        )
        check_size(found, MOST_CHARACTERS)  # the depth, which not every Python's parser bounds
        return as_json(found)
    except RecursionError:
        raise ValueError(f"is nested more than {MOST_LEVELS} levels deep") from None


def _object(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    made: dict[str, Json] = {}
    for name, value in pairs:
        if name in made:
            raise ValueError(f'names "{short(name)}" twice')
        made[name] = value
    return made


def _whole(digits: str) -> int:
    _finite(digits)
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"holds {short(digits, 20)}, which is no number of JSON")
    return value


def decoded(value: Json) -> Json:
    """A string that holds a JSON or Python list or object as that value; all else as it is.

    Raises ValueError as `read_json` and `check_size`.
    """
    if not isinstance(value, str) or len(value) > MOST_CHARACTERS:
        return value
    source = unfenced(value)
    if source[:1] not in ("[", "{") or source[-1:] not in ("]", "}"):
        return value
    try:
        found = read_json(source)
    except json.JSONDecodeError:
        found = _literal(source)
    check_size(found, MOST_CHARACTERS)
    return value if found is None else found


def _literal(source: str) -> Json:
    """The Python value in a text, None where there is none."""
    with warnings.catch_warnings():
        # Of escapes such as "\d", which would go to standard error.
        warnings.simplefilter("ignore")
        try:
            return as_json(ast.literal_eval(source[:_LONGEST_LITERAL]))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return None


def unfenced(source: str) -> str:
    """The text without white space, byte order mark and code fence around it."""
    inner = source.strip("\ufeff \t\r\n")
    return re.sub(r"\A```\w{0,40}", "", inner).removesuffix("```").strip()


def text(value: Json) -> str:
    """Any value as text without white space around it; nothing ("None", null) as ""."""
    match value:
        case None:
            return ""
        case str():
            words = value.strip()
            return "" if words[:10].lower() in _NOTHING else words
        case list():
            return "\n".join(filter(None, map(text, value)))
        case dict():
            return "\n".join(f"{name}: {text(part)}" for name, part in value.items())
    return json.dumps(value)


def texts(value: Json, *, words: int = 1) -> tuple[str, ...]:
    """A list of texts from a list, from lines with or without bullets, or from names with commas.

    A comma divides only where all parts have at most `words` words: it may stand in a sentence.
    """
    return tuple(filter(None, map(text, listed(value, words=words))))


def listed(value: Json, *, words: int = 1) -> list[Json]:
    """The items of a list in any form, as `texts` reads it."""
    match value:
        case None:
            return []
        case list():
            return value
        case str():
            plain = [_BULLET.sub("", line.strip(), count=1) for line in lines(value)]
            filled = list(filter(text, plain))
            if len(filled) > MOST_ITEMS:
                raise ValueError(f"has more than {MOST_ITEMS:,} items")
            return [*(_names(filled[0], words) if len(filled) == 1 else filled)]
    return [value]


def lines(value: str) -> list[str]:
    """The lines of a text; only "\\n", "\\r" and "\\r\\n" end one."""
    return value.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _names(line: str, words: int) -> list[str]:
    parts = list(filter(None, map(str.strip, re.split("[,;]", line))))
    is_sentence = any(len(part.split(None, words)) > words for part in parts)
    return [line] if is_sentence else parts


def is_name(word: str) -> bool:
    """Whether it could be an id or a field: one word without other marks than `.` and `-`."""
    return re.fullmatch(r"\w[\w.\-]*", word) is not None


def is_placeholder(word: str) -> bool:
    return _PLACEHOLDER.fullmatch(word) is not None


def key(name: str) -> str:
    """A name as names are compared: `Include-Recent Turns` is `include_recent_turns`."""
    return re.sub(r"[\s\-]+", "_", name.strip(" \t\r\n\"'`\ufeff")).lower()


def is_switch(value: Json) -> bool:
    """Whether it is true or false, or a word for one of them."""
    return isinstance(value, bool) or _word(value) in {*_TRUE, *_FALSE} - {"", "0", "1"}


def switch(value: Json) -> bool:
    word = _word(value)
    if word not in (*_TRUE, *_FALSE):
        raise ValueError("must be true or false")
    return word in _TRUE


def choice(value: Json, allowed: Sequence[Word]) -> Word:
    """One of `allowed`; the first when nothing came."""
    word = _word(value) or allowed[0]
    for one in allowed:
        if one == word:
            return one
    raise ValueError("must be " + " or ".join(filter(None, allowed)))


def number(value: Json, default: int, least: int, most: int) -> int:
    """A whole number from `5`, `5.0`, "3,000", "3k", "five"; the default where nothing came."""
    word = _word(value) or str(default)
    meant = _number(word)
    if meant is None or meant % 1 or not least <= meant <= most:
        raise ValueError(f"must be a whole number from {least:,} to {most:,}")
    return int(meant)


def _number(word: str) -> Decimal | None:
    for count, name in enumerate(_NUMBERS):
        word = re.sub(rf"\b{name}\b", str(count), word)
    found = _NUMBER.fullmatch(word)
    if found is None:
        return None
    digits = re.sub(r"[,_ ]", "", found["number"])
    return Decimal(digits) * (1000 if found["kilo"] else 1)


def _word(value: Json) -> str:
    return short(text(value), _LONGEST_WORD).strip(" \"'.").lower()


def shown(value: Json) -> str:
    """What came, for a line of ours: shortened, and in quotes when it was a string."""
    if isinstance(value, str):
        return f'"{short(value)}"'
    return short(json.dumps(value, ensure_ascii=False))

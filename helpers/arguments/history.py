"""The arguments of `request_full_history`, understood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue as Json

from ..values.call import Call
from .plain import number, shown, text
from .sent import Sent

OWN: Final = ("reason", "query", "turns", "max_tokens", "part")
LEAST_TOKENS: Final = 200
NEWEST: Final = -1
TURNS_ALLOWED: Final = 'turns must be a range such as "12-40", one turn such as "57", or "last 20"'
_ALLOWED: Final = TURNS_ALLOWED.removeprefix("turns ")
_LONGEST_RANGE: Final = 200  # characters
_MOST_WORDS, _MOST_PHRASES = 32, 8
_LONGEST_REASON: Final = 500
_MOST: Final = 10**15  # of whatever is counted
_ALL: Final = frozenset({"", "all", "everything", "whole", "full", "*"})


@dataclass(frozen=True, slots=True)
class HistoryRequest:
    """What is wanted. `max_tokens` counts everything that comes back.

    `turns` is (first, last), last 0 for "to the end"; (NEWEST, n) for the newest n; None for all.
    `words` and `phrases` are what to search for, both empty for no search. `part` counts from 1; 0:
    the compacted whole.
    """

    max_tokens: int
    reason: str = ""
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    turns: tuple[int, int] | None = None
    part: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def searches(self) -> bool:
        return bool(self.words or self.phrases)


def parse(args: Mapping[Any, Any], call: Call) -> HistoryRequest:
    """The request in `args`; no argument at all asks for everything.

    Raises RequestError (code bad_value) with every problem of the call and what is allowed.
    """
    cap = call.settings.full_history_max_tokens
    sent = Sent(args, OWN, call.ports.mask)
    nothing: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    words, phrases = sent.read("query", query, nothing, json=True)
    reason = sent.read("reason", text, "")
    turns = sent.read("turns", turns_in, None, json=True)
    part = sent.read("part", _part, 0)
    most = sent.read("max_tokens", lambda value: _limit(value, cap, sent), cap)
    sent.raise_if_wrong()
    return HistoryRequest(
        max_tokens=most,
        reason=" ".join(reason.split())[:_LONGEST_REASON],
        words=words,
        phrases=phrases,
        turns=turns,
        part=part,
        warnings=sent.warnings,
    )


def query(value: Json) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(words, phrases): `retry "duplicate key"` has one of each; nothing sent has none."""
    line = " ".join(text(value).split())
    phrases = tuple(" ".join(part.split()) for part in filter(_tells, _QUOTED.findall(line)))
    rest = filter(_tells, _QUOTED.sub(" ", line).split())
    words = tuple(dict.fromkeys(word.strip(".,;:!?()[]{}'`\"“”„«»") for word in rest))
    nothing = str(value).strip().lower() in ("none", "null")
    if not (words or phrases or nothing):
        raise ValueError('must be words or a "quoted phrase"; leave it out for the whole history')
    return words[:_MOST_WORDS], phrases[:_MOST_PHRASES]


def _tells(word: str) -> bool:
    return any(char.isalnum() or ord(char) > 0x2FFF for char in word)


_QUOTED: Final = re.compile(r'["“”„«»]([^"“”„«»]+)["“”„«»]')
_NUMBER: Final = r"(\d[\d,_]*)"
_TO: Final = r"\s*(?:-|–|—|\.\.+|:|\bto\b|\buntil\b|\bthrough\b|\bbis\b)\s*"
_NEWEST_OF: Final = re.compile(rf"(?:the\s+)?(?:last|newest|latest|recent)\s*{_NUMBER}?")
_FIRST_OF: Final = re.compile(rf"(?:the\s+)?first\s*{_NUMBER}")
_ONE: Final = re.compile(rf"{_NUMBER}(?:\.0)?")
_RANGE: Final = re.compile(rf"{_NUMBER}{_TO}(?:{_NUMBER}|end|last|now)?")


def turns_in(value: Json) -> tuple[int, int] | None:
    """`12-40`, `57`, `last 20`, `12 to 40`, `[12, 40]`, `12-` (open), `first 5`; None for all."""
    if isinstance(value, bool):
        raise ValueError(_ALLOWED)
    parts = [*value.values()] if isinstance(value, dict) else value
    joined = " - ".join(map(text, parts)) if isinstance(parts, list) else text(parts)
    if len(joined) > _LONGEST_RANGE:
        raise ValueError(_ALLOWED)
    plain = re.sub(r"\bturns?\b|\bmessages?\b|\bfrom\b|#", " ", joined.lower())
    word = plain.strip(" \"'`[](){}.")
    return None if word in _ALL else _range(word)


def _range(word: str) -> tuple[int, int]:
    if match := _NEWEST_OF.fullmatch(word):
        return NEWEST, _positive(match[1] or "1")
    if match := _FIRST_OF.fullmatch(word):
        return 1, _positive(match[1])
    if match := _ONE.fullmatch(word):
        return _positive(match[1]), _positive(match[1])
    match = _RANGE.fullmatch(word)
    if match is None:
        raise ValueError(_ALLOWED)
    first = _positive(match[1])
    if match[2] is None:
        return first, 0
    last = _positive(match[2])
    return min(first, last), max(first, last)


def _positive(digits: str) -> int:
    number = int(re.sub(r"\D", "", digits)[:12])
    if number < 1:
        raise ValueError(f"count from 1: {_ALLOWED}")
    return number


def _limit(value: Json, cap: int, sent: Sent) -> int:
    """The token limit; nothing sent means the cap, more than the cap is the cap with a warning."""
    least = min(LEAST_TOKENS, cap)
    try:
        wanted = number(value, cap, least, _MOST)
    except ValueError:
        raise ValueError(f"must be a whole number from {least:,} to {cap:,}") from None
    if wanted > cap:
        sent.warn(f"max_tokens {shown(value)} is above the cap; {cap:,} was used")
    return min(wanted, cap)


def _part(value: Json) -> int:
    """`3`, "part 3", "3 of 5"."""
    words = text(value)[:100].lower().removeprefix("part").removeprefix("page")
    wanted = re.split(r"of|/", words, maxsplit=1)[0].strip()
    return number(wanted, 1, 1, _MOST) if wanted else 0

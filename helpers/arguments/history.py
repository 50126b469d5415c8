"""From what a model sends to `request_full_history` to a request: forgiving about form, strict about meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..values.call import Call
from .coerce import Problems, decoded, shown, text, whole_number
from .handover import tidy

ARGUMENTS: Final = ("reason", "query", "turns", "max_tokens", "part")
LEAST_TOKENS: Final = 200
NEWEST: Final = -1
TURNS_ALLOWED: Final = 'turns must be a range such as "12-40", one turn such as "57", or "last 20"'
_ALL: Final = {"all", "everything", "whole", "full", "*"}


@dataclass(frozen=True, slots=True)
class HistoryRequest:
    """What is wanted. `max_tokens` counts everything that comes back.

    `turns` is (first, last), last 0 for "to the end"; (NEWEST, n) for the newest n; None for all. `words` and `phrases` are
    what to search for, both empty for no search. `part` counts from 1; 0: the compacted whole.
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
    cap_tokens = call.settings.full_history_max_tokens
    values, warnings = tidy(args, ARGUMENTS, call.ports.mask)
    problems = Problems()
    attempt = problems.attempt
    words, phrases = attempt("query", query, values.get("query"), ((), ()))
    request = HistoryRequest(
        max_tokens=attempt(
            "max_tokens", _limit(cap_tokens, warnings), values.get("max_tokens"), cap_tokens
        ),
        reason=" ".join(text(values.get("reason")).split())[:500],
        words=words,
        phrases=phrases,
        turns=attempt("turns", turns, values.get("turns"), None),
        part=attempt("part", _part, values.get("part"), 0),
        warnings=(),
    )
    problems.raise_if_any()
    return HistoryRequest(
        **{
            **{name: getattr(request, name) for name in request.__slots__},
            "warnings": tuple(warnings),
        }
    )


def query(value: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(words, phrases) of a query: `retry "duplicate key"` has one of each; nothing sent gives ((), ())."""
    value = decoded(value)
    if value is None or (isinstance(value, str) and value.strip().lower() in ("none", "null")):
        return (), ()
    words = (
        text(value)
        if not isinstance(value, (list, tuple))
        else " ".join(text(item) for item in value)
    )
    phrases = tuple(
        " ".join(found.split())
        for found in re.findall(r'["“”„«»]([^"“”„«»]+)["“”„«»]', words)
        if _tells(found)
    )
    rest = re.sub(r'["“”„«»][^"“”„«»]+["“”„«»]', " ", words)
    plain = tuple(
        dict.fromkeys(word.strip(".,;:!?()[]{}'`\"“”„«»") for word in rest.split() if _tells(word))
    )[:32]
    if not (plain or phrases):
        raise ValueError('must be words or a "quoted phrase"; leave it out for the whole history')
    return plain, phrases[:8]


def _tells(word: str) -> bool:
    return any(char.isalnum() or ord(char) > 0x2FFF for char in word)


_NUMBER: Final = r"(\d[\d,_]*)"
_TO: Final = r"\s*(?:-|–|—|\.\.+|:|\bto\b|\buntil\b|\bthrough\b|\bbis\b)\s*"


def turns(value: Any) -> tuple[int, int] | None:
    """`12-40`, `57`, `last 20`, `12 to 40`, `[12, 40]`, `57` (int), `12-` (to the end), `first 5`; None where nothing came."""
    value = decoded(value)
    if value is None:
        return None
    if isinstance(value, bool):
        raise ValueError(TURNS_ALLOWED.removeprefix("turns "))
    if isinstance(value, (list, tuple)):
        value = " - ".join(text(item) for item in (value[:1] if len(value) == 1 else value))
    if isinstance(value, dict):
        value = " - ".join(text(item) for item in value.values())
    word = re.sub(r"\bturns?\b|\bmessages?\b|\bfrom\b|#", " ", text(value).lower()).strip(
        " \"'`[](){}."
    )
    if not word or word in _ALL:
        return None
    return _range(word)


def _range(word: str) -> tuple[int, int]:
    if match := re.fullmatch(rf"(?:the\s+)?(?:last|newest|latest|recent)\s*{_NUMBER}?", word):
        return NEWEST, _positive(match.group(1) or "1")
    if match := re.fullmatch(rf"(?:the\s+)?first\s*{_NUMBER}", word):
        return 1, _positive(match.group(1))
    if match := re.fullmatch(rf"{_NUMBER}(?:\.0)?", word):
        return (number := _positive(match.group(1))), number
    if match := re.fullmatch(rf"{_NUMBER}{_TO}(?:{_NUMBER}|end|last|now)?", word):
        first, last = _positive(match.group(1)), _positive(match.group(2)) if match.group(2) else 0
        return (min(first, last), max(first, last)) if last else (first, 0)
    raise ValueError(TURNS_ALLOWED.removeprefix("turns "))


def _positive(digits: str) -> int:
    number = int(re.sub(r"\D", "", digits)[:12])
    if number < 1:
        raise ValueError("count from 1: " + TURNS_ALLOWED.removeprefix("turns "))
    return number


def _limit(cap_tokens: int, warnings: list[str]) -> Callable[[Any], int]:
    """The token limit; nothing sent means the cap, more than the cap is the cap with a warning."""
    least = min(LEAST_TOKENS, cap_tokens)

    def shape(value: Any) -> int:
        try:
            number = whole_number(value)
        except ValueError:
            number = -1
        if number is None:
            return cap_tokens
        if number < least:
            raise ValueError(f"must be a whole number from {least:,} to {cap_tokens:,}")
        if number > cap_tokens:
            warnings.append(f"max_tokens {shown(value)} is above the cap; {cap_tokens:,} was used")
        return min(number, cap_tokens)

    return shape


def _part(value: Any) -> int:
    if isinstance(value, str):
        value = re.sub(
            r"\A\s*(?:part|page)\s*|\s*of\s*\d+\s*\Z|\s*/\s*\d+\s*\Z", "", value.strip().lower()
        )
    number = whole_number(value)
    if number is not None and number < 1:
        raise ValueError("counts from 1")
    return number or 0

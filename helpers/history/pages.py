"""Cutting a transcript, or the matches of a search, into parts that fit into a limit by length.

A part that turns out longer is compacted like everything else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from .frames import density
from .message import ASSISTANT, TOOL, Record
from .search import Match
from .transcript import Transcript

_FILL: Final = 0.8
_TOKENS_A_CHAR: Final = 0.34
_HEAD_TOKENS: Final = 12
_MATCH_TOKENS: Final = 30
_NEIGHBOUR_SHARE: Final = 8


@dataclass(frozen=True, slots=True)
class Page:
    """Turns that fit into the limit by their length; a turn that does not is given in `slices`.

    `slice` is which of them, from 1; both are 0 for whole turns.
    """

    first: int
    last: int
    slice: int = 0
    slices: int = 0


def pages_of(transcript: Transcript, turns: tuple[int, int], limit_tokens: int) -> tuple[Page, ...]:
    """The turns in parts, a tool call always with its result where both fit."""
    room = limit_tokens * _FILL
    pages: list[Page] = []
    first, weight = turns[0], 0.0
    for unit in _units(transcript, turns):
        tokens = sum([_weight(transcript, number) for number in unit])
        if weight and weight + tokens > room:
            pages.append(Page(first, unit[0] - 1))
            first, weight = unit[0], 0.0
        if tokens > room:
            pages += _sliced(transcript, unit, room)
            first = unit[-1] + 1
        else:
            weight += tokens
    if weight:
        pages.append(Page(first, turns[1]))
    return tuple(pages)


def _units(transcript: Transcript, turns: tuple[int, int]) -> Iterator[range]:
    """Calls with their results, and single turns."""
    kinds, number = transcript.at_a_glance.kinds, turns[0]
    while number <= turns[1]:
        called = kinds[number - 1] == ASSISTANT and number < turns[1] and kinds[number] == TOOL
        unit = range(number, number + 2 if called else number + 1)
        yield unit
        number = unit.stop


def _sliced(transcript: Transcript, unit: range, room: float) -> Iterator[Page]:
    for number in unit:
        slices = math.ceil(_weight(transcript, number) / room)
        if slices == 1:
            yield Page(number, number)
            continue
        for part in range(1, slices + 1):
            yield Page(number, number, part, slices)


def _weight(transcript: Transcript, number: int) -> float:
    """Tokens of a turn by its length."""
    size = transcript.at_a_glance.sizes[number - 1]
    return size * _TOKENS_A_CHAR * _density(transcript.records[number - 1]) + _HEAD_TOKENS


def _density(record: Record | bytes) -> float:
    """By a glance at what is stored, without decoding it."""
    if isinstance(record, bytes):
        return 1.0 if record.isascii() else 2.0
    content = record["content"]
    texts = list(content.values()) if isinstance(content, dict) else [content]
    return max([density(text) for text in texts if isinstance(text, str)], default=1.0)


def pages_of_matches(
    transcript: Transcript, matches: Sequence[Match], turns: tuple[int, int], limit_tokens: int
) -> tuple[tuple[Match, ...], ...]:
    """Matches in parts whose turns, with neighbours, fit into the limit by their length."""
    room, most = limit_tokens * _FILL - 100, limit_tokens / _NEIGHBOUR_SHARE
    pages: list[list[Match]] = [[]]
    weight, taken = 0.0, set[int]()
    for match in matches:
        around = neighbours(match.number, turns)
        tokens = float(_MATCH_TOKENS)
        for number in around:
            if number not in taken:
                tokens += min(_weight(transcript, number), most)
        if pages[-1] and weight + tokens > room:
            pages.append([])
            weight, taken = 0.0, set()
        taken.update(around)
        weight += tokens
        pages[-1].append(match)
    return tuple([tuple(page) for page in pages])


def neighbours(number: int, turns: tuple[int, int]) -> list[int]:
    """The turn and those beside it."""
    around = (number, number - 1, number + 1)
    return [each for each in around if turns[0] <= each <= turns[1]]

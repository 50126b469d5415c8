"""One filling of a token limit with turns: what is shown, in which form, and what is left.

What to show, and in which order, is said in `compaction`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ..text.embedded import HUGE_CHARS
from .frames import longest_range_mark, range_mark, thoughts_mark, weight_of
from .message import ASSISTANT, TOOL, Message
from .turns import Block, Turns

_FULL_SHARE: Final = 0.98  # what is filled so far is full; at least 95 % is promised
_SAME_CHARS: Final = 80
_MOST_CHARS_A_TOKEN: Final = 8  # no prose or code has as many


@dataclass(frozen=True, slots=True)
class Compacted:
    """The text and what became of every turn. `tokens` is the real count, never above the limit.

    `whole` and `cut` are turn numbers; `left_out` are ranges (first, last), inclusive;
    `thoughts_left_out` turn numbers. `complete`: all of the turns are there, word for word.
    """

    text: str
    tokens: int
    whole: tuple[int, ...] = ()
    cut: tuple[int, ...] = ()
    left_out: tuple[tuple[int, int], ...] = ()
    thoughts_left_out: tuple[int, ...] = ()

    @property
    def complete(self) -> bool:
        return not (self.cut or self.left_out or self.thoughts_left_out)


class LeftOut(NamedTuple):
    """Turns that are not shown, and the mark for them with its tokens."""

    first: int
    last: int
    mark: str
    tokens: int


class Fill:
    """Which of the turns `first` to `last` are shown within `limit` tokens.

    `room` are the tokens left: blocks and thoughts are counted, and for what is not shown the
    longest mark is reckoned, until `settle` puts the real ones in place. `thoughts_hidden` are the
    marks for thoughts that are not shown.
    """

    def __init__(self, turns: Turns, first: int, last: int, limit: int) -> None:
        self.turns, self.first, self.last, self.limit = turns, first, last, limit
        self.blocks: dict[int, Block] = {}
        self.thoughts_hidden: dict[int, str] = {}
        self._thoughts: dict[int, str] = {}
        self._thoughts_cut: set[int] = set()
        self._results: dict[str, int] = {}
        self._ranges: dict[tuple[int, int], LeftOut] = {}
        longest = longest_range_mark(last, weight_of(turns.index.sizes[first - 1 : last]))
        self._most, self._least = turns.price(longest), turns.price(range_mark(1, 1, 1))
        # A range that begins at a later turn has a longer number twice in its mark.
        self._longer = 2 * (turns.price(str(last)) - turns.price("1"))
        self._reckoned = self._most
        self.room = limit - self._reckoned

    @property
    def is_full(self) -> bool:
        """Whether it does not pay to look for another turn."""
        return self.room <= self.limit * (1 - _FULL_SHARE)

    def backwards(self) -> Iterator[int]:
        return iter(range(self.last, self.first - 1, -1))

    def hidden(self) -> Iterator[int]:
        """Turns that are not shown, newest first."""
        return (number for number in self.backwards() if number not in self.blocks)

    def cut(self) -> list[int]:
        """Turns that are shown cut, newest first."""
        return sorted([each for each, block in self.blocks.items() if block.chars], reverse=True)

    def newest(self, marks: bytes, value: int) -> Iterator[int]:
        """Turns whose byte in `marks` is `value`, newest first."""
        at = marks.rfind(value, self.first - 1, self.last)
        while at >= 0:
            yield at + 1
            at = marks.rfind(value, self.first - 1, at)

    # showing

    def show_all(self) -> bool:
        """Shows everything, thoughts too. False: no room, and this filling is of no use."""
        if not self._all_may_fit():
            return False
        self.room, self._reckoned = self.limit, 0
        for number in self.backwards():
            if not self._may_fit((number,)):
                return False
            message = self.turns.message(number)
            self._put(message, self._block(message))
            self._thoughts[number], _ = self.turns.thoughts(message)
            self.room -= self.blocks[number].tokens + self.turns.count(self._thoughts[number])
            if self.room < 0:
                return False
        return True

    def _all_may_fit(self) -> bool:
        """By length; huge ones do not count, for they may be blobs that are told in a line."""
        if (self.last - self.first) * 4 > self.limit:
            return False
        sizes = self.turns.index.sizes[self.first - 1 : self.last]
        chars = sum([size for size in sizes if size < HUGE_CHARS])
        return chars <= _MOST_CHARS_A_TOKEN * self.limit

    def show(self, number: int, at_most: int = 0) -> bool:
        """Shows a turn, each half of a call within `at_most` tokens (0: whole). False: no room."""
        if number in self.blocks:
            return True
        unit = self._unit(number)
        if not at_most and not self._may_fit(unit):
            return False
        reckoned = self._reckon(unit)
        cost, made = reckoned, list[tuple[Message, Block, str]]()
        for each in unit:
            message = self.turns.message(each)
            block, mark = self._block(message, at_most), thoughts_mark(message)
            cost += block.tokens + self.turns.price(mark)
            made.append((message, block, mark))
        if cost > self.room:
            return False
        self.room -= cost
        self._reckoned += reckoned
        for message, block, mark in made:
            self._put(message, block, mark)
        return True

    def _put(self, message: Message, block: Block, mark: str = "") -> None:
        self.blocks[message.number] = block
        if mark:
            self.thoughts_hidden[message.number] = mark
        if message.role == "tool" and _SAME_CHARS < len(message.text) < HUGE_CHARS:
            self._results.setdefault(message.text, message.number)

    def _block(self, message: Message, at_most: int = 0) -> Block:
        """The turn within `at_most` tokens; of a result that is shown already, where that is."""
        same = self._results.get(message.text, 0) if message.role == "tool" else 0
        return self.turns.block(message, self.turns.chars_in(at_most, message.text), same)

    def _unit(self, number: int) -> tuple[int, ...]:
        """The turn, with the other half of a call where that is not shown yet."""
        kinds = self.turns.index.kinds
        unit: tuple[int, ...] = (number,)
        if kinds[number - 1] == TOOL and number > self.first and kinds[number - 2] == ASSISTANT:
            unit = (number - 1, number)
        elif kinds[number - 1] == ASSISTANT and number < self.last and kinds[number] == TOOL:
            unit = (number, number + 1)
        return tuple([each for each in unit if each not in self.blocks])

    def _may_fit(self, unit: Iterable[int]) -> bool:
        """By length, before anything is read; a huge message may be a blob, small when read."""
        for number in unit:
            size = self.turns.index.sizes[number - 1]
            if size >= HUGE_CHARS:
                size = len(self.turns.message(number).text)
            if size * self.turns.tokens_a_char > 1.25 * self.room:
                return False
        return True

    # showing more of what is shown

    def show_whole(self, number: int) -> bool:
        """A cut turn whole. False: no room."""
        if not self._may_fit((number,)):
            return False
        return self._replace(number, self.turns.block(self.turns.message(number)))

    def grow(self, number: int) -> None:
        """A cut turn takes the room that is left."""
        message, share = self.turns.message(number), 0.97
        for _ in range(6):
            block = self.blocks[number]
            if self.is_full or not block.chars:
                return
            chars = block.chars + int(self.room * share * len(block.text) / block.tokens)
            if chars >= len(message.text):
                chars = 0
            if not self._replace(number, self.turns.block(message, chars)):
                share /= 2

    def _replace(self, number: int, block: Block) -> bool:
        more = block.tokens - self.blocks[number].tokens
        if more > self.room:
            return False
        self.room -= more
        self.blocks[number] = block
        return True

    def show_thoughts(self, number: int) -> bool:
        """Puts a turn's thoughts behind it, cut where they are longer than the room."""
        frame, is_cut = self.turns.thoughts(self.turns.message(number), self.room)
        more = self.turns.count(frame) - self.turns.price(self.thoughts_hidden[number])
        if more > self.room:
            return False
        self.room -= more
        self._thoughts[number] = frame
        del self.thoughts_hidden[number]
        if is_cut:
            self._thoughts_cut.add(number)
        return True

    # marks

    def _reckon(self, unit: Sequence[int]) -> int:
        """At most so many tokens more are in marks when these turns, side by side, are shown."""
        begins = unit[0] == self.first or unit[0] - 1 in self.blocks
        if unit[-1] == self.last or unit[-1] + 1 in self.blocks:
            return -self._least if begins else 0
        return self._longer if begins else self._most

    def _left_out(self) -> Iterator[LeftOut]:
        """The turns that are not shown, in order."""
        first = self.first
        for number in [*sorted(self.blocks), self.last + 1]:
            if number > first:
                yield self._range(first, number - 1)
            first = number + 1

    def _range(self, first: int, last: int) -> LeftOut:
        part = self._ranges.get((first, last))
        if part is None:
            mark = range_mark(first, last, weight_of(self.turns.index.sizes[first - 1 : last]))
            part = self._ranges[first, last] = LeftOut(first, last, mark, self.turns.price(mark))
        return part

    def settle(self) -> list[LeftOut]:
        """Puts the price of the real marks in place of what was reckoned, which is more."""
        left_out = list(self._left_out())
        real = sum([part.tokens for part in left_out])
        self.room += self._reckoned - real
        self._reckoned = real
        return left_out

    def result(self) -> Compacted:
        left_out = self.settle()
        if self.room < 0:  # not even the one mark fits
            return Compacted("", 0, left_out=((self.first, self.last),))
        parts = {part.first: part.mark for part in left_out}
        for number, block in self.blocks.items():
            thoughts = self._thoughts.get(number) or self.thoughts_hidden.get(number, "")
            parts[number] = block.text + thoughts
        cut = self.cut()
        return Compacted(
            text="".join([parts[number] for number in sorted(parts)]),
            tokens=self.limit - self.room,
            whole=tuple(sorted(self.blocks.keys() - cut)),
            cut=tuple(sorted(self._thoughts_cut.union(cut))),
            left_out=tuple([(part.first, part.last) for part in left_out]),
            thoughts_left_out=tuple(sorted(self.thoughts_hidden)),
        )

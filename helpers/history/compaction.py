"""Fitting a transcript into a token limit, saying in place what was left out and how to get it.

Order of worth: the first request; every word of the person; decisions and declines; the newest
turns verbatim; results and code with head and tail; the agents' own thoughts last. Nothing that is
given is changed, and what is left out leaves a mark such as
`[turns 12-31 left out: 20 turns, about 9,120 tokens; turns="12-31"]`.

Each block is counted once and blocks add up. Only what can travel is counted at all; what stays
behind is weighed by its length.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Final, NamedTuple, Protocol

from ..text.embedded import HUGE_CHARS, without_blobs
from ..text.quote import fence, safe_end, visible
from .frames import (
    cut_frame,
    density,
    framed,
    gap_mark,
    heading,
    same_mark,
    thoughts_frame,
    thoughts_mark,
    tidy,
    tidy_thoughts,
)
from .message import ASSISTANT, TOOL, USER, Message
from .transcript import Transcript

# Shares of the limit. The person's words and the decisions may not crowd out the newest turns, nor
# the other way round.
PERSON_SHARE: Final = 0.6
DECISION_SHARE: Final = 0.2
NEWEST_SHARE: Final = 0.5
FULL_SHARE: Final = 0.98  # what is filled so far is full; at least 95 % is promised
# Tokens of a character at first; corrected by what was counted.
_TOKENS_A_CHAR: Final = 1 / 3
# The same in the figures of marks; fixed, so that a mark stays the same from one request to the
# next.
_WEIGHT: Final = 0.33
_HEAD_TOKENS: Final = 8
_MARK_TOKENS: Final = 12
_CUT_TOKENS: Final = 120
_LEAST_CHARS: Final = 8
# Thoughts so short that the mark for them would be longer stay with their turn.
_SHORT_THOUGHTS: Final = 40
_SAME_CHARS: Final = 80
# No prose or code has so many characters a token.
_MOST_CHARS_A_TOKEN: Final = 8
# Turns in a row that do not fit, after which no further one is looked at.
_MISSES: Final = 12
_ANY_DIGIT: Final = str.maketrans("0123456789", "8" * 10)


class Counts(Protocol):
    """What counts tokens: `tokens.TokenCounter`, or `CountCache` around it."""

    def count(self, text: str) -> int: ...


class CountCache:
    """Remembers counts by the text's hash, so that a second request counts nothing again.

    No text is kept. `keep` is the number of texts remembered; the oldest are forgotten. `counted`
    is how many texts were really counted.
    """

    def __init__(self, counter: Counts, keep: int = 32_768) -> None:
        self._counter, self._keep = counter, keep
        self._known: dict[tuple[int, int], int] = {}
        self.counted = 0

    def count(self, text: str) -> int:
        key = (hash(text), len(text))
        known = self._known.get(key)
        if known is None:
            known = self._counter.count(text)
            self.counted += 1
            if len(self._known) >= self._keep:
                del self._known[next(iter(self._known))]
            self._known[key] = known
        return known


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


def compact(
    transcript: Transcript,
    *,
    limit_tokens: int,
    counter: Counts,
    turns: tuple[int, int] | None = None,
    first: Sequence[int] = (),
    focus: Mapping[int, float] | None = None,
) -> Compacted:
    """The turns (first, last; default all) within `limit_tokens`, by the order of worth.

    With `first` (matches of a search, best first) only those are shown, and marks stand for the
    rest; `focus` says around which place (0 to 1) of its text a long turn is cut. A limit that no
    mark fits into gives an empty text.
    """
    fill = _Fill(transcript, turns or (1, len(transcript)), limit_tokens, counter, focus or {})
    if first:
        _matches(fill, first)
        _fill_up(fill, ())
    elif not fill.show_all():
        _by_worth(fill)
        _fill_up(fill, islice(fill.hidden(), _MISSES))
    return fill.result()


def piece_of_turn(
    transcript: Transcript,
    number: int,
    part: int,
    parts: int,
    *,
    limit_tokens: int,
    counter: Counts,
) -> Compacted:
    """One of `parts` equal pieces of a turn that is too long for one answer, counted from 1."""
    message = transcript[number - 1]
    text = visible(without_blobs(message.text))
    start, end = safe_end(text, len(text) * (part - 1) // parts), len(text) * part // parts
    piece = text[start : safe_end(text, end)].strip("\n")
    head = heading(message, True).rstrip("\n") + f" · piece {part} of {parts} of this turn\n"
    block = head + fence(piece) if piece else head
    tokens, chars = counter.count(block), len(piece)
    while tokens > limit_tokens and chars > _LEAST_CHARS:
        chars = int(chars * min(0.9, 0.95 * limit_tokens / tokens))
        block = head + cut_frame(piece, chars, number, tokens / len(block))
        tokens = counter.count(block)
    if tokens > limit_tokens:
        return Compacted("", 0, left_out=((number, number),))
    if chars < len(piece):
        return Compacted(block, tokens, cut=(number,))
    return Compacted(block, tokens, whole=(number,))


# --- the order of worth


def _by_worth(fill: _Fill) -> None:
    """One step a line."""
    _first_request(fill)
    _words_of_the_person(fill)
    _decisions(fill)
    _newest(fill)
    _heads_and_tails(fill)
    _whole_again(fill)
    _thoughts(fill)


def _first_request(fill: _Fill) -> None:
    for number in fill.persons_turns():
        if not fill.message(number).is_empty:
            fill.show(number, at_most=fill.limit // 4)
            return


def _words_of_the_person(fill: _Fill) -> None:
    """All of them where they fit into their share; else those that tell a decision, the newest."""
    share = fill.limit * PERSON_SHARE
    count = fill.kinds.count(USER, fill.first - 1, fill.last)
    if count * (_HEAD_TOKENS + _MARK_TOKENS) < share:
        numbers = list(fill.newest(fill.kinds, USER))
        if fill.estimate(numbers) + count * _MARK_TOKENS <= share:
            for number in numbers:
                fill.show(number)
            return
    floor, at_most = fill.room - share, max(fill.limit // 20, _CUT_TOKENS)
    telling = (each for each in fill.newest(fill.tells, 1) if fill.kinds[each - 1] == USER)
    _show(fill, telling, at_most, fill.room - fill.limit * DECISION_SHARE)
    _show(fill, fill.newest(fill.kinds, USER), at_most, floor)


def _decisions(fill: _Fill) -> None:
    """What agents said or wrote down as decided."""
    floor, at_most = fill.room - fill.limit * DECISION_SHARE, max(fill.limit // 20, _CUT_TOKENS)
    _show(fill, fill.newest(fill.tells, 1), at_most, floor)


def _newest(fill: _Fill) -> None:
    """Newest turns word for word, very big ones with head and tail already here."""
    at_most = max(int(fill.room * NEWEST_SHARE) // 4, _CUT_TOKENS)
    _show(fill, fill.backwards(), at_most, fill.room * (1 - NEWEST_SHARE))


def _heads_and_tails(fill: _Fill) -> None:
    _show(fill, fill.backwards(), _CUT_TOKENS, 0)


def _show(fill: _Fill, numbers: Iterable[int], at_most: int, floor: float) -> None:
    """Shows turns within `at_most` tokens each, while more than `floor` tokens of room are left."""
    misses = 0
    for number in numbers:
        if fill.room <= floor or fill.is_full or misses > _MISSES:
            return
        misses = 0 if fill.show(number, at_most) else misses + 1


def _whole_again(fill: _Fill) -> None:
    """With room left (few turns, long ones) what was cut is shown whole, newest first."""
    if not fill.is_full:
        for number in fill.cut():
            fill.show_whole(number)


def _thoughts(fill: _Fill) -> None:
    if fill.shows_every_turn:
        for number in sorted(fill.thoughts_hidden, reverse=True):
            fill.show_thoughts(number, fill.room)


def _matches(fill: _Fill, first: Sequence[int]) -> None:
    """Matches in their order, then their neighbours; whole where there is room."""
    for number in first:
        matches = number in fill.focus
        fill.show(number, max(fill.limit // 8, _CUT_TOKENS) if matches else _CUT_TOKENS)
    for number in first:
        if number in fill.blocks and fill.blocks[number].chars:
            fill.show_whole(number)


def _fill_up(fill: _Fill, hidden: Iterable[int]) -> None:
    """Cut turns grow, `hidden` ones come cut to what is left, then thoughts, until it is full."""
    for number in fill.cut():
        fill.grow(number)
    for number in hidden:
        if not fill.is_full and fill.show(number, max(fill.room // 2, _HEAD_TOKENS)):
            fill.grow(number)
    for number in sorted(fill.thoughts_hidden, reverse=True)[:_MISSES]:
        if not fill.is_full:
            fill.show_thoughts(number, fill.room)


# --- the state of one filling


class _Block(NamedTuple):
    """A turn as it is shown; `chars` are those shown of a cut turn, 0 of a whole one."""

    text: str
    tokens: int
    chars: int


class _Fill:
    """Which turns are shown, in which form, and how many tokens are left.

    `room` is exact at every moment: blocks, thoughts, and the marks for all that is not shown.
    `blocks` are the shown turns, `order` their numbers sorted; `thoughts` the shown thoughts,
    `thoughts_hidden` the marks of those that are not.
    """

    def __init__(
        self,
        transcript: Transcript,
        turns: tuple[int, int],
        limit: int,
        counter: Counts,
        focus: Mapping[int, float],
    ) -> None:
        self.transcript, self.limit, self.focus = transcript, limit, focus
        self.first, self.last = turns
        index = transcript.at_a_glance
        self.kinds, self.sizes, self.tells = index.kinds, index.sizes, index.tells
        self.blocks: dict[int, _Block] = {}
        self.order: list[int] = []
        self.thoughts: dict[int, str] = {}
        self.thoughts_hidden: dict[int, str] = {}
        self.thoughts_cut: set[int] = set()
        self._count = counter.count
        self._prices: dict[str, int] = {}
        self._messages: dict[int, Message] = {}
        self._results: dict[str, int] = {}
        self._tokens_a_char = _TOKENS_A_CHAR
        self._counted_chars, self._counted_tokens = 300.0, 300 * _TOKENS_A_CHAR
        sizes = self.sizes[self.first - 1 : self.last]
        self._sums = array("Q", accumulate(sizes, initial=0))
        self.room = limit - self._gap_price(self.first, self.last)

    # what there is

    @property
    def is_full(self) -> bool:
        """Whether it does not pay to look for another turn."""
        return self.room <= self.limit * (1 - FULL_SHARE)

    @property
    def shows_every_turn(self) -> bool:
        return len(self.blocks) == self.last - self.first + 1

    def message(self, number: int) -> Message:
        """The message as it would travel: blobs told, hostile characters shown."""
        message = self._messages.get(number)
        if message is None:
            message = self._messages[number] = tidy(self.transcript[number - 1])
        return message

    def backwards(self) -> Iterator[int]:
        return iter(range(self.last, self.first - 1, -1))

    def hidden(self) -> Iterator[int]:
        """Turns that are not shown, newest first."""
        return (number for number in self.backwards() if number not in self.blocks)

    def cut(self) -> list[int]:
        """Turns that are shown cut, newest first."""
        return [number for number in reversed(self.order) if self.blocks[number].chars]

    def persons_turns(self) -> Iterator[int]:
        """Turns of the person, oldest first."""
        at = self.kinds.find(USER, self.first - 1, self.last)
        while at >= 0:
            yield at + 1
            at = self.kinds.find(USER, at + 1, self.last)

    def newest(self, marks: bytes, value: int) -> Iterator[int]:
        """Turns whose byte in `marks` is `value`, newest first."""
        at = marks.rfind(value, self.first - 1, self.last)
        while at >= 0:
            yield at + 1
            at = marks.rfind(value, self.first - 1, at)

    def estimate(self, numbers: Sequence[int]) -> float:
        """Tokens of these turns by their length."""
        chars = sum([self.sizes[number - 1] for number in numbers])
        return chars * self._tokens_a_char + _HEAD_TOKENS * len(numbers)

    # showing

    def show_all(self) -> bool:
        """Shows everything, thoughts too, where that fits; else nothing is shown."""
        if not self._may_all_fit():
            return False
        blocks, thoughts, room = dict[int, _Block](), dict[int, str](), self.limit
        for number in self.backwards():
            block = blocks[number] = self._block(number, 0)
            self._remember_result(number)
            room -= block.tokens
            if self._thinks_long(number):
                thoughts[number] = thoughts_frame(tidy_thoughts(self.message(number)))
                room -= self._count(thoughts[number])
            if room < 0:
                self._results.clear()
                return False
        self.blocks, self.thoughts, self.room = blocks, thoughts, room
        self.order = list(range(self.first, self.last + 1))
        return True

    def _may_all_fit(self) -> bool:
        """By length; big ones are read, for they may be blobs that are told in a line."""
        most = _MOST_CHARS_A_TOKEN * self.limit
        if (self.last - self.first) * 4 > self.limit:
            return False
        for number in self.backwards():
            size = self.sizes[number - 1]
            most -= len(self.message(number).text) if size > self.limit else size
            if most < 0:
                return False
        return True

    def show(self, number: int, at_most: int = 0) -> bool:
        """Shows a turn, each half of a call within `at_most` tokens (0: whole). False: no room."""
        if number in self.blocks:
            return True
        unit = self._unit(number)
        if not self._may_fit(unit, at_most):
            return False
        blocks = [self._block(each, self._chars_in(each, at_most)) for each in unit]
        marks = [self._thoughts_mark(each) for each in unit]
        cost = sum([block.tokens for block in blocks]) + self._marks_price(unit)
        cost += sum([self._price(mark) for mark in marks if mark])
        if cost > self.room:
            return False
        self.room -= cost
        for each, block, mark in zip(unit, blocks, marks, strict=True):
            self.blocks[each] = block
            insort(self.order, each)
            self._remember_result(each)
            if mark:
                self.thoughts_hidden[each] = mark
        return True

    def show_whole(self, number: int) -> bool:
        """A cut turn whole. False: no room."""
        return self._may_fit((number,), 0) and self._replace(number, self._block(number, 0))

    def grow(self, number: int) -> None:
        """A cut turn takes the room that is left."""
        share = 0.97
        for _ in range(6):
            block = self.blocks[number]
            if self.is_full or not block.chars:
                return
            chars = block.chars + int(self.room * share * len(block.text) / block.tokens)
            if chars >= len(self.message(number).text):
                chars = 0
            if not self._replace(number, self._block(number, chars)):
                share /= 2

    def _replace(self, number: int, block: _Block) -> bool:
        more = block.tokens - self.blocks[number].tokens
        if more > self.room:
            return False
        self.room -= more
        self.blocks[number] = block
        return True

    def show_thoughts(self, number: int, at_most: int) -> bool:
        """Puts a turn's thoughts behind it within about `at_most` tokens. False: no room."""
        text = tidy_thoughts(self.message(number))
        per_char = self._tokens_a_char * density(text)
        cut = len(text) * per_char > at_most
        if cut:
            chars = max(int((at_most - 2 * _MARK_TOKENS) / per_char * 0.9), _LEAST_CHARS)
            frame = "thinks:\n" + cut_frame(text, chars, number, per_char)
        else:
            frame = thoughts_frame(text)
        more = self._count(frame) - self._price(self.thoughts_hidden[number])
        if more > self.room:
            return False
        self.room -= more
        self.thoughts[number] = frame
        del self.thoughts_hidden[number]
        if cut:
            self.thoughts_cut.add(number)
        return True

    def _unit(self, number: int) -> tuple[int, ...]:
        """The turn, with the other half of a call where that is not shown yet."""
        kind = self.kinds[number - 1]
        if kind == TOOL and number > self.first and self.kinds[number - 2] == ASSISTANT:
            return (number,) if number - 1 in self.blocks else (number - 1, number)
        if kind == ASSISTANT and number < self.last and self.kinds[number] == TOOL:
            return (number,) if number + 1 in self.blocks else (number, number + 1)
        return (number,)

    def _may_fit(self, unit: Iterable[int], at_most: int) -> bool:
        """By length, before anything is read; a huge message may be a blob, small when read."""
        most = 1.25 * self.room
        if at_most:
            return at_most <= most or self.room > _HEAD_TOKENS
        for number in unit:
            size = self.sizes[number - 1]
            if size >= HUGE_CHARS:
                size = len(self.message(number).text)
            if size * self._tokens_a_char > most:
                return False
        return True

    # one turn in its frame

    def _chars_in(self, number: int, at_most: int) -> int:
        """The characters of a turn in about `at_most` tokens; 0 where all of it is less."""
        text = self.message(number).text
        if not at_most or len(text) * 2 <= at_most:
            return 0
        per_char = self._tokens_a_char * density(text)
        if len(text) * per_char <= at_most:
            return 0
        return max(int((at_most - _HEAD_TOKENS - _MARK_TOKENS) / per_char), _LEAST_CHARS)

    def _block(self, number: int, chars: int) -> _Block:
        """The turn in its frame, cut to about `chars` characters (0: whole)."""
        message = self.message(number)
        text = heading(message, number > 1 and self.kinds[number - 2] == ASSISTANT)
        same = self._results.get(message.text, number) if message.role == "tool" else number
        if same != number:
            text, chars = text + same_mark(same), 0
        elif chars:
            per_char = self._tokens_a_char * density(message.text)
            text += cut_frame(message.text, chars, number, per_char, self.focus.get(number))
        elif message.text:
            text += framed(message.text)
        if message.thoughts and not self._thinks_long(number):
            text += thoughts_frame(tidy_thoughts(message))
        tokens = self._count(text)
        self._counted_chars += len(text)
        self._counted_tokens += tokens
        self._tokens_a_char = self._counted_tokens / self._counted_chars
        return _Block(text, tokens, chars)

    def _remember_result(self, number: int) -> None:
        """A result that is shown is given once."""
        message = self.message(number)
        if message.role == "tool" and _SAME_CHARS < len(message.text) < HUGE_CHARS:
            self._results.setdefault(message.text, number)

    def _thinks_long(self, number: int) -> bool:
        return len(self.message(number).thoughts) > _SHORT_THOUGHTS

    # marks

    def _thoughts_mark(self, number: int) -> str:
        if not self._thinks_long(number):
            return ""
        return thoughts_mark(number, int(len(self.message(number).thoughts) * _WEIGHT) + 1)

    def _marks_price(self, unit: Sequence[int]) -> int:
        """What the marks for whole turns cost more when these turns of one gap are shown."""
        place = bisect_left(self.order, unit[0])
        first = self.order[place - 1] + 1 if place else self.first
        last = self.order[place] - 1 if place < len(self.order) else self.last
        after = self._gap_price(first, unit[0] - 1) + self._gap_price(unit[-1] + 1, last)
        return after - self._gap_price(first, last)

    def _gap_price(self, first: int, last: int) -> int:
        return self._price(self._gap(first, last)) if first <= last else 0

    def _gap(self, first: int, last: int) -> str:
        chars = self._sums[last - self.first + 1] - self._sums[first - self.first]
        return gap_mark(first, last, int(chars * _WEIGHT) + _HEAD_TOKENS * (last - first + 1))

    def _price(self, mark: str) -> int:
        """Tokens of a mark: the same for all whose numbers have as many digits, so counted once."""
        shape = mark.translate(_ANY_DIGIT)
        price = self._prices.get(shape)
        if price is None:
            price = self._prices[shape] = self._count(shape)
        return price

    def result(self) -> Compacted:
        if self.room < 0:  # not even the one mark fits
            return Compacted("", 0, left_out=((self.first, self.last),))
        parts: list[str] = []
        left_out: list[tuple[int, int]] = []
        expected = self.first
        for number in [*self.order, self.last + 1]:
            if number > expected:
                parts.append(self._gap(expected, number - 1))
                left_out.append((expected, number - 1))
            expected = number + 1
            if number in self.blocks:
                parts.append(self.blocks[number].text)
                parts.append(self.thoughts.get(number) or self.thoughts_hidden.get(number, ""))
        cut = self.thoughts_cut.union(self.cut())
        return Compacted(
            text="".join(parts),
            tokens=self.limit - self.room,
            whole=tuple([each for each in self.order if not self.blocks[each].chars]),
            cut=tuple(sorted(cut)),
            left_out=tuple(left_out),
            thoughts_left_out=tuple(sorted(self.thoughts_hidden)),
        )

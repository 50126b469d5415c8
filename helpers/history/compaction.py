"""Fitting a transcript into a token limit, saying in place what was left out and how to get it.

Order of worth (issue "Stage 2", point 3): the first request; every word of the person; decisions and declines; the newest
turns verbatim; results and code with head and tail; the agents' own thoughts last. Nothing that is given is changed, and what
is left out leaves a mark such as `[turns 12-31 left out: 20 turns, about 9,120 tokens; turns="12-31"]`.

Each block is counted once, blocks add up (see `text/quote.py`), and only what can travel is counted at all; what stays behind is
weighed by its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol

from ..text.embedded import HUGE_CHARS, SHORTEST_BLOB, without_blobs
from ..text.quote import fence, head_and_tail, safe_end, visible, window
from .transcript import ASSISTANT, TOOL, USER, Message, Transcript, read

MIN_LIMIT_TOKENS: Final = 200
FILL: Final = 0.98
# Shares of the limit. The person's words and the decisions may not crowd out the newest turns, nor the other way round.
PERSON_SHARE: Final = 0.6
DECISION_SHARE: Final = 0.2
NEWEST_SHARE: Final = 0.5
# Characters a token at first; corrected by what was counted.
_CHARS_A_TOKEN: Final = 3.0
_HEAD_TOKENS: Final = 8
_CUT_TOKENS: Final = 120
# Thoughts so short that the mark for them would be longer stay with their turn.
_SHORT_THOUGHTS: Final = 40
_SAME_CHARS: Final = 80
# Tokens a stored character in the figures of marks; fixed, so that a mark stays the same from one request to the next.
_WEIGHT: Final = 0.33
_LARGE_LIMIT: Final = 5_000
# A mark that now names another range may be longer than it was.
_MARK_SLACK: Final = 12


class Counts(Protocol):
    """What counts tokens: `tokens.TokenCounter`, or `CountCache` around it."""

    def count(self, text: str) -> int: ...


class CountCache:
    """Remembers counts by the text's hash, so that a second request counts nothing again and no text is kept for it.

    `keep` is the number of texts remembered; the oldest are forgotten. `counted` is how many texts were really counted.
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
    """The text and what became of every turn. `tokens` is the real count of `text`, never above the limit.

    `whole` and `cut` are turn numbers; `left_out` are ranges (first, last), inclusive; `thoughts_left_out` turn numbers.
    `complete`: everything asked for is there, word for word.
    """

    text: str
    tokens: int
    whole: tuple[int, ...]
    cut: tuple[int, ...]
    left_out: tuple[tuple[int, int], ...]
    thoughts_left_out: tuple[int, ...]

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

    With `first` (matches of a search, best first) only those are shown, and marks stand for the rest; `focus` says around
    which place (0 to 1) of its text a long turn is cut. A limit that no mark fits into gives an empty text.
    """
    first_turn, last_turn = turns or (1, len(transcript))
    fill = _Fill(transcript, first_turn, last_turn, limit_tokens, counter, focus or {})
    if first:
        _matches(fill, first)
        fill.last_drop(first)
    elif not fill.all_verbatim():
        _by_worth(fill)
        fill.last_drop(())
    return fill.result()


def page_of_turn(
    transcript: Transcript,
    number: int,
    part: int,
    parts: int,
    *,
    limit_tokens: int,
    counter: Counts,
) -> Compacted:
    """One of `parts` equal pieces of a turn that is too long for one answer; `part` counts from 1."""
    message = transcript[number - 1]
    text = visible(without_blobs(message.text))
    ends = [safe_end(text, len(text) * each // parts) for each in (part - 1, part)]
    piece = text[ends[0] : ends[1]].strip("\n")
    head = heading(message, True).rstrip("\n") + f" · piece {part} of {parts} of this turn\n"
    for _ in range(8):
        block = head + fence(piece) if piece else head
        tokens = counter.count(block)
        if tokens <= limit_tokens:
            break
        room = int(len(piece) * limit_tokens / tokens * 0.95) - 120
        block = head + cut_quote(piece, max(8, room), number, tokens / len(piece))
        tokens = counter.count(block)
        if tokens <= limit_tokens:
            return Compacted(block, tokens, (), (number,), (), ())
        piece = piece[: safe_end(piece, room)]
    return Compacted(block, tokens, (number,), (), (), ())


def _matches(fill: _Fill, first: Sequence[int]) -> None:
    at_most = max(fill.limit // 8, _CUT_TOKENS)
    for number in first:
        if number not in fill.blocks:
            fill.show(number, at_most if number in fill.focus else _CUT_TOKENS)
    for number in first:
        if number in fill.cut:
            fill.show(number)


def _by_worth(fill: _Fill) -> None:
    """The order of worth, one step a line."""
    _first_request(fill)
    _words_of_the_person(fill)
    _decisions(fill)
    _newest(fill)
    _heads_and_tails(fill)
    _whole_again(fill)
    _thoughts(fill)


def _first_request(fill: _Fill) -> None:
    number = fill.next_person(fill.first)
    while number and fill.message(number).is_empty:
        number = fill.next_person(number + 1)
    if number:
        fill.show(number, at_most=fill.limit // 4)


def _words_of_the_person(fill: _Fill) -> None:
    """All of them where they fit into their share; else first those that tell a decision, then the newest."""
    share = fill.limit * PERSON_SHARE
    count = fill.index.kinds.count(USER, fill.first - 1, fill.last)
    if count * (_HEAD_TOKENS + fill.mark_tokens / 2) < share:
        numbers = list(fill.newest(fill.index.kinds, USER))
        if fill.estimate(numbers) + count * fill.mark_tokens / 2 <= share:
            for number in numbers:
                fill.show(number)
            return
    floor = fill.room - share
    telling = (
        number
        for number in fill.newest(fill.index.tells, 1)
        if fill.index.kinds[number - 1] == USER
    )
    _until(fill, telling, fill.room - fill.limit * DECISION_SHARE)
    _until(fill, fill.newest(fill.index.kinds, USER), floor)


def _until(fill: _Fill, numbers: Iterable[int], floor: float) -> None:
    """Shows turns while more than `floor` tokens of room are left; long ones with head and tail."""
    at_most = max(fill.limit // 20, _CUT_TOKENS)
    for number in numbers:
        if fill.room <= floor or not fill.roomy:
            return
        if not fill.is_shown(number):
            fill.show(number, at_most)


def _decisions(fill: _Fill) -> None:
    """What agents said or wrote down as decided."""
    _until(fill, fill.newest(fill.index.tells, 1), fill.room - fill.limit * DECISION_SHARE)


def _newest(fill: _Fill) -> None:
    """Newest turns word for word, a call always with its result; very big ones with head and tail already here."""
    floor = fill.room * (1 - NEWEST_SHARE)
    big = max(int(fill.room * NEWEST_SHARE) // 4, _CUT_TOKENS)
    for number in range(fill.last, fill.first - 1, -1):
        if fill.room <= floor or not fill.roomy:
            return
        if not fill.is_shown(number):
            fill.show(number, big)


def _heads_and_tails(fill: _Fill) -> None:
    for number in range(fill.last, fill.first - 1, -1):
        if not fill.roomy:
            return
        if not fill.is_shown(number):
            fill.show(number, _CUT_TOKENS)


def _whole_again(fill: _Fill) -> None:
    """With room left (few turns, long ones) what was cut is shown whole, newest first."""
    if not fill.roomy and len(fill.blocks) < fill.last - fill.first + 1:
        return
    for number in sorted(fill.cut, reverse=True):
        fill.show(number)


def _thoughts(fill: _Fill) -> None:
    if len(fill.blocks) == fill.last - fill.first + 1:
        for number in sorted(fill.thoughtful, reverse=True):
            fill.show_thoughts(number)


class _Fill:
    """The state of one filling: which turns are shown, in which form, and how many tokens are left.

    `room` is what is left when every gap and every thought is marked; marks are reserved at a usual price while turns are
    chosen, and `settle` counts the real ones. Blocks stand in the order in which they were chosen.
    """

    def __init__(
        self,
        transcript: Transcript,
        first: int,
        last: int,
        limit: int,
        counter: Counts,
        focus: Mapping[int, float],
    ) -> None:
        self.focus = focus
        self.transcript, self.records, self.index = (
            transcript,
            transcript.records,
            transcript.at_a_glance,
        )
        self.first, self.last, self.limit = first, last, limit
        self._count = counter.count
        self.mark_tokens = self._count(gap_mark(max(last - 3, 1), max(last, 2), 12_345))
        self.thought_tokens = self._count(thought_mark(last, 99))
        self.blocks: dict[int, str] = {}
        self.cost: dict[int, int] = {}
        self.cut: dict[int, int] = {}
        self.thoughtful: set[int] = set()
        self.thoughts: dict[int, str] = {}
        self.thoughts_cut: set[int] = set()
        self.messages: dict[int, Message] = {}
        self.seen: dict[str, int] = {}
        self.reserved = self.mark_tokens
        self.room = limit - self.reserved
        self.tokens_a_char = 1 / _CHARS_A_TOKEN
        self._counted_chars, self._counted_tokens = 300.0, 300.0 / _CHARS_A_TOKEN
        self.marks: dict[int, str] = {}
        self.thought_marks: dict[int, str] = {}
        self._blobs = False

    @property
    def roomy(self) -> bool:
        """Whether it pays to look for another turn; the last drop is for `last_drop`."""
        return self.room > self.limit * 0.015 + 8

    def estimate(self, numbers: Sequence[int]) -> float:
        """Tokens of these turns by their length, blobs counted as if they travelled."""
        sizes = self.index.sizes
        return sum(
            [sizes[number - 1] for number in numbers]
        ) * self.tokens_a_char + _HEAD_TOKENS * len(numbers)

    # what there is

    def message(self, number: int) -> Message:
        """The message as it would travel: blobs told, hostile characters shown; a huge one is tidied when it is cut."""
        found = self.messages.get(number)
        if found is None:
            found = self.messages[number] = tidy(
                read(self.records[number - 1], number, self.transcript.resolve)
            )
        return found

    def next_person(self, number: int) -> int:
        """The first message of the person at or behind `number`, or 0."""
        return self.index.kinds.find(USER, number - 1, self.last) + 1

    def newest(self, marks: bytes, value: int) -> Iterator[int]:
        """Turn numbers whose byte in `marks` is `value`, newest first."""
        at = marks.rfind(value, self.first - 1, self.last)
        while at >= 0:
            yield at + 1
            at = marks.rfind(value, self.first - 1, at)

    def is_shown(self, number: int) -> bool:
        return number in self.blocks

    def partner(self, number: int) -> int:
        """The other half of a tool call and its result, or 0."""
        kinds = self.index.kinds
        if kinds[number - 1] == TOOL:
            return number - 1 if number > self.first and kinds[number - 2] == ASSISTANT else 0
        if kinds[number - 1] == ASSISTANT:
            return number + 1 if number < self.last and kinds[number] == TOOL else 0
        return 0

    # showing

    def show(self, number: int, at_most: int = 0) -> bool:
        """Shows a turn, and with it the other half of a call, each within `at_most` tokens (0: whole); False: no room."""
        blocks = self.blocks
        if number in blocks:
            return self._show_again(number, at_most)
        other = self.partner(number)
        first = last = number
        if other and other not in blocks:
            first, last = (number, other) if number < other else (other, number)
        if not self._may_fit(first, last, at_most):
            return False
        text, chars = self._block(first, at_most)
        thinks = 1 if len(self.messages[first].thoughts) > _SHORT_THOUGHTS else 0
        gaps = (
            1
            - (first == self.first or first - 1 in blocks)
            - (last == self.last or last + 1 in blocks)
        )
        if first == last:
            tokens = self._count_block(text)
        else:
            text2, chars2 = self._block(last, at_most)
            tokens = self._count_block(text + text2)
        reserve = gaps * self.mark_tokens + thinks * self.thought_tokens
        if tokens + reserve > self.room:
            return False
        self.room -= tokens + reserve
        self.reserved += reserve
        if thinks:
            self.thoughtful.add(first)
        if first == last:
            self._keep(first, text, chars, tokens)
        else:
            self._keep(first, text, chars, -1)
            self._keep(last, text2, chars2, -1)
        return True

    def _show_again(self, number: int, at_most: int) -> bool:
        """A turn that was cut, in another length."""
        if number not in self.blocks or not self._may_fit(number, number, at_most):
            return False
        text, chars = self._block(number, at_most)
        tokens, before = self._count_block(text), self.cost_of(number)
        if tokens - before > self.room:
            return False
        self.room -= tokens - before
        self._keep(number, text, chars, tokens)
        return True

    def _may_fit(self, first: int, last: int, at_most: int) -> bool:
        """By length, before anything is read; a huge message may be a blob, which is small when it is read."""
        sizes, most = self.index.sizes, 1.25 * self.room
        if at_most and at_most <= most:
            return True
        for number in (first, last):
            size = sizes[number - 1]
            if size * self.tokens_a_char > most and (
                size < HUGE_CHARS or len(self.message(number).text) * self.tokens_a_char > most
            ):
                return False
        return True

    def _count_block(self, block: str) -> int:
        tokens = self._count(block)
        self._counted_chars += len(block)
        self._counted_tokens += tokens
        self.tokens_a_char = self._counted_tokens / self._counted_chars
        return tokens

    def _keep(self, number: int, text: str, chars: int, cost: int) -> None:
        """`chars` shown of a cut turn, else 0; `cost` in tokens, -1: counted together with its other half."""
        self.blocks[number] = text
        self.cost[number] = cost
        if chars:
            self.cut[number] = chars
        elif self.cut:
            self.cut.pop(number, None)
        if self.index.kinds[number - 1] == TOOL:
            words = self.messages[number].text
            if _SAME_CHARS < len(words) < HUGE_CHARS:
                self.seen.setdefault(words, number)

    def cost_of(self, number: int) -> int:
        """Tokens of a shown block; 0 where it is not shown."""
        cost = self.cost.get(number, 0)
        if cost < 0:
            cost = self.cost[number] = self._count(self.blocks[number])
        return cost

    def _block(self, number: int, at_most: int) -> tuple[str, int]:
        """(the turn in its frame, characters shown where it is cut, else 0)."""
        message = self.message(number)
        text, kinds = message.text, self.index.kinds
        head = heading(message, kinds[number - 2] == ASSISTANT if number > 1 else False)
        if 0 < len(message.thoughts) <= _SHORT_THOUGHTS:
            block, chars = self._framed(number, head, text, at_most)
            return block + _thinks(message.thoughts), chars
        return self._framed(number, head, text, at_most)

    def _framed(self, number: int, head: str, text: str, at_most: int) -> tuple[str, int]:
        kinds = self.index.kinds
        if not text:
            return head, 0
        if kinds[number - 1] == TOOL and _SAME_CHARS < len(text) < HUGE_CHARS:
            same = self.seen.get(text, number)
            if same != number:
                return f'{head}[the same result as in turn {same}; turns="{same}"]\n', 0
        if at_most and len(text) * 2 > at_most:
            per_char = self.tokens_a_char * density(text)
            if len(text) * per_char > at_most:
                chars = max(int(max(at_most - _HEAD_TOKENS - _MARK_SLACK, 4) / per_char), 8)
                return self._cut_block(number, chars, True, head), chars
        return head + fence(text if len(text) < HUGE_CHARS else visible(text)), 0

    def _cut_block(self, number: int, chars: int, tidy: bool, head: str) -> str:
        text = self.message(number).text
        per_char = self.tokens_a_char * density(text)
        return head + cut_quote(text, chars, number, per_char, self.focus.get(number), tidy)

    def show_thoughts(self, number: int, at_most: int = 0) -> bool:
        """Puts a turn's thoughts behind it, within `at_most` tokens (0: whole); False: no room."""
        text = visible(without_blobs(self.message(number).thoughts)).strip("\n")
        per_char = self.tokens_a_char * density(text)
        cut = at_most > 0 and len(text) * per_char > at_most
        if not cut and len(text) * per_char > 1.25 * self.room + self.thought_tokens:
            return False
        block = "thinks:\n" + (
            cut_quote(text, max(8, int(at_most / per_char)), number, per_char)
            if cut
            else fence(text)
        )
        more = self._count(block) - self.thought_tokens
        if more > self.room:
            return False
        self.room -= more
        self.reserved -= self.thought_tokens
        self.thoughtful.discard(number)
        self.thoughts[number] = block
        if cut:
            self.thoughts_cut.add(number)
        return True

    # the two ends

    def all_verbatim(self) -> bool:
        """Shows everything, thoughts too, when it fits; tries only where that is possible by length."""
        turns = self.last - self.first + 1
        if turns * 4 > self.limit or not self._might_all_fit():
            return False
        total = self._all_words()
        for number in range(self.first, self.last + 1) if 0 <= total <= self.limit else ():
            thoughts = self.message(number).thoughts
            if len(thoughts) > _SHORT_THOUGHTS:
                self.thoughts[number] = _thinks(thoughts)
                total += self._count(self.thoughts[number])
        if not 0 <= total <= self.limit:
            for shown in (self.blocks, self.cost, self.seen, self.thoughts):
                shown.clear()
            return False
        self.room, self.reserved = self.limit - total, 0
        return True

    def _all_words(self) -> int:
        """Shows every turn whole, newest first; the tokens, or -1 as soon as it is clear that they are far too many."""
        total, seen, size, number = (
            0,
            0,
            sum(self.index.sizes[self.first - 1 : self.last]),
            self.last,
        )
        while number >= self.first and total <= self.limit:
            other = self.partner(number)
            unit = (other, number) if other and other < number else (number,)
            blocks = [self._block(each, 0)[0] for each in unit]
            tokens = self._count("".join(blocks))
            for each, block in zip(unit, blocks, strict=True):
                self._keep(each, block, 0, tokens if len(unit) == 1 else -1)
            total += tokens
            seen += sum([self.index.sizes[each - 1] for each in unit])
            looked = (
                size > 5 * self.limit and seen > 20_000 and seen * 12 > size and not self._blobs
            )
            if looked and total * size > 3 * seen * self.limit:
                return -1
            number -= len(unit)
        return total

    def _might_all_fit(self) -> bool:
        """Texts of ordinary length by their size; a few big ones are read, for they may be blobs that are told in a line."""
        sizes = self.index.sizes[self.first - 1 : self.last]
        # No prose or code has 8 characters a token; of small limits one message of white space may be most.
        total, most = sum(sizes), (8 if self.limit >= _LARGE_LIMIT else 60) * self.limit
        if total > most:
            self._blobs = True
            big = [at for at, size in enumerate(sizes) if size > self.limit]
            if len(big) > 50 or total - sum([sizes[at] for at in big]) > most:
                return False
            total += sum([len(self.message(self.first + at).text) - sizes[at] for at in big])
        return total <= most

    def last_drop(self, among: Sequence[int]) -> None:
        """Counts the real marks, then lets cut turns (of `among`, when given) grow until the limit is filled to `FILL`."""
        self._settle_down()
        refused: set[int] = set()
        for _ in range(24):
            if self.room <= self.limit * (1 - FILL):
                return
            number = self._growable(among, refused)
            if number:
                if not self._grow(number):
                    refused.add(number)
            elif among or not self._swap(refused):
                return

    def _swap(self, refused: set[int]) -> bool:
        """Where what is left is too little for any turn: the longest whole turn gives way a little, and grows back."""
        state = self._state()
        whole = [each for each in self.blocks if each not in self.cut]
        longest = max(whole, key=lambda each: len(self.blocks[each]), default=0)
        hidden = [each for each in range(self.last, self.first - 1, -1) if each not in self.blocks]
        for number in [*hidden[:6], *sorted(self.thoughtful, reverse=True)[:6]]:
            for share in (0.8, 0.5, 0.2):
                if (
                    self._show_again(longest, int(self.cost_of(longest) * share))
                    and longest in self.cut
                ):
                    self.settle()
                    shown = (
                        self.show_thoughts(number) if number in self.blocks else self.show(number)
                    )
                    self._settle_down()
                    self._stretch(longest)
                    if shown and 0 <= self.room < state[-2] and longest in self.blocks:
                        refused.clear()
                        return True
                self._restore(state)
        return False

    def _state(self) -> tuple[Any, ...]:
        held = (
            self.blocks,
            self.cost,
            self.cut,
            self.thoughts,
            self.thoughtful,
            self.seen,
            self.marks,
            self.thought_marks,
        )
        return (*(each.copy() for each in held), self.room, self.reserved)

    def _restore(self, state: tuple[Any, ...]) -> None:
        (
            self.blocks,
            self.cost,
            self.cut,
            self.thoughts,
            self.thoughtful,
            self.seen,
            self.marks,
            self.thought_marks,
        ) = (each.copy() for each in state[:8])
        self.room, self.reserved = state[8:]

    def _take_back(self) -> None:
        """Hides what was chosen last."""
        number = next(reversed(self.blocks))
        for each in (number, self.partner(number)):
            if each in self.blocks:
                self.room += self.cost_of(each)
                del self.blocks[each], self.cost[each]
                self.cut.pop(each, None)
                self.thoughtful.discard(each)
                if each in self.thoughts:
                    self.room += self._count(self.thoughts.pop(each))

    def _growable(self, among: Sequence[int], refused: set[int]) -> int:
        """The newest cut turn, else the newest that is not shown, else the newest whose thoughts are left out; or 0."""
        number = max(
            (each for each in self.cut if each not in refused and (not among or each in among)),
            default=0,
        )
        turns = self.last - self.first + 1
        if not number and not among and len(self.blocks) + len(refused) < turns:
            hidden = (
                each for each in range(self.last, self.first - 1, -1) if each not in self.blocks
            )
            number = next((each for each in hidden if each not in refused), 0)
        return number or max(self.thoughtful - refused, default=0)

    def _grow(self, number: int) -> bool:
        """The turn, or where it is whole its thoughts, in as many tokens as there are."""
        if number in self.blocks and number not in self.cut:
            if not any(
                self.show_thoughts(number, aim) for aim in (self.room - _MARK_SLACK, self.room // 2)
            ):
                return False
            self._settle_down()
            return True
        if number in self.cut:
            return self._stretch(number)
        for share in (0.7, 0.4, 0.1):
            if self.show(number, max(int(self.room * share) - _MARK_SLACK, _HEAD_TOKENS)):
                self._settle_down()
                if number in self.blocks:
                    self._stretch(number)
                    return True
        return False

    def _stretch(self, number: int) -> bool:
        """A cut turn at its longest, by steps between a length that fits and one that does not."""
        if number not in self.cut:
            return False
        text, before = self.message(number).text, self.cost_of(number)
        goal, enough = before + self.room, self.limit * (1 - FILL) / 2
        low, high = (self.cut[number], before), (len(text) + 1, 0)
        chars = int(low[0] + self.room / max(self.tokens_a_char, before / len(self.blocks[number])))
        best, message = "", self.message(number)
        head = heading(message, number > 1 and self.index.kinds[number - 2] == ASSISTANT)
        short = _thinks(message.thoughts) if 0 < len(message.thoughts) <= _SHORT_THOUGHTS else ""
        for step in range(10):
            chars = min(max(chars, low[0] + 1), high[0] - 1)
            if chars <= low[0]:
                break
            whole = chars >= len(text)
            block = (
                self._block(number, 0)[0]
                if whole
                else self._cut_block(number, chars, step < 2, head) + short
            )
            tokens = self._count(block)
            if tokens <= goal:
                low, best = (chars, tokens), block
                if goal - tokens <= enough or chars >= len(text):
                    break
            else:
                high = (chars, tokens)
            slope = (high[1] - low[1]) / (high[0] - low[0]) if high[1] else low[1] / low[0]
            chars = int(low[0] + (goal - low[1]) * 0.98 / max(slope, 0.01))
        if not best or low[1] <= before:
            return False
        self.room -= low[1] - before
        self._keep(number, best, low[0] if low[0] < len(text) else 0, low[1])
        return True

    def _settle_down(self) -> None:
        self.settle()
        while self.room < 0 and self.blocks:
            self._take_back()
            self.settle()

    def settle(self) -> None:
        """Makes the real marks and puts their price in place of what was reserved."""
        self.room += self.reserved
        self.marks = self._gap_marks()
        self.thought_marks = {
            number: self._thought_mark(number) for number in sorted(self.thoughtful)
        }
        self.reserved = self._count_lines(list(self.marks.values())) + self._count_lines(
            list(self.thought_marks.values())
        )
        self.room -= self.reserved

    def _count_lines(self, lines: Sequence[str]) -> int:
        """Marks begin with `[` and end in a line feed, so that counts add up; a few dozen at a time are cheaper to count."""
        return sum([self._count("".join(lines[at : at + 32])) for at in range(0, len(lines), 32)])

    def _gap_marks(self) -> dict[int, str]:
        """Marks by the turn they stand before (last + 1: at the end)."""
        marks, expected, sizes = {}, self.first, self.index.sizes
        per_char = _WEIGHT
        for number in [*sorted(self.blocks), self.last + 1]:
            if number > expected:
                tokens = sum(sizes[expected - 1 : number - 1]) * per_char + _HEAD_TOKENS * (
                    number - expected
                )
                marks[number] = gap_mark(expected, number - 1, int(tokens))
            expected = number + 1
        return marks

    def _thought_mark(self, number: int) -> str:
        return thought_mark(number, int(len(self.message(number).thoughts) * _WEIGHT) + 1)

    def result(self) -> Compacted:
        if self.room < 0:  # not even the one mark fits
            return Compacted("", 0, (), (), ((self.first, self.last),), ())
        parts: list[str] = []
        left: list[tuple[int, int]] = []
        shown, expected = sorted(self.blocks), self.first
        for number in [*shown, self.last + 1]:
            if number > expected:
                parts.append(self.marks[number])
                left.append((expected, number - 1))
            expected = number + 1
            if number in self.blocks:
                parts.append(self.blocks[number])
                more = self.thoughts.get(number) or self.thought_marks.get(number)
                if more:
                    parts.append(more)
        return Compacted(
            text="".join(parts),
            tokens=self.limit - self.room,
            whole=tuple([number for number in shown if number not in self.cut]),
            cut=tuple(sorted({*self.cut, *self.thoughts_cut})),
            left_out=tuple(left),
            thoughts_left_out=tuple(sorted(self.thoughtful)),
        )


# --- words of the frames


def tidy(message: Message) -> Message:
    """The message with blobs told and hostile characters shown; the same object where nothing had to change.

    What is still huge then is left as it is: only the pieces that travel are looked at (`cut_quote`).
    """
    text = message.text
    if len(text) >= SHORTEST_BLOB:
        text = without_blobs(text)
    if len(text) < HUGE_CHARS:
        text = visible(text)
        if text[-1:] == "\n" or text[:1] == "\n":
            text = text.strip("\n")
    return message if text is message.text else message._replace(text=text)


def heading(message: Message, after_call: bool) -> str:
    """`### 12 · user`: whose turn it is, in one line that nobody's words can forge."""
    number, role, text, speaker, tool, _, kept, _, _ = message
    return f"### {number} · {_who(role, speaker, tool, kept, role != 'tool' or after_call, not text)}\n"


@lru_cache(maxsize=512)
def _who(role: str, speaker: str, tool: str, kept: str, called: bool, empty: bool) -> str:
    agent = _one_line(speaker) or "agent"
    words = {
        "user": "user",
        "assistant": f"{agent} calls {_one_line(tool)}" if tool else agent,
        "tool": f"result of {_one_line(tool) or 'a tool'}",
        "summary": "summary by the host",
    }.get(role, "note of the host")
    words += "" if called else " (its call is not recorded)"
    words += {"summary": " · not verbatim", "shortened": " · shortened by the host"}.get(kept, "")
    return words + (" · empty" if empty else "")


def _one_line(words: str) -> str:
    return visible(" ".join(words.split()))[:80].replace("`", "'")


def _thinks(thoughts: str) -> str:
    told = visible(without_blobs(thoughts)).strip("\n")
    return "thinks:\n" + fence(told) if told.strip() else ""


def thought_mark(number: int, tokens: int) -> str:
    return f'[thoughts left out: about {tokens:,} tokens; turns="{number}"]\n'


def gap_mark(first: int, last: int, tokens: int) -> str:
    """The mark for whole turns; `tokens` is weighed by length, so it says `about`."""
    if first == last:
        return f'[turn {first} left out: about {tokens:,} tokens; turns="{first}"]\n'
    return f'[turns {first}-{last} left out: {last - first + 1:,} turns, about {tokens:,} tokens; turns="{first}-{last}"]\n'


def cut_quote(
    text: str,
    chars: int,
    number: int,
    tokens_a_char: float,
    place: float | None = None,
    tidy: bool = True,
) -> str:
    """About `chars` characters in frames of their own, marks for the rest: head and tail, or what stands around `place`."""
    pieces: tuple[str | int, ...]
    if place is None:
        head, tail = head_and_tail(text, chars, tidy)
        pieces = (head, len(text) - len(head) - len(tail), tail)
    else:
        start, end = window(text, chars, place)
        pieces = (start, text[start:end], len(text) - end)
    return "".join(_piece(piece, number, tokens_a_char) for piece in pieces if piece)


def _piece(piece: str | int, number: int, tokens_a_char: float) -> str:
    if isinstance(piece, str):
        return fence(visible(piece).strip("\n"))
    return f'[{piece:,} characters, about {int(piece * tokens_a_char) + 1:,} tokens left out here; turns="{number}"]\n'


def density(text: str) -> float:
    """How many times more tokens a character of this text costs than one of English prose; by a glance at its head."""
    if text.isascii():
        return 1.0
    sample = text[:200]
    return max(1.0, len(sample.encode("utf-8", "replace")) / len(sample) * 1.2)

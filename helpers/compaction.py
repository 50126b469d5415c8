"""Fitting a transcript into a token limit, saying in place what was left out and how to get it.

Order of worth (issue "Stage 2", point 3): the first request; every word of the person; decisions and declines; the newest
turns verbatim; results and code with head and tail; the agents' own thoughts last. Nothing that is given is changed, and what
is left out leaves a mark such as `[turns 12-31 left out: 20 turns, about 9,120 tokens; turns="12-31"]`.

Each block is counted once, blocks add up (see `framing`), and only what can travel is counted at all; what stays behind is
weighed by its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from usr.plugins.software_orchestrator.helpers.framing import head_and_tail, quote, visible, without_blobs
from usr.plugins.software_orchestrator.helpers.transcript import ASSISTANT, NOTE, TOOL, USER, Message, Transcript

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
_SAME_CHARS: Final = 80


class Counts(Protocol):
    """What counts tokens: `tokens.TokenCounter`, or `CountCache` around it."""

    def count(self, text: str) -> int: ...


class CountCache:
    """Remembers counts by the text's hash, so that a second request counts nothing again and no text is kept for it.

    `keep` is the number of texts remembered; the oldest are forgotten. `counted` is how many texts were really counted.
    """

    def __init__(self, counter: Counts, keep: int = 50_000) -> None:
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
    first: Iterable[int] = (),
    only_first: bool = False,
) -> Compacted:
    """The turns (first, last; default all) within `limit_tokens`, which is at least `MIN_LIMIT_TOKENS`.

    `first` are turn numbers that go before everything else, in that order (matches of a search); with `only_first` nothing
    else is shown, and marks stand for the rest.
    """
    first_turn, last_turn = turns or (1, len(transcript))
    fill = _Fill(transcript, first_turn, last_turn, limit_tokens, counter)
    if not fill.all_verbatim():
        for number in first:
            fill.show(number)
        if not only_first:
            _by_worth(fill)
        fill.last_drop(tuple(first) if only_first else ())
    return fill.result()


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
    """All of them in order where they fit into their share; else first those that tell a decision, then the newest."""
    numbers = list(fill.persons())
    share = fill.limit * PERSON_SHARE
    if fill.estimate(numbers) + len(numbers) * fill.mark_tokens / 2 <= share:
        for number in numbers:
            fill.show(number)
        return
    floor = fill.room - share
    telling = [number for number in reversed(numbers) if fill.tells(number)]
    _until(fill, telling, fill.room - fill.limit * DECISION_SHARE)
    _until(fill, reversed(numbers), floor)


def _until(fill: _Fill, numbers: Iterable[int], floor: float) -> None:
    """Shows turns while more than `floor` tokens of room are left; long ones with head and tail."""
    for number in numbers:
        if fill.room <= floor or not fill.roomy:
            return
        fill.show(number, at_most=max(fill.limit // 20, _CUT_TOKENS))


def _decisions(fill: _Fill) -> None:
    """What agents said or wrote down as decided."""
    telling = (number for number in range(fill.last, fill.first - 1, -1) if fill.tells(number))
    _until(fill, telling, fill.room - fill.limit * DECISION_SHARE)


def _newest(fill: _Fill) -> None:
    """Newest turns word for word, a call always with its result; very big results with head and tail already here."""
    floor = fill.room * (1 - NEWEST_SHARE)
    big = max(int(fill.limit * NEWEST_SHARE) // 4, _CUT_TOKENS)
    for number in range(fill.last, fill.first - 1, -1):
        if fill.room <= floor or not fill.roomy:
            return
        fill.show(number, at_most=big)


def _heads_and_tails(fill: _Fill) -> None:
    for number in range(fill.last, fill.first - 1, -1):
        if not fill.roomy:
            return
        if not fill.is_shown(number):
            fill.show(number, at_most=_CUT_TOKENS)


def _whole_again(fill: _Fill) -> None:
    """With room left (few turns, long ones) what was cut is shown whole, newest first."""
    for number in sorted(fill.cut, reverse=True):
        if not fill.roomy:
            return
        fill.show(number)


def _thoughts(fill: _Fill) -> None:
    for number in sorted(fill.thoughtful, reverse=True):
        if not fill.roomy:
            return
        fill.show_thoughts(number)


class _Fill:
    """The state of one filling: which turns are shown, in which form, and how many tokens are left.

    Marks for gaps between shown turns are reserved at their highest price and counted exactly at the end.
    """

    def __init__(self, transcript: Transcript, first: int, last: int, limit: int, counter: Counts) -> None:
        self.transcript, self.index = transcript, transcript.index
        self.first, self.last, self.limit = first, last, limit
        self._count = counter.count
        self.mark_tokens = self._count(gap_mark(last, last, 10 * sum(self.index.sizes[first - 1 : last])))
        self.thought_tokens = self._count(thought_mark(last, 9_999))
        self.blocks: dict[int, str] = {}
        self.cost: dict[int, int] = {}
        self.cut: dict[int, int] = {}
        self.thoughtful: dict[int, str] = {}
        self.thoughts: dict[int, str] = {}
        self.tidied: dict[int, Message] = {}
        self.seen: dict[str, int] = {}
        self.used, self.gaps = 0, 1 if last >= first else 0
        self.counted_chars, self.counted_tokens = 300.0, 300.0 / _CHARS_A_TOKEN

    # room

    @property
    def room(self) -> int:
        """Tokens left when every gap is marked."""
        return self.limit - self.used - self.gaps * self.mark_tokens - len(self.thoughtful) * self.thought_tokens

    @property
    def roomy(self) -> bool:
        return self.room > self.limit * 0.004 + 8

    def estimate(self, numbers: Sequence[int]) -> float:
        """Tokens of these turns by their length, blobs counted as if they travelled."""
        sizes = self.index.sizes
        return self.tokens_of(sum(sizes[number - 1] for number in numbers)) + _HEAD_TOKENS * len(numbers)

    def tokens_of(self, chars: float) -> float:
        return chars * self.counted_tokens / self.counted_chars

    def count(self, block: str) -> int:
        tokens = self._count(block)
        self.counted_chars += len(block)
        self.counted_tokens += tokens
        return tokens

    # what there is

    def message(self, number: int) -> Message:
        """The message as it would travel: blobs told, hostile characters shown."""
        tidied = self.tidied.get(number)
        if tidied is None:
            tidied = self.tidied[number] = tidy(self.transcript[number - 1])
        return tidied

    def next_person(self, number: int) -> int:
        """The first message of the person at or behind `number`, or 0."""
        return self.index.kinds.find(USER, number - 1, self.last) + 1

    def persons(self) -> Iterator[int]:
        number = self.next_person(self.first)
        while number:
            yield number
            number = self.next_person(number + 1)

    def tells(self, number: int) -> bool:
        return bool(self.index.tells[number - 1])

    def is_shown(self, number: int) -> bool:
        return number in self.blocks

    def partner(self, number: int) -> int:
        """The other half of a tool call and its result, or 0."""
        kinds = self.index.kinds
        if kinds[number - 1] == TOOL and number > self.first and kinds[number - 2] == ASSISTANT:
            return number - 1
        if kinds[number - 1] == ASSISTANT and number < self.last and kinds[number] == TOOL:
            return number + 1
        return 0

    # showing

    def show(self, number: int, at_most: int = 0) -> bool:
        """Shows a turn, and with it the other half of a call, each within `at_most` tokens (0: whole); False: no room."""
        other = self.partner(number)
        pair = sorted({number, other} - {0}) if not self.is_shown(number) else [number]
        new = [each for each in pair if not self.is_shown(each) or each in self.cut]
        blocks = {each: self.block(each, at_most) for each in new}
        if not at_most and self.tokens_of(sum(len(text) for text, _ in blocks.values())) > 2 * self.room + 200:
            return False
        return self._place(blocks)

    def block(self, number: int, at_most: int) -> tuple[str, int]:
        """(text, tokens aimed at when cut, else 0)."""
        message = self.message(number)
        head = heading(message, self.index.kinds[number - 2] == ASSISTANT if number > 1 else False)
        text = message.text
        if message.role == "tool" and len(text) > _SAME_CHARS:
            same = self.seen.get(text, number)
            if same != number:
                return f'{head}[the same result as in turn {same}; turns="{same}"]\n', 0
        if not text:
            return head, 0
        if at_most and self.tokens_of(len(text)) * _density(text) > at_most:
            return head + cut_quote(text, self.chars_for(text, at_most - _HEAD_TOKENS), number, self.tokens_of), at_most
        return head + quote(text), 0

    def chars_for(self, text: str, tokens: float) -> int:
        return max(8, int(tokens * self.counted_chars / self.counted_tokens / _density(text)))

    def _place(self, blocks: dict[int, tuple[str, int]]) -> bool:
        room = self.room
        if self.tokens_of(sum(len(text) for text, _ in blocks.values())) > 2 * room + 200:
            return False
        costs = {number: self.count(text) for number, (text, _) in blocks.items()}
        more = sum(costs.values()) - sum(self.cost.get(number, 0) for number in blocks)
        fresh = [number for number in blocks if number not in self.blocks]
        gaps = self._gaps_with(fresh)
        pending = {number: told for number in fresh if (told := thoughts_block(self.message(number)))}
        if more + (gaps - self.gaps) * self.mark_tokens + len(pending) * self.thought_tokens > room:
            return False
        self.used, self.gaps = self.used + more, gaps
        self.thoughtful.update(pending)
        for number, (text, aimed) in blocks.items():
            self.blocks[number], self.cost[number] = text, costs[number]
            if aimed:
                self.cut[number] = aimed
            else:
                self.cut.pop(number, None)
                self._remember(number)
        return True

    def _remember(self, number: int) -> None:
        message = self.tidied[number]
        if message.role == "tool" and len(message.text) > _SAME_CHARS:
            self.seen.setdefault(message.text, number)

    def _gaps_with(self, fresh: Sequence[int]) -> int:
        gaps = self.gaps
        new: set[int] = set()
        for number in fresh:
            before = number == self.first or number - 1 in self.blocks or number - 1 in new
            behind = number == self.last or number + 1 in self.blocks or number + 1 in new
            gaps += 1 - before - behind
            new.add(number)
        return gaps

    def show_thoughts(self, number: int) -> bool:
        block = self.thoughtful[number]
        more = self.count(block) - self.thought_tokens
        if more > self.room:
            return False
        self.used += self.thought_tokens + more
        self.thoughts[number] = self.thoughtful.pop(number)
        return True

    # the two ends

    def all_verbatim(self) -> bool:
        """Shows everything, thoughts too, when it fits; tries only where that is possible by length."""
        size = sum(self.index.sizes[self.first - 1 : self.last])
        turns = self.last - self.first + 1
        if turns * 4 > self.limit or size > 12 * self.limit:
            return False
        if size > 5 * self.limit and not self._blobs():
            return False
        blocks, thoughts, total = {}, {}, 0
        for number in range(self.first, self.last + 1):
            blocks[number] = self.block(number, 0)[0]
            self._remember(number)
            self.cost[number] = self.count(blocks[number])
            told = thoughts_block(self.message(number))
            if told:
                thoughts[number] = told
                total += self.count(told)
            total += self.cost[number]
            if total > self.limit:
                self.cost.clear()
                self.seen.clear()
                return False
        self.blocks, self.thoughts, self.used, self.gaps = blocks, thoughts, total, 0
        return True

    def _blobs(self) -> bool:
        """Whether one message is big enough to hold most of the size: then it may be data that is told in a line."""
        sizes = self.index.sizes[self.first - 1 : self.last]
        return max(sizes, default=0) * 4 > sum(sizes)

    def last_drop(self, among: Sequence[int]) -> None:
        """Uses what is left: marks are counted exactly, then one cut turn grows until the limit is filled to `FILL`."""
        for _ in range(12):
            spare = self.limit - self.exact()
            if spare <= self.limit * (1 - FILL):
                return
            if not self._grow(spare, among):
                return

    def exact(self) -> int:
        """Tokens of the joined text with its real marks."""
        marks = sum(self._count(mark) for mark in self._marks().values())
        thoughts = sum(self._count(self._thought_mark(number)) for number in self.thoughtful)
        return self.used + marks + thoughts

    def _grow(self, spare: int, among: Sequence[int]) -> bool:
        candidates = among or range(self.last, self.first - 1, -1)
        number = next((each for each in candidates if each in self.cut), 0)
        if not number:
            number = next((each for each in candidates if not self.is_shown(each)), 0)
        if not number:
            return False
        wanted = self.cost.get(number, 0) + spare * 0.97 - (0 if number in self.blocks else _HEAD_TOKENS + 12)
        while wanted > self.cost.get(number, 0) + 1:
            block = self.block(number, int(wanted))
            tokens = self._count(block[0])
            before = (self.blocks.get(number), self.cost.get(number, 0), self.cut.get(number))
            self.blocks[number], self.cost[number] = block[0], tokens
            self.used += tokens - before[1]
            self.cut[number] = block[1]
            if not block[1]:
                del self.cut[number]
            if self.exact() <= self.limit:
                return True
            self.used -= tokens - before[1]
            self._restore(number, before)
            wanted = self.cost.get(number, 0) + (wanted - self.cost.get(number, 0)) * 0.8
        return False

    def _restore(self, number: int, before: tuple[str | None, int, int | None]) -> None:
        text, cost, aimed = before
        if text is None:
            del self.blocks[number], self.cost[number]
            self.cut.pop(number, None)
            return
        self.blocks[number], self.cost[number] = text, cost
        if aimed is None:
            self.cut.pop(number, None)
        else:
            self.cut[number] = aimed

    def _marks(self) -> dict[int, str]:
        """Marks by the turn they stand before (last + 1: at the end)."""
        marks, expected = {}, self.first
        for number in [*sorted(self.blocks), self.last + 1]:
            if number > expected:
                chars = sum(self.index.sizes[expected - 1 : number - 1])
                tokens = self.tokens_of(chars) + _HEAD_TOKENS * (number - expected)
                marks[number] = gap_mark(expected, number - 1, int(tokens))
            expected = number + 1
        return marks

    def _thought_mark(self, number: int) -> str:
        return thought_mark(number, int(self.tokens_of(len(self.thoughtful[number]))) + 1)

    def result(self) -> Compacted:
        marks = self._marks()
        parts: list[str] = []
        left: list[tuple[int, int]] = []
        shown = sorted(self.blocks)
        expected = self.first
        for number in [*shown, self.last + 1]:
            if number in marks:
                parts.append(marks[number])
                left.append((expected, number - 1))
            expected = number + 1
            if number in self.blocks:
                parts.append(self.blocks[number])
                if number in self.thoughts:
                    parts.append(self.thoughts[number])
                elif number in self.thoughtful:
                    parts.append(self._thought_mark(number))
        return Compacted(
            text="".join(parts),
            tokens=sum(map(self._count, parts)),
            whole=tuple(number for number in shown if number not in self.cut),
            cut=tuple(sorted(self.cut)),
            left_out=tuple(left),
            thoughts_left_out=tuple(sorted(self.thoughtful)),
        )


# --- words of the frames


def tidy(message: Message) -> Message:
    """The message with blobs told and hostile characters shown; the same object where nothing had to change."""
    text, thoughts = visible(without_blobs(message.text)).strip("\n"), message.thoughts
    if thoughts:
        thoughts = visible(without_blobs(thoughts)).strip("\n")
    if text == message.text and thoughts == message.thoughts:
        return message
    m = message
    return Message(m.number, m.role, text, m.speaker, m.tool, thoughts, m.kept, m.id, m.file)


def heading(message: Message, after_call: bool) -> str:
    """`### 12 · user`: whose turn it is, in one line that nobody's words can forge."""
    words = f"### {message.number} · {_who(message.role, message.speaker, message.tool)}"
    if message.role == "tool" and not after_call:
        words += " (its call is not recorded)"
    if message.kept == "summary":
        words += " · not verbatim"
    elif message.kept == "shortened":
        words += " · shortened by the host"
    if not message.text:
        words += " · empty"
    return words + "\n"


@lru_cache(maxsize=512)
def _who(role: str, speaker: str, tool: str) -> str:
    agent = _one_line(speaker) or "agent"
    if role == "user":
        return "user"
    if role == "assistant":
        return f"{agent} calls {_one_line(tool)}" if tool else agent
    if role == "tool":
        return f"result of {_one_line(tool) or 'a tool'}"
    return "summary by the host" if role == "summary" else "note of the host"


def _one_line(words: str) -> str:
    return visible(" ".join(words.split()))[:80].replace("`", "'")


def thoughts_block(message: Message) -> str:
    if not message.thoughts.strip():
        return ""
    return "thinks:\n" + quote(message.thoughts)


def thought_mark(number: int, tokens: int) -> str:
    return f'[thoughts left out: about {tokens:,} tokens; turns="{number}"]\n'


def gap_mark(first: int, last: int, tokens: int) -> str:
    """The mark for whole turns; `tokens` is weighed by length, so it says `about`."""
    if first == last:
        return f'[turn {first} left out: about {tokens:,} tokens; turns="{first}"]\n'
    return f'[turns {first}-{last} left out: {last - first + 1:,} turns, about {tokens:,} tokens; turns="{first}-{last}"]\n'


def cut_quote(text: str, chars: int, number: int, tokens_of: object) -> str:
    """Head and tail of a text in frames of their own, between them what was left out."""
    head, tail = head_and_tail(text, chars)
    missing = len(text) - len(head) - len(tail)
    if missing <= 0:
        return quote(text)
    tokens = int(tokens_of(missing) * _density(text)) + 1  # type: ignore[operator]
    mark = f'[{missing:,} characters, about {tokens:,} tokens left out here; turns="{number}"]\n'
    return (quote(head) if head else "") + mark + (quote(tail) if tail else "")


def _density(text: str) -> float:
    """How many more tokens a character of this text costs than one of plain English; by a glance at its head."""
    if text.isascii():
        return 1.0
    sample = text[:200]
    return max(1.0, len(sample.encode("utf-8", "replace")) / len(sample) * 1.2)

"""Fitting a transcript into a token limit, saying in place what was left out and how to get it.

Order of worth: the first request; every word of the person; decisions and declines; the newest
turns verbatim; results and code with head and tail; the agents' own thoughts last. Nothing that is
given is changed, and what is left out leaves a mark such as
`[turns 12-31 left out: 20 turns, about 9,120 tokens; turns="12-31"]`.

Each block is counted once and blocks add up. Only what can travel is counted at all; what stays
behind is weighed by its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from ..text.embedded import without_blobs
from ..text.quote import fence, safe_end, visible
from .fill import Compacted, Fill
from .frames import cut_frame, heading
from .message import ASSISTANT, USER
from .transcript import Transcript
from .turns import HEAD_TOKENS, LEAST_CHARS, MARK_TOKENS, Counts, Turns

# Shares of the limit. The person's words and the decisions may not crowd out the newest turns, nor
# the other way round.
PERSON_SHARE: Final = 0.6
DECISION_SHARE: Final = 0.2
NEWEST_SHARE: Final = 0.5
_CUT_TOKENS: Final = 120
# Turns in a row that do not fit, after which no further one is looked at.
_MISSES: Final = 12


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
    first_turn, last_turn = turns or (1, len(transcript))
    read = Turns(transcript, counter, focus or {})
    fill = Fill(read, first_turn, last_turn, limit_tokens)
    if first:
        _matches(fill, first, focus or {})
        _fill_up(fill, ())
    elif not fill.show_all():
        fill = Fill(read, first_turn, last_turn, limit_tokens)
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
    while tokens > limit_tokens and chars > LEAST_CHARS:
        chars = int(chars * min(0.9, 0.95 * limit_tokens / tokens))
        block = head + cut_frame(piece, chars, number, tokens / len(block))
        tokens = counter.count(block)
    if tokens > limit_tokens:
        return Compacted("", 0, left_out=((number, number),))
    if chars < len(piece):
        return Compacted(block, tokens, cut=(number,))
    return Compacted(block, tokens, whole=(number,))


# --- the order of worth


def _by_worth(fill: Fill) -> None:
    """One step a line."""
    _first_request(fill)
    _words_of_the_person(fill)
    _decisions(fill, (USER, ASSISTANT))
    _newest(fill)
    _heads_and_tails(fill)
    fill.settle()
    _heads_and_tails(fill)
    _whole_again(fill, fill.cut())


def _first_request(fill: Fill) -> None:
    kinds = fill.turns.index.kinds
    for number in range(fill.first, fill.last + 1):
        if kinds[number - 1] == USER and not fill.turns.message(number).is_empty:
            fill.show(number, at_most=fill.limit // 4)
            return


def _words_of_the_person(fill: Fill) -> None:
    """All of them where they fit into their share; else those that tell a decision, the newest."""
    kinds, share = fill.turns.index.kinds, fill.limit * PERSON_SHARE
    count = kinds.count(USER, fill.first - 1, fill.last)
    if count * (HEAD_TOKENS + MARK_TOKENS) < share:
        numbers = list(fill.newest(kinds, USER))
        if fill.turns.estimate(numbers) + count * MARK_TOKENS <= share:
            _show(fill, numbers, 0, share)
            return
    floor = fill.room - share
    _decisions(fill, (USER,))
    _show(fill, fill.newest(kinds, USER), _part(fill.limit, 20), fill.room - floor)


def _decisions(fill: Fill, kinds: tuple[int, ...]) -> None:
    """What people and agents said or wrote down as decided."""
    index = fill.turns.index
    numbers = fill.newest(index.tells, 1)
    telling = (number for number in numbers if index.kinds[number - 1] in kinds)
    _show(fill, telling, _part(fill.limit, 20), fill.limit * DECISION_SHARE)


def _newest(fill: Fill) -> None:
    """Newest turns word for word, very big ones with head and tail already here."""
    share = fill.room * NEWEST_SHARE
    _show(fill, fill.backwards(), _part(share, 4), share)


def _heads_and_tails(fill: Fill) -> None:
    _show(fill, fill.backwards(), _CUT_TOKENS, fill.limit)


def _show(fill: Fill, numbers: Iterable[int], at_most: int, share: float) -> None:
    """Shows turns within `at_most` tokens each, until `share` is used up or one does not fit."""
    floor = fill.room - share
    for number in numbers:
        if fill.room <= floor or fill.is_full or not fill.show(number, at_most):
            return


def _part(tokens: float, parts: int) -> int:
    return max(int(tokens / parts), _CUT_TOKENS)


def _whole_again(fill: Fill, numbers: Iterable[int]) -> None:
    """With room left (few turns, long ones) what was cut is shown whole."""
    for number in numbers:
        if not fill.is_full and number in fill.blocks and fill.blocks[number].chars:
            fill.show_whole(number)


def _matches(fill: Fill, first: Sequence[int], focus: Mapping[int, float]) -> None:
    """Matches in their order, then their neighbours; whole where there is room."""
    for number in first:
        fill.show(number, _part(fill.limit, 8) if number in focus else _CUT_TOKENS)
    fill.settle()
    _whole_again(fill, first)


def _fill_up(fill: Fill, hidden: Iterable[int]) -> None:
    """Cut turns grow, `hidden` ones come cut to what is left, then thoughts, until it is full."""
    for number in fill.cut():
        fill.grow(number)
    for number in hidden:
        if not fill.is_full and fill.show(number, max(fill.room // 2, HEAD_TOKENS)):
            fill.grow(number)
    for number in sorted(fill.thoughts_hidden, reverse=True):
        if not fill.is_full:
            fill.show_thoughts(number)

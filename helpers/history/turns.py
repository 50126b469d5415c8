"""The turns of a transcript as they would travel: read once, in a frame, counted.

What has not been counted is weighed by its length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from .frames import (
    SHORT_THOUGHTS,
    cut_frame,
    density,
    framed,
    heading,
    same_mark,
    thoughts_frame,
    tidy,
)
from .message import ASSISTANT, Message
from .transcript import Transcript

HEAD_TOKENS: Final = 8
MARK_TOKENS: Final = 12
LEAST_CHARS: Final = 8
_TOKENS_A_CHAR: Final = 1 / 3  # at first; corrected by what was counted
_ANY_DIGIT: Final = str.maketrans("0123456789", "8" * 10)


class Counts(Protocol):
    """What counts tokens: `tokens.TokenCounter`, or `CountCache` around it."""

    def count(self, text: str) -> int: ...


class Block(NamedTuple):
    """A turn as it is shown; `chars` are those shown of a cut turn, 0 of a whole one."""

    text: str
    tokens: int
    chars: int


class Turns:
    """`focus` says around which place (0 to 1) of its text a turn is cut."""

    def __init__(self, transcript: Transcript, counter: Counts, focus: Mapping[int, float]) -> None:
        self.index = transcript.at_a_glance
        self.count = counter.count
        self.tokens_a_char = _TOKENS_A_CHAR
        self._transcript, self._focus = transcript, focus
        self._messages: dict[int, Message] = {}
        self._prices: dict[str, int] = {"": 0}
        self._chars, self._tokens = 300.0, 300 * _TOKENS_A_CHAR  # counted so far

    def message(self, number: int) -> Message:
        """The message with blobs told and hostile characters shown."""
        message = self._messages.get(number)
        if message is None:
            message = self._messages[number] = tidy(self._transcript[number - 1])
        return message

    def block(self, message: Message, chars: int = 0, same: int = 0) -> Block:
        """The turn in its frame, cut to about `chars` characters (0: whole).

        `same` is the turn in which the same result is shown already, or 0.
        """
        number, words = message.number, message.text
        text = heading(message, number > 1 and self.index.kinds[number - 2] == ASSISTANT)
        if same:
            text, chars = text + same_mark(same), 0
        elif chars:
            text += cut_frame(words, chars, number, self._per_char(words), self._focus.get(number))
        elif words:
            text += framed(words)
        if 0 < len(message.thoughts) <= SHORT_THOUGHTS:
            text += thoughts_frame(message)
        tokens = self.count(text)
        self._chars += len(text)
        self._tokens += tokens
        self.tokens_a_char = self._tokens / self._chars
        return Block(text, tokens, chars)

    def chars_in(self, at_most: int, text: str) -> int:
        """How much of a text is about `at_most` tokens; 0 where all of it is less, or at_most 0."""
        if not at_most or len(text) * 2 <= at_most:
            return 0
        per_char = self._per_char(text)
        if len(text) * per_char <= at_most:
            return 0
        return max(int((at_most - HEAD_TOKENS - MARK_TOKENS) / per_char), LEAST_CHARS)

    def thoughts(self, message: Message, at_most: int = 0) -> tuple[str, bool]:
        """A turn's thoughts in their frame, and whether they are cut to about `at_most` tokens."""
        if len(message.thoughts) <= SHORT_THOUGHTS:  # they stand in the block
            return "", False
        chars = self.chars_in(at_most - MARK_TOKENS, message.thoughts) if at_most else 0
        return thoughts_frame(message, chars, self._per_char(message.thoughts)), chars > 0

    def _per_char(self, text: str) -> float:
        return self.tokens_a_char * density(text)

    def estimate(self, numbers: Sequence[int]) -> float:
        """Tokens of these turns by their length."""
        chars = sum([self.index.sizes[number - 1] for number in numbers])
        return chars * self.tokens_a_char + HEAD_TOKENS * len(numbers)

    def price(self, mark: str) -> int:
        """Tokens of a mark: the same for all whose numbers have as many digits, so counted once."""
        shape = mark.translate(_ANY_DIGIT)
        price = self._prices.get(shape)
        if price is None:
            price = self._prices[shape] = self.count(shape)
        return price

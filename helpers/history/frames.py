"""Turns and marks as they stand in a history: whose words they are, and what was left out.

Every frame and every mark begins with a character that is not white space and ends in a line feed,
so that token counts add up. Nobody's words can forge either.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from ..text.embedded import HUGE_CHARS, SHORTEST_BLOB, without_blobs
from ..text.quote import fence, head_and_tail, visible, window
from .message import Message

_WEIGHT: Final = 0.33  # tokens of a character in the figures of marks
_HEAD_TOKENS: Final = 8
_NAME_CHARS: Final = 80
SHORT_THOUGHTS: Final = 40  # characters; the mark for them would be longer


def tidy(message: Message) -> Message:
    """The message with blobs told and hostile characters shown; itself where nothing changes.

    What is still huge then is left as it is: only the pieces that travel are looked at.
    """
    text = message.text
    if len(text) >= SHORTEST_BLOB:
        text = without_blobs(text)
    if len(text) < HUGE_CHARS:
        text = visible(text)
        if text[-1:] == "\n" or text[:1] == "\n":
            text = text.strip("\n")
    return message if text is message.text else message._replace(text=text)


# --- whose turn it is


def heading(message: Message, after_call: bool) -> str:
    """`### 12 · user`: whose turn it is, in one line."""
    number, role, text, speaker, tool, _, kept = message
    called = after_call or role != "tool"
    return f"### {number} · {_title(role, speaker, tool, kept, called, not text)}\n"


_WHO: Final = {
    "user": "user",
    "summary": "summary by the host",
    "note": "note of the host",
    "gap": "gap in the record",
}
_NOT_VERBATIM: Final = {"summary": " · not verbatim", "shortened": " · shortened by the host"}


@lru_cache(maxsize=512)
def _title(role: str, speaker: str, tool: str, kept: str, called: bool, empty: bool) -> str:
    title = _WHO.get(role, one_line(speaker) or "agent")
    if role == "tool":
        title = f"result of {one_line(tool) or 'a tool'}"
    elif tool:
        title += f" calls {one_line(tool)}"
    if not called:
        title += " (its call is not recorded)"
    return title + _NOT_VERBATIM.get(kept, "") + (" · empty" if empty else "")


def one_line(name: str) -> str:
    return visible(" ".join(name.split()))[:_NAME_CHARS].replace("`", "'")


# --- words in their frame


def framed(text: str) -> str:
    """The whole text in a frame."""
    return fence(text if len(text) < HUGE_CHARS else visible(text))


def cut_frame(
    text: str, chars: int, number: int, tokens_a_char: float, place: float | None = None
) -> str:
    """About `chars` characters in frames of their own, marks for the rest.

    Shown are head and tail, or what stands around `place` (0 to 1) of the text.
    """
    if place is None:
        head, tail = head_and_tail(text, chars)
        rest = len(text) - len(head) - len(tail)
        return _piece(head) + _rest_mark(rest, number, tokens_a_char) + _piece(tail)
    start, end = window(text, chars, place)
    before = _rest_mark(start, number, tokens_a_char)
    after = _rest_mark(len(text) - end, number, tokens_a_char)
    return before + _piece(text[start:end]) + after


def _piece(text: str) -> str:
    return fence(visible(text).strip("\n")) if text else ""


def _rest_mark(chars: int, number: int, tokens_a_char: float) -> str:
    if not chars:
        return ""
    tokens = int(chars * tokens_a_char) + 1
    return f'[{chars:,} characters, about {tokens:,} tokens left out here; turns="{number}"]\n'


def thoughts_frame(message: Message, chars: int = 0, tokens_a_char: float = 0.0) -> str:
    """What the agent thought, all of it or cut to about `chars` characters; "" for blanks."""
    text = visible(without_blobs(message.thoughts)).strip("\n")
    if not text.strip():
        return ""
    if not chars:
        return "thinks:\n" + fence(text)
    return "thinks:\n" + cut_frame(text, chars, message.number, tokens_a_char)


# --- marks for what is left out


def thoughts_mark(message: Message) -> str:
    """The mark for thoughts; "" for short ones, which always stay with their turn."""
    if len(message.thoughts) <= SHORT_THOUGHTS:
        return ""
    tokens = int(len(message.thoughts) * _WEIGHT) + 1
    return f'[thoughts left out: about {tokens:,} tokens; turns="{message.number}"]\n'


def same_mark(number: int) -> str:
    return f'[the same result as in turn {number}; turns="{number}"]\n'


def range_mark(first: int, last: int, tokens: int) -> str:
    """The mark for whole turns; `tokens` is weighed by length, so it says `about`."""
    if first == last:
        return f'[turn {first} left out: about {tokens:,} tokens; turns="{first}"]\n'
    count = last - first + 1
    turns = f"{first}-{last}"
    return f'[turns {turns} left out: {count:,} turns, about {tokens:,} tokens; turns="{turns}"]\n'


def weight_of(sizes: Sequence[int]) -> int:
    """Tokens of turns with so many characters, as marks tell them: about.

    Never corrected by what is counted, so that a mark stays the same from one request to the next.
    """
    return int(sum(sizes) * _WEIGHT) + _HEAD_TOKENS * len(sizes)


def longest_range_mark(last: int, tokens: int) -> str:
    """A mark that no mark for turns up to `last` is longer than."""
    digits = len(str(last))
    return range_mark(10 ** (digits - 1), 10**digits - 1, tokens)


def density(text: str) -> float:
    """How many times more tokens a character costs than one of English, by a glance at its head."""
    if text.isascii():
        return 1.0
    sample = text[:200]
    return max(1.0, len(sample.encode("utf-8", "replace")) / len(sample) * 1.2)

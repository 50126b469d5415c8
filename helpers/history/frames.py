"""Turns and marks as they stand in a history: whose words they are, and what was left out.

Every frame and every mark begins with a character that is not white space and ends in a line feed,
so that token counts add up. Nobody's words can forge either.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ..text.embedded import HUGE_CHARS, SHORTEST_BLOB, without_blobs
from ..text.quote import fence, head_and_tail, visible, window
from .message import Message

_NAME_CHARS: Final = 80


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


def tidy_thoughts(message: Message) -> str:
    return visible(without_blobs(message.thoughts)).strip("\n")


# --- whose turn it is


def heading(message: Message, after_call: bool) -> str:
    """`### 12 · user`: whose turn it is, in one line."""
    number, role, text, speaker, tool, _, kept, _, _ = message
    called = after_call or role != "tool"
    return f"### {number} · {_title(role, speaker, tool, kept, called, not text)}\n"


@lru_cache(maxsize=512)
def _title(role: str, speaker: str, tool: str, kept: str, called: bool, empty: bool) -> str:
    title = _who(role, one_line(speaker) or "agent", one_line(tool))
    if not called:
        title += " (its call is not recorded)"
    if kept == "summary":
        title += " · not verbatim"
    elif kept == "shortened":
        title += " · shortened by the host"
    return title + (" · empty" if empty else "")


def _who(role: str, agent: str, tool: str) -> str:
    if role == "user":
        return "user"
    if role == "assistant":
        return f"{agent} calls {tool}" if tool else agent
    if role == "tool":
        return f"result of {tool or 'a tool'}"
    if role == "summary":
        return "summary by the host"
    return "gap in the record" if role == "gap" else "note of the host"


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


def thoughts_frame(thoughts: str) -> str:
    return "thinks:\n" + fence(thoughts) if thoughts.strip() else ""


# --- marks


def thoughts_mark(number: int, tokens: int) -> str:
    return f'[thoughts left out: about {tokens:,} tokens; turns="{number}"]\n'


def same_mark(number: int) -> str:
    return f'[the same result as in turn {number}; turns="{number}"]\n'


def gap_mark(first: int, last: int, tokens: int) -> str:
    """The mark for whole turns; `tokens` is weighed by length, so it says `about`."""
    if first == last:
        return f'[turn {first} left out: about {tokens:,} tokens; turns="{first}"]\n'
    count = last - first + 1
    turns = f"{first}-{last}"
    return f'[turns {turns} left out: {count:,} turns, about {tokens:,} tokens; turns="{turns}"]\n'


def density(text: str) -> float:
    """How many times more tokens a character costs than one of English, by a glance at its head."""
    if text.isascii():
        return 1.0
    sample = text[:200]
    return max(1.0, len(sample.encode("utf-8", "replace")) / len(sample) * 1.2)

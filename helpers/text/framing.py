"""Untrusted words inside frames they cannot close: quotes, fences, and cuts that say what they left out.

Every frame ends in a line feed and begins with a character that is not white space, so that the token counts of frames add up.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Final

from . import render
from .masking import SHORTEST_FILE, clean, without_files

_TICKS: Final = re.compile(r"`{3,}")
_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{400,}={0,2}(?![A-Za-z0-9+/=_-])")
_BASE64_BYTES: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_="
_LOWER, _UPPER, _DIGIT = re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]")
HUGE_CHARS: Final = 60_000
SHORTEST_BLOB: Final = 400
_STRIDE: Final = SHORTEST_BLOB // 2


def visible(text: str) -> str:
    """The text with halves of characters repaired, and what is unsafe shown as packages and briefings show it."""
    if text.isprintable() or text.replace("\n", " ").isprintable():
        return text
    return render.visible(clean(text)[0])


def quote(text: str) -> str:
    """The words in a frame: `> ` for one line, a fence longer than any run of back-ticks inside for more."""
    if "\n" not in text:
        return f"> {text}\n"
    ticks = "```"
    if ticks in text:
        ticks = "`" * (max(len(run) for run in _TICKS.findall(text)) + 1)
    return f"{ticks}\n{text}\n{ticks}\n"


def without_blobs(text: str) -> str:
    """Data URIs and long base64 runs told as `[image/png, 106,200 bytes, sha256 1f2e…]`; other text unchanged.

    In a text of `HUGE_CHARS` and more only blobs of about half a percent of it are sure to be seen: looking everywhere would
    cost more than all the rest of an answer, and of such a text only head and tail travel.
    """
    if len(text) < SHORTEST_FILE:
        return text
    text = without_files(text)
    if len(text) < SHORTEST_BLOB:
        return text
    if len(text) >= HUGE_CHARS:
        if not _holds_blob(text, len(text) // 256):
            return text
        if text.isascii() and not text.encode().translate(None, _BASE64_BYTES):
            return _told(text)
    elif not has_long_run(text, _STRIDE):
        return text
    return _BASE64.sub(_told_run, text)


def _holds_blob(text: str, step: int) -> bool:
    return any(
        _looks_like_base64(text[at : at + _STRIDE]) for at in range(0, len(text) - _STRIDE, step)
    )


def _looks_like_base64(sample: str) -> bool:
    """Real base64 mixes cases and digits everywhere; one repeated letter, a path or an identifier does not."""
    letters = sample.isascii() and not sample.encode().translate(None, _BASE64_BYTES)
    return letters and bool(
        _LOWER.search(sample) and _UPPER.search(sample) and _DIGIT.search(sample)
    )


def has_long_run(text: str, stride: int) -> bool:
    """Whether a stretch of `stride` characters is all white space or has none; every run twice as long covers one."""
    for at in range(0, len(text), stride):
        part = text[at : at + stride]
        if (" " not in part and "\n" not in part) or (part[0] in " \n" and part.isspace()):
            return True
    return False


def _told_run(match: re.Match[str]) -> str:
    run = match.group()
    return _told(run) if _looks_like_base64(run[:SHORTEST_BLOB]) else run


def _told(run: str) -> str:
    return f"[base64 data, {len(run):,} characters, sha256 {hashlib.sha256(run.encode()).hexdigest()[:16]}]"


# --- cutting


def safe_end(text: str, at: int) -> int:
    """The nearest place at or before `at` that does not divide what a person sees as one character (UAX #29, in essence)."""
    at = max(0, min(at, len(text)))
    for _ in range(64):
        if at in (0, len(text)) or not _inside(text, at):
            return at
        at -= 1
    return at


def safe_start(text: str, at: int) -> int:
    """Like `safe_end`, the nearest place at or behind `at`."""
    at = max(0, min(at, len(text)))
    for _ in range(64):
        if at in (0, len(text)) or not _inside(text, at):
            return at
        at += 1
    return at


def _inside(text: str, at: int) -> bool:
    before, here = text[at - 1], text[at]
    if here < "\u0300":
        return before == "\r" and here == "\n"
    if (
        before == "\u200d"
        or here in "\u200d\ufe0e\ufe0f\u0e33\u0eb3"
        or "\U0001f3fb" <= here <= "\U0001f3ff"
    ):
        return True
    if "\U0001f1e6" <= here <= "\U0001f1ff" and "\U0001f1e6" <= before <= "\U0001f1ff":
        run = 0
        while at - 1 - run >= 0 and "\U0001f1e6" <= text[at - 1 - run] <= "\U0001f1ff":
            run += 1
        return run % 2 == 1
    if "\U000e0020" <= here <= "\U000e007f" or "\u1100" <= here <= "\u11ff":
        return True
    return unicodedata.category(here) in ("Mn", "Me", "Mc")


def head_and_tail(text: str, chars: int, tidy: bool = True) -> tuple[str, str]:
    """About `chars` characters, two thirds from the head; with `tidy` ending at lines or words where that loses little."""
    head_end = safe_end(text, chars * 2 // 3)
    tail_start = max(head_end, safe_start(text, len(text) - (chars - chars * 2 // 3)))
    if tidy:
        head_end, tail_start = _tidy_end(text, head_end), _tidy_start(text, tail_start)
    return text[:head_end], text[tail_start:]


def window(text: str, chars: int, place: float) -> tuple[int, int]:
    """Start and end of about `chars` characters around `place` (0 to 1) of the text, a third of them before it."""
    start = safe_start(text, min(int(place * len(text)) - chars // 3, len(text) - chars))
    return start, safe_end(text, start + chars)


def _tidy_end(text: str, at: int) -> int:
    for mark in ("\n", " "):
        place = text.rfind(mark, at - at // 4, at)
        if place > 0:
            return place
    return at


def _tidy_start(text: str, at: int) -> int:
    for mark in ("\n", " "):
        place = text.find(mark, at, at + (len(text) - at) // 4)
        if place >= 0:
            return place + 1
    return at

"""Untrusted words inside frames they cannot close, and cuts that divide no character.

What a model, a person or a tool wrote stands behind "> " or inside a fence, never bare. Every frame
ends in a line feed and begins with a character that is not white space, so that the token counts of
frames add up.
"""

from __future__ import annotations

import re
from typing import Final

from .masking import clean

# Controls, line and paragraph separators, what changes the direction of text (CVE-2021-42574), what
# is invisible and spells words (tag characters, but in the flags of England, Scotland and Wales);
# tab and line feed stay.
_FLAG: Final = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,8}\U000e007f"
_UNSAFE: Final = re.compile(
    f"{_FLAG}|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2061-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_TICKS: Final = re.compile(r"`{3,}")
_NOT_PLAIN: Final = re.compile(r"[^\w .\-]")
_FAR: Final = 1024  # code points: no character as a person sees it is longer


def visible(text: str) -> str:
    """The text with line ends as "\\n" and unsafe characters shown as escapes such as \\u202e."""
    if text.isprintable() or text.replace("\n", "").isprintable():
        return text
    text = clean(text)[0].replace("\r\n", "\n").replace("\r", "\n")
    return _UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    if len(match[0]) > 1:  # a flag
        return match[0]
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def inert(text: str) -> str:
    """The text with every "{{" broken up as "{ {": the host expands double braces (HOST fact 15)."""
    return re.sub(r"\{(?=\{)", "{ ", text) if "{{" in text else text


def quote(text: str, label: str = "") -> str:
    """A block of lines behind "> ", ending in a line feed.

    `label` is trusted and stands before the first line; the others then are indented, so that none
    can pass for a label.
    """
    first, *more = visible(text).split("\n")
    lines = [label + first]
    for line in more:
        lines.append(f"    {line}" if label and line else line)
    return "".join(f"> {line}\n" if line else ">\n" for line in lines)


def fence(text: str) -> str:
    """Visible text as `> ` and one line, or in a fence longer than any run of back-ticks inside."""
    if "\n" not in text:
        return f"> {text}\n"
    longest = max(map(len, _TICKS.findall(text)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}\n{text}\n{ticks}\n"


def one_line(text: str, limit: int = 0) -> str:
    """The text in one line; longer than `limit` characters (where given) it ends in "…"."""
    line = " ".join(visible(text).split())
    if not limit or len(line) <= limit:
        return line
    return line[: safe_end(line, limit - 1)].rstrip() + "…"


def plain_name(name: str) -> str:
    """A name that may stand outside a quote: letters, digits, "._", inner "-" and spaces, at most 40."""
    return _NOT_PLAIN.sub("", one_line(name))[:40].strip(" -.")


# --- cutting


def safe_end(text: str, place: int) -> int:
    """The nearest place at or before `place` that does not divide what a person sees as a character."""
    return _edges(text, place)[0]


def safe_start(text: str, place: int) -> int:
    """Like `safe_end`, the nearest place at or behind `place`."""
    return _edges(text, place)[1]


def _edges(text: str, place: int) -> tuple[int, int]:
    """Start and end of the character (UAX #29) that `place` divides; twice `place` where it divides none."""
    place = max(0, min(place, len(text)))
    beside = text[max(0, place - 1) : place + 1]
    if place in (0, len(text)) or (beside.isascii() and beside != "\r\n"):
        return place, place
    import regex  # comes with tiktoken

    far = max(0, place - _FAR)
    start = text.rfind("\n", far, place) + 1 or far
    for character in regex.finditer(r"\X", text, pos=start, endpos=place + _FAR):
        if character.end() > place > character.start():
            return character.span()
        if character.end() >= place:
            break
    return place, place


def head_and_tail(text: str, chars: int, tidy: bool = True) -> tuple[str, str]:
    """About `chars` characters, two thirds from the head.

    With `tidy` both end at lines or words where that loses little.
    """
    head_chars = chars * 2 // 3
    end = safe_end(text, head_chars)
    start = max(end, safe_start(text, len(text) - (chars - head_chars)))
    if tidy:
        end, start = _tidy_end(text, end), _tidy_start(text, start)
    return text[:end], text[start:]


def window(text: str, chars: int, place: float) -> tuple[int, int]:
    """Start and end of about `chars` characters around `place` (0 to 1), a third of them before it."""
    before = int(place * len(text)) - chars // 3
    start = safe_start(text, min(before, len(text) - chars))
    return start, safe_end(text, start + chars)


def _tidy_end(text: str, end: int) -> int:
    for mark in ("\n", " "):
        place = text.rfind(mark, end - end // 4, end)
        if place > 0:
            return place
    return end


def _tidy_start(text: str, start: int) -> int:
    for mark in ("\n", " "):
        place = text.find(mark, start, start + (len(text) - start) // 4)
        if place >= 0:
            return place + 1
    return start

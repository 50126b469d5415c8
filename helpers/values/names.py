"""One way to compare names and words, and one way to shorten a text for a line of ours."""

from __future__ import annotations

import json
import re
import unicodedata

_FRAME = " \t\r\n\"'`´‘’‚“”„‹›«»「」『』()[]{}<>*"
_CLOSING = ".,;:!?…。！？、"
# Format characters are invisible: zero-width spaces and joiners, soft hyphens, direction marks, tags; so are the selectors
# of a variant, which follow an emoji.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_JOINTS = re.compile(r"[\s_\-\u2010-\u2015]+")


def key(text: str) -> str:
    """What two spellings of one name have in common; "" only for a text without anything visible.

    NFKC, casefold, white space, hyphens and underscores as one space, invisible characters gone, and
    so are outer quotes, brackets and closing punctuation. "#" and "+" stay: C, C# and C++ are three;
    so does a dot in front: .NET is no net.
    Where nothing would be left, the visible text itself is the key.
    """
    plain = folded(text)
    return plain.lstrip(_FRAME).rstrip(_FRAME + _CLOSING) or plain


def folded(text: str) -> str:
    """The key of a text with all its punctuation."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
        text = unicodedata.normalize("NFKC", text.casefold())
    return _JOINTS.sub(" ", text.casefold()).strip()


def same(text: str, other: str) -> bool:
    """Whether two names mean the same thing."""
    return key(text) == key(other)


def words(text: str) -> str:
    """A sentence as it is compared with another: case, width and white space do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def short(text: str, limit: int = 60) -> str:
    """What came, for a line of ours: one line of printable characters, at most `limit`, then "…"."""
    line = " ".join(text[: limit * 4].split())
    line = "".join(char if char.isprintable() else "�" for char in line)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def quoted(text: str, most_bytes: int) -> str:
    """Words of a model or a person in a line of ours: one line in quotes, at most so many bytes, and
    so at most so many tokens."""
    shown, left = "", most_bytes - len('"…"'.encode())
    for char in short(text, most_bytes):
        escaped = json.dumps(char, ensure_ascii=False)[1:-1]
        left -= len(escaped.encode())
        if left < 0:
            return f'"{shown}…"'
        shown += escaped
    return f'"{shown}"'

"""Untrusted words inside frames they cannot close, and cuts that divide no character.

What a model, a person or a tool wrote stands behind "> " or inside a fence, never bare. Every frame
ends in a line feed and begins with a character that is not white space, so that the token counts of
frames add up.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .masking import clean

# Controls, what breaks a line or changes the direction of text (CVE-2021-42574), what is invisible
# (zero-width signs, fillers, selectors of a variant, tags that spell words). Tab and LF stay.
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]+"
)
# Where something invisible makes its neighbours look as they do, as UAX #31 has it, it stays: in a
# flag, after a picture, between two pictures, between Arabic letters that would join, after the
# sign that joins Indic consonants.
_PICTURE: Final = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_ARABIC: Final = "[\u0620-\u064a\u066e-\u06d3\u06fa-\u06ff\u0750-\u077f]"
_NEVER_JOINS: Final = "[ءآأؤإاةدذرزوٱڈڑژ]"
_VIRAMA: Final = "[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039\u17d2]"
_NEEDED: Final = re.compile(
    "(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,8}\U000e007f"  # Scotland
    f"|(?<={_PICTURE})[\ufe0e\ufe0f]|(?<=[#*0-9])\ufe0f(?=\u20e3)"
    f"|(?:(?<={_PICTURE})|(?<={_PICTURE}\ufe0f))\u200d(?={_PICTURE})"
    f"|(?<={_ARABIC})(?<!{_NEVER_JOINS})\u200c(?={_ARABIC})"
    rf"|(?<={_VIRAMA})[\u200c\u200d](?=\w)"
)
_TICKS: Final = re.compile(r"`{3,}")
_NOT_PLAIN: Final = re.compile(r"[^\w .\-]")
_INDENT: Final = "    "
BULLET: Final = "- "
_FAR: Final = 1024  # code points: no character as a person sees it is longer


def visible(text: str) -> str:
    """The text with line ends as "\\n" and hidden characters shown as escapes such as \\u202e.

    What makes an emoji, a flag or a Persian or Indic word look as it does stays where it does so.
    """
    if text.isascii() and (text.isprintable() or text.replace("\n", "").isprintable()):
        return text
    text = clean(text)[0].replace("\r\n", "\n").replace("\r", "\n")
    return _HIDDEN.sub(_shown, text)


def _shown(run: re.Match[str]) -> str:
    shown = ""
    place = run.start()
    while place < run.end():
        needed = _NEEDED.match(run.string, place)
        shown += needed[0] if needed else _escaped(run.string[place])
        place += len(needed[0]) if needed else 1
    return shown


def _escaped(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def on_one_line(text: str) -> str:
    """The text with its line feeds shown too, for the name of a file or folder outside a quote."""
    return visible(text).replace("\n", "\\n")


def inert(text: str) -> str:
    """The text with every "{{" broken up as "{ {", which the host would expand (HOST fact 15)."""
    return re.sub(r"\{(?=\{)", "{ ", text) if "{{" in text else text


def quote(text: str, label: str = "") -> str:
    """A block of lines behind "> ", ending in a line feed.

    `label` is trusted and stands before the first line; the others then are indented, so that none
    can pass for a label.
    """
    shown = visible(text)
    if "\n" not in shown:
        return f"> {label}{shown}\n" if label or shown else ">\n"
    return _behind_marks(shown.split("\n"), label)


def _behind_marks(lines: list[str], label: str) -> str:
    indent = _INDENT if label else ""
    block = f"> {label}{lines[0]}" if label or lines[0] else ">"
    for line in lines[1:]:
        block += f"\n> {indent}{line}" if line else "\n>"
    return block + "\n"


# --- a file that is drawn

_PUNCTUATION: Final = r"[!-/:-@\[-`{-~]"
# What can begin or end something that is drawn, and not as the words it is.
_ALIVE: Final = re.compile(
    rf"\\(?={_PUNCTUATION}|$)"  # an escape of theirs, a hard line break
    r"|[`\[]|<(?=[A-Za-z/!?])|&(?=\#?\w{1,32};)"  # code; link, image, footnote; HTML; entity
    r"|(?<=\S)[*~]|~(?=~)|(?<=[^\s_])_++(?!\w)"  # the end of emphasis; inside a word "_" is none
    r"|/(?=/)|(?<=[wW]{3})\.|(?<=\w)@(?=\w)"  # what becomes a link by itself
)
# The same at the beginning of a line: heading, quote, list, rule, underline, table, fence.
_LINE_START: Final = re.compile(
    r"^([ \t]*+)([\#>+\-=|:]|[*_~]++)|^([ \t]*+\d{1,9})([.)])(?=[ \t]|$)"
)


def drawn(text: str) -> str:
    """One line of words, escaped so that a renderer of Markdown draws them as they are.

    The renderer may be one of CommonMark with tables, strikethrough, footnotes, links and raw HTML.
    Taking away each backslash before punctuation gives `visible(text)` again.
    """
    text = _ALIVE.sub(_escape_all, visible(text))
    return _LINE_START.sub(_escape_behind, text)


def quote_drawn(text: str, label: str = "") -> str:
    """Like `quote`, with every line `drawn`, but for those that are drawn as code anyway.

    Code is a line indented by four columns where no paragraph goes on; in a bullet columns count
    from where its words begin.
    """
    first, *more = visible(text).split("\n")
    lines = [drawn(first)]
    mark = "> " + (_INDENT if label else "")
    words_at = len("> - ") if label == BULLET else len("> ")
    in_paragraph = bool(first.strip(" \t") or label.strip(BULLET))
    for line in more:
        words = line.lstrip(" \t")
        before = mark + line[: len(line) - len(words)]
        is_code = not in_paragraph and len(before.expandtabs(4)) - words_at >= len(_INDENT)
        lines.append(line if is_code else drawn(line))
        in_paragraph = bool(words) and not is_code
    return _behind_marks(lines, label)


def _escape_all(match: re.Match[str]) -> str:
    return "".join(f"\\{sign}" for sign in match[0])


def _escape_behind(match: re.Match[str]) -> str:
    before, signs = match[1] or match[3] or "", match[2] or match[4]
    return before + "".join(f"\\{sign}" for sign in signs)


@dataclass(frozen=True)
class Frame:
    """How untrusted words are set: `words` in the middle of a line, `quote` as a block of lines."""

    words: Callable[[str], str]
    quote: Callable[..., str]


PACKAGE: Final = Frame(visible, quote)
BRIEFING: Final = Frame(drawn, quote_drawn)


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
    """A name that may stand outside a quote: at most 40 letters, digits, "._", inner "-" and " "."""
    return _NOT_PLAIN.sub("", one_line(name))[:40].strip(" -.")


# --- cutting


def safe_end(text: str, place: int) -> int:
    """The nearest place at or before `place` that divides no character as a person sees it."""
    return _edges(text, place)[0]


def safe_start(text: str, place: int) -> int:
    """Like `safe_end`, the nearest place at or behind `place`."""
    return _edges(text, place)[1]


def _edges(text: str, place: int) -> tuple[int, int]:
    """Start and end of the character (UAX #29) that `place` divides; `place` twice for none."""
    place = max(0, min(place, len(text)))
    beside = text[max(0, place - 1) : place + 1]
    if place in (0, len(text)) or (beside.isascii() and beside != "\r\n"):
        return place, place
    import regex  # comes with tiktoken

    far = max(0, place - _FAR)
    start = text.rfind("\n", far, place) + 1 or far
    for character in regex.finditer(r"\X", text, pos=start, endpos=place + _FAR):
        if character.end() > place > character.start():
            return character.start(), character.end()
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
    """Start and end of about `chars` characters, a third of them before `place` (0 to 1)."""
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

"""Files inside a text: data URIs and base64, told by type, size and hash instead of travelling."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from contextlib import suppress
from typing import Final

SHORTEST_FILE: Final = 200  # characters of a data URI that is worth a line of its own
SHORTEST_BLOB: Final = 400  # of base64 that nothing announces
HUGE_CHARS: Final = 60_000
_SAMPLES: Final = 256
_WINDOW: Final = SHORTEST_BLOB // 2
_WORDS_IN_CODE: Final = 6  # at most, of a window inside wrapped base64

_URI: Final = re.compile(
    r"(?i)(?<![a-z0-9])data:(?P<type>[\w.+\-]{1,80}/[\w.+\-]{1,80})?"
    r"(?:\s?;\s?(?!base64)[\w.+\-]{1,40}=[\w.+\-]{1,80}){0,4}(?P<base64>\s?;\s?base64)?\s?,"
)
_PLAIN_DATA: Final = re.compile(r"[^\s\"'<>()\[\]`]+")
_PERCENT: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_GAP: Final = r"(?:\s{1,16}|\\[nrt]){1,4}+"  # between wrapped lines, also as JSON writes it
_FIRST_LINE: Final = re.compile(rf"(?:{_GAP})?(?P<code>[A-Za-z0-9+/_\-]*+)(?P<padding>={{0,2}})")
_NEXT_LINE: Final = re.compile(
    rf"{_GAP}(?P<code>[A-Za-z0-9+/_\-]++)(?P<padding>={{0,2}})(?![^\\\"'<>()\[\]`\s])"
)
_FEWEST_COLUMNS, _MOST_COLUMNS, _SHORTEST_REST = 32, 128, 16
_NO_WORD: Final = re.compile(r"[a-z]\d|\d[a-z]|[a-z][A-Z]")
_CODE: Final = re.compile(rf"(?<![A-Za-z0-9+/=_\-])[A-Za-z0-9+/_\-]{{{_FEWEST_COLUMNS},}}")
_LOWER, _UPPER, _DIGIT = re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]")
_CODE_BYTES: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_="


def without_blobs(text: str) -> str:
    """Data URIs and long base64 told as `[image/png, 106,200 bytes, sha256 1f2e3d4c5b6a7988]`.

    Base64 that nothing announces is told by its characters. In a text of `HUGE_CHARS` and more only
    what is about half a percent of it is sure to be seen: looking everywhere would cost more than
    all the rest of an answer, and of such a text only head and tail travel.
    """
    text = without_files(text)
    if len(text) < SHORTEST_BLOB or not _may_hold_code(text):
        return text
    parts: list[str] = []
    done = 0
    while (run := _CODE.search(text, done)) is not None:
        end, code = _base64_at(text, run.start(), begins_line=True)
        if len(code) >= SHORTEST_BLOB and _looks_like_code(code[:SHORTEST_BLOB]):
            told = f"[base64 data, {len(code):,} characters, sha256 {_hash(code.encode())}]"
            parts += text[done : run.start()], told
        else:
            parts.append(text[done:end])
        done = end
    return "".join((*parts, text[done:]))


def _may_hold_code(text: str) -> bool:
    """A cheap look: a window inside base64 has few words, and all of them are code."""
    step = max(_WINDOW, len(text) // _SAMPLES if len(text) >= HUGE_CHARS else 0)
    for start in range(0, len(text) - _WINDOW + 1, step):
        words = text[start : start + _WINDOW].split(None, _WORDS_IN_CODE)
        if len(words) <= _WORDS_IN_CODE and _looks_like_code("".join(words)):
            return True
    return False


def _looks_like_code(sample: str) -> bool:
    """Base64 mixes cases and digits everywhere; one repeated letter, a path or a name does not."""
    if not sample.isascii() or sample.encode().translate(None, _CODE_BYTES):
        return False
    shares = (_LOWER, 1 / 8), (_UPPER, 1 / 8), (_DIGIT, 1 / 25)
    return all(len(sort.findall(sample)) >= share * len(sample) for sort, share in shares)


def without_files(text: str) -> str:
    """The text with each data URI of 200 characters and more told by type, size and hash.

    Upper case, a blank behind the comma, percent-encoded bytes and base64 that is wrapped are the
    same file: its size and hash are those of the bytes.
    """
    if len(text) < SHORTEST_FILE or "data:" not in text.lower():
        return text
    parts: list[str] = []
    done = 0
    while (match := _URI.search(text, done)) is not None:
        end, data = _file_in(text, match)
        if data is None:
            parts.append(text[done:end])
        else:
            kind = (match["type"] or "text/plain").lower()
            told = f"[{kind}, {len(data):,} bytes, sha256 {_hash(data)}]"
            parts += text[done : match.start()], told
        done = end
    return "".join((*parts, text[done:]))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _file_in(text: str, uri: re.Match[str]) -> tuple[int, bytes | None]:
    """Where the data URI ends, and its bytes; None where it is too short to be told."""
    if uri["base64"]:
        end, code = _base64_at(text, uri.end(), begins_line=False)
        if len(code) < SHORTEST_FILE:
            return uri.end(), None
        plain = code.rstrip("=").translate(str.maketrans("-_", "+/")).encode()
        with suppress(ValueError, binascii.Error):
            return end, base64.b64decode(plain + b"=" * (-len(plain) % 4))
        return end, plain
    data = _PLAIN_DATA.match(text, uri.end())
    if data is None or len(data[0]) < SHORTEST_FILE:
        return uri.end(), None
    return data.end(), _PERCENT.sub(_byte, data[0].encode("utf-8", "surrogatepass"))


def _byte(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 16)])


def _base64_at(text: str, start: int, *, begins_line: bool) -> tuple[int, str]:
    """Where base64 that begins here ends, and its code without line ends.

    A line below belongs to it when the lines are those of wrapped base64: all but the last of one
    length, and but the first where something else stands before it in its line.
    """
    line = _FIRST_LINE.match(text, start)
    assert line is not None  # it may be empty
    codes, padding, end = [line["code"]], line["padding"], line.end()
    columns = len(codes[0])
    while not padding and columns <= _MOST_COLUMNS:
        line = _NEXT_LINE.match(text, end)
        if line is None:
            break
        length = len(line["code"])
        if len(codes) == 1 and not begins_line:
            columns = max(columns, length)
        if not _is_wrapped(line, columns):
            break
        codes.append(line["code"])
        padding, end = line["padding"], line.end()
        if length < columns:
            break
    return end, "".join(codes) + padding


def _is_wrapped(line: re.Match[str], columns: int) -> bool:
    """Whether a line goes on with base64 of that many columns, or is its shorter last one."""
    code = line["code"]
    if columns not in range(_FEWEST_COLUMNS, _MOST_COLUMNS + 1) or len(code) > columns:
        return False
    if len(code) == columns or line["padding"] or len(code) >= _SHORTEST_REST:
        return True
    return len(code) % 4 == 0 and bool(_NO_WORD.search(code))

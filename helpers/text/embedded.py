"""Files inside a text: data URIs and base64, told by type, size and hash instead of travelling."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from contextlib import suppress
from typing import Final

_URI = re.compile(
    r"(?i)(?<![a-z0-9])data:(?P<type>[\w.+\-]{1,80}/[\w.+\-]{1,80})?(?:\s?;\s?(?!base64)[\w.+\-]{1,40}=[\w.+\-]{1,80}){0,4}"
    r"(?P<base64>\s?;\s?base64)?\s?,"
)
_GAP = (
    r"(?:\s{1,16}|\\[nrt]|%0[ad]|%20)"  # where base64 is wrapped, also as JSON or a URI writes it
)
_CODE = r"(?:[a-z0-9+/_\-]{1,512}|%2[bf]|\\/|\\u002[bf])"
_PADDING = r"(?:=|%3d|\\u003d){0,2}"
_GAPS = re.compile(rf"(?i){_GAP}{{0,4}}")
_CODE_LINE = re.compile(rf"(?i)((?:{_CODE})*+)({_PADDING})")
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_PLAIN_DATA = re.compile(r"[^\s\"'<>()\[\]`]+")
_NO_WORD = re.compile(r"[a-z]\d|\d[a-z]|[a-z][A-Z]")
SHORTEST_FILE = 200  # characters of a data URI that is worth a line of its own
_MOST_COLUMNS, _FEWEST_COLUMNS, _SHORTEST_REST = 128, 32, 16


def without_files(text: str) -> str:
    """The text with each data URI of 200 characters and more told as `[image/png, 106,200 bytes, sha256 1f2e3d4c5b6a7988]`.

    Upper case, a blank behind the comma, percent-encoded bytes and base64 that is wrapped, also by an escaped `\\n`, are the same
    file: its size and hash are those of the bytes.
    """
    if "data:" not in text.lower():
        return text
    parts: list[str] = []
    done = 0
    while (match := _URI.search(text, done)) is not None:
        end, data = _file_in(text, match)
        parts.append(text[done : match.start() if data is not None else end])
        if data is not None:
            kind = (match["type"] or "text/plain").lower()
            parts.append(
                f"[{kind}, {len(data):,} bytes, sha256 {hashlib.sha256(data).hexdigest()[:16]}]"
            )
        done = end
    return "".join((*parts, text[done:]))


def _file_in(text: str, match: re.Match[str]) -> tuple[int, bytes | None]:
    """Where the data URI ends, and its bytes; None where it is too short to be told."""
    if match["base64"]:
        end, code = _base64_at(text, match.end())
        if len(code) < SHORTEST_FILE:
            return match.end(), None
        plain = code.translate(str.maketrans("-_", "+/")).encode()
        with suppress(ValueError, binascii.Error):
            return end, base64.b64decode(plain + b"=" * (-len(plain) % 4))
        return end, plain
    found = _PLAIN_DATA.match(text, match.end())
    if found is None or len(found[0]) < SHORTEST_FILE:
        return match.end(), None
    unescaped = re.sub(r"\\[nrt]", "", found[0])
    return found.end(), _PERCENT.sub(_byte, unescaped.encode("utf-8", "surrogatepass"))


def _byte(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 16)])


def _base64_at(text: str, start: int) -> tuple[int, str]:
    """Where base64 that begins here ends, and the code without padding and line ends.

    A line below belongs to it when the lines are those of wrapped base64: all but the first and the last of one length.
    """
    codes: list[str] = []
    end, columns = start, 0
    while True:
        begun = _GAPS.match(text, end)
        line = _CODE_LINE.match(text, begun.end() if begun else end)
        assert line is not None  # it may be empty
        code, padded = _plain_code(line[1]), bool(line[2])
        if len(codes) == 1:
            columns = len(code) if len(codes[0]) <= _MOST_COLUMNS else 0
        last = padded or len(code) != columns
        if codes and not _goes_on(text, line, code, columns, padded):
            break
        codes.append(code)
        end = line.end()
        if padded or (len(codes) > 1 and last) or not code:
            break
    return end, "".join(codes)


def _goes_on(text: str, line: re.Match[str], code: str, columns: int, padded: bool) -> bool:
    """Whether this line belongs to the wrapped base64 above it."""
    if columns < _FEWEST_COLUMNS:
        return False
    ends = (
        line.end() == len(text) or text[line.end()] in "\\\"'<>()[]`%" or text[line.end()].isspace()
    )
    if not ends or len(code) > columns:
        return False
    if padded or len(code) == columns or len(code) >= _SHORTEST_REST:
        return True
    return len(code) % 4 == 0 and bool(_NO_WORD.search(code))


def _plain_code(code: str) -> str:
    if "%" in code or "\\" in code:
        code = re.sub(r"(?i)%2b|\\u002b", "+", code)
        code = re.sub(r"(?i)%2f|\\/|\\u002f", "/", code)
    return code


_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{400,}={0,2}(?![A-Za-z0-9+/=_-])")
_BASE64_BYTES: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_="
_LOWER, _UPPER, _DIGIT = re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]")
HUGE_CHARS: Final = 60_000
SHORTEST_BLOB: Final = 400
_STRIDE: Final = SHORTEST_BLOB // 2


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

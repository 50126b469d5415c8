"""Briefings: append-only Markdown files of entries that carry their own hash.

An entry is lines from `## ` to `<!-- handover:end id=<id> sha256=<64 hex> -->`; the hash is over all bytes before that
marker line. Nothing is ever rewritten; bytes that are no entry are foreign and never read back.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..values.errors import RecordError
from . import files
from .folder import HandoverFolder

State = Literal["intact", "torn", "absent"]

_CHUNK_BYTES = 1024 * 1024
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEX = re.compile(r"[0-9a-f]{64}")
_SCAN_BYTES = 256 * 1024
_TOKEN_BYTES = 256  # more than any heading or marker that matters is long
_TOKEN = re.compile(
    rb"\n(?:## (?P<ours>\d{4}-\d\d-\d\d \d\d:\d\d UTC )?"
    rb"|<!-- handover:end id=(?P<id>[A-Za-z0-9][A-Za-z0-9._-]{0,63}) sha256=(?P<sha>[0-9a-f]{64}) -->(?=\n|\Z))"
)
_INNER = re.compile(r"^(?:## |<!-- handover:end)", re.MULTILINE)


@dataclass(frozen=True)
class Plan:
    """Where an entry will stand: `length` bytes from `offset` with that `sha256`, a healing line feed included."""

    path: Path
    offset: int
    length: int
    sha256: str
    existed_before: bool

    def to_data(self) -> dict[str, str | int]:
        """The data of a `briefed` event; `path` is the file's name, so that a project can be moved."""
        return {
            "path": self.path.name,
            "offset": self.offset,
            "length": self.length,
            "sha256": self.sha256,
        }


@dataclass(frozen=True)
class Written:
    """What the append did; `size_bytes` is the file's size afterwards."""

    path: Path
    existed_before: bool
    newly_created: bool
    size_bytes: int


@dataclass(frozen=True)
class Piece:
    """A stretch of a briefing, in bytes. An `entry` has an id and `sha_ok`; `torn` began as an entry and has no end.

    `foreign` is no entry by its looks; where a plan covers it, it is the first few bytes of a torn one (`unaccounted`).
    """

    kind: Literal["entry", "torn", "foreign"]
    offset: int
    length: int
    id: str = ""
    sha_ok: bool = False


def seal(handover_id: str, body: str) -> bytes:
    """The bytes of an entry: `body` and its end marker.

    Raises ValueError when `body` does not start with "## " and end in a line feed, or could be read as two entries.
    """
    if not _ID.fullmatch(handover_id):
        raise ValueError(f"not an id: {handover_id!r}")
    if not body.startswith("## ") or not body.endswith("\n") or len(_INNER.findall(body)) != 1:
        raise ValueError(
            'an entry starts with its only "## " line, ends in a line feed and holds no end marker'
        )
    text = body.encode("utf-8")
    return (
        text
        + f"<!-- handover:end id={handover_id} sha256={hashlib.sha256(text).hexdigest()} -->\n".encode(
            "ascii"
        )
    )


def plan(folder: HandoverFolder, name: str, entry: bytes) -> Plan:
    """Where `entry` will go, to be recorded before it is written; the caller holds the folder's lock until `append`.

    Raises RecordError: path_unsafe, or append_failed with the system's reason.
    """
    path = folder.briefing_path(name)
    size, ended = _size_and_end(path)
    range_bytes = _with_healing(entry, ended)
    return Plan(
        path, size or 0, len(range_bytes), hashlib.sha256(range_bytes).hexdigest(), size is not None
    )


def plan_from_data(folder: HandoverFolder, data: Mapping[str, Any]) -> Plan:
    """The plan a `briefed` event recorded. Raises RecordError(path_unsafe) when its data is not one."""
    name, offset, length, sha256 = (data.get(key) for key in ("path", "offset", "length", "sha256"))
    sizes_fit = type(offset) is int and type(length) is int and offset >= 0 and length > 0
    if not (
        sizes_fit and isinstance(name, str) and isinstance(sha256, str) and _HEX.fullmatch(sha256)
    ):
        raise RecordError(
            "a briefed event does not say where its entry is",
            "run `execute.py verify`",
            "path_unsafe",
        )
    return Plan(folder.briefing_path(name), offset, length, sha256, offset > 0)  # type: ignore[arg-type, operator]


def append(folder: HandoverFolder, planned: Plan, entry: bytes) -> Written:
    """Write the planned entry with one write and fsync; the caller has held the folder's lock since `plan`.

    Raises RecordError(append_failed): the system's reason, a short write (left as it is, the next append heals it), or
    a file that is no longer as it was planned.
    """
    path = folder.briefing_path(planned.path.name)
    with files.writing(path), files.open_append(path) as file:
        content = entry if planned.length == len(entry) else b"\n" + entry
        size = os.fstat(file.fileno()).st_size
        if size != planned.offset or hashlib.sha256(content).hexdigest() != planned.sha256:
            raise files.append_failed(path, "the file is not as it was when the entry was planned")
        files.write_whole(file, content, path)
    return Written(path, planned.existed_before, not planned.existed_before, size + len(content))


def find(folder: HandoverFolder, planned: Plan) -> State:
    """Whether a planned entry stands: intact, torn (other bytes are in its range) or absent (the file ends before)."""
    path = folder.briefing_path(planned.path.name)
    try:
        with files.reading(path), files.open_read(path) as file:
            return _compare(file, planned)
    except FileNotFoundError:
        return "absent"


def _compare(file: io.FileIO, planned: Plan) -> State:
    if os.fstat(file.fileno()).st_size <= planned.offset:
        return "absent"
    file.seek(planned.offset)
    digest, left = hashlib.sha256(), planned.length
    while left and (chunk := file.read(min(left, _CHUNK_BYTES))):
        digest.update(chunk)
        left -= len(chunk)
    if (
        left == 1
    ):  # the next append ends the line: to write the entry again would make it stand twice
        digest.update(b"\n")
    return "intact" if left <= 1 and digest.hexdigest() == planned.sha256 else "torn"


def _size_and_end(path: Path) -> tuple[int | None, bool]:
    """Size in bytes (None: no file) and whether the file ends a line."""
    try:
        with files.reading(path), files.open_read(path) as file:
            size = os.fstat(file.fileno()).st_size
            return size, size == 0 or os.pread(file.fileno(), 1, size - 1) == b"\n"
    except FileNotFoundError:
        return None, True


def _with_healing(entry: bytes, ended: bool) -> bytes:
    return entry if ended else b"\n" + entry


# --- scanning --------------------------------------------------------------------------------------------------------


def scan(path: Path) -> Iterator[Piece]:
    """The pieces of a briefing in order, together all of its bytes; reads in chunks, whatever the file holds.

    Raises FileNotFoundError, or RecordError when the file may not be opened or cannot be read.
    """
    with files.reading(path), files.open_read(path) as file:
        scanner = _Scanner()
        while chunk := file.read(_SCAN_BYTES):
            yield from scanner.feed(chunk)
        yield from scanner.end()


def unaccounted(path: Path, plans: Iterable[Plan]) -> tuple[tuple[int, int], ...]:
    """(offset, length) of the bytes of a briefing that no plan covers, in order; () when there is no such file.

    `plans` are those of this installation's `briefed` events: what is left was written by somebody else.
    """
    size, here, left = _size_and_end(path)[0] or 0, 0, []
    for start, end in sorted(
        (one.offset, one.offset + one.length) for one in plans if one.path.name == path.name
    ):
        if start > here:
            left.append((here, min(start, size) - here))
        here = max(here, end)
    left.append((here, size - here))
    return tuple((offset, length) for offset, length in left if length > 0)


class _Scanner:
    """Cuts a stream of bytes at headings and end markers; holds one chunk and at most one unfinished line start."""

    def __init__(self) -> None:
        self._buffer = (
            b"\n"  # stands for the line feed "before" the first byte, which is no byte of the file
        )
        self._done = 1
        self._offset = -1  # of the buffer's first byte in the file
        self._kind: Literal["", "open", "foreign"] = ""
        self._start = 0
        self._digest = hashlib.sha256()

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        self._buffer += chunk
        last = self._buffer.rfind(b"\n", max(0, len(self._buffer) - _TOKEN_BYTES))
        return self._advance(last if last >= 0 else len(self._buffer))

    def end(self) -> Iterator[Piece]:
        yield from self._advance(len(self._buffer))
        if piece := self._unfinished(self._offset):
            yield piece

    def _advance(self, until: int) -> Iterator[Piece]:
        """Everything up to `until`; the byte there is looked at, as the end of a marker's line, and not passed."""
        for token in _TOKEN.finditer(self._buffer, 0, until + 1):
            line = token.start() + 1
            if token["id"] is None:
                self._pass_to(line)
                if piece := self._unfinished(self._offset + line):
                    yield piece
                self._begin(self._offset + line, "foreign" if token["ours"] is None else "open")
            elif self._kind == "open":
                self._pass_to(line)
                self._done = min(token.end() + 1, len(self._buffer))
                yield self._entry(token["id"], token["sha"], self._offset + self._done)
        self._pass_to(until)
        self._buffer, self._offset, self._done = (
            self._buffer[until:],
            self._offset + until,
            self._done - until,
        )

    def _pass_to(self, position: int) -> None:
        if position <= self._done:
            return
        if not self._kind:
            self._begin(self._offset + self._done, "foreign")
        if self._kind == "open":
            self._digest.update(memoryview(self._buffer)[self._done : position])
        self._done = position

    def _begin(self, offset: int, kind: Literal["open", "foreign"]) -> None:
        self._start, self._kind, self._digest = offset, kind, hashlib.sha256()

    def _entry(self, id_: bytes, sha: bytes, end: int) -> Piece:
        self._kind = ""
        sha_ok = self._digest.hexdigest() == sha.decode("ascii")
        return Piece("entry", self._start, end - self._start, id_.decode("ascii"), sha_ok)

    def _unfinished(self, end: int) -> Piece | None:
        if not self._kind or end == self._start:
            return None
        return Piece("torn" if self._kind == "open" else "foreign", self._start, end - self._start)

"""Briefings: append-only Markdown files of entries that carry their own hash.

An entry is lines from `## ` to `<!-- handover:end id=<id> sha256=<64 hex> -->`; the hash is over
all bytes before that marker line. Nothing is ever rewritten; bytes that are no entry are foreign
and never read back.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..values.errors import RecordError
from ..values.events import Data
from . import files
from .folder import HandoverFolder

_CHUNK_BYTES = 256 * 1024
_LINE_BYTES = 64 * 1024  # a heading or a marker is far shorter
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEX = re.compile(r"[0-9a-f]{64}")
_HEADING = re.compile(rb"## \d{4}-\d\d-\d\d \d\d:\d\d UTC ")
_MARKER = re.compile(
    rb"<!-- handover:end id=([A-Za-z0-9][A-Za-z0-9._-]{0,63}) sha256=([0-9a-f]{64}) -->\n?"
)
_INNER = re.compile(r"^(?:## |<!-- handover:end)", re.MULTILINE)


@dataclass(frozen=True)
class Plan:
    """Where an entry will stand: `length` bytes from `offset`, a healing line feed included."""

    path: Path
    offset: int
    length: int
    sha256: str
    existed_before: bool

    def to_data(self) -> dict[str, str | int]:
        """The data of a `briefed` event; `path` is a mere name, so that a project can be moved."""
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
    """A stretch of a briefing, in bytes.

    An `entry` has an id and `sha_ok`; `torn` began as an entry and has no end; `foreign` looks like
    none: where a plan covers it, it is the first few bytes of a torn one.
    """

    kind: Literal["entry", "torn", "foreign"]
    offset: int
    length: int
    id: str = ""
    sha_ok: bool = False

    @property
    def end(self) -> int:
        return self.offset + self.length


# --- writing


def seal(handover_id: str, body: str) -> bytes:
    """The bytes of an entry: `body` and its end marker.

    Raises ValueError when `body` does not start with "## " and end in a line feed, or could be read
    as two entries.
    """
    if not _ID.fullmatch(handover_id):
        raise ValueError(f"not an id: {handover_id!r}")
    if not body.startswith("## ") or not body.endswith("\n") or len(_INNER.findall(body)) != 1:
        raise ValueError(
            'an entry starts with its only "## " line, ends in a line feed and holds no end marker'
        )
    text = body.encode("utf-8")
    digest = hashlib.sha256(text).hexdigest()
    return text + f"<!-- handover:end id={handover_id} sha256={digest} -->\n".encode("ascii")


def plan(folder: HandoverFolder, name: str, entry: bytes) -> Plan:
    """Where `entry` will go, to be recorded before it is written.

    The caller holds the folder's lock until `append`. Raises RecordError: path_unsafe, or
    append_failed with the system's reason.
    """
    path = folder.briefing_path(name)
    size, ended = _size_and_end(path)
    content = entry if ended else b"\n" + entry
    digest = hashlib.sha256(content).hexdigest()
    return Plan(path, size or 0, len(content), digest, existed_before=size is not None)


def plan_from_data(folder: HandoverFolder, data: Data) -> Plan:
    """The plan that a `briefed` event recorded. Raises RecordError(path_unsafe) for other data."""
    name, sha256 = data.get("path"), data.get("sha256")
    offset, length = data.get("offset"), data.get("length")
    refusal = RecordError(
        "a briefed event does not say where its entry is", "run `execute.py verify`", "path_unsafe"
    )
    if not isinstance(name, str) or not isinstance(sha256, str) or not _HEX.fullmatch(sha256):
        raise refusal
    if type(offset) is not int or type(length) is not int or offset < 0 or length <= 0:
        raise refusal
    return Plan(folder.briefing_path(name), offset, length, sha256, existed_before=offset > 0)


def append(folder: HandoverFolder, planned: Plan, entry: bytes) -> Written:
    """Write the planned entry with one write and fsync; the caller has held the lock since `plan`.

    Raises RecordError(append_failed): the system's reason, a short write (left as it is, the next
    append heals it), or a file that is no longer as it was planned.
    """
    path = folder.briefing_path(planned.path.name)
    with files.writing(path), files.open_append(path) as file:
        content = entry if planned.length == len(entry) else b"\n" + entry
        size = files.size_of(file)
        if size != planned.offset or hashlib.sha256(content).hexdigest() != planned.sha256:
            raise files.append_failed(path, "the file is not as it was when the entry was planned")
        files.write_whole(file, content, path)
    return Written(path, planned.existed_before, not planned.existed_before, size + len(content))


def stands(path: Path, plans: Iterable[Plan]) -> bool:
    """Whether one of the plans of an entry was carried out, and its bytes stand there still."""
    try:
        with files.reading(path), files.open_read(path) as file:
            return any(_compare(file, planned) for planned in plans)
    except FileNotFoundError:
        return False


def looked_through(path: Path) -> tuple[set[str], dict[bytes, str]]:
    """The hashes that a plan of an entry in this file could have, wherever it stands, and the kind
    of piece that each heading begins ("entry" or "torn"). Nothing without the file."""
    digests: set[str] = set()
    headings: dict[bytes, str] = {}
    with suppress(FileNotFoundError), files.reading(path), files.open_read(path) as file:
        for piece in scan(path):
            if piece.kind == "foreign":
                continue
            for healing in (b"", b"\n"):
                digests.add(files.hash_of(file, piece.offset, piece.length, before=healing))
            heading = os.pread(file.fileno(), min(piece.length, _LINE_BYTES), piece.offset)
            headings[heading.partition(b"\n")[0]] = piece.kind
    return digests, headings


def _compare(file: io.FileIO, planned: Plan) -> bool:
    there = min(planned.length, files.size_of(file) - planned.offset)
    if there <= 0:
        return False
    # A last line feed comes with the next append: written again, the entry would stand twice.
    lacks_end = there == planned.length - 1
    digest = files.hash_of(file, planned.offset, there, after=b"\n" if lacks_end else b"")
    return digest == planned.sha256


def _size_and_end(path: Path) -> tuple[int | None, bool]:
    """Size in bytes (None: no file) and whether the file ends a line."""
    try:
        with files.reading(path), files.open_read(path) as file:
            return files.size_of(file), files.ends_line(file)
    except FileNotFoundError:
        return None, True


# --- reading


def scan(path: Path) -> Iterator[Piece]:
    """The pieces of a briefing in order, together all of its bytes; memory is bounded.

    Raises FileNotFoundError, or RecordError when the file may not be opened or cannot be read.
    """
    with files.reading(path), files.open_read(path) as file:
        yield from _pieces(io.BufferedReader(file, _CHUNK_BYTES))


def _pieces(file: io.BufferedReader) -> Iterator[Piece]:
    kind: Literal["torn", "foreign"] = "foreign"
    start = end = 0
    digest = hashlib.sha256()
    begins_line = True
    while part := file.readline(_LINE_BYTES):
        marker = _MARKER.fullmatch(part) if begins_line and kind == "torn" else None
        if begins_line and part.startswith(b"## "):
            if end > start:
                yield Piece(kind, start, end - start)
            kind = "torn" if _HEADING.match(part) else "foreign"
            start, digest = end, hashlib.sha256()
        end += len(part)
        begins_line = part.endswith(b"\n")
        if marker:
            sha_ok = digest.hexdigest() == marker[2].decode()
            yield Piece("entry", start, end - start, marker[1].decode(), sha_ok)
            kind, start = "foreign", end
        else:
            digest.update(part)
    if end > start:
        yield Piece(kind, start, end - start)

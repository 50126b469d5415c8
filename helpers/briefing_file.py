"""Briefings: append-only Markdown files of entries that carry their own hash.

An entry is lines from `## ` to `<!-- handover:end id=<id> sha256=<64 hex> -->`; the hash is over all bytes before that
marker line. Nothing is ever rewritten; bytes that are no entry are foreign and never read back.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from usr.plugins.software_orchestrator.helpers import paths
from usr.plugins.software_orchestrator.helpers.errors import RecordError
from usr.plugins.software_orchestrator.helpers.paths import HandoverFolder

State = Literal["intact", "torn", "absent"]

_CHUNK_BYTES = 1024 * 1024
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEX = re.compile(r"[0-9a-f]{64}")
_HEADING = b"## "
_END = re.compile(rb"<!-- handover:end id=([A-Za-z0-9][A-Za-z0-9._-]{0,63}) sha256=([0-9a-f]{64}) -->\n")
_OURS = re.compile(rb"## \d{4}-\d\d-\d\d \d\d:\d\d UTC ")
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
        return {"path": self.path.name, "offset": self.offset, "length": self.length, "sha256": self.sha256}


@dataclass(frozen=True)
class Written:
    """What the append did; `size_bytes` is the file's size afterwards."""

    path: Path
    existed_before: bool
    newly_created: bool
    size_bytes: int


@dataclass(frozen=True)
class Piece:
    """A stretch of a briefing, in bytes. An `entry` has an id and `sha_ok`; `torn` began as an entry and has no end."""

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
        raise ValueError('an entry starts with its only "## " line, ends in a line feed and holds no end marker')
    text = body.encode("utf-8")
    return text + f"<!-- handover:end id={handover_id} sha256={hashlib.sha256(text).hexdigest()} -->\n".encode("ascii")


def plan(folder: HandoverFolder, name: str, entry: bytes) -> Plan:
    """Where `entry` will go, to be recorded before it is written; the caller holds the folder's lock until `append`.

    Raises RecordError: path_unsafe, or append_failed with the system's reason.
    """
    path = folder.briefing_path(name)
    size, ended = _size_and_end(path)
    range_bytes = _with_healing(entry, ended)
    return Plan(path, size or 0, len(range_bytes), hashlib.sha256(range_bytes).hexdigest(), size is not None)


def plan_from_data(folder: HandoverFolder, data: Mapping[str, Any]) -> Plan:
    """The plan a `briefed` event recorded. Raises RecordError(path_unsafe) when its data is not one."""
    name, offset, length, sha256 = (data.get(key) for key in ("path", "offset", "length", "sha256"))
    sizes_fit = type(offset) is int and type(length) is int and offset >= 0 and length > 0
    if not (sizes_fit and isinstance(name, str) and isinstance(sha256, str) and _HEX.fullmatch(sha256)):
        raise RecordError("a briefed event does not say where its entry is", "run `execute.py verify`", "path_unsafe")
    return Plan(folder.briefing_path(name), offset, length, sha256, offset > 0)  # type: ignore[arg-type, operator]


def append(folder: HandoverFolder, planned: Plan, entry: bytes) -> Written:
    """Write the planned entry with one write and fsync; the caller has held the folder's lock since `plan`.

    Raises RecordError(append_failed): the system's reason, a short write (left as it is, the next append heals it), or
    a file that is no longer as it was planned.
    """
    path = folder.briefing_path(planned.path.name)
    with paths.writing(path), paths.open_append(path) as file:
        content = entry if planned.length == len(entry) else b"\n" + entry
        size = os.fstat(file.fileno()).st_size
        if size != planned.offset or hashlib.sha256(content).hexdigest() != planned.sha256:
            raise paths.append_failed(path, "the file is not as it was when the entry was planned")
        paths.write_whole(file, content, path)
    return Written(path, planned.existed_before, not planned.existed_before, size + len(content))


def find(folder: HandoverFolder, planned: Plan) -> State:
    """Whether a planned entry stands: intact, torn (other bytes are in its range) or absent (the file ends before)."""
    path = folder.briefing_path(planned.path.name)
    try:
        with paths.open_read(path) as file:
            return _compare(file, planned)
    except FileNotFoundError:
        return "absent"
    except OSError as error:
        raise paths.append_failed(path, error) from error


def _compare(file: io.FileIO, planned: Plan) -> State:
    if os.fstat(file.fileno()).st_size <= planned.offset:
        return "absent"
    file.seek(planned.offset)
    digest, left = hashlib.sha256(), planned.length
    while left and (chunk := file.read(min(left, _CHUNK_BYTES))):
        digest.update(chunk)
        left -= len(chunk)
    return "intact" if not left and digest.hexdigest() == planned.sha256 else "torn"


def _size_and_end(path: Path) -> tuple[int | None, bool]:
    """Size in bytes (None: no file) and whether the file ends a line."""
    try:
        with paths.open_read(path) as file:
            size = os.fstat(file.fileno()).st_size
            return size, size == 0 or os.pread(file.fileno(), 1, size - 1) == b"\n"
    except FileNotFoundError:
        return None, True
    except OSError as error:
        raise paths.append_failed(path, error) from error


def _with_healing(entry: bytes, ended: bool) -> bytes:
    return entry if ended else b"\n" + entry


# --- scanning --------------------------------------------------------------------------------------------------------


def scan(path: Path) -> Iterator[Piece]:
    """The pieces of a briefing in order, together all of its bytes; reads in chunks, whatever the file holds.

    Raises FileNotFoundError, or RecordError(path_unsafe).
    """
    with paths.open_read(path) as file, io.BufferedReader(file, _CHUNK_BYTES) as buffered:
        yield from _pieces(buffered.readline)


def _pieces(readline: Callable[[int], bytes]) -> Iterator[Piece]:
    start, here, kind, digest = 0, 0, "", hashlib.sha256()
    at_line_start = True
    while part := readline(_CHUNK_BYTES):
        marker = _END.fullmatch(part) if at_line_start and kind == "open" else None
        if at_line_start and part.startswith(_HEADING):
            if here > start:
                yield _unfinished(kind, start, here)
            start, kind, digest = here, "open" if _OURS.match(part) else "foreign", hashlib.sha256()
        elif kind == "":
            start, kind = here, "foreign"
        here += len(part)
        if marker:
            sha_ok = digest.hexdigest() == marker[2].decode()
            yield Piece("entry", start, here - start, marker[1].decode(), sha_ok)
            start, kind = here, ""
        else:
            digest.update(part)
        at_line_start = part.endswith(b"\n")
    if here > start:
        yield _unfinished(kind, start, here)


def _unfinished(kind: str, start: int, here: int) -> Piece:
    return Piece("torn" if kind == "open" else "foreign", start, here - start)

"""The ledger of a chain: one JSON event a line, chained by hash, signed by this installation, only ever appended to.

A line is canonical JSON of `schema, id, kind, time, chain, handover, hop, depth, from, to, data, prev, sha, mac`. `sha`
is the sha256 of that JSON without `sha` and `mac` (and without the line feed), `prev` the `sha` of the intact line
before ("" at first), `mac` the HMAC-SHA256 of the 64 hex digits of `sha` with the installation's key. As keys are
sorted, `mac`, `prev`, `schema`, `sha`, `time` and `to` end the line, and a line is verified without being parsed.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import math
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from ..values.events import SCHEMA, Draft, Event
from . import files

LINE_BYTES = 16 * 1024 * 1024
UNTRUSTED_BYTES = 4 * 1024 * 1024  # parsed JSON can be 20 times as large as its text
MOST_FAULTS = 1000

FaultKind = Literal["changed", "missing", "torn", "out_of_order", "foreign", "malformed", "newer"]

_NAME_CHARS = 1000
_SEAL_BYTES = (
    10_000  # mac, prev, sha and twice a name of which every character is escaped as \uXXXX
)
_TAIL_BYTES = 256 * 1024
_CHUNK_BYTES = 1024 * 1024
_MAC = b',"mac":"'
_MAC_TO_PREV, _PREV_TO_SHA = b'","prev":"', b'","schema":%d,"sha":"' % SCHEMA
_SEAL = re.compile(
    rb',"mac":"(?P<mac>[0-9a-f]{64})"'
    rb'(?P<middle>,"prev":"(?P<prev>[0-9a-f]{64}|)","schema":[0-9]{1,9})'
    rb',"sha":"(?P<sha>[0-9a-f]{64})"'
    rb'(?P<end>,"time":"[^"\\]*","to":"[^"\\]*(?:\\.[^"\\]*)*"\})'
)
_EVENT_ID = re.compile(r"ev-[0-9a-f]{16}")
_KIND_NAME = re.compile(r"[a-z_]{1,40}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_STRINGS = ("id", "kind", "time", "chain", "handover", "from", "to", "prev")
_NUMBERS = ("schema", "hop", "depth")
_KEYS = frozenset((*_STRINGS, *_NUMBERS, "data"))

Json = dict[str, Any]


# --- values ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """Something wrong in a record; `where` is `<file name>:<line>`, `detail` one printable line. foreign is a note."""

    kind: FaultKind
    where: str
    detail: str


@dataclass(frozen=True)
class Reading:
    """A ledger as it stands: intact events in the order of the file, faults, and if the last line lacks its end."""

    events: tuple[Event, ...] = ()
    faults: tuple[Fault, ...] = ()
    torn: bool = False
    size: int = 0


def canonical(obj: Any) -> str:
    """JSON with sorted keys, no spaces, not ASCII-escaped. Raises ValueError or TypeError for what is not JSON."""
    return json.dumps(
        obj, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def utc_now() -> datetime:
    """The usual clock."""
    return datetime.now(UTC)


def random_id(prefix: str) -> str:
    """`<prefix>-<16 hex>`."""
    return f"{prefix}-{secrets.token_hex(8)}"


# --- the ledger ------------------------------------------------------------------------------------------------------


class Ledger:
    """One chain's file; its name is the chain's id. It keeps nothing in memory."""

    def __init__(
        self,
        path: Path,
        key: bytes,
        *,
        clock: Callable[[], datetime] = utc_now,
        new_id: Callable[[str], str] = random_id,
    ) -> None:
        self.path = path
        self.key = key
        self._clock = clock
        self._new_id = new_id

    def read(self) -> Reading:
        """Everything in the file; what is wrong in it is told, never raised, and memory stays bounded.

        Raises RecordError only when the file may not be opened (path_unsafe, or the system's reason).
        """
        try:
            with files.reading(self.path), files.open_read(self.path) as file:
                return _Reader(self.path, self.key).read(file)
        except FileNotFoundError:
            return Reading()

    def append(self, drafts: Sequence[Draft]) -> tuple[Event, ...]:
        """Append all of `drafts` with one write and fsync; the caller holds the folder's lock.

        A torn last line is ended first and left. Cost does not grow with the file while its end is intact. Raises
        RecordError(append_failed); ValueError or TypeError, before anything is written, for data that is not JSON.
        """
        if not drafts:
            return ()
        prev, healing = self._end()
        made = self._seal_all(drafts, prev)
        with files.writing(self.path), files.open_append(self.path) as file:
            files.write_whole(file, healing + b"".join(line for line, _ in made), self.path)
        return tuple(event for _, event in made)

    def _end(self) -> tuple[str, bytes]:
        """The sha of the last intact line ("" without one), and the line feed that a torn last line still needs."""
        with files.writing(self.path):
            try:
                file = files.open_read(self.path)
            except FileNotFoundError:
                return "", b""
            with file:
                size = os.fstat(file.fileno()).st_size
                ended = size == 0 or os.pread(file.fileno(), 1, size - 1) == b"\n"
                return _last_sha(file, size), b"" if ended else b"\n"

    def _seal_all(self, drafts: Sequence[Draft], prev: str) -> tuple[tuple[bytes, Event], ...]:
        made: list[tuple[bytes, Event]] = []
        for one in drafts:
            made.append(self._seal(one, made[-1][1].sha if made else prev))
        return tuple(made)

    def _seal(self, one: Draft, prev: str) -> tuple[bytes, Event]:
        if one.chain != self.path.stem:
            raise ValueError(
                f"an event of chain {one.chain!r} does not belong into {self.path.name}"
            )
        body = {
            "schema": SCHEMA,
            "id": self._new_id("ev"),
            "kind": one.kind,
            "time": self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "chain": one.chain,
            "handover": one.handover,
            "hop": one.hop,
            "depth": one.depth,
            "from": one.sender,
            "to": one.receiver,
            "data": dict(one.data),
            "prev": prev,
        }
        if wrong := _wrong(body):
            raise ValueError(f"not an event: {wrong}")
        sha = hashlib.sha256(_encoded(body)).hexdigest()
        mac = _mac(self.key, sha)
        line = _encoded({**body, "sha": sha, "mac": mac}) + b"\n"
        if len(line) > LINE_BYTES:
            raise files.append_failed(
                self.path, f"an event of {len(line):,} bytes is over the limit of {LINE_BYTES:,}"
            )
        return line, _event(json.loads(_encoded(body)), sha, mac, trusted=True)


def snapshot(ledger: Ledger, prepared: Draft, *, before: Sequence[Draft] = ()) -> tuple[Event, ...]:
    """Record the `prepared` event: the snapshot of seed 001, before anything else of a handover is written.

    `before` are events that belong to the same moment (superseded, decline_lifted); all are written at once.
    """
    if prepared.kind != "prepared":
        raise ValueError(f"a snapshot is a prepared event, not {prepared.kind!r}")
    return ledger.append((*before, prepared))


def _encoded(obj: Json) -> bytes:
    try:
        return canonical(obj).encode("utf-8")
    except RecursionError as error:
        raise ValueError("the data is nested too deeply") from error


def _mac(key: bytes, sha: str) -> str:
    return hmac.new(key, sha.encode("ascii"), hashlib.sha256).hexdigest()


def _event(body: Json, sha: str, mac: str, trusted: bool) -> Event:
    same = {name: body[name] for name in _KEYS - {"from", "to"}}
    return Event(
        **same, sender=body["from"], receiver=body["to"], sha=sha, mac=mac, trusted=trusted
    )


def _wrong(body: Any) -> str:
    """What keeps a parsed line (without sha and mac) from being an event, or ""."""
    if not isinstance(body, dict):
        return "not an object"
    if body.keys() != _KEYS:
        return "keys are missing or unknown"
    for name in _STRINGS:
        if not isinstance(body[name], str) or len(body[name]) > _NAME_CHARS:
            return f"`{name}` is not a text of at most {_NAME_CHARS:,} characters"
    for name in _NUMBERS:
        if type(body[name]) is not int or not 0 <= body[name] <= 1_000_000_000:
            return f"`{name}` is not a number from 0 to 1,000,000,000"
    if not isinstance(body["data"], dict):
        return "`data` is not an object"
    forms = (("id", _EVENT_ID), ("kind", _KIND_NAME), ("time", _TIME))
    return next(
        (f"`{name}` has another form" for name, form in forms if not form.fullmatch(body[name])), ""
    )


# --- reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sealed:
    """A line whose sha is right."""

    body: bytes
    prev: str
    sha: str
    mac: str


def _unseal(line: bytes) -> _Sealed | Literal["malformed", "changed"]:
    at = line.rfind(_MAC)
    seal = _SEAL.fullmatch(line, at) if at >= 0 and len(line) - at <= _SEAL_BYTES else None
    if seal is None:
        return "malformed"
    body = line[:at] + seal["middle"] + seal["end"]
    sha = seal["sha"].decode()
    if hashlib.sha256(body).hexdigest() != sha:
        return "changed"
    return _Sealed(body, seal["prev"].decode(), sha, seal["mac"].decode())


def flawless(content: bytes, chain: str, key: bytes) -> list[tuple[bytes, int, int]] | None:
    """The lines of a ledger in which each has its sha, its link and this installation's mac; None when that does not hold.

    Such a line is an event without being parsed, which makes this several times as fast as `Ledger.read`; that tells what is
    wrong where this says None. A line is (kind, offset of the kind's name in `content`, offset of the line).
    """
    # Written for speed: what stands around a line's mac stands at fixed places, nothing long is copied, a copied hash object
    # is cheaper than a new one, and HMAC (RFC 2104) hashes its key once.
    if content and content[-1] != 10:
        return None
    find, rfind, is_at = content.find, content.rfind, content.startswith
    empty, (inner, outer) = hashlib.sha256(), _hmac_states(key)
    start = b'{"chain":"%b",' % chain.encode()
    view, prev, here, found = memoryview(content), b"", 0, []
    while (end := find(b"\n", here)) >= 0:
        seal = rfind(_MAC, here, end)
        between = _MAC_TO_PREV + prev + _PREV_TO_SHA
        sha = seal + 72 + len(between)  # ,"mac":"<64>
        digest, first, second = empty.copy(), inner.copy(), outer.copy()
        digest.update(view[here:seal])
        digest.update(between[1:-8] + content[sha + 65 : end])  # without ,"sha":"
        prev = digest.hexdigest().encode()
        first.update(prev)
        second.update(first.digest())
        if not is_at(start, here) or not is_at(
            second.hexdigest().encode() + between + prev + b'"', seal + 8
        ):
            return None
        kind = rfind(b'"', here, seal - 1) + 1
        found.append((content[kind : seal - 1], kind, here))
        here = end + 1
    return found


@lru_cache(maxsize=2)
def _hmac_states(key: bytes) -> tuple[Any, Any]:
    """SHA-256 after the inner and the outer padded key; `key` has at most 64 bytes."""
    padded = key.ljust(64, b"\0")
    return hashlib.sha256(bytes(b ^ 0x36 for b in padded)), hashlib.sha256(
        bytes(b ^ 0x5C for b in padded)
    )


@dataclass(frozen=True)
class _Line:
    """`content` without the line feed, cut to `LINE_BYTES`; `length` as in the file; `ended` by a line feed or not."""

    number: int
    content: bytes
    length: int
    ended: bool


def _lines(file: io.FileIO) -> Iterator[_Line]:
    """Lines from the file's position on; of a longer line than `LINE_BYTES` only the start is kept."""
    buffered, number = io.BufferedReader(file, _CHUNK_BYTES), 0
    while content := buffered.readline(LINE_BYTES + 1):
        number += 1
        length, ended = len(content), content.endswith(b"\n")
        while not ended and (more := buffered.readline(_CHUNK_BYTES)):
            length, ended = length + len(more), more.endswith(b"\n")
        yield _Line(number, content[:LINE_BYTES].removesuffix(b"\n"), length, ended)
    buffered.detach()  # the file is the caller's to close


class _Reader:
    """One reading of one ledger: collects events and faults, then compares the links."""

    def __init__(self, path: Path, key: bytes) -> None:
        self._path = path
        self.key = key
        self._events: list[Event] = []
        self._faults: list[Fault] = []
        self._more_faults = 0
        self._links: list[
            tuple[int, str, str, bool]
        ] = []  # line, prev, sha, a broken line stood just before
        self._seen: set[str] = set()
        self._broken = False
        self._untrusted_left = UNTRUSTED_BYTES

    def read(self, file: io.FileIO) -> Reading:
        size, ended = 0, True
        for line in _lines(file):
            size, ended = size + line.length, line.ended
            self._take(line)
        self._compare_links()
        if self._more_faults:
            self._faults.append(
                Fault("malformed", self._path.name, f"and {self._more_faults:,} more faults")
            )
        return Reading(tuple(self._events), tuple(self._faults), not ended, size)

    def _take(self, line: _Line) -> None:
        if line.length > LINE_BYTES:
            return self._break("malformed", line, f"a line of {line.length:,} bytes")
        sealed = _unseal(line.content)
        if isinstance(sealed, str):
            torn = sealed == "malformed" and line.content[:1] == b"{" and line.content[-1:] != b"}"
            what = (
                "not a whole line"
                if torn
                else "not an event"
                if sealed == "malformed"
                else "does not match its sha"
            )
            return self._break("torn" if torn else sealed, line, what)
        if sealed.sha in self._seen:
            return self._fault("out_of_order", line.number, "stands here a second time")
        return self._take_sealed(line, sealed)

    def _take_sealed(self, line: _Line, sealed: _Sealed) -> None:
        trusted = hmac.compare_digest(_mac(self.key, sealed.sha), sealed.mac)
        if not trusted:
            self._untrusted_left -= len(sealed.body)
            if self._untrusted_left < 0:
                return self._break("foreign", line, "more of another installation than is read")
        self._seen.add(sealed.sha)
        self._links.append((line.number, sealed.prev, sealed.sha, self._broken))
        self._broken = False
        body = _parsed(sealed.body)
        if isinstance(body, str):
            newer = "newer" in body
            return self._fault("newer" if newer else "malformed", line.number, body)
        return self._keep(line, _event(body, sealed.sha, sealed.mac, trusted))

    def _keep(self, line: _Line, event: Event) -> None:
        if event.chain != self._path.stem:
            self._fault("foreign", line.number, f"belongs to chain {event.chain[:120]!r}")
            event = replace(event, trusted=False)
        elif not event.trusted:
            self._fault("foreign", line.number, "written by another installation")
        self._events.append(event)

    def _break(self, kind: FaultKind, line: _Line, detail: str) -> None:
        self._broken = True
        self._fault(kind, line.number, detail)

    def _fault(self, kind: FaultKind, number: int, detail: str) -> None:
        if len(self._faults) >= MOST_FAULTS:
            self._more_faults += 1
        else:
            self._faults.append(Fault(kind, f"{self._path.name}:{number}", detail))

    def _compare_links(self) -> None:
        before = ""
        for number, prev, sha, broken in self._links:
            if prev != before and prev in self._seen:
                self._fault("out_of_order", number, "follows another line than the one before it")
            elif prev != before and not broken:
                self._fault("missing", number, "the line before it is missing")
            before = sha


def _parsed(body: bytes) -> Json | str:
    """The event's members without sha and mac, or what is wrong with them."""
    try:
        parsed = json.loads(body.decode("utf-8"), parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        return "not JSON that can be read"
    if isinstance(parsed, dict) and type(parsed.get("schema")) is int and parsed["schema"] > SCHEMA:
        return f"schema {parsed['schema']} is newer than {SCHEMA}, the one this version reads"
    return _wrong(parsed) or parsed


def _finite(text: str) -> float:
    if math.isfinite(number := float(text)):
        return number
    raise ValueError(f"{text[:20]} is not JSON")


def _last_sha(file: io.FileIO, size: int) -> str:
    """The sha of the last intact line, or "": from the file's end, or from all of it when the end does not tell."""
    for window in (_TAIL_BYTES, LINE_BYTES + _TAIL_BYTES):
        tail = os.pread(file.fileno(), window, max(0, size - window))
        for content in reversed(
            tail.split(b"\n")
        ):  # a first line that the window cuts does not match its sha
            if isinstance(sealed := _unseal(content), _Sealed):
                return sealed.sha
        if size <= window:
            return ""
    file.seek(0)
    last = ""
    for line in _lines(file):
        if line.length <= LINE_BYTES and isinstance(sealed := _unseal(line.content), _Sealed):
            last = sealed.sha
    return last

"""A line of a ledger: canonical JSON of an event, its hash and its signature.

`sha` is the sha256 of the JSON of `by, schema, id, kind, time, chain, handover, hop, depth, from,
to, data, prev` without the line feed, `prev` the `sha` of the intact line before ("" at first),
`mac` the HMAC-SHA256 of the 64 hex digits of `sha`, and those of `sig` where it has one, with the
installation's key, `by` (not there without a key pair) its fingerprint; `sig` ends a write
(`signature`). As keys are sorted, `mac`,
`prev`, `schema`, `sha`, `sig`, `time` and `to` end the line: it is verified without being parsed.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import math
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from ..values.events import SCHEMA, Event
from .files import size_of

LINE_BYTES = 16 * 1024 * 1024
MAC = b',"mac":"'

Json = dict[str, JsonValue]

_TAIL_BYTES = 256 * 1024
_CHUNK_BYTES = 1024 * 1024
# mac, prev, sha and twice a name of which every character is escaped as \uXXXX
_SEAL_BYTES = 10_000
_SEAL = re.compile(
    rb',"mac":"(?P<mac>[0-9a-f]{64})"'
    rb'(?P<middle>,"prev":"(?P<prev>[0-9a-f]{64}|)","schema":[0-9]{1,9})'
    rb',"sha":"(?P<sha>[0-9a-f]{64})"'
    rb'(,"sig":"(?P<sig>[0-9a-f]{128})")?'
    rb'(?P<end>,"time":"[^"\\]*","to":"[^"\\]*(?:\\.[^"\\]*)*"\})'
)
_BY = re.compile(rb'\{"by":"([0-9a-f]{32})",')
_NAME = re.compile(r".{0,1000}", re.DOTALL)
_TEXTS = {
    "id": re.compile(r"ev-[0-9a-f]{16}"),
    "kind": re.compile(r"[a-z_]{1,40}"),
    "time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"),
    **dict.fromkeys(("chain", "handover", "from", "to", "prev"), _NAME),
}
_NUMBERS = ("schema", "hop", "depth")
_KEYS = frozenset((*_TEXTS, *_NUMBERS, "data"))
_FINGERPRINT = re.compile(r"[0-9a-f]{32}")


class NewerError(ValueError):
    """A line of a newer version's schema."""


def canonical(value: object) -> str:
    """JSON with sorted keys, no spaces, not ASCII-escaped.

    Raises ValueError or TypeError for what is not JSON.
    """
    try:
        return json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
    except RecursionError as error:
        raise ValueError("the data is nested too deeply") from error


# --- sealing


def seal(
    body: Json, key: bytes, signed: Callable[[str], str] = lambda sha: ""
) -> tuple[bytes, Event]:
    """The line of an event, without line feed, and the event that will be read from it.

    `signed` gives the `sig` of the line with that sha, "" for none. Raises ValueError or TypeError
    for a body that is no event.
    """
    _check(body)
    encoded = canonical(body).encode()
    sha = hashlib.sha256(encoded).hexdigest()
    sig = signed(sha)
    mac = mac_of(key, sha, sig)
    ends: Json = {"sha": sha, "mac": mac, **({"sig": sig} if sig else {})}
    line = canonical({**body, **ends}).encode()
    return line, _event(json.loads(encoded), sha, mac, trusted=True)


def mac_of(key: bytes, sha: str, sig: str) -> str:
    """64 hex digits."""
    return hmac.new(key, (sha + sig).encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Sealed:
    """A line whose sha is right; `body` is what the sha is over, `by` and `sig` may be ""."""

    body: bytes
    by: str
    prev: str
    sha: str
    mac: str
    sig: str

    def event(self, trusted: bool, name: str = "") -> Event:
        """`name` is that of the trusted installation that wrote it.

        Raises NewerError; ValueError that says why it is none.
        """
        try:
            text = self.body.decode("utf-8")
            members = json.loads(text, parse_float=_finite, parse_constant=_finite)
        except (ValueError, RecursionError):
            raise ValueError("not JSON that can be read") from None
        _check(members)
        return _event(members, self.sha, self.mac, trusted, name)


def unseal(content: bytes) -> Sealed | None:
    """None for what has no seal at its end, or another sha."""
    start = content.rfind(MAC)
    if start < 0 or len(content) - start > _SEAL_BYTES:
        return None
    parts = _SEAL.fullmatch(content, start)
    if parts is None:
        return None
    body = content[:start] + parts["middle"] + parts["end"]
    sha = parts["sha"].decode()
    if hashlib.sha256(body).hexdigest() != sha:
        return None
    by = _BY.match(content)
    return Sealed(
        body,
        by[1].decode() if by else "",
        parts["prev"].decode(),
        sha,
        parts["mac"].decode(),
        (parts["sig"] or b"").decode(),
    )


def _event(body: Json, sha: str, mac: str, trusted: bool, name: str = "") -> Event:
    members = {name: value for name, value in body.items() if name not in ("from", "to")}
    ends = {"sender": body["from"], "receiver": body["to"]}
    seals = {"sha": sha, "mac": mac, "trusted": trusted, "name": name}
    return Event(**members, **ends, **seals)  # type: ignore[arg-type]


def _check(body: JsonValue) -> None:
    """Raises ValueError that says what keeps a body from being an event's, NewerError."""
    if not isinstance(body, dict):
        raise ValueError("not an event: not an object")
    schema = body.get("schema")
    if type(schema) is int and schema > SCHEMA:
        raise NewerError(f"schema {schema} is newer than {SCHEMA}, the one this version reads")
    by = body.get("by", "0" * 32)
    if not isinstance(by, str) or not _FINGERPRINT.fullmatch(by):
        raise ValueError("not an event: `by` is no fingerprint")
    if body.keys() - {"by"} != _KEYS or not isinstance(body["data"], dict):
        raise ValueError("not an event: keys are missing or unknown")
    for name, form in _TEXTS.items():
        text = body[name]
        if not isinstance(text, str) or not form.fullmatch(text):
            raise ValueError(f"not an event: `{name}` has another form")
    for name in _NUMBERS:
        number = body[name]
        if type(number) is not int or not 0 <= number <= 1_000_000_000:
            raise ValueError(f"not an event: `{name}` is no number that it could be")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is not JSON")
    return number


# --- lines of a file


@dataclass(frozen=True)
class Line:
    """`content` without the line feed, cut to `LINE_BYTES`; `length` as in the file."""

    number: int
    content: bytes
    length: int
    ended: bool

    def unseal(self) -> Sealed | None:
        """None also for what is too long."""
        return unseal(self.content) if self.length <= LINE_BYTES else None


def lines(file: io.FileIO) -> Iterator[Line]:
    """From the file's position on; of a longer line than `LINE_BYTES` only the start is kept."""
    buffered = io.BufferedReader(file, _CHUNK_BYTES)
    number = 0
    while content := buffered.readline(LINE_BYTES + 1):
        number += 1
        length, ended = len(content), content.endswith(b"\n")
        while not ended and (more := buffered.readline(_CHUNK_BYTES)):
            length += len(more)
            ended = more.endswith(b"\n")
        yield Line(number, content[:LINE_BYTES].removesuffix(b"\n"), length, ended)
    buffered.detach()  # the file is the caller's to close


def last_sha(file: io.FileIO) -> str:
    """Of the last intact line, or "": from the file's end, or from all of it if need be."""
    size = size_of(file)
    for window in (_TAIL_BYTES, LINE_BYTES + _TAIL_BYTES):
        tail = os.pread(file.fileno(), window, max(0, size - window))
        # A first line that the window cuts does not match its sha.
        for content in reversed(tail.split(b"\n")):
            if sealed := unseal(content):
                return sealed.sha
        if size <= window:
            return ""
    file.seek(0)
    sha = ""
    for line in lines(file):
        if sealed := line.unseal():
            sha = sealed.sha
    return sha

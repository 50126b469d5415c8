"""The quick check of a ledger: it only says yes, several times as fast as `Ledger.read`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ..values.events import SCHEMA
from ..values.trust import Trusted
from . import signature
from .identity import fingerprint, verified
from .line import MAC, unseal

if TYPE_CHECKING:
    from hashlib import _Hash

Others = Mapping[str, Trusted]

_BY = re.compile(rb'\{"by":"([0-9a-f]{32})"')
_SIG, _SIG_HEX = b',"sig":"', re.compile(rb"([0-9a-f]{128})?")
_SIG_BYTES = len(_SIG) + 128 + 1
_MAC_HEX = re.compile(rb'[0-9a-f]{64}"')
_AFTER_MAC, _BEFORE_SHA = b'","prev":"', b'","schema":%d,"sha":"' % SCHEMA


class Lines(NamedTuple):
    """The lines of a flawless file: (kind, offset of the kind's name, offset of the line) of each, and
    how many bytes of a line stand before its `data`. `by` is "" where the lines name nobody."""

    lines: list[tuple[bytes, int, int]]
    data_from: int
    by: str


def flawless(content: bytes, chain: str, keys: Sequence[bytes], others: Others) -> Lines | None:
    """The lines of a ledger in which each has its sha, its link, and the mac of one of `keys`, or all
    are signed by one of `others` (trusted installations by their fingerprints); None when that does
    not hold.

    Such a line is an event without being parsed; `Ledger.read` tells what is wrong where this says
    None.
    """
    found = _BY.match(content)
    by = found[1].decode() if found else ""
    start = b'{"by":"%b","chain":"%b",' if by else b'{%b"chain":"%b",'
    line_start = start % (by.encode(), chain.encode())
    for key in keys:
        if by in ("", fingerprint(key)):
            lines = _lines(content, line_start, key)
            if lines is not None:
                return Lines(lines, len(line_start), by)
    if by in others:
        shas: list[bytes] = []
        lines = _lines(content, line_start, b"", shas)
        if lines and _is_signed(content, chain, shas, others[by]):
            return Lines(lines, len(line_start), by)
    return None


def _is_signed(content: bytes, chain: str, shas: Sequence[bytes], other: Trusted) -> bool:
    """The last `sig` is over all of the file."""
    sealed = unseal(content[content.rfind(b"\n", 0, -1) + 1 : -1])
    if sealed is None:
        return False
    own = signature.run_over(map(bytes.decode, shas))
    return verified(other.key, signature.content(chain, own), sealed.sig)


def _lines(
    content: bytes, line_start: bytes, key: bytes, shas: list[bytes] | None = None
) -> list[tuple[bytes, int, int]] | None:
    """With `shas` these are gathered and no mac is checked."""
    # Written for speed: what stands around a line's mac stands at fixed places, nothing long is
    # copied, a copied hash object is cheaper than a new one, HMAC (RFC 2104) hashes its key once.
    if content and content[-1] != 10:
        return None
    find, rfind, stands_at = content.find, content.rfind, content.startswith
    empty = hashlib.sha256()
    inner, outer = _hmac_states(key)
    view = memoryview(content)
    lines = []
    prev = b""
    start = 0
    while (end := find(b"\n", start)) >= 0:
        mac = rfind(MAC, start, end)
        between = _AFTER_MAC + prev + _BEFORE_SHA
        sha = mac + 72 + len(between)  # ,"mac":"<64 hex>
        rest = sha + 65
        sig = b""
        if stands_at(_SIG, rest):
            sig = content[rest + len(_SIG) : rest + _SIG_BYTES - 1]
            rest += _SIG_BYTES
            if content[rest - 1] != 34:  # the closing quote
                return None
        digest = empty.copy()
        digest.update(view[start:mac])
        digest.update(between[1:-8] + content[rest:end])  # without ,"sha":"<64 hex>"
        prev = digest.hexdigest().encode()
        if shas is None:
            first, second = inner.copy(), outer.copy()
            first.update(prev + sig)
            second.update(first.digest())
            seal = second.hexdigest().encode() + between + prev + b'"'
        else:
            shas.append(prev)
            if not _MAC_HEX.match(content, mac + 8) or not _SIG_HEX.fullmatch(sig):
                return None
            seal = content[mac + 8 : mac + 72] + between + prev + b'"'
        if not stands_at(line_start, start) or not stands_at(seal, mac + 8):
            return None
        kind = rfind(b'"', start, mac - 1) + 1
        lines.append((content[kind : mac - 1], kind, start))
        start = end + 1
    return lines


@lru_cache(maxsize=2)
def _hmac_states(key: bytes) -> tuple[_Hash, _Hash]:
    """SHA-256 after the inner and the outer padded key; `key` has at most 64 bytes."""
    padded = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded))
    outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in padded))
    return inner, outer

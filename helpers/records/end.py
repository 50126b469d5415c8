"""The end mark of a ledger, kept beside it: the sha of its last event, and how many are ours.

Events name the one before, so a line taken out of the middle is missed; the last ones are missed by
this file alone, and so are a ledger that is gone and a line whose signature was spoilt. It is
written after the ledger and read before it, so it never tells of an event that was not there: an
older mark is still true, and one that is not signed here says nothing.
"""

from __future__ import annotations

import hmac
import io
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from . import files

SUFFIX = ".end"
_MOST_BYTES = 300

_MARK = re.compile(rb"(([0-9a-f]{64}) ([0-9]{1,12}) ([0-9a-f]{64}|-)) ([0-9a-f]{64})\n")


class End(NamedTuple):
    """`sha` of the last event written here, "" where nothing says it; `own` events stand here, and
    `run` is what the last of them was signed over (`signature`), "" where nothing is signed."""

    sha: str = ""
    own: int = 0
    run: str = ""


def path_of(ledger: Path) -> Path:
    return ledger.with_suffix(SUFFIX)


def read(ledger: Path, keys: Iterable[bytes]) -> End:
    """The mark that one of these keys signed. Raises RecordError when it may not be opened or
    cannot be read."""
    path = path_of(ledger)
    try:
        with files.reading(path), files.open_read(path) as file:
            return read_from(file, ledger.name, keys)
    except FileNotFoundError:
        return End()


def read_from(file: io.FileIO, ledger_name: str, keys: Iterable[bytes]) -> End:
    """As `read`, of the mark's file. Raises OSError."""
    content = file.read(_MOST_BYTES)
    mark = _MARK.match(content)
    if mark is None:
        return End()
    is_ours = any(hmac.compare_digest(mark[5], _signed(mark[1], ledger_name, key)) for key in keys)
    if not is_ours:
        return End()
    run = "" if mark[4] == b"-" else mark[4].decode()
    return End(mark[2].decode(), int(mark[3]), run)


def write(ledger: Path, key: bytes, end: End) -> None:
    """After an append; not synced, because an older mark is still true. Raises OSError."""
    said = b"%b %d %b" % (end.sha.encode(), end.own, (end.run or "-").encode())
    flags = os.O_WRONLY | os.O_CREAT
    with files.directory(ledger.parent) as folder:
        name = path_of(ledger).name
        descriptor = files.open_regular(name, flags, folder, mode=files.OWNER_ONLY)
    with io.FileIO(descriptor, "wb") as file:
        os.pwrite(file.fileno(), b"%b %b\n" % (said, _signed(said, ledger.name, key)), 0)


def _signed(said: bytes, ledger_name: str, key: bytes) -> bytes:
    mac = hmac.new(key, b"end of %b: %b" % (ledger_name.encode(), said), "sha256")
    return mac.hexdigest().encode()

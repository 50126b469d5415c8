"""The one lock of a handover folder, against other processes and other threads.

flock(2) on a descriptor of our own, opened like every other file here: a lock by path would look
first and open then, and what was put in its place in between would be opened, even truncated.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..values.errors import RecordError
from .files import OWNER_ONLY, append_failed, open_append, stamp, writing

_PAUSE_S = 0.01
_NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)


@contextmanager
def held(path: Path, timeout_s: float) -> Iterator[None]:
    """Hold the lock file `path`, made when it is not there; not re-entrant.

    Raises RecordError: append_failed when the lock is not had within `timeout_s` seconds, at once
    where the file system has no locks; path_unsafe when the lock file is not a plain file.
    """
    with writing(path):
        file = _acquired(path, timeout_s)
    try:
        yield
    finally:
        # Unlocked before it is closed: a child that was forked meanwhile has a copy of it open.
        fcntl.flock(file, fcntl.LOCK_UN)
        file.close()


def _acquired(path: Path, timeout_s: float) -> io.FileIO:
    deadline = time.monotonic() + timeout_s
    while True:
        file = open_append(path, OWNER_ONLY)
        try:
            if _locked(file, path) and _stands(file, path):
                return file
        except BaseException:
            file.close()
            raise
        file.close()
        if time.monotonic() >= deadline:
            raise _not_had(path, timeout_s)
        time.sleep(_PAUSE_S)


def _locked(file: io.FileIO, path: Path) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in _NO_LOCKS:
            raise append_failed(path, "the file system of this folder has no file locks") from error
        raise
    return True


def _stands(file: io.FileIO, path: Path) -> bool:
    """Whether it still has the name: who finds another file there would not wait for us."""
    locked, named = os.fstat(file.fileno()), stamp(path)
    return (locked.st_dev, locked.st_ino) == (named.device, named.inode)


def _not_had(path: Path, timeout_s: float) -> RecordError:
    return RecordError(
        f"failed to append briefing file: the lock {path} was not free within {timeout_s:g} s",
        "another handover may be writing: try again; if nothing runs, a process on another machine"
        " may hold it",
        "append_failed",
    )

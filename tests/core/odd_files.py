"""What can stand where a plain file is expected, and a system that says no."""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from usr.plugins.software_orchestrator.helpers.values.errors import RecordError

NOBODY = 65534


def refused(code: str, action: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """The text of the RecordError with this code that the action raises."""
    with pytest.raises(RecordError) as caught:
        action(*args, **kwargs)
    assert caught.value.code == code
    return str(caught.value)


def _socket(path: Path, outside: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket is at most about 100 characters long
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


# Each makes something at `path`; where it can lead elsewhere, to `outside`.
ODD: dict[str, Callable[[Path, Path], Any]] = {
    "link": lambda path, outside: path.symlink_to(outside),
    "dangling link": lambda path, outside: path.symlink_to(outside.with_name("nothing")),
    "hard link": lambda path, outside: path.hardlink_to(outside),
    "fifo": lambda path, outside: os.mkfifo(path),
    "folder": lambda path, outside: path.mkdir(),
    "socket": _socket,
}


@contextmanager
def full_disk(free_bytes: int = 0) -> Iterator[None]:
    """Nothing can be written beyond so many bytes of a file."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (free_bytes, limit[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)


@contextmanager
def without_rights(*folders: Path) -> Iterator[None]:
    """Folders that cannot be written, also when the tests run as root.

    Others must be able to reach them: pytest's own folders are closed to others.
    """
    modes = {}
    for folder in folders:
        for one in folder.parents:
            if one.stat().st_uid == os.geteuid() and not one.stat().st_mode & 0o001:
                modes.setdefault(one, one.stat().st_mode)
                one.chmod(0o755)
    is_root = os.geteuid() == 0
    for folder in folders:
        modes.setdefault(folder, folder.stat().st_mode)
        folder.chmod(0o555)
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        for one, mode in modes.items():
            one.chmod(mode)

"""The secret key of this installation, with which it signs what it records."""

from __future__ import annotations

import io
import logging
import os
import secrets
from pathlib import Path

from ..values.errors import RecordError
from .files import OWNER_ONLY, create_once, directory, exists, narrow, open_regular

KEY_BYTES = 32
_TWO_NAMES = 2  # between link and unlink the maker's temporary name still stands

log = logging.getLogger(__name__)


def installation_key(plugin_root: Path) -> bytes:
    """The 32 secret bytes of `data/installation.key` (mode 600), made at the first call.

    Any number of processes may call it at once: all get the same key. One that others could read is
    taken from them, with a warning in the log. Raises RecordError when the key cannot be made, read
    or taken from others, or has another length; a key is never replaced.
    """
    path = plugin_root / "data" / "installation.key"
    try:
        path.parent.mkdir(exist_ok=True)
        with directory(path.parent) as folder:
            if not exists(path.name, folder):
                create_once(path.name, secrets.token_bytes(KEY_BYTES), OWNER_ONLY, folder)
            key = _read(path, folder)
    except OSError as error:
        raise RecordError(
            f"cannot read or make {path}: {error.strerror}",
            "make it a file of the host's user with mode 600",
        ) from error
    if len(key) != KEY_BYTES:
        count = len(key) if len(key) < KEY_BYTES else "more"
        raise RecordError(
            f"{path} must hold {KEY_BYTES} bytes and holds {count}",
            "restore it from a backup, or remove it: earlier chains then count as another"
            " installation's",
        )
    return key


def _read(path: Path, folder: int) -> bytes:
    descriptor = open_regular(path.name, os.O_RDONLY, folder, most_names=_TWO_NAMES)
    with io.FileIO(descriptor, "rb") as file:
        if narrow(file):
            log.warning(
                "%s could be read by others; its mode is 600 now. Who read it can sign events in"
                " this installation's name: remove it for a new one if that may have happened.",
                path,
            )
        return file.read(KEY_BYTES + 1)

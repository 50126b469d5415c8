"""The secret key of this installation, with which it signs what it records."""

from __future__ import annotations

import io
import os
import secrets
from pathlib import Path

from ..values.errors import RecordError
from .files import create_once, directory, exists, open_regular

KEY_BYTES = 32


def installation_key(plugin_root: Path) -> bytes:
    """This installation's 32 secret bytes, `data/installation.key` (mode 600), made at the first call.

    Any number of processes may call it at once: all get the same key. Raises RecordError when the key cannot be made or
    read, or has another length; a key is never replaced.
    """
    path = plugin_root / "data" / "installation.key"
    try:
        path.parent.mkdir(exist_ok=True)
        with directory(path.parent) as at:
            if not exists(path.name, at):
                create_once(path.name, secrets.token_bytes(KEY_BYTES), 0o600, at)
            key = _read_key(path.name, at)
    except OSError as error:
        raise RecordError(
            f"cannot read or make {path}: {error.strerror}", "make it readable for the host"
        ) from error
    if len(key) != KEY_BYTES:
        raise RecordError(
            f"{path} must hold {KEY_BYTES} bytes and holds {len(key) if len(key) < KEY_BYTES else 'more'}",
            "restore it from a backup, or remove it: earlier chains then count as another installation's",
        )
    return key


def _read_key(name: str, at: int) -> bytes:
    # A second name is allowed: between link and unlink the maker's temporary name still exists.
    with io.FileIO(open_regular(name, os.O_RDONLY, at, most_names=2), "rb") as file:
        return file.read(KEY_BYTES + 1)

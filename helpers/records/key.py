"""The secret of this installation, with which it signs what it records, and where it is kept.

In Agent Zero beside the plugins, where removing the plugin does not reach; for a checkout outside a
host in the user's state folder (XDG Base Directory Specification).
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from ..values.errors import RecordError
from .files import OWNER_ONLY, create_once, directory, exists, narrow, open_regular, replace

NAME = "software_orchestrator"
KEY_FILE = "installation.key"
KEY_BYTES = 32
_FORMER = re.compile(r"former-[0-9a-f]{16}\.key")
_TWO_NAMES = 2  # between link and unlink the maker's temporary name still stands

log = logging.getLogger(__name__)


def key_folder(plugin_root: Path) -> Path:
    """`usr/software_orchestrator` of a host, else `<state home>/software_orchestrator/<16 hex>`, the
    hash of the plugin's path."""
    root = plugin_root.absolute()
    if root.parent.name == "plugins" and root.parent.parent.name == "usr":
        return root.parent.parent / NAME
    state = os.environ.get("XDG_STATE_HOME", "")
    home = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"  # noqa: PTH117
    return home / NAME / hashlib.sha256(str(root).encode()).hexdigest()[:16]


def installation_key(plugin_root: Path) -> bytes:
    """The 32 secret bytes of `installation.key` in `key_folder` (mode 600), made at the first call.

    Any number of processes may call it at once: all get the same key. One that an earlier version
    left in the plugin's own `data/` is moved. One that others could read is taken from them, with a
    warning in the log. Raises RecordError when the key cannot be made, read or taken from others,
    or has another length; only `new_key` replaces it.
    """
    path = key_folder(plugin_root) / KEY_FILE
    before = plugin_root / "data" / KEY_FILE
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with directory(path.parent) as folder:
            if not exists(path.name, folder):
                create_once(path.name, _first_key(before), OWNER_ONLY, folder)
                with suppress(FileNotFoundError):
                    before.unlink()
            return _checked(path, _read(path, folder))
    except OSError as error:
        raise _unusable(path, error) from error


def former_keys(plugin_root: Path) -> tuple[bytes, ...]:
    """The keys that this installation had before `new_key`. Raises RecordError."""
    place = key_folder(plugin_root)
    try:
        with directory(place) as folder:
            found = sorted(path.name for path in place.iterdir() if _FORMER.fullmatch(path.name))
            return tuple(_checked(place / name, _read(place / name, folder)) for name in found)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise _unusable(place, error) from error


def new_key(plugin_root: Path) -> Path:
    """Sign with another key from now on. The old one is kept, at the path that is returned: what it
    signed still counts as this installation's own. Raises RecordError."""
    old = installation_key(plugin_root)
    place = key_folder(plugin_root)
    kept = f"former-{hashlib.sha256(old).hexdigest()[:16]}.key"
    try:
        with directory(place) as folder:
            create_once(kept, old, OWNER_ONLY, folder)
        replace(place / KEY_FILE, secrets.token_bytes(KEY_BYTES))
    except OSError as error:
        raise _unusable(place, error) from error
    return place / kept


def _unusable(path: Path, error: OSError) -> RecordError:
    return RecordError(
        f"cannot read or make {path}: {error.strerror}",
        "make it a file of the host's user with mode 600",
    )


def _first_key(before: Path) -> bytes:
    """The key of an earlier version, else a new one."""
    try:
        with directory(before.parent) as folder:
            return _checked(before, _read(before, folder))
    except FileNotFoundError:
        return secrets.token_bytes(KEY_BYTES)


def _checked(path: Path, key: bytes) -> bytes:
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

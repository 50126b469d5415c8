"""Which handovers of other installations were taken: each once, also after a restart."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ..values.errors import RecordError
from .files import OWNER_ONLY

KEPT_S = 2 * 86_400.0  # longer than a package is good for


def take_once(folder: Path, name: str) -> bool:
    """Whether nobody took this before. `name` is a safe file name. Raises RecordError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _forget_old(folder)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW
        descriptor = os.open(folder / name, flags, OWNER_ONLY)
    except FileExistsError:
        return False
    except OSError as error:
        raise RecordError(f"cannot write in {folder}: {error.strerror}") from error
    os.fsync(descriptor)
    os.close(descriptor)
    return True


def _forget_old(folder: Path) -> None:
    oldest = time.time() - KEPT_S
    for file in folder.iterdir():
        if file.stat().st_mtime < oldest:
            file.unlink(missing_ok=True)

"""What is known of a project's files that travel as artifacts, and whether they are still the same."""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from ..values.errors import RecordError
from ..values.packet import Artifact
from .files import open_folder, open_regular

Found = Literal["", "gone", "outside", "unrecorded"]
Comparison = Literal["unchanged", "changed", "gone", "outside", "unrecorded"]

HASHED_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Facts:
    """What is known of a file: `sha256` (64 hex; "" above 64 MiB) and `size` in bytes, or why nothing is: `missing`."""

    sha256: str = ""
    size: int | None = None
    missing: Found = ""


def artifact_facts(root: Path, path: str) -> Facts:
    """Hash and size of a file of the project; `path` is relative to `root` or absolute. Never follows out of it.

    `missing`: "gone" (nothing there), "outside" (not in the project), "unrecorded" (not a readable plain file).
    """
    try:
        inside = _inside(root, path)
        if inside is None:
            return Facts(missing="outside")
        with io.FileIO(_open_inside(root, inside), "rb") as file:
            return _facts_of(file)
    except (FileNotFoundError, NotADirectoryError):
        return Facts(missing="gone")
    except (OSError, ValueError, RecordError):
        return Facts(missing="unrecorded")


def check_artifact(root: Path, artifact: Artifact, now: Facts | None = None) -> Comparison:
    """Compare a file with what the packet recorded; "unrecorded" when there is nothing to compare.

    `now` is what the file is, where that was looked at already.
    """
    now = now or artifact_facts(root, artifact.path)
    recorded = bool(artifact.sha256) or artifact.size is not None
    if now.missing == "outside" or (now.missing and recorded):
        return now.missing
    if not recorded or now.missing:
        return "unrecorded"
    same_size = artifact.size is None or artifact.size == now.size
    same_hash = not (artifact.sha256 and now.sha256) or artifact.sha256 == now.sha256
    return "unchanged" if same_size and same_hash else "changed"


def _inside(root: Path, path: str) -> PurePosixPath | None:
    base = os.path.realpath(root)
    target = os.path.realpath(os.path.join(base, path))  # noqa: PTH118 - an absolute path must win
    return (
        PurePosixPath(target).relative_to(base)
        if PurePosixPath(target).is_relative_to(base)
        else None
    )


def _open_inside(root: Path, inside: PurePosixPath) -> int:
    """Open by descriptors: a link put in after `_inside` looked is not followed."""
    at = os.open(os.path.realpath(root), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in inside.parts[:-1]:
            below = open_folder(part, at)
            os.close(at)
            at = below
        return open_regular(inside.name or ".", os.O_RDONLY, at, most_names=1 << 30)
    finally:
        os.close(at)


def _facts_of(file: io.FileIO) -> Facts:
    size = os.fstat(file.fileno()).st_size
    if size > HASHED_BYTES:
        return Facts(size=size)
    digest, read = hashlib.sha256(), 0
    while read <= HASHED_BYTES and (chunk := file.read(_CHUNK_BYTES)):
        digest.update(chunk)
        read += len(chunk)
    return Facts(digest.hexdigest(), read)

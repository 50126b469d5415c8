"""What is known of the files that travel as artifacts, and whether they are still the same."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from ..values.errors import RecordError
from ..values.packet import Artifact
from .files import ANY_NAMES, hash_of, open_folder, open_regular, size_of, walked

Found = Literal["", "gone", "outside", "unrecorded"]
Comparison = Literal["unchanged", "changed", "gone", "outside", "unrecorded"]

HASHED_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Facts:
    """What a file is: its `sha256` (64 hex; "" above 64 MiB) and `size` in bytes.

    Or why that is not known: `missing`.
    """

    sha256: str = ""
    size: int | None = None
    missing: Found = ""


def artifact_facts(root: Path, path: str) -> Facts:
    """Of a file of the project; `path` is relative to `root` or absolute. Never follows out of it.

    `missing`: "gone" (nothing there), "outside" (not in the project), "unrecorded" (not a readable
    plain file).
    """
    try:
        inside = _inside(root, path)
        if inside is None:
            return Facts(missing="outside")
        with _opened(root, inside) as file:
            return _facts_of(file)
    except (FileNotFoundError, NotADirectoryError):
        return Facts(missing="gone")
    except (OSError, ValueError, RecordError):
        return Facts(missing="unrecorded")


def text_of(root: Path, path: str, most_bytes: int) -> str | None:
    """What a file of the project says, None where it is no UTF-8 text of at most so many bytes."""
    try:
        inside = _inside(root, path)
        if inside is None:
            return None
        with _opened(root, inside) as file:
            content = file.read(most_bytes + 1)
        text = content.decode("utf-8")
    except (OSError, ValueError, RecordError):
        return None
    return text if len(content) <= most_bytes and "\0" not in text else None


def check_artifact(root: Path, artifact: Artifact, now: Facts | None = None) -> Comparison:
    """Compare a file with what the packet recorded; "unrecorded" when there is nothing to compare.

    `now` is what the file is, where that was looked at already.
    """
    now = now or artifact_facts(root, artifact.path)
    if now.missing == "outside":
        return "outside"
    if not artifact.sha256 and artifact.size is None:
        return "unrecorded"
    if now.missing:
        return now.missing
    if artifact.size not in (None, now.size):
        return "changed"
    # Of a huge file only the size is known, on either side.
    both_hashed = artifact.sha256 and now.sha256
    return "changed" if both_hashed and artifact.sha256 != now.sha256 else "unchanged"


def _inside(root: Path, path: str) -> PurePosixPath | None:
    """The file's way below the project, links followed; None when it leads out of it."""
    base = os.path.realpath(root)
    joined = os.path.join(base, path)  # noqa: PTH118 - an absolute path must win
    target = PurePosixPath(os.path.realpath(joined))
    return target.relative_to(base) if target.is_relative_to(base) else None


@contextmanager
def _opened(root: Path, inside: PurePosixPath) -> Iterator[io.FileIO]:
    """By descriptors: a link put in after `_inside` looked is not followed."""
    with walked(Path(os.path.realpath(root)), inside.parts[:-1], open_folder) as folder:
        name = inside.name or "."
        descriptor = open_regular(name, os.O_RDONLY, folder, most_names=ANY_NAMES)
    with io.FileIO(descriptor, "rb") as file:
        yield file


def _facts_of(file: io.FileIO) -> Facts:
    size = size_of(file)
    if size > HASHED_BYTES:
        return Facts(size=size)
    return Facts(hash_of(file, 0, size), size)

"""Opening, writing and reading plain files below a project without following what a stranger put there.

A project can be cloned from anywhere, so everything from `.a0proj` downwards may be hostile: every folder is opened
relative to its parent's descriptor without following links, and only regular files with one name are opened at all.
What lies above `.a0proj` is the person's own and may be a link. POSIX only, like the host.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..values.errors import RecordError

SEARCHED_BYTES = 256 * 1024 * 1024
MARK = ".a0proj"

_CHUNK_BYTES = 1024 * 1024
_FOOTPRINT_BYTES = 4096
_NOT_FOLLOWED = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)
_NOT_A_FILE = (errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR, errno.EOPNOTSUPP)
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def open_append(path: Path) -> io.FileIO:
    """Open for appending (and reading), making the file when it is not there; the folder then is synced too.

    Unbuffered: one `write` is one write(2). Raises RecordError(path_unsafe) for a link, a FIFO, a device, a folder, a
    file with a second hard link, and for links among the folders from `.a0proj` on; OSError otherwise.
    """
    flags = os.O_RDWR | os.O_APPEND
    with directory(path.parent) as at:
        try:
            fd = open_regular(path.name, flags, at)
        except FileNotFoundError:
            fd = open_regular(path.name, flags | os.O_CREAT, at)
            sync_folder(at)
    return io.FileIO(fd, "r+b")


def open_read(path: Path) -> io.FileIO:
    """Open for reading, unbuffered. Raises as `open_append`, and FileNotFoundError when there is none."""
    with directory(path.parent) as at:
        return io.FileIO(open_regular(path.name, os.O_RDONLY, at), "rb")


def holds(path: Path, wanted: bytes) -> bool:
    """Whether a file contains these bytes, read in chunks. Raises RecordError for what is no plain file, cannot be read or is
    larger than `SEARCHED_BYTES`; FileNotFoundError when there is none."""
    with reading(path), open_read(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > SEARCHED_BYTES:
            raise unsafe(f"{path.name!r} has {size:,} bytes, more than is searched")
        tail = b""
        while chunk := file.read(_CHUNK_BYTES):
            here = tail + chunk
            if wanted in here:
                return True
            tail = here[max(0, len(here) + 1 - len(wanted)) :]
    return False


@contextmanager
def opener(folder: Path) -> Iterator[Callable[[str], io.FileIO]]:
    """For reading many files of one folder: a function like `open_read`, by name. Raises as `open_read`."""
    with directory(folder) as at:
        yield lambda name: io.FileIO(open_regular(name, os.O_RDONLY, at), "rb")


def write_whole(file: io.FileIO, content: bytes, path: Path) -> None:
    """One write(2) and fsync. What a short write leaves stays: nothing is rewritten, the next append heals it."""
    written = file.write(content) or 0
    if written != len(content):
        raise append_failed(
            path,
            f"only {written:,} of {len(content):,} bytes could be written, the disk may be full",
        )
    os.fsync(file.fileno())


def sync_folder(at: int) -> None:
    """fsync of a folder's descriptor; file systems that cannot do that (EINVAL) have nothing to sync there."""
    try:
        os.fsync(at)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError inside into the seed's error, `failed to append briefing file: <reason>`."""
    try:
        yield
    except OSError as error:
        raise append_failed(path, error) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn an OSError inside into a RecordError with the system's reason; FileNotFoundError passes through."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise RecordError(
            f"cannot read {path}: {error.strerror}", "mend the cause and try again"
        ) from error


def append_failed(path: Path, error: OSError | str) -> RecordError:
    """The seed's error for a record that could not be written, with the system's reason."""
    reason = error if isinstance(error, str) else error.strerror or type(error).__name__
    hint = "mend the cause, then make the same call again"
    return RecordError(f"failed to append briefing file: {reason} ({path})", hint, "append_failed")


@contextmanager
def directory(path: Path, create: bool = False) -> Iterator[int]:
    """A descriptor of the folder; from `.a0proj` on no link is followed, and missing folders are made when `create`."""
    top, parts = _split(path)
    at = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            below = _descend(part, at, create)
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


def _split(path: Path) -> tuple[Path, tuple[str, ...]]:
    parts = path.parts
    if MARK not in parts:
        return path, ()
    first = len(parts) - 1 - parts[::-1].index(MARK)
    return Path(*parts[:first]), parts[first:]


def _descend(name: str, at: int, create: bool) -> int:
    if create and not exists(name, at):
        with suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=at)
            sync_folder(at)
    try:
        return open_folder(name, at)
    except OSError as error:
        if error.errno in _NOT_FOLLOWED:
            raise unsafe(f"{name!r} in the project is a link or not a folder") from error
        raise


def open_folder(name: str, at: int) -> int:
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)


def exists(name: str, at: int) -> bool:
    try:
        os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def open_regular(name: str, flags: int, at: int, most_names: int = 1) -> int:
    with suppress(
        FileNotFoundError
    ):  # asked first, because opening a device or a FIFO can already do something
        _check_regular(name, os.stat(name, dir_fd=at, follow_symlinks=False), most_names)
    safe = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    try:
        fd = os.open(name, flags | safe, 0o644, dir_fd=at)
    except OSError as error:
        if error.errno in _NOT_A_FILE:
            raise unsafe(f"{name!r} is not a plain file") from error
        raise
    try:
        _check_regular(name, os.fstat(fd), most_names)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _check_regular(name: str, facts: os.stat_result, most_names: int) -> None:
    if not stat.S_ISREG(facts.st_mode):
        raise unsafe(f"{name!r} is a link, a FIFO, a device or a folder, not a plain file")
    if facts.st_nlink > most_names:
        raise unsafe(f"{name!r} has a second hard link, so writing it would change another file")


def unsafe(message: str) -> RecordError:
    return RecordError(
        message, "nothing was written; remove it or use another project folder", "path_unsafe"
    )


def create_once(name: str, content: bytes, mode: int, at: int) -> None:
    """Make a file that is whole from its first moment; when somebody was faster theirs stays."""
    temporary = f".{name}.{secrets.token_hex(8)}"
    _write_new(temporary, content, mode, at)
    try:
        os.link(temporary, name, src_dir_fd=at, dst_dir_fd=at)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        with suppress(FileExistsError):
            _write_new(name, content, mode, at)
    finally:
        os.unlink(temporary, dir_fd=at)
    sync_folder(at)


def _write_new(name: str, content: bytes, mode: int, at: int) -> None:
    fd = os.open(
        name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=at
    )
    with io.FileIO(fd, "wb") as file:
        if file.write(content) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(fd)


@dataclass(frozen=True)
class Footprint:
    """What a file held up to `size` bytes: the sha256 of the last 4 KiB before there. A missing file has size 0."""

    size: int
    sha256: str


def footprint(path: Path, size: int | None = None) -> Footprint:
    """The footprint of a file as it is, or of its first `size` bytes: equal as long as these were not rewritten."""
    try:
        with reading(path), open_read(path) as file:
            end = os.fstat(file.fileno()).st_size if size is None else size
            start = max(0, end - _FOOTPRINT_BYTES)
            return Footprint(
                end, hashlib.sha256(os.pread(file.fileno(), end - start, start)).hexdigest()
            )
    except FileNotFoundError:
        return Footprint(0, hashlib.sha256(b"").hexdigest())

"""Opening plain files of a project without following what a stranger put there.

A project can be cloned from anywhere, so everything from `.a0proj` downwards may be hostile: every
folder is opened relative to its parent's descriptor without following links, and only regular files
with one name are opened at all. What lies above `.a0proj` is the person's own and may be a link.
POSIX only, like the host.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from ..values.errors import MemoryRuleError, RecordError

SEARCHED_BYTES = 256 * 1024 * 1024
MARK = ".a0proj"
OWNER_ONLY = 0o600
ANY_NAMES = 1 << 30  # hard links that a file may have where another name does no harm

_CHUNK_BYTES = 1024 * 1024
_FOOTPRINT_BYTES = 4096
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NOT_FOLLOWED = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)
_NOT_A_FILE = (errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR, errno.EOPNOTSUPP)
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)


# --- opening


def open_append(path: Path, mode: int = 0o644) -> io.FileIO:
    """Open for appending (and reading); where there is none it is made, and its folder synced.

    Unbuffered: one `write` is one write(2). Raises RecordError(path_unsafe) for a link, a FIFO, a
    device, a folder, a file with a second hard link, and for links among the folders from `.a0proj`
    on; OSError otherwise.
    """
    flags = os.O_RDWR | os.O_APPEND
    with directory(path.parent) as folder:
        try:
            descriptor = open_regular(path.name, flags, folder)
        except FileNotFoundError:
            descriptor = open_regular(path.name, flags | os.O_CREAT, folder, mode=mode)
            sync_folder(folder)
    return io.FileIO(descriptor, "r+b")


def open_read(path: Path) -> io.FileIO:
    """Open for reading, unbuffered. Raises as `open_append`; FileNotFoundError."""
    with opener(path.parent) as open_named:
        return open_named(path.name)


@contextmanager
def opener(folder: Path) -> Iterator[Callable[[str], io.FileIO]]:
    """For reading many files of one folder: `open_read`, by name. Raises as `open_read`."""
    with directory(folder) as descriptor:

        def open_named(name: str) -> io.FileIO:
            return io.FileIO(open_regular(name, os.O_RDONLY, descriptor), "rb")

        yield open_named


@contextmanager
def directory(path: Path, create: bool = False) -> Iterator[int]:
    """A descriptor of the folder, made when `create`; from `.a0proj` on no link is followed."""
    top, names = _split(path)
    with walked(top, names, partial(_enter, create=create)) as descriptor:
        yield descriptor


@contextmanager
def walked(top: Path, names: Sequence[str], enter: Callable[[str, int], int]) -> Iterator[int]:
    """A descriptor of the folder `names` below `top`; `enter(name, parent)` opens each of them."""
    descriptor = os.open(top, _FOLDER)
    try:
        for name in names:
            below = enter(name, descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


@lru_cache(maxsize=256)
def _split(path: Path) -> tuple[Path, tuple[str, ...]]:
    """What is the person's own, and the names from the last `.a0proj` on."""
    parts = path.parts
    if MARK not in parts:
        return path, ()
    first = len(parts) - 1 - parts[::-1].index(MARK)
    return Path(*parts[:first]), parts[first:]


def _enter(name: str, parent: int, create: bool) -> int:
    if create and not exists(name, parent):
        with suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=parent)
            sync_folder(parent)
    try:
        return open_folder(name, parent)
    except OSError as error:
        if error.errno in _NOT_FOLLOWED:
            raise unsafe(f"{name!r} in the project is a link or not a folder") from error
        raise


def open_folder(name: str, parent: int) -> int:
    """A descriptor of a folder that is no link."""
    return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)


def exists(name: str, parent: int) -> bool:
    """Whether anything has that name, a dangling link included."""
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def open_regular(
    name: str, flags: int, parent: int, *, mode: int = 0o644, most_names: int = 1
) -> int:
    """A descriptor of a plain file. Raises RecordError(path_unsafe) for anything else, OSError."""
    with suppress(FileNotFoundError):
        # Asked first, because opening a device or a FIFO can already do something.
        _check_regular(name, os.stat(name, dir_fd=parent, follow_symlinks=False), most_names)
    safe = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    try:
        descriptor = os.open(name, flags | safe, mode, dir_fd=parent)
    except OSError as error:
        if error.errno in _NOT_A_FILE:
            raise unsafe(f"{name!r} is not a plain file") from error
        raise
    try:
        _check_regular(name, os.fstat(descriptor), most_names)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_regular(name: str, facts: os.stat_result, most_names: int) -> None:
    if not stat.S_ISREG(facts.st_mode):
        raise unsafe(f"{name!r} is a link, a FIFO, a device or a folder, not a plain file")
    if facts.st_nlink > most_names:
        raise unsafe(f"{name!r} has a second hard link, so writing it would change another file")


# --- writing


def write_whole(file: io.FileIO, content: bytes, path: Path) -> None:
    """One write(2) and fsync, behind what the file holds.

    What a short write leaves stays: nothing is rewritten, the next append heals it.
    """
    before = _footprint_of(file, size_of(file))
    written = file.write(content) or 0
    check_append_only(before, _footprint_of(file, before.size))
    if written != len(content):
        raise append_failed(
            path,
            f"only {written:,} of {len(content):,} bytes could be written, the disk may be full",
        )
    os.fsync(file.fileno())


def check_append_only(before: Footprint, after: Footprint) -> None:
    """Nothing on disk is overwritten (seed 001): what a file held before, it holds after.

    Every append passes here, of a ledger, a briefing and a chat's log. Raises MemoryRuleError.
    """
    if before != after:
        raise MemoryRuleError("a record was changed instead of appended to")


def create_once(name: str, content: bytes, mode: int, parent: int) -> None:
    """Make a file that is whole from its first moment; when somebody was faster theirs stays.

    Raises OSError; then nothing of it is left.
    """
    temporary = f".{name}.{secrets.token_hex(8)}"
    _write_new(temporary, content, mode, parent)
    try:
        os.link(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        with suppress(FileExistsError):
            _write_new(name, content, mode, parent)
    finally:
        os.unlink(temporary, dir_fd=parent)
    sync_folder(parent)


def replace(path: Path, content: bytes) -> None:
    """Put a file that is no record in the place of another one, whole or not at all; its mode stays.

    Raises OSError.
    """
    with directory(path.parent) as parent:
        temporary = f".{path.name}.{secrets.token_hex(8)}"
        _write_new(
            temporary, content, path.stat().st_mode & 0o777 if path.exists() else 0o644, parent
        )
        os.replace(temporary, path.name, src_dir_fd=parent, dst_dir_fd=parent)
        sync_folder(parent)


def _write_new(name: str, content: bytes, mode: int, parent: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, mode, dir_fd=parent)
    try:
        with io.FileIO(descriptor, "wb") as file:
            if file.write(content) != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(name, dir_fd=parent)
        raise


def narrow(file: io.FileIO) -> bool:
    """Take the file from everybody but its owner; whether others had any right. Raises OSError."""
    others = stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077
    if others:
        os.fchmod(file.fileno(), OWNER_ONLY)
    return bool(others)


def sync_folder(descriptor: int) -> None:
    """fsync of a folder; file systems that cannot do that have nothing to sync there."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


# --- reading


@dataclass(frozen=True)
class Stamp:
    """Which file it is and when it was last changed; all zero where there is none."""

    device: int = 0
    inode: int = 0
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0


def stamp(path: Path) -> Stamp:
    """The stamp of a file, or of the link that stands there. Raises RecordError as `reading`."""
    try:
        with reading(path), directory(path.parent) as folder:
            facts = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return Stamp()
    return Stamp(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


@dataclass(frozen=True)
class Footprint:
    """What a file held up to `size` bytes: the sha256 of the last 4 KiB before there.

    A missing file has size 0.
    """

    size: int
    sha256: str


def footprint(path: Path, size: int | None = None) -> Footprint:
    """Of a file, or of its first `size` bytes: equal as long as these were not rewritten."""
    try:
        with reading(path), open_read(path) as file:
            return _footprint_of(file, size_of(file) if size is None else size)
    except FileNotFoundError:
        return Footprint(0, hashlib.sha256().hexdigest())


def _footprint_of(file: io.FileIO, size: int) -> Footprint:
    start = max(0, size - _FOOTPRINT_BYTES)
    return Footprint(size, hash_of(file, start, size - start))


def size_of(file: io.FileIO) -> int:
    """In bytes, as the file now is."""
    return os.fstat(file.fileno()).st_size


def ends_line(file: io.FileIO) -> bool:
    """Whether its last byte, if there is one, is a line feed."""
    size = size_of(file)
    return size == 0 or os.pread(file.fileno(), 1, size - 1) == b"\n"


def hash_of(
    file: io.FileIO, offset: int, length: int, *, before: bytes = b"", after: bytes = b""
) -> str:
    """sha256 (64 hex) of a range of a file, as far as there is one, between two texts."""
    digest = hashlib.sha256(before)
    end = offset + length
    while chunk := os.pread(file.fileno(), min(_CHUNK_BYTES, end - offset), offset):
        digest.update(chunk)
        offset += len(chunk)
    digest.update(after)
    return digest.hexdigest()


def holds(path: Path, wanted: bytes) -> bool:
    """Whether a file contains these bytes, read in chunks.

    Raises RecordError for what is no plain file, cannot be read or is larger than `SEARCHED_BYTES`;
    FileNotFoundError when there is none.
    """
    with reading(path), open_read(path) as file:
        size = size_of(file)
        if size > SEARCHED_BYTES:
            raise unsafe(f"{path.name!r} has {size:,} bytes, more than is searched")
        tail = b""
        while chunk := file.read(_CHUNK_BYTES):
            window = tail + chunk
            if wanted in window:
                return True
            tail = window[max(0, len(window) + 1 - len(wanted)) :]
    return False


# --- errors


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError inside into the seed's error, `failed to append briefing file: <reason>`."""
    try:
        yield
    except OSError as error:
        raise append_failed(path, error) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn an OSError inside into a RecordError; FileNotFoundError passes through."""
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


def unsafe(message: str, instead: str = "remove it or use another project folder") -> RecordError:
    """The error for what may not be opened."""
    return RecordError(message, f"nothing was written; {instead}", "path_unsafe")

"""Names of, and the only way to open, what lies under `<project_root>/.a0proj/handover/`.

A project can be cloned from anywhere, so everything from `.a0proj` downwards may be hostile: every folder is opened
relative to its parent's descriptor without following links, and only regular files with one name are opened at all.
What lies above `.a0proj` is the person's own and may be a link. POSIX only, like the host.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Literal

from ..values.errors import RecordError
from ..values.packet import Artifact

GitIgnore = Literal["chains", "all", "none"]
Found = Literal["", "gone", "outside", "unrecorded"]
Comparison = Literal["unchanged", "changed", "gone", "outside", "unrecorded"]

NAME_CHARS = 120
TOPIC_CHARS = 60
SPECIALIST_CHARS = 45
CHAT_CHARS = 40
KEY_BYTES = 32
HASHED_BYTES = 64 * 1024 * 1024
SEARCHED_BYTES = 256 * 1024 * 1024

_MARK = ".a0proj"
_CHUNK_BYTES = 1024 * 1024
_SLUGIFIED_CHARS = 1000
_PLAIN = re.compile(r"[A-Za-z0-9]+(?:[ _-][A-Za-z0-9]+)*")
_DEVICE = re.compile(r"con|prn|aux|nul|com\d|lpt\d|conin|conout")
_LOOKS_HASHED = re.compile(r".*[-_][0-9a-f]{8}", re.DOTALL)
_CHAT = re.compile(r"[A-Za-z0-9_]+")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\.(?:md|jsonl)")
_NOT_FOLLOWED = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)
_NOT_A_FILE = (errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR, errno.EOPNOTSUPP)
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


# --- names -----------------------------------------------------------------------------------------------------------


def slug(text: str, max_chars: int = TOPIC_CHARS) -> str:
    """Lower-case ASCII letters and digits with single hyphens, at most `max_chars`; "" when nothing is left.

    Two texts may share a slug: `topic_slug` is the one that keeps them apart. Raises RecordError when python-slugify is
    missing and `text` needs it (anything but ASCII words).
    """
    if _PLAIN.fullmatch(text):
        made = re.sub(r"[ _]", "-", text.lower())
    else:
        made = _late("slugify", "python-slugify").slugify(
            _without_surrogates(text[:_SLUGIFIED_CHARS])
        )
    return made[:max_chars].strip("-")


def topic_slug(topic: str) -> str:
    """The slug of a topic, at most 60 characters, never empty, never a device name of Windows.

    A topic of ASCII words with single spaces, underscores or hyphens is its slug. Every other one gets `-<8 hex>` of
    the sha256 of the raw topic (NFC, trimmed), and so does a plain one that ends like such a hash.
    """
    return _unique_slug(topic, TOPIC_CHARS, "topic")


def _unique_slug(text: str, max_chars: int, fallback: str) -> str:
    raw = unicodedata.normalize("NFC", text).strip()
    if _PLAIN.fullmatch(raw) and len(raw) <= max_chars:
        plain = slug(raw, max_chars)
        if not _DEVICE.fullmatch(plain) and not _LOOKS_HASHED.fullmatch(plain):
            return plain
    return f"{slug(raw, max_chars - 9) or fallback}-{_short_hash(raw)}"


def _chat_part(chat_id: str) -> str:
    """The host's ids as they are. A hyphen would let two (topic, chat) pairs share a chain: such ids are hashed."""
    if (
        _CHAT.fullmatch(chat_id)
        and len(chat_id) <= CHAT_CHARS
        and not _LOOKS_HASHED.fullmatch(chat_id)
    ):
        return chat_id
    readable = re.sub(r"[^A-Za-z0-9]+", "_", chat_id)[: CHAT_CHARS - 9].strip("_")
    return f"{readable or 'chat'}_{_short_hash(chat_id)}"


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _without_surrogates(text: str) -> str:
    return text.encode("utf-8", "ignore").decode("utf-8")


# --- the folder ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HandoverFolder:
    """`<root>/.a0proj/handover` of one project; knows names, opens nothing by itself."""

    root: Path

    @property
    def path(self) -> Path:
        """Where the briefings are."""
        return self.root / _MARK / "handover"

    @property
    def chains(self) -> Path:
        """Where the ledgers and the lock are."""
        return self.path / "chains"

    @classmethod
    def open(cls, project_root: str, create: bool = False) -> HandoverFolder:
        """The folder of a project; without `create` it need not exist yet, and nothing is written.

        Raises RecordError: root_not_absolute; path_unsafe when the root is no folder or a part below it is a link or no
        folder; append_failed when a part cannot be made.
        """
        folder = cls(_checked_root(project_root))
        with writing(folder.path), suppress(FileNotFoundError), _directory(folder.chains, create):
            pass
        return folder

    def briefing_name(self, specialist: str, topic: str, day: date | str) -> str:
        """`<specialist>-<topic>-<YYYY-MM-DD>.md`, at most 120 characters; `day` is a date, or an ISO date or time."""
        iso = day if isinstance(day, str) else day.isoformat()
        iso = date.fromisoformat(iso[:10]).isoformat()
        return f"{_unique_slug(specialist, SPECIALIST_CHARS, 'specialist')}-{topic_slug(topic)}-{iso}.md"

    def chain_id(self, topic: str, chat_id: str) -> str:
        """`<topic-slug>-<chat id>`; the chat id is hashed when it is empty, long or not of letters, digits and `_`."""
        return f"{topic_slug(topic)}-{_chat_part(chat_id)}"

    def briefing_path(self, name: str) -> Path:
        """The path of a briefing by its name alone; raises RecordError(path_unsafe) for anything that is not one."""
        return self.path / _checked_name(name, ".md")

    def ledger_path(self, chain_id: str) -> Path:
        """The path of a chain's ledger; raises RecordError(path_unsafe) when the id could not be a file name."""
        return self.chains / _checked_name(f"{chain_id}.jsonl", ".jsonl")

    def briefings(self) -> tuple[Path, ...]:
        """Every briefing there is, in the order of names."""
        return _listed(self.path, ".md")

    def ledgers(self) -> tuple[Path, ...]:
        """Every ledger there is, in the order of names."""
        return _listed(self.chains, ".jsonl")

    @contextmanager
    def lock(self, timeout_s: float) -> Iterator[None]:
        """Hold the folder's one lock, against other processes and other threads; not re-entrant.

        The folder must have been opened with `create`. Raises RecordError: append_failed when the lock is not had
        within `timeout_s` seconds or filelock is missing, path_unsafe when the lock file is not a plain file.
        """
        filelock = _late("filelock", "filelock")
        path = self.chains / ".lock"
        with writing(path):
            open_append(path).close()  # refuses links and FIFOs before filelock opens it
            held = filelock.FileLock(str(path))
            try:
                held.acquire(timeout=timeout_s, poll_interval=0.01)
            except filelock.Timeout as error:
                raise _lock_not_had(path, timeout_s) from error
        try:
            yield
        finally:
            held.release()


def write_gitignore(folder: HandoverFolder, mode: GitIgnore) -> None:
    """Make the folder's `.gitignore` when there is none; an existing one is the person's and stays as it is."""
    content = {"chains": b"chains/\n", "all": b"*\n", "none": b""}[mode]
    if not content:
        return
    with writing(folder.path / ".gitignore"), _directory(folder.path) as at:
        if not _exists(".gitignore", at):
            _create_once(".gitignore", content, 0o644, at)


def _lock_not_had(path: Path, timeout_s: float) -> RecordError:
    return RecordError(
        f"failed to append briefing file: the lock {path} was not free within {timeout_s:g} s",
        "another handover may be writing: try again; if nothing runs, a dead process on another machine may hold it",
        "append_failed",
    )


def _checked_root(project_root: str) -> Path:
    if not os.path.isabs(project_root):  # noqa: PTH117
        raise RecordError(
            f"project_root must be absolute, got {project_root!r}",
            "give the full path",
            "root_not_absolute",
        )
    if not os.path.isdir(project_root):  # noqa: PTH112 - Path.is_dir raises for a NUL
        raise _unsafe(f"project_root is not an existing folder: {project_root!r}")
    return Path(project_root)


def _checked_name(name: str, suffix: str) -> str:
    if len(name) > NAME_CHARS or not name.endswith(suffix) or not _FILE.fullmatch(name):
        raise _unsafe(f"not a file name of the handover folder: {name[:NAME_CHARS]!r}")
    return name


def _listed(path: Path, suffix: str) -> tuple[Path, ...]:
    return tuple(path / name for name in sorted(names(path, suffix)))


def names(path: Path, suffix: str) -> Iterator[str]:
    """Names of the files of a folder that could be ours, one by one in no order; none when there is no such folder."""
    with (
        suppress(FileNotFoundError),
        reading(path),
        _directory(path) as at,
        os.scandir(at) as entries,
    ):
        yield from (
            entry.name
            for entry in entries
            if entry.name.endswith(suffix) and _FILE.fullmatch(entry.name)
        )


# --- opening ---------------------------------------------------------------------------------------------------------


def open_append(path: Path) -> io.FileIO:
    """Open for appending (and reading), making the file when it is not there; the folder then is synced too.

    Unbuffered: one `write` is one write(2). Raises RecordError(path_unsafe) for a link, a FIFO, a device, a folder, a
    file with a second hard link, and for links among the folders from `.a0proj` on; OSError otherwise.
    """
    flags = os.O_RDWR | os.O_APPEND
    with _directory(path.parent) as at:
        try:
            fd = _open_regular(path.name, flags, at)
        except FileNotFoundError:
            fd = _open_regular(path.name, flags | os.O_CREAT, at)
            sync_folder(at)
    return io.FileIO(fd, "r+b")


def open_read(path: Path) -> io.FileIO:
    """Open for reading, unbuffered. Raises as `open_append`, and FileNotFoundError when there is none."""
    with _directory(path.parent) as at:
        return io.FileIO(_open_regular(path.name, os.O_RDONLY, at), "rb")


def holds(path: Path, wanted: bytes) -> bool:
    """Whether a file contains these bytes, read in chunks. Raises RecordError for what is no plain file, cannot be read or is
    larger than `SEARCHED_BYTES`; FileNotFoundError when there is none."""
    with reading(path), open_read(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > SEARCHED_BYTES:
            raise _unsafe(f"{path.name!r} has {size:,} bytes, more than is searched")
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
    with _directory(folder) as at:
        yield lambda name: io.FileIO(_open_regular(name, os.O_RDONLY, at), "rb")


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
def _directory(path: Path, create: bool = False) -> Iterator[int]:
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
    if _MARK not in parts:
        return path, ()
    first = len(parts) - 1 - parts[::-1].index(_MARK)
    return Path(*parts[:first]), parts[first:]


def _descend(name: str, at: int, create: bool) -> int:
    if create and not _exists(name, at):
        with suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=at)
            sync_folder(at)
    try:
        return _open_folder(name, at)
    except OSError as error:
        if error.errno in _NOT_FOLLOWED:
            raise _unsafe(f"{name!r} in the project is a link or not a folder") from error
        raise


def _open_folder(name: str, at: int) -> int:
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)


def _exists(name: str, at: int) -> bool:
    try:
        os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _open_regular(name: str, flags: int, at: int, most_names: int = 1) -> int:
    with suppress(
        FileNotFoundError
    ):  # asked first, because opening a device or a FIFO can already do something
        _check_regular(name, os.stat(name, dir_fd=at, follow_symlinks=False), most_names)
    safe = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    try:
        fd = os.open(name, flags | safe, 0o644, dir_fd=at)
    except OSError as error:
        if error.errno in _NOT_A_FILE:
            raise _unsafe(f"{name!r} is not a plain file") from error
        raise
    try:
        _check_regular(name, os.fstat(fd), most_names)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _check_regular(name: str, facts: os.stat_result, most_names: int) -> None:
    if not stat.S_ISREG(facts.st_mode):
        raise _unsafe(f"{name!r} is a link, a FIFO, a device or a folder, not a plain file")
    if facts.st_nlink > most_names:
        raise _unsafe(f"{name!r} has a second hard link, so writing it would change another file")


def _unsafe(message: str) -> RecordError:
    return RecordError(
        message, "nothing was written; remove it or use another project folder", "path_unsafe"
    )


# --- files made once -------------------------------------------------------------------------------------------------


def installation_key(plugin_root: Path) -> bytes:
    """This installation's 32 secret bytes, `data/installation.key` (mode 600), made at the first call.

    Any number of processes may call it at once: all get the same key. Raises RecordError when the key cannot be made or
    read, or has another length; a key is never replaced.
    """
    path = plugin_root / "data" / "installation.key"
    try:
        path.parent.mkdir(exist_ok=True)
        with _directory(path.parent) as at:
            if not _exists(path.name, at):
                _create_once(path.name, secrets.token_bytes(KEY_BYTES), 0o600, at)
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
    with io.FileIO(_open_regular(name, os.O_RDONLY, at, most_names=2), "rb") as file:
        return file.read(KEY_BYTES + 1)


def _create_once(name: str, content: bytes, mode: int, at: int) -> None:
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


# --- artifacts -------------------------------------------------------------------------------------------------------


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
            below = _open_folder(part, at)
            os.close(at)
            at = below
        return _open_regular(inside.name or ".", os.O_RDONLY, at, most_names=1 << 30)
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


# --- footprints


_FOOTPRINT_BYTES = 4096


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


# --- packages --------------------------------------------------------------------------------------------------------


def _late(module: str, package: str) -> ModuleType:
    """Import when first needed; a missing package is a clear error, not a tool that the host cannot find."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise RecordError(
            f"the Python package {package} is not installed",
            f"run `python execute.py` in the plugin folder, or `pip install {package}` in the host's Python",
            "append_failed",
        ) from error

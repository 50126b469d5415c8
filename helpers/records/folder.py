"""The folder `<project_root>/.a0proj/handover/`: names of its files, its one lock and its `.gitignore`."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Literal

from ..values.errors import RecordError
from .files import MARK, create_once, directory, exists, open_append, reading, unsafe, writing

GitIgnore = Literal["chains", "all", "none"]

NAME_CHARS = 120
TOPIC_CHARS = 60
SPECIALIST_CHARS = 45
CHAT_CHARS = 40

_SLUGIFIED_CHARS = 1000
_PLAIN = re.compile(r"[A-Za-z0-9]+(?:[ _-][A-Za-z0-9]+)*")
_DEVICE = re.compile(r"con|prn|aux|nul|com\d|lpt\d|conin|conout")
_LOOKS_HASHED = re.compile(r".*[-_][0-9a-f]{8}", re.DOTALL)
_CHAT = re.compile(r"[A-Za-z0-9_]+")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\.(?:md|jsonl)")


# --- names


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


# --- the folder


@dataclass(frozen=True)
class HandoverFolder:
    """`<root>/.a0proj/handover` of one project; knows names, opens nothing by itself."""

    root: Path

    @property
    def path(self) -> Path:
        """Where the briefings are."""
        return self.root / MARK / "handover"

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
        with writing(folder.path), suppress(FileNotFoundError), directory(folder.chains, create):
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
    with writing(folder.path / ".gitignore"), directory(folder.path) as at:
        if not exists(".gitignore", at):
            create_once(".gitignore", content, 0o644, at)


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
        raise unsafe(f"project_root is not an existing folder: {project_root!r}")
    return Path(project_root)


def _checked_name(name: str, suffix: str) -> str:
    if len(name) > NAME_CHARS or not name.endswith(suffix) or not _FILE.fullmatch(name):
        raise unsafe(f"not a file name of the handover folder: {name[:NAME_CHARS]!r}")
    return name


def _listed(path: Path, suffix: str) -> tuple[Path, ...]:
    return tuple(path / name for name in sorted(names(path, suffix)))


def names(path: Path, suffix: str) -> Iterator[str]:
    """Names of the files of a folder that could be ours, one by one in no order; none when there is no such folder."""
    with (
        suppress(FileNotFoundError),
        reading(path),
        directory(path) as at,
        os.scandir(at) as entries,
    ):
        yield from (
            entry.name
            for entry in entries
            if entry.name.endswith(suffix) and _FILE.fullmatch(entry.name)
        )


# --- packages


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

"""The folder `<project_root>/.a0proj/handover/`: names of its files, its lock, and what git reads there."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from ..values.errors import RecordError
from ..values.names import key
from . import lock
from .files import (
    MARK,
    create_once,
    directory,
    exists,
    open_append,
    open_read,
    reading,
    unsafe,
    write_whole,
    writing,
)

GitIgnore = Literal["chains", "all", "none"]

NAME_CHARS = 120
TOPIC_CHARS = 60
SPECIALIST_CHARS = 45
CHAT_CHARS = 40

_SLUGIFIED_CHARS = 1000
_HASH_CHARS = len("-01234567")
_PLAIN = re.compile(r"[A-Za-z0-9]+(?:[ _-][A-Za-z0-9]+)*")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DEVICE = re.compile(r"con|prn|aux|nul|com\d|lpt\d|conin|conout")
_LOOKS_HASHED = re.compile(r".*[-_][0-9a-f]{8}", re.DOTALL)
_CHAT = re.compile(r"[A-Za-z0-9_]+")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.md|(?:\.[0-9a-f]{8})?\.(?:jsonl|end))")
_LOCAL = b"chains/.lock\nchains/*.end\n"
_IGNORED = {"chains": b"chains/\n", "all": b"*\n", "none": _LOCAL}
_COVERS = frozenset({b"chains/", b"chains", b"chains/*", b"/chains/", b"*", b"chains/.lock"})
_GIT_FILE_BYTES = 100_000


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

        Raises RecordError: root_not_absolute; path_unsafe when the root is no folder or a part
        below it is a link or no folder; append_failed when a part cannot be made.
        """
        folder = cls(_checked_root(project_root))
        with writing(folder.path), suppress(FileNotFoundError), directory(folder.chains, create):
            pass
        return folder

    def briefing_name(self, specialist: str, topic: str, day: date | str) -> str:
        """`<specialist>-<topic>-<YYYY-MM-DD>.md`, at most 120 characters.

        `day` is a date, or an ISO date or time: that of the event whose entry it is.
        """
        return _briefing_name(specialist, topic_slug(topic), day)

    def chain_id(self, topic: str, chat_id: str) -> str:
        """`<topic-slug>-<chat id>`; an id that is empty, long or no single word is hashed."""
        return f"{topic_slug(topic)}-{_chat_part(chat_id)}"

    def briefing_of(self, chain_id: str, specialist: str, day: str) -> Path:
        """Of the briefing in which a chain's work of a specialist and day stands: it bears the slug
        that the chain was made with."""
        return self.briefing_path(_briefing_name(specialist, topic_part(chain_id), day))

    def briefing_path(self, name: str) -> Path:
        """Of a briefing by its name alone. Raises RecordError(path_unsafe) for what is not one."""
        return self.path / _checked_name(name, ".md")

    def ledger_path(self, chain_id: str, writer: str = "") -> Path:
        """Of the file that a writer (`writer_of`) keeps of a chain; "" is how earlier versions named
        it. Raises RecordError(path_unsafe) for what could be no file name."""
        name = f"{chain_id}.{writer}.jsonl" if writer else f"{chain_id}.jsonl"
        if "." in chain_id:
            raise unsafe(f"not the id of a chain: {chain_id[:NAME_CHARS]!r}")
        return self.chains / _checked_name(name, ".jsonl")

    def briefings(self) -> tuple[Path, ...]:
        """Every briefing there is, in the order of names."""
        return tuple(self.path / name for name in sorted(names(self.path, ".md")))

    def ledgers(self) -> tuple[Path, ...]:
        """Every file of a ledger there is, in the order of names."""
        return tuple(self.chains / name for name in sorted(names(self.chains, ".jsonl")))

    def lock(self, timeout_s: float) -> AbstractContextManager[None]:
        """Hold the folder's one lock (`lock.held`); it must have been opened with `create`."""
        return lock.held(self.chains / ".lock", timeout_s)


def chain_of(ledger_name: str) -> str:
    """The chain that a file of a ledger is of, by its name."""
    return ledger_name.partition(".")[0]


def write_git_files(folder: HandoverFolder, mode: GitIgnore) -> None:
    """Make what git reads in the folder: `.gitattributes` and `.gitignore`.

    Lines go through git as they are and two sides of a record are never mixed: either can be taken.
    The lock and the marks of the ledgers' ends are this machine's alone. One that is there is the
    person's: a line that it lacks is put behind, nothing is rewritten.
    """
    wanted = ((".gitattributes", b"* -text -merge\n", b""), (".gitignore", _IGNORED[mode], _LOCAL))
    for name, content, least in wanted:
        with writing(folder.path / name), directory(folder.path) as descriptor:
            if not exists(name, descriptor):
                create_once(name, content, 0o644, descriptor)
                continue
        if least:
            _add_line(folder.path / name, least)


def _add_line(path: Path, line: bytes) -> None:
    """Behind what a `.gitignore` says, where it does not ignore as much already."""
    with writing(path):
        with open_read(path) as file:
            said = file.read(_GIT_FILE_BYTES)
        if _COVERS.isdisjoint(part.strip() for part in said.split(b"\n")):
            with open_append(path) as file:
                write_whole(file, (b"" if said.endswith(b"\n") or not said else b"\n") + line, path)


def names(path: Path, suffix: str) -> Iterator[str]:
    """Names of a folder's files that could be ours, in no order; none without the folder."""
    with (
        suppress(FileNotFoundError),
        reading(path),
        directory(path) as descriptor,
        os.scandir(descriptor) as entries,
    ):
        for entry in entries:
            if entry.name.endswith(suffix) and _FILE.fullmatch(entry.name):
                yield entry.name


def _checked_root(project_root: str) -> Path:
    if not os.path.isabs(project_root):  # noqa: PTH117
        raise RecordError(
            f"project_root must be absolute, got {project_root!r}",
            "give the full path",
            "root_not_absolute",
        )
    if not os.path.isdir(project_root):  # noqa: PTH112 - Path.is_dir raises for a NUL
        message = f"project_root is not an existing folder: {project_root!r}"
        raise unsafe(message, "leave project_root out, or give the folder of a project")
    return Path(project_root)


def _checked_name(name: str, suffix: str) -> str:
    if len(name) > NAME_CHARS or not name.endswith(suffix) or not _FILE.fullmatch(name):
        raise unsafe(f"not a file name of the handover folder: {name[:NAME_CHARS]!r}")
    return name


def _briefing_name(specialist: str, topic_slug: str, day: date | str) -> str:
    iso = day if isinstance(day, str) else day.isoformat()
    checked = date.fromisoformat(iso[:10]).isoformat()
    who = _unique_slug(specialist, SPECIALIST_CHARS, "specialist")
    return f"{who}-{topic_slug}-{checked}.md"


# --- topics


def topic_part(chain_id: str) -> str:
    """The slug of the topic in a chain's id: all before the chat, which has no hyphen."""
    return chain_id.rpartition("-")[0]


def topic_slug(topic: str) -> str:
    """The slug of a topic, at most 60 characters, never empty, never a device name of Windows.

    A topic whose key is words of ASCII letters and digits is its slug. Every other one gets `-<8
    hex>` of the sha256 of its key, and so does a plain one that ends like such a hash.
    """
    words = _topic_key(topic)
    plain = words.replace(" ", "-")
    if _is_slug(plain, TOPIC_CHARS):
        return plain
    return f"{slug(words, TOPIC_CHARS - _HASH_CHARS) or 'topic'}-{_short_hash(words)}"


def slugs_of(topic: str) -> tuple[str, ...]:
    """What a chain on this topic may be called: its slug now, that of 0.1.0, and last the hash in
    which its slug ends ("" for none), whatever library transliterated the rest."""
    now, before = topic_slug(topic), _unique_slug(topic, TOPIC_CHARS, "topic")
    mark = f"-{_short_hash(_topic_key(topic))}"
    return now, before, mark if now.endswith(mark) else ""


def is_called(topic_slug: str, slugs: tuple[str, ...]) -> bool:
    """Whether a slug is one of a topic's own; `slugs` as `slugs_of` gives them."""
    *names, mark = slugs
    return topic_slug in names or bool(mark and topic_slug.endswith(mark))


def readable(topic_slug: str) -> str:
    """A slug without its hash."""
    return topic_slug[:-_HASH_CHARS] if _LOOKS_HASHED.fullmatch(topic_slug) else topic_slug


def _topic_key(topic: str) -> str:
    return key(topic) or topic


# --- slugs


def slug(text: str, max_chars: int = TOPIC_CHARS) -> str:
    """Lower-case ASCII letters and digits with single hyphens, at most `max_chars`; may be "".

    Two texts may share a slug: `topic_slug` keeps them apart. Raises RecordError when
    python-slugify is missing and `text` needs it (anything but ASCII words).
    """
    plain = text if _PLAIN.fullmatch(text) else _slugified(text[:_SLUGIFIED_CHARS])
    return re.sub(r"[ _]", "-", plain.lower())[:max_chars].strip("-")


def _is_slug(text: str, max_chars: int) -> bool:
    """Whether it can be a name as it is, and is not one that a hash was put to."""
    if len(text) > max_chars or not _SLUG.fullmatch(text):
        return False
    return not _DEVICE.fullmatch(text) and not _LOOKS_HASHED.fullmatch(text)


def _unique_slug(text: str, max_chars: int, fallback: str) -> str:
    """The slug of a specialist; until 0.1.0 also of a topic, by its spelling."""
    raw = unicodedata.normalize("NFC", text).strip()
    if _PLAIN.fullmatch(raw) and len(raw) <= max_chars:
        plain = slug(raw, max_chars)
        if _is_slug(plain, max_chars):
            return plain
    return f"{slug(raw, max_chars - _HASH_CHARS) or fallback}-{_short_hash(raw)}"


def _chat_part(chat_id: str) -> str:
    """The host's ids as they are; with a hyphen two (topic, chat) pairs could share a chain."""
    is_plain = _CHAT.fullmatch(chat_id) and len(chat_id) <= CHAT_CHARS
    if is_plain and not _LOOKS_HASHED.fullmatch(chat_id):
        return chat_id
    readable = re.sub(r"[^A-Za-z0-9]+", "_", chat_id)[: CHAT_CHARS - _HASH_CHARS].strip("_")
    return f"{readable or 'chat'}_{_short_hash(chat_id)}"


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _slugified(text: str) -> str:
    """By python-slugify, imported late: the host may lack it, and most topics do not need it."""
    try:
        from slugify import slugify
    except ImportError as error:
        raise RecordError(
            "the Python package python-slugify is not installed",
            "run `python execute.py` in the plugin folder, or `pip install python-slugify` in the"
            " host's Python",
            "append_failed",
        ) from error
    without_surrogates = text.encode("utf-8", "ignore").decode("utf-8")
    return slugify(without_surrogates)

"""What a person or a program wants to see of the records: chains, timelines, packets and briefings, read and never written.

    projects(directory)                    -> tuple[HandoverFolder, ...]    a project, or every project of a folder
    chains(folder, key, since="")          -> Iterator[ChainSummary]        in the order of names
    stories(folder, key)                   -> Iterator[Story]
    read_story(folder, chain_id, key)      -> Story
    timeline(story)                        -> {lanes, bars, arrows, marks, ...}
    packet_of(story, handover_id)          -> {summary, packet, returned, note, ...} or None
    briefing_text(folder, name)            -> str
    briefing_names(folder)                 -> tuple[str, ...]

All shapes are plain JSON and are told in `chain_view` (ChainSummary, HandoverSummary) and in the functions' docstrings there.
A ledger that cannot be read is a ChainSummary with state "unreadable" and an `error`; it never stops the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..chain.chain import Chain
from ..records import files
from ..records.folder import HandoverFolder
from ..records.ledger import Ledger, Reading
from ..values.errors import RecordError
from . import story
from .story import Story, packet_of, timeline

__all__ = [
    "briefing_names",
    "briefing_text",
    "chains",
    "packet_of",
    "projects",
    "read_story",
    "stories",
    "timeline",
]

BRIEFING_BYTES = 4 * 1024 * 1024


def projects(directory: Path) -> tuple[HandoverFolder, ...]:
    """The handover folders of a project, or of every project directly in `directory`, in the order of names.

    Raises RecordError when `directory` is no folder, or neither it nor a folder in it has a record.
    """
    root = Path(directory).absolute()
    if (root / ".a0proj" / "handover").is_dir():
        return (HandoverFolder.open(str(root)),)
    if not root.is_dir():
        raise RecordError(
            f"not a folder: {root}", "name a project, or a folder of projects", "path_unsafe"
        )
    found = tuple(
        HandoverFolder(path)
        for path in sorted(root.iterdir())
        if (path / ".a0proj" / "handover").is_dir()
    )
    if not found:
        raise RecordError(
            f"no handover is recorded in {root}",
            "name a project with .a0proj/handover, or a folder of such projects",
            "path_unsafe",
        )
    return found


def chains(folder: HandoverFolder, key: bytes, since: str = "") -> Iterator[dict[str, Any]]:
    """The ChainSummary of every chain whose last event is not before `since` (an ISO date or time in UTC), by name."""
    for path in folder.ledgers():
        found = summary_of(folder, path, key)
        if not since or found["updated"] >= since or found["error"]:
            yield found


def summary_of(folder: HandoverFolder, path: Path, key: bytes) -> dict[str, Any]:
    """The ChainSummary of a ledger, also of one that cannot be read."""
    told, reading = _told(path, key)
    faults = sum(fault.is_damage for fault in reading.faults)
    return story.summary(told, project=str(folder.root), size_bytes=reading.size, faults=faults)


def stories(folder: HandoverFolder, key: bytes) -> Iterator[Story]:
    """Every chain, one at a time; one that cannot be read has an `error`."""
    for path in folder.ledgers():
        yield _told(path, key)[0]


def read_story(folder: HandoverFolder, chain_id: str, key: bytes) -> Story:
    """The chain of that id. Raises RecordError when there is none, or the id could not be one."""
    path = folder.ledger_path(chain_id)
    told, _ = _told(path, key)
    if not told.events and not told.error:
        raise RecordError(
            f"no chain {chain_id} is recorded in {folder.path}",
            "see the list of chains",
            "unknown_reference",
        )
    return told


def _told(path: Path, key: bytes) -> tuple[Story, Reading]:
    try:
        reading = Ledger(path, key).read()
    except RecordError as error:
        return Story(Chain(path.stem), (), error=error.message), Reading()
    return story.story(path.stem, reading.events), reading


def briefing_names(folder: HandoverFolder) -> tuple[str, ...]:
    """File names of all briefings, in order."""
    return tuple(path.name for path in folder.briefings())


def briefing_text(folder: HandoverFolder, name: str) -> str:
    """A briefing as text; bytes that are no UTF-8 are shown as U+FFFD, one over 4 MiB is cut and says so.

    Raises RecordError: not a briefing's name, no such file, a link, or the system's reason.
    """
    path = folder.briefing_path(name)
    try:
        with files.reading(path), files.open_read(path) as file:
            content = file.read(BRIEFING_BYTES + 1)
    except FileNotFoundError as error:
        raise RecordError(
            f"no briefing {name} in {folder.path}", "see the list of briefings", "unknown_reference"
        ) from error
    if len(content) <= BRIEFING_BYTES:
        return content.decode("utf-8", "replace")
    return (
        content[:BRIEFING_BYTES].decode("utf-8", "ignore")
        + "\n[cut here: the file is larger than 4 MiB, read it on the disk]\n"
    )

"""The records that people and programs are shown, read and never written.

All shapes are plain JSON, told in `story` (ChainSummary, HandoverSummary) and in the docstrings of
its functions. A ledger that cannot be read is a ChainSummary with state "unreadable" and an
`error`; it never stops the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..chain.chain import Chain
from ..records import files, listing
from ..records.chain_ledger import ChainLedger
from ..records.folder import HandoverFolder
from ..records.ledger import Reading
from ..values.errors import RecordError
from ..values.trust import NOBODY_ELSE, Trust
from . import story
from .story import Json, Story, packet_of, timeline

__all__ = [
    "briefing_text",
    "chains",
    "packet_of",
    "projects",
    "read_chain",
    "read_story",
    "stories",
    "timeline",
]

BRIEFING_BYTES = 4 * 1024 * 1024


def projects(directory: Path) -> tuple[HandoverFolder, ...]:
    """The handover folders of a project, or of every project in `directory`, by name.

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


def chains(
    folder: HandoverFolder, key: bytes, since: str = "", trust: Trust = NOBODY_ELSE
) -> Iterator[Json]:
    """The ChainSummary of every chain, by name.

    With `since` (as the ledgers write times) of those with a later event, or that cannot be read.
    """
    for chain_id in listing.chains(folder):
        summary, _ = _read(folder, chain_id, key, trust)
        if summary["updated"] >= since or summary["error"]:
            yield summary


def stories(folder: HandoverFolder, key: bytes, trust: Trust = NOBODY_ELSE) -> Iterator[Story]:
    """Every chain, one at a time; one that cannot be read has an `error`."""
    for chain_id in listing.chains(folder):
        yield _told(folder, chain_id, key, trust)[0]


def read_chain(
    folder: HandoverFolder, chain_id: str, key: bytes, trust: Trust = NOBODY_ELSE
) -> tuple[Json, Story]:
    """The chain of that id and its ChainSummary.

    Raises RecordError when there is none, or the id could not be one.
    """
    summary, told = _read(folder, chain_id, key, trust)
    if not told.events and not told.error:
        raise RecordError(
            f"no chain {chain_id} is recorded in {folder.path}",
            "see the list of chains",
            "unknown_reference",
        )
    return summary, told


def read_story(
    folder: HandoverFolder, chain_id: str, key: bytes, trust: Trust = NOBODY_ELSE
) -> Story:
    """The chain of that id. Raises as `read_chain`."""
    return read_chain(folder, chain_id, key, trust)[1]


def _read(folder: HandoverFolder, chain_id: str, key: bytes, trust: Trust) -> tuple[Json, Story]:
    told, reading = _told(folder, chain_id, key, trust)
    faults = sum(fault.is_damage for fault in reading.faults)
    project = str(folder.root)
    return story.summary(told, project=project, size_bytes=reading.size, faults=faults), told


def _told(folder: HandoverFolder, chain_id: str, key: bytes, trust: Trust) -> tuple[Story, Reading]:
    ledger = ChainLedger(folder, chain_id, key, trust=trust)
    try:
        reading = ledger.read()
    except RecordError as error:
        return Story(Chain(chain_id), (), error=error.message), Reading()
    return story.story(chain_id, reading.events, reading.gaps), reading


def briefing_text(folder: HandoverFolder, name: str) -> str:
    """A briefing as text; one over 4 MiB is cut and says so, bytes that are no UTF-8 are U+FFFD.

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
    beginning = content[:BRIEFING_BYTES].decode("utf-8", "ignore")
    return f"{beginning}\n[cut here: the file is larger than 4 MiB, read it on the disk]\n"

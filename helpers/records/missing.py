"""Which entries of a chain its briefings lack, wherever a merge has put the others.

A briefing is shared: after a merge in git either side may have been taken. What stands is found by
its hash anywhere in the file. An entry that stands there altered is no missing one: it stays a fault
for `verify`, and so does one whose heading alone is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..values.errors import RecordError
from ..values.events import Briefed, Event, Redacted, WithPacket
from . import briefing, files
from .briefing import Plan
from .folder import HandoverFolder
from .kept import Kept

# How a briefing stood when it held all entries of a chain, and the last event of them.
_whole: Kept[tuple[Path, str], tuple[files.Stamp, str]] = Kept(256)


@dataclass
class Missing:
    """`events` whose entry is to be written, oldest first; `unreadable` says what could not be
    looked at: that is not written a second time."""

    events: list[Event] = field(default_factory=list)
    unreadable: str = ""


@dataclass(frozen=True)
class _Entry:
    event: Event
    plans: list[Plan]
    is_last: bool  # planned last: a crash may have cut it short


def missing(
    folder: HandoverFolder,
    chain_id: str,
    events: Iterable[Event],
    entry_of: Callable[[Event], bytes],
) -> Missing:
    """What this installation recorded in a chain and its briefings do not hold.

    A briefing is read again only after somebody else wrote to it.
    """
    found = Missing()
    by_file: dict[Path, list[_Entry]] = defaultdict(list)
    for entry in _entries(folder, events, found):
        if entry.plans:
            by_file[entry.plans[-1].path].append(entry)
        else:
            found.events.append(entry.event)
    for path, entries in by_file.items():
        last = entries[-1].event.id
        if _whole.get((path, chain_id)) == (files.stamp(path), last):
            continue
        try:
            lost = _lost(path, entries, entry_of)
        except RecordError as error:
            found.unreadable = found.unreadable or error.message
            continue
        found.events += lost
        if not lost:
            keep(path, chain_id, last)
    return found


def is_whole(path: Path, chain_id: str) -> bool:
    """Whether the briefing, as it stands, held all of the chain, or is not there."""
    stamp = files.stamp(path)
    kept = _whole.get((path, chain_id))
    return not stamp.size or (kept is not None and kept[0] == stamp)


def keep(path: Path, chain_id: str, last: str) -> None:
    """The briefing holds all of the chain up to the event `last`, as after our own append to one
    that was whole before."""
    _whole.put((path, chain_id), (files.stamp(path), last))


def _entries(folder: HandoverFolder, events: Iterable[Event], found: Missing) -> list[_Entry]:
    with_entry: dict[str, Event] = {}
    plans: dict[str, list[Plan]] = defaultdict(list)
    redacted: set[str] = set()
    last = ""
    for event in events:
        if not event.trusted:
            continue
        payload = event.payload
        if isinstance(payload, Redacted):
            redacted.add(event.handover)
        elif not event.is_own:
            continue  # whoever wrote it writes its entry again
        elif isinstance(payload, WithPacket) and payload.packet is not None:
            with_entry[event.id] = event
        elif isinstance(payload, Briefed):
            last = payload.event
            try:
                plans[last].append(briefing.plan_from_data(folder, payload.to_data()))
            except RecordError as error:
                found.unreadable = found.unreadable or error.message
                redacted.add(event.handover)
    return [
        _Entry(event, plans[event.id], event.id == last)
        for event in with_entry.values()
        if event.handover not in redacted
    ]


def _lost(path: Path, entries: list[_Entry], entry_of: Callable[[Event], bytes]) -> list[Event]:
    """Those that stand neither in their place nor elsewhere, also not altered."""
    astray = [entry for entry in entries if not briefing.stands(path, entry.plans)]
    if not astray:
        return []
    digests, headings = briefing.looked_through(path)
    lost = []
    for entry in astray:
        if not digests.isdisjoint(plan.sha256 for plan in entry.plans):
            continue
        heading = entry_of(entry.event).partition(b"\n")[0]
        if heading not in headings or (entry.is_last and headings[heading] == "torn"):
            lost.append(entry.event)
    return lost

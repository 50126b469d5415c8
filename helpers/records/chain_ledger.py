"""The ledger of a chain: the files of all who wrote it, read as one. Nearly always it is one file.

Each installation appends to a file of its own, so that git never has to merge two. Events of several
files stand in the order of their times, those of one file in the order of the file.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ..values.call import Call
from ..values.events import Draft, Event
from ..values.trust import NOBODY_ELSE, Trust
from . import files, listing
from .folder import HandoverFolder
from .identity import writer_of
from .ledger import Ledger, Reading, random_id, utc_now

Stamps = tuple[tuple[str, files.Stamp], ...]


class Whole(NamedTuple):
    """All files of a chain as they stand. `elsewhere`: the newest time that counts in files of others,
    where it is later than all of this installation's."""

    reading: Reading
    elsewhere: str = ""


class ChainLedger:
    """`own` is the file that this installation appends to."""

    def __init__(
        self,
        folder: HandoverFolder,
        chain_id: str,
        key: bytes,
        *,
        trust: Trust = NOBODY_ELSE,
        clock: Callable[[], datetime] = utc_now,
        new_id: Callable[[str], str] = random_id,
    ) -> None:
        self.folder = folder
        self.chain = chain_id
        self.key = key
        self.trust = trust
        path = folder.ledger_path(chain_id, writer_of(key))
        self.own = Ledger(path, key, trust=trust, clock=clock, new_id=new_id)

    def listed(self) -> tuple[Path, ...]:
        """The files that there are, in the order of names. Raises RecordError."""
        return listing.files_of(self.folder, self.chain)

    def files(self) -> tuple[Path, ...]:
        """Those, and one's own also where only its mark is left."""
        found = self.listed()
        return found if self.own.path in found else (*found, self.own.path)

    def stamps(self) -> Stamps:
        """Others after every write to one of the files. Raises RecordError as `Ledger.read`."""
        return tuple((path.name, files.stamp(path)) for path in self.files())

    def read(self) -> Reading:
        """Raises RecordError as `Ledger.read`."""
        return self.whole().reading

    def whole(self) -> Whole:
        """Raises RecordError as `Ledger.read`."""
        readings = [
            (path.name, Ledger(path, self.key, trust=self.trust).read()) for path in self.files()
        ]
        present = [(name, reading) for name, reading in readings if reading != Reading()]
        if not present:
            return Whole(Reading())
        if len(present) == 1:
            name, reading = present[0]
            return Whole(reading, "" if name == self.own.path.name else _newest(reading))
        own = dict(present).get(self.own.path.name, Reading())
        elsewhere = max(_newest(item) for name, item in present if name != self.own.path.name)
        events = heapq.merge(*(_timed(name, item) for name, item in present))
        merged = Reading(
            tuple(event for *_, event in events),
            tuple(fault for _, item in present for fault in item.faults),
            {place: damage for _, item in present for place, damage in item.gaps.items()},
            any(item.torn for _, item in present),
            sum(item.size for _, item in present),
            own.run,
        )
        return Whole(merged, elsewhere if elsewhere >= _newest(own) else "")

    def append(self, drafts: Sequence[Draft], *, after: str = "") -> tuple[Event, ...]:
        """As `Ledger.append`, to the own file; `after` is the `elsewhere` of what was read."""
        return self.own.append(drafts, after=after)


def chain_ledger(folder: HandoverFolder, chain_id: str, call: Call) -> ChainLedger:
    """Raises RecordError(path_unsafe) for what could be no chain's id."""
    ports = call.ports
    return ChainLedger(
        folder,
        chain_id,
        ports.key(),
        trust=trust_of(call),
        clock=ports.clock,
        new_id=ports.new_id,
    )


def trust_of(call: Call) -> Trust:
    """Whom the installation of a call believes."""
    return Trust(call.ports.former(), call.settings.trusted)


def _newest(reading: Reading) -> str:
    return max((event.time for event in reading.events if event.trusted), default="")


def _timed(name: str, reading: Reading) -> Iterator[tuple[str, str, int, Event]]:
    """A file never goes back in time: an event counts as no earlier than those before it."""
    time = ""
    for number, event in enumerate(reading.events):
        time = max(time, event.time)
        yield time, name, number, event

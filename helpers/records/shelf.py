"""What the ledgers of a folder say, read again only when a file has changed.

Kept in memory alone: a ledger is known by its file's stamp, a folder's list of ledgers by the
folder's. Nothing here is a second truth; whatever was not seen changed is read anew.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ..chain.chain import Chain, fold
from ..values.call import Ports
from ..values.errors import NewerRecordError, RecordError
from ..values.events import Event
from . import end, files
from .folder import HandoverFolder, names
from .kept import Kept
from .ledger import Ledger

_KEPT_BYTES = 8 * 1024 * 1024  # of one ledger; a larger one is read each time
# A folder that changed so short ago may have changed again without another time stamp.
_SETTLED_S = 0.1


@dataclass(frozen=True)
class Copy:
    """A ledger's intact events, and the chain that they tell."""

    chain: Chain
    events: tuple[Event, ...] = ()

    def after(self, events: Sequence[Event]) -> Copy:
        return Copy(self.chain.after(events), (*self.events, *events))


@dataclass(frozen=True)
class _Listing:
    """The chains of a folder. `settled`: nothing can have been added under the same stamp."""

    stamp: files.Stamp
    by_chat: dict[str, list[str]]
    settled: bool


_copies: Kept[tuple[Path, bytes], tuple[files.Stamp, Copy]] = Kept(64)
_listings: Kept[Path, _Listing] = Kept(64)
# The chain of each handover that was seen.
_places: Kept[tuple[Path, str], str] = Kept(4096)


def ledger_of(folder: HandoverFolder, chain_id: str, ports: Ports) -> Ledger:
    path = folder.ledger_path(chain_id)
    return Ledger(path, ports.key(), clock=ports.clock, new_id=ports.new_id)


def copy_of(ledger: Ledger) -> Copy:
    """The ledger as it stands now. Raises RecordError when it may not be opened or read, and when
    a newer version of the plugin wrote there."""
    name = (ledger.path, ledger.key)
    stamp = ledger.stamp()
    kept = _copies.get(name)
    if kept is not None and kept[0] == stamp:
        return kept[1]
    reading = ledger.read()
    for fault in reading.faults:
        if fault.kind == "newer":
            raise NewerRecordError(
                f"failed to append briefing file: {fault.where} was written by a newer version"
            )
    copy = Copy(fold(ledger.path.stem, reading.events, reading.gaps), reading.events)
    _keep(name, stamp, copy)
    return copy


def keep(ledger: Ledger, copy: Copy) -> None:
    """What a ledger says after a write of our own; the caller holds the folder's lock."""
    _keep((ledger.path, ledger.key), ledger.stamp(), copy)


def _keep(name: tuple[Path, bytes], stamp: files.Stamp, copy: Copy) -> None:
    folder = name[0].parent
    for handover in reversed(copy.chain.handovers):
        if _places.get((folder, handover.id)) == copy.chain.id:
            break  # and so are those before it
        _places.put((folder, handover.id), copy.chain.id)
    if stamp.size <= _KEPT_BYTES:
        _copies.put(name, (stamp, copy))
    else:
        _copies.drop(name)


def chains_of_chat(folder: HandoverFolder, chat_id: str) -> tuple[str, ...]:
    """The ids of a chat's chains, by the names of the ledgers, in their order."""
    chat = folder.chain_id("x", chat_id).rpartition("-")[2]
    return tuple(sorted(_listed(folder).by_chat.get(chat, ())))


def _listed(folder: HandoverFolder) -> _Listing:
    stamp = files.stamp(folder.chains)
    kept = _listings.get(folder.chains)
    if kept is not None and kept.settled and kept.stamp == stamp:
        return kept
    listing = _list(folder, stamp)
    _listings.put(folder.chains, listing)
    return listing


def _list(folder: HandoverFolder, stamp: files.Stamp) -> _Listing:
    by_chat: dict[str, list[str]] = {}
    for name in names(folder.chains, ".jsonl"):
        chain_id = name.removesuffix(".jsonl")
        by_chat.setdefault(chain_id.rpartition("-")[2], []).append(chain_id)
    return _Listing(stamp, by_chat, time.time() - stamp.mtime_ns / 1e9 > _SETTLED_S)


def before_new(folder: HandoverFolder) -> bool:
    """Asked under the lock before a ledger is made: makes the list true, where one is kept."""
    kept = _listings.get(folder.chains)
    if kept is None:
        return False
    stamp = files.stamp(folder.chains)
    if not kept.settled or kept.stamp != stamp:
        _listings.put(folder.chains, replace(_list(folder, stamp), settled=True))
    return True


def add_new(folder: HandoverFolder, chain_id: str) -> None:
    """A ledger that was made, under the lock, since `before_new` said that the list is true."""
    kept = _listings.get(folder.chains)
    if kept is None:
        return  # pushed out by other folders meanwhile
    kept.by_chat.setdefault(chain_id.rpartition("-")[2], []).append(chain_id)
    _listings.put(folder.chains, replace(kept, stamp=files.stamp(folder.chains), settled=True))


def chain_holding(
    folder: HandoverFolder, handover_id: str, chat_id: str, ports: Ports
) -> Chain | None:
    """The chain that a handover belongs to, or None.

    Known places first, then the chat's own ledgers, at last every ledger that mentions it. A file
    that may not be opened or cannot be read is passed over: `unreadable` names it.
    """
    known = _places.get((folder.chains, handover_id))
    chain = _chain_with(folder, known, handover_id, ports) if known else None
    if chain is not None:
        return chain
    for chain_id in chains_of_chat(folder, chat_id):
        chain = _chain_with(folder, chain_id, handover_id, ports)
        if chain is not None:
            return chain
    wanted = handover_id.encode("utf-8", "replace")
    for path in folder.ledgers():
        with suppress(RecordError, FileNotFoundError):
            if not files.holds(path, wanted):
                continue
            chain = _chain_with(folder, path.stem, handover_id, ports)
            if chain is not None:
                return chain
    return None


def _chain_with(
    folder: HandoverFolder, chain_id: str, handover_id: str, ports: Ports
) -> Chain | None:
    try:
        chain = copy_of(ledger_of(folder, chain_id, ports)).chain
    except RecordError:
        return None
    return chain if chain.find(handover_id) else None


def hiding(folder: HandoverFolder, handover_id: str, chat_id: str, ports: Ports) -> tuple[str, ...]:
    """Where the record of a handover that is not found may have stood: places of damage in the
    chat's ledgers and in those that mention it, and ledgers that are gone."""
    chain_ids = dict.fromkeys(chains_of_chat(folder, chat_id))
    wanted = handover_id.encode("utf-8", "replace")
    for path in folder.ledgers():
        with suppress(RecordError, FileNotFoundError):
            if files.holds(path, wanted):
                chain_ids[path.stem] = None
    places = []
    for chain_id in chain_ids:
        with suppress(RecordError):
            places += [damage.where for damage in peek(folder, chain_id, ports).damage]
    ledgers = {path.stem for path in folder.ledgers()}
    marks = [name.removesuffix(end.SUFFIX) for name in sorted(names(folder.chains, end.SUFFIX))]
    places += [f"{chain_id}.jsonl, which is gone" for chain_id in marks if chain_id not in ledgers]
    return _at_most_three(places)


def unreadable(folder: HandoverFolder) -> str:
    """The ledgers that `chain_holding` passes over, each with its reason; "" when there are none."""
    reasons = []
    for path in folder.ledgers():
        try:
            size = files.footprint(path).size
        except RecordError as error:
            reasons.append(f"not read: {path.name}, {error.message}")
            continue
        if size > files.SEARCHED_BYTES:
            reasons.append(f"not read: {path.name}, {size:,} bytes")
    return "; ".join(_at_most_three(reasons))


def _at_most_three(told: Sequence[str]) -> tuple[str, ...]:
    rest = (f"and {len(told) - 3} more",) if len(told) > 3 else ()
    return (*told[:3], *rest)


def peek(folder: HandoverFolder, chain_id: str, ports: Ports) -> Chain:
    """The chain as it stands, without lock or repair. Raises RecordError."""
    return copy_of(ledger_of(folder, chain_id, ports)).chain

"""Which files a folder's ledgers are, by chain and by chat, read again only when the folder has changed."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from . import files
from .folder import HandoverFolder, chain_of, names
from .kept import Kept

# A folder that changed so short ago may have changed again without another time stamp.
_SETTLED_S = 0.1


@dataclass(frozen=True)
class _Listing:
    """The ledgers of a folder: file names by chain, chains by chat. `settled`: nothing can have been
    added under the same stamp."""

    stamp: files.Stamp
    of_chain: dict[str, list[str]]
    by_chat: dict[str, list[str]]
    settled: bool

    def add(self, names: Iterable[str]) -> None:
        for name in names:
            chain_id = chain_of(name)
            if chain_id not in self.of_chain:
                self.by_chat.setdefault(chain_id.rpartition("-")[2], []).append(chain_id)
            self.of_chain.setdefault(chain_id, []).append(name)


_listings: Kept[Path, _Listing] = Kept(64)


def files_of(folder: HandoverFolder, chain_id: str) -> tuple[Path, ...]:
    """A chain's files, in the order of names. Raises RecordError."""
    listed = _listed(folder).of_chain.get(chain_id, ())
    return tuple(folder.chains / name for name in sorted(listed))


def chains(folder: HandoverFolder) -> tuple[str, ...]:
    """The ids of all chains, in their order."""
    return tuple(sorted(_listed(folder).of_chain))


def chains_of_chat(folder: HandoverFolder, chat_id: str) -> tuple[str, ...]:
    """The ids of a chat's chains, by the names of the ledgers, in their order."""
    chat = folder.chain_id("x", chat_id).rpartition("-")[2]
    return tuple(sorted(_listed(folder).by_chat.get(chat, ())))


def before_new(folder: HandoverFolder) -> bool:
    """Asked under the lock before a file is made: makes the list true, where one is kept."""
    kept = _listings.get(folder.chains)
    if kept is None:
        return False
    stamp = files.stamp(folder.chains)
    if not kept.settled or kept.stamp != stamp:
        _listings.put(folder.chains, replace(_list(folder, stamp), settled=True))
    return True


def add_new(folder: HandoverFolder, name: str) -> None:
    """A file that was made, under the lock, since `before_new` said that the list is true."""
    kept = _listings.get(folder.chains)
    if kept is None:
        return  # pushed out by other folders meanwhile
    kept.add((name,))
    _listings.put(folder.chains, replace(kept, stamp=files.stamp(folder.chains), settled=True))


def _listed(folder: HandoverFolder) -> _Listing:
    stamp = files.stamp(folder.chains)
    kept = _listings.get(folder.chains)
    if kept is not None and kept.settled and kept.stamp == stamp:
        return kept
    listing = _list(folder, stamp)
    _listings.put(folder.chains, listing)
    return listing


def _list(folder: HandoverFolder, stamp: files.Stamp) -> _Listing:
    listing = _Listing(stamp, {}, {}, time.time() - stamp.mtime_ns / 1e9 > _SETTLED_S)
    listing.add(names(folder.chains, ".jsonl"))
    return listing

"""What the ledgers of a folder say, read again only when a file has changed.

Kept in memory alone: a ledger is known by its files' stamps. Nothing here is a second truth;
whatever was not seen changed is read anew.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..chain.chain import Chain, fold
from ..values.call import Call
from ..values.errors import NewerRecordError, RecordError
from ..values.events import Event
from ..values.trust import Trust
from . import end, files, listing
from .chain_ledger import ChainLedger, Stamps, chain_ledger
from .folder import (
    HandoverFolder,
    chain_of,
    is_called,
    names,
    readable,
    slugs_of,
    topic_part,
    topic_slug,
)
from .kept import Kept

_KEPT_BYTES = 8 * 1024 * 1024  # of one ledger; a larger one is read each time
_COMPARED = 200  # chains of a chat whose names are looked at for one that is near
_NEAR = 0.85


@dataclass(frozen=True)
class Copy:
    """A ledger's intact events, and the chain that they tell; `elsewhere` as in `Whole`."""

    chain: Chain
    events: tuple[Event, ...] = ()
    elsewhere: str = ""

    def after(self, events: Sequence[Event]) -> Copy:
        return Copy(self.chain.after(events), (*self.events, *events))


_Name = tuple[Path, bytes, Trust]
_copies: Kept[_Name, tuple[Stamps, Copy]] = Kept(64)
# The chain of each handover that was seen.
_places: Kept[tuple[Path, str], str] = Kept(4096)


def copy_of(ledger: ChainLedger) -> Copy:
    """The ledger as it stands now. Raises RecordError when it may not be opened or read, and when
    a newer version of the plugin wrote there."""
    stamps = ledger.stamps()
    kept = _copies.get(_name(ledger))
    if kept is not None and kept[0] == stamps:
        return kept[1]
    reading, elsewhere = ledger.whole()
    for fault in reading.faults:
        if fault.kind == "newer":
            raise NewerRecordError(
                f"failed to append briefing file: {fault.where} was written by a newer version"
            )
    chain = fold(ledger.chain, reading.events, reading.gaps)
    copy = Copy(chain, reading.events, elsewhere)
    _keep(ledger, stamps, copy)
    return copy


def keep(ledger: ChainLedger, copy: Copy) -> None:
    """What a ledger says after a write of our own; the caller holds the folder's lock."""
    _keep(ledger, ledger.stamps(), copy)


def _keep(ledger: ChainLedger, stamps: Stamps, copy: Copy) -> None:
    folder = ledger.folder.chains
    for handover in reversed(copy.chain.handovers):
        if _places.get((folder, handover.id)) == copy.chain.id:
            break  # and so are those before it
        _places.put((folder, handover.id), copy.chain.id)
    if sum(stamp.size for _, stamp in stamps) <= _KEPT_BYTES:
        _copies.put(_name(ledger), (stamps, copy))
    else:
        _copies.drop(_name(ledger))


def _name(ledger: ChainLedger) -> _Name:
    return ledger.own.path, ledger.key, ledger.trust


chains_of_chat = listing.chains_of_chat


def chain_of_topic(folder: HandoverFolder, topic: str, chat_id: str) -> str:
    """The id of the chain on a topic in a chat: of the one that is there, under whatever name it was
    made, else of the one to be made."""
    wanted = folder.chain_id(topic, chat_id)
    there = chains_of_chat(folder, chat_id)
    if wanted in there:
        return wanted
    slugs = slugs_of(topic)
    for chain_id in there:
        if is_called(topic_part(chain_id), slugs):
            return chain_id
    return wanted


def near_topics(folder: HandoverFolder, topic: str, chat_id: str, call: Call) -> tuple[str, ...]:
    """Topics of the chat's other chains that are spelled almost like this one: at most three."""
    wanted, slugs = readable(topic_slug(topic)), slugs_of(topic)
    others: dict[str, str] = {}
    for chain_id in chains_of_chat(folder, chat_id)[:_COMPARED]:
        if not is_called(topic_part(chain_id), slugs):
            others.setdefault(readable(topic_part(chain_id)), chain_id)
    near = difflib.get_close_matches(wanted, others, n=3, cutoff=_NEAR) if len(wanted) > 2 else []
    topics = []
    for name in near:
        with suppress(RecordError):
            newest = peek(folder, others[name], call).newest
            topics.append(newest.topic if newest else name)
    return tuple(topics)


def chain_holding(
    folder: HandoverFolder, handover_id: str, chat_id: str, call: Call
) -> Chain | None:
    """The chain that a handover belongs to, or None.

    Known places first, then the chat's own ledgers, at last every ledger that mentions it. A file
    that may not be opened or cannot be read is passed over: `unreadable` names it.
    """
    known = _places.get((folder.chains, handover_id))
    chain = _chain_with(folder, known, handover_id, call) if known else None
    if chain is not None:
        return chain
    for chain_id in chains_of_chat(folder, chat_id):
        chain = _chain_with(folder, chain_id, handover_id, call)
        if chain is not None:
            return chain
    wanted = handover_id.encode("utf-8", "replace")
    for path in folder.ledgers():
        with suppress(RecordError, FileNotFoundError):
            if not files.holds(path, wanted):
                continue
            chain = _chain_with(folder, chain_of(path.name), handover_id, call)
            if chain is not None:
                return chain
    return None


def _chain_with(
    folder: HandoverFolder, chain_id: str, handover_id: str, call: Call
) -> Chain | None:
    try:
        chain = copy_of(chain_ledger(folder, chain_id, call)).chain
    except RecordError:
        return None
    return chain if chain.find(handover_id) else None


def hiding(folder: HandoverFolder, handover_id: str, chat_id: str, call: Call) -> tuple[str, ...]:
    """Where the record of a handover that is not found may have stood: places of damage in the
    chat's ledgers and in those that mention it, and ledgers that are gone."""
    chain_ids = dict.fromkeys(chains_of_chat(folder, chat_id))
    wanted = handover_id.encode("utf-8", "replace")
    for path in folder.ledgers():
        with suppress(RecordError, FileNotFoundError):
            if files.holds(path, wanted):
                chain_ids[chain_of(path.name)] = None
    places = []
    for chain_id in chain_ids:
        with suppress(RecordError):
            places += [damage.where for damage in peek(folder, chain_id, call).damage]
    ledgers = {path.name for path in folder.ledgers()}
    marks = sorted(names(folder.chains, end.SUFFIX))
    marked = [f"{name.removesuffix(end.SUFFIX)}.jsonl" for name in marks]
    places += [f"{name}, which is gone" for name in marked if name not in ledgers]
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


def peek(folder: HandoverFolder, chain_id: str, call: Call) -> Chain:
    """The chain as it stands, without lock or repair. Raises RecordError."""
    return copy_of(chain_ledger(folder, chain_id, call)).chain

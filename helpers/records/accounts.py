"""Which bytes of a briefing were written by this installation: what its ledgers planned there.

A briefing belongs to a specialist, a topic and a day; several chats may write to it. Once it has
been accounted for, its stamp is remembered, so that a write of our own does not read the ledgers of
every other chat again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..values.errors import RecordError
from ..values.events import Briefed, Event
from . import briefing, files
from .chain_ledger import ChainLedger
from .folder import HandoverFolder, chain_of, topic_slug
from .kept import Kept
from .ledger import Ledger


@dataclass(frozen=True)
class Unaccounted:
    """`size` bytes that no ledger accounts for; `unread` are ledgers that may, and why they could
    not be asked."""

    size: int = 0
    unread: tuple[str, ...] = ()


_known: Kept[Path, tuple[files.Stamp, Unaccounted]] = Kept(256)


def unaccounted(
    folder: HandoverFolder, path: Path, topic: str, own: ChainLedger, events: Iterable[Event]
) -> Unaccounted:
    """What of a briefing is foreign; what follows its last entry is a person's notes.

    The chain's own events are asked first, the topic's other ledgers only when these do not
    account for all of it. Raises RecordError when the briefing cannot be read.
    """
    stamp = files.stamp(path)
    if not stamp.size:
        return Unaccounted()
    kept = _known.get(path)
    if kept is not None and kept[0] == stamp:
        return kept[1]
    plans = list(_plans(folder, path.name, events))
    answer = Unaccounted(_loose(path, plans))
    if answer.size or not plans:
        unread: list[str] = []
        for other in _other_ledgers(folder, topic, own):
            try:
                plans += _plans(folder, path.name, other.read().events)
            except RecordError as error:
                unread.append(f"chains/{other.path.name} was not read: {error.message}")
        answer = Unaccounted(_loose(path, plans), tuple(unread))
    _known.put(path, (stamp, answer))
    return answer


def is_known(path: Path) -> bool:
    """Whether the briefing, as it stands, has been accounted for, or is not there."""
    stamp = files.stamp(path)
    kept = _known.get(path)
    return not stamp.size or (kept is not None and kept[0] == stamp)


def keep_after_write(path: Path) -> None:
    """Our own append to a briefing that was known before: what was foreign in it stays so."""
    kept = _known.get(path)
    _known.put(path, (files.stamp(path), kept[1] if kept else Unaccounted()))


def _plans(folder: HandoverFolder, name: str, events: Iterable[Event]) -> Iterator[briefing.Plan]:
    for event in events:
        if event.trusted and event.kind == Briefed.kind and event.data.get("path") == name:
            yield briefing.plan_from_data(folder, event.data)


def _loose(path: Path, plans: list[briefing.Plan]) -> int:
    known_until = max((plan.offset + plan.length for plan in plans), default=0)
    size = 0
    for offset, length in briefing.unaccounted(path, plans):
        if offset < known_until:
            size += length
    return size


def _other_ledgers(folder: HandoverFolder, topic: str, own: ChainLedger) -> Iterator[Ledger]:
    prefix = f"{topic_slug(topic)}-"
    for path in folder.ledgers():
        if path.name.startswith(prefix) and chain_of(path.name) != own.chain:
            yield Ledger(path, own.key, trust=own.trust)

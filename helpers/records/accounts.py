"""Whether a briefing is as this installation's ledgers recorded it.

A briefing belongs to a specialist, a topic and a day; several chats may write to it. Once it has
been accounted for, its stamp is remembered, so that a write of our own neither reads the ledgers of
every other chat nor hashes the older entries again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ..text.quote import one_line
from ..values.errors import RecordError
from ..values.events import Briefed, Event
from . import briefing, files
from .chain_ledger import ChainLedger
from .comparison import Claims, Comparison, Finding, Kind, are_all, claim, gone, intact_of
from .folder import HandoverFolder, chain_of
from .kept import Kept
from .ledger import Ledger

_MOST_TOLD = 3
_ITS_OWN: tuple[Kind, ...] = ("person", "healed", "moved", "redacted")  # nobody need weigh these


@dataclass(frozen=True)
class Account:
    """`size` bytes before the end that no ledger accounts for; `findings` as `verify` has them,
    without a person's notes; `unread` are ledgers that may, and why they could not be asked."""

    size: int = 0
    findings: tuple[Finding, ...] = ()
    unread: tuple[str, ...] = ()

    def lines(self) -> tuple[str, ...]:
        """What whoever is sent to the briefing must know, and who sends them."""
        told = []
        if self.size:
            told.append(
                f"{self.size:,} bytes of the briefing were not written by this installation; weigh"
                " them with care."
            )
        for finding in self.findings[:_MOST_TOLD]:
            told.append(
                f"The briefing is not as it was recorded ({finding.kind} at {finding.where}):"
                f" {one_line(finding.detail, 200)}."
            )
        if len(self.findings) > _MOST_TOLD:
            told.append(f"The briefing has {len(self.findings) - _MOST_TOLD:,} more such places.")
        return tuple(told)


_known: Kept[Path, tuple[files.Stamp, Account]] = Kept(256)


def account(
    folder: HandoverFolder,
    path: Path,
    topic_slug: str,
    own: ChainLedger,
    events: Iterable[Event],
) -> Account:
    """What of a briefing is not as it was recorded; what follows its last entry is a person's notes.

    The chain's own events are asked first, the topic's other ledgers only when these do not
    account for all of it. Raises RecordError when the briefing cannot be read.
    """
    if is_known(path, events):
        kept = _known.get(path)
        return kept[1] if kept else Account()
    stamp = files.stamp(path)
    claims = Claims()
    _ask(folder, own.own, events, claims)
    answer = _compared(path, claims)
    if answer.size or answer.findings or not claims.places[path.name]:
        unread: list[str] = []
        for other in _other_ledgers(folder, topic_slug, own):
            try:
                _ask(folder, other, other.read().events, claims)
            except RecordError as error:
                unread.append(f"chains/{other.path.name} was not read: {error.message}")
        answer = replace(_compared(path, claims), unread=tuple(unread))
    _known.put(path, (stamp, answer))
    return answer


def _ask(folder: HandoverFolder, ledger: Ledger, events: Iterable[Event], claims: Claims) -> None:
    """Add what a ledger says of briefings. What it says wrongly is for `verify`."""
    ours = [event for event in events if event.trusted]
    claims.others.update(event.handover for event in events if not event.trusted)
    for _ in claim(folder, ledger.path.name, ours, claims):
        pass


def _compared(path: Path, claims: Claims) -> Account:
    places = sorted(set(claims.places[path.name]))
    if not path.exists():
        left = [place for place in places if place.handover not in claims.redacted]
        return Account(findings=tuple(gone(path.name, left)))
    with files.reading(path), files.open_read(path) as file:
        size = files.size_of(file)
        intact = intact_of(file, size, places)
        if len(intact) == len(places) and are_all(intact, size):
            return Account()
        comparison = Comparison(path.name, file, places, intact)
        comparison.run(briefing.scan(path), size, claims)
    covered = loose = 0
    for place in places:
        loose += max(0, min(place.offset, size) - covered)
        covered = max(covered, place.end)
    told = [finding for finding in comparison.findings if finding.kind not in _ITS_OWN]
    return Account(loose, tuple(told))


def is_known(path: Path, events: Iterable[Event]) -> bool:
    """Whether the briefing, as it stands, has been accounted for, or never was there."""
    stamp = files.stamp(path)
    kept = _known.get(path)
    if kept is not None:
        return kept[0] == stamp
    return not stamp.size and not any(
        event.kind == Briefed.kind and event.data.get("path") == path.name for event in events
    )


def keep_after_write(path: Path) -> None:
    """Our own append to a briefing that was known before: what was foreign in it stays so."""
    kept = _known.get(path)
    _known.put(path, (files.stamp(path), kept[1] if kept else Account()))


def _other_ledgers(folder: HandoverFolder, topic_slug: str, own: ChainLedger) -> Iterator[Ledger]:
    prefix = f"{topic_slug}-"
    for path in folder.ledgers():
        if path.name.startswith(prefix) and chain_of(path.name) != own.chain:
            yield Ledger(path, own.key, trust=own.trust)

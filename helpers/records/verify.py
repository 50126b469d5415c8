"""Every entry and every event against its hash: what is wrong in a record, and how much is right.

A ledger's events are checked by `Ledger.read`; the `briefed` events of this installation, and of
those it trusts, then say which bytes of which briefing must have which hash. Bytes that no such event covers are told apart
by `comparison`.

Faults: changed, missing, torn, out_of_order, foreign (bytes that nobody of this record wrote),
unreadable. Notes: other (another installation's events or entries), person (text after the
entries), healed (what is left of a write that was cut short and made again), moved (whole entries,
in their order, at another place), newer (signed here by a newer version, not read), redacted (a
person took the entry out, and the ledger says so).

Memory holds the names of the files, one ledger, the places of one topic's entries, and one briefing
up to `_WHOLE_BYTES` or a chunk of it.
"""

from __future__ import annotations

import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import NamedTuple, get_args

from ..values.errors import RecordError
from ..values.events import KINDS, WithPacket
from ..values.trust import NOBODY_ELSE, Trust, Trusted
from . import briefing, end
from .comparison import (
    NOTES,
    Claims,
    Comparison,
    Finding,
    Kind,
    Place,
    are_all,
    claim,
    finding,
    gone,
    intact_of,
)
from .files import opener, size_of
from .flawless import Lines, flawless
from .folder import HandoverFolder, chain_of, names
from .identity import by_fingerprint, fingerprint
from .ledger import MOST_FAULTS, Ledger, Reading

FAULTS = tuple(kind for kind in get_args(Kind) if kind not in NOTES)

_WHOLE_LEDGER_BYTES = 8 * 1024 * 1024
_LOCK_S = 2.0
_DATE_CHARS = len("-2026-06-05.md")
# A `briefed` event in canonical JSON, from its data on, that names what could be a briefing.
_BRIEFED = re.compile(
    r'"data":\{"event":"([^"\\]*)","length":([1-9]\d{0,17}),"offset":(\d{1,18}),'
    r'"path":"([A-Za-z0-9][A-Za-z0-9_-]{0,116}\.md)","sha256":"([0-9a-f]{64})"\},'
    r'"depth":\d+,"from":"[^"\\]*(?:\\.[^"\\]*)*","handover":"([^"\\]*)"',
    re.ASCII,
)
_PACKET = b'"packet":{'
_MAY_HAVE_PACKET = frozenset(
    kind.encode() for kind, payload in KINDS.items() if issubclass(payload, WithPacket)
)
_ID_FROM, _ID_TO = len('ev-0123456789abcdef","kind":"'), len('","kind":"')

Progress = Callable[[int, int], None]
Open = Callable[[str], io.FileIO]


class Wrote(NamedTuple):
    """What an installation wrote in a file: `by` is its fingerprint, "" where nothing names it, and
    `counts` False for one that is not trusted, or did not sign what names it."""

    by: str
    counts: bool
    entries: int = 0
    events: int = 0


class Result(NamedTuple):
    """One file as it was found: its bytes, and how many entries or events are whole and ours, or of
    an installation that is trusted.

    `other_events` and `other_entries` are another installation's. `unsigned` are whole entries that
    no event here signs: another installation's, or the end of a ledger was cut off.
    """

    project: str
    file: str
    entries: int = 0
    events: int = 0
    bytes: int = 0
    findings: tuple[Finding, ...] = ()
    other_entries: int = 0
    other_events: int = 0
    unsigned: int = 0
    signers: tuple[Wrote, ...] = ()

    @property
    def faults(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.level == "fault")


def verify(
    folders: Iterable[HandoverFolder],
    key: bytes,
    progress: Progress = lambda done, total: None,
    trust: Trust = NOBODY_ELSE,
) -> Iterator[Result]:
    """A Result for every ledger and briefing, one at a time; what cannot be read is a finding.

    `progress(done, total)` is called after every file. Raises nothing for what is on the disk.
    """
    listings = [_listed(folder) for folder in folders]
    total = sum(listing.files for listing in listings)
    done = 0
    for listing in listings:
        for result in _checked(listing, key, trust):
            yield result
            done += 1
            progress(min(done, total), total)


# --- which ledgers may speak of which briefing


@dataclass
class _Group:
    """File names that belong together."""

    ledgers: list[str] = field(default_factory=list)
    briefings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Listing:
    """The files of a project, by topic; `error` says why they cannot be listed."""

    folder: HandoverFolder
    groups: tuple[_Group, ...] = ()
    error: RecordError | None = None

    @property
    def files(self) -> int:
        """How many, or 1 for what cannot be listed."""
        if self.error:
            return 1
        return sum(len(group.ledgers) + len(group.briefings) for group in self.groups)


def _listed(folder: HandoverFolder) -> _Listing:
    try:
        marked = {name.replace(end.SUFFIX, ".jsonl") for name in names(folder.chains, end.SUFFIX)}
        ledgers = sorted({*names(folder.chains, ".jsonl"), *marked})
        briefings = sorted(names(folder.path, ".md"))
    except RecordError as error:
        return _Listing(folder, error=error)
    topics = {_topic(name) for name in ledgers}
    groups: dict[str, _Group] = defaultdict(_Group)
    for name in ledgers:
        groups[_root_topic(_topic(name), topics)].ledgers.append(name)
    for name in briefings:
        groups[_root_topic(name[:-_DATE_CHARS], topics)].briefings.append(name)
    return _Listing(folder, tuple(groups[topic] for topic in sorted(groups)))


def _topic(ledger_name: str) -> str:
    """`landing-page-hero` of `landing-page-hero-chat1.jsonl`: the chat's part has no hyphen."""
    return chain_of(ledger_name).rpartition("-")[0]


def _root_topic(words: str, topics: set[str]) -> str:
    """The shortest known topic that these words end in, else the words.

    A briefing's name does not say where its specialist ends and its topic begins, so a topic that
    ends in another one's words is put with it: they may share a file.
    """
    start = len(words)
    while (start := words.rfind("-", 0, start)) >= 0:
        if words[start + 1 :] in topics:
            return words[start + 1 :]
    return words


# --- a project


def _checked(listing: _Listing, key: bytes, trust: Trust) -> Iterator[Result]:
    folder = listing.folder
    try:
        if listing.error:
            raise listing.error
        if not listing.groups:
            return
        with ExitStack() as stack:
            open_briefing = open_ledger = stack.enter_context(opener(folder.path))
            with suppress(FileNotFoundError):
                open_ledger = stack.enter_context(opener(folder.chains))
            others = by_fingerprint(trust.trusted)
            check = _Check(folder, key, trust, others, open_ledger, open_briefing)
            for group in listing.groups:
                yield from check.results(group)
    except (RecordError, OSError) as error:
        where = ".a0proj/handover"
        yield Result(str(folder.root), where, findings=(_unreadable(where, error),))


@dataclass(frozen=True)
class _Check:
    """One project while its two folders are open."""

    folder: HandoverFolder
    key: bytes
    trust: Trust
    others: Mapping[str, Trusted]
    open_ledger: Open
    open_briefing: Open

    @property
    def by(self) -> str:
        return fingerprint(self.key)

    def results(self, group: _Group) -> tuple[Result, ...]:
        """With a fault a group is looked at again while nobody writes: work may have gone on."""
        results = tuple(self._look(group))
        is_faulty = any(result.findings and result.faults for result in results)
        if is_faulty and (self.folder.chains / ".lock").exists():
            with suppress(RecordError), self.folder.lock(_LOCK_S):
                return tuple(self._look(group))
        return results

    def _look(self, group: _Group) -> Iterator[Result]:
        """The ledgers, then the briefings, those included of which only a ledger knows."""
        claims = Claims()
        for name in group.ledgers:
            yield self._ledger(name, claims)
        for name in sorted({*group.briefings, *claims.places}):
            yield self._briefing(name, claims)

    def _ledger(self, name: str, claims: Claims) -> Result:
        """Check a ledger and add what it says of briefings to `claims`."""
        chain = chain_of(name)
        keys = (self.key, *self.trust.former)
        result = Result(str(self.folder.root), f"chains/{name}")
        try:
            end_mark = self._end_mark(name, keys)
            with self.open_ledger(name) as file:
                size = size_of(file)
                content = file.read(size) if size <= _WHOLE_LEDGER_BYTES else b""
            good = flawless(content, chain, keys, self.others)
            is_good = good is not None and good.lines and _reaches(content, good, end_mark)
            if good and is_good and _claim_quickly(content, good, claims):
                events = len(good.lines)
                signers = (Wrote(good.by or self.by, True, events=events),)
                return result._replace(events=events, bytes=len(content), signers=signers)
            reading = Ledger(self.folder.chains / name, self.key, trust=self.trust).read()
        except FileNotFoundError:
            return result._replace(findings=(finding("missing", name, "the ledger is gone"),))
        except (RecordError, OSError) as error:
            return result._replace(findings=(_unreadable(name, error),))
        counted = [event for event in reading.events if event.trusted]
        others = [event for event in reading.events if not event.trusted]
        claims.others.update(event.handover for event in others)
        findings = [*_of_reading(name, reading), *claim(self.folder, name, counted, claims)]
        wrote = Counter(
            (event.by or (self.by if event.trusted else ""), event.trusted)
            for event in reading.events
            if event.chain == chain
        )
        return result._replace(
            events=len(counted),
            bytes=reading.size,
            findings=tuple(findings),
            other_events=sum(event.chain == chain for event in others),
            signers=tuple(Wrote(by, counts, 0, events) for (by, counts), events in wrote.items()),
        )

    def _end_mark(self, name: str, keys: Sequence[bytes]) -> end.End:
        try:
            with self.open_ledger(name.removesuffix(".jsonl") + end.SUFFIX) as file:
                return end.read_from(file, name, keys)
        except FileNotFoundError:
            return end.End()

    def _briefing(self, name: str, claims: Claims) -> Result:
        places = sorted(set(claims.places.pop(name, ())))
        result = Result(str(self.folder.root), name)
        try:
            with self.open_briefing(name) as file:
                size = size_of(file)
                intact = intact_of(file, size, places)
                if len(intact) == len(places) and are_all(intact, size):
                    signers = self._signers_of(intact)
                    return result._replace(entries=len(intact), bytes=size, signers=signers)
                comparison = Comparison(name, file, places, intact)
                comparison.run(briefing.scan(self.folder.path / name), size, claims)
        except FileNotFoundError:
            left = [place for place in places if place.handover not in claims.redacted]
            return result._replace(findings=_bounded(gone(name, left), name))
        except (RecordError, OSError) as error:
            return result._replace(findings=(_unreadable(name, error),))
        return result._replace(
            entries=comparison.entries,
            bytes=size,
            findings=_bounded(comparison.findings, name),
            other_entries=len(comparison.others),
            unsigned=len(comparison.unsigned),
            signers=self._signers_of(comparison.whole),
        )

    def _signers_of(self, places: Sequence[Place]) -> tuple[Wrote, ...]:
        counted = Counter(place.by for place in places)
        return tuple(Wrote(by or self.by, True, entries) for by, entries in counted.items())


def _reaches(content: bytes, good: Lines, end_mark: end.End) -> bool:
    """Whether the last event that was written is there, and no fewer of ours than then."""
    if not end_mark.sha:
        return True
    last = b'"sha":"%b"' % end_mark.sha.encode()
    stands = content.find(last, good.lines[-1][2])
    return (stands >= 0 or last in content) and len(good.lines) >= end_mark.own


def _unreadable(name: str, error: RecordError | OSError) -> Finding:
    reason = error.message if isinstance(error, RecordError) else error.strerror
    return finding("unreadable", name, reason or type(error).__name__)


def _bounded(findings: Sequence[Finding], name: str) -> tuple[Finding, ...]:
    """The findings, at most `MOST_FAULTS`, then how many more there are."""
    kept, rest = findings[:MOST_FAULTS], findings[MOST_FAULTS:]
    if not rest:
        return tuple(kept)
    worst = min(rest, key=lambda finding: finding.level)  # a fault comes before a note
    return (*kept, finding(worst.kind, name, f"and {len(rest):,} more"))


# --- a ledger


def _of_reading(name: str, reading: Reading) -> Iterator[Finding]:
    if not reading.size:
        detail = "an empty ledger: it was emptied, or its first write never came"
        yield finding("missing", name, detail)
    others = []
    for fault in reading.faults:
        if fault.kind == "foreign":
            others.append(fault.where)
        else:
            kind = "foreign" if fault.kind == "malformed" else fault.kind
            yield finding(kind, fault.where, fault.detail)
    if reading.torn and not any(fault.kind == "torn" for fault in reading.faults):
        yield finding("torn", name, "the last line lacks its line feed")
    chain = chain_of(name)
    strayed = Counter(event.chain for event in reading.events if event.chain != chain)
    for chain, count in strayed.items():
        yield finding("foreign", name, f"{count:,} events belong to chain {chain[:120]!r}")
    if left := len(others) - strayed.total():
        yield finding("other", others[0], f"{left:,} events of another installation")


def _claim_quickly(content: bytes, good: Lines, claims: Claims) -> bool:
    """`claim` for a flawless ledger, without parsing; False where there is more to say."""
    claimed: list[tuple[str, Place]] = []
    placed, must_be_placed = set(), set()
    for kind, kind_at, start in good.lines:
        if kind == b"briefed":
            match = _BRIEFED.match(content[start:kind_at].decode(), good.data_from)
            if match is None:
                return False
            event, length, offset, name, digest, handover = match.groups()
            placed.add(event)
            place = Place(int(offset), int(length), digest, event, handover, good.by)
            claimed.append((name, place))
        elif kind == b"redacted":
            return False
        elif kind in _MAY_HAVE_PACKET and content.find(_PACKET, start, kind_at) >= 0:
            must_be_placed.add(content[kind_at - _ID_FROM : kind_at - _ID_TO].decode())
    if not must_be_placed <= placed:
        return False
    for name, place in claimed:
        claims.places[name].append(place)
    return True


# --- a briefing

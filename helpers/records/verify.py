"""Every entry and every event against its hash: what is wrong in the records of a project, and how much was right.

A ledger's events are checked by `Ledger.read`; the `briefed` events of this installation then say which bytes of which
briefing must have which hash. Bytes that no such event covers are told apart by `briefing_file.scan`.

Faults: changed, missing, torn, out_of_order, foreign (bytes that nobody of this record wrote), unreadable. Notes: `other`
(another installation's events or entries), `person` (text after the entries), `healed` (the rest of a write that was cut short
and made again), `moved` (whole entries, in their order, at another place), `newer` (of a newer version, hash right, not read).

Memory holds one ledger, the places of one topic's entries, one briefing up to `_WHOLE_BYTES` or one chunk of it, and
`_NAMES_AT_ONCE` file names.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from operator import itemgetter
from pathlib import Path
from typing import Literal, NamedTuple
from zlib import crc32

from ..values.errors import RecordError
from ..values.events import Event
from . import briefing as records_briefing
from .briefing import Piece, plan_from_data
from .files import opener
from .folder import HandoverFolder, names
from .ledger import MOST_FAULTS, Fault, Ledger, Reading, flawless

Level = Literal["fault", "note"]
FAULTS = ("changed", "missing", "torn", "out_of_order", "foreign", "unreadable")
NOTES = ("other", "person", "healed", "moved", "newer")

_WHOLE_BYTES = 1024 * 1024
_MOST_PIECES = 10_000
_LOCK_S = 2.0
_WHOLE_LEDGER_BYTES = 8 * 1024 * 1024
# A `briefed` event in canonical JSON from its data on, and the kinds of events that have an entry when they carry a packet.
_BRIEFED = re.compile(
    r'"data":\{"event":"([^"\\]*)","length":([1-9]\d{0,17}),"offset":(\d{1,18}),"path":"([^"\\]*)","sha256":"([0-9a-f]{64})"\},'
    r'"depth":\d+,"from":"[^"\\]*(?:\\.[^"\\]*)*","handover":"([^"\\]*)"',
    re.ASCII,
)
_BRIEFED_KINDS = frozenset(
    {b"prepared", b"done", b"clarify", b"rejected", b"escalated", b"failed", b"cancelled"}
)

# Those of them that often have no packet: a question answered at once, a chain stopped by a limit.
_AT_TIMES, _PACKET = frozenset({b"clarify", b"escalated"}), b'"packet":{'

Progress = Callable[[int, int], None]


class Finding(NamedTuple):
    """Something to know about a record. `where` is `<file>:<line>` of a ledger or `<file>@<byte>` of a briefing."""

    level: Level
    kind: str
    where: str
    detail: str


class Result(NamedTuple):
    """One file as it was found: how many of its entries or events are intact and this installation's, and its bytes."""

    project: str
    file: str
    entries: int = 0
    events: int = 0
    bytes: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def faults(self) -> tuple[Finding, ...]:
        return tuple(item for item in self.findings if item.level == "fault")


def verify(
    folders: Iterable[HandoverFolder], key: bytes, progress: Progress = lambda done, total: None
) -> Iterator[Result]:
    """A Result for every ledger and briefing, one at a time; what cannot be read is a finding and stops nothing.

    `progress(done, total)` is called after every file. Raises nothing for what is on the disk.
    """
    counted = [(folder, _count(folder)) for folder in folders]
    done, total = 0, sum(files for _, files in counted)
    for folder, files in counted:
        for result in _folder(folder, files, key):
            yield result
            done += 1
            progress(min(done, total), total)


# --- which ledgers may speak of which briefing ------------------------------------------------------------------------


_NAMES_AT_ONCE = 4096
_DATE_CHARS = len("-2026-06-05.md")

_Named = tuple[
    str, bool, str
]  # the topic that files are put together by, is it a briefing, the name


def _count(folder: HandoverFolder) -> int:
    """How many results a folder will have."""
    try:
        return sum(1 for place, suffix in _places(folder) for _ in names(place, suffix))
    except RecordError:
        return 1


def _groups(
    folder: HandoverFolder, files: int
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Ledgers and briefings that may belong together, by their names.

    Files of one topic end in the same word, so with very many files the listing is gone through once for each share of the
    last words, and never held as a whole.
    """
    shares = 1 + files // _NAMES_AT_ONCE
    for share in range(shares):
        named = sorted(
            _named(
                folder,
                lambda topic, share=share: (
                    shares == 1 or crc32(topic.rpartition("-")[2].encode()) % shares == share
                ),
            )
        )
        for _, group in groupby(named, key=itemgetter(0)):
            members = tuple(group)
            yield (
                tuple(n for _, briefing, n in members if not briefing),
                tuple(n for _, briefing, n in members if briefing),
            )


def _named(folder: HandoverFolder, wanted: Callable[[str], bool]) -> Iterator[_Named]:
    """The files whose topic is wanted. A topic that ends in another one's words is put with it: file names may be shared."""
    ledgers = [
        (topic, name) for name in names(folder.chains, ".jsonl") if wanted(topic := _topic(name))
    ]
    topics = {topic for topic, _ in ledgers}
    for topic, name in ledgers:
        yield _root_topic(topic, topics), False, name
    for name in names(folder.path, ".md"):
        words = name[:-_DATE_CHARS]
        if wanted(words):
            yield _root_topic(words, topics), True, name


def _places(folder: HandoverFolder) -> tuple[tuple[Path, str], ...]:
    return (folder.chains, ".jsonl"), (folder.path, ".md")


def _topic(ledger_name: str) -> str:
    """`landing-page-hero` of `landing-page-hero-chat1.jsonl`: the chat's part has no hyphen."""
    return ledger_name.removesuffix(".jsonl").rpartition("-")[0]


def _root_topic(words: str, topics: set[str]) -> str:
    """The shortest known topic that these words end in, else the words."""
    at = len(words)
    while (at := words.rfind("-", 0, at)) >= 0:
        if words[at + 1 :] in topics:
            return words[at + 1 :]
    return words


class _Place(NamedTuple):
    """Where a `briefed` event says that the entry of an event stands."""

    offset: int
    length: int
    sha256: str
    event: str
    handover: str

    @property
    def end(self) -> int:
        return self.offset + self.length


_Raw = tuple[
    int, int, str, str, str
]  # what a _Place is made of: cheaper, for the many that are intact
Places = dict[str, list[_Raw]]
_Line = tuple[bytes, int, int]  # of `flawless`
Open = Callable[[str], io.FileIO]


@dataclass(frozen=True)
class _Ids:
    """Handovers that a group's ledgers name without saying where their entries are."""

    others: set[str] = field(default_factory=set)  # in events of another installation
    unplaced: set[str] = field(
        default_factory=set
    )  # in events of this one that have no `briefed` event


@dataclass(frozen=True)
class _Folder:
    """One project's folder while its two directories are open."""

    folder: HandoverFolder
    key: bytes
    project: str
    open_briefing: Open
    open_ledger: Open

    def results(self, ledgers: Sequence[str], briefings: Sequence[str]) -> tuple[Result, ...]:
        """Of a group. With a fault it is looked at again while nobody writes: a handover may have come in between."""
        found = tuple(self._look(ledgers, briefings))
        if (
            any(result.findings and result.faults for result in found)
            and (self.folder.chains / ".lock").exists()
        ):
            with suppress(RecordError), self.folder.lock(_LOCK_S):
                return tuple(self._look(ledgers, briefings))
        return found

    def _look(self, ledgers: Iterable[str], briefings: Iterable[str]) -> Iterator[Result]:
        """The group's ledgers, then the briefings, those included of which only a ledger knows."""
        places: Places = {name: [] for name in briefings}
        named = _Ids()
        for name in ledgers:
            yield self._ledger(name, places, named)
        for name in tuple(places):
            yield self._briefing(name, places.pop(name), named)

    def _ledger(self, name: str, places: Places, named: _Ids) -> Result:
        """Check a ledger and put what it says of briefings into `places`."""
        file = f"chains/{name}"
        try:
            with self.open_ledger(name) as opened:
                size = os.fstat(opened.fileno()).st_size
                content = opened.read(size) if size <= _WHOLE_LEDGER_BYTES else b""
            chain = name.removesuffix(".jsonl")
            lines = flawless(content, chain, self.key) if len(content) == size else None
            if lines is not None and _collect_fast(self.folder, chain, content, lines, places):
                return Result(self.project, file, 0, len(lines), size)
            reading = Ledger(self.folder.chains / name, self.key).read()
        except (RecordError, OSError) as error:
            return Result(self.project, file, findings=(_unreadable(name, error),))
        own = [event for event in reading.events if event.trusted]
        named.others.update(event.handover for event in reading.events if not event.trusted)
        findings = [
            *_ledger_findings(name, reading),
            *_collect(self.folder, name, own, places, named),
        ]
        return Result(
            self.project, file, events=len(own), bytes=reading.size, findings=tuple(findings)
        )

    def _briefing(self, name: str, places: list[_Raw], named: _Ids) -> Result:
        try:
            with self.open_briefing(name) as file:
                size = os.fstat(file.fileno()).st_size
                intact = _intact(file, size, places)
                if _covers(intact, size) and len(intact) == len(places):
                    return Result(self.project, name, len(intact), 0, size)
                known, whole = (
                    [_Place(*place) for place in places],
                    [_Place(*place) for place in intact],
                )
                pieces = records_briefing.scan(self.folder.path / name)
                return _Comparison(name, file, size, known, whole, named).result(
                    self.project, pieces
                )
        except FileNotFoundError:
            lost = {place.event: place for place in (_Place(*place) for place in places)}.values()
            gone = [
                Finding(
                    "fault",
                    "missing",
                    f"{name}@{place.offset}",
                    f"the file with the entry of {place.handover} is gone",
                )
                for place in lost
            ]
            return Result(self.project, name, findings=_bounded(gone, name))
        except (RecordError, OSError) as error:
            return Result(self.project, name, findings=(_unreadable(name, error),))


def _unreadable(name: str, error: RecordError | OSError) -> Finding:
    reason = (
        error.message if isinstance(error, RecordError) else error.strerror or type(error).__name__
    )
    return Finding("fault", "unreadable", name, reason)


def _folder(folder: HandoverFolder, files: int, key: bytes) -> Iterator[Result]:
    if not files:
        return
    try:
        yield from _opened(folder, files, key)
    except RecordError as error:
        yield Result(
            str(folder.root), ".a0proj/handover", findings=(_unreadable(".a0proj/handover", error),)
        )


def _opened(folder: HandoverFolder, files: int, key: bytes) -> Iterator[Result]:
    with ExitStack() as stack:
        open_briefing = stack.enter_context(opener(folder.path))
        open_ledger = (
            stack.enter_context(opener(folder.chains)) if folder.chains.is_dir() else open_briefing
        )
        opened = _Folder(folder, key, str(folder.root), open_briefing, open_ledger)
        for ledgers, briefings in _groups(folder, files):
            yield from opened.results(ledgers, briefings)


def _collect_fast(
    folder: HandoverFolder, chain: str, content: bytes, lines: Iterable[_Line], places: Places
) -> bool:
    """`_collect` for a flawless ledger, without parsing its events; False when there is more to say about it."""
    data_at = len('{"chain":"",') + len(chain)
    briefed, needed = set(), set()
    found: Places = {}
    for kind, at, start in lines:
        if kind == b"briefed":
            match = _BRIEFED.match(content[start:at].decode(), data_at)
            if match is None:
                return False
            event, length, offset, name, sha256, handover = match.groups()
            briefed.add(event)
            place = (int(offset), int(length), sha256, event, handover)
            if name in found:
                found[name].append(place)
            else:
                found[name] = [place]
        elif kind in _BRIEFED_KINDS and (
            kind not in _AT_TIMES or content.find(_PACKET, start, at) >= 0
        ):
            needed.add(content[at - 29 : at - 10].decode())  # the 19 characters before `","kind":"`
    if not needed <= briefed or not all(
        _is_briefing(folder, name) for name in found.keys() - places.keys()
    ):
        return False
    for name, some in found.items():
        places.setdefault(name, []).extend(some)
    return True


def _is_briefing(folder: HandoverFolder, name: str) -> bool:
    try:
        folder.briefing_path(name)
    except RecordError:
        return False
    return True


# --- ledgers ---------------------------------------------------------------------------------------------------------


def _ledger_findings(name: str, reading: Reading) -> Iterator[Finding]:
    follow = _follow(reading.events)
    last = (
        next((fault.where for fault in reversed(reading.faults) if fault.kind == "torn"), "")
        if reading.torn
        else ""
    )
    others = [fault for fault in reading.faults if fault.kind == "foreign"]
    strayed = Counter(
        event.chain for event in reading.events if event.chain != name.removesuffix(".jsonl")
    )
    for fault in reading.faults:
        if fault.kind != "foreign":
            yield _of_ledger(fault, healed=follow and fault.where != last)
    for chain, count in strayed.items():
        yield Finding("fault", "foreign", name, f"{count:,} events belong to chain {chain[:120]!r}")
    if left := len(others) - sum(strayed.values()):
        yield Finding("note", "other", others[0].where, f"{left:,} events of another installation")


def _of_ledger(fault: Fault, healed: bool) -> Finding:
    if fault.kind == "torn" and healed:
        return Finding(
            "note",
            "healed",
            fault.where,
            "the rest of a write that was cut short; the events around it follow each other",
        )
    if fault.kind == "newer":
        return Finding("note", "newer", fault.where, fault.detail)
    return Finding(
        "fault", "foreign" if fault.kind == "malformed" else fault.kind, fault.where, fault.detail
    )


def _follow(events: Sequence[Event]) -> bool:
    """Whether every event follows the one before it: then no torn line ever was an event that counted."""
    before = ""
    for event in events:
        if event.prev != before:
            return False
        before = event.sha
    return True


def _collect(
    folder: HandoverFolder, name: str, own: Sequence[Event], places: Places, named: _Ids
) -> Iterator[Finding]:
    """Note the places of all entries; a finding for each event that must have an entry and names none."""
    briefed = set()
    for event in own:
        if event.kind != "briefed":
            continue
        try:
            planned = plan_from_data(folder, event.data)
        except RecordError as error:
            yield Finding("fault", "foreign", f"{name}:{event.id}", error.message)
            continue
        about = str(event.data.get("event", ""))
        briefed.add(about)
        place = (planned.offset, planned.length, planned.sha256, about, event.handover)
        places.setdefault(planned.path.name, []).append(place)
    for event in own:
        if event.data.get("packet") is not None and event.id not in briefed:
            named.unplaced.add(event.handover)
            detail = (
                f"no line says where the entry of {event.kind} {event.handover} is: it was not written yet (the next use of the"
                " chain writes it), or that line was taken out"
            )
            yield Finding("fault", "missing", f"{name}:{event.id}", detail)


# --- briefings -------------------------------------------------------------------------------------------------------


def _intact(file: io.FileIO, size: int, places: list[_Raw]) -> list[_Raw]:
    """The places whose bytes have the recorded hash, by offset."""
    places.sort()
    if size > _WHOLE_BYTES:
        return [place for place in places if _digest(file, place[0], place[1]) == place[2]]
    content, sha256 = memoryview(file.read(size)), hashlib.sha256
    return [
        place
        for place in places
        if sha256(content[place[0] : place[0] + place[1]]).hexdigest() == place[2]
    ]


def _digest(file: io.FileIO, offset: int, length: int, start: bytes = b"") -> str:
    digest, end = hashlib.sha256(start), offset + length
    while offset < end and (
        chunk := os.pread(file.fileno(), min(_WHOLE_BYTES, end - offset), offset)
    ):
        digest.update(chunk)
        offset += len(chunk)
    return digest.hexdigest()


def _covers(intact: Sequence[_Raw], size: int) -> bool:
    """Whether the places are all of the file, one after the other."""
    here = 0
    for offset, length, *_ in intact:
        if offset != here:
            return False
        here += length
    return here == size


@dataclass
class _Comparison:
    """A briefing that is not exactly what its ledgers say: first its pieces are looked at, then what is left is told apart."""

    name: str
    file: io.FileIO
    size: int
    places: Sequence[_Place]
    intact: Sequence[_Place]
    named: _Ids
    findings: list[Finding] = field(default_factory=list)
    moved: list[tuple[int, _Place]] = field(
        default_factory=list
    )  # whole entries, at another byte than recorded
    strange: list[Piece] = field(
        default_factory=list
    )  # what no ledger accounts for; foreign neighbours as one
    orphans: list[Piece] = field(
        default_factory=list
    )  # entries whose hash is wrong, at no recorded place
    others: list[int] = field(default_factory=list)  # offsets of another installation's entries
    unsigned: list[int] = field(
        default_factory=list
    )  # offsets of entries of handovers that no ledger here names

    def __post_init__(self) -> None:
        good = set(self.intact)
        self.bad = [place for place in self.places if place not in good]
        self.bad_at = {place.offset: place for place in self.bad}
        self.good_events = {place.event for place in self.intact}
        self.good_starts = {place.offset for place in self.intact}
        self.starts = [place.offset for place in self.intact]
        self.ends = list(accumulate((place.end for place in self.intact), max))
        self.settled = set(self.good_events)  # events about whose entry everything is said
        self.ours = {place.handover for place in self.places}
        self.by_sha: dict[str, list[_Place]] = {}
        for place in (*self.bad, *self.intact):
            self.by_sha.setdefault(place.sha256, []).append(place)

    def result(self, project: str, pieces: Iterable[Piece]) -> Result:
        for piece in pieces:
            if not self._covered(piece):
                self._look_at(piece)
        told = {"entry": self._entry, "torn": self._torn, "foreign": self._foreign}
        for piece in self.strange:
            told[piece.kind](piece)
        self._lost()
        self._order()
        if self.others:
            self._note(
                "other",
                self.others[0],
                f"{len(self.others):,} entries of another installation, each matching its own hash",
            )
        if self.unsigned:
            many = len(self.unsigned)
            detail = (
                "1 entry matches its own hash and"
                if many == 1
                else f"{many:,} entries match their own hash and"
            )
            detail += " no event here signs it" if many == 1 else " no event here signs them"
            self._note(
                "other",
                self.unsigned[0],
                f"{detail}: another installation's, or the end of a ledger was cut off",
            )
        entries = len(self.intact) + len(self.moved)
        return Result(
            project,
            self.name,
            entries=entries,
            bytes=self.size,
            findings=_bounded(self.findings, self.name),
        )

    def _covered(self, piece: Piece) -> bool:
        """Whether an intact entry holds the piece's first byte."""
        at = bisect_right(self.starts, piece.offset) - 1
        return at >= 0 and piece.offset < self.ends[at]

    def _look_at(self, piece: Piece) -> None:
        if piece.kind == "entry" and piece.sha_ok and (known := self._known(piece)):
            return self._elsewhere(piece, known)
        last = self.strange[-1] if self.strange else None
        joins = (
            last
            and last.kind == piece.kind == "foreign"
            and last.offset + last.length == piece.offset
        )
        if last and joins and piece.offset not in self.bad_at:
            self.strange[-1] = Piece("foreign", last.offset, last.length + piece.length)
        elif len(self.strange) < _MOST_PIECES:
            self.strange.append(piece)
        return None

    def _known(self, piece: Piece) -> _Place | None:
        """The recorded place with exactly these bytes, one that nothing is said about when there is one."""
        for start in (b"", b"\n"):
            same = self.by_sha.get(_digest(self.file, piece.offset, piece.length, start), ())
            if same:
                return next((place for place in same if place.event not in self.settled), same[0])
        return None

    def _elsewhere(self, piece: Piece, known: _Place) -> None:
        if known.event in self.settled:
            return self._fault(
                "out_of_order", piece.offset, f"an entry of {piece.id} stands here a second time"
            )
        self.moved.append((piece.offset, known))
        self.settled.add(known.event)
        return None

    def _here(self, piece: Piece) -> _Place | None:
        """The place that should be intact where the piece begins; one byte earlier when its append healed a torn line."""
        return self.bad_at.get(piece.offset) or self.bad_at.get(piece.offset - 1)

    def _entry(self, piece: Piece) -> None:
        here = self._here(piece)
        if here and here.handover == piece.id and here.event not in self.settled:
            if piece.sha_ok and piece.offset + piece.length == here.end - 1:
                self._settle(here, "torn", f"the entry of {piece.id} lacks its last line feed")
            else:
                self._settle(
                    here, "changed", f"the entry of {piece.id} is not what the ledger recorded"
                )
        elif not piece.sha_ok:
            self.orphans.append(piece)
        elif piece.id in self.ours:
            self._fault(
                "foreign",
                piece.offset,
                f"an entry that says it is of {piece.id}, which no ledger recorded",
            )
        elif piece.id in self.named.unplaced:
            self._fault(
                "foreign",
                piece.offset,
                f"an entry of {piece.id}: the ledger's line on where it is, is missing",
            )
        else:
            (self.others if piece.id in self.named.others else self.unsigned).append(piece.offset)

    def _torn(self, piece: Piece) -> None:
        here = self._here(piece)
        if here and here.event not in self.settled:
            self._broken(here, piece)
        elif here and here.event in self.good_events:
            self._note(
                "healed",
                piece.offset,
                f"the rest of an entry of {here.handover} that was cut short and written again",
            )
        else:
            self._fault("torn", piece.offset, "an entry that has no end")

    def _foreign(self, piece: Piece) -> None:
        here, end, size = self._here(piece), piece.offset + piece.length, f"{piece.length:,} bytes"
        if here and here.event not in self.settled:
            self._broken(here, piece)
        elif end == self.size:
            self._note(
                "person",
                piece.offset,
                f"{size} at the end" if self.places or piece.offset else f"{size} and no entry",
            )
        elif (
            piece.offset and {end, end - 1} & self.good_starts
        ):  # one earlier: the append ended the note's last line
            self._note("person", piece.offset, f"{size}, after which the next entry was appended")
        else:
            self._fault("foreign", piece.offset, f"{size} that are no entry")

    def _broken(self, here: _Place, piece: Piece) -> None:
        if piece.length < here.length:
            self._settle(
                here,
                "torn",
                f"only {piece.length:,} of {here.length:,} bytes of the entry of {here.handover} are left",
            )
        else:
            self._settle(
                here, "changed", f"the entry of {here.handover} is not what the ledger recorded"
            )

    def _lost(self) -> None:
        """Entries that are nowhere, and those that cannot be told apart."""
        for place in {
            place.event: place for place in self.bad if place.event not in self.settled
        }.values():
            found = next((piece for piece in self.orphans if piece.id == place.handover), None)
            if found is None:
                self._settle(place, "missing", f"the entry of {place.handover} is not in the file")
            else:
                self.orphans.remove(found)
                self._settle(
                    place,
                    "changed",
                    f"the entry of {place.handover}, now at byte {found.offset:,}, is not what the ledger recorded",
                )
        for piece in self.orphans:
            self._fault(
                "changed", piece.offset, f"the entry of {piece.id} does not match its own hash"
            )
        if len(self.strange) == _MOST_PIECES:
            self._fault(
                "foreign",
                self.strange[-1].offset,
                "more pieces that no ledger accounts for than are looked at",
            )

    def _order(self) -> None:
        """Whole entries at other places: out of order when they go back, else moved as one."""
        newest = -1
        shifted = []
        for offset, place, moved in sorted(
            [(o, p, True) for o, p in self.moved] + [(p.offset, p, False) for p in self.intact]
        ):
            if place.offset < newest:
                self._fault(
                    "out_of_order",
                    offset,
                    f"the entry of {place.handover} was recorded at byte {place.offset:,}, before the one above it",
                )
            elif moved:
                shifted.append((offset, place))
            newest = max(newest, place.offset)
        if shifted:
            offset, place = shifted[0]
            detail = f"{len(shifted):,} whole entries are not where they were recorded; the first was at byte {place.offset:,}"
            self._note("moved", offset, detail)

    def _settle(self, place: _Place, kind: str, detail: str) -> None:
        self.settled.add(place.event)
        self._fault(kind, place.offset, detail)

    def _fault(self, kind: str, offset: int, detail: str) -> None:
        self.findings.append(Finding("fault", kind, f"{self.name}@{offset}", detail))

    def _note(self, kind: str, offset: int, detail: str) -> None:
        self.findings.append(Finding("note", kind, f"{self.name}@{offset}", detail))


def _bounded(findings: Sequence[Finding], name: str) -> tuple[Finding, ...]:
    """The findings, at most `MOST_FAULTS`, then how many more there are."""
    if len(findings) <= MOST_FAULTS:
        return tuple(findings)
    kept, left = findings[:MOST_FAULTS], findings[MOST_FAULTS:]
    level: Level = "fault" if any(item.level == "fault" for item in left) else "note"
    return (*kept, Finding(level, left[0].kind, name, f"and {len(left):,} more"))

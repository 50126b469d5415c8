"""A briefing beside what the ledgers say of it: which bytes are whose, and what is wrong."""

from __future__ import annotations

import hashlib
import io
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..values.errors import RecordError
from ..values.events import Event
from .briefing import Piece, plan_from_data
from .files import hash_of
from .folder import HandoverFolder

Kind = Literal[
    "changed", "missing", "torn", "out_of_order", "foreign", "unreadable",
    "other", "person", "healed", "moved", "newer", "redacted",
]  # fmt: skip
NOTES: tuple[Kind, ...] = ("other", "person", "healed", "moved", "newer", "redacted")

_MOST_PIECES = 10_000
_WHOLE_BYTES = 1024 * 1024


class Finding(NamedTuple):
    """Something to know about a record.

    `where` is `<file>:<line>` of a ledger or `<file>@<byte>` of a briefing.
    """

    level: Literal["fault", "note"]
    kind: Kind
    where: str
    detail: str


def finding(kind: Kind, where: str, detail: str) -> Finding:
    return Finding("note" if kind in NOTES else "fault", kind, where, detail)


class Place(NamedTuple):
    """Where a `briefed` event says that the entry of an event stands; `by` as in that event."""

    offset: int
    length: int
    sha256: str
    event: str
    handover: str
    by: str = ""

    @property
    def end(self) -> int:
        return self.offset + self.length


@dataclass
class Claims:
    """What the ledgers of a topic say of its briefings.

    `others` are handovers in events of another installation, `unplaced` handovers in events of this
    one that lack their `briefed` event, `redacted` those whose entries a person took out.
    """

    places: dict[str, list[Place]] = field(default_factory=lambda: defaultdict(list))
    others: set[str] = field(default_factory=set)
    unplaced: set[str] = field(default_factory=set)
    redacted: set[str] = field(default_factory=set)


class Comparison:
    """First every piece that is not where it was recorded is looked at, then each is told apart.

    Afterwards `findings` and `entries` hold what there is to say, `others` and `unsigned` where whole
    entries stand of another installation's handovers, and of those that no ledger here names.
    """

    def __init__(
        self, name: str, file: io.FileIO, places: Sequence[Place], intact: Sequence[Place]
    ) -> None:
        """`intact` are the places whose bytes are as recorded."""
        self.findings: list[Finding] = []
        self.entries = len(intact)
        self.others: list[int] = []
        self.unsigned: list[int] = []
        self._name, self._file = name, file
        self._intact = intact
        self._starts = {place.offset for place in intact}
        self._written = {place.event for place in intact}
        self._settled = set(self._written)  # events about whose entry everything is said
        self._ours = {place.handover for place in places}
        good = set(intact)
        self._lost = [place for place in places if place not in good]
        self._lost_at: dict[int, list[Place]] = defaultdict(list)
        for place in self._lost:
            self._lost_at[place.offset].append(place)
        self._by_sha: dict[str, list[Place]] = defaultdict(list)
        for place in (*self._lost, *intact):
            self._by_sha[place.sha256].append(place)
        self._moved: dict[int, Place] = {}  # whole entries, by where they now stand
        self._strange: list[Piece] = []
        self._altered: dict[str, deque[Piece]] = defaultdict(deque)  # by the id they say

    def run(self, pieces: Iterable[Piece], size: int, claims: Claims) -> None:
        """`pieces` are those of the whole file, `size` its bytes."""
        for piece in pieces:
            if not self._is_in_place(piece) and not self._is_elsewhere(piece):
                self._put_aside(piece)
        for piece in self._strange:
            place = self._lost_here(piece)
            if piece.kind == "entry":
                self._judge_entry(piece, place, claims)
            elif place and place.event not in self._settled:
                self._settle_rest(place, piece)
            elif piece.kind == "torn":
                self._judge_torn(piece, place)
            else:
                self._judge_foreign(piece, size)
        self._judge_lost(claims)
        self._judge_order()
        self._tell_others()

    @property
    def whole(self) -> tuple[Place, ...]:
        """The places of all whole entries, where they were recorded."""
        return (*self._intact, *self._moved.values())

    # --- looking

    def _is_in_place(self, piece: Piece) -> bool:
        """An append that ended somebody's unfinished line begins one byte before its entry."""
        return piece.offset in self._starts or piece.offset - 1 in self._starts

    def _is_elsewhere(self, piece: Piece) -> bool:
        """Whether it is an entry with exactly the bytes that are recorded for another place."""
        same = self._recorded_as(piece) if piece.sha_ok else []
        for place in same:
            if place.event not in self._settled:
                self._settled.add(place.event)
                self._moved[piece.offset] = place
                self.entries += 1
                return True
        if same:
            detail = f"an entry of {piece.id} stands here a second time"
            self._find("out_of_order", piece.offset, detail)
        return bool(same)

    def _recorded_as(self, piece: Piece) -> list[Place]:
        for healing in (b"", b"\n"):
            digest = hash_of(self._file, piece.offset, piece.length, before=healing)
            if digest in self._by_sha:
                return self._by_sha[digest]
        return []

    def _put_aside(self, piece: Piece) -> None:
        """To be judged later; foreign neighbours as one, but where an entry should begin."""
        last = self._strange[-1] if self._strange else Piece("torn", 0, 0)
        joins = last.kind == piece.kind == "foreign" and last.end == piece.offset
        if joins and piece.offset not in self._lost_at:
            self._strange[-1] = Piece("foreign", last.offset, last.length + piece.length)
        elif len(self._strange) < _MOST_PIECES:
            self._strange.append(piece)

    def _lost_here(self, piece: Piece) -> Place | None:
        """The place that should be intact where the piece begins, an unsettled one first."""
        places = self._lost_at.get(piece.offset) or self._lost_at.get(piece.offset - 1) or []
        for place in places:
            if place.event not in self._settled:
                return place
        return places[0] if places else None

    # --- judging

    def _judge_entry(self, piece: Piece, place: Place | None, claims: Claims) -> None:
        if place and place.handover == piece.id and place.event not in self._settled:
            if piece.sha_ok and piece.end == place.end - 1:
                self._settle(place, "torn", f"the entry of {piece.id} lacks its last line feed")
            else:
                self._settle_changed(place)
        elif not piece.sha_ok:
            self._altered[piece.id].append(piece)
        elif piece.id in self._ours:
            detail = f"an entry that says it is of {piece.id}, which no ledger recorded"
            self._find("foreign", piece.offset, detail)
        elif piece.id in claims.unplaced:
            detail = f"an entry of {piece.id}: the ledger's line on where it is, is missing"
            self._find("foreign", piece.offset, detail)
        elif piece.id in claims.others:
            self.others.append(piece.offset)
        else:
            self.unsigned.append(piece.offset)

    def _judge_torn(self, piece: Piece, place: Place | None) -> None:
        if place and place.event in self._written:
            detail = f"the rest of an entry of {place.handover} that was cut short and made again"
            self._find("healed", piece.offset, detail)
        else:
            self._find("torn", piece.offset, "an entry that has no end")

    def _judge_foreign(self, piece: Piece, size: int) -> None:
        length = f"{piece.length:,} bytes"
        if piece.end == size:
            is_all = piece.offset == 0 and not self._ours
            detail = f"{length} and no entry" if is_all else f"{length} at the end"
            self._find("person", piece.offset, detail)
        elif piece.offset and not self._starts.isdisjoint((piece.end, piece.end - 1)):
            detail = f"{length}, after which the next entry was appended"
            self._find("person", piece.offset, detail)
        else:
            self._find("foreign", piece.offset, f"{length} that are no entry")

    def _judge_lost(self, claims: Claims) -> None:
        """Entries that are nowhere, and those that cannot be told apart."""
        for place in self._lost:
            alike = self._altered.get(place.handover)
            if place.event in self._settled:
                continue
            if place.handover in claims.redacted:
                self._settle(place, "redacted", f"a person took the entry of {place.handover} out")
            elif alike:
                self._settle_changed(place, f", now at byte {alike.popleft().offset:,},")
            else:
                self._settle(place, "missing", f"the entry of {place.handover} is not in the file")
        for pieces in self._altered.values():
            for piece in pieces:
                detail = f"the entry of {piece.id} does not match its own hash"
                self._find("changed", piece.offset, detail)
        if len(self._strange) == _MOST_PIECES:
            detail = "more pieces that no ledger accounts for than are looked at"
            self._find("foreign", self._strange[-1].offset, detail)

    def _judge_order(self) -> None:
        """Whole entries at other places: out of order when they go back, else moved as one."""
        entries = self._moved | {place.offset: place for place in self._intact}
        moved = []
        newest = -1
        for offset, place in sorted(entries.items()):
            recorded = f"recorded at byte {place.offset:,}"
            if place.offset < newest:
                detail = f"the entry of {place.handover}, {recorded}, before the one above it"
                self._find("out_of_order", offset, detail)
            elif offset in self._moved:
                moved.append((offset, recorded))
            newest = max(newest, place.offset)
        if moved:
            offset, recorded = moved[0]
            detail = f"{len(moved):,} whole entries stand elsewhere, the first {recorded}"
            self._find("moved", offset, detail)

    def _tell_others(self) -> None:
        if self.others:
            count = f"{len(self.others):,} entries of another installation"
            self._find("other", self.others[0], f"{count}, each matching its own hash")
        if self.unsigned:
            count = (
                f"{len(self.unsigned):,} entries match their own hash and no event here signs them"
            )
            why = "another installation's, or the end of a ledger was cut off"
            self._find("other", self.unsigned[0], f"{count}: {why}")

    # --- saying

    def _settle_changed(self, place: Place, now: str = "") -> None:
        detail = f"the entry of {place.handover}{now} is not what the ledger recorded"
        self._settle(place, "changed", detail)

    def _settle_rest(self, place: Place, piece: Piece) -> None:
        if piece.length >= place.length:
            self._settle_changed(place)
        else:
            count = f"{piece.length:,} of {place.length:,} bytes"
            detail = f"only {count} of the entry of {place.handover} are left"
            self._settle(place, "torn", detail)

    def _settle(self, place: Place, kind: Kind, detail: str) -> None:
        self._settled.add(place.event)
        self._find(kind, place.offset, detail)

    def _find(self, kind: Kind, offset: int, detail: str) -> None:
        self.findings.append(finding(kind, f"{self._name}@{offset}", detail))


def claim(
    folder: HandoverFolder, name: str, counted: Sequence[Event], claims: Claims
) -> Iterator[Finding]:
    """Add the places of all entries; a finding for each event that must have one and names none."""
    placed = set()
    for event in counted:
        if event.kind == "redacted":
            claims.redacted.add(event.handover)
        if event.kind != "briefed":
            continue
        try:
            plan = plan_from_data(folder, event.data)
        except RecordError as error:
            yield finding("foreign", f"{name}:{event.id}", error.message)
            continue
        about = str(event.data.get("event", ""))
        placed.add(about)
        place = Place(plan.offset, plan.length, plan.sha256, about, event.handover, event.by)
        claims.places[plan.path.name].append(place)
    for event in counted:
        if event.data.get("packet") is not None and event.id not in placed:
            claims.unplaced.add(event.handover)
            detail = (
                f"no line says where the entry of {event.kind} {event.handover} is: it was not"
                " written yet (the next use of the chain writes it), or that line was taken out"
            )
            yield finding("missing", f"{name}:{event.id}", detail)


def intact_of(file: io.FileIO, size: int, places: Sequence[Place]) -> list[Place]:
    """The places whose bytes have the recorded hash."""
    if size > _WHOLE_BYTES:
        return [p for p in places if hash_of(file, p.offset, p.length) == p.sha256]
    content, sha256 = memoryview(file.read(size)), hashlib.sha256
    return [p for p in places if sha256(content[p.offset : p.end]).hexdigest() == p.sha256]


def are_all(intact: Sequence[Place], size: int) -> bool:
    """Whether the places are all of the file, one after the other."""
    end = 0
    for place in intact:
        if place.offset != end:
            return False
        end = place.end
    return end == size


def gone(name: str, places: Sequence[Place]) -> list[Finding]:
    findings = []
    for place in {place.event: place for place in places}.values():
        detail = f"the file with the entry of {place.handover} is gone"
        findings.append(finding("missing", f"{name}@{place.offset}", detail))
    return findings

"""A file of a chain's ledger: one event a line, chained by hash, signed, only ever appended to.

A file has one writer; all files of a chain are read as one by `chain_ledger`.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from ..values.events import SCHEMA, VERDICTS, Damage, Draft, Event
from ..values.trust import NOBODY_ELSE, Trust, Trusted
from . import end, files, signature
from .end import End
from .folder import chain_of
from .identity import by_fingerprint, signer_of
from .line import (
    LINE_BYTES,
    MAC,
    Json,
    Line,
    NewerError,
    Sealed,
    last_sha,
    lines,
    mac_of,
    seal,
    unseal,
)
from .line import canonical as canonical
from .signature import Signed

UNTRUSTED_BYTES = 4 * 1024 * 1024  # parsed JSON can be 20 times as large as its text
MOST_FAULTS = 1000
# What begins must be able to end: a handover is refused where its hand-back, or a larger one after
# it, might not fit any more. Readers go up to LINE_BYTES and files.SEARCHED_BYTES.
LEDGER_BYTES = files.SEARCHED_BYTES * 3 // 4
_SHARE_OF_A_LINE = {"prepared": 0.5, **{row.kind: 0.75 for row in VERDICTS.values()}}

FaultKind = Literal[
    "changed", "missing", "torn", "out_of_order", "malformed", "foreign", "healed", "newer"
]
NOTES: frozenset[FaultKind] = frozenset({"foreign", "healed", "newer"})

_BY = re.compile(rb'\{?("by":"[^"]{0,32}"?,?)?')
_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
_MAC_AND_PREV = re.compile(rb',"mac":"[0-9a-f]{64}","prev":"([0-9a-f]{64}|)"')


@dataclass(frozen=True)
class Fault:
    """Something to know about a ledger; `where` is `<file>:<line>`, `detail` one printable line.

    Damage: changed, missing, torn, out_of_order, malformed (no event at all). Notes: foreign (of
    another installation or chain), healed (what is left of a write that was cut short and made
    again), newer (signed here by a newer version, not read).
    """

    kind: FaultKind
    where: str
    detail: str

    @property
    def is_damage(self) -> bool:
        return self.kind not in NOTES


@dataclass(frozen=True)
class Reading:
    """A ledger as it stands: intact events in the order of the file, and what there is to know.

    `gaps`: where events are lost, by the sha of the event that stands there now, or another text at
    the end. `torn`: the last line lacks its line feed. `size` is in bytes, `run` what the last line
    of this installation is signed over.
    """

    events: tuple[Event, ...] = ()
    faults: tuple[Fault, ...] = ()
    gaps: Mapping[str, Damage] = field(default_factory=dict)
    torn: bool = False
    size: int = 0
    run: str = ""


def utc_now() -> datetime:
    """The usual clock."""
    return datetime.now(UTC)


def random_id(prefix: str) -> str:
    """`<prefix>-<16 hex>`."""
    return f"{prefix}-{secrets.token_hex(8)}"


class Ledger:
    """One writer's file of a chain; its name begins with the chain's id. It keeps nothing in memory."""

    def __init__(
        self,
        path: Path,
        key: bytes,
        *,
        trust: Trust = NOBODY_ELSE,
        clock: Callable[[], datetime] = utc_now,
        new_id: Callable[[str], str] = random_id,
    ) -> None:
        self.path = path
        self.key = key
        self.trust = trust
        self.chain = chain_of(path.name)
        self._clock = clock
        self._new_id = new_id

    def read(self) -> Reading:
        """Everything in the file; what is wrong in it is told, never raised. Memory is bounded.

        Raises RecordError only when the file may not be opened or cannot be read.
        """
        reader = self._looked_through({})
        believed = reader.believed()
        if believed:
            reader = self._looked_through(believed)
        return reader.reading()

    def _looked_through(self, believed: Mapping[str, Trusted]) -> _Reader:
        mark = end.read(self.path, (self.key, *self.trust.former))
        reader = _Reader(self, mark, believed)
        with (
            suppress(FileNotFoundError),
            files.reading(self.path),
            files.open_read(self.path) as file,
        ):
            for line in lines(file):
                reader.take(line)
        return reader

    def stamp(self) -> files.Stamp:
        """Another one after every write to the file. Raises RecordError as `read`."""
        return files.stamp(self.path)

    def append(self, drafts: Sequence[Draft], *, after: str = "") -> tuple[Event, ...]:
        """Append all of `drafts` with one write and fsync; the caller holds the folder's lock.

        Their times are later than `after`, the newest one of the chain's other files if need be.
        A torn last line is ended first and left. Cost does not grow with the file while its end is
        intact. A file that others may read is taken from them. Raises RecordError(append_failed);
        ValueError or TypeError, before anything is written, for data that is not JSON.
        """
        if not drafts:
            return ()
        if any(draft.kind == "prepared" for draft in drafts):
            self._check_size()
        before, healing = self._end()
        prev, run = before.sha, before.run
        content = [healing]
        events: list[Event] = []
        signer = signer_of(self.key)

        def signed(sha: str) -> str:
            over = signature.content(self.chain, signature.run_over((sha,), run))
            return signer.sign(over) if signer else ""

        for number, draft in enumerate(drafts, 1):
            body = self._body(draft, prev, after)
            if signer:
                body["by"] = signer.fingerprint
            ends_write = number == len(drafts)
            line, event = seal(body, self.key, signed if ends_write else _unsigned)
            self._check_length(draft, line)
            content += [line, b"\n"]
            events.append(event)
            prev = event.sha
            run = signature.run_over((prev,), run) if signer else ""
        with files.writing(self.path), files.open_append(self.path, files.OWNER_ONLY) as file:
            with suppress(OSError):  # another user's file is not ours to narrow
                files.narrow(file)
            files.write_whole(file, b"".join(content), self.path)
        with suppress(OSError):  # the events stand, and an older mark is still true
            end.write(self.path, self.key, End(prev, before.own + len(events), run))
        return tuple(events)

    def _end(self) -> tuple[End, bytes]:
        """The last event, and the line feed that a torn end still needs.

        Where the last event is lost the next one still follows it: the gap stays for who reads.
        """
        mark = end.read(self.path, (self.key, *self.trust.former))
        with files.writing(self.path):
            try:
                file = files.open_read(self.path)
            except FileNotFoundError:
                return mark, b""
            with file:
                last = last_sha(file)
                healing = b"" if files.ends_line(file) else b"\n"
        if mark.sha == last:
            return mark, healing
        if mark.sha and not files.holds(self.path, b'"sha":"%b"' % mark.sha.encode()):
            return mark, healing
        # The mark is behind: a crash came between, or a version without marks wrote here.
        reading = self.read()
        own = sum(event.is_own for event in reading.events)
        return End(last, max(own, mark.own), reading.run), healing

    def _body(self, draft: Draft, prev: str, after: str) -> Json:
        if draft.chain != self.chain:
            raise ValueError(f"not an event of {self.path.name}: its chain is {draft.chain!r}")
        return {
            "schema": SCHEMA,
            "id": self._new_id("ev"),
            "kind": draft.kind,
            "time": self._time(after),
            "chain": draft.chain,
            "handover": draft.handover,
            "hop": draft.hop,
            "depth": draft.depth,
            "from": draft.sender,
            "to": draft.receiver,
            "data": dict(draft.data),
            "prev": prev,
        }

    def _time(self, after: str) -> str:
        now = self._clock().astimezone(UTC).strftime(_TIME)
        if now > after:
            return now
        return (datetime.strptime(after, _TIME) + timedelta(microseconds=1)).strftime(_TIME)

    def _check_size(self) -> None:
        size = self.stamp().size
        if size > LEDGER_BYTES:
            reason = f"the ledger has {size:,} bytes, no handover begins above {LEDGER_BYTES:,}"
            raise files.append_failed(self.path, f"{reason}: hand over on another topic")

    def _check_length(self, draft: Draft, line: bytes) -> None:
        is_made_here = draft.data.get("implicit") is True  # its words are ours to keep short
        share = 1.0 if is_made_here else _SHARE_OF_A_LINE.get(draft.kind, 1.0)
        most = int(LINE_BYTES * share)
        if len(line) >= most:
            reason = f"an event of {len(line):,} bytes is over the limit of {most:,}: shorten it"
            raise files.append_failed(self.path, reason)


def _unsigned(sha: str) -> str:
    return ""


class Appendable(Protocol):
    """What events are appended to."""

    def append(self, drafts: Sequence[Draft], *, after: str = "") -> tuple[Event, ...]: ...


def snapshot(
    ledger: Appendable, prepared: Draft, *, before: Sequence[Draft] = (), after: str = ""
) -> tuple[Event, ...]:
    """Record the `prepared` event, the snapshot of seed 001, before anything else of a handover.

    `before` are events of the same moment (superseded, decline_lifted); all are written at once.
    """
    if prepared.kind != "prepared":
        raise ValueError(f"a snapshot is a prepared event, not {prepared.kind!r}")
    return ledger.append((*before, prepared), after=after)


class _Link(NamedTuple):
    """An intact line: what it follows, where a damaged one stood just before it (0: none), and
    whether it was signed here."""

    number: int
    prev: str
    sha: str
    damaged: int
    own: bool


class _Cut(NamedTuple):
    """A line that was cut short, it seems: the next intact one tells. `prev` where it is left."""

    number: int
    prev: str | None


class _Start:
    """How a line of a chain begins, after `by` where it has one."""

    def __init__(self, chain: str) -> None:
        self._rest = b'"chain":"%b","data":{' % chain.encode()

    def begins(self, content: bytes) -> bool:
        return content.startswith(self._rest, _end_of_by(content))

    def begins_cut(self, content: bytes) -> bool:
        """Also what ends before all of that."""
        rest = content[_end_of_by(content) :]
        in_by = b'{"by":"'.startswith(content)
        return in_by or self._rest.startswith(rest) or rest.startswith(self._rest)


def _end_of_by(content: bytes) -> int:
    match = _BY.match(content)
    return match.end() if match else 0


class _Reader:
    """One reading of one ledger, line by line."""

    def __init__(self, ledger: Ledger, end_mark: End, believed: Mapping[str, Trusted]) -> None:
        self._end_mark = end_mark
        self._name = ledger.path.name
        self._chain = ledger.chain
        self._keys = (ledger.key, *ledger.trust.former)
        signer = signer_of(ledger.key)
        self._by = signer.fingerprint if signer else None
        self._others = by_fingerprint(ledger.trust.trusted)
        self._believed = believed  # by the sha of the line
        self._signed: dict[str, list[Signed]] = {}  # by fingerprint: our lines, and trusted ones'
        self._start = _Start(self._chain)
        self._events: list[Event] = []
        self._faults: list[Fault] = []
        self._more_faults = 0
        self._links: list[_Link] = []
        self._shas: set[str] = set()
        self._cut: list[_Cut] = []
        self._damaged = 0  # the first damaged line since the last intact one
        self._unread: dict[str, int] = {}  # signed lines that are no event, by their sha
        self._own = 0
        self._foreign: dict[str, int] = {}  # intact lines of another key, by their sha
        self._untrusted_left = UNTRUSTED_BYTES
        self._size = 0
        self._last_number = 0
        self._ended = True

    def take(self, line: Line) -> None:
        self._size += line.length
        self._last_number = line.number
        self._ended = line.ended
        sealed = line.unseal()
        if sealed is None:
            self._take_damaged(line)
        elif sealed.sha in self._shas:
            self._fault("out_of_order", line, "stands here a second time")
        else:
            self._take_intact(line, sealed)

    def reading(self) -> Reading:
        """After the last line."""
        for cut in self._cut:
            if cut.number == self._last_number:
                self._fault("torn", cut, "not a whole line")
            else:
                self._fault("changed", cut, "not a whole line, and none that is follows it")
        self._compare_links()
        gaps = self._gaps() if self._own or self._believed or self._end_mark.sha else {}
        if self._more_faults:
            rest = f"and {self._more_faults:,} more faults"
            self._faults.append(Fault("malformed", self._name, rest))
        own = (line.sha for line in self._signed.get(self._by or "", ()))
        return Reading(
            tuple(self._events),
            tuple(self._faults),
            gaps,
            not self._ended,
            self._size,
            signature.run_over(own),
        )

    def _take_damaged(self, line: Line) -> None:
        self._damaged = self._damaged or line.number
        if self._is_cut(line) and len(self._cut) < MOST_FAULTS:
            tail = _MAC_AND_PREV.match(line.content, max(0, line.content.rfind(MAC)))
            self._cut.append(_Cut(line.number, tail[1].decode() if tail else None))
        elif line.content.endswith(b"\r") and unseal(line.content[:-1]):
            self._fault("changed", line, "its line end was turned to CR LF")
        elif self._start.begins(line.content) and line.length <= LINE_BYTES:
            self._fault("changed", line, "does not match its sha")
        else:
            self._fault("malformed", line, f"{line.length:,} bytes that are no event")

    def _is_cut(self, line: Line) -> bool:
        """Whether it begins as a line of this chain does and does not end as one."""
        content = line.content
        begins = self._start.begins_cut(content)
        ends = content.endswith((b"}", b"}\r")) or line.length > LINE_BYTES
        return begins and content != b"" and not ends

    def _take_intact(self, line: Line, sealed: Sealed) -> None:
        is_own = self._is_own(sealed)
        other = self._believed.get(sealed.sha)
        trusted = is_own or other is not None
        if is_own:
            self._own += 1
        elif not trusted:
            self._foreign[sealed.sha] = line.number
        self._note_signed(sealed, is_own)
        self._settle_cut(sealed.prev)
        self._shas.add(sealed.sha)
        self._links.append(_Link(line.number, sealed.prev, sealed.sha, self._damaged, trusted))
        self._damaged = 0
        if not trusted:
            self._untrusted_left -= len(sealed.body)
            if self._untrusted_left < 0:
                self._fault("foreign", line, "more of another installation than is read")
                return
        try:
            self._keep(line, sealed, sealed.event(trusted, other.name if other else ""))
        except NewerError as error:
            # Whoever has no key of ours cannot say that a newer version wrote here.
            self._fault("newer" if trusted else "foreign", line, str(error))
        except ValueError as error:
            self._fault("malformed", line, str(error))
            if trusted:
                self._unread[sealed.sha] = line.number

    def _settle_cut(self, prev: str) -> None:
        """What was cut short followed the last intact line, and so does what came after it."""
        last = self._links[-1].sha if self._links else ""
        for cut in self._cut:
            if prev == last and cut.prev in (None, last):
                self._fault("healed", cut, "the rest of a write that was cut short")
            else:
                self._fault("torn", cut, "not a whole line")
        self._cut.clear()

    def _is_own(self, sealed: Sealed) -> bool:
        return any(
            hmac.compare_digest(mac_of(key, sealed.sha, sealed.sig), sealed.mac)
            for key in self._keys
        )

    def _note_signed(self, sealed: Sealed, is_own: bool) -> None:
        """What its `sig` may be over; a line that is missing before it was the same writer's."""
        if is_own if sealed.by == self._by else sealed.by in self._others:
            noted = self._signed.setdefault(sealed.by, [])
            before = self._links[-1].sha if self._links else ""
            if sealed.prev != before and sealed.prev not in self._shas:
                noted.append(Signed(sealed.prev))
            noted.append(Signed(sealed.sha, sealed.sig))

    def believed(self) -> dict[str, Trusted]:
        """After the last line: what trusted installations signed, by the sha of the line."""
        found = {}
        for by, noted in self._signed.items():
            if by in self._others and by != self._by:
                other = self._others[by]
                signed = signature.covered(noted, self._chain, other.key)
                found.update(dict.fromkeys(signed & self._shas, other))
        return found

    def _keep(self, line: Line, sealed: Sealed, event: Event) -> None:
        if event.chain != self._chain:
            self._fault("foreign", line, f"belongs to chain {event.chain[:120]!r}")
            event = replace(event, trusted=False)
        elif not event.trusted and sealed.by in self._others and sealed.sig:
            name = self._others[sealed.by].name
            self._fault("changed", line, f"{name} did not sign it, which it says")
        elif not event.trusted:
            self._fault("foreign", line, "written by another installation")
        self._events.append(event)

    def _compare_links(self) -> None:
        before = ""
        for link in self._links:
            if link.prev != before and link.prev in self._shas:
                self._fault("out_of_order", link, "follows another line than the line before it")
            elif link.prev != before and not link.damaged:
                self._fault("missing", link, "the line before it is missing")
            before = link.sha
        for number in self._spoilt().values():
            place = _Cut(number, None)
            self._fault("changed", place, "not signed here, where a line of ours is missing")
        if self._is_cut_off() and not self._damaged:
            last = _Cut(self._last_number + 1, None)
            self._fault("missing", last, "the last events are missing: the end was cut off")

    def _is_cut_off(self) -> bool:
        return self._end_mark.sha != "" and self._end_mark.sha not in self._shas

    def _spoilt(self) -> dict[str, int]:
        """Lines that look foreign where fewer of ours stand than were written: each may be one of
        them with another seal."""
        return self._foreign if self._own < self._end_mark.own else {}

    def _gaps(self) -> dict[str, Damage]:
        """Where events of ours are lost, or stand in another order. What was only put in between,
        a stranger's line, and a write that a crash cut short lost nothing."""
        unread = {**self._spoilt(), **self._unread}
        lost: list[tuple[str, str, int]] = []  # what stands there now, what is missing, its line
        before, at_end = "", f"end of {self._name}"
        may_follow = {""}  # the last line of ours, and strangers' since
        for link in self._links:
            if (link.own and link.prev not in may_follow) or before in unread:
                number = link.damaged or unread.get(before) or link.number
                lost.append((link.sha, link.prev, number))
            if link.own:
                may_follow = {link.sha}
            else:
                may_follow.add(link.sha)
            before = link.sha
        if self._is_cut_off():
            lost.append((at_end, self._end_mark.sha, self._damaged or self._last_number + 1))
        elif before in unread:
            lost.append((at_end, before, unread[before]))
        elif self._damaged and not self._end_mark.sha and not self._cut:
            lost.append((at_end, f"line {self._damaged}", self._damaged))
        said = {fault.where: fault.detail for fault in self._faults}
        gaps = {}
        for follows, missing, number in lost[:MOST_FAULTS]:
            where = f"{self._name}:{number}"
            gaps[follows] = Damage(missing=missing, where=where, what=said.get(where, ""))
        return gaps

    def _fault(self, kind: FaultKind, place: Line | _Link | _Cut, detail: str) -> None:
        if len(self._faults) >= MOST_FAULTS:
            self._more_faults += 1
        else:
            self._faults.append(Fault(kind, f"{self._name}:{place.number}", detail))

"""A chain opened for reading and writing: ledger and briefing kept in step, under the folder's one lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..chain.chain import Chain, fold, packet_in
from ..text.note import entry_body, note_body
from ..text.quote import quote_drawn
from ..values.call import Ports
from ..values.errors import RecordError
from ..values.events import Draft, Event, Note, draft
from ..values.packet import HandoverPacket
from ..values.settings import Settings
from . import briefing, files
from .files import Footprint, footprint
from .folder import HandoverFolder, topic_slug, write_gitignore
from .ledger import Ledger, snapshot

AppendCheck = Callable[[Footprint, Footprint], None]
# Events that have an entry in a briefing: the handover itself and every way it comes back.
BRIEFED = frozenset({"prepared", "done", "clarify", "rejected", "escalated", "failed", "cancelled"})


class ChainBook:
    """One chain while its folder's lock is held. `chain` is what the ledger says after the last write."""

    def __init__(self, folder: HandoverFolder, chain_id: str, ports: Ports) -> None:
        self.folder = folder
        self.ledger = ledger_of(folder, chain_id, ports)
        self._chain_id = chain_id
        self._events = list(readable(self.ledger))
        self.unhealed = ""
        self._folded: tuple[int, Chain] = (0, Chain(chain_id))

    @property
    def exists(self) -> bool:
        return bool(self._events)

    @property
    def chain(self) -> Chain:
        if self._folded[0] != len(self._events):
            self._folded = (len(self._events), fold(self._chain_id, self._events))
        return self._folded[1]

    def write(self, *drafts: Draft) -> tuple[Event, ...]:
        """Append events; they are on the disk when this returns."""
        written = self.ledger.append(drafts)
        self._events.extend(written)
        return written

    def snapshot(self, prepared: Draft, *, before: tuple[Draft, ...] = ()) -> Event:
        """The `prepared` event with what must stand before it, in one write, before the briefing is touched."""
        written = snapshot(self.ledger, prepared, before=before)
        self._events.extend(written)
        return written[-1]

    def brief(self, event: Event, check: AppendCheck | None = None) -> briefing.Written:
        """Append the entry of an event to its briefing, planned in the ledger first so that a crash can be healed.

        `check` is given what the file held before, and the same part of it afterwards. Raises RecordError (append_failed);
        the ledger then holds a `refused` event that says so, when it can be written.
        """
        try:
            return self._append_entry(event, check)
        except RecordError as error:
            self.write(about(_packet(event), "refused", code=error.code, why=error.message))
            raise

    def brief_or_tell(self, event: Event) -> tuple[str, ...]:
        """`brief` of what must count even where its briefing cannot be written: a warning instead of the error."""
        try:
            self.brief(event)
        except RecordError as error:
            return (f"recorded in the ledger, not in the briefing: {error.message}",)
        return ()

    def _append_entry(self, event: Event, check: AppendCheck | None = None) -> briefing.Written:
        entry = entry_of(event)
        packet = _packet(event)
        name = self.folder.briefing_name(
            packet.identity.receiver, packet.topic, packet.identity.created_at
        )
        plan = briefing.plan(self.folder, name, entry)
        self.write(about(packet, "briefed", event=event.id, **plan.to_data()))
        held = footprint(plan.path)
        written = briefing.append(self.folder, plan, entry)
        if check:
            check(held, footprint(plan.path, held.size))
        return written

    def heal(self) -> None:
        """Finish what a crash or an unwritable briefing left: each entry that was never planned, and the last planned one, once.

        A briefing that cannot be written is told in `unhealed` and stops nothing: the ledger is what counts.
        """
        for event in self._without_entry():
            try:
                self._append_entry(event)
            except RecordError as error:
                self.unhealed = self.unhealed or error.message

    def _without_entry(self) -> tuple[Event, ...]:
        own = [event for event in self._events if event.trusted]
        briefed = [event for event in own if event.kind == "briefed"]
        planned = {str(event.data.get("event")) for event in briefed}
        if briefed and not self._stands(briefed[-1]):
            planned.discard(str(briefed[-1].data.get("event")))
        return tuple(event for event in own if _has_entry(event) and event.id not in planned)

    def _stands(self, briefed: Event) -> bool:
        try:
            return (
                briefing.find(self.folder, briefing.plan_from_data(self.folder, briefed.data))
                == "intact"
            )
        except RecordError as error:
            self.unhealed = error.message
            return True  # what cannot be looked at is not written a second time

    def unaccounted_bytes(self, name: str) -> int:
        """How many bytes of a briefing no ledger of the folder accounts for; what follows the last entry is a person's notes."""
        plans = [
            briefing.plan_from_data(self.folder, event.data)
            for event in (
                *self._events,
                *(event for _, events in self._neighbours() for event in events),
            )
            if event.trusted and event.kind == "briefed" and event.data.get("path") == name
        ]
        known_until = max((plan.offset + plan.length for plan in plans), default=0)
        loose = briefing.unaccounted(self.folder.briefing_path(name), plans)
        return sum(length for offset, length in loose if offset < known_until)

    def unread(self) -> tuple[str, ...]:
        """Ledgers of the same topic that are not read, and why; what they may say of the briefing is not known."""
        return tuple(told for told, _ in self._neighbours() if told)

    def _neighbours(self) -> Iterator[tuple[str, tuple[Event, ...]]]:
        """Of each other ledger of the topic its events, or why it is not read: a hostile file stops nothing."""
        packet = self.chain.newest
        prefix = f"{topic_slug(packet.topic)}-" if packet else ""
        for path in self.folder.ledgers() if prefix else ():
            if path.name.startswith(prefix) and path != self.ledger.path:
                try:
                    yield "", Ledger(path, self.ledger.key).read().events
                except RecordError as error:
                    yield f"chains/{path.name} was not read: {error.message}", ()


@contextmanager
def opened(
    folder: HandoverFolder, chain_id: str, settings: Settings, ports: Ports
) -> Iterator[ChainBook]:
    """The chain, locked and healed. The folder must have been opened with `create`. Raises RecordError."""
    write_gitignore(folder, settings.git_ignore)
    with folder.lock(settings.lock_timeout_s):
        book = ChainBook(folder, chain_id, ports)
        book.heal()
        yield book


def readable(ledger: Ledger) -> tuple[Event, ...]:
    """The ledger's intact events. Raises RecordError when a newer version of the plugin wrote there."""
    reading = ledger.read()
    newer = next((fault for fault in reading.faults if fault.kind == "newer"), None)
    if newer:
        raise RecordError(
            f"failed to append briefing file: {newer.where} was written by a newer version",
            "update the plugin",
        )
    return reading.events


def ledger_of(folder: HandoverFolder, chain_id: str, ports: Ports) -> Ledger:
    return Ledger(folder.ledger_path(chain_id), ports.key(), clock=ports.clock, new_id=ports.new_id)


def chain_holding(folder: HandoverFolder, handover_id: str, ports: Ports) -> Chain | None:
    """The chain that this handover belongs to, or None; a ledger that does not mention it is not folded.

    A file that may not be opened or cannot be read is passed over: `unreadable` names it.
    """
    wanted = handover_id.encode("utf-8", "replace")
    for path in folder.ledgers():
        try:
            if not files.holds(path, wanted):  # cheap: this is asked before every prompt
                continue
            events = Ledger(path, ports.key()).read().events
        except (RecordError, FileNotFoundError):
            continue
        if any(
            event.kind == "prepared" and event.trusted and event.handover == handover_id
            for event in events
        ):
            return fold(path.stem, events)
    return None


def unreadable(ledgers: Iterable[Path]) -> str:
    """The ledgers that `chain_holding` passes over, each with its reason, for a message; "" when there are none."""
    told = []
    for path in ledgers:
        try:
            size = files.footprint(path).size
        except RecordError as error:
            told.append(f"not read: {path.name}, {error.message}")
        else:
            told += (
                [f"not read: {path.name}, {size:,} bytes"] if size > files.SEARCHED_BYTES else []
            )
    return "; ".join((*told[:3], *([f"and {len(told) - 3} more"] if len(told) > 3 else [])))


def peek(folder: HandoverFolder, chain_id: str, ports: Ports) -> Chain:
    """The chain as it stands, without lock or repair."""
    return fold(chain_id, readable(ledger_of(folder, chain_id, ports)))


def entry_of(event: Event) -> bytes:
    """The briefing entry of an event: its bytes depend on the event alone, so that healing writes the same again."""
    packet = _packet(event)
    created = f"{event.time[:10]} {event.time[11:16]} UTC"
    if event.kind == "prepared":
        body = entry_body(packet, travelled(event), created=created)
    else:
        body = note_body(
            packet, event.kind, Note.model_validate(event.data.get("note", {})), created=created
        )
    return briefing.seal(packet.identity.handover_id, body)


def travelled(event: Event) -> str:
    """What of the packet went into the stage-1 package, as lines of trusted text."""
    data = event.data
    lines = [
        f"{data['delivered']} of {data['estimated']} tokens (limit {data['limit']}), {data['turns']} recent turns"
    ]
    return "".join(f"{line}\n" for line in lines) + "".join(
        quote_drawn(item, "left out: ") for item in data["omitted"]
    )


def without_turns(event: Event) -> Event:
    """The same event as if no turns had travelled."""
    packet = {**event.data["packet"], "recent_turns": []}
    return replace(event, data={**event.data, "packet": packet})


def about(packet: HandoverPacket, kind: str, /, **data: object) -> Draft:
    """A draft about a handover: every place is filled from the packet's identity."""
    identity = packet.identity
    return draft(
        kind,
        chain=identity.chain_id,
        handover=identity.handover_id,
        hop=identity.hop,
        depth=identity.depth,
        sender=identity.sender,
        receiver=identity.receiver,
        **data,
    )


def _packet(event: Event) -> HandoverPacket:
    """The packet of an event that has an entry."""
    packet = packet_in(event)
    assert packet is not None
    return packet


def _has_entry(event: Event) -> bool:
    return event.kind in BRIEFED and event.data.get("packet") is not None

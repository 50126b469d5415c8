"""A chain opened for reading and writing: ledger and briefing in step, under the folder's one lock.

Opened: locked, read and folded once, what a crash left finished, a stop lifted when the person has
written since. A folder that does not exist yet is made, and locked, with the first write: a refused
call leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..chain.chain import Chain, Handover
from ..text import note
from ..text.damage import losses
from ..text.masking import Mask, is_clean, masked_value, redact
from ..text.quote import quote
from ..values.call import Call
from ..values.errors import HandoverError, RecordError, RefusedError
from ..values.events import (
    KINDS,
    Briefed,
    Closing,
    Draft,
    Escalated,
    Event,
    Payload,
    Prepared,
    Refused,
    Resumed,
    about,
    of_chain,
)
from ..values.packet import HandoverPacket
from . import accounts, briefing, listing, shelf
from .chain_ledger import chain_ledger
from .folder import HandoverFolder, topic_part, write_git_files
from .ledger import snapshot
from .missing import is_whole, missing
from .missing import keep as keep_whole


@dataclass(frozen=True)
class Place:
    """Where a chain is kept, and what its caller should know of that place."""

    folder: HandoverFolder
    chain_id: str
    warnings: tuple[str, ...] = ()


class Book:
    """One chain while its folder's lock is held. `chain` is what the ledger says after the last
    write; `unhealed` says why an earlier entry is still missing in its briefing, else "";
    `found_damage`: it was opened damaged, and nobody had said so before."""

    def __init__(self, place: Place, call: Call, lock: ExitStack) -> None:
        self.folder = place.folder
        self.ledger = chain_ledger(place.folder, place.chain_id, call)
        self.unhealed = ""
        self.found_damage = False
        self.healed = 0
        self._call = call
        self._lock = lock
        self._locked = False
        self._writable = False
        if (place.folder.chains / ".lock").exists():
            self._take_lock()
        self._copy = shelf.copy_of(self.ledger)

    @property
    def chain(self) -> Chain:
        return self._copy.chain

    # --- writing

    def write(self, *drafts: Draft) -> tuple[Event, ...]:
        """Append events, masked; they are on the disk when this returns. Raises RecordError."""
        return self._append(drafts)

    def snapshot(self, prepared: Draft, *, before: tuple[Draft, ...] = ()) -> Event:
        """The `prepared` event with what must stand before it, in one write, before the briefing
        is touched. Raises RecordError."""
        return self._append((*before, prepared), is_snapshot=True)[-1]

    def _append(self, drafts: tuple[Draft, ...], *, is_snapshot: bool = False) -> tuple[Event, ...]:
        if not drafts:
            return ()
        drafts = tuple([masked_draft(draft, self._call.ports.mask) for draft in drafts])
        self._make_writable()
        is_new = self.ledger.own.path not in self.ledger.listed()
        lists_it = is_new and listing.before_new(self.folder)
        after = self._copy.elsewhere
        if is_snapshot:
            written = snapshot(self.ledger, drafts[-1], before=drafts[:-1], after=after)
        else:
            written = self.ledger.append(drafts, after=after)
        self._copy = self._copy.after(written)
        if lists_it:
            listing.add_new(self.folder, self.ledger.own.path.name)
        shelf.keep(self.ledger, self._copy)
        for event in written:
            if event.payload.makes_round:
                self._call.ports.rounds.add()
        return written

    def _make_writable(self) -> None:
        """Folder, `.gitignore` and lock; where the lock comes only now, the ledger must be as it
        was read."""
        if self._writable:
            return
        HandoverFolder.open(str(self.folder.root), create=True)
        write_git_files(self.folder, self._call.settings.git_ignore)
        if not self._locked:
            self._take_lock()
            if shelf.copy_of(self.ledger) != self._copy:
                raise RecordError(
                    "failed to append briefing file: another handover on this topic was made in the"
                    " same moment",
                    "make the same call again",
                )
        self._writable = True

    def _take_lock(self) -> None:
        self._lock.enter_context(self.folder.lock(self._call.settings.lock_timeout_s))
        self._locked = True

    def brief(self, event: Event) -> briefing.Written:
        """Append the entry of an event to its briefing, planned in the ledger first so that a crash
        can be healed.

        Raises RecordError (append_failed); the ledger then holds a `refused` event that says so,
        when it can be written.
        """
        try:
            return self._append_entry(event)
        except RecordError as error:
            self.write(about(_packet(event), Refused(code=error.code, why=error.message)))
            raise

    def brief_or_tell(self, event: Event) -> tuple[str, ...]:
        """`brief` of what must count even where its briefing cannot be written: then a warning."""
        try:
            self.brief(event)
        except RecordError as error:
            return (f"recorded in the ledger, not in the briefing: {error.message}",)
        return ()

    def _append_entry(self, event: Event) -> briefing.Written:
        handover = self.chain.find(event.handover)
        entry = entry_of(event, handover.packet if handover else None)
        packet = _packet(event)
        plan = briefing.plan(self.folder, briefing_path(self.folder, packet).name, entry)
        is_known = accounts.is_known(plan.path, self._copy.events)
        self.write(about(packet, Briefed.model_validate({"event": event.id, **plan.to_data()})))
        was_whole = is_whole(plan.path, self.chain.id)
        written = briefing.append(self.folder, plan, entry)
        if is_known:
            accounts.keep_after_write(plan.path)
        if was_whole:
            keep_whole(plan.path, self.chain.id, event.id)
        return written

    # --- what is missing, and what is not ours

    def heal(self) -> None:
        """Write each entry that the briefings lack, once; `healed` counts them.

        A crash, an unwritable briefing or a merge in git left them out. A briefing that cannot be
        written is told in `unhealed` and stops nothing: the ledger is what counts.
        """
        found = missing(self.folder, self.chain.id, self._copy.events, entry_of)
        self.unhealed = found.unreadable
        for event in found.events:
            try:
                self._append_entry(event)
                self.healed += 1
            except RecordError as error:
                self.unhealed = self.unhealed or error.message

    def account(self, packet: HandoverPacket) -> accounts.Account:
        """What of the briefing of a packet is not as it was recorded. Raises RecordError."""
        path = briefing_path(self.folder, packet)
        slug = topic_part(self.chain.id)
        return accounts.account(self.folder, path, slug, self.ledger, self._copy.events)

    # --- damage, stops and refusals

    def tell_damage(self) -> None:
        """What the ledger lost stops the chain, once: declines and stops may have been among it.
        The person is told; their next message, or who resumes on the command line, goes on."""
        damage = self.chain.unseen
        if not damage:
            return
        self.found_damage = True
        why = " ".join(losses(damage))
        stopped = Escalated(why=why, damage=damage, person_messages=self._call.caller.person_count)
        self.write(of_chain(stopped, self.chain.id, sender=self._call.caller.sender))
        self._call.ports.call_person(why)

    def resume(self) -> None:
        """Lift the chain's stop when the person wrote since, or says so on the command line."""
        caller = self._call.caller
        if not self.chain.stop:
            return
        if caller.resume:
            by = "command line"
        elif caller.person_count > self.chain.stop_mark:
            by = "person"
        else:
            return
        resumed = Resumed(by=by, damage=self.chain.stop_damage)
        self.write(of_chain(resumed, self.chain.id, sender=caller.sender))

    def refuse(self, error: HandoverError, receiver: str = "") -> None:
        """Record a refusal where the chain has a handover; one that stops it also as `escalated`.

        What is recorded already is not again. What cannot be written is not told: the refusal itself
        is what the caller must hear, and `error.recorded` stays false.
        """
        drafts = []
        if self.chain.handovers and not error.recorded:
            drafts.append(self._of_the_call(Refused(code=error.code, why=error.message), receiver))
        stops = error.stops if isinstance(error, RefusedError) else ""
        if self.chain.handovers and stops and not self.chain.stop:
            count = self._call.caller.person_count
            drafts.append(self._of_the_call(Escalated(why=stops, person_messages=count), receiver))
        try:
            self.write(*drafts)
        except RecordError as unwritten:
            error.__cause__ = unwritten
        error.recorded = error.__cause__ is None

    def _of_the_call(self, payload: Payload, receiver: str) -> Draft:
        """About the hop that the call asked for, which is not made."""
        caller = self._call.caller
        return replace(
            of_chain(payload, self.chain.id, sender=caller.sender, receiver=receiver),
            hop=self.chain.next_hop,
            depth=len(self.chain.ancestors(caller.inside)),
        )


@contextmanager
def open_chain(place: Place, call: Call) -> Iterator[Book]:
    """The chain: locked, read, healed and resumed. Raises RecordError."""
    with ExitStack() as lock:
        book = Book(place, call, lock)
        book.tell_damage()
        book.heal()
        book.resume()
        yield book


@contextmanager
def refusals_recorded(book: Book, receiver: str = "") -> Iterator[None]:
    """Around the rules: what they refuse is written down before the caller hears it."""
    try:
        yield
    except HandoverError as error:
        if not isinstance(error, RecordError):
            book.refuse(error, receiver)
        raise


def briefing_path(folder: HandoverFolder, packet: HandoverPacket) -> Path:
    """Of the briefing that has the entry of a handover."""
    identity = packet.identity
    return folder.briefing_of(identity.chain_id, identity.receiver, identity.created_at)


def masked_draft(draft: Draft, mask: Mask) -> Draft:
    """The last net before the disk: whatever came this far unmasked. Most often nothing did."""
    data = dict(draft.data)
    if is_clean(data, mask):
        return draft
    payload = KINDS[draft.kind].model_validate(data)
    return replace(draft, data=masked_value(payload, mask).to_data())


# --- entries


def entry_of(event: Event, before: HandoverPacket | None = None) -> bytes:
    """The briefing entry of an event; `before` is what its handover was prepared with.

    Its bytes depend on the ledger alone, so that healing writes the same again. The event is
    masked; what its words say only side by side is hidden here.
    """
    payload, packet = event.payload, without_turns(_packet(event))
    if isinstance(payload, Prepared):
        # One reading of the clock: the file is named after the same moment.
        created = minute(packet.identity.created_at)
        body = note.entry_body(packet, travelled(payload), created=created)
    else:
        assert isinstance(payload, Closing)
        before = without_turns(before) if before else None
        body = note.note_body(
            packet,
            event.kind,
            payload.note,
            created=minute(event.time),
            before=before,
            warnings=payload.warnings,
        )
    return briefing.seal(packet.identity.handover_id, redacted(body))


def redacted(body: str) -> str:
    """Line by line, so that whatever is hidden leaves the form of an entry."""
    if redact(body) == body:
        return body
    return "\n".join(map(redact, body.split("\n")))


def minute(time: str) -> str:
    """`2026-06-05 14:03 UTC` of an ISO time."""
    return f"{time[:10]} {time[11:16]} UTC"


def travelled(prepared: Prepared) -> str:
    """What of the packet went into the stage-1 package, as lines of trusted text."""
    tokens = f"{prepared.delivered} of {prepared.estimated} tokens (limit {prepared.limit})"
    text = f"{tokens}, {prepared.turns} recent turns\n"
    for item in prepared.omitted:
        text += quote(item, "left out: ")
    return text


def _packet(event: Event) -> HandoverPacket:
    """The packet of an event that has an entry."""
    packet = event.packet
    assert packet is not None
    return packet


def newest_verdict(handover: Handover) -> Event:
    """The event that closed a handover last."""
    for event in reversed(handover.events):
        if event.kind == handover.state:
            return event
    raise AssertionError(f"{handover.id} is not closed")


# --- a rule of seed 001 that holds for every entry


def without_turns(packet: HandoverPacket) -> HandoverPacket:
    """A briefing is no chat log: this is all of a packet that an entry is ever made from."""
    return packet.model_copy(update={"recent_turns": ()})

"""A chain as its ledger tells it: events folded into what holds now. All of it is derived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from ..values.errors import NewerRecordError, RecordError
from ..values.events import (
    AUDIT_PAGE,
    KINDS,
    OPEN,
    Clarify,
    Closing,
    Damage,
    DeclineLifted,
    Escalated,
    Event,
    Note,
    Payload,
    Prepared,
    Reopened,
    Resumed,
    State,
)
from ..values.packet import HandoverPacket, StateField
from ..values.roster import normal
from .answered import name_key
from .decisions import named_as_theirs

P = TypeVar("P", bound=Payload)


@dataclass(frozen=True)
class Handover:
    """One handover of the chain with all that happened to it.

    `packet` is what was handed over, `returned` the packet after its hand-back (None before).
    `continues` is the id of the leg after which the work moved here by itself, else "". `uncertain`:
    the ledger lost events since its last one, which may have been its own.
    """

    packet: HandoverPacket
    state: State
    events: tuple[Event, ...]
    returned: HandoverPacket | None = None
    continues: str = ""
    fingerprint: str = ""
    uncertain: bool = False

    @property
    def id(self) -> str:
        return self.packet.identity.handover_id

    @property
    def receiver(self) -> str:
        return self.packet.identity.receiver

    @property
    def hop(self) -> int:
        return self.packet.identity.hop

    @property
    def parent(self) -> str:
        """The id of the handover that its sender works in, "" for the orchestrator."""
        return self.packet.identity.parent

    @property
    def prepared(self) -> Prepared:
        """What was recorded when it was prepared."""
        payload = self.events[0].payload
        assert isinstance(payload, Prepared)
        return payload

    @property
    def latest(self) -> HandoverPacket:
        """The packet as it came back, else as it was handed over."""
        return self.returned or self.packet

    @property
    def known(self) -> HandoverPacket:
        """What its receiver knows since: what came back, with the summary that it was given."""
        return self.latest.model_copy(update={"summary": self.packet.summary})

    @property
    def note(self) -> Note:
        """The newest hand-back note, an empty one when it never came back."""
        for event in reversed(self.events):
            if issubclass(_kind(event), Closing):
                payload = event.payload
                if isinstance(payload, Closing) and payload.note:
                    return payload.note
        return Note()

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    @property
    def may_be_open(self) -> bool:
        """Also where its delivery may have been lost: who works in it is still heard."""
        return self.is_open or (self.uncertain and self.state == "prepared")

    def last(self, kind: type[P]) -> P | None:
        """What the newest event of a kind says; of `Closing` that of any closing one."""
        event = self.last_event(kind)
        payload = event.payload if event else None
        return payload if isinstance(payload, kind) else None

    def last_event(self, kind: type[Payload]) -> Event | None:
        for event in reversed(self.events):
            if issubclass(_kind(event), kind):
                return event
        return None


@dataclass(frozen=True)
class Chain:
    """All handovers of one topic in one chat, oldest first.

    `stop` says why the chain stands still until the person writes, "" while it may go on;
    `stop_mark` is how many messages the person had written by then. `declined` says the same of
    each declined field. `fresh_from` is the index of the first handover since the person last
    lifted a stop. `newest` is what the next hop inherits from, `foreign` how many events were not
    this installation's or of another chain. `damage` is what the ledger lost, `unseen` what of it no
    event tells of yet, `stop_damage` what the stop is for; `hidden` are the hops of handovers whose
    beginning is lost, by their ids.
    """

    id: str
    handovers: tuple[Handover, ...] = ()
    stop: str = ""
    stop_mark: int = 0
    fresh_from: int = 0
    foreign: int = 0
    declined: Mapping[str, int] = field(default_factory=dict)
    newest: HandoverPacket | None = None
    damage: tuple[Damage, ...] = ()
    unseen: tuple[Damage, ...] = ()
    stop_damage: tuple[Damage, ...] = ()
    hidden: Mapping[str, int] = field(default_factory=dict)

    def after(self, events: Iterable[Event]) -> Chain:
        """The chain with more events: work grows with them, beside one look at each handover.

        An event that does not fit is lost, and named in `damage`. Raises NewerRecordError.
        """
        return self._after(events, {})

    def _after(self, events: Iterable[Event], gaps: Mapping[str, Damage]) -> Chain:
        builder = _Builder(self)
        lost = dict(gaps)
        for event in events:
            if event.sha in lost:
                builder.lose(lost.pop(event.sha))
            builder.add(event)
        for damage in lost.values():
            builder.lose(damage)
        return builder.chain()

    def after_resume(self) -> Chain:
        """The chain as if its stop were lifted now."""
        return replace(self, stop="", stop_damage=(), fresh_from=len(self.handovers))

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where each handover stands in `handovers`; of an id that stands twice the first."""
        places: dict[str, int] = {}
        for place, handover in enumerate(self.handovers):
            places.setdefault(handover.id, place)
        return places

    @cached_property
    def _newest_to(self) -> Mapping[str, Handover]:
        return {normal(handover.receiver): handover for handover in self.handovers}

    def find(self, handover_id: str) -> Handover | None:
        place = self.places.get(handover_id)
        return None if place is None else self.handovers[place]

    def newest_to(self, receiver: str) -> Handover | None:
        return self._newest_to.get(normal(receiver))

    def ancestors(self, handover_id: str) -> tuple[Handover, ...]:
        """The handover and those around it, innermost first."""
        line: dict[str, Handover] = {}
        handover = self.find(handover_id)
        while handover is not None and handover.id not in line:
            line[handover.id] = handover
            handover = self.find(handover.parent)
        return tuple(line.values())

    def run(self, handover_id: str) -> tuple[Handover, ...]:
        """The legs that led to this handover, oldest first: no further back than `fresh_from`."""
        legs: dict[str, Handover] = {}
        handover = self.find(handover_id)
        while handover is not None and handover.id not in legs:
            if self.places[handover.id] < self.fresh_from:
                break
            legs[handover.id] = handover
            handover = self.find(handover.continues)
        return tuple(reversed(legs.values()))

    @cached_property
    def counted(self) -> tuple[Handover, ...]:
        """What the hop cap counts: since the last lift, without superseded ones."""
        fresh = self.handovers[self.fresh_from :]
        return tuple(handover for handover in fresh if handover.state != "superseded")

    @cached_property
    def next_hop(self) -> int:
        hidden = self.hidden.values() if self.damage else ()
        return max((*(handover.hop for handover in self.handovers), *hidden), default=0) + 1

    @cached_property
    def open(self) -> tuple[Handover, ...]:
        return tuple(handover for handover in self.handovers if handover.is_open)

    @cached_property
    def holder(self) -> Handover | None:
        """Whose work it is now: the innermost open handover; None means the orchestrator's."""
        return max(self.open, key=_inwards, default=None)

    @cached_property
    def path(self) -> str:
        """Who had the work, as a line: `a > b > a > b`."""
        return " > ".join(handover.receiver for handover in self.counted)

    @cached_property
    def _times(self) -> Mapping[int, str]:
        times: dict[int, str] = {}
        for handover in self.handovers:
            times.setdefault(handover.hop, handover.packet.identity.created_at)
        return times

    def time_of(self, hop: int) -> str:
        """When a hop was prepared, "" for one that never was."""
        return self._times.get(hop, "")


def fold(chain_id: str, events: Iterable[Event], gaps: Mapping[str, Damage] | None = None) -> Chain:
    """The chain told by its events; `gaps` as in a `Reading`. Raises as `Chain.after`."""
    return Chain(chain_id)._after(events, gaps or {})


def _is_declined(item: StateField, key: str) -> bool:
    return item.status == "declined" and name_key(item.field) == key


def _kind(event: Event) -> type[Payload]:
    return KINDS.get(event.kind, Payload)


def _inwards(handover: Handover) -> tuple[int, int]:
    return handover.packet.identity.depth, handover.hop


class _Builder:
    """A chain that events are still added to: plain lists in place of a new tuple for each."""

    def __init__(self, before: Chain) -> None:
        self._before = before
        self._handovers = list(before.handovers)
        self._more_events: dict[int, list[Event]] = {}
        self._new_places: dict[str, int] = {}
        self._stop, self._stop_mark = before.stop, before.stop_mark
        self._fresh_from, self._foreign = before.fresh_from, before.foreign
        self._declined, self._newest = before.declined, before.newest
        self._unseen = {item.missing: item for item in before.unseen}
        self._seen = {
            item.missing: item for item in before.damage if item.missing not in self._unseen
        }
        self._stop_damage = before.stop_damage
        self._losses = 0
        self._losses_before: dict[int, int] = {}  # the last event of a handover, by its place
        self._hidden = dict(before.hidden)

    def add(self, event: Event) -> None:
        kind = _kind(event)
        if not event.trusted or event.chain != self._before.id:
            self._foreign += 1
            return
        try:
            payload = event.payload
        except NewerRecordError:
            raise
        except RecordError as error:
            self.lose(Damage(missing=event.sha, where=event.id, what=error.message))
            return
        if isinstance(payload, Escalated | Resumed):
            self._see(payload.damage)
        if kind is Prepared:
            self._begin(event)
        elif kind is Resumed:
            self._stop, self._stop_damage, self._fresh_from = "", (), len(self._handovers)
        else:
            if kind is Escalated:
                self._halt(event)
            elif kind is DeclineLifted:
                self._lift(event)
            self._advance(event)

    def lose(self, damage: Damage) -> None:
        """Events were lost here; what is known of the handovers so far may be old."""
        self._losses += 1
        if damage.missing not in self._seen:
            self._unseen[damage.missing] = damage

    def chain(self) -> Chain:
        for place, events in self._more_events.items():
            handover = self._handovers[place]
            self._handovers[place] = replace(handover, events=(*handover.events, *events))
        for place, handover in enumerate(self._handovers if self._losses else ()):
            self._handovers[place] = replace(handover, uncertain=self._is_uncertain(place))
        return Chain(
            self._before.id,
            tuple(self._handovers),
            self._stop,
            self._stop_mark,
            self._fresh_from,
            self._foreign,
            self._declined,
            self._newest,
            damage=(*self._seen.values(), *self._unseen.values()),
            unseen=tuple(self._unseen.values()),
            stop_damage=self._stop_damage,
            hidden=self._hidden,
        )

    def _see(self, damage: tuple[Damage, ...]) -> None:
        """The person was told of it: what was declined then is what counts."""
        for item in damage:
            self._unseen.pop(item.missing, None)
            self._seen[item.missing] = item

    def _is_uncertain(self, place: int) -> bool:
        last = self._losses_before.get(place)
        if last is None:
            return self._handovers[place].uncertain or self._losses > 0
        return last < self._losses

    def _begin(self, event: Event) -> None:
        payload = event.payload
        if not isinstance(payload, Prepared) or payload.packet is None:
            return
        handover = Handover(
            payload.packet,
            "prepared",
            (event,),
            continues=payload.continues,
            fingerprint=payload.fingerprint,
        )
        self._losses_before[len(self._handovers)] = self._losses
        self._new_places.setdefault(handover.id, len(self._handovers))
        self._hidden.pop(handover.id, None)
        self._handovers.append(handover)
        self._inherit(payload.packet, payload.person_messages, event.name)

    def _halt(self, event: Event) -> None:
        payload = event.payload
        assert isinstance(payload, Escalated)
        self._stop, self._stop_mark = payload.why or "escalated", payload.person_messages
        self._stop_damage += payload.damage

    def _lift(self, event: Event) -> None:
        """A click takes a decline back at once; words do it with the packet they came with."""
        payload = event.payload
        assert isinstance(payload, DeclineLifted)
        if self._newest is None or payload.by != AUDIT_PAGE:
            return
        key = name_key(payload.field)
        still = [item for item in self._newest.state if not _is_declined(item, key)]
        self._newest = self._newest.model_copy(update={"state": tuple(still)})
        left = {name: since for name, since in self._declined.items() if name_key(name) != key}
        self._declined = left

    def _advance(self, event: Event) -> None:
        """One more event of a handover; one that cannot follow is kept and changes nothing, unless
        what it follows may be lost."""
        place = self._before.places.get(event.handover, self._new_places.get(event.handover))
        if place is None:
            self._outlive(event)
            return
        self._more_events.setdefault(place, []).append(event)
        handover, kind = self._handovers[place], _kind(event)
        follows = handover.state in kind.follows or self._is_uncertain(place)
        if not follows or not kind.state:
            return
        payload = event.payload
        if isinstance(payload, Clarify) and not payload.missing:
            return
        returned = None if kind is Reopened else handover.returned
        if isinstance(payload, Closing) and payload.packet is not None:
            returned = payload.packet
            self._inherit(payload.packet, payload.person_messages, event.name)
        self._losses_before[place] = self._losses
        self._handovers[place] = replace(
            handover, state=kind.state, returned=returned, uncertain=False
        )

    def _outlive(self, event: Event) -> None:
        """Of a handover whose beginning is lost: what came back still counts for the next hop."""
        if event.handover:
            self._hidden[event.handover] = event.hop
        payload = event.payload
        if isinstance(payload, Closing) and payload.packet is not None:
            self._inherit(payload.packet, payload.person_messages, event.name)

    def _inherit(self, packet: HandoverPacket, person_messages: int, name: str) -> None:
        """A newer packet: what the next hop inherits, and since when each field is declined; `name`
        is that of the trusted installation that recorded it, "" for this one. It
        holds also what was declined in events that are lost, as nobody had missed them yet."""
        for missing, damage in self._unseen.items():
            self._unseen[missing] = damage.model_copy(update={"declines_kept": True})
        declined = {}
        for item in packet.state:
            if item.status == "declined":
                declined[item.field] = self._declined.get(item.field, person_messages)
        if name:
            before = self._newest.decisions if self._newest else ()
            theirs = named_as_theirs(packet.decisions, name, before)
            packet = packet.model_copy(update={"decisions": theirs})
        self._declined, self._newest = declined, packet

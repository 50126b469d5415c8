"""A chain as its ledger tells it: events folded into what holds now. Nothing here is stored; all of it is derived."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import ValidationError

from ..values.errors import RecordError
from ..values.events import Event
from ..values.packet import SCHEMA, HandoverPacket
from ..values.roster import normal

State = Literal[
    "prepared", "delivered", "accepted", "interrupted", "superseded",
    "done", "clarify", "rejected", "escalated", "failed", "cancelled",
]  # fmt: skip
OPEN: frozenset[str] = frozenset({"delivered", "accepted", "interrupted"})
CLOSED: frozenset[str] = frozenset(
    {"done", "clarify", "rejected", "escalated", "failed", "cancelled", "superseded"}
)
# What may follow what (docs/architecture.md, the state diagram). `reopened` leads back to accepted from every verdict.
_VERDICTS = {"done", "clarify", "rejected", "escalated", "failed", "cancelled"}
NEXT: Mapping[str, frozenset[str]] = {
    "prepared": frozenset({"delivered", "superseded", "failed", "cancelled"}),
    "delivered": frozenset({"accepted", "interrupted", *_VERDICTS}),
    "accepted": frozenset({"interrupted", *_VERDICTS}),
    "interrupted": frozenset({"accepted", *_VERDICTS}),
    **{verdict: frozenset({"reopened"}) for verdict in _VERDICTS},
    "superseded": frozenset(),
}


@dataclass(frozen=True)
class Handover:
    """One handover of the chain with all that happened to it.

    `packet` is what was handed over, `returned` the packet after its hand-back (None before); `legs` counts how many runs of
    this chain led here by themselves.
    """

    packet: HandoverPacket
    fingerprint: str
    state: State
    events: tuple[Event, ...]
    returned: HandoverPacket | None = None
    continues: str = ""

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
    def latest(self) -> HandoverPacket:
        """What the next hop inherits from."""
        return self.returned or self.packet

    @property
    def known(self) -> HandoverPacket:
        """What its receiver knows since: what came back, with the summary that it was given (another's may have been merged)."""
        return self.latest.model_copy(update={"summary": self.packet.summary})

    @property
    def note(self) -> Mapping[str, Any]:
        """The newest hand-back note, {} when it never came back."""
        return next(
            (event.data["note"] for event in reversed(self.events) if event.data.get("note")), {}
        )

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    def last(self, kind: str) -> Event | None:
        return next((event for event in reversed(self.events) if event.kind == kind), None)


@dataclass(frozen=True)
class Chain:
    """All handovers of one topic in one chat, oldest first.

    `stop` says why the chain stands still until the person writes, "" while it may go on; `stop_mark` is how many messages the
    person had written by then. `declined` says the same of each declined field: how many when it was declined.
    `fresh_from` is the index of the first handover since the person last lifted a stop.
    """

    id: str
    handovers: tuple[Handover, ...] = ()
    stop: str = ""
    stop_mark: int = 0
    fresh_from: int = 0
    foreign: int = 0
    refusals: int = 0
    declined: Mapping[str, int] = field(default_factory=dict)
    newest: HandoverPacket | None = field(default=None)

    def find(self, handover_id: str) -> Handover | None:
        return next((item for item in self.handovers if item.id == handover_id), None)

    def newest_to(self, receiver: str) -> Handover | None:
        wanted = normal(receiver)
        return next(
            (item for item in reversed(self.handovers) if normal(item.receiver) == wanted), None
        )

    def ancestors(self, handover_id: str) -> tuple[Handover, ...]:
        """The handover and those around it, innermost first."""
        line: list[Handover] = []
        found = self.find(handover_id)
        while found is not None and not any(found is item for item in line):
            line.append(found)
            found = self.find(found.packet.identity.parent)
        return tuple(line)

    def run(self, handover_id: str) -> tuple[Handover, ...]:
        """The legs that led to this handover since the orchestrator last held the work, oldest first."""
        legs: list[Handover] = []
        found = self.find(handover_id)
        fresh = {item.id for item in self.handovers[self.fresh_from :]}
        while found is not None and found.id in fresh:
            fresh.remove(found.id)
            legs.append(found)
            found = self.find(found.continues)
        return tuple(reversed(legs))

    @property
    def counted(self) -> tuple[Handover, ...]:
        """The handovers the hop cap counts: since the last lift, superseded ones left out."""
        return tuple(
            item for item in self.handovers[self.fresh_from :] if item.state != "superseded"
        )

    @property
    def next_hop(self) -> int:
        return max((item.hop for item in self.handovers), default=0) + 1

    @property
    def open(self) -> tuple[Handover, ...]:
        return tuple(item for item in self.handovers if item.is_open)

    @property
    def holder(self) -> Handover | None:
        """Whose work it is now: the innermost open handover; None means the orchestrator's."""
        return max(self.open, key=lambda item: (item.packet.identity.depth, item.hop), default=None)

    @property
    def path(self) -> str:
        """Who had the work, as a line: `a > b > a > b`."""
        return " > ".join(item.receiver for item in self.counted)

    def time_of(self, hop: int) -> str:
        return next(
            (item.packet.identity.created_at for item in self.handovers if item.hop == hop), ""
        )


def fold(chain_id: str, events: Iterable[Event]) -> Chain:
    """The chain told by its events. Events without this installation's mac are counted and otherwise ignored.

    Raises RecordError for a packet of a newer schema.
    """
    chain = Chain(chain_id)
    for event in events:
        if not event.trusted or event.chain != chain_id:
            chain = replace(chain, foreign=chain.foreign + 1)
            continue
        chain = _step(chain, event)
    return chain


def _step(chain: Chain, event: Event) -> Chain:
    if event.kind == "prepared":
        return _prepared(chain, event)
    if event.kind == "refused":
        chain = replace(chain, refusals=chain.refusals + 1)
    if event.kind == "resumed":
        return replace(chain, stop="", refusals=0, fresh_from=len(chain.handovers))
    if event.kind == "escalated":
        mark = int(event.data.get("person_messages", 0))
        chain = replace(chain, stop=str(event.data.get("why") or "escalated"), stop_mark=mark)
    target = chain.find(event.handover)
    if target is None:
        return chain
    packet = packet_in(event) if event.kind in NEXT[target.state] else None
    return _with_packet(_replaced(chain, target, _advanced(target, event, packet)), packet, event)


def _prepared(chain: Chain, event: Event) -> Chain:
    packet = packet_in(event)
    if packet is None:
        return chain
    new = Handover(
        packet,
        str(event.data.get("fingerprint", "")),
        "prepared",
        (event,),
        continues=str(event.data.get("continues", "")),
    )
    return _with_packet(
        replace(chain, handovers=(*chain.handovers, new), refusals=0), packet, event
    )


def _with_packet(chain: Chain, packet: HandoverPacket | None, event: Event) -> Chain:
    """The chain with a newer packet: what the next hop inherits, and since when each field is declined."""
    if packet is None:
        return chain
    count = int(event.data.get("person_messages", 0))
    declined = {
        item.field: chain.declined.get(item.field, count)
        for item in packet.state
        if item.status == "declined"
    }
    return replace(chain, newest=packet, declined=declined)


def _advanced(handover: Handover, event: Event, packet: HandoverPacket | None) -> Handover:
    """The handover after the event; an event that cannot follow is kept in its story and changes nothing."""
    state = handover.state
    asks_nothing = event.kind == "clarify" and not event.data.get("missing")
    if event.kind in NEXT[handover.state] and not asks_nothing:
        state = "accepted" if event.kind == "reopened" else event.kind  # type: ignore[assignment]
    returned = packet or (None if event.kind == "reopened" else handover.returned)
    return replace(handover, state=state, events=(*handover.events, event), returned=returned)


def _replaced(chain: Chain, old: Handover, new: Handover) -> Chain:
    return replace(chain, handovers=tuple(new if item is old else item for item in chain.handovers))


def packet_in(event: Event) -> HandoverPacket | None:
    """The packet an event carries, or None. Raises RecordError when it is of a newer schema or does not fit this one."""
    raw: Any = event.data.get("packet")
    if raw is None:
        return None
    schema = raw.get("identity", {}).get("schema") if isinstance(raw, Mapping) else None
    if isinstance(schema, int) and schema > SCHEMA:
        raise RecordError(
            f"the ledger holds a packet of schema {schema}, this version reads up to {SCHEMA}",
            "update the plugin",
            "append_failed",
        )
    try:
        return HandoverPacket.model_validate(raw)
    except ValidationError as error:
        raise RecordError(
            f"event {event.id} holds a packet that does not fit the schema: {error.errors()[0]['msg']}"
        ) from error


def story(chain: Chain) -> Iterator[Event]:
    """All events of the chain's handovers, each once, in the order of the ledger."""
    for handover in chain.handovers:
        yield from handover.events

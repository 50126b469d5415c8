"""What can happen in a chain: one class for each kind of event, and an event as a line of the ledger.

    Payload
    ├── Prepared                  the snapshot: the whole packet
    ├── Briefed                   where an entry stands in a briefing
    ├── Superseded                another call to the same receiver took its place
    ├── Delivered, Accepted, Interrupted, Reopened, HistoryRead
    ├── Closing                   control comes back, with a note and the packet after it
    │   ├── Done, Clarify, Rejected, Escalated      verdicts of a specialist
    │   └── Failed, Cancelled                       nobody's verdict
    └── Refused, Resumed, DeclineLifted, Redacted

A class says what may come before it (`follows`) and where it leads (`state`): the state diagram of
docs/architecture.md. What is in `data` stays readable: fields that a version does not know are
ignored, fields that it lacks have a default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from .errors import NewerRecordError, RecordError
from .packet import EXACT, Exact, HandoverPacket, Value
from .packet import SCHEMA as PACKET_SCHEMA
from .tools import Tools

SCHEMA = 1
State = Literal[
    "prepared", "delivered", "accepted", "interrupted", "superseded",
    "done", "clarify", "rejected", "escalated", "failed", "cancelled",
]  # fmt: skip
OPEN: frozenset[State] = frozenset({"delivered", "accepted", "interrupted"})
RETURNED: frozenset[State] = frozenset(
    {"done", "clarify", "rejected", "escalated", "failed", "cancelled"}
)
CLOSED: frozenset[State] = RETURNED | {"superseded"}
UNKNOWN = "unknown"
NOWHERE: frozenset[State] = frozenset()
Data = Mapping[str, JsonValue]


class Payload(BaseModel):
    """What an event of one kind says."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: ClassVar[str] = ""
    # The states of a handover in which the event counts, and the one it then leads to ("": none).
    follows: ClassVar[frozenset[State]] = NOWHERE
    state: ClassVar[State | Literal[""]] = ""

    @property
    def makes_round(self) -> bool:
        """Whether it counts against `max_handovers_per_chat`."""
        return False

    def to_data(self) -> dict[str, JsonValue]:
        """The `data` of the event's line."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class WithPacket(Payload):
    """An event that carries a packet, and therefore has an entry in a briefing."""

    packet: HandoverPacket | None = None

    def to_data(self) -> dict[str, JsonValue]:
        data = self.model_dump(mode="json", exclude={"packet"}, exclude_none=True)
        return data if self.packet is None else {**data, "packet": self.packet.to_json()}


class Asked(Value):
    """Authority as a call asked for it, before it was narrowed."""

    granted: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


class Prepared(WithPacket):
    """A handover stands ready; `estimated` and `delivered` are tokens, `limit` is too.

    `answers` names the clarify it answers, `continues` the leg it goes on from, `came` the
    installation and the handover there that it came from; `person_messages` is how many messages
    the person had written by then. `tools` is what its receiver may use, and whoever the receiver
    starts at most. `contradicted` are the texts of its decisions of which the person said the
    opposite.
    """

    kind = "prepared"
    state = "prepared"

    fingerprint: Exact = ""
    person_messages: int = 0
    answers: Exact = ""
    continues: Exact = ""
    came: str | None = None
    limit: int = 0
    overflow: Literal["fit", "whole"] = "fit"
    estimated: int = 0
    delivered: int = 0
    omitted: tuple[str, ...] = ()
    turns: int = 0
    include_recent_turns: int | None = None
    authority_asked: Asked | None = None
    tools: Annotated[Tools, EXACT] = Tools()
    token_counter: Exact = ""
    warnings: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()

    @property
    def makes_round(self) -> bool:
        return True


class Briefed(Payload):
    """Where the entry of `event` was about to be written: `length` bytes from `offset` of `path`."""

    kind = "briefed"

    event: Exact
    path: Exact
    offset: int
    length: int
    sha256: Exact


class Superseded(Payload):
    kind = "superseded"
    follows = frozenset({"prepared"})
    state = "superseded"

    by: Exact = ""


class Delivered(Payload):
    """The package went to its specialist: its tokens and hash, and how each artifact then was.

    `remote` is the origin of another machine's address, `task` and `context` are its ids there.
    """

    kind = "delivered"
    follows = frozenset({"prepared"})
    state = "delivered"

    tokens: int = 0
    text_sha256: Exact = ""
    artifacts: Annotated[Mapping[str, str], EXACT] = {}
    omitted: tuple[str, ...] = ()
    way: Exact = ""
    limit: int | None = None
    overflow: Literal["fit", "whole"] = "fit"
    include_recent_turns: int | None = None
    remote: Annotated[str | None, EXACT] = None
    task: str | None = None
    context: str | None = None


class Accepted(Payload):
    """`implicit`: by the specialist's first tool call instead of a verdict."""

    kind = "accepted"
    follows = frozenset({"delivered", "interrupted"})
    state = "accepted"

    implicit: bool = False


class Interrupted(Payload):
    kind = "interrupted"
    follows = frozenset({"delivered", "accepted"})
    state = "interrupted"

    why: str = ""


class Reopened(Payload):
    kind = "reopened"
    follows = RETURNED
    state = "accepted"

    why: str = ""

    @property
    def makes_round(self) -> bool:
        return True


class HistoryRead(Payload):
    """The specialist read more than its package; `range` in the words of the call."""

    kind = "history_read"

    reason: str = ""
    range: str = ""
    tokens: int = 0


class Note(Value):
    """A hand-back note: seed 002's four parts, and what a verdict needs beside them.

    `already_held` are questions that the packet answered, `incomplete` the parts that are missing.
    """

    what_happened: str = ""
    observations: str = ""
    user_state: str = ""
    next: str = ""
    reason: str = ""
    missing: tuple[str, ...] = ()
    already_held: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()

    model_config = ConfigDict(frozen=True, extra="ignore")

    def said(self) -> Iterator[tuple[str, str | tuple[str, ...]]]:
        """What is not empty, in the order of a briefing's entry."""
        for name in type(self).model_fields:
            if value := getattr(self, name):
                yield name, value

    def __bool__(self) -> bool:
        return any(self.said())


class Damage(Value):
    """A place where the ledger lost events; `missing` is the sha of the one that is gone.

    `where` is `<file>:<line>`, `what` is wrong there. `declines_kept`: a whole packet that was made
    before the loss was seen stands behind it, with all that had been declined.
    """

    missing: Exact
    where: Exact
    what: str = ""
    declines_kept: bool = False

    model_config = ConfigDict(frozen=True, extra="ignore")


class Closing(WithPacket):
    """Control comes back. `packet` is the chain's after it; None where only questions were answered.
    `outcome` is `UNKNOWN` where a specialist just answered and said nothing of it."""

    follows = OPEN
    # The word of handover_reply that leads here, "" where it is nobody's verdict.
    verdict: ClassVar[str] = ""

    note: Note = Note()
    outcome: Exact = ""
    implicit: bool = False
    hand_to: Exact = ""
    person_messages: int = 0
    warnings: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()
    why: str = ""

    def to_data(self) -> dict[str, JsonValue]:
        """Of the note only what was said."""
        note = self.note.model_dump(mode="json", exclude_defaults=True)
        return {**super().to_data(), "note": note}


class Done(Closing):
    """`hand_to` is the specialist that shall go on with the work."""

    kind = state = verdict = "done"


class Clarify(Closing):
    """Asked back. With nothing `missing` the packet held all of it and the work goes on."""

    kind = state = verdict = "clarify"

    missing: tuple[str, ...] = ()
    already_held: tuple[str, ...] = ()

    @property
    def makes_round(self) -> bool:
        """With something missing its answer does: a handover, or the same work reopened."""
        return not self.missing


class Rejected(Closing):
    kind = state = "rejected"
    verdict = "reject"


class Escalated(Closing):
    """The person is needed: by a verdict, or (without a handover) because a cap was reached or the
    record was found damaged."""

    kind = state = "escalated"
    verdict = "escalate"

    damage: tuple[Damage, ...] = ()


class Failed(Closing):
    kind = state = "failed"
    follows = OPEN | {"prepared"}


class Cancelled(Closing):
    kind = state = "cancelled"
    follows = OPEN | {"prepared"}


# Who lifted something, where the person did it by a click.
AUDIT_PAGE = "audit page"


class Refused(Payload):
    """A call or reply was refused; `asked` is authority that was not the sender's to give, `tool` a
    call of a tool that is not the receiver's to use."""

    kind = "refused"

    code: Exact = ""
    why: str = ""
    asked: tuple[str, ...] = ()
    tool: str = ""


class Resumed(Payload):
    """A stop was lifted; `by` is "person", "command line" or `AUDIT_PAGE`. `damage` of the record, of
    which they were told, stops nothing again."""

    kind = "resumed"

    by: Exact = ""
    damage: tuple[Damage, ...] = ()


class Redacted(Payload):
    """A person took the entries of a handover out of its briefing; healing leaves them out."""

    kind = "redacted"

    why: str = ""


class DeclineLifted(Payload):
    """The person took a decline back; where `by` is `AUDIT_PAGE` no new value came with it."""

    kind = "decline_lifted"

    field: str = ""
    verbatim: str = ""
    by: Exact = ""


KINDS: Mapping[str, type[Payload]] = {
    row.kind: row
    for row in (
        Prepared, Briefed, Superseded, Delivered, Accepted, Done, Clarify, Rejected, Escalated, Failed,
        Cancelled, Interrupted, Reopened, HistoryRead, Refused, Resumed, DeclineLifted,
        Redacted,
    )
}  # fmt: skip
VERDICTS: Mapping[str, type[Closing]] = {
    row.verdict: row for row in KINDS.values() if issubclass(row, Closing) and row.verdict
}


@dataclass(frozen=True)
class Draft:
    """An event before it is written: what happened, without id, time and hashes."""

    kind: str
    chain: str
    handover: str = ""
    hop: int = 0
    depth: int = 0
    sender: str = ""
    receiver: str = ""
    data: Data = field(default_factory=dict)


@dataclass(frozen=True)
class Event:
    """A written event. `time` is UTC, ISO 8601 with "Z".

    `sha`, `prev` and `mac` are 64 hex characters, `prev` "" at first; `by` is the fingerprint of who
    wrote it, "" where it says none. `trusted` is decided by the reader: it is this installation's, or
    that of the trusted one called `name`. Neither is stored.
    """

    schema: int
    id: str
    kind: str
    time: str
    chain: str
    handover: str
    hop: int
    depth: int
    sender: str
    receiver: str
    data: Data
    prev: str
    sha: str
    mac: str
    by: str = ""
    trusted: bool = False
    name: str = ""

    @property
    def is_own(self) -> bool:
        """Whether this installation wrote it."""
        return self.trusted and not self.name

    @cached_property
    def payload(self) -> Payload:
        """What it says, in its type; of an unknown kind nothing.

        Raises RecordError for data that do not fit, NewerRecordError for a packet of a newer schema.
        """
        row = KINDS.get(self.kind, Payload)
        if issubclass(row, WithPacket):
            _check_schema(self.data.get("packet"))
        try:
            return row.model_validate(self.data)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise RecordError(
                f"event {self.id} ({self.kind}) does not fit the schema: {where}: {first['msg']}"
            ) from error

    @property
    def packet(self) -> HandoverPacket | None:
        """The packet it carries. Raises as `payload`."""
        payload = self.payload
        return payload.packet if isinstance(payload, WithPacket) else None


def _check_schema(packet: Any) -> None:
    identity = packet.get("identity") if isinstance(packet, Mapping) else None
    schema = identity.get("schema") if isinstance(identity, Mapping) else None
    if isinstance(schema, int) and schema > PACKET_SCHEMA:
        raise NewerRecordError(
            f"the ledger holds a packet of schema {schema}, this version reads up to"
            f" {PACKET_SCHEMA}"
        )


def of_chain(payload: Payload, chain: str, *, sender: str = "", receiver: str = "") -> Draft:
    """A draft about the chain as a whole."""
    return Draft(payload.kind, chain, sender=sender, receiver=receiver, data=payload.to_data())


def about(packet: HandoverPacket, payload: Payload) -> Draft:
    """A draft about a handover: every place is filled from the packet's identity."""
    identity = packet.identity
    return Draft(
        payload.kind,
        identity.chain_id,
        identity.handover_id,
        identity.hop,
        identity.depth,
        identity.sender,
        identity.receiver,
        payload.to_data(),
    )

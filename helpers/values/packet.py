"""The packet: what one agent gives another, as frozen values.

Seed 004's five layers (goal, artifacts, decisions, rejected paths, next required), seed 002's note
(user state, next) and seed 000's carried state (fields with a status, flags, sections) stand in one
schema, `docs/packet.schema.json`.

A field of `Contents` is one row: its type says how a call is read and how it is drawn, its `Travels`
under which heading and how dearly it travels. The request, the merge, the package, the briefing's
entry, the note and "is it answered already" follow from the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue

SCHEMA = 2
MOST_HOPS = 1_000_000_000

DecisionStatus = Literal["active", "superseded", "rejected", "declined"]
StateStatus = Literal[
    "answered",
    "declined",
    "claimed",
    "skipped_not_triggered",
    "skipped_section_omitted",
    "volunteered",
]
# Of a field's value on the next hop: nothing stays, the newest one said stays, or all are gathered.
Inherited = Literal["", "newest", "all"]
NEVER_CUT = 0
LAST = 99
# A text that another one must match to the letter: an id, a hash, a path. No mask touches it.
EXACT = "exact"
Exact = Annotated[str, EXACT]


@dataclass(frozen=True)
class Travels:
    """How a field travels.

    `section` is its heading in a package, `entry` in a briefing where that differs. `rank` orders
    what goes in first when room is short (1 before 2), `NEVER_CUT` is always whole; `place` orders
    the sections of a package. `returned`: a specialist may add to it when it hands back. `news`: a
    change of it is a reason to hand over again. `said` false: no call can say it, the flow finds it.
    """

    section: str
    rank: int = 5
    place: int = 50
    inherited: Inherited = ""
    returned: bool = False
    news: bool = False
    entry: str = ""
    said: bool = True


@dataclass(frozen=True)
class Row:
    """A field of `Contents` with its name; `kind` is str, or the type of the items of a tuple."""

    name: str
    kind: type
    plural: bool
    travels: Travels


class Value(BaseModel):
    """Base of all packet values: frozen, compared by content, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Turn(Value):
    """One message of the conversation; `role` is `user`, `assistant`, `tool` or an agent's profile."""

    role: str
    text: str


class Decision(Value):
    """A decision of the chain; `supersedes` is the id of the decision it replaces.

    `id` is unique in the chain, and "" in a call that does not say it.
    """

    id: Exact = ""
    text: str
    rationale: str = ""
    evidence: tuple[str, ...] = ()
    owner: str = ""
    version: int = 1
    status: DecisionStatus = "active"
    supersedes: Exact = ""


class Artifact(Value):
    """A file or other reference; `sha256` (64 hex) and `size` (bytes) as found when the handover was prepared, else empty."""

    path: Exact
    kind: str = ""
    version: str = ""
    sha256: Exact = ""
    size: int | None = None


class RejectedPath(Value):
    """Something that was tried or considered and must not be tried again, and why."""

    what: str
    why: str = ""


class OpenQuestion(Value):
    """A question nobody has answered yet; `field` names the state field that would answer it."""

    id: Exact = ""
    text: str
    field: str = ""


class Authority(Value):
    """What the receiver may do. `granted` empty: not restricted to a list. `denied` always wins."""

    granted: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


class StateField(Value):
    """A carried field (seed 000): `value` is any JSON, `verbatim` the person's own words, `hop` where it was last said.

    `claimed` is a decline that nothing of what the person wrote speaks for: it binds nobody.
    """

    field: str
    value: JsonValue = None
    status: StateStatus = "answered"
    verbatim: str = ""
    owner: str = ""
    hop: int = 0


class PersonSaid(Value):
    """A sentence of the person, word for word; `turn` is the number under which the receiver can ask for it, 0: none."""

    text: str
    turn: int = 0


class Flag(Value):
    """Something a later receiver must see; `fields` names the state fields that raised it."""

    text: str
    fields: tuple[str, ...] = ()


class Identity(Value):
    """Who handed what to whom. `depth` is the sender's depth (orchestrator 0), `parent` the handover it works in or ""."""

    handover_id: Exact
    chain_id: Exact
    hop: int = Field(ge=1, le=MOST_HOPS)
    parent: Exact = ""
    depth: int = Field(ge=0, le=MOST_HOPS)
    sender: Exact
    receiver: Exact
    created_at: Exact
    schema_: int = Field(default=SCHEMA, alias="schema")

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Contents(Value):
    """What a packet holds beside its identity; of a call, what was said (`model_fields_set`).

    The order of the fields is that of a briefing's entry.
    """

    goal: Annotated[str, Travels("Goal", rank=1, place=2, inherited="newest")] = ""
    summary: Annotated[str, Travels("Summary", rank=4, place=60, news=True)] = ""
    person_said: Annotated[
        tuple[PersonSaid, ...],
        Travels("The person said", rank=2, place=9, inherited="all", said=False),
    ] = ()
    user_state: Annotated[str, Travels("User state", rank=3, place=40)] = ""
    decisions: Annotated[
        tuple[Decision, ...],
        Travels("Decisions", rank=2, place=6, inherited="all", returned=True, news=True),
    ] = ()
    rejected_paths: Annotated[
        tuple[RejectedPath, ...],
        Travels(
            "Rejected paths: do not try again",
            rank=3,
            place=10,
            inherited="all",
            returned=True,
            news=True,
            entry="Rejected paths",
        ),
    ] = ()
    state: Annotated[
        tuple[StateField, ...],
        Travels("State", rank=2, place=8, inherited="all", returned=True, news=True),
    ] = ()
    flags: Annotated[
        tuple[Flag, ...], Travels("Flags", rank=2, place=16, inherited="all", returned=True)
    ] = ()
    sections_done: Annotated[
        tuple[str, ...], Travels("Sections done", rank=5, place=30, inherited="all", returned=True)
    ] = ()
    stopped_at: Annotated[
        str, Travels("Stopped at", rank=3, place=20, inherited="newest", returned=True)
    ] = ""
    notes: Annotated[
        tuple[str, ...], Travels("Notes", rank=6, place=70, inherited="all", returned=True)
    ] = ()
    artifacts: Annotated[
        tuple[Artifact, ...],
        Travels("Artifacts", rank=2, place=14, inherited="all", returned=True, news=True),
    ] = ()
    open_questions: Annotated[
        tuple[OpenQuestion, ...],
        Travels("Open questions", rank=2, place=12, inherited="all", returned=True, news=True),
    ] = ()
    next_action: Annotated[str, Travels("Next action", rank=NEVER_CUT, place=1)] = ""
    acceptance_criteria: Annotated[
        tuple[str, ...],
        Travels(
            "Acceptance criteria",
            rank=NEVER_CUT,
            place=3,
            inherited="newest",
            entry="Acceptance",
        ),
    ] = ()
    authority: Annotated[
        Authority, Travels("You may", rank=NEVER_CUT, place=18, entry="Authority")
    ] = Authority()
    return_condition: Annotated[
        str, Travels("Return when", rank=NEVER_CUT, place=4, entry="Return condition")
    ] = ""
    handover_reason: Annotated[
        str, Travels("Reason for the handover", rank=6, place=50, entry="Reason")
    ] = ""
    recent_turns: Annotated[tuple[Turn, ...], Travels("Recent turns", rank=3, place=LAST)] = ()


class HandoverPacket(Contents):
    """The contract between sender and receiver."""

    identity: Identity
    topic: Exact

    def to_json(self) -> dict[str, JsonValue]:
        """Plain JSON with the published names (`identity.schema`)."""
        return self.model_dump(mode="json", by_alias=True)


@lru_cache(maxsize=1)
def rows() -> tuple[Row, ...]:
    """Every field of `Contents` in the order of a briefing's entry."""
    made = []
    for name, field in Contents.model_fields.items():
        travels = next(item for item in field.metadata if isinstance(item, Travels))
        items = get_args(field.annotation)
        kind: Any = items[0] if items else field.annotation
        made.append(Row(name, kind, bool(items), travels))
    return tuple(made)


def said_rows() -> tuple[Row, ...]:
    """Those that a call can say."""
    return tuple(row for row in rows() if row.travels.said)


@lru_cache(maxsize=1)
def package_rows() -> tuple[Row, ...]:
    """The same in the order of a package's sections."""
    return tuple(sorted(rows(), key=lambda row: row.travels.place))


@cache
def main_field(kind: type[Value]) -> str:
    """The one field that each item of this kind needs: a decision's text, an artifact's path."""
    return next(name for name, field in kind.model_fields.items() if field.is_required())


def schema() -> dict[str, Any]:
    """The JSON Schema of a packet as it is recorded and handed over.

    `make schema` writes it to `docs/packet.schema.json`.
    """
    made = HandoverPacket.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}

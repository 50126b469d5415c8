"""The packet: what one agent gives another, as frozen values.

Seed 004's five layers (goal, artifacts, decisions, rejected paths, next required), seed 002's note (user state, next) and
seed 000's carried state (fields with a status, flags, sections) stand in one schema, `docs/packet.schema.json`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

SCHEMA = 1

DecisionStatus = Literal["active", "superseded", "rejected", "declined"]
StateStatus = Literal[
    "answered", "declined", "skipped_not_triggered", "skipped_section_omitted", "volunteered"
]


class Value(BaseModel):
    """Base of all packet values: frozen, compared by content, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Turn(Value):
    """One message of the conversation; `role` is `user`, `assistant`, `tool` or an agent's profile."""

    role: str
    text: str


class Decision(Value):
    """A decision of the chain; `id` is unique in the chain, `supersedes` the id of the decision it replaces."""

    id: str
    text: str
    rationale: str = ""
    evidence: tuple[str, ...] = ()
    owner: str = ""
    version: int = 1
    status: DecisionStatus = "active"
    supersedes: str = ""


class Artifact(Value):
    """A file or other reference; `sha256` (64 hex) and `size` (bytes) as found when the handover was prepared, else empty."""

    path: str
    kind: str = ""
    version: str = ""
    sha256: str = ""
    size: int | None = None


class RejectedPath(Value):
    """Something that was tried or considered and must not be tried again, and why."""

    what: str
    why: str = ""


class OpenQuestion(Value):
    """A question nobody has answered yet; `field` names the state field that would answer it."""

    id: str
    text: str
    field: str = ""


class Authority(Value):
    """What the receiver may do. `granted` empty: not restricted to a list. `denied` always wins."""

    granted: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


class StateField(Value):
    """A carried field (seed 000): `value` is any JSON, `verbatim` the person's own words, `hop` where it was last said."""

    field: str
    value: JsonValue = None
    status: StateStatus = "answered"
    verbatim: str = ""
    owner: str = ""
    hop: int = 0


class Flag(Value):
    """Something a later receiver must see; `fields` names the state fields that raised it."""

    text: str
    fields: tuple[str, ...] = ()


class Identity(Value):
    """Who handed what to whom. `depth` is the sender's depth (orchestrator 0), `parent` the handover it works in or ""."""

    handover_id: str
    chain_id: str
    hop: int = Field(ge=1)
    parent: str = ""
    depth: int = Field(ge=0)
    sender: str
    receiver: str
    created_at: str
    schema_: int = Field(default=SCHEMA, alias="schema")

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class HandoverPacket(Value):
    """The contract between sender and receiver."""

    identity: Identity
    topic: str
    goal: str = ""
    summary: str = ""
    user_state: str = ""
    recent_turns: tuple[Turn, ...] = ()
    decisions: tuple[Decision, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    rejected_paths: tuple[RejectedPath, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    next_action: str = ""
    acceptance_criteria: tuple[str, ...] = ()
    return_condition: str = ""
    handover_reason: str = ""
    authority: Authority = Authority()
    state: tuple[StateField, ...] = ()
    flags: tuple[Flag, ...] = ()
    stopped_at: str = ""
    sections_done: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON with the published names (`identity.schema`)."""
        return self.model_dump(mode="json", by_alias=True)


def schema() -> dict[str, Any]:
    """The JSON Schema of a packet as it is recorded and handed over; `make schema` writes it to `docs/packet.schema.json`."""
    made = HandoverPacket.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}

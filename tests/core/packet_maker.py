"""Packets for tests: one that holds a text wherever a model may have written one."""

from usr.plugins.software_orchestrator.helpers.values.packet import (
    Artifact,
    Authority,
    Decision,
    Flag,
    HandoverPacket,
    OpenQuestion,
    PersonSaid,
    RejectedPath,
    StateField,
    Turn,
)

IDENTITY = {
    "handover_id": "ho-0123456789abcdef",
    "chain_id": "topic-chat",
    "hop": 2,
    "parent": "ho-fedcba9876543210",
    "depth": 1,
    "sender": "codebase_explorer",
    "receiver": "solution_architect",
    "created_at": "2026-06-05T14:03:00.000000Z",
    "schema": 1,
}


def item_of(kind, text, number=1):
    """A value of the type of a row that holds the text wherever it can hold one."""
    return {
        str: text,
        Decision: Decision(
            id=f"d{number}", text=text, rationale=text, evidence=(text,), owner=text
        ),
        StateField: StateField(field=text, value={"a": [text], text: 1}, verbatim=text, owner=text),
        RejectedPath: RejectedPath(what=text, why=text),
        OpenQuestion: OpenQuestion(id=f"q{number}", text=text, field=text),
        Artifact: Artifact(path=text, kind=text, version=text, sha256="ab" * 32, size=12),
        Flag: Flag(text=text, fields=(text,)),
        Authority: Authority(granted=(text,), denied=(text,)),
        PersonSaid: PersonSaid(text=text, turn=number),
        Turn: Turn(role="user", text=text),
    }[kind]


def made(row, text, times=1):
    """The value of a row."""
    if not row.plural:
        return item_of(row.kind, text)
    return tuple(item_of(row.kind, text, number) for number in range(1, times + 1))


def packet_of(model=HandoverPacket, **fields):
    return model.model_validate({"identity": IDENTITY, "topic": "topic", **fields})

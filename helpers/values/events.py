"""One line of a chain's ledger, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

SCHEMA = 1
Kind = Literal[
    "prepared", "briefed", "superseded", "delivered", "accepted", "done", "clarify", "rejected", "escalated", "failed",
    "cancelled", "interrupted", "reopened", "history_read", "refused", "resumed", "decline_lifted",
]  # fmt: skip
KINDS: frozenset[str] = frozenset(get_args(Kind))


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
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Event:
    """A written event. `time` is UTC, ISO 8601 with "Z"; `sha`, `prev` and `mac` are 64 hex characters, `prev` "" at first.

    `trusted` is decided by the reader: `mac` was made with this installation's key. It is not stored.
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
    data: Mapping[str, Any]
    prev: str
    sha: str
    mac: str
    trusted: bool = False


def draft(
    kind: str,
    *,
    chain: str,
    handover: str = "",
    hop: int = 0,
    depth: int = 0,
    sender: str = "",
    receiver: str = "",
    **data: Any,
) -> Draft:
    """A draft with its data as keywords; `kind` is one of `KINDS`, `data` JSON that is masked already.

    Raises ValueError for a kind that is none.
    """
    if kind not in KINDS:
        raise ValueError(f"no such kind of event: {kind}")
    return Draft(kind, chain, handover, hop, depth, sender, receiver, data)

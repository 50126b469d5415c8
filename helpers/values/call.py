"""What the flow needs from outside: who calls, and the few things that are not pure."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from ..records.paths import installation_key
from ..records.resources import ROOT
from ..text.masking import Mask, redact
from ..text.tokens import TokenCounter, counter
from .packet import Turn

ORCHESTRATOR = "a0_software_orchestrator"
COMMAND_LINE = "cli"


@dataclass(frozen=True)
class Caller:
    """Who calls, from which chat.

    `inside` is the handover the caller works in ("" for the orchestrator), `continues` the leg after which the work moves on
    by itself. `person_count` is how many messages the person has
    written in this chat, `person_messages` the newest of them (all that are still known), oldest first. `turns(n)` gives the
    last n turns of the chat, for a call that sends none. `resume` and `lifts` are what only a person at the command line says.
    """

    chat_id: str = COMMAND_LINE
    sender: str = ORCHESTRATOR
    inside: str = ""
    continues: str = ""
    project_root: str = ""
    person_count: int = 0
    person_messages: tuple[str, ...] = ()
    turns: Callable[[int], tuple[Turn, ...]] = lambda count: ()
    resume: bool = False
    lifts: tuple[str, ...] = ()

    def said_since(self, count: int) -> tuple[str, ...]:
        """What the person wrote after having written `count` messages."""
        newer = self.person_count - count
        return self.person_messages[-newer:] if newer > 0 else ()


@dataclass(frozen=True)
class Ports:
    """What is not pure: `clock` gives UTC, `new_id(prefix)` makes `<prefix>-<16 hex>`, `mask` hides secrets, `counter` counts
    tokens and loads late, `key` signs the ledger."""

    clock: Callable[[], datetime]
    new_id: Callable[[str], str]
    mask: Mask
    counter: Callable[[], TokenCounter]
    key: Callable[[], bytes]


def utc(moment: datetime) -> str:
    """`2026-06-05T14:03:07.123456Z`."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f") + "Z"


def local_ports(mask: Mask = redact) -> Ports:
    """The real clock, ids, counter and installation key; `mask` hides what this place knows to be secret."""
    return Ports(
        clock=lambda: datetime.now(UTC),
        new_id=lambda prefix: f"{prefix}-{secrets.token_hex(8)}",
        mask=mask,
        counter=counter,
        key=lambda: installation_key(ROOT),
    )

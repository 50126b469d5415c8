"""A call as one value: who calls from where, under which settings, with which few things that are not pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple, Protocol

from .packet import Turn
from .settings import Settings

ORCHESTRATOR = "a0_software_orchestrator"
COMMAND_LINE = "cli"
PLUGIN = "software_orchestrator"  # its name, and the key of its plain JSON in chats and agents


class TokenCounter(Protocol):
    """`name` says how it counts: "cl100k_base" or "estimate"."""

    @property
    def name(self) -> str: ...

    def count(self, text: str, /) -> int: ...


class Rounds(Protocol):
    """How many rounds a chat has made since its person last wrote: handovers, on whatever topic, and
    work that was taken up again."""

    @property
    def made(self) -> int: ...

    def add(self) -> None: ...


@dataclass(frozen=True)
class Uncounted:
    """At the command line each call is the person's own."""

    made: int = 0

    def add(self) -> None:
        return


class PersonMessage(NamedTuple):
    """What the person wrote, and what an agent had told them just before ("" where nobody knows)."""

    text: str
    asked: str = ""


@dataclass(frozen=True)
class Caller:
    """Who calls, from which chat.

    `inside` is the handover the caller works in ("" for the orchestrator), `continues` the leg after
    which the work moves on by itself. `person_count` is how many messages the person has written in
    this chat, `person_in_children` in its child chats, `person_messages` the newest of them (all
    that are still known), oldest first, and `person_asked` what an agent had told them before each.
    `log_path` is the chat's log, "" where there is none.
    `depth` and `hop` are those of a handover that `came` from another installation.
    `outside(root)` is a warning about a folder that is not the chat's project, "" for none; it
    raises RefusedError (path_unsafe) for one that nobody allowed. `turns(n)` gives the last n turns
    of the chat, for a call that sends none. `resume` and `lifts` are what only a person at the
    command line says. `tools()` names the tools that the host has.
    """

    chat_id: str = COMMAND_LINE
    sender: str = ORCHESTRATOR
    inside: str = ""
    continues: str = ""
    project_root: str = ""
    person_count: int = 0
    person_in_children: int = 0
    person_messages: tuple[str, ...] = ()
    person_asked: tuple[str, ...] = ()
    log_path: str = ""
    outside: Callable[[str], str] = lambda root: ""
    turns: Callable[[int], tuple[Turn, ...]] = lambda count: ()
    depth: int = 0
    hop: int = 0
    came: str = ""
    resume: bool = False
    lifts: tuple[str, ...] = ()
    tools: Callable[[], frozenset[str]] = frozenset

    def said_since(self, count: int) -> tuple[PersonMessage, ...]:
        """What the person wrote after having written `count` messages."""
        newer = self.person_count - count
        texts = self.person_messages[-newer:] if newer > 0 else ()
        unknown = ("",) * len(self.person_messages)
        asked = (*unknown, *self.person_asked)[-len(texts) :]
        return tuple(map(PersonMessage, texts, asked))


@dataclass(frozen=True)
class Ports:
    """What is not pure.

    `clock` gives UTC, `new_id(prefix)` makes `<prefix>-<16 hex>`, `mask` hides secrets (and stops a
    write when it fails), `counter` counts tokens and loads late, `key` signs the ledger, `former` are
    keys that did so before, `rounds`
    counts those of the chat, `call_person` tells its person what they must know (on the command
    line the answer does).
    """

    clock: Callable[[], datetime]
    new_id: Callable[[str], str]
    mask: Callable[[str], str]
    counter: Callable[[], TokenCounter]
    key: Callable[[], bytes]
    former: Callable[[], tuple[bytes, ...]] = tuple
    rounds: Rounds = field(default_factory=Uncounted)
    call_person: Callable[[str], None] = lambda text: None


@dataclass(frozen=True)
class Call:
    """All that a step of the flow needs to know of who asks for it."""

    caller: Caller
    settings: Settings
    ports: Ports

    def at(self, project_root: str) -> Call:
        """The same call in another project's folder."""
        return replace(self, caller=replace(self.caller, project_root=project_root))


def utc(moment: datetime) -> str:
    """`2026-06-05T14:03:07.123456Z`."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f") + "Z"

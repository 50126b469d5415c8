"""A handover as one installation of the plugin hands it to another: signed, for one recipient, once.

It stands as one line in the message, behind the package as text: who does not know it reads on.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field, ValidationError

from .errors import RefusedError
from .packet import HandoverPacket, Value
from .roster import Roster, Specialist, normal
from .settings import Settings
from .tools import Tools

LINE = "software-orchestrator-package: "
_LINE = re.compile(rf"^{LINE}([A-Za-z0-9_-]{{1,400000}}={{0,2}})\.([0-9a-f]{{128}})$", re.MULTILINE)
_PURPOSE = b"software_orchestrator handover 1\n"


class Terms(Value):
    """What is left of the caps where the work comes from, and who has had it: there one goes on from
    these, never from 0.

    `depth` is the handover's own, `max_depth` the cap; `hops` and `rounds` are what is left, `tools`
    those that its receiver may use at most.
    """

    depth: int = Field(ge=0, le=100)
    max_depth: int = Field(ge=1, le=100)
    hops: int = Field(ge=0, le=10_000)
    rounds: int = Field(ge=0, le=10_000)
    visited: tuple[str, ...] = Field(default=(), max_length=1000)
    tools: Tools = Tools()
    onward: bool = False

    def bound(self, settings: Settings, receiver: str) -> Settings:
        """The settings there: no cap wider than what is left (the handover itself is a hop), and a
        roster without those that had the work before its receiver."""
        return settings.model_copy(
            update={
                "max_handover_depth": min(settings.max_handover_depth, self.max_depth),
                "max_handovers_per_chain": min(settings.max_handovers_per_chain, self.hops + 1),
                "max_handovers_per_chat": min(settings.max_handovers_per_chat, self.rounds + 1),
                "roster": self._roster(settings.roster, receiver),
            }
        )

    def _roster(self, roster: Roster, receiver: str) -> Roster:
        """Who is on a further machine is left out, too, unless the work may go on to one."""
        visited = set(map(normal, self.visited)) - {normal(receiver)}
        entries: list[Specialist] = []
        removed = list(roster.removed)
        for entry in roster.entries:
            goes_away = entry.remote is not None and not self.onward
            is_left_out = goes_away or normal(entry.profile) in visited
            if normal(entry.profile) == normal(receiver):
                entry = entry.model_copy(update={"tools": entry.tools.narrowed(self.tools)})
            (removed if is_left_out else entries).append(entry)
        return Roster(entries=tuple(entries), removed=tuple(removed))


class Parcel(Value):
    """`by` is the public key that signs, `to` the recipient's fingerprint, `expires` UTC."""

    version: int = Field(default=1, ge=1, le=1)
    by: str = Field(pattern="^[0-9a-f]{64}$")
    to: str = Field(pattern="^[0-9a-f]{32}$")
    handover: str = Field(pattern="^ho-[0-9a-f]{16}$")
    expires: datetime
    terms: Terms
    packet: HandoverPacket


@dataclass(frozen=True)
class Signed:
    """A parcel as it came: its bytes, and a signature that nobody has looked at yet."""

    content: bytes
    signature: str
    parcel: Parcel

    @property
    def covered(self) -> bytes:
        return _PURPOSE + self.content


def line_of(parcel: Parcel, sign: Callable[[bytes], str]) -> str:
    """The line that carries a parcel."""
    content = parcel.model_dump_json(by_alias=True).encode()
    return f"{LINE}{base64.urlsafe_b64encode(content).decode()}.{sign(_PURPOSE + content)}\n"


def signed_in(text: str) -> Signed | None:
    """The parcel that a message carries, None without one. Raises RefusedError for a damaged one."""
    found = _LINE.findall(text)
    if not found:
        return None
    if len(found) > 1:
        raise RefusedError("the message carries more than one package", "", "bad_value")
    try:
        content = base64.urlsafe_b64decode(found[0][0])
        return Signed(content, found[0][1], Parcel.model_validate_json(content))
    except (ValueError, ValidationError, RecursionError) as error:
        raise RefusedError(
            "the package is damaged or of a newer version", "", "bad_value"
        ) from error

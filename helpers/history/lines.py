"""The form of a line of our log: a head of fixed length, then the record, as one JSON object.

The head lets a reader choose lines and weigh them without decoding JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from .message import GAP, ROLES, Record, Role

HEAD_LENGTH: Final = 61
_LETTERS: Final = "UATSNG"  # of `ROLES`
_OPENING: Final = b'{"head":"'
_KIND_OF: Final = {ord(letter): kind for kind, letter in enumerate(_LETTERS)}
_YES: Final = ord("1")
_CLOSING: Final = ord("}")  # before the line feed
_MOST_CHARS: Final = 4_000_000_000  # that an index can tell


class Head(NamedTuple):
    """Whose message a line is: `agent` number, `handover` it worked in or "", `time` in UTC."""

    kind: int
    agent: int
    handover: str
    time: str


def head_of(role: Role, tells: bool, agent: int, size: int, handover: str, time: str) -> str:
    """Kind, tells, agent (3 digits), size (10), handover (19), time (27): 61 characters."""
    letter = _LETTERS[ROLES.index(role)]
    numbers = f"{min(agent, 999):03d}{min(size, _MOST_CHARS):010d}"
    return f"{letter}{int(tells)}{numbers}{handover or '-':-<19.19}{time:Z<27.27}"


def line_head(line: bytes) -> Head | None:
    """The head of one line, or None where the line is torn or foreign."""
    if not line.startswith(_OPENING) or len(line) < len(_OPENING) + HEAD_LENGTH:
        return None
    try:
        handover, time = line[24:43].decode("ascii"), line[43:70].decode("ascii")
        return Head(_KIND_OF[line[9]], int(line[11:14]), handover.strip("-"), time)
    except (KeyError, ValueError):
        return None


def weighed(line: bytes) -> tuple[int, int, bool]:
    """Kind, characters, and whether the words tell a decision; a damaged line is a gap."""
    try:
        kind, size = _KIND_OF[line[9]], int(line[14:24])
        if line[-2] == _CLOSING and 0 <= size <= _MOST_CHARS:
            return kind, size, line[10] == _YES
    except (KeyError, IndexError, ValueError):
        pass
    return GAP, len(line), False


def line_with(head: str, record: Record) -> bytes:
    """The record behind its head."""
    fields = {"head": head, **record}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


# --- big results


@dataclass(frozen=True, slots=True)
class Reference:
    """A big tool result that the host saved as a file: its name, length, hash and beginning."""

    file: str
    chars: int
    sha256: str
    head: str

    def gone(self, why: str) -> str:
        """What stands in the place of a result that cannot be read."""
        kept = f"{self.chars:,} characters were kept in messages/{self.file}"
        return f"{self.head}\n[{kept}; {why}]"


def reference_in(result: object) -> Reference | None:
    """The reference that stands in a line in place of a tool's result, or None."""
    if not isinstance(result, dict) or "sha256" not in result:
        return None
    chars, head = result.get("chars"), str(result.get("head", ""))
    size = chars if isinstance(chars, int) else 0
    return Reference(str(result.get("file", "")), size, str(result["sha256"]), head)


Resolve = Callable[[Reference], str]
"""Gives the text of a big tool result, or words that say it is gone."""


def unresolved(reference: Reference) -> str:
    return reference.gone("not read here")


# --- a line as a record


_FIELDS: Final = frozenset({"head", "ai", "content"})
_DAMAGED: Final[Record] = {
    "ai": False,
    "content": {"gap": "[one damaged line of the transcript log]"},
    "id": "",
}


def record_of_line(line: bytes, resolve: Resolve = unresolved) -> Record:
    """One line as a record; a torn or foreign line as a gap that says so."""
    try:
        fields = json.loads(line.decode("utf-8", "surrogatepass"))  # twice as fast as from bytes
        agent = int(line[11:14])
    except (ValueError, RecursionError):
        return _DAMAGED
    if not isinstance(fields, dict) or not fields.keys() >= _FIELDS:
        return _DAMAGED
    fields["agent"], content = agent, fields["content"]
    if isinstance(content, dict):
        reference = reference_in(content.get("tool_result"))
        if reference is not None:
            content["tool_result"] = resolve(reference)
    return cast("Record", fields)

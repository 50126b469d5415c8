"""What the plugin keeps of a chat: plain JSON under its name in the chat's saved data.

A chat can be imported from anywhere, so every part is checked; what is damaged is left out and
said.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_type_hints

from agent import Agent, AgentContext
from pydantic import Field, StrictBool, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from helpers import persist_chat

from ..history.transcript import from_history
from ..text.masking import Mask
from ..values.errors import RecordError
from . import agents, voice

_MOST_MESSAGES, _MESSAGE_CHARS, _READ_CHARS = 20, 4000, 20_000

_Count = Annotated[int, Field(strict=True, ge=0, lt=10**9)]
_Reason = Annotated[str, Field(strict=True, max_length=1000)]

Kind = Literal["interrupted", "cancelled", "done", "failed", "refused"]


class Person(TypedDict):
    """How many messages the person has written, and the newest of them, masked."""

    count: _Count
    last: list[str]


class Unrecorded(TypedDict):
    """What happened to a handover while its record could not be written.

    Of a refused call `handover_id` is where it was made, and `reply` what is to be recorded of it.
    """

    handover_id: str
    project_root: str
    kind: Kind
    why: str
    said: str
    reply: dict[str, Any]


class Memory(TypedDict):
    """`refusals` are those in a row, `rounds` the handovers and reopenings since the person last
    wrote, `stopped` why all handovers wait for the person ("" while they do not), `asked` what an
    agent had told them before each of their messages, `roots` the folders this chat hands over in,
    `log_missing` how many messages the log lacks since it was last written, `in_children` how many
    messages the person has written in child chats."""

    refusals: _Count
    rounds: _Count
    stopped: _Reason
    person: Person
    asked: list[str]
    roots: list[str]
    unrecorded: list[Unrecorded]
    log_failed: StrictBool
    log_missing: _Count
    in_children: _Count


_PARTS = {
    name: TypeAdapter(kind) for name, kind in get_type_hints(Memory, include_extras=True).items()
}


def memory(context: AgentContext) -> Memory:
    """The chat's memory, to read and to change; made or mended where it is needed."""
    kept = context.data.get(agents.PLUGIN)
    damaged = _damaged({} if kept is None else kept)
    if not isinstance(kept, dict):
        kept = context.data[agents.PLUGIN] = {}
    for name in damaged:
        kept.pop(name, None)
    if damaged:
        root = agents.project_root(context)  # what this chat did there is looked up again
        kept.setdefault("roots", [root] if root else [])
        heading = "What this chat kept of its handovers was damaged"
        voice.warn(context, heading, f"Left out: {', '.join(damaged)}")
    fresh: Memory = {
        "refusals": 0,
        "rounds": 0,
        "stopped": "",
        "person": {"count": 0, "last": []},
        "asked": [],
        "roots": [],
        "unrecorded": [],
        "log_failed": False,
        "log_missing": 0,
        "in_children": 0,
    }
    if "person" not in kept:
        fresh["person"]["count"] = _spoken_before(context)
    for name, value in fresh.items():
        kept.setdefault(name, value)
    return kept  # type: ignore[no-any-return]


def _spoken_before(context: AgentContext) -> int:
    """How often the person had written before anybody counted, so that a chat has one count, whoever
    reads it: the command line counts what is saved."""
    agent = getattr(context, "agent0", None)
    if agent is None:
        return 0
    return sum(message.role == "user" for message in from_history(agent.history.to_dict()))


def _damaged(kept: object) -> list[str]:
    if not isinstance(kept, dict):
        return list(_PARTS)
    damaged = []
    for name in _PARTS.keys() & kept.keys():
        try:
            _PARTS[name].validate_python(kept[name])
        except ValidationError:
            damaged.append(name)
    return sorted(damaged)


def remember_root(agent: Agent, root: str) -> None:
    """Before the first handover in a folder; saved now, so that a crash cannot part the two."""
    roots = memory(agents.root_context(agent))["roots"]
    if root not in roots:
        roots.append(root)
        save_chat(agent)


def lift_stop(context: AgentContext) -> None:
    """The person lets all handovers of the chat go on; what is counted starts afresh."""
    kept = memory(context)
    kept["refusals"] = kept["rounds"] = 0
    kept["stopped"] = ""


def remember_message(context: AgentContext, text: str, asked: str, mask: Mask) -> None:
    """Count the person's message; it lifts a stop of the whole chat."""
    lift_stop(context)
    kept = memory(context)
    kept["person"]["count"] += 1
    try:  # masked before it is cut, so that no half of a secret stays
        said = mask(text[:_READ_CHARS])[:_MESSAGE_CHARS]
        told = mask(asked[-_READ_CHARS:])[-_MESSAGE_CHARS:]
    except RecordError:
        said = told = ""  # counted, but nothing of it can be kept
    kept["person"]["last"] = [*kept["person"]["last"], said][-_MOST_MESSAGES:]
    kept["asked"] = [*kept["asked"], told][-_MOST_MESSAGES:]


def save_chat(agent: Agent) -> None:
    """Write the agent's chat, and the one the person sees, now, as the host does every turn."""
    root = agents.root_context(agent)
    persist_chat.save_tmp_chat(root)
    if agent.context is not root:
        persist_chat.save_tmp_chat(agent.context)

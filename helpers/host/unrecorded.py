"""What happened while the record could not be written: kept in the chat, recorded at its next use.

The lock is held by another process, the disk is full, the project's folder or branch is away. On
the host's event loop nothing waits, because all chats share it (HOST fact 17).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any, cast

from agent import Agent, AgentContext

from ..flow import close, receive
from ..flow.place import Refusal, record_refusal, refusal_of
from ..text.masking import masked
from ..values.call import Call
from ..values.errors import HandoverError, RecordError, SettingsError
from .agents import root_context
from .bindings import UNSENT, Binding
from .conversation import mask_of
from .memory import Kind, Unrecorded, memory
from .seat import Seat, seat_of
from .voice import complain

_MOST_WAITING = 50


def is_away(error: HandoverError) -> bool:
    """Whether it is the record that is at fault, not the call: it may be back later."""
    return error.code == "unknown_reference" or isinstance(error, RecordError)


def record(agent: Agent, held: Binding, kind: Kind, why: str) -> None:
    """From the event loop: `interrupted` or `cancelled`, recorded now without waiting, or later."""
    entry = _entry(held, kind, why)
    try:
        _write(entry, seat_of(agent).not_waiting())
    except HandoverError as error:
        if is_away(error) or isinstance(error, SettingsError):
            memory(root_context(agent))["unrecorded"].append(entry)
        else:
            complain(agent, error)


def remember_end(agent: Agent, held: Binding, kind: Kind, why: str, said: str) -> None:
    """The run of a specialist is over, and what it said and sent could not be recorded."""
    entry = _entry(held, kind, "")
    try:
        mask = mask_of(agent)
        entry["why"], entry["said"] = mask(why), mask(said)
        unsent = agent.data.get(UNSENT, {})
        entry["reply"] = cast("dict[str, Any]", masked(unsent, mask))
    except RecordError as error:
        complain(agent, error)
    memory(root_context(agent))["unrecorded"].append(entry)


def _entry(held: Binding, kind: Kind, why: str) -> Unrecorded:
    return {
        "handover_id": held.handover_id,
        "project_root": held.project_root,
        "kind": kind,
        "why": why,
        "said": "",
        "reply": {},
    }


def refused(seat: Seat, given: Mapping[str, Any], error: HandoverError, stops: str) -> None:
    """A refused call that is not recorded, or that stops the chat's handovers: now without waiting,
    or later where the ledger cannot be written."""
    told = refusal_of(given, error, seat.call, stops)
    entry = _entry(Binding(seat.inside, told.project_root or seat.root), "refused", "")
    values = {**asdict(told), "sender": seat.call.caller.sender}
    try:
        entry["reply"] = cast("dict[str, Any]", masked(values, seat.call.ports.mask))
        _write(entry, seat.not_waiting())
    except HandoverError as unwritten:
        waiting = memory(root_context(seat.agent))["unrecorded"]
        if unwritten.code == "append_failed" and len(waiting) < _MOST_WAITING:
            waiting.append(entry)


def catch_up(seat: Seat) -> None:
    """Record what could not be recorded; what still cannot stays."""
    waiting = memory(root_context(seat.agent))["unrecorded"]
    for entry in tuple(waiting):
        try:
            _write(entry, seat)
        except HandoverError as error:
            complain(seat.agent, error)
            if is_away(error):
                continue
        waiting.remove(entry)


def catch_up_behind(context: AgentContext) -> None:
    """The same for a chat that is removed: no later use of it will come, so a thread waits."""
    if memory(context)["unrecorded"]:
        seat = seat_of(context.agent0)
        threading.Thread(target=catch_up, args=(seat,), daemon=True).start()


def _write(entry: Unrecorded, seat: Seat) -> None:
    call = seat.at(entry["project_root"]).call
    handover_id = entry["handover_id"]
    if entry["kind"] == "refused":
        record_refusal(*_refused_call(entry, call))
        return
    if entry["kind"] == "interrupted":
        receive.interrupt(handover_id, entry["why"], call)
        return
    if entry["reply"]:
        inside = replace(call, caller=replace(call.caller, inside=handover_id))
        try:
            receive.reply(entry["reply"], inside)
        except HandoverError as error:
            if is_away(error):
                raise
    close.close(handover_id, entry["kind"], entry["why"], call, said=entry["said"])


def _refused_call(entry: Unrecorded, call: Call) -> tuple[Refusal, Call]:
    """What is kept in a chat may be anybody's."""
    kept = {name: value for name, value in entry["reply"].items() if isinstance(value, str)}
    refusal = Refusal(**{row.name: kept.get(row.name, "") for row in fields(Refusal)})
    sender = kept.get("sender", call.caller.sender)
    caller = replace(call.caller, sender=sender, inside=entry["handover_id"])
    return refusal, replace(call, caller=caller)

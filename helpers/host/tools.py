"""What the three tools do inside Agent Zero: hand over, answer, read more.

Disk work runs in a thread, because all chats share one event loop (HOST fact 17); no lock is held
across an await.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent import Agent

from ..arguments.sent import unwrapped
from ..flow import history, prepare, receive, result
from ..flow.prepare import Prepared
from ..text.quote import inert
from ..values.errors import HandoverError, RefusedError, SettingsError
from . import bindings, conversation, legs, memory, runs, stops, unrecorded, voice
from .agents import openable, project_root, root_context, sender_of
from .seat import Seat, seat_of, sweep
from .settings import settings_of
from .unrecorded import catch_up, is_away
from .voice import HandoverResponse


async def handover(agent: Agent, tool: Any, args: Mapping[str, Any]) -> HandoverResponse:
    """The tool: prepare, and with `start` run the specialist and those it hands on to."""
    try:
        runs.refuse_parallel(agent)
        seat = seat_of(agent)
        stops.check(agent)
        given = arguments(seat, args)
        prepared = await to_thread(_prepared, seat, given)
    except HandoverError as error:
        return await refuse(agent, error, args)
    memory.memory(root_context(agent))["refusals"] = 0
    voice.tell_lifts(agent, prepared.lifts)
    if not seat.inside:
        seat = seat.at(prepared.project_root)
        memory.remember_root(agent, seat.call.caller.project_root)
    if prepared.start and (prepared.state == "prepared" or prepared.specialist.remote):
        try:
            return await legs.start(seat, tool, prepared)
        except HandoverError as error:
            return await refuse(agent, error, args)
    packet, specialist = prepared.packet, prepared.specialist
    why = packet.handover_reason or f"return when: {packet.return_condition}"
    voice.tell(agent, f"{specialist.name} is prepared for: {packet.topic}", why)
    return voice.answered(result.message(prepared))


def arguments(seat: Seat, args: Mapping[str, Any]) -> dict[str, Any]:
    """The call with paths as they can be opened; where it leads is remembered before it is made.

    Inside a handover its own project counts, whatever the call says.
    """
    given = _openable(args)
    root = openable(given.get("project_root")) or project_root(root_context(seat.agent))
    given["project_root"] = None if seat.inside else openable(given.get("project_root"))
    if not seat.inside and isinstance(root, str) and Path(root).is_dir():
        seat.call.caller.outside(root)
        memory.remember_root(seat.agent, root)
    return given


def _openable(args: Mapping[str, Any]) -> dict[str, Any]:
    given = unwrapped(args)
    return {**given, "artifacts": openable(given.get("artifacts"))}


def _prepared(seat: Seat, given: Mapping[str, Any]) -> Prepared:
    """In a thread: what is behind is recorded first."""
    catch_up(seat)
    sweep(seat)
    return prepare.prepare(given, seat.call)


async def refuse(agent: Agent, error: HandoverError, args: Mapping[str, Any]) -> HandoverResponse:
    """A refused handover, counted and recorded; one that stops the chain or the chat calls the
    person."""
    is_last = stops.count_refusal(agent, error)
    stopped = stops.kept_of(agent)["stopped"] if is_last else ""
    if (stopped or not error.recorded) and not isinstance(error, SettingsError):
        with voice.said_once(agent):
            seat = seat_of(agent)
            await to_thread(unrecorded.refused, seat, arguments(seat, args), error, stopped)
    if is_last:
        more = "this was the last of the refusals allowed in a row: ask the person how to go on"
        return voice.refused(error, more)
    return voice.refused(error)


async def reply(agent: Agent, args: Mapping[str, Any]) -> HandoverResponse:
    """The specialist's verdict. accept goes on working; the others end its run."""
    given = _openable(args)
    try:
        runs.refuse_parallel(agent)
        _check_holds(agent, "answer with the response tool")
        answer = await to_thread(receive.reply, given, seat_of(agent).call)
    except HandoverError as error:
        if is_away(error):
            agent.data[bindings.UNSENT] = given
        stops.hear(agent, error)
        return voice.refused(error)
    agent.data.pop(bindings.UNSENT, None)
    voice.tell_lifts(agent, answer.lifts)
    agent.data[bindings.STATE] = "closed" if answer.ends else "accepted"
    agent.data[bindings.VERDICT] = answer
    return voice.answered(answer.message, ends=answer.ends)


async def full_history(agent: Agent, args: Mapping[str, Any]) -> HandoverResponse:
    """More of the conversation than the package holds, for a specialist at work."""
    try:
        _check_holds(agent, "this tool is for a specialist at work")
        call = seat_of(agent).call
        answer = await to_thread(
            history.full_history,
            args,
            agent.number,
            lambda scope: conversation.transcript(agent, scope, call.ports.mask),
            call,
        )
    except HandoverError as error:
        return voice.refused(error)
    return voice.answered(answer.text)


def _check_holds(agent: Agent, hint: str) -> None:
    if bindings.binding(agent) is None:
        raise RefusedError("no handover is open for you", hint, "nothing_open")


def roster_lines(agent: Agent) -> str:
    """The roster as the tool prompt shows it, for whom this agent may hand over to."""
    try:
        settings = settings_of(agent)
    except HandoverError as error:
        return f"(roster: {error.message})"
    return inert(settings.roster.lines(sender_of(agent)))

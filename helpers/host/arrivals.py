"""How a prepared handover reaches its specialist inside Agent Zero, however that is started."""

from __future__ import annotations

import dataclasses
import re
from asyncio import to_thread
from collections.abc import Mapping
from typing import Any

from agent import Agent, AgentContextType

from ..chain.chain import Handover
from ..flow import deliver, receive, result, standing
from ..flow.deliver import Delivery
from ..values.errors import HandoverError, RefusedError
from ..values.roster import normal
from . import bindings, received, runs, stops, voice
from .agents import root_context, superior
from .seat import Seat, recorded, seat_of

SPOKEN = "_so_spoken"  # in a chat's data: somebody wrote to it, and the message is on its way
REFERENCE = re.compile(r"§§handover\s{0,3}\(\s{0,3}[\"'`]?([\w\-]{0,60})[\"'`]?\s{0,3}\)?")


def reference_in(message: object) -> tuple[str, str] | None:
    """The handover that a message refers to, and what is said beside; None without a reference.

    Raises RefusedError (unknown_reference) for more than one.
    """
    text = str(message or "")
    references = REFERENCE.findall(text)
    if not references:
        return None
    if len(references) > 1:
        why = "a call can hold one reference to a handover"
        raise RefusedError(why, "call once for each", "unknown_reference")
    return references[0], REFERENCE.sub("", text).strip(" \t\r\n:.,;")


async def route_in_parallel(agent: Agent, args: dict[str, Any]) -> None:
    """Each `call_subordinate` within a `parallel` call is routed, after all of them were checked.

    Raises the host's RepairableException where it gives such a subordinate no chat below this one:
    there nobody would hold the handover.
    """
    calls = runs.calls_in_parallel(args)
    started = [call.tool_args for call in calls if call.tool_name == "call_subordinate"]
    try:
        for one in started:
            await _check_in_parallel(agent, one)
    except HandoverError as error:
        raise voice.repairable(error) from error
    if started and runs.gives_chats():
        for one in started:
            await route(agent, one)
        args["tool_calls"] = [
            {"tool_name": call.tool_name, "tool_args": call.tool_args} for call in calls
        ]


async def _check_in_parallel(agent: Agent, args: dict[str, Any]) -> None:
    reference = reference_in(args.get("message"))
    if reference is None:
        return
    if not runs.gives_chats():
        why = "a handover cannot be started inside parallel"
        raise RefusedError(why, "call call_subordinate by itself, once for each", "parallel")
    await check_can_run(*await to_thread(recorded, agent, reference[0]))


async def route(agent: Agent, args: dict[str, Any]) -> None:
    """A `call_subordinate` call that carries a reference runs the specialist of the handover.

    Delivered ahead; profile and reset are set. Raises the host's RepairableException.
    """
    try:
        reference = reference_in(args.get("message"))
        if reference is None:
            await check_goes_on(agent, args)
            return
        runs.refuse_parallel(agent)
        handover_id, beside = reference
        seat, handover = await to_thread(recorded, agent, handover_id)
        await check_can_run(seat, handover)
        delivery = await to_thread(
            deliver.deliver, handover_id, seat.call, way="call_subordinate", beside=beside
        )
        specialist = await goes_on_with(seat, delivery)
    except HandoverError as error:
        raise voice.repairable(error) from error
    announce(agent, delivery)
    for name in ("agent_profile", "agent_id", "context_id"):
        args.pop(name, None)
    args["profile"] = handover.receiver
    args["reset"] = "false" if specialist else "true"
    args["message"] = result.reference(handover_id)
    if runs.gives_chats():
        args["name"] = chat_name(delivery)
    if specialist and (child := runs.child_context_id(agent, specialist)):
        args["context_id"] = child


async def check_goes_on(agent: Agent, args: dict[str, Any]) -> None:
    """A plain message to a specialist that asked back takes its work up again.

    Raises RefusedError where the chat has had all its rounds.
    """
    if str(args.get("reset", "")).strip().lower() == "true":
        return
    seat = seat_of(agent)
    try:
        stops.check_rounds(agent, seat.call.settings)
    except RefusedError as error:
        for specialist, held in bindings.holders_below(agent):
            if not runs.goes_to(specialist, args):
                continue
            call = seat.at(held.project_root).call
            handover = await to_thread(standing.held_by, held.handover_id, call)
            if not handover.is_open:
                stops.hear(agent, error)
                raise


async def check_can_run(seat: Seat, handover: Handover) -> None:
    """Nothing is delivered to a profile that is not there: it stays prepared, the ledger says why.

    Unlike start=true, where the run is the call itself, the model may call again.
    Raises RefusedError (start_failed).
    """
    specialist = standing.specialist_of(seat.call.settings, handover.receiver)
    standing.check_runs_here(specialist, handover, seat.root)
    try:
        runs.refuse_unknown_profile(seat.agent, handover.receiver)
    except RefusedError as error:
        await to_thread(receive.note_failed_start, handover.id, error, seat.call)
        later = f"{handover.id} was not started and can be started later ({error.code})"
        raise RefusedError(error.message, f"{error.hint}; {later}", error.code) from error


async def goes_on_with(seat: Seat, delivery: Delivery) -> Agent | None:
    """The living specialist that goes on with its own conversation; another one's is not taken."""
    specialist = bindings.subordinate_holding(seat.agent, delivery.goes_on)
    if specialist and delivery.goes_on != delivery.handover.id:
        asked = await to_thread(standing.held_by, delivery.goes_on, seat.call)
        if normal(asked.receiver) != normal(delivery.handover.receiver):
            return None
    return specialist


def chat_name(delivery: Delivery) -> str:
    """Of the specialist's own chat, in the list of chats."""
    return f"{delivery.title}: {delivery.handover.packet.topic}"


def announce(agent: Agent, delivery: Delivery) -> None:
    """It waits to be taken; one line says who has the task now, and why."""
    agent.data.setdefault(bindings.DELIVERIES, {})[delivery.handover.id] = delivery
    packet = delivery.handover.packet
    why = packet.handover_reason or packet.next_action or packet.goal or packet.summary
    heading = f"{delivery.title} has the task now: {packet.topic}"
    voice.tell(agent, heading, why or f"{packet.identity.sender} handed it over")


def incoming(agent: Agent, data: dict[str, Any]) -> None:
    """A message for an agent: a superior's reference is expanded and binds it to the handover.

    The person's word interrupts it. In a root chat the person speaks, or a scheduled run begins.
    """
    above = superior(agent)
    context = root_context(agent)
    was_spoken_to = context.data.pop(SPOKEN, False)
    args, kwargs = list(data.get("args") or ()), dict(data.get("kwargs") or {})
    given = dict(zip(("agent", "message", "intervention"), args, strict=False)) | kwargs
    if above is None:
        if context.type == AgentContextType.BACKGROUND:
            expand(data, args, kwargs, received.taken(agent, text_of(given)))
        if not (was_spoken_to or given.get("intervention")):
            stops.start_afresh(context)
        return
    if given.get("intervention"):
        agent.data[bindings.STATE] = bindings.SPOKEN_TO
        return
    message = given.get("message")
    try:
        reference = reference_in(getattr(message, "message", ""))
        if reference is None:
            bindings.help_in(agent, bindings.holding_of(above))
            return
        delivery = _taken_from(above, *reference)
    except HandoverError as error:
        data["exception"] = voice.repairable(error)
        return
    take(agent, above, delivery)
    expand(data, args, kwargs, delivery.text)


def text_of(given: Mapping[str, Any]) -> str:
    return str(getattr(given.get("message"), "message", "") or "")


def expand(data: dict[str, Any], args: list[Any], kwargs: dict[str, Any], text: str | None) -> None:
    """The agent reads this text in place of the message; None leaves it."""
    message = kwargs.get("message", args[1] if len(args) > 1 else None)
    if text is None or message is None:
        return
    expanded = dataclasses.replace(message, message=text)
    if "message" in kwargs:
        data["kwargs"] = {**kwargs, "message": expanded}
    else:
        data["args"] = (args[0], expanded, *args[2:])


def _taken_from(above: Agent, handover_id: str, beside: str) -> Delivery:
    """What was delivered ahead; else delivered now, on the event loop, where nothing waits."""
    delivery: Delivery | None = above.data.get(bindings.DELIVERIES, {}).pop(handover_id, None)
    if delivery is None:
        seat, _ = recorded(above, handover_id)
        call = seat.not_waiting().call
        delivery = deliver.deliver(handover_id, call, way="call_subordinate", beside=beside)
    return delivery


def take(agent: Agent, above: Agent, delivery: Delivery) -> None:
    """The agent holds the handover from here on, and shows it in every row."""
    held = bindings.binding(above)
    root = held.project_root if held else delivery.project_root
    bindings.bind(agent, delivery.handover.id, root)
    bindings.dress(agent, delivery.handover.receiver, delivery.title)
    if agent.context is not root_context(agent):  # its own chat shows the reference alone
        voice.tell_here(
            agent, f"{agent.agent_name}: {delivery.handover.packet.topic}", delivery.text
        )

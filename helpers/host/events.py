"""What the extensions do: expand a reference on arrival, keep the persona, hand back when a run ends, record stops and resets."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import Any

from ..flow import receive, result
from ..flow import standing as flow_standing
from ..flow.answer import Answer
from ..flow.deliver import Delivery, deliver
from ..records import resources
from ..text import render
from ..values.errors import HandoverError, RefusedError
from . import host
from .desk import (
    Desk,
    announce,
    desk,
    desk_recording,
    holder_name,
    moved_no_further,
    said_once,
    standing,
    stash,
    sweep,
)
from .tools import came_back

OFFERS = "handovers"  # the name of what is offered, among the extras of a prompt
SPOKEN_TO = "spoken to"  # the person wrote to a specialist that works
UNREAD = (
    "done",
    "rejected",
    "escalated",
)  # an agent bound to one of these was stopped before its run ended
KEPT_AFTER = ("clarify",)  # a specialist that asked is asked back: it keeps its handover
LOST = (
    "cancelled",
    "failed",
    "superseded",
)  # closed by others; any other verdict is the holder's own until its run ends


def log_message(agent: Any, message: Any) -> None:
    """Keep one message of the chat. What goes wrong here is told once and never breaks the chat.

    What could not be kept is counted, so that the log tells of the gap as soon as it is written.
    """
    kept = host.memory(host.root_context(agent))
    missing = int(kept.get("log_missing", 0))
    try:
        kept["log_missing"] = 0 if host.keep_message(agent, message, missing) else missing + 1
    except Exception as error:
        kept["log_missing"] = missing + 1
        if not kept.get("log_failed"):
            kept["log_failed"] = True
            host.tell(
                agent,
                "The chat's messages are not kept for request_full_history",
                f"{type(error).__name__}: {error}",
            )


def person_wrote(context: Any, message: Any) -> None:
    """The person's own message in the chat they see: it lifts stops; a nudge or an empty message does not."""
    if (
        context.data.pop(host.NUDGED, False)
        or not str(getattr(message, "message", "") or "").strip()
    ):
        return
    if context.get_output_data("parent_context_id"):
        return
    host.person_wrote(context, message.message)
    for agent in _holders(context):
        with said_once(agent):
            at = desk(agent)
            if (
                agent.context is not context
                and flow_standing.held_by(at.caller.inside, *at.rest).is_open
            ):
                host.redress(agent)
                host.tell(
                    agent,
                    f"{agent.agent_name} holds the task now",
                    f"It works in its own chat, {agent.context.id}.",
                )


def nudged(context: Any) -> None:
    context.data[host.NUDGED] = True


def stopped(context: Any, why_: str) -> None:
    """The chat's task is killed: whoever works is interrupted, and may go on or be gone."""
    if not context.is_running():
        return
    for agent in _holders(context):
        with said_once(agent):
            at = desk(agent)
            receive.interrupt(at.caller.inside, why_, *at.rest)
        agent.data.pop(host.STATE, None)


def cleared(context: Any, why_: str) -> None:
    """The chat is reset or removed: its agents are gone, and with them their handovers and what they said."""
    for agent in _holders(context):
        with said_once(agent):
            at = desk(agent)
            host.release(
                agent
            )  # first, so that a run that still goes on in this moment does not reopen it
            receive.close(at.caller.inside, "cancelled", why_, *at.rest)
        host.release(agent)
    host.forget_messages(context)


def removed(chat_id: str) -> None:
    """A chat is removed without a reset, as the scheduler does."""
    if context := host.AgentContext.get(chat_id):
        cleared(context, "the chat was removed")


def _holders(context: Any) -> list[Any]:
    return [agent for agent in host.agents_of(context) if host.binding(agent)]


async def before_tool(agent: Any, name: str, args: dict[str, Any]) -> None:
    """A specialist that works has accepted; and a reference in call_subordinate gets the right specialist."""
    if host.binding(agent):
        host.redress(agent)
        with said_once(agent):
            if name != "handover_reply" and agent.data.get(host.STATE) != "accepted":
                at = desk(agent)
                agent.data[host.STATE] = await asyncio.to_thread(
                    receive.touch, at.caller.inside, *at.rest
                )
    if name == "call_subordinate":
        await route(agent, args)


async def route(agent: Any, args: dict[str, Any]) -> None:
    """Deliver ahead and set profile and reset, so that the specialist of the handover runs and no other."""
    try:
        found = host.reference_in(args.get("message"))
        if found is None:
            return
        handover_id, beside = found
        host.refuse_parallel(agent)
        at = await asyncio.to_thread(desk_recording, agent, handover_id)
        profile = (await asyncio.to_thread(flow_standing.held_by, handover_id, *at.rest)).receiver
        await can_run(at, handover_id, profile)
        delivery = await asyncio.to_thread(
            deliver, handover_id, *at.rest, way="call_subordinate", beside=beside
        )
    except HandoverError as error:
        raise repairable(error) from error
    stash(agent, handover_id, delivery)
    announce(at, delivery)
    goes_on = host.subordinate_holding(agent, delivery.goes_on)
    args.update(
        profile=profile, reset="false" if goes_on else "true", message=result.reference(handover_id)
    )
    args.pop("agent_profile", None)
    args.pop("agent_id", None)
    if goes_on and (child := host.child_context_id(agent, goes_on)):
        args["context_id"] = child
    else:
        args.pop("context_id", None)


async def can_run(at: Desk, handover_id: str, profile: str) -> None:
    """Nothing is delivered to a profile that is not there: the handover stays prepared, and its ledger says why.

    Unlike start=true, where the run is the call itself, the model may call again. Raises RefusedError (start_failed).
    """
    try:
        host.refuse_unknown_profile(at.agent, profile)
    except RefusedError as error:
        await asyncio.to_thread(receive.note_failed_start, handover_id, error, *at.rest)
        hint = (
            f"{error.hint}; {handover_id} was not started and can be started later ({error.code})"
        )
        raise RefusedError(error.message, hint, error.code) from error


def repairable(error: HandoverError) -> Any:
    """The refusal as the host's exception that the model reads; the host expands braces in its text (HOST fact 15)."""
    return host.RepairableException(render.inert(str(error)))


def incoming(agent: Any, data: dict[str, Any]) -> None:
    """A message for an agent: a reference in a superior's is expanded and binds the agent; the person's word interrupts it."""
    above = host.superior(agent)
    args: list[Any] = list(data.get("args") or ())
    kwargs: dict[str, Any] = dict(data.get("kwargs") or {})
    if above is None:
        return  # a root chat: the person speaks
    spoken = kwargs.get("intervention", args[2] if len(args) > 2 else False)
    if spoken:
        agent.data[host.STATE] = SPOKEN_TO
        return
    message: Any = kwargs.get("message", args[1] if len(args) > 1 else None)
    try:
        found = host.reference_in(getattr(message, "message", ""))
        if found is None:
            return
        delivery = above.data.get(host.DELIVERIES, {}).pop(found[0], None) or deliver_now(
            above, *found
        )
    except HandoverError as error:
        data["exception"] = repairable(error)
        return
    take(agent, above, delivery)
    expanded = dataclasses.replace(message, message=delivery.text)
    if "message" in kwargs:
        data["kwargs"] = {**kwargs, "message": expanded}
    else:
        data["args"] = (args[0], expanded, *args[2:])


def deliver_now(agent: Any, handover_id: str, beside: str) -> Delivery:
    at = desk_recording(agent, handover_id)
    return deliver(handover_id, *at.rest, way="call_subordinate", beside=beside)


def take(agent: Any, above: Any, delivery: Delivery) -> None:
    """The agent holds the handover from here on, and shows it in every row."""
    held = host.binding(above)
    root = held["project_root"] if held else delivery.project_root
    host.bind(agent, delivery.handover.id, root)
    host.dress(agent, delivery.handover.receiver, delivery.title)


async def restore(agent: Any, *, save: bool = False) -> None:
    """Before each prompt: profile and persona of who holds a handover; one that was closed meanwhile is let go.

    With `save` the chat is written, because the host does so only after the first turn: a specialist that has the work must
    not be gone when the host dies before.
    """
    if host.binding(agent) is None:
        return
    host.redress(agent)
    with said_once(agent):
        at = desk(agent)
        identifier = at.caller.inside
        try:
            found = await asyncio.to_thread(flow_standing.held_by, identifier, *at.rest)
        except HandoverError as error:
            if error.code == "append_failed":
                raise
            host.release(agent)
            host.tell(agent, "A handover was dropped", error.message)
            return
        if found.state in LOST:
            host.release(agent)
            host.tell(
                agent, f"{found.id} is closed ({found.state})", "Its specialist goes on without it."
            )
            return
        if agent.data.get(host.STATE) == SPOKEN_TO:
            agent.data.pop(host.STATE)
            await asyncio.to_thread(receive.interrupt, identifier, "the person wrote", *at.rest)
        specialist = flow_standing.specialist_of(at.settings, found.receiver)
        host.dress(agent, specialist.profile, specialist.name)
        if save:
            host.save_chat(agent)


async def ended(agent: Any, data: dict[str, Any]) -> None:
    """A specialist's run is over: its handover is closed if it still is open, and the note becomes its superior's result."""
    if host.binding(agent) is None:
        return
    if isinstance(data.get("exception"), host.InterventionException):
        return
    with said_once(agent):
        at = desk(agent)
        answer = await outcome(at, data)
        data["exception"] = (
            None  # else the host ends the whole line of agents up to the person (HOST fact 14)
        )
        data["result"] = await handed_back(at, answer)
        if above := host.superior(agent):
            await host.keep_note(above, data["result"])
            host.pass_on_message(agent, above)
        tell_back(at, answer)
        if answer.summary.get("verdict") in KEPT_AFTER:
            host.undress(agent)
            return
    host.release(agent)


async def outcome(at: Desk, data: Mapping[str, Any]) -> Answer:
    error, said = data.get("exception"), data.get("result")
    if isinstance(error, BaseException):
        why_ = f"{type(error).__name__}: {error}"
        return await asyncio.to_thread(receive.close, at.caller.inside, "failed", why_, *at.rest)
    return await came_back(at, at.caller.inside, said if isinstance(said, str) else "")


def tell_back(at: Desk, answer: Answer) -> None:
    """Who has the task now that the specialist is done; a specialist that needs the person calls them."""
    agent, verdict = at.agent, answer.summary.get("verdict")
    if answer.stops:
        host.call_person(agent, "A specialist needs you", f"{agent.agent_name}: {answer.stops}")
    above = host.superior(agent)
    if answer.hand_to:
        follows = f"it asks for {answer.hand_to}"
    else:
        follows = (
            f"{holder_name(above, at.settings)} has the task now" if above else "it is with you now"
        )
    told = (
        answer.summary.get("what_happened")
        or answer.summary.get("reason")
        or ", ".join(answer.summary.get("missing", ()))
    )
    what = (
        f"'s handover was closed as {verdict}" if verdict in LOST else f" handed back ({verdict})"
    )
    host.tell(agent, f"{agent.agent_name}{what}; {follows}", str(told))


async def handed_back(at: Desk, answer: Answer) -> str:
    """The note for the superior; where nobody loops over the legs, the next handover stands ready at its end."""
    above = host.superior(at.agent)
    if not answer.hand_to or (above is not None and above.data.get(host.IN_LOOP)):
        return answer.note
    try:
        leg = await asyncio.to_thread(receive.next_leg, at.caller.inside, *at.rest)
    except HandoverError as error:
        return moved_no_further(at.agent, answer, error).note
    return f"{answer.note}{result.next_step(leg)}\n"


def specialist_prompt(agent: Any) -> str:
    """What only the holder of a handover reads in its system prompt; "" for others."""
    if host.binding(agent) is None:
        return ""
    return "\n".join(
        map(resources.text, ("specialist", "tool_handover_reply", "tool_request_full_history"))
    )


async def unread(agent: Any) -> list[str]:
    """Notes of the agent's specialists that a stop or a restart cut off between their verdict and the end of their run."""
    notes = []
    for below, identifier in host.holders_below(agent):
        at = desk(below)
        found = await asyncio.to_thread(flow_standing.held_by, identifier, *at.rest)
        answer = (
            await asyncio.to_thread(receive.outcome_of, identifier, *at.rest)
            if found.state in UNREAD
            else None
        )
        if answer is None:
            continue
        host.redress(below)
        notes.append(await handed_back(at, answer))
        tell_back(at, answer)
        host.release(below)
    return notes


async def offers(agent: Any) -> str:
    """After a restart or a stop: what this agent prepared and nobody started, what is open or stopped; "" when nothing is."""
    if host.binding(agent) is None and host.superior(agent) is not None:
        return ""
    text = ""
    with said_once(agent):
        at = desk(agent)
        agent.data.pop(host.DELIVERIES, None)
        for note in await unread(agent):
            agent.hist_add_tool_result("handover_to_specialist", note)
        gone = await asyncio.to_thread(sweep, at)
        lost = [
            f"Cancelled: {identifier}, its specialist is gone; hand over again what is still wanted"
            for identifier in gone
        ]
        text += "\n".join((*lost, *await asyncio.to_thread(standing, at)))
    return text


async def offers_again(agent: Any, extras: dict[str, Any]) -> None:
    """The same later in the run, where something was offered: what was started since is not offered any more."""
    if not extras.pop(OFFERS, ""):
        return
    with said_once(agent):
        if lines := await asyncio.to_thread(standing, desk(agent)):
            extras[OFFERS] = "\n".join(lines)

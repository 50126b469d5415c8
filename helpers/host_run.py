"""A handover's life inside Agent Zero: what the tools and extensions do, each in one function.

Disk work runs in a thread, because all chats share one event loop (HOST fact 17); no lock is held across an await.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from usr.plugins.software_orchestrator.helpers import (
    handover_protocol,
    handover_result,
    history_protocol,
    host,
    masking,
    render,
    reply_protocol,
    resources,
)
from usr.plugins.software_orchestrator.helpers.config import Settings
from usr.plugins.software_orchestrator.helpers.errors import HandoverError, RefusedError
from usr.plugins.software_orchestrator.helpers.handover_protocol import Prepared
from usr.plugins.software_orchestrator.helpers.host import HandoverResponse
from usr.plugins.software_orchestrator.helpers.ports import Caller, Ports
from usr.plugins.software_orchestrator.helpers.reply_protocol import Answer, Delivery

OFFERS = "handovers"  # the name of what is offered, among the extras of a prompt
SPOKEN_TO = "spoken to"  # the person wrote to a specialist that works
UNREAD = ("done", "rejected", "escalated")  # an agent bound to one of these was stopped before its run ended
KEPT_AFTER = ("clarify",)  # a specialist that asked is asked back: it keeps its handover
LOST = ("cancelled", "failed", "superseded")  # closed by others; any other verdict is the holder's own until its run ends


@dataclasses.dataclass(frozen=True)
class Desk:
    """All that a step needs to know of its agent."""

    agent: Any
    caller: Caller
    settings: Settings
    ports: Ports

    @property
    def rest(self) -> tuple[Caller, Settings, Ports]:
        return self.caller, self.settings, self.ports


def desk(agent: Any) -> Desk:
    """Raises SettingsError."""
    ports = host.ports_of(agent)
    return Desk(agent, host.caller_of(agent, ports), host.settings_of(agent), ports)


def at_root(at: Desk, root: str) -> Desk:
    return dataclasses.replace(at, caller=dataclasses.replace(at.caller, project_root=root))


def places(at: Desk) -> tuple[Desk, ...]:
    """The desk for each folder this chat hands over in; who works in a handover knows its folder alone."""
    found = (at.caller.project_root,) if at.caller.inside else host.roots(at.agent)
    return tuple(at_root(at, root) for root in found)


def desk_recording(agent: Any, handover_id: str) -> Desk:
    """The desk for the folder that a handover is recorded in. Raises RefusedError (unknown_reference)."""
    for place in places(desk(agent)):
        with suppress(RefusedError):
            reply_protocol.held_by(handover_id, *place.rest)
            return place
    shown = render.one_line(handover_id, 40)
    raise RefusedError(f"no handover {shown} is recorded in this chat", "copy the reference from next_step", "unknown_reference")


@contextmanager
def said_once(agent: Any) -> Iterator[None]:
    """Around an extension: what it cannot do is said in the chat, once, and stops nothing; a raise would end the chat."""
    try:
        yield
    except HandoverError as error:
        host.complain(agent, error)


# handover_to_specialist


async def handover(agent: Any, tool: Any, args: Mapping[str, Any]) -> HandoverResponse:
    """The tool: prepare, and with `start` run the specialist and those it hands on to."""
    try:
        host.refuse_parallel(agent)
        at = desk(agent)
        host.check_refusals(host.root_context(agent), at.settings)
        await asyncio.to_thread(sweep, at)
        prepared = await asyncio.to_thread(handover_protocol.prepare, arguments(agent, args), *at.rest)
    except HandoverError as error:
        return refuse(agent, error)
    host.memory(host.root_context(agent))["refusals"] = 0
    if not at.caller.inside:
        at = at_root(at, prepared.plan.request.project_root)
        host.remember_root(agent, at.caller.project_root)
    if prepared.plan.request.start and prepared.state == "prepared":
        try:
            return await start(at, tool, prepared)
        except HandoverError as error:
            return refuse(agent, error)
    host.tell(agent, f"{prepared.plan.specialist.name} is prepared for: {prepared.packet.topic}", why(prepared))
    return host.answered(handover_result.message(prepared))


def why(prepared: Prepared) -> str:
    return prepared.packet.handover_reason or f"return when: {prepared.packet.return_condition}"


def refuse(agent: Any, error: HandoverError) -> HandoverResponse:
    """A refused handover, counted; one that stops the chain or the chat calls the person."""
    context = host.root_context(agent)
    kept = host.memory(context)
    kept["refusals"] += 1
    stopped = isinstance(error, RefusedError) and error.stops
    if stopped:
        host.call_person(agent, "Handovers are stopped", f"{error.message}. Your next message lets them go on.")
    elif error.code != "stopped" and kept["refusals"] == _most_refusals(agent):
        host.call_person(agent, "Handovers are stopped", f"{kept['refusals']} calls in a row were refused. Last: {error.message}")
        return host.refused(error, "this was the last of the refusals allowed in a row: ask the person how to go on")
    return host.refused(error)


def _most_refusals(agent: Any) -> int:
    try:
        return host.settings_of(agent).max_refusals_in_a_row
    except HandoverError:
        return 3


def sweep(at: Desk) -> tuple[str, ...]:
    """Before a chain is used again: what no living agent holds is closed as cancelled. Returns the ids."""
    agents = list(host.agents_of(host.root_context(at.agent)))
    alive = {held["handover_id"] for agent in agents if (held := host.binding(agent))}
    alive.update(*(agent.data.get(host.DELIVERIES, ()) for agent in agents))  # delivered, and about to be taken
    return tuple(gone for place in places(at) for gone in reply_protocol.sweep(alive, place.caller.project_root, *place.rest))


def arguments(agent: Any, args: Mapping[str, Any]) -> dict[str, Any]:
    """The call with paths as they can be opened. Inside a handover its own project counts, whatever the call says."""
    given = {**args, "artifacts": masking.map_text(args.get("artifacts"), host.real_path)}
    given["project_root"] = None if host.binding(agent) else host.real_path(args.get("project_root"))
    return given


async def start(at: Desk, tool: Any, prepared: Prepared) -> HandoverResponse:
    """Run the specialist, then whoever it hands on to (seed 004's chain), and bring the last note back."""
    legs: list[dict[str, Any]] = []
    leg = prepared
    while True:
        answer = await run_leg(at, tool, leg)
        legs.append({"handover_id": leg.packet.identity.handover_id, "specialist": leg.plan.specialist.profile, **_said(answer)})
        await tool.set_progress(answer.note)
        if not answer.hand_to:
            break
        try:
            leg = await asyncio.to_thread(reply_protocol.next_leg, leg.packet.identity.handover_id, *at.rest)
        except HandoverError as error:
            answer = moved_no_further(at.agent, answer, error)
            break
    await tool.set_progress(answer.note)
    reply = {**answer.summary, "legs": legs, "next_step": what_follows(answer)}
    response = host.answered(handover_result.message(prepared, reply))
    response.error = answer.summary.get("verdict") == "failed"
    return response


def _said(answer: Answer) -> dict[str, Any]:
    return {name: answer.summary.get(name) for name in ("verdict", "outcome", "implicit")}


def moved_no_further(agent: Any, answer: Answer, error: HandoverError) -> Answer:
    """The work cannot move on by itself: its last note comes back, with the reason; a stop calls the person."""
    if isinstance(error, RefusedError) and error.stops:
        host.call_person(agent, "Handovers are stopped", f"{error.message}. Your next message lets them go on.")
    note = f"{answer.note}Not handed on to {answer.hand_to}: {error}\n"
    return dataclasses.replace(answer, note=note, summary={**answer.summary, "not_handed_on": str(error)})


async def run_leg(at: Desk, tool: Any, prepared: Prepared) -> Answer:
    """One specialist's run from delivery to its answer. The person's intervention passes through."""
    identity, specialist = prepared.packet.identity, prepared.plan.specialist
    try:
        host.refuse_unknown_profile(at.agent, specialist.profile)
        delivery = await asyncio.to_thread(reply_protocol.deliver, identity.handover_id, *at.rest, way="start")
    except HandoverError as error:
        return await fail(at, prepared, str(error))
    announce(at, delivery)
    await tool.set_progress(f"{specialist.name} has the task: {prepared.packet.topic}")
    stash(at.agent, identity.handover_id, delivery)
    at.agent.data[host.IN_LOOP] = identity.handover_id
    reference = handover_result.reference(identity.handover_id)
    try:
        goes_on = host.subordinate_holding(at.agent, delivery.goes_on)
        said, _ = await host.run_subordinate(at.agent, specialist.profile, reference, goes_on=goes_on)
    except host.InterventionException:
        raise
    except Exception as error:
        return await fail(at, prepared, f"{type(error).__name__}: {error}")
    finally:
        at.agent.data.pop(host.IN_LOOP, None)
    try:
        return await came_back(at, identity.handover_id, said)
    except HandoverError as error:
        summary = {
            "verdict": "done",
            "implicit": True,
            "handover_id": identity.handover_id,
            "what_happened": said,
            "not_recorded": str(error),
        }
        return Answer(said, ends=True, note=f"{said}\nNot recorded: {error}\n", summary=summary)


async def came_back(at: Desk, identifier: str, said: str) -> Answer:
    """What the handover came to; one that is still open when its run is over ends as done, with what was said."""
    found = await asyncio.to_thread(reply_protocol.outcome_of, identifier, *at.rest)
    if found is None:
        found = await asyncio.to_thread(reply_protocol.close, identifier, "done", "", *at.rest, said=said)
    return found


async def fail(at: Desk, prepared: Prepared, why_: str) -> Answer:
    """The specialist did not start, or its run broke: the work is the caller's again."""
    answer = await asyncio.to_thread(reply_protocol.close, prepared.packet.identity.handover_id, "failed", why_, *at.rest)
    host.tell(at.agent, f"{prepared.plan.specialist.name} failed; {holder_name(at.agent, at.settings)} has the task now", why_)
    return answer


def announce(at: Desk, delivery: Delivery) -> None:
    """The one line on who has the task now, and why."""
    packet = delivery.handover.packet
    why_ = (
        packet.handover_reason
        or packet.next_action
        or packet.goal
        or packet.summary
        or f"{packet.identity.sender} handed it over"
    )
    host.tell(at.agent, f"{delivery.title} has the task now: {packet.topic}", why_)


def holder_name(agent: Any, settings: Settings) -> str:
    """The agent as a person knows it: its persona while it holds a handover, else its roster entry."""
    return str(agent.agent_name) if host.binding(agent) else reply_protocol.specialist_of(settings, host.sender_of(agent)).name


def what_follows(answer: Answer) -> str:
    """What the orchestrator does after a hand-back."""
    verdict, identifier = answer.summary.get("verdict"), answer.summary.get("handover_id")
    if verdict == "clarify":
        return (
            f"Orchestrator: answer with handover_to_specialist(answers={identifier}, state={{field: value}}), asking the person"
            " only what you do not know"
        )
    if verdict in ("reject", "rejected"):
        return "Orchestrator: supply what is missing, choose another specialist, or do it yourself"
    if answer.stops:
        return "Orchestrator: ask the person how to go on; their next message lets handovers go on"
    if verdict in ("failed", "cancelled"):
        return "Orchestrator: tell the person, or hand over again"
    return "Orchestrator: use the note; read the briefing for the rest"


# handover_reply


async def reply(agent: Any, args: Mapping[str, Any]) -> HandoverResponse:
    """The specialist's verdict. accept goes on working; the others end its run."""
    try:
        host.refuse_parallel(agent)
        if host.binding(agent) is None:
            raise RefusedError("no handover is open for you", "answer with the response tool", "nothing_open")
        at = desk(agent)
        given = {**args, "artifacts": masking.map_text(args.get("artifacts"), host.real_path)}
        answer = await asyncio.to_thread(reply_protocol.reply, given, *at.rest)
    except HandoverError as error:
        return host.refused(error)
    agent.data[host.STATE] = "accepted" if not answer.ends else "closed"
    return host.answered(answer.message, ends=answer.ends)


# request_full_history


async def full_history(agent: Any, args: Mapping[str, Any]) -> HandoverResponse:
    """More of the conversation than the package holds, for a specialist that works on a handover."""
    if host.binding(agent) is None:
        return host.refused(RefusedError("no handover is open for you", "this tool is for a specialist at work", "nothing_open"))
    try:
        at = desk(agent)
        found = await asyncio.to_thread(
            history_protocol.full_history, args, agent.number, lambda scope: host.transcript(agent, scope, at.ports), *at.rest
        )
    except HandoverError as error:
        return host.refused(error)
    return host.answered(found.text)


def log_message(agent: Any, message: Any) -> None:
    """Keep one message of the chat. What goes wrong here is told once and never breaks the chat."""
    kept = host.memory(host.root_context(agent))
    try:
        host.keep_message(agent, message)
    except Exception as error:
        if not kept.get("log_failed"):
            kept["log_failed"] = True
            host.tell(agent, "The chat's messages are not kept for request_full_history", f"{type(error).__name__}: {error}")


# extensions


def person_wrote(context: Any, message: Any) -> None:
    """The person's own message in the chat they see: it lifts stops; a nudge or an empty message does not."""
    if context.data.pop(host.NUDGED, False) or not str(getattr(message, "message", "") or "").strip():
        return
    if context.get_output_data("parent_context_id"):
        return
    host.person_wrote(context, message.message)
    for agent in _holders(context):
        with said_once(agent):
            at = desk(agent)
            if agent.context is not context and reply_protocol.held_by(at.caller.inside, *at.rest).is_open:
                host.redress(agent)
                host.tell(agent, f"{agent.agent_name} holds the task now", f"It works in its own chat, {agent.context.id}.")


def nudged(context: Any) -> None:
    context.data[host.NUDGED] = True


def stopped(context: Any, why_: str) -> None:
    """The chat's task is killed: whoever works is interrupted, and may go on or be gone."""
    if not context.is_running():
        return
    for agent in _holders(context):
        with said_once(agent):
            at = desk(agent)
            reply_protocol.interrupt(at.caller.inside, why_, *at.rest)
        agent.data.pop(host.STATE, None)


def cleared(context: Any, why_: str) -> None:
    """The chat is reset or removed: its agents are gone, and with them their handovers and what they said."""
    for agent in _holders(context):
        with said_once(agent):
            at = desk(agent)
            host.release(agent)  # first, so that a run that still goes on in this moment does not reopen it
            reply_protocol.close(at.caller.inside, "cancelled", why_, *at.rest)
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
                agent.data[host.STATE] = await asyncio.to_thread(reply_protocol.touch, at.caller.inside, *at.rest)
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
        profile = (await asyncio.to_thread(reply_protocol.held_by, handover_id, *at.rest)).receiver
        host.refuse_unknown_profile(agent, profile)
        delivery = await asyncio.to_thread(reply_protocol.deliver, handover_id, *at.rest, way="call_subordinate", beside=beside)
    except HandoverError as error:
        raise repairable(error) from error
    stash(agent, handover_id, delivery)
    announce(at, delivery)
    goes_on = host.subordinate_holding(agent, delivery.goes_on)
    args.update(profile=profile, reset="false" if goes_on else "true", message=handover_result.reference(handover_id))
    args.pop("agent_profile", None)
    args.pop("agent_id", None)
    if goes_on and (child := host.child_context_id(agent, goes_on)):
        args["context_id"] = child
    else:
        args.pop("context_id", None)


def repairable(error: HandoverError) -> Any:
    """The refusal as the host's exception that the model reads; the host expands braces in its text (HOST fact 15)."""
    return host.RepairableException(render.inert(str(error)))


def stash(agent: Any, handover_id: str, delivery: Delivery) -> None:
    agent.data.setdefault(host.DELIVERIES, {})[handover_id] = delivery


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
        delivery = above.data.get(host.DELIVERIES, {}).pop(found[0], None) or deliver_now(above, *found)
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
    return reply_protocol.deliver(handover_id, *at.rest, way="call_subordinate", beside=beside)


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
            found = await asyncio.to_thread(reply_protocol.held_by, identifier, *at.rest)
        except HandoverError as error:
            if error.code == "append_failed":
                raise
            host.release(agent)
            host.tell(agent, "A handover was dropped", error.message)
            return
        if found.state in LOST:
            host.release(agent)
            host.tell(agent, f"{found.id} is closed ({found.state})", "Its specialist goes on without it.")
            return
        if agent.data.get(host.STATE) == SPOKEN_TO:
            agent.data.pop(host.STATE)
            await asyncio.to_thread(reply_protocol.interrupt, identifier, "the person wrote", *at.rest)
        specialist = reply_protocol.specialist_of(at.settings, found.receiver)
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
        data["exception"] = None  # else the host ends the whole line of agents up to the person (HOST fact 14)
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
        return await asyncio.to_thread(reply_protocol.close, at.caller.inside, "failed", why_, *at.rest)
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
        follows = f"{holder_name(above, at.settings)} has the task now" if above else "it is with you now"
    told = answer.summary.get("what_happened") or answer.summary.get("reason") or ", ".join(answer.summary.get("missing", ()))
    host.tell(agent, f"{agent.agent_name} handed back ({verdict}); {follows}", str(told))


async def handed_back(at: Desk, answer: Answer) -> str:
    """The note for the superior; where nobody loops over the legs, the next handover stands ready at its end."""
    above = host.superior(at.agent)
    if not answer.hand_to or (above is not None and above.data.get(host.IN_LOOP)):
        return answer.note
    try:
        leg = await asyncio.to_thread(reply_protocol.next_leg, at.caller.inside, *at.rest)
    except HandoverError as error:
        return moved_no_further(at.agent, answer, error).note
    return f"{answer.note}{handover_result.next_step(leg)}\n"


def specialist_prompt(agent: Any) -> str:
    """What only the holder of a handover reads in its system prompt; "" for others."""
    if host.binding(agent) is None:
        return ""
    return "\n".join(map(resources.text, ("specialist", "tool_handover_reply", "tool_request_full_history")))


async def unread(agent: Any) -> list[str]:
    """Notes of the agent's specialists that a stop or a restart cut off between their verdict and the end of their run."""
    notes = []
    for below, identifier in host.holders_below(agent):
        at = desk(below)
        found = await asyncio.to_thread(reply_protocol.held_by, identifier, *at.rest)
        answer = await asyncio.to_thread(reply_protocol.outcome_of, identifier, *at.rest) if found.state in UNREAD else None
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
        lost = [f"Cancelled: {identifier}, its specialist is gone; hand over again what is still wanted" for identifier in gone]
        text += "\n".join((*lost, *await asyncio.to_thread(standing, at)))
    return text


async def offers_again(agent: Any, extras: dict[str, Any]) -> None:
    """The same later in the run, where something was offered: what was started since is not offered any more."""
    if not extras.pop(OFFERS, ""):
        return
    with said_once(agent):
        if lines := await asyncio.to_thread(standing, desk(agent)):
            extras[OFFERS] = "\n".join(lines)


def standing(at: Desk) -> list[str]:
    return [line for place in places(at) for line in reply_protocol.standing(place.caller.project_root, *place.rest)]


def roster_lines(agent: Any) -> str:
    """The roster as the tool prompt shows it, for whom this agent may hand over to."""
    try:
        settings = host.settings_of(agent)
    except HandoverError as error:
        return f"(roster: {error.message})"
    return render.inert(settings.roster.lines(host.sender_of(agent)))

"""What the three tools do inside Agent Zero: hand over, answer, read more.

Disk work runs in a thread, because all chats share one event loop (HOST fact 17); no lock is held across an await.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ..arguments.handover import unwrapped
from ..flow import history, prepare, receive, result
from ..flow.answer import Answer
from ..flow.deliver import deliver
from ..flow.prepare import Prepared
from ..records import resources
from ..text import masking
from ..text.quote import inert
from ..values.errors import Code, HandoverError, RefusedError
from . import host
from .desk import (
    Desk,
    announce,
    at_root,
    desk,
    holder_name,
    moved_no_further,
    stash,
    sweep,
)
from .host import HandoverResponse


async def handover(agent: Any, tool: Any, args: Mapping[str, Any]) -> HandoverResponse:
    """The tool: prepare, and with `start` run the specialist and those it hands on to."""
    try:
        host.refuse_parallel(agent)
        at = desk(agent)
        host.check_refusals(host.root_context(agent), at.settings)
        await asyncio.to_thread(sweep, at)
        prepared = await asyncio.to_thread(prepare.prepare, arguments(agent, args), *at.rest)
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
    host.tell(
        agent,
        f"{prepared.plan.specialist.name} is prepared for: {prepared.packet.topic}",
        why(prepared),
    )
    return host.answered(result.message(prepared))


def why(prepared: Prepared) -> str:
    return prepared.packet.handover_reason or f"return when: {prepared.packet.return_condition}"


def refuse(agent: Any, error: HandoverError) -> HandoverResponse:
    """A refused handover, counted; one that stops the chain or the chat calls the person."""
    context = host.root_context(agent)
    kept = host.memory(context)
    kept["refusals"] += 1
    stopped = isinstance(error, RefusedError) and error.stops
    if stopped:
        host.call_person(
            agent, "Handovers are stopped", f"{error.message}. Your next message lets them go on."
        )
    elif error.code != "stopped" and kept["refusals"] == _most_refusals(agent):
        host.call_person(
            agent,
            "Handovers are stopped",
            f"{kept['refusals']} calls in a row were refused. Last: {error.message}",
        )
        return host.refused(
            error, "this was the last of the refusals allowed in a row: ask the person how to go on"
        )
    return host.refused(error)


def _most_refusals(agent: Any) -> int:
    try:
        return host.settings_of(agent).max_refusals_in_a_row
    except HandoverError:  # the saved settings are what was refused
        return int(resources.default_settings()["max_refusals_in_a_row"])


def arguments(agent: Any, args: Mapping[str, Any]) -> dict[str, Any]:
    """The call with paths as they can be opened. Inside a handover its own project counts, whatever the call says."""
    args = unwrapped(args)
    given = {**args, "artifacts": masking.map_text(args.get("artifacts"), host.real_path)}
    given["project_root"] = (
        None if host.binding(agent) else host.real_path(args.get("project_root"))
    )
    return given


async def start(at: Desk, tool: Any, prepared: Prepared) -> HandoverResponse:
    """Run the specialist, then whoever it hands on to (seed 004's chain), and bring the last note back."""
    legs: list[dict[str, Any]] = []
    leg = prepared
    while True:
        answer = await run_leg(at, tool, leg)
        legs.append(
            {
                "handover_id": leg.packet.identity.handover_id,
                "specialist": leg.plan.specialist.profile,
                **_said(answer),
            }
        )
        await tool.set_progress(answer.note)
        if not answer.hand_to:
            break
        try:
            leg = await asyncio.to_thread(
                receive.next_leg, leg.packet.identity.handover_id, *at.rest
            )
        except HandoverError as error:
            answer = moved_no_further(at.agent, answer, error)
            break
    await tool.set_progress(answer.note)
    reply = {**answer.summary, "legs": legs, "next_step": what_follows(answer)}
    failed: Code | None = "start_failed" if answer.summary.get("verdict") == "failed" else None
    return host.answered(result.message(prepared, reply), failed=failed)


def _said(answer: Answer) -> dict[str, Any]:
    return {name: answer.summary.get(name) for name in ("verdict", "outcome", "implicit")}


async def run_leg(at: Desk, tool: Any, prepared: Prepared) -> Answer:
    """One specialist's run from delivery to its answer. The person's intervention passes through."""
    identity, specialist = prepared.packet.identity, prepared.plan.specialist
    try:
        host.refuse_unknown_profile(at.agent, specialist.profile)
        delivery = await asyncio.to_thread(
            deliver, identity.handover_id, *at.rest, way="start", limits=prepared.plan.limits
        )
    except HandoverError as error:
        return await fail(at, prepared, str(error))
    announce(at, delivery)
    await tool.set_progress(f"{specialist.name} has the task: {prepared.packet.topic}")
    stash(at.agent, identity.handover_id, delivery)
    at.agent.data[host.IN_LOOP] = identity.handover_id
    reference = result.reference(identity.handover_id)
    try:
        goes_on = host.subordinate_holding(at.agent, delivery.goes_on)
        said, _ = await host.run_subordinate(
            at.agent, specialist.profile, reference, goes_on=goes_on
        )
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
    found = await asyncio.to_thread(receive.outcome_of, identifier, *at.rest)
    if found is None:
        found = await asyncio.to_thread(receive.close, identifier, "done", "", *at.rest, said=said)
    return found


async def fail(at: Desk, prepared: Prepared, why_: str) -> Answer:
    """The specialist did not start, or its run broke: the work is the caller's again."""
    answer = await asyncio.to_thread(
        receive.close, prepared.packet.identity.handover_id, "failed", why_, *at.rest
    )
    host.tell(
        at.agent,
        f"{prepared.plan.specialist.name} failed; {holder_name(at.agent, at.settings)} has the task now",
        why_,
    )
    return answer


def what_follows(answer: Answer) -> str:
    """What the orchestrator does after a hand-back."""
    verdict, identifier = answer.summary.get("verdict"), answer.summary.get("handover_id")
    if answer.stops:
        return "Orchestrator: ask the person how to go on; their next message lets handovers go on"
    if verdict == "clarify":
        return (
            f"Orchestrator: answer with handover_to_specialist(answers={identifier}, state={{field: value}}), asking the person"
            " only what you do not know"
        )
    if verdict in ("reject", "rejected"):
        return "Orchestrator: supply what is missing, choose another specialist, or do it yourself"
    if verdict in ("failed", "cancelled"):
        return "Orchestrator: tell the person, or hand over again"
    return "Orchestrator: use the note; read the briefing for the rest"


async def reply(agent: Any, args: Mapping[str, Any]) -> HandoverResponse:
    """The specialist's verdict. accept goes on working; the others end its run."""
    try:
        host.refuse_parallel(agent)
        if host.binding(agent) is None:
            raise RefusedError(
                "no handover is open for you", "answer with the response tool", "nothing_open"
            )
        at = desk(agent)
        args = unwrapped(args)
        given = {**args, "artifacts": masking.map_text(args.get("artifacts"), host.real_path)}
        answer = await asyncio.to_thread(receive.reply, given, *at.rest)
    except HandoverError as error:
        return host.refused(error)
    agent.data[host.STATE] = "accepted" if not answer.ends else "closed"
    return host.answered(answer.message, ends=answer.ends)


async def full_history(agent: Any, args: Mapping[str, Any]) -> HandoverResponse:
    """More of the conversation than the package holds, for a specialist that works on a handover."""
    if host.binding(agent) is None:
        return host.refused(
            RefusedError(
                "no handover is open for you",
                "this tool is for a specialist at work",
                "nothing_open",
            )
        )
    try:
        at = desk(agent)
        found = await asyncio.to_thread(
            history.full_history,
            args,
            agent.number,
            lambda scope: host.transcript(agent, scope, at.ports),
            *at.rest,
        )
    except HandoverError as error:
        return host.refused(error)
    return host.answered(found.text)


def roster_lines(agent: Any) -> str:
    """The roster as the tool prompt shows it, for whom this agent may hand over to."""
    try:
        settings = host.settings_of(agent)
    except HandoverError as error:
        return f"(roster: {error.message})"
    return inert(settings.roster.lines(host.sender_of(agent)))

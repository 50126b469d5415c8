"""`start=true`: run the specialist, then whoever it hands on to, and bring the last note back."""

from __future__ import annotations

from asyncio import to_thread
from typing import Any

from helpers.errors import InterventionException, RepairableException
from pydantic import JsonValue

from ..flow import close, deliver, onward, result, standing
from ..flow.answer import Answer
from ..flow.prepare import Prepared
from ..values.errors import Code, HandoverError
from ..values.events import UNKNOWN
from . import arrivals, hand_back, remote_legs, runs, voice
from .hand_back import IN_LOOP, RETURNED
from .seat import Seat
from .voice import HandoverResponse


async def start(seat: Seat, tool: Any, prepared: Prepared) -> HandoverResponse:
    """All legs, one after the other (seed 004's chain): a fresh agent at the same depth each."""
    legs: list[dict[str, JsonValue]] = []
    leg = prepared
    while True:
        answer = await run_leg(seat, tool, leg)
        legs.append(_told(leg, answer))
        await tool.set_progress(answer.note)
        if not answer.hand_to:
            break
        try:
            leg = await to_thread(onward.next_leg, leg.packet.identity.handover_id, seat.call)
        except HandoverError as error:
            answer = hand_back.moved_no_further(seat.agent, answer, error)
            await tool.set_progress(answer.note)
            break
    reply: dict[str, JsonValue] = {
        **answer.summary,
        "legs": list(legs),
        "next_step": what_follows(answer),
    }
    failed: Code | None = "start_failed" if answer.summary.get("verdict") == "failed" else None
    return voice.answered(result.message(prepared, reply), failed=failed)


def _told(leg: Prepared, answer: Answer) -> dict[str, JsonValue]:
    identity = leg.packet.identity
    told = {name: answer.summary.get(name) for name in ("verdict", "outcome", "implicit")}
    if leg.specialist.remote:
        told["on"] = leg.specialist.remote.origin
    return {"handover_id": identity.handover_id, "specialist": identity.receiver, **told}


async def run_leg(seat: Seat, tool: Any, prepared: Prepared) -> Answer:
    """One specialist's run from delivery to its answer. The person's intervention passes."""
    agent, identity = seat.agent, prepared.packet.identity
    specialist = prepared.specialist
    if specialist.remote:
        return await remote_legs.run_leg(seat, tool, prepared, specialist.remote)
    try:
        runs.refuse_forbidden(agent, "call_subordinate")
        runs.refuse_unknown_profile(agent, specialist.profile)
        delivery = await to_thread(deliver.deliver, identity.handover_id, seat.call, way="start")
        goes_on = await arrivals.goes_on_with(seat, delivery)
    except HandoverError as error:
        return await fail(seat, prepared, str(error))
    arrivals.announce(agent, delivery)
    await tool.set_progress(f"{specialist.name} has the task: {prepared.packet.topic}")
    reference = result.reference(identity.handover_id)
    agent.data[IN_LOOP] = identity.handover_id
    try:
        said = await runs.run_subordinate(
            agent,
            specialist.profile,
            reference,
            name=arrivals.chat_name(delivery),
            goes_on=goes_on,
        )
    except InterventionException:
        raise
    except Exception as error:
        if isinstance(error, RepairableException) and await _is_interrupted(seat, prepared):
            raise  # the person stopped the specialist alone (newest hosts): it can go on
        return await fail(seat, prepared, f"{type(error).__name__}: {error}")
    finally:
        agent.data.pop(IN_LOOP, None)
        returned: Answer | None = agent.data.pop(RETURNED, None)
    if returned:
        return returned
    try:
        return await hand_back.came_back(seat, identity.handover_id, said)
    except HandoverError as error:
        return _not_recorded(identity.handover_id, said, error)


async def _is_interrupted(seat: Seat, prepared: Prepared) -> bool:
    handover_id = prepared.packet.identity.handover_id
    return (await to_thread(standing.held_by, handover_id, seat.call)).state == "interrupted"


def _not_recorded(handover_id: str, said: str, error: HandoverError) -> Answer:
    summary: dict[str, JsonValue] = {
        "verdict": "done",
        "outcome": UNKNOWN,
        "implicit": True,
        "handover_id": handover_id,
        "what_happened": said,
        "not_recorded": str(error),
    }
    return Answer(said, ends=True, note=f"{said}\nNot recorded: {error}\n", summary=summary)


async def fail(seat: Seat, prepared: Prepared, why: str) -> Answer:
    """The specialist did not start, or its run broke: the work is the caller's again."""
    handover_id = prepared.packet.identity.handover_id
    answer = await to_thread(close.close, handover_id, "failed", why, seat.call)
    failed = prepared.specialist.name
    holder = hand_back.holder_name(seat.agent, seat.call.settings)
    voice.tell(seat.agent, f"{failed} failed; {holder} has the task now", why)
    return answer


def what_follows(answer: Answer) -> str:
    """What the orchestrator does after a hand-back."""
    verdict, handover_id = answer.summary.get("verdict"), answer.summary.get("handover_id")
    if answer.stops:
        return "Orchestrator: ask the person how to go on; their next message lets handovers go on"
    if verdict == "clarify":
        call = f"handover_to_specialist(answers={handover_id}, state={{field: value}})"
        return f"Orchestrator: answer with {call}, asking the person only what you do not know"
    if answer.summary.get("outcome") == UNKNOWN:
        return (
            "Orchestrator: it ended without a verdict; look at what is there before you rely on it"
        )
    if verdict in ("reject", "rejected"):
        return "Orchestrator: supply what is missing, choose another specialist, or do it yourself"
    if verdict in ("failed", "cancelled"):
        return "Orchestrator: tell the person, or hand over again"
    return "Orchestrator: use the note; read the briefing for the rest"

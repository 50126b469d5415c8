"""The way back inside Agent Zero: the note for the superior, and who has the task then."""

from __future__ import annotations

import dataclasses
from asyncio import to_thread

from agent import Agent

from ..flow import close, onward, result, standing
from ..flow.answer import Answer
from ..values.errors import HandoverError, RefusedError
from ..values.settings import Settings
from . import bindings, stops, voice
from .agents import sender_of, superior
from .bindings import holders_below
from .seat import Seat, dress_as_recorded, seat_of

# Closed by others; any other verdict is the holder's own until its run ends.
LOST = ("cancelled", "failed", "superseded")
# An agent that is bound to one of these was stopped before its run ended.
UNREAD = ("done", "rejected", "escalated")

IN_LOOP = "_so_in_loop"  # on an agent: the handover whose legs its own call runs
RETURNED = "_so_returned"  # on an agent: what that came to, as its specialist's run told it


async def came_back(seat: Seat, handover_id: str, said: str) -> Answer:
    """What the handover came to; one still open when its run is over ends as done, as `said`."""
    answer = await to_thread(close.outcome_of, handover_id, seat.call)
    if answer is None:
        answer = await to_thread(close.close, handover_id, "done", "", seat.call, said=said)
    return answer


async def hand_back(seat: Seat, answer: Answer) -> str:
    """The note for the superior, who also sees it as a row; what waits for them goes up too."""
    agent, above = seat.agent, superior(seat.agent)
    note = await _note(seat, answer)
    if above:
        await voice.keep_note(above, note)
        voice.pass_on_message(agent, above)
        if above.data.get(IN_LOOP) == seat.inside:
            above.data[RETURNED] = answer
        with voice.said_once(above):
            await _restore_persona(above)
    tell_back(seat, answer)
    return note


async def _restore_persona(agent: Agent) -> None:
    """A restart took it off, and this agent's own run has not begun yet."""
    if bindings.binding(agent):
        seat = seat_of(agent)
        dress_as_recorded(seat, await to_thread(standing.held_by, seat.inside, seat.call))


async def _note(seat: Seat, answer: Answer) -> str:
    """Where nobody loops over the legs, the next handover stands ready at its end."""
    above = superior(seat.agent)
    if not answer.hand_to or (above and above.data.get(IN_LOOP)):
        return answer.note
    try:
        leg = await to_thread(onward.next_leg, seat.inside, seat.call)
    except HandoverError as error:
        return moved_no_further(seat.agent, answer, error).note
    return f"{answer.note}{result.next_step(leg)}\n"


def moved_no_further(agent: Agent, answer: Answer, error: HandoverError) -> Answer:
    """The work cannot move on by itself: its last note comes back, with the reason."""
    why = ""
    if stops.hear(agent, error):
        assert isinstance(error, RefusedError)
        why = error.stops
    elif error.code == "stopped":
        why = error.message
    return dataclasses.replace(
        answer,
        note=f"{answer.note}Not handed on to {answer.hand_to}: {error}\n",
        summary={**answer.summary, "not_handed_on": str(error)},
        stops=why or answer.stops,
    )


def tell_back(seat: Seat, answer: Answer) -> None:
    """A row of who has the task now; a specialist that needs the person calls them."""
    agent, above = seat.agent, superior(seat.agent)
    agent.data[bindings.TOLD] = seat.inside
    summary, verdict = answer.summary, answer.summary.get("verdict")
    if answer.stops:
        voice.call_person(agent, "A specialist needs you", f"{agent.agent_name}: {answer.stops}")
    follows = "it is with you now"
    if answer.hand_to:
        follows = f"it asks for {answer.hand_to}"
    elif above:
        follows = f"{holder_name(above, seat.call.settings)} has the task now"
    what = f" handed back ({verdict})"
    if verdict in LOST:
        what = f"'s handover was closed as {verdict}"
    missing = summary.get("missing")
    asked = ", ".join(map(str, missing)) if isinstance(missing, list) else ""
    content = summary.get("what_happened") or summary.get("reason") or asked
    voice.tell(above or agent, f"{agent.agent_name}{what}; {follows}", str(content))


def holder_name(agent: Agent, settings: Settings) -> str:
    """The agent as a person knows it: its persona while it holds a handover, or its entry."""
    if bindings.binding(agent):
        return str(agent.agent_name)
    return standing.specialist_of(settings, sender_of(agent)).name


async def unread_notes(agent: Agent) -> list[str]:
    """Notes that a stop or a restart cut off between the verdict and the end of the run."""
    notes = []
    for below, held in holders_below(agent):
        if below.context is not agent.context and below.context.streaming_agent:
            continue  # the person started it in its own chat, and it has not ended yet
        with voice.said_once(below):
            seat = seat_of(below)
            handover = await to_thread(standing.held_by, held.handover_id, seat.call)
            if handover.state not in UNREAD:
                continue
            dress_as_recorded(seat, handover)
            answer = await came_back(seat, held.handover_id, "")
            notes.append(await _note(seat, answer))
            if below.data.get(bindings.TOLD) != held.handover_id:
                tell_back(seat, answer)
            bindings.release(below)
    return notes

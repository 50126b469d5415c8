"""What a step inside Agent Zero needs to know of its agent, and how the person is told what happened."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..flow import receive
from ..flow import standing as flow_standing
from ..flow.answer import Answer
from ..flow.deliver import Delivery
from ..text.quote import one_line
from ..values.call import Caller, Ports
from ..values.errors import HandoverError, RefusedError
from ..values.settings import Settings
from . import host


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
            flow_standing.held_by(handover_id, *place.rest)
            return place
    shown = one_line(handover_id, 40)
    raise RefusedError(
        f"no handover {shown} is recorded in this chat",
        "copy the reference from next_step",
        "unknown_reference",
    )


@contextmanager
def said_once(agent: Any) -> Iterator[None]:
    """Around an extension: what it cannot do is said in the chat, once, and stops nothing; a raise would end the chat."""
    try:
        yield
    except HandoverError as error:
        host.complain(agent, error)


def sweep(at: Desk) -> tuple[str, ...]:
    """Before a chain is used again: what no living agent holds is closed as cancelled. Returns the ids."""
    agents = list(host.agents_of(host.root_context(at.agent)))
    alive = {held["handover_id"] for agent in agents if (held := host.binding(agent))}
    alive.update(
        *(agent.data.get(host.DELIVERIES, ()) for agent in agents)
    )  # delivered, and about to be taken
    return tuple(
        gone
        for place in places(at)
        for gone in receive.sweep(alive, place.caller.project_root, *place.rest)
    )


def moved_no_further(agent: Any, answer: Answer, error: HandoverError) -> Answer:
    """The work cannot move on by itself: its last note comes back, with the reason; a stop calls the person."""
    if isinstance(error, RefusedError) and error.stops:
        host.call_person(
            agent, "Handovers are stopped", f"{error.message}. Your next message lets them go on."
        )
    note = f"{answer.note}Not handed on to {answer.hand_to}: {error}\n"
    stops = (
        error.stops or (error.message if error.code == "stopped" else "")
        if isinstance(error, RefusedError)
        else ""
    )
    return dataclasses.replace(
        answer,
        note=note,
        summary={**answer.summary, "not_handed_on": str(error)},
        stops=stops or answer.stops,
    )


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
    return (
        str(agent.agent_name)
        if host.binding(agent)
        else flow_standing.specialist_of(settings, host.sender_of(agent)).name
    )


def stash(agent: Any, handover_id: str, delivery: Delivery) -> None:
    agent.data.setdefault(host.DELIVERIES, {})[handover_id] = delivery


def standing(at: Desk) -> list[str]:
    return [
        line
        for place in places(at)
        for line in flow_standing.standing(place.caller.project_root, *place.rest)
    ]

"""An agent and the call it makes; and in which folders its chat hands over."""

from __future__ import annotations

import dataclasses
import os

from agent import Agent

from ..chain.chain import Handover
from ..flow import close, standing
from ..records.local import local_ports
from ..text.quote import one_line
from ..values.call import Call, Caller, Ports
from ..values.errors import RecordError, RefusedError
from ..values.settings import Settings
from . import agents, bindings, roots, stops
from .bindings import holding_of, living
from .conversation import log_path, mask_of, masked_turns
from .memory import memory
from .settings import settings_of
from .stops import ChatRounds
from .voice import LIFTED, STOPPED, call_person, said_once


@dataclasses.dataclass(frozen=True)
class Seat:
    """An agent, and the call it makes from where it is: chat, handover, project, settings."""

    agent: Agent
    call: Call

    @property
    def inside(self) -> str:
        """The handover the agent works in, or ""."""
        return self.call.caller.inside

    @property
    def root(self) -> str:
        return self.call.caller.project_root

    def at(self, root: str) -> Seat:
        return Seat(self.agent, self.call.at(root))

    def not_waiting(self) -> Seat:
        """For the host's event loop: a lock that another holds is not waited for."""
        settings = self.call.settings.model_copy(update={"lock_timeout_s": 0.0})
        return Seat(self.agent, dataclasses.replace(self.call, settings=settings))


def seat_of(agent: Agent) -> Seat:
    """Raises SettingsError."""
    ports = dataclasses.replace(
        local_ports(mask_of(agent)),
        rounds=ChatRounds(agents.root_context(agent)),
        call_person=lambda why: call_person(agent, STOPPED, f"{why} {LIFTED}"),
    )
    settings = settings_of(agent)
    return Seat(agent, Call(caller_of(agent, ports, settings), settings, ports))


def caller_of(agent: Agent, ports: Ports, settings: Settings) -> Caller:
    """The agent as a caller: in its handover when it holds one, else orchestrator of its chat."""
    context = agents.root_context(agent)
    held = holding_of(agent)
    kept = memory(context)
    person = kept["person"]
    return Caller(
        chat_id=str(context.id),
        sender=agents.sender_of(agent),
        inside=held.handover_id if held else "",
        project_root=held.project_root if held else agents.project_root(context),
        person_count=person["count"],
        person_in_children=kept["in_children"],
        person_messages=tuple(person["last"]),
        person_asked=tuple(kept["asked"]),
        log_path=str(log_path(context)),
        outside=roots.outside(context, settings),
        turns=lambda count: masked_turns(agent, count, ports.mask),
        tools=lambda: agents.tool_names(agent),
    )


def places(seat: Seat) -> tuple[Seat, ...]:
    """The seat in each folder this chat hands over in; who holds a handover knows its alone."""
    if seat.inside:
        return (seat,)
    roots = memory(agents.root_context(seat.agent))["roots"]
    return tuple(seat.at(root) for root in roots if os.path.lexists(root))


def recorded(agent: Agent, handover_id: str) -> tuple[Seat, Handover]:
    """The seat in the folder that records a handover of this chat, and the handover.

    Raises RefusedError (unknown_reference), which names what could not be read.
    """
    seat = seat_of(agent)
    hints = ["copy the reference from next_step"]
    for place in (*places(seat), seat):
        if not place.root:
            continue
        try:
            return place, standing.held_by(handover_id, place.call)
        except RefusedError as error:
            hints.append(error.hint)
        except RecordError as error:
            hints.append(error.message)
    message = f"no handover {one_line(handover_id, 40)} is recorded in this chat"
    hint = "; ".join(hint for hint in dict.fromkeys(hints) if hint)
    raise RefusedError(message, hint, "unknown_reference")


def dress_as_recorded(seat: Seat, handover: Handover) -> None:
    """The seat's agent with profile and persona of who works in the handover."""
    specialist = standing.specialist_of(seat.call.settings, handover.receiver)
    bindings.dress(seat.agent, specialist.profile, specialist.name)


def sweep(seat: Seat) -> tuple[str, ...]:
    """Before a chain is used again: what no living agent holds is closed as cancelled; the ids."""
    unrecorded = memory(agents.root_context(seat.agent))["unrecorded"]
    alive = living(seat.agent) | {entry["handover_id"] for entry in unrecorded}
    closed: list[str] = []
    for place in places(seat):
        with said_once(seat.agent, place.root):
            closed.extend(close.sweep(alive, place.call))
    return tuple(closed)


def standing_lines(seat: Seat) -> list[str]:
    """What waits for the agent in this chat, a line each."""
    lines = [] if seat.inside else stops.lines(seat.agent)
    for place in places(seat):
        with said_once(seat.agent, place.root):
            lines.extend(standing.standing(place.call))
    return lines

"""Work from another installation inside Agent Zero: its message binds the chat that the host made for it."""

from __future__ import annotations

from asyncio import to_thread
from typing import Any

from agent import Agent, AgentContext

from helpers import projects

from ..flow import deliver, received
from ..records import resources
from ..records.key import key_folder
from ..records.taken import take_once
from ..text.quote import one_line
from ..values.errors import HandoverError, RefusedError
from ..values.parcel import Signed, signed_in
from . import bindings, runs
from .agents import root_context
from .seat import Seat, seat_of
from .settings import TERMS

ANSWER = "_so_refused_package"  # in a chat's data: what is answered instead of a run


def taken(agent: Agent, text: str) -> str | None:
    """The package as the specialist here reads it, None for a message without one.

    One that is not taken is answered without a run.
    """
    context = root_context(agent)
    try:
        signed = signed_in(text)
        return None if signed is None else _take(agent, context, signed)
    except HandoverError as error:
        context.data[ANSWER] = received.refusal(error)
        return None


def _take(agent: Agent, context: AgentContext, signed: Signed) -> str:
    """On the event loop, as the host adds the message there: nothing waits for a lock."""
    parcel = signed.parcel
    sender = received.check_parcel(signed, seat_of(agent).call)
    receiver = parcel.packet.identity.receiver
    known = [project["name"] for project in projects.get_active_projects_list()]
    if sender.project not in known:
        message = f"the project for {sender.name} is not here: {one_line(sender.project, 60)}"
        raise RefusedError(message, "", "start_failed")
    projects.activate_project(context.id, sender.project)
    runs.refuse_unknown_profile(agent, receiver)
    context.data[TERMS] = (parcel.terms, receiver)
    call = seat_of(agent).not_waiting().call
    prepared = received.prepare_received(parcel, sender, call, _take_once)
    handover_id = prepared.packet.identity.handover_id
    delivery = deliver.deliver(handover_id, call, way="a2a")
    bindings.bind(agent, handover_id, delivery.project_root)
    bindings.dress(agent, delivery.handover.receiver, delivery.title)
    return delivery.text


def _take_once(name: str) -> bool:
    return take_once(key_folder(resources.ROOT) / "taken", name)


def answered(agent: Agent, data: dict[str, Any]) -> None:
    """A package that was not taken is answered without a model."""
    answer = root_context(agent).data.pop(ANSWER, None)
    if answer is not None:
        data["result"] = answer


def came_from_elsewhere(agent: Agent) -> bool:
    """Whether the agent holds what another installation handed over: it answers there, not here."""
    return agent.number == 0 and TERMS in root_context(agent).data


async def reply(seat: Seat) -> str:
    return await to_thread(received.reply_of, seat.inside, seat.call)

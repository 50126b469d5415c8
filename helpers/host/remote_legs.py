"""A leg that runs on another machine: started, watched, cancelled, and fetched after a restart."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from asyncio import to_thread
from datetime import datetime
from typing import Any

from agent import Agent, AgentContext
from helpers.errors import InterventionException

from helpers import secrets

from ..chain.chain import Handover
from ..flow import close, receive, remote, standing
from ..flow.answer import Answer
from ..flow.prepare import Prepared
from ..remote.client import Client
from ..remote.protocol import Task
from ..text.quote import one_line
from ..values.errors import HandoverError, RemoteError
from ..values.events import Delivered
from ..values.remote import Remote
from ..values.roster import Specialist
from . import hand_back, unrecorded, voice
from .agents import agents_of
from .bindings import Binding
from .seat import Seat, places

RUNNING = "_so_remote"  # on an agent: what its own call waits for on another machine
_LOOK_S = 10.0  # before a prompt, for all that is under way
_MOST_PROGRESS_CHARS = 200


@dataclasses.dataclass
class Running:
    """A leg that is waited for; `task` is "" until it exists."""

    handover_id: str
    project_root: str
    there: Remote
    task: str = ""


async def run_leg(seat: Seat, tool: Any, prepared: Prepared, there: Remote) -> Answer:
    """From the first message to the answer. The person's intervention passes: the work goes on
    there, and the same call waits for it again."""
    handover_id, within_s = prepared.packet.identity.handover_id, there.timeout_minutes * 60
    running = Running(handover_id, seat.root, there)
    seat.agent.data[RUNNING] = running
    try:
        async with _client(there) as client, asyncio.timeout(within_s):
            leg = _Leg(seat, tool, prepared.specialist, there, client, running)
            answer = await leg.run()
    except InterventionException:
        await to_thread(receive.interrupt, handover_id, "the person wrote", seat.call)
        raise
    except TimeoutError:
        why = f"{there.origin} did not finish within {there.timeout_minutes:g} minutes"
        why += await cancelled_there(running)
        answer = await to_thread(close.close, handover_id, "failed", why, seat.call)
    except HandoverError as error:
        why = error.message
        if not isinstance(error, RemoteError):
            why += await cancelled_there(running)
        answer = await to_thread(close.close, handover_id, "failed", why, seat.call)
    finally:
        seat.agent.data.pop(RUNNING, None)
    tell_back(seat, prepared.specialist, there, answer)
    return answer


@dataclasses.dataclass(frozen=True)
class _Leg:
    """One specialist's run on another machine."""

    seat: Seat
    tool: Any
    specialist: Specialist
    there: Remote
    client: Client
    running: Running

    async def run(self) -> Answer:
        """Until it is over; what it asks for and its package holds is sent at once."""
        task = await self._begun()
        while True:
            task = await self.client.watch(task, self._tell)
            answer = await to_thread(
                remote.came_to, self.running.handover_id, task, self.seat.call, self.there
            )
            if answer.ends:
                return answer
            asked = task.id if task.state == "input-required" else ""
            task = await self._send(answer.message, asked, task.context)

    async def _begun(self) -> Task:
        """The task that exists already, or a new one, recorded as delivered."""
        call, handover_id = self.seat.call, self.running.handover_id
        handover = await to_thread(standing.held_by, handover_id, call)
        if handover.is_open and (known := standing.task_of(handover)):
            self.running.task = known.task or ""
            return await self.client.task(self.running.task)
        parcel = await to_thread(remote.outgoing, handover_id, call, self.there)
        asked = await to_thread(remote.asked_there, handover, self.there, call)
        task = await self._first(parcel.text, asked)
        await to_thread(remote.sent, parcel, task, call)
        where = f"{self.specialist.name} has the task now on {self.there.origin}"
        voice.tell(self.seat.agent, f"{where}: {handover.packet.topic}")
        return task

    async def _first(self, text: str, asked: Delivered | None) -> Task:
        """An answer goes on in the task that asked, where that still waits; else in its context."""
        if asked is None:
            return await self._send(text, "", "")
        waits = await self._waits(asked.task or "")
        return await self._send(text, asked.task or "" if waits else "", asked.context or "")

    async def _waits(self, task_id: str) -> bool:
        try:
            return (await self.client.task(task_id)).state == "input-required"
        except RemoteError as error:
            if error.gone:
                return False
            raise

    async def _send(self, text: str, task_id: str, context: str) -> Task:
        within_s = self.there.timeout_minutes * 60
        task = await self.client.send(text, task=task_id, context=context, within_s=within_s)
        if task.works and not task.id:
            raise RemoteError(f"{self.there.origin} works in a task without an id")
        self.running.task = task.id
        return task

    async def _tell(self, task: Task) -> None:
        """After each look: the person's word comes first; who works has accepted."""
        agent, handover_id = self.seat.agent, self.running.handover_id
        await agent.handle_intervention()
        await to_thread(remote.noticed, handover_id, task.state, self.seat.call)
        words = self.seat.call.ports.mask(one_line(task.status, _MOST_PROGRESS_CHARS))
        told = f"{self.specialist.name} on {self.there.origin}: {task.state}"
        await voice.progress(self.tool, f"{told}, {words}" if words else told)


def _client(there: Remote) -> Client:
    """With the token from the installation's own secrets. Raises RemoteError."""
    try:
        token = secrets.get_default_secrets_manager().replace_placeholders(there.token)
    except Exception as error:
        message = f"the token {there.token} cannot be read ({type(error).__name__})"
        raise RemoteError(message, "add that secret in the host's settings") from error
    return Client(there, str(token).strip())


def tell_back(seat: Seat, specialist: Specialist, there: Remote, answer: Answer) -> None:
    """A row of who has the task now; who needs the person calls them."""
    verdict = str(answer.summary.get("verdict"))
    if answer.stops:
        voice.call_person(
            seat.agent, "A specialist needs you", f"{specialist.name}: {answer.stops}"
        )
    holder = hand_back.holder_name(seat.agent, seat.call.settings)
    follows = f"{holder} has the task now"
    if answer.hand_to:
        follows = f"it asks for {answer.hand_to}"
    content = answer.summary.get("what_happened") or answer.summary.get("reason") or ""
    heading = f"{specialist.name} on {there.origin}: {verdict}; {follows}"
    voice.tell(seat.agent, heading, str(content))


async def cancelled_there(running: Running) -> str:
    """Cancel the task on the other machine; what went wrong with that, in words, else ""."""
    if not running.task:
        return ""
    try:
        async with _client(running.there) as client:
            await client.cancel(running.task)
    except RemoteError as error:
        return f"; its task could not be cancelled there: {error.message}"
    return ""


def stopped(context: AgentContext, why: str) -> None:
    """The chat's task is killed: what its agents wait for elsewhere is cancelled there, in a thread,
    and closed here."""
    for agent in agents_of(context):
        running: Running | None = agent.data.pop(RUNNING, None)
        if running is not None:
            threading.Thread(target=_stop, args=(agent, running, why), daemon=True).start()


def _stop(agent: Agent, running: Running, why: str) -> None:
    why += asyncio.run(cancelled_there(running))
    held = Binding(running.handover_id, running.project_root)
    unrecorded.record(agent, held, "cancelled", why)


async def fetched(seat: Seat) -> list[str]:
    """The notes of what came to an end on other machines while nobody here waited for it.

    What cannot be reached now stays open, until its time is over.
    """
    notes: list[str] = []
    for place in places(seat):
        with voice.said_once(seat.agent, place.root):
            for handover in await to_thread(remote.under_way, place.call):
                note = await _fetched(place, handover)
                if note:
                    notes.append(note)
    return notes


async def _fetched(seat: Seat, handover: Handover) -> str:
    delivered = standing.task_of(handover)
    assert delivered is not None
    specialist = standing.specialist_of(seat.call.settings, handover.receiver)
    there = specialist.remote
    if there is None or there.origin != delivered.remote:
        why = f"the roster no longer names {delivered.remote} for {handover.receiver}"
        return await _failed(seat, handover, why)
    try:
        async with asyncio.timeout(_LOOK_S), _client(there) as client:
            task = await client.task(delivered.task or "")
    except (RemoteError, TimeoutError) as error:
        gone = isinstance(error, RemoteError) and error.gone
        if gone or _is_over(seat, handover, there):
            return await _failed(seat, handover, str(error) or "it did not answer in time")
        return ""
    if task.works:
        return ""
    answer = await to_thread(remote.came_to, handover.id, task, seat.call, there)
    tell_back(seat, specialist, there, answer)
    return answer.note


async def _failed(seat: Seat, handover: Handover, why: str) -> str:
    answer = await to_thread(close.close, handover.id, "failed", why, seat.call)
    return answer.note


def _is_over(seat: Seat, handover: Handover, there: Remote) -> bool:
    event = handover.last_event(Delivered)
    assert event is not None
    passed = seat.call.ports.clock() - datetime.fromisoformat(event.time)
    return passed.total_seconds() > there.timeout_minutes * 60

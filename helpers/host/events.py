"""What the extensions do at the host's own moments: a message, a prompt, a tool, a run's end."""

from __future__ import annotations

from asyncio import to_thread
from typing import Any

from agent import Agent, AgentContext, AgentContextType
from helpers.errors import InterventionException

from ..chain.chain import Handover
from ..flow import close, receive, standing
from ..flow.answer import Answer
from ..history.heard import CHAT, CHILD
from ..text.file_tree import without_records
from ..values.errors import HandoverError
from . import (
    arrivals,
    bindings,
    conversation,
    hand_back,
    memory,
    permissions,
    received,
    remote_legs,
    stops,
    unrecorded,
    voice,
)
from .agents import root_context, superior
from .bindings import SPOKEN_TO, STATE, binding, holders_of
from .seat import Seat, dress_as_recorded, seat_of, standing_lines, sweep
from .voice import said_once

OFFERS = "handovers"  # the name of what is offered, among the extras of a prompt
FILES = "project_file_structure"  # the host's name for the files it shows, there too
NUDGED = "_so_nudged"  # in a chat's data: the next message is not the person's
NEEDED = {
    "request_full_history": "reason",
    "handover_to_specialist": "topic",
    "handover_reply": "verdict",
}
KEPT_AFTER = ("clarify",)  # a specialist that asked is asked back: it keeps its handover


def person_wrote(context: AgentContext, message: Any) -> None:
    """The person's own message in the chat they see: it lifts stops; a nudge does not.

    The host's temporary chats for A2A and MCP take a program's message the same way (HOST N13).
    """
    context.data[arrivals.SPOKEN] = True
    if context.type == AgentContextType.BACKGROUND:
        return
    text = str(getattr(message, "message", "") or "")
    nudged_on = context.data.pop(NUDGED, False)
    if nudged_on or not text.strip():
        return
    mask = conversation.mask_of(context.agent0)
    if context.get_output_data("parent_context_id"):
        root = root_context(context.agent0)
        memory.memory(root)["in_children"] += 1
        conversation.person_typed(root, text, CHILD, mask)
        return
    asked = conversation.told_last(context.agent0)
    memory.remember_message(context, text, asked, mask)
    conversation.person_typed(context, text, CHAT, mask)
    for agent, held in holders_of(context):
        if agent.context is context:
            continue
        with said_once(agent):
            seat = seat_of(agent)
            handover = standing.held_by(held.handover_id, seat.call)
            if handover.is_open:
                dress_as_recorded(seat, handover)
                place = f"It works in its own chat, {agent.context.id}."
                voice.tell(agent, f"{agent.agent_name} holds the task now", place)


def nudged(context: AgentContext) -> None:
    context.data[NUDGED] = True


def stopped(context: AgentContext, why: str) -> None:
    """The chat's task is killed: whoever works is interrupted, and may go on or be gone."""
    if not context.is_running():
        return
    remote_legs.stopped(context, why)
    for agent, held in holders_of(context):
        unrecorded.record(agent, held, "interrupted", why)
        agent.data.pop(STATE, None)


def cleared(context: AgentContext, why: str) -> None:
    """The chat is reset: its agents are gone, and with them their handovers and words."""
    for agent, held in holders_of(context):
        bindings.release(agent)  # first, so that a run that still goes on does not reopen it
        unrecorded.record(agent, held, "cancelled", why)
    conversation.forget_messages(context)


def removed(chat_id: str) -> None:
    """A chat is removed, by the scheduler without a reset before."""
    context = AgentContext.get(chat_id)
    if context:
        cleared(context, "the chat was removed")
        unrecorded.catch_up_behind(context)


def fill_empty_args(data: dict[str, Any]) -> None:
    """The host refuses an empty `tool_args` before a tool is reached; ours say what they need."""
    for request in (*data.get("args", ()), *data.get("kwargs", {}).values()):
        if isinstance(request, dict):
            needed = NEEDED.get(str(request.get("tool_name")))
            if needed and request.get("tool_args") in (None, {}):
                request["tool_args"] = {needed: ""}


async def before_tool(agent: Agent, name: str, args: dict[str, Any]) -> None:
    """A specialist that works has accepted; what is not its to use only answers; a reference gets
    the right specialist."""
    held = binding(agent)
    if held:
        bindings.redress(agent)
        if name != "handover_reply" and agent.data.get(STATE) != "accepted":
            await _touched(agent, held.handover_id)
    if not permissions.may_run(agent, name, args):
        return
    if name == "call_subordinate":
        await arrivals.route(agent, args)
    elif name == "parallel":
        await arrivals.route_in_parallel(agent, args)


def to_working_specialist(context: AgentContext, message: Any) -> Any:
    """The person writes in the chat of a specialist that works in its superior's run (2.x).

    It reads the message like one in the chat the person sees; the host would start a second run of
    it. Returns the task that goes on, None where the message is left to the host.
    """
    agent = context.streaming_agent
    if agent is None or context.is_running() or binding(agent) is None:
        return None
    root = root_context(agent)
    if root is context or not root.is_running():
        return None
    agent.intervention = message
    return root.task


async def _touched(agent: Agent, handover_id: str) -> None:
    """The record learns that its specialist works; what goes wrong stops nothing."""
    try:
        agent.data[STATE] = await to_thread(receive.touch, handover_id, seat_of(agent).call)
    except HandoverError as error:
        if not stops.hear(agent, error):
            voice.complain(agent, error)


async def restore(agent: Agent, *, turn: int | None = None) -> None:
    """Before each prompt: profile and persona of who holds a handover; a closed one is let go.

    What cannot be read now is not gone: its specialist keeps it. Before its first `turn` the chat
    is written, because the host does so only after it: a specialist that has the work must not be
    gone when the host dies before. Of a run inside another chat's the host saves no turn at all.
    """
    held = binding(agent)
    await permissions.refresh(agent)
    if held is None:
        return
    bindings.redress(agent)
    with said_once(agent):
        seat = seat_of(agent)
        handover = await to_thread(_as_recorded, seat)
        if handover.state in hand_back.LOST:
            bindings.release(agent)
            heading = f"{handover.id} is closed ({handover.state})"
            voice.tell(agent, heading, "Its specialist goes on without it.")
            return
        if agent.data.get(STATE) == SPOKEN_TO:
            agent.data.pop(STATE)
            await to_thread(receive.interrupt, handover.id, "the person wrote", seat.call)
        dress_as_recorded(seat, handover)
        if turn == 0 or (turn and not agent.context.is_running()):
            memory.save_chat(agent)


def _as_recorded(seat: Seat) -> Handover:
    unrecorded.catch_up(seat)
    return standing.held_by(seat.inside, seat.call)


async def ended(agent: Agent, data: dict[str, Any]) -> None:
    """A specialist's run is over: its handover is closed if it still is open.

    The note becomes its superior's result; an exception would end all agents up to the person
    (HOST fact 14).
    """
    held, error, said = binding(agent), data.get("exception"), data.get("result")
    if held is None or isinstance(error, InterventionException):
        return
    kind: memory.Kind = "done"
    why = ""
    if isinstance(error, BaseException):
        kind, why = "failed", f"{type(error).__name__}: {error}"
    text = said if isinstance(said, str) else ""
    try:
        seat = seat_of(agent)
        answer = await _outcome(seat, kind, why, text)
    except HandoverError as refusal:
        voice.complain(agent, refusal)
        unrecorded.remember_end(agent, held, kind, why, text)
        bindings.release(agent)
        return
    data["exception"] = None
    if received.came_from_elsewhere(agent):
        data["result"] = await received.reply(seat)
        bindings.release(agent)
        return
    data["result"] = await hand_back.hand_back(seat, answer)
    if answer.summary.get("verdict") in KEPT_AFTER or _goes_to_nobody(agent):
        bindings.undress(agent)
    else:
        bindings.release(agent)


def _goes_to_nobody(agent: Agent) -> bool:
    """A specialist that ran in its own chat after a restart (2.x): the host saves no superior.

    It keeps its binding, so that its superior's next run finds the note.
    """
    return agent.data.get(Agent.DATA_NAME_SUPERIOR) is None


async def _outcome(seat: Seat, kind: memory.Kind, why: str, said: str) -> Answer:
    if kind == "failed":
        return await to_thread(close.close, seat.inside, kind, why, seat.call)
    verdict: Answer | None = seat.agent.data.pop(bindings.VERDICT, None)
    if verdict and seat.agent.data.get(STATE) == "closed":
        return verdict
    return await hand_back.came_back(seat, seat.inside, said)


def hide_records(extras: dict[str, Any]) -> None:
    """What the plugin keeps in a project takes one line of the files that the host shows."""
    picture = extras.get(FILES)
    if isinstance(picture, str):
        extras[FILES] = without_records(picture)


async def offers(agent: Agent) -> str:
    """After a restart or a stop: what this agent prepared, what is open or stopped; or ""."""
    if superior(agent) is not None and binding(agent) is None:
        return ""
    agent.data.pop(bindings.DELIVERIES, None)
    if not _has_handed_over(agent):
        return ""
    lines: list[str] = []
    with said_once(agent):
        seat = seat_of(agent)
        await to_thread(unrecorded.catch_up, seat)
        notes = [*await hand_back.unread_notes(agent), *await remote_legs.fetched(seat)]
        for note in notes:
            agent.hist_add_tool_result("handover_to_specialist", note)
        for handover_id in await to_thread(sweep, seat):
            why = "its specialist is gone; hand over again what is still wanted"
            lines.append(f"Cancelled: {handover_id}, {why}")
        lines.extend(await to_thread(standing_lines, seat))
    return "\n".join(lines)


def _has_handed_over(agent: Agent) -> bool:
    """Known from the chat alone: where nothing was ever handed over, no file is looked at."""
    kept = memory.memory(root_context(agent))
    return bool(kept["roots"] or kept["unrecorded"] or binding(agent))


async def offers_again(agent: Agent, extras: dict[str, Any]) -> None:
    """The same later in the run, where something was offered: what was started since is not."""
    if not extras.pop(OFFERS, ""):
        return
    with said_once(agent):
        lines = await to_thread(standing_lines, seat_of(agent))
        if lines:
            extras[OFFERS] = "\n".join(lines)

"""How the plugin speaks: rows and notifications for the person, responses for the model."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from agent import Agent, AgentContext
from helpers.errors import RepairableException
from helpers.tool import Response

from helpers import notification

from ..text.quote import inert, one_line
from ..values.errors import Code, HandoverError
from ..values.events import DeclineLifted
from .agents import PLUGIN, root_context

_TOLD = "_so_told"  # in a chat's data: what was complained of, not saved
_MOST_TOLD = 50


@dataclass
class HandoverResponse(Response):  # type: ignore[misc]
    """The host's Response with the error mark of the seed's contract."""

    error: bool = False


def answered(text: str, *, ends: bool = False, failed: Code | None = None) -> HandoverResponse:
    """An answer; `failed` marks one that tells of a handover that did not work, as a refusal is."""
    marks = {"error": True, "error_code": failed} if failed else None
    is_error = failed is not None
    return HandoverResponse(message=text, break_loop=ends, additional=marks, error=is_error)


def refused(error: HandoverError, more: str = "") -> HandoverResponse:
    """A refusal as a Response, never an exception, marked for the model and for programs."""
    return answered(f"{error}; {more}" if more else str(error), failed=error.code)


def repairable(error: HandoverError) -> RepairableException:
    """A refusal as the host's exception that the model reads.

    The host expands braces in its text (HOST fact 15).
    """
    return RepairableException(inert(str(error)))


async def progress(tool: Any, text: str) -> None:
    """What a tool waits for, in its row; kept by the host when the person interrupts it."""
    await tool.set_progress(text)
    tool.log.update(content=text)


def tell(agent: Agent, heading: str, content: str = "") -> None:
    """One row of this agent in the chat the person sees."""
    _row(root_context(agent), agent, heading, content)


def tell_here(agent: Agent, heading: str, content: str) -> None:
    """One row of this agent in its own chat."""
    _row(agent.context, agent, heading, content)


def _row(context: AgentContext, agent: Agent, heading: str, content: str) -> None:
    row = context.log.log(type="info", heading=heading, content=content)
    row.agentno = agent.number  # the host's choice is who streams: after a run that is nobody


def warn(context: AgentContext, heading: str, content: str) -> None:
    """One row of warning in a chat."""
    context.log.log(type="warning", heading=heading, content=content)


def complain(agent: Agent, error: HandoverError) -> None:
    """What went wrong beside a tool call, as a row; the same thing once."""
    context = root_context(agent)
    told = context.data.setdefault(_TOLD, [])
    if str(error) not in told:
        told.append(str(error))
        del told[:-_MOST_TOLD]
        warn(context, "Software Orchestrator", str(error))


@contextmanager
def said_once(agent: Agent, passed_over: str = "") -> Iterator[None]:
    """Around a step that must stop nothing, as a raise would end the chat: its error is a row.

    `passed_over` names what is left out because of it.
    """
    try:
        yield
    except HandoverError as error:
        if passed_over:
            message = f"passed over {passed_over}: {error.message}"
            error = HandoverError(message, error.hint, error.code)
        complain(agent, error)


def tell_lifts(agent: Agent, lifts: Iterable[DeclineLifted]) -> None:
    """The person sees which of their declines no longer stands, and by which of their words."""
    for lift in lifts:
        words = f"Your words: “{one_line(lift.verbatim)}”" if lift.verbatim else ""
        tell(agent, f"Your decline of {one_line(lift.field)} is lifted", words)


def call_person(agent: Agent, heading: str, content: str) -> None:
    """A row and a notification: the person is needed. The host shows HTML there: escaped."""
    warn(root_context(agent), heading, content)
    notification.NotificationManager.send_notification(
        type=notification.NotificationType.WARNING,
        priority=notification.NotificationPriority.HIGH,
        message=html.escape(content),
        title=heading,
        display_time=20,
        group=PLUGIN,
    )


def tell_of_stop(agent: Agent, error: HandoverError) -> None:
    """A refusal stopped handovers: the person is called."""
    call_person(agent, STOPPED, f"{error.message}. {LIFTED}")


STOPPED = "Handovers are stopped"
LIFTED = "Your next message lets them go on."


async def keep_note(agent: Agent, note: str) -> None:
    """Of a tool that the person interrupts the host keeps the progress alone (HOST fact 14)."""
    tool = getattr(getattr(agent, "loop_data", None), "current_tool", None)
    if tool is not None:
        await tool.set_progress(note)


def pass_on_message(agent: Agent, above: Agent) -> None:
    """A message of the person that came when the run was over would wait unread: it goes up."""
    if agent.intervention and not above.intervention:
        above.intervention, agent.intervention = agent.intervention, None

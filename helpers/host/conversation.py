"""What was said in a chat: its log beside the saved chat, and what the host's histories hold."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent import Agent, AgentContext, AgentContextType

from helpers import persist_chat, secrets, subagents

from ..history import log
from ..history.answer import Scope, joined, visible_line
from ..history.heard import TASK
from ..history.transcript import Transcript, from_history, recent_turns, told_before
from ..text.masking import Mask, clean, redact
from ..values.call import utc
from ..values.errors import RecordError
from ..values.names import words
from ..values.packet import Turn
from . import voice
from .agents import PLUGIN, agents_of, root_context
from .memory import memory
from .settings import settings_of

TYPED = (
    "_so_typed"  # in a chat's data, not saved: what the person wrote and the log does not have yet
)
_MOST_TYPED = 20
_OPENING = "fw.initial_user_message.md"  # of the host


def mask_of(agent: Agent) -> Mask:
    """Hides what the chat knows to be secret, and what looks so; failing, it stops the write."""

    def mask(text: str) -> str:
        try:
            known = secrets.get_secrets_manager(agent.context).mask_values(text)
        except Exception as error:
            reason = f"secrets cannot be masked ({type(error).__name__})"
            message = f"failed to append briefing file: {reason}"
            raise RecordError(message, "see the host's secrets") from error
        return redact(known)

    return mask


def masked_turns(agent: Agent, count: int, mask: Mask) -> tuple[Turn, ...]:
    """The last turns of the agent's own conversation; the lists are copied (HOST fact 17)."""
    said = from_history(agent.history.to_dict(), placeholder=_placeholder(agent))
    return recent_turns(said, count, mask)


def _placeholder(agent: Agent) -> str:
    """The line of a person with which some hosts begin a chat, so that their greeting answers."""
    if not subagents.get_paths(agent, "prompts", _OPENING):
        return ""
    return str(agent.read_prompt(_OPENING))


def told_last(agent: Agent) -> str:
    """What the agent said to the person last, where nothing else stands behind it."""
    transcript = from_history(agent.history.to_dict())
    return told_before(transcript, len(transcript) + 1)


def log_message(agent: Agent, message: Any) -> None:
    """Keep one message of the chat. What goes wrong is told once and never breaks the chat.

    What could not be kept is counted, so that the log tells of the gap as soon as it is written.
    """
    kept = memory(root_context(agent))
    missing = kept["log_missing"]
    try:
        kept["log_missing"] = _keep(agent, message, missing)
    except Exception as error:
        kept["log_missing"] = missing + 1
        if not kept["log_failed"]:
            kept["log_failed"] = True
            heading = "The chat's messages are not kept for request_full_history"
            voice.tell(agent, heading, f"{type(error).__name__}: {error}")


def _keep(agent: Agent, message: Any, missing: int) -> int:
    """Append a message to its chat's log, or begin the log with all that the host still holds.

    `missing` is how many before it were not kept; returns how many are not now, since the log is
    off, or nothing was to be kept.
    """
    context = root_context(agent)
    if message is None or context.type == AgentContextType.BACKGROUND:
        return missing
    if agent.number == 0 and getattr(agent.context, "agent0", None) is not agent:
        return missing  # the host's opening, said while the agent is made
    settings = settings_of(agent)
    if not settings.transcript_log:
        return missing + 1
    path, mask = log_path(context), mask_of(agent)
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"id": message.id, "ai": message.ai, "content": message.content}

    def line() -> bytes:
        return log.line_of(record, _source(agent), utc(datetime.now(UTC)), mask)

    def all_lines() -> Iterable[bytes]:
        histories = [(other.history.to_dict(), _source(other)) for other in agents_of(context)]
        return log.seed_lines(histories, mask, _placeholder(context.agent0))

    log.keep(path, line, all_lines, int(settings.transcript_log_max_mb * 1_000_000), missing)
    return 0


def forget_messages(context: AgentContext) -> None:
    """A chat that is reset keeps nothing of what was said; a child's reset leaves that alone."""
    if root_context(context.agent0) is context:
        log.forget(log_path(context))


def transcript(agent: Agent, scope: Scope, mask: Mask) -> Transcript:
    """What the scope may see: from the chat's log, else from what the superiors still hold."""
    context = root_context(agent)
    path, messages = log_path(context), log_path(context).parent / "messages"
    logged = log.open_log(path, keep=visible_line(scope), messages=messages, mask=mask)
    if logged is not None:
        return logged
    above = [other for other in agents_of(context) if other.number < agent.number]
    opening = _placeholder(context.agent0)
    histories = [(other.history.to_dict(), other.number) for other in above]
    return joined(
        from_history(history, agent=number, mask=mask, placeholder=opening)
        for history, number in histories
    )


def log_path(context: AgentContext) -> Path:
    """Beside the saved chat, so that deleting the chat deletes it."""
    return Path(persist_chat.get_chat_folder_path(context.id)) / log.NAME


def _source(agent: Agent) -> log.Source:
    """Whose message it is; big results are referred to where the host keeps them beside the log."""
    held = agent.data.get(PLUGIN)
    root = root_context(agent)
    in_own_chat = agent.context is root
    is_first = in_own_chat and agent is root.agent0
    return log.Source(
        number=agent.number,
        profile=str(agent.config.profile or ""),
        handover=str(held.get("handover_id", "")) if isinstance(held, dict) else "",
        messages=log_path(agent.context).parent / "messages" if in_own_chat else None,
        person=lambda said: _whose(root, said) or (TASK if is_first else ""),
    )


def person_typed(context: AgentContext, text: str, whose: str, mask: Mask) -> None:
    """What the person just wrote in this chat or a child of it is known again in the log."""
    waiting = context.data.setdefault(TYPED, [])
    try:
        waiting.append((words(mask(clean(text)[0])), whose))
    except RecordError:
        return  # without it the log is not taken for complete
    del waiting[:-_MOST_TYPED]


def _whose(context: AgentContext, said: str) -> str:
    """Where the person wrote these words, each message once; "" where they did not."""
    waiting = context.data.get(TYPED, ())
    for place, (typed, whose) in enumerate(waiting):
        if typed == words(said):
            del waiting[place]
            return str(whose)
    return ""

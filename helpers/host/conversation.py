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
from ..history.transcript import Transcript, from_history, recent_turns, told_before
from ..text.masking import Mask, redact
from ..values.call import utc
from ..values.errors import RecordError
from ..values.packet import Turn
from . import voice
from .agents import PLUGIN, agents_of, root_context
from .memory import memory
from .settings import settings_of

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
    path, mask = _log_path(context), mask_of(agent)
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
        log.forget(_log_path(context))


def transcript(agent: Agent, scope: Scope, mask: Mask) -> Transcript:
    """What the scope may see: from the chat's log, else from what the superiors still hold."""
    context = root_context(agent)
    path, messages = _log_path(context), _log_path(context).parent / "messages"
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


def _log_path(context: AgentContext) -> Path:
    """Beside the saved chat, so that deleting the chat deletes it."""
    return Path(persist_chat.get_chat_folder_path(context.id)) / log.NAME


def _source(agent: Agent) -> log.Source:
    """Whose message it is; big results are referred to where the host keeps them beside the log."""
    held = agent.data.get(PLUGIN)
    in_own_chat = agent.context is root_context(agent)
    return log.Source(
        number=agent.number,
        profile=str(agent.config.profile or ""),
        handover=str(held.get("handover_id", "")) if isinstance(held, dict) else "",
        messages=_log_path(agent.context).parent / "messages" if in_own_chat else None,
    )

"""Starting a subordinate, in both shapes of the host, and what must be so before."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from agent import Agent, UserMessage
from helpers.errors import RepairableException

from helpers import subagents

from ..values.errors import RefusedError
from .agents import project_name, root_context


def refuse_parallel(agent: Agent) -> None:
    """In the throw-away chat of 2.x's `parallel` tool a handover would be lost.

    Raises RefusedError (parallel).
    """
    try:
        import helpers.parallel_tools as parallel_tools
    except ImportError:
        return
    if parallel_tools.is_parallel_worker(agent):
        message = "a handover cannot be made inside parallel"
        raise RefusedError(message, "call the tool by itself", "parallel")


def refuse_unknown_profile(agent: Agent, profile: str) -> None:
    """The host runs unknown profiles with default prompts (HOST fact 18).

    Raises RefusedError (start_failed).
    """
    known = subagents.get_available_agents_dict(project_name(root_context(agent)) or None)
    if profile not in known:
        hint = f"install it under usr/agents, or use one of: {', '.join(sorted(known))}"
        raise RefusedError(f"Agent Zero has no profile {profile}", hint, "start_failed")


def refuse_forbidden(agent: Agent, tool: str) -> None:
    """Later hosts let a person forbid tools to a profile.

    Raises RefusedError (start_failed).
    """
    try:
        from helpers.tool_policy import ensure_tool_allowed
    except ImportError:
        return
    try:
        ensure_tool_allowed(agent, tool)
    except RepairableException as error:
        hint = f"do the work yourself, or ask the person to allow {tool}"
        raise RefusedError(str(error), hint, "start_failed") from error


def gives_chats() -> bool:
    """Whether every subordinate has a chat of its own, also one that `parallel` starts (2.x)."""
    import tools.call_subordinate as host_tool

    return hasattr(host_tool, "get_or_create_subordinate")


def calls_in_parallel(args: dict[str, Any]) -> list[Any]:
    """The calls of a `parallel` call as the host reads them; none where it will refuse them."""
    try:
        import helpers.parallel_tools as parallel_tools

        calls = parallel_tools.extract_tool_calls(args)
        return parallel_tools.normalize_parallel_tool_calls(calls) if calls else []
    except (ImportError, ValueError):
        return []


async def run_subordinate(
    agent: Agent, profile: str, message: str, *, name: str, goes_on: Agent | None = None
) -> str:
    """Run a fresh specialist, or the one that goes on; what it said. Exceptions pass through.

    `name` is that of its chat, where it has one.
    """
    import tools.call_subordinate as host_tool

    if gives_chats():
        wanted = {"profile": profile, "message": message, "reset": goes_on is None, "name": name}
        if goes_on and (child := child_context_id(agent, goes_on)):
            wanted["context_id"] = child
        specialist = host_tool.get_or_create_subordinate(agent, **wanted)
        said = await host_tool.run_subordinate(agent, specialist, message)
    else:
        specialist = goes_on or _linear_subordinate(agent, profile)
        specialist.hist_add_user_message(UserMessage(message=message, attachments=[]))
        try:
            said = await specialist.monologue()
        finally:
            agent.context.streaming_agent = agent
        specialist.history.new_topic()
    return str(said or "")


def _linear_subordinate(agent: Agent, profile: str) -> Agent:
    from initialize import initialize_agent

    config = dataclasses.replace(initialize_agent(), profile=profile)
    specialist = Agent(agent.number + 1, config, agent.context)
    specialist.set_data(Agent.DATA_NAME_SUPERIOR, agent)
    agent.set_data(Agent.DATA_NAME_SUBORDINATE, specialist)
    return specialist


def goes_to(specialist: Agent, args: Mapping[str, Any]) -> bool:
    """Whether a `call_subordinate` call may mean this living subordinate: where each has a chat of
    its own the call can name it."""
    named = str(args.get("context_id") or args.get("agent_id") or "")
    return (
        not named
        or specialist.context is root_context(specialist)
        or named == specialist.context.id
    )


def child_context_id(agent: Agent, specialist: Agent) -> str:
    """The id of a subordinate's own chat (2.x), or ""."""
    return "" if specialist.context is agent.context else str(specialist.context.id)

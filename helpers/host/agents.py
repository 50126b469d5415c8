"""Who there is in a chat of Agent Zero, who stands above whom, and in which project.

Both shapes of the host (one linear subordinate; a chat for every child) are told apart by looking
for what they keep, never by comparing versions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent import Agent, AgentContext

from helpers import files, projects, subagents

from ..values.call import ORCHESTRATOR
from ..values.call import PLUGIN as PLUGIN

MOST_LEVELS = 20


def root_context(agent: Agent) -> AgentContext:
    """The chat the person sees: a child chat's parent (2.x), else the agent's own."""
    context = agent.context
    for _ in range(MOST_LEVELS):
        parent = _parent(context)
        if parent is None:
            break
        context = parent
    return context


def _parent(context: AgentContext) -> AgentContext | None:
    """The chat above; of a worker of `parallel` (2.x) the one that started it."""
    started_by = context.get_data("_parallel_parent_context_id")
    return AgentContext.get(str(context.get_output_data("parent_context_id") or started_by or ""))


def superior(agent: Agent) -> Agent | None:
    """Who started the agent.

    A child chat's parent is found again after a restart by the ids that the host saves (2.x). A
    worker of `parallel` knows its chat alone: whoever works there started it.
    """
    above = agent.data.get(Agent.DATA_NAME_SUPERIOR)
    parent = _parent(agent.context) if above is None else None
    if parent is None:
        return above
    number = agent.context.get_output_data("parent_agent_number")
    if number is None:
        return parent.get_agent()
    return next((other for other in agents_of(parent) if other.number == number), None)


def line_of(agent: Agent) -> Iterator[Agent]:
    """The agent and those above it, innermost first."""
    above: Agent | None = agent
    for _ in range(MOST_LEVELS):
        if above is None:
            return
        yield above
        above = superior(above)


def agents_of(context: AgentContext) -> tuple[Agent, ...]:
    """Every living agent of a chat and of its child chats, superiors first."""
    child_agents = _agents_of_child_chats()
    agents: list[Agent] = []
    waiting = [context.agent0]
    while waiting:
        agent = waiting.pop(0)
        if agent is None or agent in agents:
            continue
        agents.append(agent)
        waiting.append(agent.data.get(Agent.DATA_NAME_SUBORDINATE))
        children = agent.data.get("_subordinates")
        if isinstance(children, dict):
            waiting.extend(children.values())
        waiting.extend(child_agents[agent.context.id, agent.number])
    return tuple(agents)


def _agents_of_child_chats() -> defaultdict[tuple[str, int], list[Agent]]:
    """By chat and number of the agent above."""
    below = defaultdict(list)
    for context in AgentContext.all():
        parent = context.get_output_data("parent_context_id")
        if parent:
            number = context.get_output_data("parent_agent_number")
            below[parent, number].append(context.agent0)
    return below


def sender_of(agent: Agent) -> str:
    """The agent's profile; the host's general profiles act as the orchestrator."""
    profile = str(agent.config.profile or "")
    if agent.number == 0 and profile in ("", "default", "agent0"):
        return ORCHESTRATOR
    return profile or ORCHESTRATOR


def tool_names(agent: Agent) -> frozenset[str]:
    """The tools that the host has for an agent, and the MCP servers, each with a "." at its end."""
    names: set[str] = set()
    for folder in subagents.get_paths(agent, "tools"):
        names.update(file.stem for file in Path(folder).glob("*.py"))
    return frozenset(names | set(_mcp_servers(agent)))


def _mcp_servers(agent: Agent) -> Iterator[str]:
    try:
        from helpers.mcp_handler import MCPConfig
    except ImportError:
        return
    of_project = getattr(MCPConfig, "get_for_agent", None)  # 2.x
    config = of_project(agent) if of_project else MCPConfig.get_instance()
    for server in config.servers:
        yield f"{server.name}."


def project_name(context: AgentContext) -> str:
    """The chat's active project, or ""."""
    return str(projects.get_context_project_name(context) or "")


def project_root(context: AgentContext) -> str:
    """The folder of the chat's active project, or ""."""
    name = project_name(context)
    return str(projects.get_project_folder(name)) if name else ""


def openable(value: Any, levels: int = 3) -> Any:
    """Paths as the model names them (`/a0/...`) as ones that can be opened; the rest as it came."""
    if isinstance(value, str) and value.strip().startswith("/a0/"):
        return files.fix_dev_path(value.strip())
    if levels and isinstance(value, dict):
        return {name: openable(item, levels - 1) for name, item in value.items()}
    if levels and isinstance(value, list | tuple):
        return [openable(item, levels - 1) for item in value]
    return value

"""The parallel tool's workers: a tool runs in a throw-away background chat."""

import dataclasses
from typing import Any

PARALLEL_WORKER_PARENT_CONTEXT_KEY = "_parallel_parent_context_id"
PARALLEL_WORKER_KIND_KEY = "_parallel_worker_kind"


def is_parallel_worker(agent: Any) -> bool:
    return agent.context.get_data(PARALLEL_WORKER_KIND_KEY) == "tool"


async def run_tool_job(agent: Any, tool_name: str, tool_args: dict) -> str:
    """Only in the double: what one job of the parallel tool does, without the queue around it."""
    from agent import AgentContext, AgentContextType, LoopData

    own = dataclasses.replace(agent.config)
    context = AgentContext(own, type=AgentContextType.BACKGROUND)
    context.set_data(PARALLEL_WORKER_PARENT_CONTEXT_KEY, agent.context.id)
    context.set_data(PARALLEL_WORKER_KIND_KEY, "tool")
    worker = context.agent0
    worker.loop_data = LoopData()
    try:
        tool = worker.get_tool(tool_name, None, tool_args, "", worker.loop_data)
        return (await worker.double_run_tool(tool, tool_name, tool_args)).message
    finally:
        AgentContext.remove(context.id)

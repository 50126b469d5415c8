"""The parallel tool's workers: a tool runs in a throw-away background chat, a subordinate in a chat of its own."""

import dataclasses
import uuid
from typing import Any

PARALLEL_WORKER_PARENT_CONTEXT_KEY = "_parallel_parent_context_id"
PARALLEL_WORKER_JOB_KEY = "_parallel_job_id"
PARALLEL_WORKER_KIND_KEY = "_parallel_worker_kind"


def is_parallel_worker(agent: Any) -> bool:
    """True in a tool's worker; False in a subordinate's."""
    context = getattr(agent, "context", None)
    if context is None:
        return False
    kind = context.get_data(PARALLEL_WORKER_KIND_KEY)
    return kind == "tool" or (kind is None and bool(context.get_data(PARALLEL_WORKER_JOB_KEY)))


async def run_tool_job(agent: Any, tool_name: str, tool_args: dict) -> str:
    """Only in the double: what one job of the parallel tool does, without the queue around it."""
    from agent import AgentContext, AgentContextType, LoopData
    from helpers import projects
    from helpers.extension import call_extensions_async

    context = AgentContext(
        config=dataclasses.replace(agent.config), type=AgentContextType.BACKGROUND
    )
    context.set_data(PARALLEL_WORKER_PARENT_CONTEXT_KEY, agent.context.id)
    context.set_data(PARALLEL_WORKER_JOB_KEY, f"{tool_name}-{uuid.uuid4().hex[:8]}")
    context.set_data(PARALLEL_WORKER_KIND_KEY, "tool")
    if project := projects.get_context_project_name(agent.context):
        projects.activate_project(context.id, project, mark_dirty=False)
    worker = context.agent0
    worker.loop_data = LoopData()
    try:
        tool = worker.get_tool(tool_name, None, tool_args, "", worker.loop_data)
        await tool.before_execution(**tool_args)
        await call_extensions_async(
            "tool_execute_before", worker, tool_args=tool_args, tool_name=tool_name
        )
        response = await tool.execute(**tool_args)
        await call_extensions_async(
            "tool_execute_after", worker, response=response, tool_name=tool_name
        )
        await tool.after_execution(response)
        return response.message
    finally:
        AgentContext.remove(context.id)

"""The parallel tool's workers: a tool runs in a throw-away background chat."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

PARALLEL_WORKER_PARENT_CONTEXT_KEY = "_parallel_parent_context_id"
PARALLEL_WORKER_KIND_KEY = "_parallel_worker_kind"


def is_parallel_worker(agent: Any) -> bool:
    return agent.context.get_data(PARALLEL_WORKER_KIND_KEY) == "tool"


@dataclass
class NormalizedToolCall:
    index: int
    tool_name: str
    tool_args: dict[str, Any]


def extract_tool_calls(args: dict[str, Any]) -> Any:
    return next((args[key] for key in ("tool_calls", "calls", "items") if key in args), None)


def normalize_parallel_tool_calls(raw_calls: Any) -> list[NormalizedToolCall]:
    calls = json.loads(raw_calls) if isinstance(raw_calls, str) else raw_calls
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise ValueError("calls are a list of objects")
    named = [(call["tool_name"], dict(call["tool_args"])) for call in calls]
    return [NormalizedToolCall(index, *call) for index, call in enumerate(named)]


async def run_subordinate_job(agent: Any, tool_args: dict) -> str:
    """A job that is a subordinate: no tool is run for it, so `tool_execute_before` is not reached."""
    import tools.call_subordinate as host_tool

    wanted = {key: tool_args.get(key, "") for key in ("profile", "reset", "context_id", "name")}
    message = tool_args["message"]
    child = host_tool.get_or_create_subordinate(agent, **wanted, message=message)
    return await host_tool.run_subordinate(agent, child, message)


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

"""Which tools of Agent Zero an agent may use: asked before one runs, and refused in words.

Most tools are looked for by `get_tool`, where one of ours takes the place of a refused one before
its file is loaded. MCP tools do not pass there; every tool passes `tool_execute_before`, where the
arguments are final, and there a refused one only answers.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Mapping
from typing import Any

from agent import Agent
from helpers.tool import Response, Tool

from ..chain.tools import tools_in
from ..flow import receive, standing
from ..records import resources
from ..records.local import local_ports
from ..text.tools import tools_told
from ..values.call import Call
from ..values.errors import HandoverError, RefusedError, SettingsError
from ..values.settings import settings
from ..values.tools import ToolCall, Tools
from . import agents, bindings, voice
from .conversation import mask_of
from .seat import caller_of, seat_of

_NOTHING = Tools(denied=("*",))


class NotAllowed(Tool):  # type: ignore[misc]
    """Takes the place of a tool that the agent may not use; it answers and does nothing else."""

    async def execute(self, **kwargs: Any) -> Response:
        call = ToolCall.of(self.name, self.method, self.args)
        return await refusal(self.agent, call)


def tool_for(agent: Agent, data: dict[str, Any]) -> None:
    """Before the host looks for a tool: one of ours in the place of what the agent may not use."""
    names = ("agent", "name", "method", "args", "message", "loop_data")
    given = dict(zip(names, data.get("args") or (), strict=False)) | dict(data.get("kwargs") or {})
    call = ToolCall.of(given.get("name"), given.get("method"), given.get("args"))
    if not tools_of(agent).allows(call):
        more = {name: given.get(name) for name in names[1:]}
        data["result"] = NotAllowed(agent, **more)


def may_run(agent: Agent, name: str, args: Mapping[str, Any]) -> bool:
    """Whether the tool that is about to run may; one that may not answers in words instead."""
    tool = getattr(getattr(agent, "loop_data", None), "current_tool", None)
    if isinstance(tool, NotAllowed):
        return False
    called = getattr(tool, "name", None) or name
    call = ToolCall.of(called, getattr(tool, "method", None), args, is_mcp=_is_mcp(tool))
    if tools_of(agent).allows(call):
        return True
    if tool is None:
        raise voice.repairable(_refused(agent, call))
    tool.execute = lambda **kwargs: refusal(agent, call)
    return False


def _is_mcp(tool: object) -> bool:
    return any(kind.__name__ == "MCPTool" for kind in type(tool).__mro__)


def tools_of(agent: Agent) -> Tools:
    """What an agent may use, as it was when its prompt was built."""
    kept: Tools | None = agent.data.get(bindings.TOOLS)
    return _read(agent) if kept is None else kept


async def refresh(agent: Agent) -> None:
    """Before each prompt; in a thread where the record is read."""
    if bindings.holding_of(agent):
        await to_thread(_read, agent)
    else:
        _read(agent)


def _read(agent: Agent) -> Tools:
    """What its profile's entry says, and in a handover what was recorded for it and for those around
    it; who starts a plain helper lends it no more than its own.

    What cannot be read now is as it was last read; where it never was, nothing may be used.
    """
    call = _call_of(agent)
    tools = call.settings.roster.tools_of(agents.sender_of(agent))
    if call.caller.inside:
        try:
            _, chain = standing.chain_of(call.caller.inside, call)
        except HandoverError:
            last: Tools = agent.data.get(bindings.TOOLS, _NOTHING)
            return last
        around = tools_in(chain, chain.find(call.caller.inside), call.settings.roster)
        tools = tools.narrowed(around)
    agent.data[bindings.TOOLS] = tools
    return tools


def _call_of(agent: Agent) -> Call:
    """Settings that cannot be read give nobody more than ships."""
    try:
        return seat_of(agent).call
    except SettingsError:
        ports = local_ports(mask_of(agent))
        return Call(caller_of(agent, ports), settings(resources.default_settings()), ports)


async def refusal(agent: Agent, call: ToolCall) -> Response:
    """What the model reads in the place of the tool's result; of a handover it is recorded."""
    inside = bindings.holding_of(agent)
    if inside:
        with voice.said_once(agent):
            seat = seat_of(agent)
            await to_thread(receive.note_refused_tool, inside.handover_id, str(call), seat.call)
    return voice.refused(_refused(agent, call))


def _refused(agent: Agent, call: ToolCall) -> RefusedError:
    tools = tools_of(agent)
    yours = f"your tools: {tools_told(tools)}"
    if tools is _NOTHING:
        yours = "what you may use cannot be read now"
    hint = resources.text("tool_refused").strip()
    return RefusedError(f"{call} is not yours to use; {yours}", hint, "authority")

"""Which tools of Agent Zero an agent may use: asked before one runs, and refused in words.

Most tools are looked for by `get_tool`, where one of ours takes the place of a refused one before
its file is loaded. MCP tools do not pass there; every tool passes `tool_execute_before`, where the
arguments are final, and there a refused one only answers.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Iterable, Iterator, Mapping
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
from ..values.settings import Settings, settings
from ..values.tools import ToolCall, Tools
from . import agents, bindings, runs, voice
from .conversation import mask_of
from .seat import caller_of, seat_of
from .settings import settings_in

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
    refused = _first_refused(agent, _calls_of(tool, name, args))
    if refused is None:
        return True
    if tool is None:
        raise voice.repairable(_refused(agent, refused))
    tool.execute = lambda **kwargs: refusal(agent, refused)
    return False


def _calls_of(tool: Any, name: str, args: Mapping[str, Any]) -> Iterator[ToolCall]:
    """The call, and of `parallel` those inside it: a subordinate there is started without a tool."""
    called = getattr(tool, "name", None) or name
    is_mcp = any(kind.__name__ == "MCPTool" for kind in type(tool).__mro__)
    yield ToolCall.of(called, getattr(tool, "method", None), args, is_mcp=is_mcp)
    if called == "parallel":
        for each in runs.calls_in_parallel(dict(args)):
            inside = each.tool_name
            yield ToolCall.of(inside, None, each.tool_args, is_mcp="." in inside)


def _first_refused(agent: Agent, calls: Iterable[ToolCall]) -> ToolCall | None:
    tools = tools_of(agent)
    return next((call for call in calls if not tools.allows(call)), None)


def tools_of(agent: Agent) -> Tools:
    """What an agent may use, as it was when its prompt was built."""
    kept: Tools | None = agent.data.get(bindings.TOOLS)
    return _read(agent) if kept is None else kept


async def refresh(agent: Agent) -> None:
    """Before each prompt; in a thread where the record is read."""
    if bindings.holding_of(agent) or bindings.copied_with(agent):
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
    tools = tools.narrowed(_of_the_copied(agent, call))
    agent.data[bindings.TOOLS] = tools
    return tools


def _of_the_copied(agent: Agent, call: Call) -> Tools:
    """A copied chat lifts nothing; of one that came from elsewhere there is no record here."""
    left = bindings.copied_with(agent)
    if left is None:
        return Tools()
    try:
        handover = standing.held_by(left.handover_id, call.at(left.project_root))
    except HandoverError:
        return Tools()
    return handover.prepared.tools.narrowed(call.settings.roster.tools_of(handover.receiver))


def _call_of(agent: Agent) -> Call:
    """Settings that cannot be read give nobody more than the installation's, or than ships."""
    try:
        return seat_of(agent).call
    except SettingsError:
        ports, settings_left = local_ports(mask_of(agent)), _without_the_projects(agent)
        return Call(caller_of(agent, ports, settings_left), settings_left, ports)


def _without_the_projects(agent: Agent) -> Settings:
    try:
        return settings_in(profile=str(agent.config.profile or ""))
    except SettingsError:
        return settings(resources.default_settings())


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

"""Chats and agents of the double: the names and the order of events of Agent Zero's `agent.py`, nothing of its text."""

import json
import traceback
import uuid
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import double_script
from helpers import extension, files, history, modules, shape, subagents
from helpers import log as Log
from helpers.defer import DeferredTask
from helpers.errors import HandledException, InterventionException, RepairableException
from helpers.mcp_handler import MCPConfig

OFFERED = "a0_responses_function_tools"


class AgentContextType(Enum):
    USER = "user"
    TASK = "task"
    BACKGROUND = "background"


class AgentContext:
    """One chat: its agents, its log, its one running task."""

    _contexts: dict[str, "AgentContext"] = {}
    _notification_manager: Any = None

    @extension.extensible
    def __init__(
        self,
        config: "AgentConfig",
        id: str | None = None,
        name: str | None = None,
        agent0: "Agent|None" = None,
        log: Log.Log | None = None,
        paused: bool = False,
        streaming_agent: "Agent|None" = None,
        created_at: datetime | None = None,
        type: AgentContextType = AgentContextType.USER,
        last_message: datetime | None = None,
        data: dict | None = None,
        output_data: dict | None = None,
        set_current: bool = False,
    ):
        self.id = id or uuid.uuid4().hex[:8]
        AgentContext._contexts[self.id] = self
        born = datetime.now(UTC)
        self.name, self.config, self.type = name, config, type
        self.data, self.output_data = data or {}, output_data or {}
        self.log = log or Log.Log()
        self.log.context = self
        self.streaming_agent = streaming_agent
        self.task: DeferredTask | None = None
        self.created_at, self.last_message = created_at or born, last_message or born
        self.agent0 = Agent(0, config, self) if agent0 is None else agent0

    @staticmethod
    def get(id: str):
        return AgentContext._contexts.get(id)

    @staticmethod
    def all():
        return [*AgentContext._contexts.values()]

    @classmethod
    def get_notification_manager(cls):
        from helpers.notification import NotificationManager

        cls._notification_manager = cls._notification_manager or NotificationManager()
        return cls._notification_manager

    @staticmethod
    @extension.extensible
    def remove(id: str):
        gone = AgentContext._contexts.pop(id, None)
        if gone is not None and gone.task:
            gone.task.kill()
        return gone

    def get_data(self, key: str, recursive: bool = True):
        return self.data.get(key)

    def set_data(self, key: str, value: Any, recursive: bool = True):
        self.data[key] = value

    def get_output_data(self, key: str, recursive: bool = True):
        return self.output_data.get(key)

    @extension.extensible
    def kill_process(self):
        if self.task is not None:
            self.task.kill()

    @extension.extensible
    def reset(self):
        self.kill_process()
        rows = self.log
        rows.reset()
        self.streaming_agent = None
        self.agent0 = Agent(0, self.config, self)

    @extension.extensible
    def nudge(self):
        self.kill_process()
        self.task = self.communicate(shape.nudge_message(self.agent0))
        return self.task

    @extension.extensible
    def get_agent(self):
        return self.streaming_agent or self.agent0

    def is_running(self) -> bool:
        return self.task is not None and self.task.is_alive()

    @extension.extensible
    def communicate(self, msg: "UserMessage", broadcast_level: int = 1):
        target = self.get_agent()
        if not self.is_running():
            self.task = self.run_task(self._process_chain, target, msg)
            return self.task
        while target is not None and broadcast_level != 0:
            target.intervention = msg
            target = target.data.get(Agent.DATA_NAME_SUPERIOR)
            broadcast_level -= 1
        return self.task

    @extension.extensible
    def run_task(self, func: Callable[..., Coroutine[Any, Any, Any]], *args: Any, **kwargs: Any):
        self.task = self.task or DeferredTask(thread_name=type(self).__name__)
        self.task.start_task(func, *args, **kwargs)
        return self.task

    @extension.extensible
    async def _process_chain(self, agent: "Agent", msg: "UserMessage|str", user=True):
        """Run `agent`; give its answer to its superior as a tool result, and so on up to the person."""
        if user:
            agent.hist_add_user_message(msg)
        else:
            agent.hist_add_tool_result(tool_name="call_subordinate", tool_result=msg)
        answer = await agent.monologue()
        above = agent.data.get(Agent.DATA_NAME_SUPERIOR)
        if above is not None:
            answer = await self._process_chain(above, answer, False)
        last = self.get_agent()
        await extension.call_extensions_async("process_chain_end", agent=last, data={})
        return answer


@dataclass
class AgentConfig:
    mcp_servers: str
    profile: str = ""
    knowledge_subdirs: list[str] = field(default_factory=lambda: ["default", "custom"])
    additional: dict[str, Any] = field(default_factory=dict)


@dataclass
class UserMessage:
    message: str
    attachments: list[str] = field(default_factory=list)
    system_message: list[str] = field(default_factory=list)
    id: str = ""


class LoopData:
    """What one monologue knows; extensions get it as `loop_data`."""

    def __init__(self, **kwargs):
        self.iteration, self.last_response, self.current_tool = -1, "", None
        self.user_message: Any = None
        self.system: list[str] = []
        self.extras_temporary, self.extras_persistent = OrderedDict(), OrderedDict()
        self.params_temporary, self.params_persistent = {}, {}
        vars(self).update(kwargs)


class Agent:
    DATA_NAME_SUPERIOR = "_superior"
    DATA_NAME_SUBORDINATE = "_subordinate"

    @extension.extensible
    def __init__(self, number: int, config: AgentConfig, context: AgentContext | None = None):
        self.config = config
        self.context = AgentContext(config, agent0=self) if context is None else context
        self.number, self.agent_name = number, f"A{number}"
        self.history = history.History(self)
        self.last_user_message = self.intervention = None
        self.data: dict[str, Any] = {}
        extension.call_extensions_sync("agent_init", agent=self)

    # ------------------------------------------------------------------ the loop

    @extension.extensible
    async def monologue(self):
        self._retried = False
        while True:
            try:
                asked = self.last_user_message
                self.loop_data = LoopData(user_message=asked)
                await self._point("monologue_start")
                while True:
                    self.context.streaming_agent = self
                    self.loop_data.iteration += 1
                    self.loop_data.params_temporary = {}
                    await self._point("message_loop_start")
                    await self.handle_intervention()
                    try:
                        final = await self._turn()
                        if final:
                            return final
                    except Exception as fault:
                        await self.handle_exception("message_loop", fault)
                    finally:
                        await self._point_if_alive("message_loop_end")
            except Exception as fault:
                await self.handle_exception("monologue", fault)
            finally:
                self.context.streaming_agent = None
                await self._point_if_alive("monologue_end")

    async def _turn(self):
        """One answer of the model and the one tool it asks for; a truthy return ends the monologue."""
        prompt = await self.prepare_prompt(self.loop_data)
        await self._point("before_main_llm_call")
        await self.handle_intervention()
        call_data = {"messages": prompt, **_functions_for(self)}
        await extension.call_extensions_async("chat_model_call_before", self, call_data=call_data)
        answer = await double_script.answer_of(self, call_data)
        await self.handle_intervention(answer)
        repeated = answer == self.loop_data.last_response
        self.hist_add_ai_response(answer)
        if not repeated:
            return await self.process_tools(answer)
        self._warn(self.read_prompt("fw.msg_repeat.md"))
        return None

    async def _point(self, point: str, **more):
        await extension.call_extensions_async(point, self, loop_data=self.loop_data, **more)

    async def _point_if_alive(self, point: str):
        if self.context.is_running():
            await self._point(point)

    @extension.extensible
    async def handle_exception(self, location: str, exception: Exception):
        """What the host does in extensions at the end of this function.

        A word of the person goes on, a repairable fault becomes a warning, any other has one retry
        (which the host begins after 3 seconds) and then ends the chain.
        """
        if isinstance(exception, InterventionException):
            return
        told = "".join(traceback.format_exception(exception))
        if isinstance(exception, RepairableException):
            self._warn(told)
            return
        if not isinstance(exception, HandledException):
            if not self._retried:
                self._retried = True
                await self.handle_intervention()
                self._warn(self.read_prompt("fw.msg_critical_error.md", error_message=told))
                return
            self.context.log.log(type="error", content=told)
        raise HandledException(exception) from exception

    # ------------------------------------------------------------------ prompts

    @extension.extensible
    async def prepare_prompt(self, loop_data: LoopData):
        await self._point("message_loop_prompts_before")
        system = await self.get_system_prompt(loop_data)
        messages = self.history.output()
        await self._point("message_loop_prompts_after")
        extras = {**loop_data.extras_persistent, **loop_data.extras_temporary}
        shown = json.dumps(extras, ensure_ascii=False)
        loop_data.extras_temporary.clear()
        tail = self.read_prompt("agent.context.extras.md", extras=shown)
        messages += history.Message(False, content=tail).output()
        return [history.SystemMessage("\n\n".join(system)), *history.output_langchain(messages)]

    @extension.extensible
    async def get_system_prompt(self, loop_data: LoopData) -> list[str]:
        parts: list[str] = []
        await extension.call_extensions_async(
            "system_prompt", self, system_prompt=parts, loop_data=loop_data
        )
        return parts

    @extension.extensible
    def get_chat_model(self):
        return double_script.chat_model

    @extension.extensible
    def parse_prompt(self, _prompt_file: str, **kwargs):
        folders = subagents.get_paths(self, "prompts")
        return files.parse_file(_prompt_file, _directories=folders, _agent=self, **kwargs)

    @extension.extensible
    def read_prompt(self, file: str, **kwargs) -> str:
        folders = subagents.get_paths(self, "prompts")
        return files.read_prompt_file(file, _directories=folders, _agent=self, **kwargs)

    # ------------------------------------------------------------------ data and history

    def get_data(self, field: str):
        return self.data.get(field)

    def set_data(self, field: str, value):
        self.data[field] = value

    @extension.extensible
    def hist_add_message(
        self, ai: bool, content: history.MessageContent, tokens: int = 0, id: str = ""
    ):
        holder = {"content": content}
        extension.call_extensions_sync("hist_add_before", self, content_data=holder, ai=ai)
        return self.history.add_message(ai=ai, content=holder["content"], tokens=tokens, id=id)

    @extension.extensible
    def hist_add_user_message(self, message: UserMessage, intervention: bool = False):
        self.history.new_topic()
        parts = ("message", "attachments", "system_message")
        given = {name: getattr(message, name) for name in parts}
        file = "fw.intervention.md" if intervention else "fw.user_message.md"
        content = self.parse_prompt(file, **given)
        content = {key: value for key, value in content.items() if value}
        self.last_user_message = self.hist_add_message(False, content=content, id=message.id)
        return self.last_user_message

    @extension.extensible
    def hist_add_ai_response(self, message: str, id: str = ""):
        self.loop_data.last_response = message
        return self.hist_add_message(True, content=message, id=id)

    @extension.extensible
    def hist_add_warning(self, message: history.MessageContent, id: str = ""):
        warning = self.parse_prompt("fw.warning.md", message=message)
        return self.hist_add_message(False, warning, id=id)

    @extension.extensible
    def hist_add_tool_result(self, tool_name: str, tool_result: str, **kwargs):
        row_id = kwargs.pop("id", "")
        content = {"tool_name": tool_name, "tool_result": tool_result} | kwargs
        extension.call_extensions_sync("hist_add_tool_result", self, data=content)
        return self.hist_add_message(False, content=content, id=row_id)

    def _warn(self, text: str):
        message = self.hist_add_warning(text)
        self.context.log.log(type="warning", content=text, id=message.id)

    # ------------------------------------------------------------------ interventions and tools

    @extension.extensible
    async def handle_intervention(self, progress: str = ""):
        if not self.intervention:
            return
        said, self.intervention = self.intervention, None
        tool = self.loop_data.current_tool
        if tool and tool.progress.strip():
            self.hist_add_tool_result(tool.name, tool.progress.strip())
        if progress.strip():
            self.hist_add_ai_response(progress)
        self.hist_add_user_message(said, intervention=True)
        raise InterventionException(said)

    @extension.extensible
    async def process_tools(self, msg: str):
        request = _request_in(msg)
        if request is not None:
            request = await shape.checked_request(self, request)
        if request is None:
            self._warn(self.read_prompt("fw.msg_misformat.md"))
            return None
        name, args = request["tool_name"], request["tool_args"]
        row = self.loop_data.params_temporary["log_item_generating"]
        row.update(heading=f"{self.agent_name}: Using {name}", kvps=request)
        name, method, args = shape.named(name, args)
        tool = MCPConfig.get_instance().get_tool(self, name)
        tool = tool or self.get_tool(name, method, args, msg, self.loop_data)
        tool.args = args
        response = await self.double_run_tool(tool, name, args)
        return response.message if response.break_loop else None

    async def double_run_tool(self, tool, name: str, args: dict):
        """One tool from its row to its result."""
        self.loop_data.current_tool = tool
        try:
            return await self._run_tool(tool, name, args)
        finally:
            self.loop_data.current_tool = None

    async def _run_tool(self, tool, name: str, args: dict):
        await self.handle_intervention()
        await tool.before_execution(**args)
        await self.handle_intervention()
        await extension.call_extensions_async(
            "tool_execute_before", self, tool_args=args, tool_name=name
        )
        response = await tool.execute(**args)
        await self.handle_intervention()
        await extension.call_extensions_async(
            "tool_execute_after", self, response=response, tool_name=name
        )
        await tool.after_execution(response)
        await self.handle_intervention()
        return response

    @extension.extensible
    async def validate_tool_request(self, tool_request: Any):
        shape.validate(tool_request)

    @extension.extensible
    def get_tool(
        self,
        name: str,
        method: str | None,
        args: dict,
        message: str,
        loop_data: LoopData | None,
        **kwargs,
    ):
        from helpers.tool import Tool
        from tools.unknown import Unknown

        chosen = Unknown
        for path in subagents.get_paths(self, "tools", name + ".py"):
            try:
                chosen = modules.load_classes_from_file(path, Tool)[0]
                break
            except Exception as fault:  # the host goes on without a trace; the tests keep one
                double_script.swallowed.append(fault)
        return chosen(self, name, method, args, message, loop_data, **kwargs)


def _functions_for(agent: Agent) -> dict[str, Any]:
    """What only hosts with native calls put into the data of a call."""
    try:
        from helpers.responses_tools import build_responses_function_tools
    except ImportError:
        return {}
    return {"model": agent.get_chat_model(), OFFERED: build_responses_function_tools(agent)[0]}


def _request_in(text: str) -> dict | None:
    """The first object of an answer. The host's reader also understands much that is not JSON."""
    try:
        return json.JSONDecoder().raw_decode(text, text.index("{"))[0]
    except ValueError:
        return None

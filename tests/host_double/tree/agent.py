"""Chats and agents of the double: the names and the order of events of Agent Zero's `agent.py`, nothing of its text."""

import asyncio
import random
import string
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import double_script
from helpers import context as context_helper
from helpers import dirty_json, extension, extract_tools, files, history, shape, subagents, tokens
from helpers import log as Log
from helpers.defer import DeferredTask
from helpers.errors import HandledException, InterventionException, RepairableException  # noqa: F401 (host names)
from helpers.localization import Localization

_CURRENT = "agent_context_id"


class AgentContextType(Enum):
    USER = "user"
    TASK = "task"
    BACKGROUND = "background"


class AgentContext:
    """One chat: its agents, its log, its one running task."""

    _contexts: dict[str, "AgentContext"] = {}
    _contexts_lock = threading.RLock()
    _counter: int = 0
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
        cls = AgentContext
        self.id = id or cls.generate_id()
        with cls._contexts_lock:
            replaced = cls._contexts.pop(self.id, None)
            cls._contexts[self.id] = self
            cls._counter += 1
            self.no = cls._counter
        if replaced is not None and replaced.task:
            replaced.task.kill()
        if set_current:
            cls.set_current(self.id)

        born = datetime.now(UTC)
        self.name, self.config, self.type = name, config, type
        self.data, self.output_data = data or {}, output_data or {}
        self.log = log or Log.Log()
        self.log.context = self
        self.paused, self.streaming_agent = paused, streaming_agent
        self.task: DeferredTask | None = None
        self.created_at, self.last_message = created_at or born, last_message or born
        self.agent0 = Agent(0, config, self) if agent0 is None else agent0

    @staticmethod
    def get(id: str):
        return AgentContext._contexts.get(id)

    @staticmethod
    def use(id: str):
        found = AgentContext.get(id)
        AgentContext.set_current(id if found else "")
        return found

    @staticmethod
    def current():
        known = context_helper.get_context_data(_CURRENT, "")
        return AgentContext.get(known) if known else None

    @staticmethod
    def set_current(ctxid: str):
        context_helper.set_context_data(_CURRENT, ctxid)

    @staticmethod
    def first():
        return next(iter(AgentContext.all()), None)

    @staticmethod
    def all():
        with AgentContext._contexts_lock:
            return [*AgentContext._contexts.values()]

    @staticmethod
    def generate_id():
        alphabet = string.ascii_letters + string.digits
        candidate = ""
        while not candidate or candidate in AgentContext._contexts:
            candidate = "".join(random.choice(alphabet) for _ in range(8))
        return candidate

    @classmethod
    def get_notification_manager(cls):
        from helpers.notification import NotificationManager

        cls._notification_manager = cls._notification_manager or NotificationManager()
        return cls._notification_manager

    @staticmethod
    @extension.extensible
    def remove(id: str):
        with AgentContext._contexts_lock:
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

    def set_output_data(self, key: str, value: Any, recursive: bool = True):
        self.output_data[key] = value

    def output(self):
        stamp = Localization.get().serialize_datetime
        own = {
            "id": self.id,
            "name": self.name,
            "no": self.no,
            "type": self.type.value,
            "paused": self.paused,
        }
        own |= {"created_at": stamp(self.created_at), "last_message": stamp(self.last_message)}
        own |= {
            "log_guid": self.log.guid,
            "log_version": len(self.log.updates),
            "log_length": len(self.log.logs),
        }
        return own | {"running": self.is_running()} | self.output_data

    @staticmethod
    def log_to_all(
        type: Log.Type,
        heading: str | None = None,
        content: str | None = None,
        kvps: dict | None = None,
        update_progress: Log.ProgressUpdate | None = None,
        id: str | None = None,
        **kwargs,
    ):
        rest = (heading, content, kvps, update_progress, id)
        return [chat.log.log(type, *rest, **kwargs) for chat in AgentContext.all()]

    @extension.extensible
    def kill_process(self):
        if self.task is not None:
            self.task.kill()

    @extension.extensible
    def reset(self):
        self.kill_process()
        rows = self.log
        rows.reset()
        self.streaming_agent, self.paused = None, False
        self.agent0 = Agent(0, self.config, self)

    @extension.extensible
    def nudge(self):
        self.kill_process()
        self.paused = False
        self.task = self.communicate(shape.nudge_message(self.agent0))
        return self.task

    @extension.extensible
    def get_agent(self):
        return self.streaming_agent or self.agent0

    def is_running(self) -> bool:
        return self.task is not None and self.task.is_alive()

    @extension.extensible
    def communicate(self, msg: "UserMessage", broadcast_level: int = 1):
        self.paused = False
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
        try:
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
        except Exception as fault:
            await self.handle_exception("process_chain", fault)

    @extension.extensible
    async def handle_exception(self, location: str, exception: Exception):
        if exception is not None:
            raise exception


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
        self.history_output: list[Any] = []
        self.extras_temporary, self.extras_persistent = OrderedDict(), OrderedDict()
        self.params_temporary, self.params_persistent = {}, {}
        vars(self).update(kwargs)


class Agent:
    DATA_NAME_SUPERIOR = "_superior"
    DATA_NAME_SUBORDINATE = "_subordinate"
    DATA_NAME_CTX_WINDOW = "ctx_window"

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
        answer, _ = await self.call_chat_model(
            messages=prompt, response_callback=self._on_chunk, reasoning_callback=self._on_reasoning
        )
        await self.handle_intervention(answer)
        for point in ("reasoning_stream_end", "response_stream_end"):
            await self._point(point)
            await self.handle_intervention(answer)
        repeated = answer == self.loop_data.last_response
        row = self.loop_data.params_temporary.get("log_item_generating")
        self.hist_add_ai_response(answer, id=row.id if row else "")
        if not repeated:
            return await self.process_tools(answer)
        self._warn(self.read_prompt("fw.msg_repeat.md"))
        return None

    async def _on_reasoning(self, chunk: str, full: str):
        await self.handle_intervention()
        stream = {"chunk": chunk, "full": full}
        await self._point("reasoning_stream_chunk", stream_data=stream)
        await self.handle_reasoning_stream(stream["full"])

    async def _on_chunk(self, chunk: str, full: str):
        """Returns the text to stop at, once a whole valid tool request has been seen."""
        await self.handle_intervention()
        stream = {"chunk": chunk, "full": full}
        whole = extract_tools.extract_json_root_string(full)
        request = extract_tools.json_parse_dirty(whole) if whole else None
        stop = None
        if request is not None:
            try:
                await self.validate_tool_request(request)
                stop = stream["full"] = stream["chunk"] = whole
            except Exception:
                stop = None  # not a tool request yet: go on reading, as the host does
        await self._point("response_stream_chunk", stream_data=stream)
        await self.handle_response_stream(stream["full"])
        return stop

    async def _point(self, point: str, **more):
        await extension.call_extensions_async(point, self, loop_data=self.loop_data, **more)

    async def _point_if_alive(self, point: str):
        if self.context.is_running():
            await self._point(point)

    @extension.extensible
    async def handle_exception(self, location: str, exception: Exception):
        if exception is not None:
            raise exception

    # ------------------------------------------------------------------ prompts

    @extension.extensible
    async def prepare_prompt(self, loop_data: LoopData):
        row = self.context.log
        row.set_progress("Building prompt")
        await extension.call_extensions_async(
            "message_loop_prompts_before", self, loop_data=loop_data
        )
        loop_data.system, loop_data.history_output = (
            await self.get_system_prompt(loop_data),
            self.history.output(),
        )
        await extension.call_extensions_async(
            "message_loop_prompts_after", self, loop_data=loop_data
        )

        extras = dirty_json.stringify({**loop_data.extras_persistent, **loop_data.extras_temporary})
        loop_data.extras_temporary.clear()
        tail = history.Message(
            False, content=self.read_prompt("agent.context.extras.md", extras=extras)
        ).output()
        prompt = [history.SystemMessage("\n\n".join(loop_data.system))]
        prompt += history.output_langchain(loop_data.history_output + tail)
        text = "\n".join(f"{message.type.capitalize()}: {message.content}" for message in prompt)
        self.set_data(
            Agent.DATA_NAME_CTX_WINDOW, {"text": text, "tokens": tokens.approximate_tokens(text)}
        )
        return prompt

    @extension.extensible
    async def get_system_prompt(self, loop_data: LoopData) -> list[str]:
        parts: list[str] = []
        await extension.call_extensions_async(
            "system_prompt", self, system_prompt=parts, loop_data=loop_data
        )
        return parts

    @extension.extensible
    def parse_prompt(self, _prompt_file: str, **kwargs):
        folders = subagents.get_paths(self, "prompts")
        return files.parse_file(_prompt_file, _directories=folders, _agent=self, **kwargs)

    @extension.extensible
    def read_prompt(self, file: str, **kwargs) -> str:
        folders = subagents.get_paths(self, "prompts")
        text = files.read_prompt_file(file, _directories=folders, _agent=self, **kwargs)
        return files.remove_code_fences(text) if files.is_full_json_template(text) else text

    # ------------------------------------------------------------------ data and history

    def get_data(self, field: str):
        return self.data.get(field)

    def set_data(self, field: str, value):
        self.data[field] = value

    @extension.extensible
    def hist_add_message(
        self, ai: bool, content: history.MessageContent, tokens: int = 0, id: str = ""
    ):
        self.last_message = datetime.now(UTC)
        holder = {"content": content}
        extension.call_extensions_sync("hist_add_before", self, content_data=holder, ai=ai)
        return self.history.add_message(ai=ai, content=holder["content"], tokens=tokens, id=id)

    @extension.extensible
    def hist_add_user_message(self, message: UserMessage, intervention: bool = False):
        self.history.new_topic()
        content = self.parse_prompt(
            "fw.intervention.md" if intervention else "fw.user_message.md",
            **{
                name: getattr(message, name)
                for name in ("message", "attachments", "system_message")
            },
        )
        if isinstance(content, dict):
            content = {key: value for key, value in content.items() if value}
        self.last_user_message = self.hist_add_message(False, content=content, id=message.id)
        return self.last_user_message

    @extension.extensible
    def hist_add_ai_response(self, message: str, id: str = ""):
        self.loop_data.last_response = message
        return self.hist_add_message(
            True, content=self.parse_prompt("fw.ai_response.md", message=message), id=id
        )

    @extension.extensible
    def hist_add_warning(self, message: history.MessageContent, id: str = ""):
        return self.hist_add_message(
            False, content=self.parse_prompt("fw.warning.md", message=message), id=id
        )

    @extension.extensible
    def hist_add_tool_result(self, tool_name: str, tool_result: str, **kwargs):
        row_id = kwargs.pop("id", "")
        content = {"tool_name": tool_name, "tool_result": tool_result} | kwargs
        extension.call_extensions_sync("hist_add_tool_result", self, data=content)
        return self.hist_add_message(False, content=content, id=row_id)

    def concat_messages(self, messages):
        return self.history.output_text("user", "assistant")

    def _warn(self, text: str, row: str = ""):
        message = self.hist_add_warning(text)
        self.context.log.log(type="warning", content=row or text, id=message.id)

    # ------------------------------------------------------------------ models

    @extension.extensible
    def get_chat_model(self):
        return double_script.ScriptedModel(self)

    @extension.extensible
    def get_utility_model(self):
        return double_script.ScriptedModel(self, utility=True)

    @extension.extensible
    def get_browser_model(self):
        return None

    @extension.extensible
    def get_embedding_model(self):
        return None

    @extension.extensible
    async def call_utility_model(
        self,
        system: str,
        message: str,
        callback: Callable[[str], Awaitable[None]] | None = None,
        background: bool = False,
    ):
        call = {"model": self.get_utility_model(), "system": system, "message": message}
        call |= {"callback": callback, "background": background}
        await extension.call_extensions_async("util_model_call_before", self, call_data=call)

        async def forward(chunk: str, total: str):
            await call["callback"](chunk)

        reply, _ = await call["model"].unified_call(
            system_message=call["system"],
            user_message=call["message"],
            response_callback=forward if call["callback"] else None,
        )
        await extension.call_extensions_async(
            "util_model_call_after", self, call_data=call, response=reply
        )
        return reply

    @extension.extensible
    async def call_chat_model(
        self,
        messages: list[Any],
        response_callback: Callable[[str, str], Awaitable[str | None]] | None = None,
        reasoning_callback: Callable[[str, str], Awaitable[None]] | None = None,
        background: bool = False,
        explicit_caching: bool = True,
    ):
        call = {"model": self.get_chat_model(), "messages": messages, "background": background}
        call |= {"response_callback": response_callback, "reasoning_callback": reasoning_callback}
        call["explicit_caching"] = explicit_caching
        await extension.call_extensions_async("chat_model_call_before", self, call_data=call)
        reply, thought = await call["model"].unified_call(
            messages=call["messages"], response_callback=call["response_callback"]
        )
        await extension.call_extensions_async(
            "chat_model_call_after", self, call_data=call, response=reply, reasoning=thought
        )
        return reply, thought

    @extension.extensible
    async def rate_limiter_callback(self, message: str, key: str, total: int, limit: int):
        self.context.log.set_progress(message, True)
        return False

    # ------------------------------------------------------------------ interventions and tools

    @extension.extensible
    async def handle_intervention(self, progress: str = ""):
        await self.wait_if_paused()
        if not self.intervention:
            return
        said, self.intervention = self.intervention, None
        tool = self.loop_data.current_tool
        if tool and tool.progress.strip():
            self.hist_add_tool_result(tool.name, tool.progress.strip())
            unawaited = tool.set_progress(None)  # the host forgets to await it: the progress stays
            if asyncio.iscoroutine(unawaited):
                unawaited.close()
        if progress.strip():
            self.hist_add_ai_response(progress)
        self.hist_add_user_message(said, intervention=True)
        raise InterventionException(said)

    async def wait_if_paused(self):
        while self.context.paused:
            await asyncio.sleep(0.01)

    @extension.extensible
    async def process_tools(self, msg: str):
        request = extract_tools.json_parse_dirty(msg)
        if request is not None:
            request = await shape.checked_request(self, request)
        if request is None:
            self._warn(
                self.read_prompt("fw.msg_misformat.md"),
                f"{self.agent_name}: Message misformat, no valid tool request found.",
            )
            return None
        name, method, args = shape.split_request(request)
        tool = self.get_tool(
            name=name, method=method, args=args, message=msg, loop_data=self.loop_data
        )
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
            "tool_execute_before", self, tool_args=args or {}, tool_name=name
        )
        response = await tool.execute(**args)
        await self.handle_intervention()
        await extension.call_extensions_async(
            "tool_execute_after", self, response=response, tool_name=name
        )
        await tool.after_execution(response)
        await self.handle_intervention()
        return response.message if response.break_loop else None

    @extension.extensible
    async def validate_tool_request(self, tool_request: Any):
        shape.validate(tool_request)

    async def handle_reasoning_stream(self, stream: str):
        await self.handle_intervention()
        await self._point("reasoning_stream", text=stream)

    async def handle_response_stream(self, stream: str):
        await self.handle_intervention()
        if len(stream) < 25:
            return
        try:
            parsed = dirty_json.DirtyJson.parse_string(stream)
            if isinstance(parsed, dict):
                await self._point("response_stream", text=stream, parsed=parsed)
        except Exception as fault:  # the host swallows what an extension raises here
            double_script.swallowed.append(fault)

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

        found: list[type] = []
        for path in subagents.get_paths(self, "tools", name + ".py"):
            try:
                found = extract_tools.load_classes_from_file(path, Tool)
                break
            except (
                Exception
            ) as fault:  # the host goes on without a trace; we keep one for the tests
                double_script.swallowed.append(fault)
        chosen = found[0] if found else Unknown
        return chosen(
            agent=self,
            name=name,
            method=method,
            args=args,
            message=message,
            loop_data=loop_data,
            **kwargs,
        )

"""Not a module of the host: what a test holds in its hands. See `assemble.py` for how to use it."""

import asyncio
import dataclasses
import json
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import double_script
from double_answers import call
from double_script import Step

LOOP = "AgentContext"
TIMEOUT_S = 20.0
PLUGIN = "software_orchestrator"


class Host:
    """One running double. Everything that touches chats runs on the host's one event loop thread."""

    def __init__(self, root: Path | str):
        self.root = Path(root)
        self._default_chat: str | None = None

    # ------------------------------------------------------------------ the model

    def script(self, answers: dict[str, Iterable[Step] | Step]) -> None:
        """Add answers by profile, `A<number>` or `<profile>#<number>`; each agent takes its own in order.

        An answer is raw text, a dict (sent as JSON) or a function of no argument or of the agent, which may be async,
        may do something ("the person writes now") and returns the answer, or None to go on with the next.
        """
        double_script.add(answers)

    def unused(self) -> dict[str, int]:
        """How many scripted answers nobody asked for, by name."""
        return double_script.left()

    def utility(self, answer: Callable[[str, str], str] | str) -> None:
        """What the utility model says: a text, or a function of system and message. Without it: an empty text."""
        double_script.utility = answer

    @property
    def model_calls(self) -> list[dict[str, Any]]:
        """`{"agent", "names", "messages"}` for each question to a chat model; the system prompt is `messages[0]`."""
        return double_script.model_calls

    @property
    def utility_calls(self) -> list[dict[str, Any]]:
        return double_script.utility_calls

    @property
    def swallowed(self) -> list[BaseException]:
        """What the host hides without a trace: tools that do not load, failing `response_stream` extensions."""
        return double_script.swallowed

    # ------------------------------------------------------------------ the person

    def say(
        self, text: str, chat: Any = None, wait: bool = True, timeout_s: float = TIMEOUT_S
    ) -> Any:
        """The person writes, as through the web page. Returns the final answer, or the task without `wait`.

        Raises what ended the chain (`HandledException`), and what was wrong with the test's script.
        """
        from agent import UserMessage
        from helpers import extension, message_queue

        context = chat or self.context
        data = {"message": text, "attachment_paths": []}
        if not self._on_loop():
            self.run(
                extension.call_extensions_async(
                    "user_message_ui", agent=context.get_agent(), data=data
                )
            )
        message_queue.log_user_message(context, data["message"], data["attachment_paths"])
        task = context.communicate(
            UserMessage(message=data["message"], attachments=data["attachment_paths"])
        )
        return self.wait(context, timeout_s) if wait else task

    def interrupt(self, text: str, chat: Any = None) -> None:
        """The person writes while an agent works; for scripted functions and listeners."""
        self.say(text, chat, wait=False)

    def wait(self, chat: Any = None, timeout_s: float = TIMEOUT_S) -> Any:
        """Wait for the chat's task."""
        if self._on_loop():
            raise RuntimeError("waiting on the host's own loop would stop it for ever")
        context = chat or self.context
        try:
            return context.task.result_sync(timeout_s)
        except TimeoutError as late:
            context.kill_process()
            raise TimeoutError(
                f"chat {context.id} was not done after {timeout_s} s; left: {self.unused()}"
            ) from late
        finally:
            self._raise_failures()

    def settle(self, timeout_s: float = TIMEOUT_S) -> None:
        """Wait until no chat has a running task, whatever ended it, and cancelled tasks have unwound."""
        from agent import AgentContext

        end = time.monotonic() + timeout_s
        while any(context.is_running() for context in AgentContext.all()):
            if time.monotonic() > end:
                raise TimeoutError("a chat is still running")
            time.sleep(0.002)
        self.run(self._others_done())
        self._raise_failures()

    async def _others_done(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=TIMEOUT_S)

    def cancel(self, chat: Any = None) -> None:
        """The person presses stop."""
        (chat or self.context).kill_process()

    def nudge(self, chat: Any = None) -> Any:
        return (chat or self.context).nudge()

    def reset(self, chat: Any = None) -> None:
        """The person resets the chat, as through the web page: saved, its message files removed."""
        from helpers import persist_chat

        context = chat or self.context
        context.reset()
        persist_chat.save_tmp_chat(context)
        persist_chat.remove_msg_files(context.id)

    def remove(self, chat: Any = None) -> None:
        """The person deletes the chat."""
        from agent import AgentContext
        from helpers import persist_chat

        context = chat or self.context
        context.reset()
        AgentContext.remove(context.id)
        persist_chat.remove_chat(context.id)

    def save_settings(self, **delta: Any) -> None:
        """The person saves the settings page; without arguments nothing but the agents' configs changes."""
        from helpers import settings

        settings.set_settings_delta(delta)

    # ------------------------------------------------------------------ chats and agents

    def new_chat(self, profile: str = "", id: str | None = None) -> Any:
        from agent import AgentContext
        from initialize import initialize_agent

        given = {"agent_profile": profile} if profile else None
        return AgentContext(config=initialize_agent(override_settings=given), id=id)

    def chat(self, id: str) -> Any:
        from agent import AgentContext

        return AgentContext.get(id)

    @property
    def context(self) -> Any:
        """The test's own chat: the one it made first, or after a restart the one that `load_chats` found first."""
        if self._default_chat is None or self.chat(self._default_chat) is None:
            self._default_chat = self.new_chat().id
        return self.chat(self._default_chat)

    @property
    def agent0(self) -> Any:
        return self.context.agent0

    def subordinate(self, of: Any = None) -> Any:
        """The newest subordinate of an agent in either shape, or None."""
        agent = of or self.agent0
        linear, children = agent.get_data("_subordinate"), agent.get_data("_subordinates") or {}
        return linear or next(reversed(list(children.values())), None)

    def chats(self) -> list[Any]:
        from agent import AgentContext

        return AgentContext.all()

    def load_chats(self) -> list[str]:
        """After a restart: load what `usr/chats` holds; the oldest root chat becomes `context`."""
        from helpers import persist_chat

        persist_chat.load_tmp_chats()
        roots = [one for one in self.chats() if not one.get_output_data("parent_context_id")]
        self._default_chat = min(roots, key=lambda one: one.created_at).id if roots else None
        return [one.id for one in self.chats()]

    def save(self, chat: Any = None) -> dict[str, Any]:
        """Save a chat, and return what its chat.json says."""
        from helpers import persist_chat

        persist_chat.save_tmp_chat(chat or self.context)
        return self.saved(chat)

    def saved(self, chat: Any = None) -> dict[str, Any]:
        return json.loads(
            (self.root / "usr/chats" / (chat or self.context).id / "chat.json").read_text("utf-8")
        )

    def project(self, name: str, chat: Any = None, **header: str) -> Path:
        """Make a project when there is none, switch the chat to it, return its folder."""
        from helpers import projects

        folder = self.root / "usr/projects" / name
        if not folder.exists():
            projects.create_project(name, {"title": name} | header)
        projects.activate_project((chat or self.context).id, name)
        return folder

    def secrets(self, **values: str) -> None:
        from helpers import secrets

        lines = [f'{key}="{value}"' for key, value in values.items()]
        secrets.get_default_secrets_manager().save_secrets("\n".join(lines))

    # ------------------------------------------------------------------ tools and extension points

    def tool(self, name: str, agent: Any = None, /, **args: Any) -> Any:
        """Run a tool as an agent's turn would, without a model, and return its Response.

        Arguments are taken as they are: nothing is parsed or refused (script a raw answer for that).
        """
        return self.run(self._tool(agent or self.agent0, name, args))

    async def _tool(self, agent: Any, name: str, args: dict[str, Any]) -> Any:
        from agent import LoopData
        from helpers.extension import call_extensions_async

        if not hasattr(agent, "loop_data"):
            agent.loop_data = LoopData()
        agent.context.streaming_agent = agent
        tool = agent.get_tool(
            name, None, args, json.dumps(call(name, **args), default=str), agent.loop_data
        )
        agent.loop_data.current_tool = tool
        try:
            await tool.before_execution(**args)
            await call_extensions_async(
                "tool_execute_before", agent, tool_args=args, tool_name=name
            )
            response = await tool.execute(**args)
            await call_extensions_async(
                "tool_execute_after", agent, response=response, tool_name=name
            )
            await tool.after_execution(response)
            return response
        finally:
            agent.loop_data.current_tool = None

    def at(
        self, point: str, run: Callable[..., Any], times: int | None = None, **match: Any
    ) -> Callable[[], None]:
        """Call `run(agent, **kwargs of the point)` before the extensions at a point; "*" is every point (`point=`).

        `match` compares with the point's keyword arguments, or `profile=`; `times` ends it by itself. At asynchronous
        points `run` may be async. Returns the function that ends it. What `run` raises is raised at the point.
        """
        left = [times]

        def limited(agent: Any, **kwargs: Any) -> Any:
            if left[0] is not None:
                left[0] -= 1
                if left[0] <= 0:
                    stop()
                if left[0] < 0:
                    return None
            return run(agent, **kwargs)

        stop = double_script.listen(point, limited, match)
        return stop

    def trace(self) -> list[tuple[str, str]]:
        """From now on: (extension point, agent name) in the order in which they are reached."""
        double_script.trace = []
        return double_script.trace

    def api(self, handler: str, body: dict[str, Any] | None = None, plugin: str = PLUGIN) -> Any:
        """`POST /api/plugins/<plugin>/<handler>` past its guards; returns the Response."""
        from helpers import api, modules

        path = self.root / "usr/plugins" / plugin / "api" / f"{handler}.py"
        found = modules.load_classes_from_file(str(path), api.ApiHandler)[0]
        return self.run(found(None, threading.RLock()).handle_request(api.Request(body or {})))

    def hook(self, name: str, plugin: str = PLUGIN, **kwargs: Any) -> Any:
        """Call a function of the plugin's hooks.py as the host does."""
        from helpers import plugins

        return plugins.call_plugin_hook(plugin, name, **kwargs)

    def forget_caches(self) -> None:
        """The host's files changed: tools, extensions and hooks are looked for again. Helpers stay loaded."""
        from helpers import cache

        cache.clear_all()

    # ------------------------------------------------------------------ looking

    def messages(self, agent: Any = None) -> list[Any]:
        """The agent's history messages in order, bulks and topics included, without calling `output()`."""

        def inside(record: Any) -> list[Any]:
            parts = getattr(record, "records", getattr(record, "messages", None))
            return (
                [record]
                if parts is None
                else [message for part in list(parts) for message in inside(part)]
            )

        history = (agent or self.agent0).history
        return [
            message
            for part in (*history.bulks, *history.topics, history.current)
            for message in inside(part)
        ]

    def contents(self, agent: Any = None) -> list[Any]:
        return [message.content for message in self.messages(agent)]

    def tool_results(self, tool: str, agent: Any = None) -> list[dict[str, Any]]:
        """History messages of a tool's results: `{"tool_name", "tool_result", ...additional}`."""
        return [
            one
            for one in self.contents(agent)
            if isinstance(one, dict) and one.get("tool_name") == tool
        ]

    def warnings(self, agent: Any = None) -> list[str]:
        contents = self.contents(agent)
        return [
            one["system_warning"]
            for one in contents
            if isinstance(one, dict) and "system_warning" in one
        ]

    def rows(self, chat: Any = None, **wanted: Any) -> list[dict[str, Any]]:
        """The chat's log rows, those whose fields equal `wanted` (`type="tool"`)."""
        rows = [row.output() for row in list((chat or self.context).log.logs)]
        return [row for row in rows if all(row[field] == value for field, value in wanted.items())]

    def system_prompt(self, agent: Any = None) -> str:
        from agent import LoopData

        return "\n\n".join(self.run((agent or self.agent0).get_system_prompt(LoopData())))

    def notifications(self) -> list[dict[str, Any]]:
        from agent import AgentContext

        return AgentContext.get_notification_manager().output_all()

    def with_profile(self, agent: Any, profile: str) -> Any:
        """Give an agent a profile the safe way: a config of its own."""
        agent.config = dataclasses.replace(agent.config, profile=profile)
        return agent

    # ------------------------------------------------------------------ the loop

    def run(self, coroutine: Any, timeout_s: float = TIMEOUT_S) -> Any:
        """Run a coroutine on the host's loop, and return its result."""
        from helpers.defer import EventLoopThread

        return EventLoopThread(LOOP).run_coroutine(coroutine).result(timeout_s)

    def _on_loop(self) -> bool:
        return threading.current_thread().name == LOOP

    def _raise_failures(self) -> None:
        if double_script.failures:
            fault = double_script.failures[0]
            double_script.failures.clear()
            inner = fault.args[0] if isinstance(fault, double_script.Exhausted) else fault
            raise inner if isinstance(inner, BaseException) else fault

    def close(self) -> None:
        """End of the process: running tasks are cancelled, their threads joined."""
        from helpers.defer import EventLoopThread

        for thread in list(EventLoopThread._instances.values()):
            thread.terminate()

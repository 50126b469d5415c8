"""Not a module of the host: what a test holds in its hands. See `assemble.py` for how to use it."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import double_script
from double_script import Step, call

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

        An answer is raw text, a dict (sent as JSON) or a function of no argument or of the agent,
        which may be async, may do something ("the person writes now") and returns the answer, or
        None to go on with the next.
        """
        double_script.add(answers)

    @property
    def model_calls(self) -> list[dict[str, Any]]:
        """`{"agent", "names", "messages", "functions"}` for each question to a model.

        The system prompt is `messages[0]`; `functions` are None but in the native shape.
        """
        return double_script.model_calls

    @property
    def swallowed(self) -> list[BaseException]:
        """What the host hides without a trace: tools that do not load."""
        return double_script.swallowed

    def use_model(self, name: str, **kwargs: Any) -> None:
        """The model of all agents, as `provider/name`, with the options of its calls."""
        double_script.chat_model.model_name, double_script.chat_model.kwargs = name, kwargs

    # ------------------------------------------------------------------ the person

    def say(self, text: str, chat: Any = None, wait: bool = True) -> Any:
        """The person writes, as through the web page. Returns the final answer, or the task without `wait`.

        Raises what ended the chain (`HandledException`), and what was wrong with the test's script.
        """
        from agent import UserMessage
        from helpers import message_queue

        context = chat or self.context
        message_queue.log_user_message(context, text, [])
        task = context.communicate(UserMessage(message=text))
        return self.wait(context) if wait else task

    def interrupt(self, text: str, chat: Any = None) -> None:
        """The person writes while an agent works; for scripted functions and listeners."""
        self.say(text, chat, wait=False)

    def wait(self, chat: Any = None) -> Any:
        """Wait for the chat's task."""
        context = chat or self.context
        try:
            return context.task.result_sync(TIMEOUT_S)
        finally:
            self._raise_failures()

    def settle(self) -> None:
        """Wait until no chat has a running task, whatever ended it, and cancelled tasks have unwound."""
        end = time.monotonic() + TIMEOUT_S
        while any(context.is_running() for context in self.chats()):
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

    def reset(self) -> None:
        """The person resets the chat, as through the web page: saved, its message files removed."""
        from helpers import persist_chat

        self.context.reset()
        persist_chat.save_tmp_chat(self.context)
        persist_chat.remove_msg_files(self.context.id)

    def remove(self) -> None:
        """The person deletes the chat."""
        from agent import AgentContext
        from helpers import persist_chat

        self.context.reset()
        gone = AgentContext.remove(self.context.id)
        persist_chat.remove_chat(gone.id)

    def save_settings(self) -> None:
        """The person saves the settings page: the agents' configs are made anew."""
        from helpers import shape

        for context in self.chats():
            shape.configs_after_settings(context)

    # ------------------------------------------------------------------ chats and agents

    def new_chat(self) -> Any:
        from agent import AgentContext
        from initialize import initialize_agent

        return AgentContext(config=initialize_agent())

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

    def subordinate(self) -> Any:
        """The newest subordinate of the first agent in either shape, or None."""
        linear = self.agent0.get_data("_subordinate")
        children = self.agent0.get_data("_subordinates") or {}
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

        context = chat or self.context
        persist_chat.save_tmp_chat(context)
        return json.loads((self.root / f"usr/chats/{context.id}/chat.json").read_text("utf-8"))

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
        """Run a tool as an agent's turn would, without a model, and return its Response."""
        return self.run(self._tool(agent or self.agent0, name, args))

    async def _tool(self, agent: Any, name: str, args: dict[str, Any]) -> Any:
        from agent import LoopData

        if not hasattr(agent, "loop_data"):
            agent.loop_data = LoopData()
        agent.context.streaming_agent = agent
        message = json.dumps(call(name, **args), default=str)
        tool = agent.get_tool(name, None, args, message, agent.loop_data)
        return await agent.double_run_tool(tool, name, args)

    def at(
        self, point: str, run: Callable[..., Any], times: int | None = None, **match: Any
    ) -> Callable[[], None]:
        """Call `run(agent, **kwargs of the point)` before the extensions at a point; "*" is every point (`point=`).

        `match` compares with the point's keyword arguments, or `profile=`; `times` ends it by
        itself. At asynchronous points `run` may be async. Returns the function that ends it. What
        `run` raises is raised at the point.
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

    def api(self, handler: str, body: dict[str, Any], plugin: str = PLUGIN) -> Any:
        """`POST /api/plugins/<plugin>/<handler>` past its guards; returns the Response."""
        from helpers import api, modules

        path = self.root / "usr/plugins" / plugin / "api" / f"{handler}.py"
        (found,) = modules.load_classes_from_file(str(path), api.ApiHandler)
        return self.run(found(None, threading.RLock()).handle_request(api.Request(body)))

    def hook(self, name: str, plugin: str = PLUGIN, **kwargs: Any) -> Any:
        """Call a function of the plugin's hooks.py as the host does."""
        from helpers import plugins

        return plugins.call_plugin_hook(plugin, name, **kwargs)

    def forget_caches(self) -> None:
        """The host's files changed: tools, extensions and hooks are looked for again. Helpers stay loaded."""
        double_script.forget()

    # ------------------------------------------------------------------ looking

    def contents(self, agent: Any = None) -> list[Any]:
        """The agent's messages in order, bulks and topics included, without calling `output()`."""

        def inside(part: Any) -> list[Any]:
            parts = getattr(part, "records", getattr(part, "messages", None))
            if parts is None:
                return [part.content]
            return [content for one in parts for content in inside(one)]

        history = (agent or self.agent0).history
        parts = (*history.bulks, *history.topics, history.current)
        return [content for part in parts for content in inside(part)]

    def _dicts_with(self, key: str, agent: Any) -> list[dict[str, Any]]:
        return [one for one in self.contents(agent) if isinstance(one, dict) and key in one]

    def tool_results(self, tool: str, agent: Any = None) -> list[dict[str, Any]]:
        """History messages of a tool's results: `{"tool_name", "tool_result", ...additional}`."""
        return [one for one in self._dicts_with("tool_name", agent) if one["tool_name"] == tool]

    def warnings(self, agent: Any = None) -> list[str]:
        return [one["system_warning"] for one in self._dicts_with("system_warning", agent)]

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

    # ------------------------------------------------------------------ the loop

    def run(self, coroutine: Any) -> Any:
        """Run a coroutine on the host's loop, and return its result."""
        from helpers.defer import EventLoopThread

        return EventLoopThread(LOOP).run_coroutine(coroutine).result(TIMEOUT_S)

    def _raise_failures(self) -> None:
        if double_script.failures:
            fault = double_script.failures[0]
            double_script.failures.clear()
            raise fault

    def close(self) -> None:
        """End of the process: running tasks are cancelled, their threads joined."""
        from helpers.defer import EventLoopThread

        for thread in list(EventLoopThread._instances.values()):
            thread.terminate()

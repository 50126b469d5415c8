"""Runs inside Agent Zero's own Python and drives one chat at the command of `live.py`, one JSON object a line.

Started as `python live_host.py <host folder> <log file> <lifetime in seconds>` with the host folder, a copy, as working
directory. Commands come on standard input, answers go to standard output; what the host prints goes to the log
file. It ends when its input ends or its lifetime is over, whichever is first.
"""

import asyncio
import inspect
import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, TextIO


def take_over_output(log_file: str) -> TextIO:
    """Send what the host prints to `log_file`, and return the stream for our answers."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    log = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    return answers


class Host:
    """One chat of a real Agent Zero. Methods named `do_*` are the commands; they return JSON values."""

    def __init__(self) -> None:
        import agent  # the host's modules are there only after its folder is on sys.path
        import initialize

        from helpers import persist_chat, runtime
        from helpers import settings as host_settings

        runtime.initialize()
        self.agent_module = agent
        self.initialize = initialize
        self.persist = persist_chat
        self.settings = host_settings
        self.context: Any = None

    def do_open(self, chat_id: str = "", project: str = "") -> str:
        """Make a chat, or load every saved chat as the host does at its start and take up `chat_id`. Returns the id."""
        if chat_id:
            loaded = self.persist.load_tmp_chats()
            if chat_id not in loaded:
                raise LookupError(f"chat {chat_id} was not loaded; loaded: {loaded}")
            self.context = self.agent_module.AgentContext.get(chat_id)
        else:
            self.context = self.agent_module.AgentContext(
                config=self.initialize.initialize_agent(), set_current=True
            )
            if project:
                self._activate(project)
        return str(self.context.id)

    def _activate(self, name: str) -> None:
        from helpers import projects

        if not Path(projects.get_project_folder(name)).is_dir():
            data = {
                "title": name,
                "description": "",
                "instructions": "",
                "color": "",
                "git_url": "",
            }
            projects.create_project(name, data)
        projects.activate_project(self.context.id, name)

    def do_send(self, text: str, chat: str) -> None:
        """The person writes `text`, in `chat` if it names one; the run goes on in the host's own thread."""
        from helpers import message_queue

        context = self.agent_module.AgentContext.get(chat) if chat else self.context
        if context is None:
            raise LookupError(f"no chat {chat}")
        message_queue.log_user_message(context, text, [], None)
        context.communicate(self.agent_module.UserMessage(message=text, attachments=[]))

    def do_wait(self, timeout_s: float) -> dict[str, str]:
        """Wait for the end of the run: {"status": done | cancelled | failed | running | idle, "text"}."""
        import concurrent.futures

        task = self.context.task
        if task is None:
            return {"status": "idle", "text": ""}
        try:
            return {"status": "done", "text": str(task.result_sync(timeout_s))}
        except (concurrent.futures.CancelledError, asyncio.CancelledError):
            self._settle()
            return {"status": "cancelled", "text": ""}
        except TimeoutError as error:
            return {"status": "running" if task.is_alive() else "failed", "text": repr(error)}
        except Exception as error:
            return {"status": "failed", "text": "".join(traceback.format_exception(error))}

    def _settle(self, timeout_s: float = 10.0) -> None:
        """Wait until a cancelled run has left the host's loop: the future is done before the coroutines are unwound."""
        loop = self.context.task.event_loop_thread.loop
        end = time.monotonic() + timeout_s
        while any(_is_run(task) for task in asyncio.all_tasks(loop)):
            if time.monotonic() > end:
                raise TimeoutError(f"a cancelled run is still there after {timeout_s:g} s")
            time.sleep(0.02)

    def do_stop(self) -> None:
        """End the run, as removing or resetting the chat does first."""
        self.context.kill_process()

    def do_nudge(self) -> None:
        """The person presses Nudge."""
        self.context.nudge()

    def do_reset(self) -> None:
        """The person presses Reset Chat."""
        self.context.reset()
        self.persist.save_tmp_chat(self.context)
        self.persist.remove_msg_files(self.context.id)

    def do_remove(self) -> None:
        """The person deletes the chat."""
        self.context.reset()
        self.agent_module.AgentContext.remove(self.context.id)
        self.persist.remove_chat(self.context.id)

    def do_pause(self, paused: bool) -> None:
        """The person presses Pause or Resume."""
        self.context.paused = paused

    def do_save_settings(self, changes: dict[str, Any]) -> None:
        """The person saves the settings page. The root password is left alone: the host would set this machine's."""
        untouched = {"root_password": self.settings.PASSWORD_PLACEHOLDER}
        self.settings.set_settings({**self.settings.get_settings(), **changes, **untouched})

    def do_save(self) -> None:
        """Write chat.json now, also when the host would do it later."""
        self.persist.save_tmp_chat(self.context)

    def do_agents(self) -> dict[str, Any]:
        """The agents of this chat and its children as they are in memory, and which of them is at work."""
        agents = []
        streaming = None
        family = self._family()
        for context in family:
            current = context.agent0
            while current is not None:
                agents.append(_agent_row(current))
                current = current.data.get(self.agent_module.Agent.DATA_NAME_SUBORDINATE)
            if context.streaming_agent is not None:
                streaming = context.streaming_agent.number
        running = any(context.is_running() for context in family)
        return {"agents": agents, "streaming": streaming, "running": running}

    def _family(self) -> list[Any]:
        """This chat, then those that name it or its children as their parent, as they were made."""
        family = [self.context]
        others = sorted(self.agent_module.AgentContext._contexts.values(), key=lambda c: c.no)
        for parent in family:  # grows as it is walked
            for context in others:
                if context.output_data.get("parent_context_id") == parent.id:
                    family.append(context)
        return family

    def do_inside(self, source: str, values: dict[str, Any]) -> Any:
        """Run `source` here with `context` and `values` as its names; its `result` comes back, awaited if need be."""
        names: dict[str, Any] = {"context": self.context, **values}
        exec(compile(source, "<inside>", "exec"), names)
        result = names.get("result")
        if inspect.isawaitable(result):
            from helpers.defer import DeferredTask

            result = (
                DeferredTask(thread_name=type(self.context).__name__)
                .start_task(_await, result)
                .result_sync(60)
            )
        return result


def _is_run(task: "asyncio.Task[Any]") -> bool:
    return getattr(task.get_coro(), "__qualname__", "") == "DeferredTask._run"


async def _await(value: Any) -> Any:
    return await value


def _agent_row(agent: Any) -> dict[str, Any]:
    data = {}
    for key, value in agent.data.items():
        if _is_plain(value) and not key.startswith("_"):
            data[key] = value
    return {
        "number": agent.number,
        "profile": agent.config.profile,
        "agent_name": agent.agent_name,
        "chat": agent.context.id,
        "data": data,
    }


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def answer(host: Host, line: str) -> dict[str, Any]:
    """Carry out one command, {"do": name, "with": {...}}: {"value"} or {"error"}."""
    asked = json.loads(line)
    try:
        return {"value": getattr(host, "do_" + asked["do"])(**asked["with"])}
    except Exception as error:
        return {"error": "".join(traceback.format_exception(error))}


def main() -> None:
    host_folder, log_file, lifetime_s = sys.argv[1:4]
    answers = take_over_output(log_file)
    threading.Timer(float(lifetime_s), lambda: os._exit(3)).start()
    sys.argv[1:] = ["--dockerized=true"]
    sys.path[0] = host_folder
    host: Host | None = None
    try:
        host = Host()
        reply: dict[str, Any] = {"value": "ready"}
    except BaseException as error:
        reply = {"error": "".join(traceback.format_exception(error))}
    while True:
        answers.write(json.dumps(reply) + "\n")
        answers.flush()
        line = sys.stdin.readline()
        if host is None or not line:
            os._exit(0 if host else 2)  # the host's threads would keep the process alive
        reply = answer(host, line)


if __name__ == "__main__":
    main()

"""Tasks on named event loop threads: all chats share the loop "AgentContext"."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

THREAD_BACKGROUND = "Background"


class EventLoopThread:
    """One loop and one thread for a name; making it again gives the same one."""

    _instances: dict[str, "EventLoopThread"] = {}
    _lock = threading.Lock()

    def __new__(cls, thread_name: str = THREAD_BACKGROUND):
        with cls._lock:
            if thread_name not in cls._instances:
                cls._instances[thread_name] = super().__new__(cls)
            return cls._instances[thread_name]

    def __init__(self, thread_name: str = THREAD_BACKGROUND) -> None:
        if getattr(self, "thread", None) is not None:
            return
        self.thread_name, self.loop = thread_name, asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._serve, name=thread_name, daemon=True)
        self.thread.start()

    def _serve(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def terminate(self):
        """Cancels what is left on the loop, stops it and joins its thread."""
        with self._lock:
            self._instances.pop(self.thread_name, None)
        if self.loop.is_closed():
            return

        async def drain():
            pending = asyncio.all_tasks() - {asyncio.current_task()}
            for task in pending:
                task.cancel()
            if pending:
                await asyncio.wait(pending)
            await self.loop.shutdown_default_executor()

        asyncio.run_coroutine_threadsafe(drain(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()

    def run_coroutine(self, coro):
        return asyncio.run_coroutine_threadsafe(coro, loop=self.loop)


@dataclass
class ChildTask:
    task: "DeferredTask"
    terminate_thread: bool


class DeferredTask:
    def __init__(self, thread_name: str = THREAD_BACKGROUND):
        self.event_loop_thread = EventLoopThread(thread_name=thread_name)
        self._future: Future | None = None
        self.children: list[ChildTask] = []

    def start_task(self, func: Callable[..., Coroutine[Any, Any, Any]], *args: Any, **kwargs: Any):
        self.func, self.args, self.kwargs = func, args, kwargs
        self._begin()
        return self

    def _begin(self):
        self._future = self.event_loop_thread.run_coroutine(self.func(*self.args, **self.kwargs))
        self._future.add_done_callback(lambda _: self.kill_children())

    def is_ready(self) -> bool:
        return self._future is not None and self._future.done()

    def is_alive(self) -> bool:
        return self._future is not None and not self._future.done()

    def result_sync(self, timeout: float | None = None) -> Any:
        if self._future is None:
            raise RuntimeError("no task was started")
        return self._future.result(timeout)

    async def result(self, timeout: float | None = None) -> Any:
        if self._future is None:
            raise RuntimeError("no task was started")
        return await asyncio.get_running_loop().run_in_executor(None, self._future.result, timeout)

    def kill(self, terminate_thread: bool = False) -> None:
        self.kill_children()
        if self.is_alive():
            self._future.cancel()
        if terminate_thread:
            self.event_loop_thread.terminate()

    def kill_children(self) -> None:
        children, self.children = self.children, []
        for child in children:
            child.task.kill(child.terminate_thread)

    def restart(self, terminate_thread: bool = False) -> None:
        self.kill(terminate_thread=terminate_thread)
        self._begin()

    def add_child_task(self, task: "DeferredTask", terminate_thread: bool = False) -> None:
        self.children += [ChildTask(task, terminate_thread)]

    def execute_inside(self, func: Callable[..., Any], *args, **kwargs) -> Awaitable[Any]:
        async def work():
            outcome = func(*args, **kwargs)
            while isinstance(outcome, Awaitable):
                outcome = await outcome
            return outcome

        return asyncio.wrap_future(self.event_loop_thread.run_coroutine(work()))

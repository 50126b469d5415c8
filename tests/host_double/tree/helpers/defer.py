"""Tasks on named event loop threads: all chats share the loop "AgentContext"."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
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
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name=thread_name, daemon=True)
        self.thread.start()

    def terminate(self):
        """Cancels what is left on the loop, stops it and joins its thread."""

        async def drain():
            pending = asyncio.all_tasks() - {asyncio.current_task()}
            for task in pending:
                task.cancel()
            if pending:
                await asyncio.wait(pending)
            await self.loop.shutdown_default_executor()

        self.run_coroutine(drain()).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()

    def run_coroutine(self, coro):
        return asyncio.run_coroutine_threadsafe(coro, loop=self.loop)


class DeferredTask:
    def __init__(self, thread_name: str = THREAD_BACKGROUND):
        self.event_loop_thread = EventLoopThread(thread_name=thread_name)
        self._future: Future | None = None
        self._starting = threading.Lock()

    def start_task(self, func: Callable[..., Coroutine[Any, Any, Any]], *args: Any, **kwargs: Any):
        """The coroutine's first step waits until this task is known to be alive."""

        async def run():
            with self._starting:
                pass
            return await func(*args, **kwargs)

        with self._starting:
            self._future = self.event_loop_thread.run_coroutine(run())
        return self

    def is_alive(self) -> bool:
        return self._future is not None and not self._future.done()

    def result_sync(self, timeout: float | None = None) -> Any:
        return self._future.result(timeout)

    def kill(self, terminate_thread: bool = False) -> None:
        if self.is_alive():
            self._future.cancel()

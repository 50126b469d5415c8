"""Extension points: folders of files, one class a file, first folder wins by base name."""

import inspect
from abc import abstractmethod
from collections.abc import Awaitable
from functools import wraps
from typing import Any

import double_script
from helpers import modules

_NOT_SET = object()


def extensible(func):
    """Adds `_functions/<module>/<qualname>/start` and `/end` around a function.

    Both get `data`: args, kwargs, result, exception; `start` may change the inputs or answer
    instead, `end` may change result and exception. Only `Exception` is caught: a cancel passes by
    and `end` does not run.
    """
    point = f"_functions/{func.__module__}/{func.__qualname__.replace('.', '/')}"

    def begin(args: tuple, kwargs: dict):
        return _agent_among(args, kwargs), {
            "args": args, "kwargs": kwargs, "result": _NOT_SET, "exception": None,
        }  # fmt: skip

    def outcome(data: dict):
        if data["exception"] is not None:
            raise data["exception"]
        return data["result"]

    @wraps(func)
    async def run_async(*args, **kwargs):
        agent, data = begin(args, kwargs)
        await call_extensions_async(f"{point}/start", agent=agent, data=data)
        if outcome(data) is _NOT_SET:
            try:
                data["result"] = await func(*data["args"], **data["kwargs"])
            except Exception as fault:
                data["exception"] = fault
        await call_extensions_async(f"{point}/end", agent=agent, data=data)
        return None if outcome(data) is _NOT_SET else data["result"]

    @wraps(func)
    def run_sync(*args, **kwargs):
        agent, data = begin(args, kwargs)
        call_extensions_sync(f"{point}/start", agent=agent, data=data)
        if outcome(data) is _NOT_SET:
            try:
                data["result"] = func(*data["args"], **data["kwargs"])
            except Exception as fault:
                data["exception"] = fault
        call_extensions_sync(f"{point}/end", agent=agent, data=data)
        return None if outcome(data) is _NOT_SET else data["result"]

    return run_async if inspect.iscoroutinefunction(func) else run_sync


def _agent_among(args: tuple, kwargs: dict):
    """The first argument that is a finished Agent: in `Agent.__init__` there is none yet."""
    from agent import Agent

    for one in (kwargs.get("agent"), *args):
        if isinstance(one, Agent) and vars(one):
            return one
    return None


class Extension:
    def __init__(self, agent: Any, **kwargs):
        self.agent, self.kwargs = agent, kwargs

    @abstractmethod
    def execute(self, **kwargs) -> Awaitable[None] | None:
        raise NotImplementedError


async def call_extensions_async(extension_point: str, agent: Any = None, **kwargs):
    for heard in double_script.heard(extension_point, agent, kwargs):
        if inspect.isawaitable(heard):
            await heard
    for cls in _classes_at(extension_point, agent):
        done = cls(agent=agent).execute(**kwargs)
        if isinstance(done, Awaitable):
            await done


def call_extensions_sync(extension_point: str, agent: Any = None, **kwargs):
    double_script.heard(extension_point, agent, kwargs)
    for cls in _classes_at(extension_point, agent):
        done = cls(agent=agent).execute(**kwargs)
        if isinstance(done, Awaitable):
            done.close()
            raise ValueError(f"{cls.__name__} is awaitable, {extension_point} a synchronous point")


def _classes_at(point: str, agent: Any) -> list[type]:
    """By base name. A file that cannot be imported raises at every call of its point."""
    from helpers import subagents

    def find() -> list[type]:
        by_name: dict[str, type] = {}
        for folder in subagents.get_paths(agent, "extensions/python", point):
            for cls in modules.load_classes_from_folder(folder, "*", Extension):
                by_name.setdefault(cls.__module__, cls)
        return [by_name[name] for name in sorted(by_name)]

    profile = agent.config.profile if agent else ""
    project = agent.context.get_data("project") if agent else ""
    return double_script.once(find, "extensions", point, profile, project)

"""Extension points: folders of files, one class a file, first folder wins by base name."""

import inspect
import os
from abc import abstractmethod
from collections.abc import Awaitable
from functools import wraps
from typing import Any

import double_script
from helpers import cache, files, modules

DEFAULT_EXTENSIONS_FOLDER = "python/extensions"
USER_EXTENSIONS_FOLDER = "usr/extensions"

_FOLDERS = "extension_folder_classes(extensions)"
_POINTS = "extension_classes(extensions)"
_NOT_SET = object()


def extensible(func):
    """Adds `_functions/<module>/<qualname>/start` and `/end` around a function.

    Both get `data`: args, kwargs, result, exception; `start` may change the inputs or answer instead, `end` may change
    result and exception. Only `Exception` is caught: a cancel passes by and `end` does not run.
    """
    base = os.path.join(
        "_functions", *f"{func.__module__}.{func.__qualname__}".replace("<locals>.", "").split(".")
    )
    start, end = os.path.join(base, "start"), os.path.join(base, "end")

    def outcome(data: dict):
        if isinstance(data["exception"], BaseException):
            raise data["exception"]
        return data["result"]

    def fresh(args: tuple, kwargs: dict):
        return _agent_among(args, kwargs), {
            "args": args,
            "kwargs": kwargs,
            "result": _NOT_SET,
            "exception": None,
        }

    def inputs(data: dict):
        args = data["args"] if isinstance(data["args"], tuple) else (data["args"],)
        return args, data["kwargs"] if isinstance(data["kwargs"], dict) else {}

    @wraps(func)
    async def run_async(*args, **kwargs):
        agent, data = fresh(args, kwargs)
        await call_extensions_async(start, agent=agent, data=data)
        if outcome(data) is _NOT_SET:
            given, named = inputs(data)
            try:
                data["result"] = await func(*given, **named)
            except Exception as fault:
                data["exception"] = fault
        await call_extensions_async(end, agent=agent, data=data)
        result = outcome(data)
        return None if result is _NOT_SET else result

    @wraps(func)
    def run_sync(*args, **kwargs):
        agent, data = fresh(args, kwargs)
        call_extensions_sync(start, agent=agent, data=data)
        if outcome(data) is _NOT_SET:
            given, named = inputs(data)
            try:
                data["result"] = func(*given, **named)
            except Exception as fault:
                data["exception"] = fault
        call_extensions_sync(end, agent=agent, data=data)
        result = outcome(data)
        return None if result is _NOT_SET else result

    chosen = run_async if inspect.iscoroutinefunction(func) else run_sync
    chosen.extension_points = (start, end)
    return chosen


def _agent_among(args: tuple, kwargs: dict):
    """The first argument that is a finished Agent: in `Agent.__init__` there is none yet."""
    from agent import Agent

    among = (kwargs.get("agent"), *args)
    return next((one for one in among if isinstance(one, Agent) and vars(one)), None)


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
            if inspect.iscoroutine(done):
                done.close()
            raise ValueError(
                f"{cls.__name__} is awaitable, but {extension_point} is a synchronous point"
            )


def get_webui_extensions(agent: Any, extension_point: str, filters: list[str] | None = None):
    from helpers import subagents

    return [
        files.deabsolute_path(path)
        for folder in subagents.get_paths(agent, "extensions/webui", extension_point)
        for pattern in filters or ["*"]
        for path in files.find_existing_paths_by_pattern(files.get_abs_path(folder, pattern))
    ]


def _classes_at(point: str, agent: Any) -> list[type]:
    from helpers import subagents

    key = cache.determine_cache_key(agent, point)
    known = cache.get(_POINTS, key)
    if known is None:
        by_name: dict[str, type] = {}
        for folder in subagents.get_paths(agent, "extensions/python", point):
            for cls in _classes_in(folder):
                by_name.setdefault(cls.__module__.rpartition(".")[2], cls)
        known = [by_name[name] for name in sorted(by_name)]
        cache.add(_POINTS, key, known)
    return known


def _classes_in(folder: str) -> list[type]:
    """A file of the folder that cannot be imported raises here, that is at every call of the point."""
    known = cache.get(_FOLDERS, folder)
    if known is None:
        if not files.exists(folder):
            return []
        known = modules.load_classes_from_folder(folder, "*", Extension)
        cache.add(_FOLDERS, folder, known)
    return known

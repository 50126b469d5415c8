"""Not a module of the host: the scripted model, the listeners at extension points, what is kept and swallowed.

State of one running double; it goes when the double's modules go.
"""

import asyncio
import inspect
import json
from collections import deque
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

Step = str | dict | Callable[..., Any]


def call(tool: str, /, **args: Any) -> dict[str, Any]:
    """A model's answer that calls a tool: `script({"agent0": [call("handover_reply", verdict="accept")]})`."""
    return {"thoughts": ["..."], "headline": f"Using {tool}", "tool_name": tool, "tool_args": args}


def respond(text: str) -> dict[str, Any]:
    """A model's answer that ends its run with the host's `response` tool."""
    return call("response", text=text)


class Exhausted(BaseException):
    """Carries a wrong script or a failed assertion past the host's `except Exception`: the test fails at once."""


queues: dict[str, deque[Step]] = {}
swallowed: list[BaseException] = []
failures: list[BaseException] = []
model_calls: list[dict[str, Any]] = []
trace: list[tuple[str, str]] | None = None
chat_model = SimpleNamespace(model_name="openai/scripted", kwargs={})
_listeners: list[tuple[str, Callable[..., Any], dict[str, Any]]] = []
_kept: dict[tuple, Any] = {}


def once(find: Callable[[], Any], *key: Any) -> Any:
    """What `find` gave for this key the first time; the host caches alike, until `forget`."""
    if key not in _kept:
        _kept[key] = find()
    return _kept[key]


def forget() -> None:
    _kept.clear()


# ---------------------------------------------------------------------- the model


def names_of(agent: Any) -> tuple[str, ...]:
    """The keys a script may use for an agent, the most exact first: `frontend_designer#1`, profile, `A1`."""
    profile = agent.config.profile or "default"
    return f"{profile}#{agent.number}", profile, f"A{agent.number}"


def add(answers: dict[str, Iterable[Step] | Step]) -> None:
    for name, steps in answers.items():
        listed = [steps] if isinstance(steps, str | dict) or callable(steps) else steps
        queues.setdefault(name, deque()).extend(listed)


def left() -> dict[str, int]:
    return {name: len(queue) for name, queue in queues.items() if queue}


async def answer_of(agent: Any, call_data: dict[str, Any]) -> str:
    """The agent's next answer. A wrong script and a failed assertion fail the test, not the chat."""
    functions = call_data.get("a0_responses_function_tools")
    asked = {"messages": call_data["messages"], "functions": functions}
    model_calls.append({"agent": agent, "names": names_of(agent), **asked})
    try:
        while True:
            step = _next_step(agent)
            if callable(step):
                step = await _played(step, agent)
            if step is not None:
                return step if isinstance(step, str) else json.dumps(step, ensure_ascii=False)
    except AssertionError as fault:
        failures.append(fault)
        raise Exhausted(fault) from fault


def _next_step(agent: Any) -> Step:
    for name in names_of(agent):
        if queues.get(name):
            return queues[name].popleft()
    names = " / ".join(names_of(agent))
    raise AssertionError(f"no answer left for {names}; left: {left() or 'nothing'}")


async def _played(step: Callable[..., Any], agent: Any) -> Any:
    answer = step(agent) if inspect.signature(step).parameters else step()
    if inspect.isawaitable(answer):
        answer = await answer
    for _ in range(3):  # a cancel or a message that the function caused arrives now
        await asyncio.sleep(0)
    return answer


# ---------------------------------------------------------------------- extension points


def listen(point: str, run: Callable[..., Any], match: dict[str, Any]) -> Callable[[], None]:
    """Call `run(agent, **kwargs)` before the extensions at `point` ("*": at all); returns what ends it."""
    entry = (point, run, match)
    _listeners.append(entry)
    return lambda: _listeners.remove(entry) if entry in _listeners else None


def heard(point: str, agent: Any, kwargs: dict[str, Any]) -> list[Any]:
    """Tell the listeners; returns what they returned, coroutines included, for the caller to await."""
    if trace is not None:
        trace.append((point, getattr(agent, "agent_name", "")))
    results = []
    profile = getattr(getattr(agent, "config", None), "profile", None)
    for wanted, run, match in list(_listeners):
        given = kwargs | {"agent": agent, "profile": profile}
        if wanted in (point, "*") and all(given.get(key) == value for key, value in match.items()):
            where = {"point": point} if wanted == "*" else {}
            results.append(run(agent, **where, **kwargs))
    return results

"""Not a module of the host: the scripted model, the listeners at extension points, and what the host swallows.

State of one running double; it goes when the double's modules go.
"""

import asyncio
import inspect
import json
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

Step = str | dict | Callable[..., Any]


class ScriptError(AssertionError):
    """The test's script has no answer left for an agent that asks its model."""


class Exhausted(BaseException):
    """Carries a wrong script or a failed assertion past the host's `except Exception`: the test fails at once."""


queues: dict[str, deque[Step]] = {}
utility: Callable[[str, str], str] | str = ""
swallowed: list[BaseException] = []
failures: list[BaseException] = []
model_calls: list[dict[str, Any]] = []
utility_calls: list[dict[str, Any]] = []
trace: list[tuple[str, str]] | None = None
_listeners: list[tuple[str, Callable[..., Any], dict[str, Any]]] = []


def names_of(agent: Any) -> tuple[str, ...]:
    """The keys a script may use for an agent, the most exact first: `frontend_designer#1`, profile, `A1`."""
    profile = agent.config.profile or "default"
    return f"{profile}#{agent.number}", profile, f"A{agent.number}"


def add(answers: dict[str, Iterable[Step] | Step]) -> None:
    for name, steps in answers.items():
        listed = [steps] if isinstance(steps, str | dict) or callable(steps) else list(steps)
        queues.setdefault(name, deque()).extend(listed)


def left() -> dict[str, int]:
    return {name: len(queue) for name, queue in queues.items() if queue}


def _next_step(agent: Any) -> Step:
    for name in names_of(agent):
        if queues.get(name):
            return queues[name].popleft()
    raise Exhausted(
        ScriptError(
            f"no answer left for {' / '.join(names_of(agent))}; left: {left() or 'nothing'}"
        )
    )


async def _answer(agent: Any) -> str:
    while True:
        step = _next_step(agent)
        if callable(step):
            step = step(agent) if inspect.signature(step).parameters else step()
            if inspect.isawaitable(step):
                step = await step
            for _ in range(3):  # a cancel or a message that the hook caused arrives now
                await asyncio.sleep(0)
        if step is not None:
            return step if isinstance(step, str) else json.dumps(step, ensure_ascii=False)


class ScriptedModel:
    """Has the one method of the host's chat model that agents call."""

    def __init__(self, agent: Any, utility: bool = False):
        self.agent, self.utility = agent, utility

    async def unified_call(
        self, messages: list[Any] | None = None, response_callback: Any = None, **more: Any
    ):
        if self.utility:
            return await self._utility_call(**more)
        model_calls.append(
            {"agent": self.agent, "names": names_of(self.agent), "messages": list(messages or [])}
        )
        try:
            text = await _answer(self.agent)
        except (Exhausted, AssertionError) as fault:
            failures.append(fault)
            raise Exhausted(fault) from fault
        stop = await response_callback(text, text) if response_callback else None
        return stop or text, ""

    async def _utility_call(self, system_message: str = "", user_message: str = "", **_: Any):
        utility_calls.append(
            {"agent": self.agent, "system": system_message, "message": user_message}
        )
        return (utility(system_message, user_message) if callable(utility) else utility), ""


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
    for wanted, run, match in list(_listeners):
        given = kwargs | {
            "agent": agent,
            "profile": getattr(getattr(agent, "config", None), "profile", None),
        }
        if wanted in (point, "*") and all(given.get(key) == value for key, value in match.items()):
            call = {"point": point} if wanted == "*" else {}
            results.append(run(agent, **call, **{k: v for k, v in kwargs.items() if k != "point"}))
    return results

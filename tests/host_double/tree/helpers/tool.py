"""The base of all tools, and what they return."""

import uuid
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from helpers.extension import call_extensions_async
from helpers.print_style import PrintStyle
from helpers.strings import sanitize_string


@dataclass
class Response:
    message: str
    break_loop: bool
    additional: dict[str, Any] | None = None


class Tool:
    def __init__(
        self,
        agent: Any,
        name: str,
        method: str | None,
        args: dict[str, str],
        message: str,
        loop_data: Any,
        **kwargs,
    ) -> None:
        self.agent, self.name, self.method, self.args = agent, name, method, args
        self.loop_data, self.message = loop_data, message
        self.progress: str = ""

    @abstractmethod
    async def execute(self, **kwargs) -> Response:
        raise NotImplementedError

    async def set_progress(self, content: str | None):
        holder = {"content": content or ""}
        await call_extensions_async("tool_output_update", self.agent, ctx=holder)
        self.progress = holder["content"]

    def add_progress(self, content: str | None):
        self.progress += content or ""

    async def before_execution(self, **kwargs):
        PrintStyle().print(f"{self.agent.agent_name} uses {self.name}")
        self.log = self.get_log_object()
        for key, value in (self.args or {}).items():
            holder = {"content": value if isinstance(value, str) else f"{value}"}
            await call_extensions_async("tool_output_update", self.agent, ctx=holder)
            PrintStyle().stream(f"{self.nice_key(key)}: {holder['content']}")

    async def after_execution(self, response: Response, **kwargs):
        result = sanitize_string(response.message.strip())
        self.agent.hist_add_tool_result(
            self.name, result, id=self.log.id, **(response.additional or {})
        )
        PrintStyle().print(f"{self.agent.agent_name} got from {self.name}: {result}")
        self.log.update(content=result)

    def get_log_object(self):
        called = f"{self.name}:{self.method}" if self.method else self.name
        return self.agent.context.log.log(
            type="tool",
            heading=f"icon://construction {self.agent.agent_name}: Using tool '{called}'",
            content="",
            kvps=self.args,
            id=str(uuid.uuid4()),
            _tool_name=self.name,
        )

    def nice_key(self, key: str):
        first, *others = key.split("_")
        return " ".join([first.capitalize(), *(word.lower() for word in others)])

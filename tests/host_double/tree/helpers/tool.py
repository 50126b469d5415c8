"""The base of all tools, and what they return."""

import uuid
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any


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
        self.progress = content or ""

    async def before_execution(self, **kwargs):
        self.log = self.get_log_object()

    async def after_execution(self, response: Response, **kwargs):
        result = response.message.strip()
        more = response.additional or {}
        self.agent.hist_add_tool_result(self.name, result, id=self.log.id, **more)
        self.log.update(content=result)

    def get_log_object(self):
        return self.agent.context.log.log(
            type="tool",
            heading=f"icon://construction {self.agent.agent_name}: Using tool '{self.name}'",
            content="",
            kvps=self.args,
            id=str(uuid.uuid4()),
            _tool_name=self.name,
        )

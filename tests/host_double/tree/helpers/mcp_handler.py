"""MCP servers of the double: tests put them in, by the names of their tools."""

from dataclasses import dataclass, field
from typing import Any

from helpers.tool import Response, Tool


@dataclass
class Server:
    name: str
    tools: list[str]
    called: list[dict] = field(default_factory=list)


class MCPTool(Tool):
    """Its class is the host's own: no file is looked for."""

    async def execute(self, **kwargs) -> Response:
        server = MCPConfig.get_instance().server_of(self.name)
        server.called.append(kwargs)
        return Response(message=f"{self.name} was called", break_loop=False)


class MCPConfig:
    _instance: "MCPConfig | None" = None

    def __init__(self) -> None:
        self.servers: list[Server] = []

    @classmethod
    def get_instance(cls) -> "MCPConfig":
        cls._instance = cls._instance or cls()
        return cls._instance

    def server_of(self, tool_name: str) -> Server | None:
        name, _, tool = tool_name.partition(".")
        found = (one for one in self.servers if one.name == name and tool in one.tools)
        return next(found, None)

    def get_tool(self, agent: Any, tool_name: str) -> MCPTool | None:
        if self.server_of(tool_name) is None:
            return None
        return MCPTool(agent, tool_name, None, {}, "", None)

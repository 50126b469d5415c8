from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class BeforeTool(Extension):
    async def execute(self, tool_args: dict = {}, tool_name: str = "", **kwargs):  # noqa: B006
        if self.agent:
            await events.before_tool(self.agent, tool_name, tool_args)

from extensions.python.system_prompt import _11_tools_prompt as tools_prompt
from helpers.tool import Response, Tool


class Unknown(Tool):
    async def execute(self, **kwargs):
        listed = await tools_prompt.build_prompt(self.agent)
        text = self.agent.read_prompt(
            "fw.tool_not_found.md", tool_name=self.name, tools_prompt=listed
        )
        return Response(message=text, break_loop=False)

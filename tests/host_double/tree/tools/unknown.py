from helpers.tool import Response, Tool


class Unknown(Tool):
    async def execute(self, **kwargs):
        text = self.agent.read_prompt("fw.tool_not_found.md", tool_name=self.name)
        return Response(message=text, break_loop=False)

from helpers.tool import Response, Tool


class ResponseTool(Tool):
    """Ends the agent's run: neither a row nor a history message of its own."""

    async def execute(self, **kwargs):
        return Response(message=self.args["text"], break_loop=True)

    async def before_execution(self, **kwargs):
        return None

    async def after_execution(self, response, **kwargs):
        return None

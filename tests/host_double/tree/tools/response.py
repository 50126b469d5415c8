from helpers.tool import Response, Tool


class ResponseTool(Tool):
    """Ends the agent's run: neither a row nor a history message of its own."""

    async def execute(self, **kwargs):
        return Response(message=self.args.get("text", self.args.get("message")), break_loop=True)

    async def before_execution(self, **kwargs):
        return None

    async def after_execution(self, response, **kwargs):
        row = self.loop_data.params_temporary.get("log_item_response") if self.loop_data else None
        if row is not None:
            row.update(finished=True)

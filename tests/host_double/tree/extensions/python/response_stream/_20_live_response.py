from helpers.extension import Extension


class LiveResponse(Extension):
    """The answer to the person is a row of its own, with the heading of the agent that speaks."""

    async def execute(self, loop_data, text: str = "", parsed: dict | None = None, **kwargs):
        fields = parsed or {}
        args = fields.get("tool_args")
        if (
            fields.get("tool_name") != "response"
            or not isinstance(args, dict)
            or not args.get("text")
        ):
            return
        kept = loop_data.params_temporary
        if "log_item_response" not in kept:
            made = kept.get("log_item_generating")
            heading = f"icon://chat {self.agent.agent_name}: Responding"
            kept["log_item_response"] = self.agent.context.log.log(
                type="response", heading=heading, id=made.id if made else ""
            )
        kept["log_item_response"].update(content=args["text"])

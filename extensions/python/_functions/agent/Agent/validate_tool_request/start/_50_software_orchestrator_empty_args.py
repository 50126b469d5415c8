from helpers.extension import Extension


class EmptyArgs(Extension):
    """`request_full_history` works without arguments; the host refuses an empty `tool_args` before any tool is reached."""

    async def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        request = (*data.get("args", ()), *data.get("kwargs", {}).values())[1]
        if isinstance(request, dict) and request.get("tool_name") == "request_full_history" and not request.get("tool_args"):
            request["tool_args"] = {"reason": ""}

from helpers.extension import Extension

ASKED = {
    "request_full_history": "reason",
    "handover_to_specialist": "topic",
    "handover_reply": "verdict",
}


class EmptyArgs(Extension):
    """The host refuses an empty `tool_args` before any tool is reached; ours say better what they need."""

    async def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        request = next(
            (
                each
                for each in (*data.get("args", ()), *data.get("kwargs", {}).values())
                if isinstance(each, dict)
            ),
            {},
        )
        name = request.get("tool_name")
        if name in ASKED and request.get("tool_args") in (None, {}):
            request["tool_args"] = {ASKED[name]: ""}

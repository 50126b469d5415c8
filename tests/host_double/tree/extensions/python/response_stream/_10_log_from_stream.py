from extensions.python.before_main_llm_call._10_log_for_stream import build_heading
from helpers.extension import Extension


class LogFromStream(Extension):
    """The row of the answer gets the model's headline and all its fields."""

    async def execute(self, loop_data, text: str = "", parsed: dict | None = None, **kwargs):
        fields = parsed or {}
        fallback = f"Using {fields['tool_name']}" if "tool_name" in fields else "Receiving..."
        heading = build_heading(self.agent, fields.get("headline", fallback))
        loop_data.params_temporary["log_item_generating"].update(
            heading=heading, content=text, kvps=fields
        )

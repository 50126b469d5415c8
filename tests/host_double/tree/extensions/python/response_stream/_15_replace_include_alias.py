from helpers.extension import Extension
from helpers.strings import replace_file_includes


class ReplaceIncludeAlias(Extension):
    """Expands `§§include(path)` in what is shown; the tool gets its arguments as they were written."""

    async def execute(self, loop_data=None, text: str = "", parsed: dict | None = None, **kwargs):
        def expanded(value):
            if isinstance(value, str):
                return replace_file_includes(value)
            if isinstance(value, dict):
                return {key: expanded(one) for key, one in value.items()}
            return [expanded(one) for one in value] if isinstance(value, list) else value

        if parsed and "tool_name" in parsed and "tool_args" in parsed:
            parsed["tool_args"] = expanded(parsed["tool_args"])

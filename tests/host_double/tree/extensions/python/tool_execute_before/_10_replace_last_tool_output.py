from helpers.extension import Extension


class ReplaceLastToolOutput(Extension):
    """Works only when something put `{"last_tool_output": ...}` under `last_tool_call`: the host itself never does."""

    async def execute(self, tool_args: dict | None = None, tool_name: str = "", **kwargs):
        known = ((self.agent.get_data("last_tool_call") or {}) if self.agent else {}).get(
            "last_tool_output"
        )
        if not tool_args or not known:
            return

        def filled(value):
            if isinstance(value, str):
                return value.replace("{last_tool_output}", known)
            if isinstance(value, dict):
                return {key: filled(one) for key, one in value.items()}
            return [filled(one) for one in value] if isinstance(value, list) else value

        for key, value in list(tool_args.items()):
            tool_args[key] = filled(value)

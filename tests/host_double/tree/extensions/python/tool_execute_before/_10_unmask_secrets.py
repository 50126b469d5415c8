from helpers.extension import Extension
from helpers.secrets import get_secrets_manager


class UnmaskToolSecrets(Extension):
    """Only strings at the top level of the arguments."""

    async def execute(self, tool_args: dict | None = None, **kwargs):
        manager = get_secrets_manager(self.agent.context)
        for key in [key for key, value in tool_args.items() if isinstance(value, str)]:
            tool_args[key] = manager.replace_placeholders(tool_args[key])

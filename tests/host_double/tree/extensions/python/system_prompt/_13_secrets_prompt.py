from helpers.extension import Extension, extensible
from helpers.secrets import get_secrets_manager


class SecretsPrompt(Extension):
    async def execute(self, system_prompt: list[str], **kwargs):
        if self.agent and (text := await build_prompt(self.agent)):
            system_prompt.append(text)


@extensible
async def build_prompt(agent) -> str:
    names = get_secrets_manager(agent.context).get_secrets_for_prompt()
    return agent.read_prompt("agent.system.secrets.md", secrets=names) if names else ""

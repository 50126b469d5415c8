from helpers.extension import Extension, extensible


class MainPrompt(Extension):
    async def execute(self, system_prompt: list[str], **kwargs):
        if self.agent:
            system_prompt.append(await build_prompt(self.agent))


@extensible
async def build_prompt(agent) -> str:
    main = "agent.system.main.md"
    return agent.read_prompt(main)

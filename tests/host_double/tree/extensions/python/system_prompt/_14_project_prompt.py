from helpers import projects
from helpers.extension import Extension, extensible


class ProjectPrompt(Extension):
    async def execute(self, system_prompt: list[str], **kwargs):
        if self.agent and (text := await build_prompt(self.agent)):
            system_prompt.append(text)


@extensible
async def build_prompt(agent) -> str:
    name = projects.get_context_project_name(agent.context)
    if not name:
        return agent.read_prompt("agent.system.projects.inactive.md")
    return agent.read_prompt(
        "agent.system.projects.active.md", **projects.build_system_prompt_vars(name)
    )

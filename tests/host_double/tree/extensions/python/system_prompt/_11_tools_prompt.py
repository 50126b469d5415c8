import os

from helpers import files, subagents
from helpers.extension import Extension, extensible
from helpers.print_style import PrintStyle

TOOL_KWARGS_KEY = "_tool_prompt_kwargs"


class ToolsPrompt(Extension):
    async def execute(self, system_prompt: list[str], **kwargs):
        if self.agent:
            system_prompt.append(await build_prompt(self.agent))


@extensible
async def build_prompt(agent) -> str:
    """Every `agent.system.tool.*.md` of the agent's folders; one that fails is left out with a console line."""
    extra = agent.get_data(TOOL_KWARGS_KEY) or {}
    found = files.get_unique_filenames_in_dirs(
        subagents.get_paths(agent, "prompts"), "agent.system.tool.*.md"
    )
    texts = []
    for name in map(os.path.basename, found):
        try:
            texts.append(agent.read_prompt(name, **extra.get(name, {})))
        except Exception as fault:
            PrintStyle().error(f"tool prompt {name}: {fault}")
    return agent.read_prompt("agent.system.tools.md", tools="\n\n".join(texts))

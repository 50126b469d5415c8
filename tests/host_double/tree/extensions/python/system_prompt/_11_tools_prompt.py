import glob
import os

from helpers import subagents
from helpers.extension import Extension


class ToolsPrompt(Extension):
    """Every `agent.system.tool.*.md` of the agent's folders."""

    async def execute(self, system_prompt: list[str], **kwargs):
        names = set()
        for folder in subagents.get_paths(self.agent, "prompts"):
            names |= set(map(os.path.basename, glob.glob(f"{folder}/agent.system.tool.*.md")))
        tools = "\n\n".join(self.agent.read_prompt(name) for name in sorted(names))
        system_prompt.append(self.agent.read_prompt("agent.system.tools.md", tools=tools))

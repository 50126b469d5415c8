"""The list of functions that a host with native calls makes of the prompts of tools."""

import glob
import os
from typing import Any

from helpers import subagents


def build_responses_function_tools(agent: Any) -> tuple[list[dict[str, Any]], dict[str, str]]:
    names = set()
    for folder in subagents.get_paths(agent, "prompts"):
        names |= set(map(os.path.basename, glob.glob(f"{folder}/agent.system.tool.*.md")))
    tools = []
    for file in sorted(names):
        name = file.removeprefix("agent.system.tool.").removesuffix(".md")
        text = agent.read_prompt(file)[:1024]
        form = {"type": "object", "properties": {}, "additionalProperties": True}
        tools.append({"type": "function", "name": name, "description": text, "parameters": form})
    return tools, {tool["name"]: tool["name"] for tool in tools}

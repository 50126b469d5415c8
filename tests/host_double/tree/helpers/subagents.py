"""Agent profiles, and the folders in which an agent's prompts, tools and extensions are looked for."""

import os
from typing import Any

import yaml
from pydantic import BaseModel

from helpers import files

DEFAULT_AGENTS_DIR = "agents"
USER_AGENTS_DIR = "usr/agents"


class SubAgentListItem(BaseModel):
    name: str = ""
    title: str = ""
    description: str = ""
    context: str = ""
    path: str = ""
    origin: list[str] = []
    enabled: bool = True


def get_available_agents_dict(project_name: str | None) -> dict[str, SubAgentListItem]:
    """Default, plugins', user's; a later one wins over an earlier one of the same name."""
    from helpers import plugins

    folders = [DEFAULT_AGENTS_DIR, *plugins.get_enabled_plugin_paths(None, "agents")]
    found = {}
    for folder in map(files.get_abs_path, [*folders, USER_AGENTS_DIR]):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            path = os.path.join(folder, name, "agent.yaml")
            if os.path.exists(path):
                item = yaml.safe_load(files.read_file(path)) or {}
                found[name] = SubAgentListItem(**{"name": name, "title": name} | item)
    return {name: item for name, item in found.items() if item.enabled}


def get_paths(
    agent: Any,
    *subpaths,
    must_exist_completely: bool = True,
    include_project: bool = True,
    include_user: bool = True,
    include_default: bool = True,
    include_plugins: bool = True,
    default_root: str = "",
) -> list[str]:
    """First wins: project's profile, project, user's profile, plugins' profile, profile, user, plugins, core."""
    from helpers import plugins, projects

    profile = agent.config.profile if agent else ""
    chat = agent.context if agent else None
    project = projects.get_context_project_name(chat) if chat else None
    roots: list[str] = []
    if project:
        roots += [projects.get_project_meta(project, "agents", profile)] if profile else []
        roots += [projects.get_project_meta(project)]
    if profile:
        roots += [files.get_abs_path(USER_AGENTS_DIR, profile)]
        roots += plugins.get_enabled_plugin_paths(agent, "agents", profile)
        roots += [files.get_abs_path(DEFAULT_AGENTS_DIR, profile)]
    roots += [files.get_abs_path(files.USER_DIR), *plugins.get_enabled_plugin_paths(agent)]
    paths = [files.get_abs_path(root, *subpaths) for root in (*roots, files.get_abs_path(""))]
    return [path for path in dict.fromkeys(paths) if files.exists(path)]

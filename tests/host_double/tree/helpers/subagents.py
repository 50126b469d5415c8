"""Agent profiles, and the folders in which an agent's prompts, tools and extensions are looked for."""

from typing import Any, Literal

from pydantic import BaseModel, model_validator

from helpers import files
from helpers import yaml as yaml_helper

GLOBAL_DIR = "."
USER_DIR = "usr"
DEFAULT_AGENTS_DIR = "agents"
USER_AGENTS_DIR = "usr/agents"

Origin = Literal["default", "user", "project", "plugin"]


class SubAgentListItem(BaseModel):
    name: str = ""
    title: str = ""
    description: str = ""
    context: str = ""
    path: str = ""
    origin: list[Origin] = []
    enabled: bool = True

    @model_validator(mode="after")
    def post_validator(self):
        self.title = self.title or self.name
        return self


class SubAgent(SubAgentListItem):
    prompts: dict[str, str] = {}


def get_agents_list(project_name: str | None = None) -> list[SubAgentListItem]:
    return [*get_agents_dict(project_name).values()]


def get_agents_dict(project_name: str | None = None) -> dict[str, SubAgentListItem]:
    """Default, plugins', user's, project's; a later one fills over an earlier one of the same name."""
    from helpers import plugins, projects

    sources: list[tuple[str, Origin]] = [(DEFAULT_AGENTS_DIR, "default")]
    sources += [(folder, "plugin") for folder in plugins.get_enabled_plugin_paths(None, "agents")]
    sources += [(USER_AGENTS_DIR, "user")]
    if project_name:
        sources += [(projects.get_project_meta(project_name, "agents"), "project")]
    merged: dict[str, SubAgentListItem] = {}
    for folder, origin in sources:
        for name, item in _profiles_in(folder, origin).items():
            merged[name] = _filled(merged[name], item) if name in merged else item
    return merged


def _profiles_in(folder: str, origin: Origin) -> dict[str, SubAgentListItem]:
    found = {}
    for name in files.get_subdirectories(folder):
        try:
            item = _read(folder, name)
        except Exception:  # a folder without a readable agent file is no profile, in the host too
            continue
        item.name, item.path, item.origin = (
            item.name or name,
            files.get_abs_path(folder, name),
            [origin],
        )
        found[item.name] = item
    return found


def _read(folder: str, name: str) -> SubAgentListItem:
    path = files.get_abs_path(folder, name, "agent.yaml")
    if files.exists(path):
        return SubAgentListItem.model_validate(yaml_helper.loads(files.read_file(path)) or {})
    return SubAgentListItem.model_validate_json(
        files.read_file(files.get_abs_path(folder, name, "agent.json"))
    )


def _filled(base: SubAgentListItem, over: SubAgentListItem) -> SubAgentListItem:
    fields = ("name", "title", "description", "context", "path")
    texts = {field: getattr(over, field) or getattr(base, field) for field in fields}
    return SubAgentListItem(**texts, origin=base.origin + over.origin)


def get_all_agents_list() -> list[dict[str, str]]:
    return [
        {"key": name, "label": item.title or name}
        for name, item in sorted(get_agents_dict().items())
    ]


def get_available_agents_dict(project_name: str | None) -> dict[str, SubAgentListItem]:
    """Profiles of projects are not among them, though the project may switch others off or on."""
    from helpers import projects

    switched = projects.load_project_subagents(project_name) if project_name else {}
    everyone = get_agents_dict()
    for name in set(switched) & set(everyone):
        everyone[name].enabled = switched[name]["enabled"]
    return {name: item for name, item in everyone.items() if item.enabled}


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

    profile = (agent.config.profile if agent else "") or ""
    project = (
        projects.get_context_project_name(agent.context) if agent and include_project else ""
    ) or ""
    roots: list[str] = []
    if project and profile:
        roots.append(projects.get_project_meta(project, "agents", profile))
    if project:
        roots.append(projects.get_project_meta(project))
    if profile:
        roots.append(files.get_abs_path(USER_AGENTS_DIR, profile))
        roots += (
            plugins.get_enabled_plugin_paths(agent, "agents", profile) if include_plugins else []
        )
        roots.append(files.get_abs_path(DEFAULT_AGENTS_DIR, profile))
    if include_user:
        roots.append(files.get_abs_path(USER_DIR))
    if include_plugins:
        roots += plugins.get_enabled_plugin_paths(agent)
    if include_default:
        roots.append(files.get_abs_path(default_root))
    paths = [files.get_abs_path(root, *subpaths) for root in roots]
    return list(
        dict.fromkeys(path for path in paths if not must_exist_completely or files.exists(path))
    )

"""Plugins: found by their plugin.yaml, switched by toggle files, configured by config.json, hooked by hooks.py."""

import asyncio
import glob
import json
import os
from typing import Any, Literal

from pydantic import BaseModel, Field

from helpers import cache, extension, files, functions, modules
from helpers import yaml as yaml_helper

ToggleState = Literal["enabled", "disabled", "advanced"]

META_FILE_NAME = "plugin.yaml"
CONFIG_FILE_NAME = "config.json"
CONFIG_DEFAULT_FILE_NAME = "default_config.yaml"
DISABLED_FILE_NAME = ".toggle-0"
ENABLED_FILE_NAME = ".toggle-1"
TOGGLE_FILE_PATTERN = ".toggle-[01]"

HOOKS_SCRIPT = "hooks.py"
HOOKS_CACHE_AREA = "plugin_hooks(plugins)"
PLUGINS_LIST_CACHE_AREA = "plugins_list(plugins)"
ENABLED_PLUGINS_LIST_CACHE_AREA = "enabled_plugins(plugins)"
ENABLED_PLUGINS_PATHS_CACHE_AREA = "enabled_plugins_paths(plugins)"


class PluginMetadata(BaseModel):
    name: str = ""
    title: str = ""
    description: str = ""
    version: str = ""
    settings_sections: list[str] = Field(default_factory=list)
    per_project_config: bool = False
    per_agent_config: bool = False
    always_enabled: bool = False


@extension.extensible
def after_plugin_change(plugin_names: list[str] | None = None, python_change: bool = False):
    clear_plugin_cache()
    if python_change:
        refresh_plugin_modules(plugin_names)


def refresh_plugin_modules(plugin_names: list[str] | None = None):
    names = plugin_names or ["_core", "user"]
    if any(name.startswith("_") for name in names):
        modules.purge_namespace("plugins")
    if not all(name.startswith("_") for name in names):
        modules.purge_namespace("usr.plugins")


def clear_plugin_cache(plugin_names: list[str] | None = None):
    for kind in ("plugins", "extensions", "api"):
        cache.clear(f"*({kind})*")


# ---------------------------------------------------------------------- finding


def get_plugin_roots(plugin_name: str = "") -> list[str]:
    return [files.get_abs_path(top, files.PLUGINS_DIR, plugin_name) for top in (files.USER_DIR, "")]


def get_plugins_list():
    def find() -> list[str]:
        roots = [root for root in get_plugin_roots() if os.path.isdir(root)]
        names = {name for root in roots for name in os.listdir(root) if not name.startswith(".")}
        return sorted(name for name in names if find_plugin_dir(name))

    return _cached(PLUGINS_LIST_CACHE_AREA, "", find)


def find_plugin_dir(plugin_name: str):
    roots = get_plugin_roots(plugin_name) if plugin_name else []
    return next((root for root in roots if files.exists(root, META_FILE_NAME)), None)


def get_plugin_meta(plugin_name: str):
    folder = find_plugin_dir(plugin_name)
    if folder is None:
        return None
    return PluginMetadata.model_validate(
        files.read_file_yaml(files.get_abs_path(folder, META_FILE_NAME))
    )


def get_plugin_paths(*subpaths: str) -> list[str]:
    patterns = [files.get_abs_path(root, "*", *subpaths) for root in get_plugin_roots()]
    return [path for pattern in patterns for path in files.find_existing_paths_by_pattern(pattern)]


def get_enabled_plugin_paths(agent: Any, *subpaths: str) -> list[str]:
    def find() -> list[str]:
        folders = [
            folder for name in get_enabled_plugins(agent) if (folder := find_plugin_dir(name))
        ]
        patterns = [os.path.join(folder, *subpaths) for folder in folders]
        return [
            path for pattern in patterns for path in files.find_existing_paths_by_pattern(pattern)
        ]

    return _cached(
        ENABLED_PLUGINS_PATHS_CACHE_AREA, cache.determine_cache_key(agent, *subpaths), find
    )


def get_enabled_plugins(agent: Any):
    from helpers import subagents

    def is_on(name: str) -> bool:
        own = []
        if agent is not None:
            own = subagents.get_paths(
                agent,
                files.PLUGINS_DIR,
                name,
                include_default=False,
                include_user=False,
                include_plugins=False,
            )
        return determined_toggle_from_paths(True, reversed(own + get_plugin_roots(name)))

    key = cache.determine_cache_key(agent)
    return _cached(
        ENABLED_PLUGINS_LIST_CACHE_AREA,
        key,
        lambda: [name for name in get_plugins_list() if is_on(name)],
    )


def _cached(area: str, key: Any, find: Any) -> Any:
    """An empty answer is asked for again, as in the host."""
    known = cache.get(area, key)
    if not known:
        known = find()
        cache.add(area, key, known)
    return known


def determined_toggle_from_paths(default: bool, paths: Any):
    state = default
    for path in paths:
        state = (
            not files.exists(path, DISABLED_FILE_NAME)
            if state
            else files.exists(path, ENABLED_FILE_NAME)
        )
    return state


def get_toggle_state(plugin_name: str) -> ToggleState:
    meta = get_plugin_meta(plugin_name)
    if meta is None:
        return "disabled"
    on = meta.always_enabled or determined_toggle_from_paths(
        True, reversed(get_plugin_roots(plugin_name))
    )
    return "enabled" if on else "disabled"


@extension.extensible
def toggle_plugin(
    plugin_name: str,
    enabled: bool,
    project_name: str = "",
    agent_profile: str = "",
    clear_overrides: bool = False,
):
    place = (plugin_name, project_name, agent_profile)
    for name in (ENABLED_FILE_NAME, DISABLED_FILE_NAME):
        files.delete_file(determine_plugin_asset_path(*place, name))
    files.write_file(
        determine_plugin_asset_path(*place, ENABLED_FILE_NAME if enabled else DISABLED_FILE_NAME),
        "",
    )
    after_plugin_change([plugin_name])


@extension.extensible
def uninstall_plugin(plugin_name):
    call_plugin_hook(plugin_name, "uninstall")
    delete_plugin(plugin_name)


@extension.extensible
def delete_plugin(plugin_name: str):
    folder = find_plugin_dir(plugin_name)
    if folder is None:
        raise FileNotFoundError(plugin_name)
    if not files.is_in_dir(folder, files.get_abs_path(files.USER_DIR, files.PLUGINS_DIR)):
        raise ValueError(f"{plugin_name} belongs to the host")
    files.delete_dir(folder)
    after_plugin_change([plugin_name], python_change=True)


# ---------------------------------------------------------------------- configuration


@extension.extensible
def get_plugin_config(
    plugin_name: str,
    agent: Any = None,
    project_name: str | None = None,
    agent_profile: str | None = None,
):
    """The first config.json whole, or the defaults; never a mixture. The profile is the asking agent's."""
    from helpers import projects

    if agent is not None:
        project_name = (
            projects.get_context_project_name(agent.context)
            if project_name is None
            else project_name
        )
        agent_profile = agent.config.profile if agent_profile is None else agent_profile
    asset = find_plugin_asset(
        plugin_name,
        CONFIG_FILE_NAME,
        project_name=project_name or "",
        agent_profile=agent_profile or "",
    )
    folder = find_plugin_dir(plugin_name)
    if asset is None and folder is None:
        return None
    path = asset["path"] if asset else files.get_abs_path(folder, CONFIG_DEFAULT_FILE_NAME)
    found = _load(path) if files.exists(path) else None
    return call_plugin_hook(
        plugin_name,
        "get_plugin_config",
        default=found,
        agent_profile=agent_profile,
        project_name=project_name,
        agent=agent,
    )


def get_default_plugin_config(plugin_name: str):
    folder = find_plugin_dir(plugin_name)
    if folder is None:
        return None
    path = files.get_abs_path(folder, CONFIG_DEFAULT_FILE_NAME)
    hooked = call_plugin_hook(plugin_name, "get_default_plugin_config", file_path=path)
    return _load(path) if hooked is None and files.exists(path) else hooked


@extension.extensible
def save_plugin_config(plugin_name: str, project_name: str, agent_profile: str, settings: dict):
    place = {"project_name": project_name, "agent_profile": agent_profile}
    kept = call_plugin_hook(
        plugin_name, "save_plugin_config", default=settings, **place, settings=settings
    )
    if kept is not None:
        path = determine_plugin_asset_path(
            plugin_name, project_name, agent_profile, CONFIG_FILE_NAME
        )
        files.write_file(path, json.dumps(kept))


def _load(path: str) -> Any:
    read = json.loads if path.lower().endswith(".json") else yaml_helper.loads
    return read(files.read_file(path))


def find_plugin_asset(plugin_name: str, *subpaths: str, project_name="", agent_profile=""):
    place = {
        "plugin_name": plugin_name,
        "project_name": project_name,
        "agent_profile": agent_profile,
    }
    return next(iter(find_plugin_assets(*subpaths, **place, only_first=True)), None)


def find_plugin_assets(
    *subpaths: str,
    plugin_name: str = "*",
    project_name: str = "*",
    agent_profile: str = "*",
    only_first: bool = False,
) -> list[Any]:
    """A file of the project "for all profiles" is only seen by those who ask without a profile."""
    from helpers import projects, subagents

    inside = (files.PLUGINS_DIR, plugin_name, *subpaths)
    places: list[tuple[str, str, str]] = []
    if project_name:
        meta = projects.get_project_meta(project_name)
        if agent_profile:
            places.append(
                (
                    os.path.join(meta, files.AGENTS_DIR, agent_profile, *inside),
                    project_name,
                    agent_profile,
                )
            )
        if agent_profile in ("", "*"):
            places.append((os.path.join(meta, *inside), project_name, ""))
    if agent_profile:
        tops = [files.get_abs_path(subagents.USER_AGENTS_DIR)]
        tops += [
            os.path.join(folder, files.AGENTS_DIR) for folder in get_enabled_plugin_paths(None)
        ]
        tops += [files.get_abs_path(subagents.DEFAULT_AGENTS_DIR)]
        places += [(os.path.join(top, agent_profile, *inside), "", agent_profile) for top in tops]
    places += [(os.path.join(root, *subpaths), "", "") for root in get_plugin_roots(plugin_name)]

    found = []
    for pattern, project, profile in places:
        for path in sorted(glob.glob(pattern)):
            project_here = _part_after(path, "projects") if project == "*" else project
            profile_here = _part_after(path, "agents") if profile == "*" else profile
            found.append(
                {"project_name": project_here, "agent_profile": profile_here, "path": path}
            )
            if only_first:
                return found
    return found


def _part_after(path: str, folder: str) -> str:
    parts = path.split("/")
    return parts[len(parts) - parts[::-1].index(folder)] if folder in parts else ""


def determine_plugin_asset_path(
    plugin_name: str, project_name: str, agent_profile: str, *subpaths: str
):
    from helpers import projects

    base = (
        projects.get_project_meta(project_name)
        if project_name
        else files.get_abs_path(files.USER_DIR)
    )
    profile = (files.AGENTS_DIR, agent_profile) if agent_profile else ()
    return files.get_abs_path(base, *profile, files.PLUGINS_DIR, plugin_name, *subpaths)


# ---------------------------------------------------------------------- hooks


def call_plugin_hook(plugin_name: str, hook_name: str, default: Any = None, *args, **kwargs):
    """hooks.py is loaded once, until the plugin's cache is cleared."""
    known = cache.has(HOOKS_CACHE_AREA, plugin_name)
    if not known:
        folder = find_plugin_dir(plugin_name)
        if folder is None:
            return default
        path = files.get_abs_path(folder, HOOKS_SCRIPT)
        cache.add(
            HOOKS_CACHE_AREA,
            plugin_name,
            modules.import_module(path) if files.exists(path) else None,
        )
    hook = getattr(cache.get(HOOKS_CACHE_AREA, plugin_name), hook_name, None)
    if hook is None:
        return default
    outcome = functions.safe_call(hook, *args, default=default, **kwargs)
    return asyncio.run(outcome) if asyncio.iscoroutinefunction(hook) else outcome

"""Plugins: found by their plugin.yaml, configured by config.json, hooked by hooks.py. All are switched on."""

import glob
import inspect
import json
import os
from typing import Any

import yaml

import double_script
from helpers import extension, files, modules

META_FILE_NAME = "plugin.yaml"
CONFIG_FILE_NAME = "config.json"
CONFIG_DEFAULT_FILE_NAME = "default_config.yaml"
HOOKS_SCRIPT = "hooks.py"


@extension.extensible
def after_plugin_change(plugin_names: list[str] | None = None, python_change: bool = False):
    double_script.forget()
    if python_change:
        modules.purge_namespace("usr.plugins")


def get_plugin_roots(plugin_name: str = "") -> list[str]:
    return [files.get_abs_path(top, files.PLUGINS_DIR, plugin_name) for top in (files.USER_DIR, "")]


def find_plugin_dir(plugin_name: str):
    for root in get_plugin_roots(plugin_name):
        if files.exists(root, META_FILE_NAME):
            return root
    return None


def get_enabled_plugin_paths(agent: Any, *subpaths: str) -> list[str]:
    def find() -> list[str]:
        marks = sorted(glob.glob(os.path.join(get_plugin_roots("*")[0], META_FILE_NAME)))
        paths = [os.path.join(os.path.dirname(mark), *subpaths) for mark in marks]
        return [path for path in paths if os.path.exists(path)]

    return double_script.once(find, "plugins", *subpaths)


@extension.extensible
def uninstall_plugin(plugin_name):
    call_plugin_hook(plugin_name, "uninstall")
    files.delete_dir(find_plugin_dir(plugin_name))
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

    project, profile = project_name, agent_profile
    if agent is not None and project is None:
        project = projects.get_context_project_name(agent.context)
    if agent is not None and profile is None:
        profile = agent.config.profile
    place = {"project_name": project or "", "agent_profile": profile or ""}
    assets = find_plugin_assets(CONFIG_FILE_NAME, plugin_name=plugin_name, **place)
    if assets:
        return json.loads(files.read_file(assets[0]["path"]))
    return _defaults(plugin_name)


def get_default_plugin_config(plugin_name: str):
    path = os.path.join(find_plugin_dir(plugin_name), CONFIG_DEFAULT_FILE_NAME)
    hooked = call_plugin_hook(plugin_name, "get_default_plugin_config", file_path=path)
    return _defaults(plugin_name) if hooked is None else hooked


def _defaults(plugin_name: str) -> Any:
    path = os.path.join(find_plugin_dir(plugin_name), CONFIG_DEFAULT_FILE_NAME)
    return yaml.safe_load(files.read_file(path))


@extension.extensible
def save_plugin_config(plugin_name: str, project_name: str, agent_profile: str, settings: dict):
    from helpers import projects

    place = {"project_name": project_name, "agent_profile": agent_profile}
    kept = call_plugin_hook(
        plugin_name, "save_plugin_config", default=settings, **place, settings=settings
    )
    base = projects.get_project_meta(project_name) if project_name else files.USER_DIR
    profile = (files.AGENTS_DIR, agent_profile) if agent_profile else ()
    path = os.path.join(base, *profile, files.PLUGINS_DIR, plugin_name, CONFIG_FILE_NAME)
    files.write_file(path, json.dumps(kept))


def find_plugin_assets(
    *subpaths: str,
    plugin_name: str = "*",
    project_name: str = "*",
    agent_profile: str = "*",
    only_first: bool = False,
) -> list[Any]:
    """Strongest first. A project's file "for all profiles" is only seen by who asks without a profile."""
    from helpers import projects

    inside = (files.PLUGINS_DIR, plugin_name, *subpaths)
    profile = (files.AGENTS_DIR, agent_profile)
    places: list[tuple[str, str, str]] = []
    if project_name and agent_profile:
        meta = projects.get_project_meta(project_name, *profile, *inside)
        places.append((meta, project_name, agent_profile))
    if project_name and not agent_profile:
        places.append((projects.get_project_meta(project_name, *inside), project_name, ""))
    if agent_profile:
        for top in (files.USER_DIR, ""):
            places.append((files.get_abs_path(top, *profile, *inside), "", agent_profile))
    for root in get_plugin_roots(plugin_name):
        places.append((os.path.join(root, *subpaths), "", ""))
    return [
        {"project_name": project, "agent_profile": profile, "path": path}
        for path, project, profile in places
        if os.path.exists(path)
    ]


# ---------------------------------------------------------------------- hooks


def call_plugin_hook(plugin_name: str, hook_name: str, default: Any = None, *args, **kwargs):
    """hooks.py is loaded once, until the caches are cleared; a hook gets the arguments it names."""
    folder = find_plugin_dir(plugin_name)
    path = os.path.join(folder, HOOKS_SCRIPT) if folder else ""
    if not os.path.exists(path):
        return default
    hooks = double_script.once(lambda: modules.import_module(path), "hooks", plugin_name)
    hook = getattr(hooks, hook_name, None)
    if hook is None:
        return default
    names = inspect.signature(hook).parameters
    given = {"default": default} | kwargs
    return hook(*args, **{name: value for name, value in given.items() if name in names})

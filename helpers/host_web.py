"""What the pages in the browser ask of Agent Zero: its projects, and the settings that are saved in its scopes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from helpers import files as host_files
from helpers import plugins as host_plugins
from helpers import projects as host_projects

from usr.plugins.software_orchestrator.helpers.errors import RequestError, SettingsError
from usr.plugins.software_orchestrator.helpers.settings_form import Layer

PLUGIN = "software_orchestrator"
CONFIG = "config.json"


def projects() -> list[dict[str, str]]:
    """The host's projects by name: name, title, and the folder as a person sees it."""
    found = []
    for item in host_projects.get_active_projects_list():
        name = str(item["name"])
        folder = host_projects.get_project_folder(name)
        found.append({"name": name, "title": str(item.get("title") or name), "folder": host_files.normalize_a0_path(folder)})
    return sorted(found, key=lambda project: project["title"].casefold())


def project_folder(name: object) -> Path:
    """The folder of a project that the host knows. Raises RequestError (bad_value) for any other name."""
    known = {project["name"] for project in projects()}
    if not isinstance(name, str) or name not in known:
        raise RequestError("no such project", "choose one that Agent Zero lists")
    return Path(host_projects.get_project_folder(name))


def layers(project: str = "", profile: str = "") -> tuple[Layer, ...]:
    """Every config.json that holds for a project and profile, the strongest last.

    The host itself takes the first one alone, and misses the project's own file as soon as a profile is named (seen in
    find_plugin_assets); so both questions are asked. Raises SettingsError for a file that is no JSON object.
    """
    found = [
        asset
        for asked in dict.fromkeys((profile, ""))
        for asset in host_plugins.find_plugin_assets(
            CONFIG, plugin_name=PLUGIN, project_name=project, agent_profile=asked, only_first=False
        )
    ]
    unique = {asset["path"]: asset for asset in reversed(found)}
    strongest_last = sorted(unique.values(), key=lambda asset: (bool(asset["project_name"]), bool(asset["agent_profile"])))
    return tuple(_layer(asset) for asset in strongest_last)


def _layer(asset: Any) -> Layer:
    path = str(asset["path"])
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"the settings in {path} cannot be read: {error}", "save them anew") from error
    if not isinstance(values, dict):
        raise SettingsError(f"the settings in {path} are no JSON object", "save them anew")
    return Layer(asset["project_name"], asset["agent_profile"], host_files.normalize_a0_path(path), values)


def tell(message: str, title: str = "Software Orchestrator", *, kind: str = "info", seconds: int = 10) -> None:
    """A notification in the host's web UI; `kind` is info, success, warning, error or progress."""
    from helpers.notification import NotificationManager, NotificationPriority, NotificationType

    NotificationManager.send_notification(
        type=NotificationType(kind),
        priority=NotificationPriority.NORMAL,
        message=message,
        title=title,
        display_time=seconds,
        group=PLUGIN,
        id="",
    )

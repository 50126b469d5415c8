"""What the pages in the browser ask of Agent Zero: its projects, and the settings that are saved in its scopes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helpers import projects as host_projects

from ..records import resources
from ..records.key import installation_key
from ..values import settings
from ..values.errors import HandoverError, RequestError
from ..values.settings import Settings
from ..views import settings_form
from ..views.page import Project, Records
from . import host

PLUGIN = "software_orchestrator"
PROFILE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def projects() -> tuple[Project, ...]:
    """The projects that the host lists, by title."""
    found = (
        Project(
            item["name"],
            item.get("title") or item["name"],
            Path(host_projects.get_project_folder(item["name"])),
        )
        for item in host_projects.get_active_projects_list()
    )
    return tuple(sorted(found, key=lambda project: (project.title.casefold(), project.name)))


def records() -> Records:
    """What the audit page may read. Raises RecordError when the installation's key cannot be read."""
    return Records(projects(), installation_key(resources.ROOT), settings_of)


def settings_of(project: str = "") -> Settings:
    """The settings that hold in a project for every profile, or the installation's. Raises SettingsError."""
    return settings.settings(
        resources.default_settings(), *(layer.values for layer in host.setting_layers(project))
    )


def refusal(error: HandoverError) -> dict[str, Any]:
    """A refusal as the JSON that the pages show."""
    return {"ok": False, "error": error.message, "hint": error.hint, "code": error.code}


def settings_answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """`action` "view": what `settings_form.view` tells of a scope; "check": the same values as they would be saved.

    Raises RequestError for an unknown scope or action, SettingsError for what cannot be saved.
    """
    if asked.get("action") == "check":
        values = asked.get("values")
        if not isinstance(values, Mapping):
            raise RequestError("values must be a JSON object", "", "missing")
        return {"ok": True, "values": settings_form.checked(values)}
    if asked.get("action") == "view":
        project, profile = _scope(asked)
        return {
            "ok": True,
            **settings_form.view(host.setting_layers(project, profile), project, profile),
        }
    raise RequestError("no such action", "use view or check")


def _scope(asked: Mapping[str, Any]) -> tuple[str, str]:
    project, profile = asked.get("project") or "", asked.get("profile") or ""
    if project and project not in {known.name for known in projects()}:
        raise RequestError("no such project", "choose one of the list", "unknown_reference")
    if profile and not (
        isinstance(profile, str) and PROFILE.fullmatch(profile) and ".." not in profile
    ):
        raise RequestError("no such profile", "choose one of the list", "unknown_reference")
    return project, profile

"""What the pages in the browser ask of Agent Zero: its projects, and the settings it saves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helpers import projects as host_projects

from ..records import resources
from ..records.key import installation_key
from ..values.errors import HandoverError, RequestError
from ..views import page, settings_form
from ..views.page import Project, Records
from .settings import setting_layers, settings_in

_PROFILE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def audit_answer(body: object) -> dict[str, Any]:
    """What the audit page asks. Raises HandoverError."""
    return page.answer(_asked(body), Records(projects(), _key(), settings_in))


def _asked(body: object) -> Mapping[str, Any]:
    if not isinstance(body, Mapping):
        raise RequestError("the body must be a JSON object", "", "bad_value")
    return body


def _key() -> bytes:
    return installation_key(resources.ROOT)


def projects() -> tuple[Project, ...]:
    """The projects that the host lists, by title."""
    listed = []
    for item in host_projects.get_active_projects_list():
        name = item["name"]
        folder = Path(host_projects.get_project_folder(name))
        listed.append(Project(name, item.get("title") or name, folder))
    return tuple(sorted(listed, key=lambda project: (project.title.casefold(), project.name)))


def refusal(error: HandoverError) -> dict[str, Any]:
    """A refusal as the JSON that the pages show."""
    return {"ok": False, "error": error.message, "hint": error.hint, "code": error.code}


def settings_answer(body: object) -> dict[str, Any]:
    """`action` "view": what `settings_form.view` tells of a scope; "check": as it would be saved.

    Raises RequestError for an unknown scope or action, SettingsError for what cannot be saved.
    """
    asked = _asked(body)
    if asked.get("action") == "check":
        values = asked.get("values")
        if not isinstance(values, Mapping):
            raise RequestError("values must be a JSON object", "", "missing")
        return {"ok": True, "values": settings_form.checked(values)}
    if asked.get("action") == "view":
        project, profile = _scope(asked)
        layers = setting_layers(project, profile)
        return {"ok": True, **settings_form.view(layers, project, profile)}
    raise RequestError("no such action", "use view or check")


def _scope(asked: Mapping[str, Any]) -> tuple[str, str]:
    project, profile = asked.get("project") or "", asked.get("profile") or ""
    if project and project not in [known.name for known in projects()]:
        raise RequestError("no such project", "choose one of the list", "unknown_reference")
    if profile and not _is_profile(profile):
        raise RequestError("no such profile", "choose one of the list", "unknown_reference")
    return project, profile


def _is_profile(name: object) -> bool:
    return isinstance(name, str) and _PROFILE.fullmatch(name) is not None and ".." not in name

"""Where a chat may hand over: in its project, and with a warning where the host or the person allows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agent import AgentContext

from helpers import files, projects

from ..text.quote import one_line
from ..values.errors import RefusedError
from ..values.settings import Settings
from . import agents


def outside(context: AgentContext, settings: Settings) -> Callable[[str], str]:
    """What `Caller.outside` asks for this chat. Without an active project any folder counts."""
    own = agents.project_root(context)

    def warning(root: str) -> str:
        if not own or not root or _is_in(root, own):
            return ""
        shown = one_line(files.normalize_a0_path(root), 200)
        if any(_is_in(root, folder) for folder in (*_project_folders(), *settings.allowed_roots)):
            return (
                f"project_root {shown} is not the chat's active project; the record is kept there"
            )
        raise RefusedError(
            f"project_root {shown} is outside the chat's active project",
            "leave project_root out, or name a project of Agent Zero; the person can allow other folders"
            " in the settings (allowed_roots)",
            "path_unsafe",
        )

    return warning


def _project_folders() -> list[str]:
    listed = projects.get_active_projects_list()
    return [str(projects.get_project_folder(item["name"])) for item in listed]


def _is_in(root: str, folder: str) -> bool:
    """Whether a folder is another one or in it, wherever links lead."""
    try:
        return Path(root).resolve().is_relative_to(Path(folder).resolve())
    except (OSError, ValueError, RuntimeError):
        return False

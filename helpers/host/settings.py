"""The settings that hold for an agent: read and checked once for every change of their files."""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from agent import Agent

from helpers import files, plugins

from ..values.errors import SettingsError
from ..values.settings import Settings
from ..views import settings_form
from ..views.settings_form import Layer
from . import agents

TERMS = "_so_terms"  # in a chat's data: the terms of what another installation handed over
CONFIG_BYTES = 1_000_000


@dataclass(frozen=True)
class ConfigFile:
    """A config.json of a scope as it lies there now; `identity` changes when it is written."""

    project: str
    profile: str
    path: str
    identity: tuple[int, ...]


def settings_of(agent: Agent) -> Settings:
    """The settings for this agent's project and profile. Raises SettingsError."""
    context = agents.root_context(agent)
    held = settings_in(agents.project_name(context), str(agent.config.profile or ""))
    if TERMS in context.data:
        terms, receiver = context.data[TERMS]
        held = terms.bound(held, receiver)
    return held


def settings_in(project: str = "", profile: str = "") -> Settings:
    """Defaults, then each scope that has a file, a project's narrowing. Raises SettingsError."""
    built = _built(config_files(project, profile))
    if isinstance(built, SettingsError):
        raise SettingsError(built.message, built.hint)
    return built


def setting_layers(project: str = "", profile: str = "") -> tuple[Layer, ...]:
    """What each config.json of a project and profile sets, the strongest last.

    Raises SettingsError for a file that is no JSON object.
    """
    return tuple(_read(file) for file in config_files(project, profile))


def config_files(project: str, profile: str) -> tuple[ConfigFile, ...]:
    """Every config.json that holds for a project and profile, the strongest last; none is opened.

    The host takes the first one alone, and misses the project's own file as soon as a profile is
    named; so both questions are asked.
    """
    places: dict[str, ConfigFile] = {}
    for asked in dict.fromkeys(("", profile)):
        assets = plugins.find_plugin_assets(
            plugins.CONFIG_FILE_NAME,
            plugin_name=agents.PLUGIN,
            project_name=project,
            agent_profile=asked,
        )
        for asset in reversed(assets):
            file = _config_file(asset)
            if file:
                places[file.path] = file
    return tuple(sorted(places.values(), key=lambda file: (bool(file.project), bool(file.profile))))


def _config_file(asset: Any) -> ConfigFile | None:
    path = str(asset["path"])
    try:
        found = Path(path).stat()
    except OSError:
        return None
    identity = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return ConfigFile(asset["project_name"], asset["agent_profile"], path, identity)


@lru_cache(maxsize=32)
def _built(config: tuple[ConfigFile, ...]) -> Settings | SettingsError:
    """Files that cannot be used are kept as their error: they are not read again either."""
    try:
        return settings_form.held([_read(file) for file in config])
    except SettingsError as error:
        return SettingsError(error.message, error.hint)


def _read(file: ConfigFile) -> Layer:
    shown = files.normalize_a0_path(file.path)
    try:
        values = json.loads(_content(Path(file.path)))
    except (OSError, ValueError, RecursionError) as error:
        message = f"the settings in {shown} cannot be read: {error}"
        raise SettingsError(message, "save them anew") from error
    if not isinstance(values, dict):
        raise SettingsError(f"the settings in {shown} are no JSON object", "save them anew")
    return Layer(file.project, file.profile, shown, values)


def _content(path: Path) -> bytes:
    """Raises ValueError for what is no file or too long: a project can be anybody's clone."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("it is no file")
    with path.open("rb") as file:
        content = file.read(CONFIG_BYTES + 1)
    if len(content) > CONFIG_BYTES:
        raise ValueError(f"it is longer than {CONFIG_BYTES:,} bytes")
    return content

"""What the command line gives to the flow: the person's call, under these settings and ports."""

from __future__ import annotations

from pathlib import Path

from ..records import resources
from ..records.local import local_ports
from ..values import settings as values_settings
from ..values.call import Call, Caller, Ports
from ..values.settings import Settings
from .settings_file import settings_in


def call_of(caller: Caller, settings_file: str | None) -> Call:
    """A call from the command line. Raises RequestError, SettingsError."""
    return Call(caller, load_settings(settings_file), ports())


def ports() -> Ports:
    """Those of this machine, also for commands that need no settings."""
    return local_ports()


def saved_settings() -> Path:
    """The installation's config.json, which Agent Zero's settings page writes too."""
    return resources.ROOT / "config.json"


def load_settings(file: str | None = None) -> Settings:
    """The defaults, the installation's config.json beside execute.py, and those in `file`."""
    saved = saved_settings()
    layers = []
    if saved.exists():
        layers.append(settings_in(saved))
    if file is not None:
        layers.append(settings_in(Path(file)))
    return values_settings.settings(resources.default_settings(), *layers)

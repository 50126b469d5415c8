"""The settings that the web page saves, in `usr/settings.json`."""

import json
import os
from typing import Any

from helpers import files

SETTINGS_FILE = files.get_abs_path("usr/settings.json")
Settings = dict[str, Any]

_settings: Settings | None = None


def get_default_value(name: str, value: Any) -> Any:
    """`A0_SET_<name>` in the environment wins, in the type of `value`."""
    given = os.environ.get(f"A0_SET_{name}", os.environ.get(f"A0_SET_{name.upper()}"))
    if given is None:
        return value
    if isinstance(value, bool):
        return given.strip().lower() in ("true", "1", "yes", "on")
    return json.loads(given) if isinstance(value, dict | list) else type(value)(given)


def get_default_settings() -> Settings:
    return {
        "agent_profile": get_default_value("agent_profile", "agent0"),
        "agent_knowledge_subdir": "custom",
        "mcp_servers": '{"mcpServers": {}}',
        "variables": "",
        "chat_inherit_project": True,
        # only here: the host keeps these with the model's configuration
        "ctx_length": 128_000,
        "ctx_history": 0.7,
    }


def get_settings() -> Settings:
    global _settings
    if _settings is None:
        _settings = (
            files.read_file_json(SETTINGS_FILE)
            if files.exists(SETTINGS_FILE)
            else get_default_settings()
        )
    return normalize_settings(_settings)


def reload_settings() -> Settings:
    global _settings
    _settings, again = None, get_settings
    return again()


def set_settings(settings: Settings, apply: bool = True):
    """Saves, and gives every agent of every chat a new config."""
    global _settings
    _settings = normalize_settings(settings)
    files.write_file(SETTINGS_FILE, json.dumps(_settings, indent=1))
    if apply:
        from agent import AgentContext
        from helpers import shape

        for context in AgentContext.all():
            shape.configs_after_settings(context)
    return reload_settings()


def set_settings_delta(delta: dict, apply: bool = True):
    return set_settings(get_settings() | delta, apply)


def merge_settings(original: Settings, delta: dict) -> Settings:
    return original | delta


def normalize_settings(settings: Settings) -> Settings:
    known = get_default_settings()
    return known | {key: value for key, value in settings.items() if key in known}

"""The settings page as data: every setting with its explanation and range, what holds, and where that comes from."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from ..records import resources
from ..values.errors import SettingsError
from ..values.settings import Settings, settings

ROSTER = "roster"
SHIPPED = "default"


@dataclass(frozen=True)
class Layer:
    """One saved config.json: for which project and profile ("" for all), where it lies, and what it sets."""

    project: str
    profile: str
    path: str
    values: Mapping[str, Any]

    @property
    def source(self) -> str:
        """In words: `installation`, `profile hacker`, `project shop`, `project shop, profile hacker`."""
        parts = [
            f"{kind} {name}"
            for kind, name in (("project", self.project), ("profile", self.profile))
            if name
        ]
        return ", ".join(parts) or "installation"


def view(layers: Sequence[Layer], project: str = "", profile: str = "") -> dict[str, Any]:
    """What the page of one scope shows, as JSON. `layers` in line, the strongest last.

    groups[] {title, fields[] {key, title, help, kind, minimum, maximum, choices}} · own {key: value} what this scope itself
    sets · inherited {key: {value, source}} what would hold without that · effective likewise · problem: why what is saved
    cannot be used, or "". The roster is YAML text everywhere.
    """
    own = next(
        (layer for layer in layers if (layer.project, layer.profile) == (project, profile)), None
    )
    others = [layer for layer in layers if layer is not own]
    return {
        "groups": [dict(group) for group in groups()],
        "own": as_shown(own.values) if own else {},
        "inherited": _held(others),
        "effective": _held(layers),
        "saved_in": own.path if own else "",
        "problem": problem_of(layers),
    }


def problem_of(layers: Sequence[Layer]) -> str:
    """The first setting that cannot be used, in words; "" when all can."""
    try:
        settings(resources.default_settings(), *(layer.values for layer in layers))
    except SettingsError as error:
        return str(error).removeprefix("ERROR: ")
    return ""


def checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """What is saved for these values: each in its type, the roster as it was written, keys that are none of ours kept.

    An empty value (None or "") is left out, so that the setting is inherited. Raises SettingsError naming the setting.
    """
    given = {key: value for key, value in values.items() if value is not None and value != ""}
    held = settings(resources.default_settings(), given)
    typed = {
        key: getattr(held, key) for key in given if key in Settings.model_fields and key != ROSTER
    }
    return {**given, **typed}


def as_shown(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings among the values, the roster as text."""
    return {
        key: _shown(key, value)
        for key, value in values.items()
        if key in Settings.model_fields and value is not None
    }


def _held(layers: Sequence[Layer]) -> dict[str, dict[str, Any]]:
    found = {
        key: {"value": _shown(key, value), "source": SHIPPED}
        for key, value in resources.default_settings().items()
    }
    found[ROSTER]["value"] = shipped_roster()
    for layer in layers:
        found |= {
            key: {"value": value, "source": layer.source}
            for key, value in as_shown(layer.values).items()
        }
    return found


def _shown(key: str, value: Any) -> Any:
    if key != ROSTER or isinstance(value, str):
        return value
    text: str = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=120)
    return text


def shipped_roster() -> str:
    """The roster of default_config.yaml as it stands there, without the indent."""
    return textwrap.dedent(resources.default_settings_text().partition(f"\n{ROSTER}:\n")[2])


@lru_cache(maxsize=1)
def groups() -> tuple[dict[str, Any], ...]:
    """The sections of default_config.yaml with their settings; the comment above a setting is its explanation."""
    found: list[dict[str, Any]] = []
    comment: list[str] = []
    for line in resources.default_settings_text().splitlines():
        section = re.fullmatch(r"# --- (.+) ---", line)
        setting = re.match(r"(\w+):", line)
        if section:
            found.append({"title": section.group(1), "fields": []})
            comment = []
        elif line.startswith("#"):
            comment.append(line[1:].removeprefix(" ").rstrip())
        elif setting and found:
            found[-1]["fields"].append(_field(setting.group(1), _flowing(comment)))
            comment = []
        elif not line.startswith(" "):
            comment = []
    return tuple(found)


def _flowing(comment: list[str]) -> str:
    """Comment lines as paragraphs: a line that goes on is joined, an indented `name   meaning` becomes `• name: meaning`."""
    joined = re.sub(r"\n(?=\S| {6,})\s*", " ", "\n".join(comment))
    return re.sub(r"^ +(\w+) {2,}", r"• \1: ", joined, flags=re.MULTILINE)


def _field(key: str, help_text: str) -> dict[str, Any]:
    schema = Settings.model_json_schema()["properties"][key]
    return {
        "key": key,
        "title": _title(key),
        "help": help_text,
        "kind": "roster" if key == ROSTER else "choice" if "enum" in schema else schema["type"],
        "minimum": schema.get(
            "minimum", 1 if schema.get("type") == "integer" else schema.get("exclusiveMinimum")
        ),
        "maximum": schema.get("maximum"),
        "choices": schema.get("enum", []),
    }


def _title(key: str) -> str:
    """The setting's name as a person reads it: `lock_timeout_s` -> `Lock timeout (seconds)`."""
    words = key.removesuffix("_s").removesuffix("_mb").replace("_", " ")
    unit = " (seconds)" if key.endswith("_s") else " (MB)" if key.endswith("_mb") else ""
    return re.sub(r"\bsla\b", "SLA", words[0].upper() + words[1:], flags=re.IGNORECASE) + unit

"""The settings page as data: every setting with its explanation and range, what holds, and why."""

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
AS_TEXT = frozenset({ROSTER, "trusted"})  # written as YAML on the page, and saved as written
SHIPPED = "default"
_SECTION = re.compile(r"# --- (.+) ---")
_SETTING = re.compile(r"(\w+):")
_UNITS = {"_s": " (seconds)", "_mb": " (MB)"}
Json = dict[str, Any]


@dataclass(frozen=True)
class Layer:
    """One saved config.json: for which project and profile ("" for all), its path, what it sets."""

    project: str
    profile: str
    path: str
    values: Mapping[str, Any]

    @property
    def source(self) -> str:
        """In words: `installation`, `profile hacker`, `project shop, profile hacker`."""
        parts = []
        if self.project:
            parts.append(f"project {self.project}")
        if self.profile:
            parts.append(f"profile {self.profile}")
        return ", ".join(parts) or "installation"


def view(layers: Sequence[Layer], project: str = "", profile: str = "") -> Json:
    """What the page of one scope shows. `layers` in line, the strongest last.

    groups[] {title, fields[] {key, title, help, kind, minimum, maximum, choices}}
    own {key: value}: what this scope itself sets; saved_in: where, or ""
    inherited {key: {value, source}}: what would hold without that; effective likewise
    problem: why what is saved cannot be used, or ""
    The roster and other lists are YAML text everywhere.
    """
    own = Layer(project, profile, "", {})
    others = []
    for layer in layers:
        if (layer.project, layer.profile) == (project, profile):
            own = layer
        else:
            others.append(layer)
    return {
        "groups": [dict(group) for group in groups()],
        "own": as_shown(own.values),
        "inherited": _held(others),
        "effective": _held(layers),
        "saved_in": own.path,
        "problem": problem_of(layers),
    }


def held(layers: Sequence[Layer]) -> Settings:
    """The settings of these scopes: of a project's only what narrows counts. Raises SettingsError."""
    ours = [layer.values for layer in layers if not layer.project]
    theirs = [layer.values for layer in layers if layer.project]
    return settings(resources.default_settings(), *ours, project=theirs)


def problem_of(layers: Sequence[Layer]) -> str:
    """The first setting that cannot be used, in words; "" when all can."""
    try:
        held(layers)
    except SettingsError as error:
        return str(error).removeprefix("ERROR: ")
    return ""


def checked(values: Mapping[str, Any]) -> Json:
    """What is saved for these values: each in its type, the roster as written, others' keys kept.

    An empty value (None or "") is left out, so that the setting is inherited. Raises SettingsError
    naming the setting.
    """
    saved = {key: value for key, value in values.items() if value not in (None, "")}
    held = settings(resources.default_settings(), saved)
    for key in saved.keys() & Settings.model_fields.keys() - AS_TEXT:
        saved[key] = getattr(held, key)
    return saved


def as_shown(values: Mapping[str, Any]) -> Json:
    """The settings among the values, the roster as text."""
    shown = {}
    for key, value in values.items():
        if key in Settings.model_fields and value is not None:
            shown[key] = _as_yaml(value) if key in AS_TEXT else value
    return shown


def _held(layers: Sequence[Layer]) -> dict[str, Json]:
    """What holds of each setting, and where that was said. What cannot be used stands as saved."""
    said = _said(layers)
    try:
        counts = held(layers)
    except SettingsError:
        return said
    ours = [layer for layer in layers if not layer.project]
    without_project, said_by_us = held(ours), _said(ours)
    for key in {key for layer in layers if layer.project for key in as_shown(layer.values)}:
        value = getattr(counts, key)
        if value == getattr(without_project, key):
            said[key] = said_by_us[key]
        elif key == ROSTER:
            said[key]["value"] = _as_yaml(counts.roster.to_setting())
    return said


def _said(layers: Sequence[Layer]) -> dict[str, Json]:
    """The newest word on each setting, whether it counts or not."""
    shipped = {**resources.default_settings(), ROSTER: shipped_roster()}
    sources = [(SHIPPED, shipped)]
    sources += [(layer.source, dict(layer.values)) for layer in layers]
    said: dict[str, Json] = {}
    for source, values in sources:
        for key, value in as_shown(values).items():
            said[key] = {"value": value, "source": source}
    return said


def _as_yaml(value: Any) -> str:
    if isinstance(value, str) or not value:
        return value or ""
    text: str = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=120)
    return text


def shipped_roster() -> str:
    """The roster of default_config.yaml as it stands there, without the indent."""
    return textwrap.dedent(resources.default_settings_text().partition(f"\n{ROSTER}:\n")[2])


@lru_cache(maxsize=1)
def groups() -> tuple[Json, ...]:
    """The sections of default_config.yaml; the comment above a setting is its explanation."""
    sections: list[Json] = []
    comment: list[str] = []
    for line in resources.default_settings_text().splitlines():
        if section := _SECTION.fullmatch(line):
            sections.append({"title": section[1], "fields": []})
            comment = []
        elif line.startswith("#"):
            comment.append(line[1:].removeprefix(" ").rstrip())
        elif sections and (setting := _SETTING.match(line)):
            sections[-1]["fields"].append(_field(setting[1], _flowing(comment)))
            comment = []
        elif not line.startswith(" "):
            comment = []
    return tuple(sections)


def _flowing(comment: Sequence[str]) -> str:
    """Comment lines as paragraphs.

    A line that goes on is joined, an indented `name   meaning` becomes `• name: meaning`.
    """
    joined = re.sub(r"\n(?=\S| {6,})\s*", " ", "\n".join(comment))
    return re.sub(r"^ +(\w+) {2,}", r"• \1: ", joined, flags=re.MULTILINE)


def _field(key: str, help_text: str) -> Json:
    schema = Settings.model_json_schema()["properties"][key]
    above = schema.get("exclusiveMinimum")
    least = above + 1 if schema.get("type") == "integer" and above is not None else above
    return {
        "key": key,
        "title": _title(key),
        "help": help_text,
        "kind": _kind(key, schema),
        "minimum": schema.get("minimum", least),
        "maximum": schema.get("maximum"),
        "choices": schema.get("enum", []),
    }


def _kind(key: str, schema: Mapping[str, Any]) -> str:
    """roster (YAML text), choice, or the type in JSON schema."""
    if key in AS_TEXT:
        return ROSTER
    if schema.get("type") == "array":
        return "string"  # parted by commas
    return "choice" if "enum" in schema else str(schema["type"])


def _title(key: str) -> str:
    """The setting's name as a person reads it: `lock_timeout_s` -> `Lock timeout (seconds)`."""
    name, unit = key, ""
    for suffix, words in _UNITS.items():
        if key.endswith(suffix):
            name, unit = key.removesuffix(suffix), words
    title = name.replace("_", " ").capitalize()
    return re.sub(r"\bsla\b", "SLA", title, flags=re.IGNORECASE) + unit

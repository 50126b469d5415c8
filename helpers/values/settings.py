"""The settings, checked. Every default stands once, in `default_config.yaml`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from . import plain_yaml
from .errors import SettingsError
from .names import short
from .roster import Roster, build, check_size, from_text, normal
from .roster import narrowed as narrowed_roster
from .trust import Trusted

MAX_TOKENS = 1_000_000


def _no_switch(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


@dataclass(frozen=True)
class FromProject:
    """How a setting holds where a project sets it too: `stricter(ours, theirs)`.

    A project comes along with a clone, and any agent with code execution can write its settings.
    What git ignores stays the project's: its own `.gitignore` decides that anyway.
    """

    stricter: Callable[[Any, Any], Any]


OURS = FromProject(lambda ours, theirs: ours)
LOWER = FromProject(min)  # of a switch: on only where both are


def _from_text(value: Any) -> Any:
    """The settings page saves lists as the YAML text that the person wrote."""
    return (plain_yaml.load(value) or ()) if isinstance(value, str) else value


_AS_TEXT = BeforeValidator(_from_text)
_Whole = Annotated[int, BeforeValidator(_no_switch)]
_Number = Annotated[float, BeforeValidator(_no_switch), Field(allow_inf_nan=False)]


def _folders(value: Any) -> Any:
    """Folders as a list, or as the settings page saves them: one text, parted by commas or lines."""
    folders = re.split(r"[,\n]", value) if isinstance(value, str) else value
    if not isinstance(folders, list):
        return folders
    named = [folder.strip() for folder in folders if isinstance(folder, str) and folder.strip()]
    if not all(folder.startswith("/") for folder in named):
        raise ValueError("must be absolute paths of folders")
    return named


class Settings(BaseModel):
    """All settings of the plugin; units and effects are told in `default_config.yaml`.

    One with `FromProject` is narrowed by a project; any other one a project may set as it likes.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    max_context_tokens: Annotated[_Whole, LOWER] = Field(gt=0, le=MAX_TOKENS)
    include_recent_turns: Annotated[_Whole, LOWER] = Field(ge=0, le=1000)
    full_history_max_tokens: Annotated[_Whole, LOWER] = Field(gt=0, le=MAX_TOKENS)
    max_handover_depth: Annotated[_Whole, LOWER] = Field(ge=1, le=20)
    max_handovers_per_chain: Annotated[_Whole, LOWER] = Field(ge=1, le=1000)
    max_handovers_per_chat: Annotated[_Whole, LOWER] = Field(ge=1, le=10_000)
    max_refusals_in_a_row: Annotated[_Whole, LOWER] = Field(ge=1, le=100)
    handback_note_tokens: Annotated[_Whole, LOWER] = Field(ge=50, le=MAX_TOKENS)
    summary_warning_tokens: _Whole = Field(gt=0, le=MAX_TOKENS)
    default_return_condition: str
    lock_timeout_s: Annotated[_Number, LOWER] = Field(gt=0, le=60)
    sla_queue_minutes: _Number = Field(gt=0)
    chain_sla_minutes: _Number = Field(gt=0)
    allowed_roots: Annotated[list[str], BeforeValidator(_folders), OURS]
    git_ignore: Literal["chains", "all", "none"]
    transcript_log: Annotated[bool, LOWER]
    transcript_log_max_mb: Annotated[_Number, LOWER] = Field(gt=0)
    trusted: Annotated[tuple[Trusted, ...], OURS, _AS_TEXT] = Field(max_length=200)
    person_said: Annotated[bool, OURS]
    roster: Annotated[Roster, FromProject(narrowed_roster)]


def settings(
    defaults: Mapping[str, Any],
    *layers: Mapping[str, Any],
    project: Sequence[Mapping[str, Any]] = (),
) -> Settings:
    """Defaults overlaid by each layer, later ones first in line, then narrowed by what a project
    says in its own layers.

    A layer's `roster` is the whole allow-list, as a mapping or as YAML text (which the settings
    page saves): an entry left out is removed; fields left out of an entry that ships come from the
    shipped one, edges to removed entries excepted. Raises SettingsError naming the setting.
    """
    ours = _overlaid(defaults, layers)
    if not project:
        return ours
    return narrowed(ours, _overlaid(_as_defaults(ours), project))


def narrowed(ours: Settings, theirs: Settings) -> Settings:
    """What holds where a project has settings of its own. Raises SettingsError."""
    held = {}
    for name, field in Settings.model_fields.items():
        own, other = getattr(ours, name), getattr(theirs, name)
        rule = next((item for item in field.metadata if isinstance(item, FromProject)), None)
        held[name] = rule.stricter(own, other) if rule else other
    return ours.model_copy(update=held)


def _as_defaults(ours: Settings) -> dict[str, Any]:
    """What a project leaves out is ours, also in an entry of its roster."""
    values = {name: getattr(ours, name) for name in Settings.model_fields}
    return {**values, "roster": ours.roster.to_setting()}


def _overlaid(defaults: Mapping[str, Any], layers: Sequence[Mapping[str, Any]]) -> Settings:
    merged = dict(defaults)
    for layer in layers:
        if not isinstance(layer, Mapping):
            raise SettingsError(
                f"settings must be a mapping, got {type(layer).__name__}", "see default_config.yaml"
            )
        merged.update({name: value for name, value in layer.items() if value is not None})
    roster = merged.get("roster")
    given = from_text(roster) if isinstance(roster, str) else roster
    merged["roster"] = build(_with_shipped_fields(given, defaults.get("roster")))
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        name, came = ".".join(map(str, first["loc"])), repr(short(str(first["input"])))
        hint = "default_config.yaml tells unit and range of every setting"
        raise SettingsError(f"setting {name}: {first['msg']}, got {came}", hint) from error


def _with_shipped_fields(roster: Any, shipped: Any) -> Any:
    """Each entry that ships with what its own fields leave out; anything else as it came."""
    if not isinstance(roster, Mapping) or not isinstance(shipped, Mapping):
        return roster
    check_size(roster)
    kept = {normal(str(profile)) for profile in roster}
    completed = dict(roster)
    for profile, fields in roster.items():
        if profile in shipped and isinstance(fields, Mapping | None):
            completed[profile] = {**_among(kept, shipped[profile]), **(fields or {})}
    return completed


def _among(kept: Set[str], entry: Mapping[str, Any]) -> dict[str, Any]:
    """A shipped entry whose edges lead to what is kept: nobody wrote those to removed ones."""
    edges = [name for name in entry.get("can_handoff_to", ()) if normal(name) in kept]
    return {**entry, "can_handoff_to": edges}

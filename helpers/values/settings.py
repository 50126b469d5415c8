"""The settings, checked. Every default stands once, in `default_config.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from .errors import SettingsError
from .names import short
from .roster import Roster, build, check_size, from_text, normal

MAX_TOKENS = 1_000_000


def _no_switch(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


_Whole = Annotated[int, BeforeValidator(_no_switch)]
_Number = Annotated[float, BeforeValidator(_no_switch), Field(allow_inf_nan=False)]


class Settings(BaseModel):
    """All settings of the plugin; units and effects are told in `default_config.yaml`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    max_context_tokens: _Whole = Field(gt=0, le=MAX_TOKENS)
    include_recent_turns: _Whole = Field(ge=0, le=1000)
    full_history_max_tokens: _Whole = Field(gt=0, le=MAX_TOKENS)
    max_handover_depth: _Whole = Field(ge=1, le=20)
    max_handovers_per_chain: _Whole = Field(ge=1, le=1000)
    max_refusals_in_a_row: _Whole = Field(ge=1, le=100)
    handback_note_tokens: _Whole = Field(ge=50, le=MAX_TOKENS)
    summary_warning_tokens: _Whole = Field(gt=0, le=MAX_TOKENS)
    default_return_condition: str
    lock_timeout_s: _Number = Field(gt=0, le=60)
    sla_queue_minutes: _Number = Field(gt=0)
    chain_sla_minutes: _Number = Field(gt=0)
    git_ignore: Literal["chains", "all", "none"]
    transcript_log: bool
    transcript_log_max_mb: _Number = Field(gt=0)
    roster: Roster


def settings(defaults: Mapping[str, Any], *layers: Mapping[str, Any]) -> Settings:
    """Defaults overlaid by each layer, later ones first in line.

    A layer's `roster` is the whole allow-list, as a mapping or as YAML text (which the settings
    page saves): an entry left out is removed; fields left out of an entry that ships come from the
    shipped one, edges to removed entries excepted. Raises SettingsError naming the setting.
    """
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

"""The allow-list of specialists: who there is, what each is for, and who may hand over to whom."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from .errors import RequestError, SettingsError
from .packet import Authority

_FRAME = " \t\r\n\"'`´“”‘’«»[](){}<>.,;:*"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-]{0,63}")
MAX_TEXT_CHARS = 200_000
_EMOJI = "[\u200d\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]+"
_EMOJI_AROUND = re.compile(rf"\A{_EMOJI}|{_EMOJI}\Z")  # the marker before a title
_YAML_HINT = "each entry is `profile:` and its fields indented below, see default_config.yaml"


def _on_one_line(text: str) -> str:
    if any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in text):
        raise ValueError("must be one line of readable characters")
    return text


_Line = Annotated[str, AfterValidator(_on_one_line)]


class Specialist(BaseModel):
    """One entry. `requires` names packet fields, or `state.<field>`, that must be filled; `sla_minutes` is the working time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: str
    title: _Line = Field(default="", max_length=80)
    marker: _Line = Field(default="🤝", max_length=16)
    purpose: _Line = Field(default="", max_length=300)
    can_handoff_to: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    sla_minutes: float = Field(default=60, gt=0, allow_inf_nan=False)
    authority: Authority = Authority()

    @property
    def name(self) -> str:
        """The title a person reads, with the marker: `🖌️ Frontend Designer`."""
        return f"{self.marker} {self.title}".strip()

    @property
    def persona_marker(self) -> str:
        """The marker of the seed's contract: `[frontend designer]`."""
        return f"[{normal(self.profile).replace('_', ' ')}]"


class Roster(BaseModel):
    """All specialists by profile name, as written in the settings."""

    model_config = ConfigDict(frozen=True)

    entries: tuple[Specialist, ...]

    def find(self, name: str) -> Specialist:
        """The entry that a sloppy spelling of its profile or title means.

        Raises RequestError (unknown_specialist) with the nearest names.
        """
        wanted = normal(name)
        for entry in self.entries:
            if normal(entry.profile) == wanted:
                return entry
        titled = [entry for entry in self.entries if wanted and normal(entry.title) == wanted]
        if len(titled) == 1:
            return titled[0]
        raise RequestError(
            f'unknown specialist profile "{_short(name)}"',
            self._suggestion(wanted),
            "unknown_specialist",
        )

    def names(self) -> tuple[str, ...]:
        return tuple(entry.profile for entry in self.entries)

    def allows(self, sender: str, receiver: str) -> bool:
        """Whether the graph has the edge. Who is not in the roster (the host's own agents) may hand over to anybody."""
        for entry in self.entries:
            if normal(entry.profile) == normal(sender):
                return normal(receiver) in map(normal, entry.can_handoff_to)
        return True

    def lines(self, sender: str) -> str:
        """Whom the sender may hand over to, a line each, as the tool prompt shows it."""
        others = (
            entry
            for entry in self.entries
            if normal(entry.profile) != normal(sender) and self.allows(sender, entry.profile)
        )
        return "\n".join(
            f"- {entry.profile}: {entry.purpose}" if entry.purpose else f"- {entry.profile}"
            for entry in others
        )

    def _suggestion(self, wanted: str) -> str:
        near = difflib.get_close_matches(
            wanted, [normal(name) for name in self.names()], n=3, cutoff=0.6
        )
        known = "use one of: " + ", ".join(self.names())
        return f"did you mean {' or '.join(near)}? {known}" if near else known


def normal(name: str) -> str:
    """The comparable form of a profile name: no quotes, brackets, emoji or case; spaces and hyphens as underscores."""
    return re.sub(
        r"[\s_\-]+", "_", _EMOJI_AROUND.sub("", name.strip(_FRAME)).strip(_FRAME).casefold()
    ).strip("_")


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases, which a hostile file can make grow without end, and without a key that stands twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="aliases (*name) are not allowed", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [key.value for key, _ in node.value]
        for number, key in enumerate(keys):
            if key in keys[:number]:
                mark = node.value[number][0].start_mark
                raise yaml.MarkedYAMLError(
                    problem=f'"{_short(str(key))}" stands twice', problem_mark=mark
                )
        return super().construct_mapping(node, deep)


def from_text(text: str) -> Any:
    """What a roster written as YAML text holds, unchecked: `build` checks it.

    Raises SettingsError with the line for text that is no YAML, uses aliases, names a key twice or is above
    `MAX_TEXT_CHARS` characters.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise SettingsError(
            f"roster has {len(text)} characters, at most {MAX_TEXT_CHARS} are read", "shorten it"
        )
    try:
        return yaml.load(text, Loader=_PlainLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "somewhere"
        raise SettingsError(
            f"roster is no YAML: {where}: {_short(str(error.problem))}", _YAML_HINT
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SettingsError(f"roster is no YAML: {_short(str(error))}", _YAML_HINT) from error


def build(raw: object) -> Roster:
    """The roster from the `roster` setting: a mapping of profile to its fields.

    Raises SettingsError that names the entry and the field: unknown key, bad value, edge to nobody or to itself, two
    entries that only differ in spelling.
    """
    if not isinstance(raw, Mapping) or not raw:
        raise SettingsError(
            "roster must map profile names to their entries and hold at least one",
            "see default_config.yaml",
        )
    entries = tuple(_entry(str(profile), fields) for profile, fields in raw.items())
    _refuse_twins(entries)
    return Roster(entries=tuple(_resolve(entry, entries) for entry in entries))


def _entry(profile: str, fields: Any) -> Specialist:
    if not _NAME.fullmatch(profile):
        raise SettingsError(
            f'roster entry "{_short(profile)}" is not a profile name',
            "use letters, digits, _ and -",
        )
    if fields is None:
        fields = {}
    if not isinstance(fields, Mapping):
        raise SettingsError(
            f"roster.{profile} must be a mapping, got {type(fields).__name__}",
            "see default_config.yaml",
        )
    title = str(fields.get("title") or profile.replace("_", " ").replace("-", " ").title())
    try:
        return Specialist.model_validate({**fields, "profile": profile, "title": title})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise SettingsError(
            f"roster.{profile}.{field}: {first['msg']}, got {_short(str(first['input']))}",
            "fields of an entry: "
            + ", ".join(name for name in Specialist.model_fields if name != "profile"),
        ) from error


def _refuse_twins(entries: tuple[Specialist, ...]) -> None:
    seen: dict[str, str] = {}
    for entry in entries:
        twin = seen.setdefault(normal(entry.profile), entry.profile)
        if twin != entry.profile:
            raise SettingsError(
                f"roster entries {twin} and {entry.profile} only differ in spelling",
                "keep one of them",
            )


def _resolve(entry: Specialist, entries: tuple[Specialist, ...]) -> Specialist:
    """The entry with its edges spelled as the profiles are."""
    known = {normal(other.profile): other.profile for other in entries}
    for target in entry.can_handoff_to:
        if normal(target) not in known:
            raise SettingsError(
                f'roster.{entry.profile}.can_handoff_to names "{_short(target)}", which is not in the roster',
                "add that entry or remove the edge",
            )
        if normal(target) == normal(entry.profile):
            raise SettingsError(
                f"roster.{entry.profile}.can_handoff_to names itself", "remove that edge"
            )
    return entry.model_copy(
        update={"can_handoff_to": tuple(known[normal(target)] for target in entry.can_handoff_to)}
    )


def _short(text: str) -> str:
    """What came, for an error line: one line, at most 60 characters, nothing that could pass for markup."""
    line = " ".join(text.split())
    line = "".join(char if char.isprintable() else "�" for char in line)
    return line if len(line) <= 60 else line[:59] + "…"

"""The allow-list of specialists: who there is, what each is for, who may hand over to whom."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from . import plain_yaml
from .authority import bounded
from .errors import RequestError, SettingsError
from .names import key, short
from .nearest import nearest
from .packet import Authority
from .remote import Remote
from .tools import Tools, as_setting

MAX_TEXT_CHARS = 200_000
MAX_ENTRIES = 500

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-]{0,63}")
_FRAME = " \t\r\n\"'`´“”‘’«»[](){}<>.,;:*"
_EMOJI = re.compile("[\u200d\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]*")
_OF_REMOTE = ("share", "inline_artifacts", "remote_onward")
_SEE_DEFAULTS = "see default_config.yaml"
_YAML_HINT = "each entry is `profile:` and its fields indented below, see default_config.yaml"


def normal(name: str) -> str:
    """The comparable form of a profile name: its key without an emoji around, joints as `_`."""
    bare = _without_emoji_around(name.strip(_FRAME)).strip(_FRAME)
    return key(bare).replace(" ", "_")


def _without_emoji_around(text: str) -> str:
    """Without the marker that stands before or behind a title."""
    before, behind = _EMOJI.match(text), _EMOJI.match(text[::-1])
    first = before.end() if before else 0
    last = len(text) - (behind.end() if behind else 0)
    return text[first:last]


def _on_one_line(text: str) -> str:
    if any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in text):
        raise ValueError("must be one line of readable characters")
    return text


_Line = Annotated[str, AfterValidator(_on_one_line)]


class Specialist(BaseModel):
    """One entry.

    `requires` names packet fields, or `state.<field>`, that must be filled; `sla_minutes` is the
    working time.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: str
    title: _Line = Field(default="", max_length=80)
    marker: _Line = Field(default="🤝", max_length=16)
    purpose: _Line = Field(default="", max_length=300)
    can_handoff_to: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    sla_minutes: float = Field(default=60, gt=0, allow_inf_nan=False)
    authority: Authority = Authority()
    tools: Annotated[Tools, AfterValidator(as_setting)] = Tools()
    remote: Remote | None = None

    @property
    def name(self) -> str:
        """The title a person reads, with the marker: `🖌️ Frontend Designer`."""
        return f"{self.marker} {self.title}".strip()

    @property
    def persona_marker(self) -> str:
        """The marker of the seed's contract: `[frontend designer]`."""
        return f"[{normal(self.profile).replace('_', ' ')}]"


class Roster(BaseModel):
    """All specialists by profile name, in the order of the settings.

    `removed` are those that a project's own list leaves out: nobody hands over to them, and their
    edges and tools still bind them.
    """

    model_config = ConfigDict(frozen=True)

    entries: tuple[Specialist, ...]
    removed: tuple[Specialist, ...] = ()
    _by_name: dict[str, Specialist] = PrivateAttr(default_factory=dict)
    _edges: dict[str, tuple[str, ...]] = PrivateAttr(default_factory=dict)
    _tools: dict[str, Tools] = PrivateAttr(default_factory=dict)

    def model_post_init(self, _: object) -> None:
        self._by_name.update({normal(entry.profile): entry for entry in self.entries})
        for entry in (*self.entries, *self.removed):
            self._edges[normal(entry.profile)] = entry.can_handoff_to
            self._tools[normal(entry.profile)] = entry.tools

    def known(self, profile: str) -> Specialist | None:
        """The entry of a profile in any spelling, or None."""
        return self._by_name.get(normal(profile))

    def find(self, name: str, sender: str = "", argument: str = "specialist_profile") -> Specialist:
        """The entry that a sloppy spelling of its profile or title means.

        Raises RequestError (unknown_specialist) with the nearest of those the sender may hand to.
        """
        entry = self.known(name) or self._titled(normal(name))
        if entry is None:
            message = f'unknown specialist profile "{short(name)}"'
            hint = self._suggestion(normal(name), sender, argument)
            raise RequestError(message, hint, "unknown_specialist")
        return entry

    def _titled(self, wanted: str) -> Specialist | None:
        """The only entry with this title; a title that two bear means nobody."""
        if not wanted:
            return None
        titled = [entry for entry in self.entries if normal(entry.title) == wanted]
        return titled[0] if len(titled) == 1 else None

    def to_setting(self) -> dict[str, Any]:
        """Its entries as the `roster` setting holds them."""
        fields = {}
        for entry in self.entries:
            fields[entry.profile] = entry.model_dump(
                mode="json", exclude={"profile"}, exclude_none=True
            )
        return fields

    def names(self) -> tuple[str, ...]:
        return tuple(entry.profile for entry in self.entries)

    def allows(self, sender: str, receiver: str) -> bool:
        """Whether the graph has the edge.

        Who is not in the roster (the host's own agents) may hand over to anybody.
        """
        edges, taker = self.edges(sender), self.known(receiver)
        if edges is None:
            return True
        return taker is not None and taker.profile in edges

    def edges(self, sender: str) -> tuple[str, ...] | None:
        """Whom a sender may hand over to; None: anybody."""
        return self._edges.get(normal(sender))

    def tools_of(self, profile: str) -> Tools:
        """The tools of a role; who is not in the roster has all of them."""
        return self._tools.get(normal(profile), Tools())

    def open_to(self, sender: str) -> tuple[Specialist, ...]:
        """Whom the sender may hand over to, never itself."""
        others = [entry for entry in self.entries if normal(entry.profile) != normal(sender)]
        return tuple(entry for entry in others if self.allows(sender, entry.profile))

    def choice(self, sender: str) -> str:
        """What a refusal says of whom to name instead."""
        names = ", ".join(entry.profile for entry in self.open_to(sender))
        return f"use one of: {names}" if names else "nobody can be named from here: hand back"

    def lines(self, sender: str) -> str:
        """Whom the sender may hand over to, a line each, as the tool prompt shows it."""
        lines = []
        for entry in self.open_to(sender):
            purpose = f": {entry.purpose}" if entry.purpose else ""
            lines.append(f"- {entry.profile}{purpose}")
        return "\n".join(lines)

    def _suggestion(self, wanted: str, sender: str, argument: str) -> str:
        described = {
            entry.profile: (entry.profile, entry.title, entry.purpose)
            for entry in self.open_to(sender)
        }
        near = nearest(wanted, described)
        choice = self.choice(sender)
        if not near:
            return choice
        again = f"make the same call with {argument} {near[0]}"
        return f"did you mean {' or '.join(near)}? {choice}; {again}"


def narrowed(ours: Roster, theirs: Roster) -> Roster:
    """Our roster where a project has a list of its own: whom both list, as our entries describe
    them, with what both allow. Raises SettingsError where they have nobody in common."""
    entries, removed = [], []
    for own in ours.entries:
        other = theirs.known(own.profile)
        if other is None:
            removed.append(own)
        else:
            entries.append(_stricter(own, other))
    if not entries:
        message = "the roster of the project names nobody of the installation's roster"
        raise SettingsError(message, "a project can only take specialists away")
    return Roster(entries=tuple(entries), removed=tuple(removed))


def _stricter(own: Specialist, other: Specialist) -> Specialist:
    """Fewer edges, more that is required, less authority, fewer tools."""
    allowed = set(map(normal, other.can_handoff_to))
    edges = tuple(name for name in own.can_handoff_to if normal(name) in allowed)
    return own.model_copy(
        update={
            "can_handoff_to": edges,
            "requires": tuple(dict.fromkeys((*own.requires, *other.requires))),
            "authority": bounded(own.authority, other.authority),
            "tools": own.tools.narrowed(other.tools),
        }
    )


def from_text(text: str) -> Any:
    """What a roster written as YAML text holds, unchecked: `build` checks it.

    Raises SettingsError with the line for text that is no YAML, uses aliases, names a key twice or
    is above `MAX_TEXT_CHARS` characters.
    """
    if len(text) > MAX_TEXT_CHARS:
        message = f"roster has {len(text)} characters, at most {MAX_TEXT_CHARS} are read"
        raise SettingsError(message, "shorten it")
    try:
        return plain_yaml.load(text)
    except ValueError as error:
        raise SettingsError(f"roster is no YAML: {error}", _YAML_HINT) from error


def build(raw: object) -> Roster:
    """The roster from the `roster` setting: a mapping of profile to its fields.

    Raises SettingsError that names the entry and the field: unknown key, bad value, edge to nobody
    or to itself, two entries that only differ in spelling, more than `MAX_ENTRIES`.
    """
    if not isinstance(raw, Mapping) or not raw:
        message = "roster must map profile names to their entries and hold at least one"
        raise SettingsError(message, _SEE_DEFAULTS)
    check_size(raw)
    entries = tuple(_entry(str(profile), fields) for profile, fields in raw.items())
    profiles = _by_spelling(entries)
    return Roster(entries=tuple(_with_known_edges(entry, profiles) for entry in entries))


def check_size(raw: Mapping[Any, Any]) -> None:
    """Raises SettingsError for a roster with more entries than anybody reads."""
    if len(raw) > MAX_ENTRIES:
        message = f"roster has {len(raw)} entries, at most {MAX_ENTRIES} are read"
        raise SettingsError(message, "remove those that nobody hands over to")


def _entry(profile: str, fields: Any) -> Specialist:
    if not _NAME.fullmatch(profile):
        message = f'roster entry "{short(profile)}" is not a profile name'
        raise SettingsError(message, "use letters, digits, _ and -")
    if fields is None:
        fields = {}
    if not isinstance(fields, Mapping):
        message = f"roster.{profile} must be a mapping, got {type(fields).__name__}"
        raise SettingsError(message, _SEE_DEFAULTS)
    fields = _with_remote(fields)
    title = str(fields.get("title") or profile.replace("_", " ").replace("-", " ").title())
    try:
        return Specialist.model_validate({**fields, "profile": profile, "title": title})
    except ValidationError as error:
        first = error.errors()[0]
        field = short(".".join(map(str, first["loc"])))
        came = "" if first["loc"][0] == "remote" else f", got {short(str(first['input']))}"
        known = ", ".join(name for name in Specialist.model_fields if name != "profile")
        message = f"roster.{profile}.{field}: {first['msg']}{came}"
        raise SettingsError(message, f"fields of an entry: {known}") from error


def _with_remote(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """What goes to another machine may stand beside `remote` or in it."""
    remote = fields.get("remote")
    beside = {name: fields[name] for name in _OF_REMOTE if name in fields}
    if not isinstance(remote, Mapping) or not beside:
        return fields
    own = {name: value for name, value in fields.items() if name not in beside}
    return {**own, "remote": {**remote, **beside}}


def _by_spelling(entries: tuple[Specialist, ...]) -> dict[str, str]:
    """The profile of each normal form. Raises SettingsError for two entries of the same one."""
    profiles: dict[str, str] = {}
    for entry in entries:
        twin = profiles.setdefault(normal(entry.profile), entry.profile)
        if twin != entry.profile:
            message = f"roster entries {twin} and {entry.profile} only differ in spelling"
            raise SettingsError(message, "keep one of them")
    return profiles


def _with_known_edges(entry: Specialist, profiles: Mapping[str, str]) -> Specialist:
    """The entry with its edges spelled as the profiles are."""
    edges = []
    for target in entry.can_handoff_to:
        profile = profiles.get(normal(target))
        place = f"roster.{entry.profile}.can_handoff_to names"
        if profile is None:
            message = f'{place} "{short(target)}", which is not in the roster'
            raise SettingsError(message, "add that entry or remove the edge")
        if profile == entry.profile:
            raise SettingsError(f"{place} itself", "remove that edge")
        edges.append(profile)
    return entry.model_copy(update={"can_handoff_to": tuple(edges)})

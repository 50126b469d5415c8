"""Which tools of the host a role may use (seed 004: "tiers tool permissions by role").

A pattern is a path of names in which `*` and `?` stand for letters: `text_editor` is all of that
tool, `text_editor:write` one method, `github.create_issue` a tool of an MCP server, `github.*` all
of that server's, `mcp.*` every MCP tool. A path means everything below it; "." and ":" are one.
Case, width, hyphens and white space do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from .names import folded, short

# A specialist that has none of these could neither answer nor ask what it does not know.
ALWAYS = frozenset({"handover_reply", "request_full_history", "response"})
# Arguments that say which method of a tool is meant, in one line of the host or another.
METHOD_ARGUMENTS = ("action", "method", "runtime")
MCP = "mcp"
_MOST_PATTERNS, _PATTERN_CHARS = 100, 100
_QUOTES = " \t\r\n\"'`´‘’“”«»()<>[]{},;"
_PATTERN = re.compile(r"[\w*?]+(?:[.:][\w*?]+)*")
_ANY = "\0"  # no name holds it, so that only `*` and `?` match it

Path = tuple[str, ...]


def normal(text: str) -> str:
    """A tool name or pattern as it is compared: `Text-Editor:Write` is `text_editor:write`."""
    bare = folded(text.strip(_QUOTES)).strip(_QUOTES).removeprefix("to ")
    return bare.rstrip(".:").replace(" ", "_")


def _path(text: str) -> Path:
    return tuple(re.split(r"[.:]", normal(text)))


_parts = lru_cache(maxsize=1024)(_path)  # of patterns, which are few and short


def _pattern(text: str) -> str:
    pattern = _pattern_in(text)
    if not pattern:
        raise ValueError("must be names such as text_editor:write, github.* or mcp.*")
    return pattern


def _pattern_in(text: str) -> str:
    """The pattern that a text is, or ""."""
    if len(text) > 2 * _PATTERN_CHARS:
        return ""
    pattern = normal(text)
    return pattern if len(pattern) <= _PATTERN_CHARS and _PATTERN.fullmatch(pattern) else ""


def _in_one_list(value: Any) -> Any:
    """An allow-list as it is written; where several hold, each is a list of its own."""
    if isinstance(value, list | tuple) and any(isinstance(item, str) for item in value):
        return (value,)
    return value


def _without_empty(lists: tuple[Path, ...]) -> tuple[Path, ...]:
    return tuple(patterns for patterns in dict.fromkeys(lists) if patterns)


_Patterns = Annotated[
    tuple[Annotated[str, AfterValidator(_pattern)], ...],
    AfterValidator(lambda patterns: tuple(dict.fromkeys(patterns))),
]


class Tools(BaseModel):
    """What may be used: nothing that is `denied`, and of each list in `allowed` something.

    No list, or an empty one, restricts nothing. What narrows others' tools is a list more.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    denied: _Patterns = ()
    allowed: Annotated[
        tuple[_Patterns, ...], BeforeValidator(_in_one_list), AfterValidator(_without_empty)
    ] = ()

    def __bool__(self) -> bool:
        return bool(self.denied or self.allowed)

    def narrowed(self, other: Tools) -> Tools:
        """What both allow."""
        return Tools(denied=(*self.denied, *other.denied), allowed=(*self.allowed, *other.allowed))

    def allows(self, call: ToolCall) -> bool:
        """Whether every way to read the call is allowed: whichever the host takes is."""
        return all(self._passes(paths) for paths in call.readings())

    def _passes(self, paths: tuple[Path, ...]) -> bool:
        if all(path[0] in ALWAYS for path in paths):
            return True
        if _covered(self.denied, paths):
            return False
        return all(_covered(patterns, paths) for patterns in self.allowed)

    def allows_some(self, name: str) -> bool:
        """Whether any call of this tool can be allowed: what is not is not offered."""
        paths = ToolCall(name, is_mcp="." in name).paths(_ANY)
        if all(path[0] in ALWAYS for path in paths):
            return True
        if _covered(self.denied, paths):
            return False
        return all(any(_touches(item, paths) for item in patterns) for patterns in self.allowed)

    def listed(self) -> Path:
        """Of all allow-lists the patterns that every one of them and no denial covers."""
        patterns = dict.fromkeys(item for patterns in self.allowed for item in patterns)
        return tuple(item for item in patterns if self._passes((_path(item),)))


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool; `methods` is all that says which of its methods is meant."""

    name: str
    methods: tuple[str, ...] = ()
    is_mcp: bool = False

    @classmethod
    def of(cls, name: object, method: object, args: object, *, is_mcp: bool = False) -> ToolCall:
        """A call as the host has it; what is no text or no mapping says nothing."""
        given = args if isinstance(args, Mapping) else {}
        said = (method, *(given.get(argument) for argument in METHOD_ARGUMENTS))
        methods = tuple(dict.fromkeys(str(item) for item in said if item))
        return cls(str(name), methods, is_mcp)

    def __str__(self) -> str:
        """The call in a word, for a line of ours."""
        told = ":".join(filter(None, (normal(self.name), *map(normal, self.methods))))
        return short(told, 80)

    def readings(self) -> tuple[tuple[Path, ...], ...]:
        """Each tool and method that the call may mean, with all its paths.

        A name with folders is read as the file that it leads to as well.
        """
        names = {self.name}
        if not self.is_mcp:
            names.add(re.split(r"[/\\]", self.name)[-1])
        methods = self.methods or ("",)
        return tuple(
            ToolCall(name, is_mcp=self.is_mcp).paths(method) for name in names for method in methods
        )

    def paths(self, method: str) -> tuple[Path, ...]:
        path = (*_path(self.name), normal(method))
        return (path, (MCP, *path)) if self.is_mcp else (path,)


def _covered(patterns: Iterable[str], paths: Iterable[Path]) -> bool:
    return any(_covers(_parts(item), path) for item in patterns for path in paths)


def _covers(pattern: Path, path: Path) -> bool:
    """Whether the path is the pattern's or lies below it."""
    return len(pattern) <= len(path) and all(map(fnmatchcase, path, pattern))


def _touches(pattern: str, paths: Iterable[Path]) -> bool:
    """Whether the pattern's path and one of these can meet further down."""
    parts = _parts(pattern)
    return any(
        all(
            fnmatchcase(name, part) or name == _ANY for name, part in zip(path, parts, strict=False)
        )
        for path in paths
    )


def as_setting(tools: Tools) -> Tools:
    """A role's tools as they came. Raises ValueError for a denial of what is always allowed, and for
    lists that nobody reads."""
    for pattern in tools.denied:
        if _parts(pattern)[0] in ALWAYS:
            raise ValueError(f"{pattern} cannot be denied: a specialist answers with it")
    if sum(map(len, (tools.denied, *tools.allowed))) > _MOST_PATTERNS:
        raise ValueError(f"names more than {_MOST_PATTERNS} tools: use * for many")
    return tools


def tools_named(words: Iterable[str], known: Iterable[str] | None = None) -> Tools:
    """What free words deny: MCP and `known` tools; without these whatever could be a tool's name."""
    names = [ToolCall(name, is_mcp="." in name).paths(_ANY) for name in known or ()]
    denied = []
    for pattern in filter(None, map(_pattern_in, words)):
        first = _parts(pattern)[0]
        if first in ALWAYS:
            continue
        if known is None or first == MCP or any(_touches(pattern, paths) for paths in names):
            denied.append(pattern)
    return Tools(denied=tuple(denied))

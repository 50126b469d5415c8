"""Turns of a conversation, in the forms that models write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue as Json

from ..values.packet import Turn
from .plain import key, lines, text
from .sent import Sent

_ROLES = {
    **dict.fromkeys(("user", "human", "person", "customer", "client"), "user"),
    **dict.fromkeys(("assistant", "ai", "agent", "bot", "model", "orchestrator"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
_LISTS = {
    "items", "list", "all", "values", "entries", "turns", "messages", "recent_turns", "history",
    "conversation",
}  # fmt: skip
_SPEAKER = ("role", "speaker", "from", "author", "sender")
_CONTENT = ("content", "text", "message", "parts", "body", "value")
# What tells of a message but is none of its words.
_ABOUT = {
    "id", "type", "time", "timestamp", "date", "created_at", "number", "index", "turn", "name",
    "metadata", *_SPEAKER,
}  # fmt: skip
_MOST = 5000  # of the newest are read; far fewer may travel
_KNOWN = "|".join(_ROLES)
# How a line begins that tells who speaks: a known role, or the profile of an agent. All repeats are
# bounded: a turn can be megabytes of blanks.
_MARK = r"[ \t]{0,20}(?:[-*•][ \t]{1,8})?\*{0,3}"
_NAME = rf"(?i:{_KNOWN})|[a-z][a-z0-9]{{0,40}}_[a-z0-9_]{{0,40}}"
_COLON = r"\*{0,3}[ \t]{0,8}:\*{0,3}\s{0,8}"
_SPOKEN = re.compile(rf"{_MARK}(?P<role>{_NAME}){_COLON}")
_NEXT = re.compile(rf"\n(?={_MARK}(?:{_NAME}){_COLON})")


def turns(value: Json, sent: Sent) -> tuple[Turn, ...]:
    """Turns from a list of texts or `{"role", "content"}` objects, or from one text; none empty."""
    match value:
        case str():
            return turns(_spoken("\n".join(lines(value))), sent)
        case dict() if len(value) == 1 and key(next(iter(value))) in _LISTS:
            return turns(sent.opened(next(iter(value.values()))), sent)
        case list():
            made = [turn for part in value[-_MOST:] for turn in _turns(part, sent)]
            return tuple(turn for turn in made if turn.text.strip())
    return turns([value], sent)


def _spoken(value: str) -> list[Json]:
    """A turn for each line that tells who speaks, with the lines below; else for each line."""
    parts = _NEXT.split(value)
    told = len(parts) > 1 or _SPOKEN.match(value)
    return [*(parts if told else value.split("\n"))]


def _role(name: str) -> str:
    return _ROLES.get(key(name), name)


def _turns(part: Json, sent: Sent) -> Iterator[Turn]:
    match sent.opened(part):
        case dict() as item:
            yield from _of_object(item, part)
        case [str() as role, words]:
            yield Turn(role=_role(role), text=_words(words))
        case _:
            line = _words(part)
            start = _SPOKEN.match(line)
            role = _role(start["role"]) if start else ""
            yield Turn(role=role, text=line[start.end() :] if start else line)


def _of_object(item: Mapping[str, Json], came: Json) -> Iterator[Turn]:
    """A message, or a turn for each name of an object: `{"user": ..., "ai": ...}`."""
    told = {key(name): part for name, part in item.items()}
    content = dict.fromkeys(_words(told.get(name)) for name in _CONTENT)
    words = "\n".join(filter(None, content))
    if words:
        speaker = next(filter(None, (text(told.get(name)) for name in _SPEAKER)), "user")
        yield Turn(role=_role(speaker), text=words)
    elif isinstance(came, str) and not told.keys() & {*_ROLES, *_SPEAKER}:
        yield Turn(role="", text=came)  # some JSON that was spoken of
    else:
        for name, part in item.items():
            if key(name) not in _ABOUT:
                yield Turn(role=_role(name), text=_words(part))


def _words(value: Json) -> str:
    """The text of a message's content: a string, or a list of parts of which some are images."""
    match value:
        case str():
            return "\n".join(lines(value)).strip("\n") if text(value) else ""
        case list():
            return "\n".join(filter(None, map(_words, value)))
        case {"text": words}:
            return _words(words)
        case {"type": str() as kind} if kind:
            return f"[{kind}]"
    return text(value)

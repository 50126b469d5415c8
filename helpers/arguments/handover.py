"""The arguments of `handover_to_specialist`, from a sloppy call to a request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import JsonValue as Json

from ..values.call import Call
from ..values.errors import RequestError
from ..values.names import same, short
from ..values.packet import Contents, StateField, said_rows
from ..values.roster import Roster, normal
from ..values.settings import MAX_TOKENS, Settings
from .contents import contents, said
from .plain import choice, is_switch, key, number, shown, switch, text, texts
from .sent import Sent
from .state import NO_ANSWER, answers

_LONGEST_PATH = 4095  # bytes: PATH_MAX of Linux without its NUL
_LONGEST_PROFILE = 200  # characters
_MOST_TURNS = 1000
_PROFILE_NAMES = ("specialist_profile", "profile", "specialist", "name", "id")
_AND = re.compile(r"\s+(?:and|or|und|et|y|e|&|\+|then)\s+|\s*[/|>&+]+\s*")
OWN = (
    "specialist_profile", "topic", "project_root", "answers", "max_context_tokens",
    "include_recent_turns", "overflow", "start",
)  # fmt: skip
Overflow = Literal["fit", "whole"]
_OVERFLOWS: tuple[Overflow, ...] = ("fit", "whole")


@dataclass(frozen=True, kw_only=True)
class HandoverRequest:
    """The arguments of `handover_to_specialist`, understood and masked.

    `given` is what the call says for the packet: `model_fields_set` of it, and of each item in it,
    names what was said; a decision without an id has id "". What came empty was not said. The
    default return condition stands in it as if the call had said it. `recent_turns` are the newest
    that were sent, oldest first, more than may travel. `answers` is the id of the handover that
    asked, "" for none.
    """

    specialist_profile: str
    topic: str
    project_root: str
    given: Contents = field(default_factory=Contents)
    answers: str = ""
    max_context_tokens: int
    include_recent_turns: int
    overflow: Overflow = "fit"
    start: bool = False
    warnings: tuple[str, ...] = ()


def arguments() -> tuple[str, ...]:
    """The names of all arguments."""
    return (*OWN, *(row.name for row in said_rows()))


def parse(args: Mapping[Any, Any], call: Call) -> HandoverRequest:
    """The request in `args`; the caller's project stands in when the call names none.

    Raises RequestError with every problem of the call; its code is that of the first.
    """
    settings = call.settings
    sent = Sent(args, arguments(), call.ports.mask)
    profile = sent.read("specialist_profile", lambda value: receiver(value, call), "", json=True)
    topic = sent.read("topic", lambda value: _topic(value, sent), "")
    root = sent.read("project_root", lambda value: _root(value, call), "", masked=False)
    limit = sent.read("max_context_tokens", lambda value: _limit(value, settings), 0)
    count = sent.read("include_recent_turns", lambda value: _count(value, settings, sent), 0)
    overflow = sent.read("overflow", _overflow, _OVERFLOWS[0])
    start = sent.read("start", switch, False)
    asked, answered = sent.read_long(
        "answers", lambda value: answers(said("answers", value, sent), sent), NO_ANSWER
    )
    given = _with_default(contents(sent, said_rows()), answered, settings)
    sent.raise_if_wrong(topic=topic, project_root=root, receiver=profile)
    return HandoverRequest(
        specialist_profile=profile,
        topic=topic,
        project_root=root,
        given=given,
        answers=asked,
        max_context_tokens=limit,
        include_recent_turns=count,
        overflow=overflow,
        start=start,
        warnings=sent.warnings,
    )


def _with_default(
    given: Contents, answered: tuple[StateField, ...], settings: Settings
) -> Contents:
    """What was said, with the fields that answer a question, and with a return condition."""
    update: dict[str, Any] = {}
    if answered:
        update["state"] = (*given.state, *answered)
    if not given.return_condition and settings.default_return_condition:
        update["return_condition"] = settings.default_return_condition
    return given.model_copy(update=update)


def _overflow(value: Json) -> Overflow:
    return choice(value, _OVERFLOWS)


def receiver(value: Json, call: Call, argument: str = "specialist_profile") -> str:
    """The one profile that is meant.

    Raises RequestError: missing, unknown_specialist, or bad_value for several names.
    """
    roster, sender = call.settings.roster, call.caller.sender
    names = _profiles(value, roster)
    if len(names) > 1:
        several = " and ".join(map(shown, names[:5]))
        raise RequestError(
            f"{argument} names more than one: {several}",
            f"one specialist a call: send {names[0]} alone, the next one in a later call",
        )
    name = short("".join(names), _LONGEST_PROFILE)
    if not normal(name) or same(name, argument):
        raise RequestError(f"{argument} is required", roster.choice(sender), "missing")
    try:
        return roster.find(name, sender, argument).profile
    except RequestError as error:
        error.receiver = name  # nobody, but it is what was asked for
        raise


def _profiles(value: Json, roster: Roster) -> tuple[str, ...]:
    """The names that came, each once; known ones as their profile."""
    if isinstance(value, dict):
        named = [part for name, part in value.items() if key(name) in _PROFILE_NAMES]
        value = named or value
    found = []
    for name in texts(value, words=4):
        entry = roster.known(name[:_LONGEST_PROFILE])
        parts = [name] if entry or len(name) > _LONGEST_PROFILE else _AND.split(name)
        known = [roster.known(part) for part in parts]
        found += [each.profile for each in known if each] if all(known) else [short(name)]
    return tuple(dict.fromkeys(found))


def _topic(value: Json, sent: Sent) -> str:
    """One line of text. Another form is refused: the topic is what the chain is found by."""
    match value:
        case dict() | [_, _, *_] | [dict() | list()] if value:
            raise ValueError("must be a text")
    topic = " ".join(text(said("topic", value, sent)).replace("\0", " ").split())
    if not topic:
        hint = "a short name for the piece of work, the same for all its handovers"
        raise RequestError("topic is required", hint, "missing")
    return topic


def _root(value: Json, call: Call) -> str:
    root = text(value).strip(" \"'\t\r\n")
    if not root or same(root, "project_root"):
        root = call.caller.project_root
    readable = shown(call.ports.mask(root))
    if not root:
        hint = "the absolute path of the project's folder"
        raise RequestError("project_root is required", hint, "missing")
    if not re.match(r"/|[A-Za-z]:[\\/]", root):
        message = f"project_root must be absolute, got {readable}"
        raise RequestError(message, "the path from / on", "root_not_absolute")
    if "\0" in root:
        message = f"project_root must be absolute and hold no NUL, got {readable}"
        raise RequestError(message, "the path of the project's folder", "path_unsafe")
    if len(root.encode("utf-8", "replace")) > _LONGEST_PATH:
        message = f"project_root is longer than a path can be: {readable}"
        raise RequestError(message, "the path of the project's folder", "path_unsafe")
    return root


def _limit(value: Json, settings: Settings) -> int:
    """The token limit. Raises RequestError with the seed's words for all that is none."""
    try:
        return number(value, settings.max_context_tokens, 1, MAX_TOKENS)
    except ValueError:
        must = f"must be positive, a whole number up to {MAX_TOKENS}"
        raise RequestError(
            f"max_context_tokens {must}, got {shown(value)}",
            "leave it out for the default",
            "limit_not_positive",
        ) from None


def _count(value: Json, settings: Settings, sent: Sent) -> int:
    """How many turns travel; true (seen of models) is the default, false none."""
    default = settings.include_recent_turns
    if not is_switch(value):
        return number(value, default, 0, _MOST_TURNS)
    if not switch(value):
        return 0
    sent.warn(f"include_recent_turns is a number; the default of {default} was used")
    return default

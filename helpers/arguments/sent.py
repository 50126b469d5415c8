"""The arguments of one call as they came: unwrapped, under their names, bounded, masked.

And all that is wrong with them, told at once, because each refusal costs the model a turn.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import JsonValue as Json

from ..text.masking import Mask, map_text, masked, safe
from ..values.errors import Code, RequestError
from ..values.names import short
from .plain import (
    MOST_CHARACTERS,
    as_json,
    check_size,
    decoded,
    is_placeholder,
    key,
    read_json,
    shown,
    unfenced,
)

T = TypeVar("T")
LINE_CHARACTERS = 10_000  # of an argument that is a name, a number or a path
_MOST_TOLD = 30  # warnings, problems, unknown arguments: more is no help
_LONGEST_ERROR = 300  # characters
_ONE_OBJECT = "give one JSON object with the tool's arguments"
_BESIDE = frozenset({"tool_name", "tool_args", "thoughts", "headline", "name", "arguments"})
# Arguments that are a text: where an object comes instead, it may hold other arguments.
_TEXTS = frozenset(
    {"user_state", "summary", "goal", "next_action", "what_happened", "observations"}
)
_HINTS = {
    "overflow": "leave it out to keep to the limit; whole delivers everything",
    "start": "true runs the specialist at once, false only prepares the handover",
    "state": "map the name of each field to its value alone, or leave state out",
    "include_recent_turns": "leave it out for the default, or send a number",
    "decisions": "leave status out",
    "answers": "send an object with the id of the handover that asked and the fields it asked for",
    "authority": "send an object with granted and denied, each a list of words, or leave it out",
    "outcome": "leave it out where the work is complete",
    "topic": "a short name for the piece of work, the same for all its handovers",
}


class Sent:
    """The arguments of a call, and what there is to say about them.

    `also` gathers what stood in one argument and belongs to another, by its name.
    """

    def __init__(self, args: Mapping[Any, Any], known: Sequence[str], mask: Mask) -> None:
        self.mask = mask
        self.also: dict[str, list[object]] = {}
        self._warnings: list[str] = []
        self._problems: list[RequestError] = []
        self._raw: dict[str, object] = {}
        unknown: list[str] = []
        for sent, value in unwrapped(args).items():
            name = key(str(sent)[:LINE_CHARACTERS])
            if name not in known:
                unknown.append(name)
            elif name in self._raw:
                self.warn(f"{name} was given twice; the first one counts")
            else:
                self._raw[name] = value
        for name in [name for name, value in self._raw.items() if name in _TEXTS]:
            self._spread(name, known)
        for name in unknown[:_MOST_TOLD]:
            self.warn(self._unknown(name, known))
        if len(unknown) > _MOST_TOLD:
            self.warn(f"{len(unknown)} arguments are not known and were ignored")

    def _spread(self, around: str, known: Sequence[str]) -> None:
        """Arguments that stand inside this text, as was seen of models, are taken out of it."""
        value = self._object(around)
        inside = {key(str(inner)[:LINE_CHARACTERS]): inner for inner in value}
        moved = [name for name in inside if name in known and name not in self._raw]
        if not moved:
            return
        for name in moved:
            self._raw[name] = value[inside[name]]
            self.warn(f"{name} stood inside {around} and was taken out of it")
        rest = {inner: value[inner] for name, inner in inside.items() if name not in moved}
        self._raw[around] = (
            rest.get(inside.get(around)) if [*rest] == [inside.get(around)] else rest
        )

    def _object(self, name: str) -> dict[Any, Any]:
        """An argument that came as an object, also in a text or alone in a list; else empty."""
        value = self._raw[name]
        if isinstance(value, str) and len(value) < LINE_CHARACTERS:
            with contextlib.suppress(ValueError):
                value = decoded(value)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        return value if isinstance(value, dict) else {}

    def _unknown(self, name: str, known: Sequence[str]) -> str:
        near = difflib.get_close_matches(name[:60], known, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        readable = short(safe(name, self.mask)[0])
        return f'argument "{readable}" is not known and was ignored{meant}'

    def read(
        self,
        name: str,
        reader: Callable[[Json], T],
        default: T,
        *,
        most: int = LINE_CHARACTERS,
        json: bool = False,
        masked: bool = True,
    ) -> T:
        """What an argument means, or the default with a problem noted.

        `reader` raises ValueError or RequestError. `most` is in characters. `json`: a text may hold
        JSON, which is read before secrets are masked, so that no mask breaks it.
        """
        value: Json = None
        try:
            value = self._value(name, most, json=json, mask=self.mask if masked else str)
            return reader(value)
        except RequestError as error:
            self._problems.append(error)
        except ValueError as error:
            self.problem(name, str(error), value)
        return default

    def read_long(self, name: str, reader: Callable[[Json], T], default: T) -> T:
        """The same for an argument of any length that may be JSON in a text."""
        return self.read(name, reader, default, most=MOST_CHARACTERS, json=True)

    def _value(self, name: str, most: int, *, json: bool, mask: Mask) -> Json:
        raw = self._raw.get(name)
        check_size(raw, most)
        plain = as_json(raw)
        seen = _Seen(mask)
        value: Json = decoded(plain) if json else plain
        if isinstance(value, (dict, list)):
            value = masked(value, mask, name)  # a name tells what its value is, neighbours too
        value = map_text(value, seen.kept)
        if seen.lone:
            self.warn(f"{name} held half a character (a lone surrogate); it became U+FFFD")
        if seen.placeholder:
            self.warn(f"{name} held the placeholder {shown(seen.placeholder)}, which says nothing")
        return value

    def opened(self, value: Json) -> Json:
        """What stands in a list or an object: a text that holds JSON as that, all else as it is."""
        inner = decoded(value)
        opened: Json = value if inner is value else map_text(inner, _Seen(self.mask).kept)
        return opened

    def warn(self, warning: str) -> None:
        self._warnings.append(warning)

    def problem(self, name: str, error: str, value: Json = None) -> None:
        """Note what is wrong with an argument: `error` goes on after its name."""
        came = "" if value is None else f", got {shown(value)}"
        hint = _HINTS.get(name, "leave it out, or send what it must be")
        wrong = self.mask(short(error, _LONGEST_ERROR))
        self._problems.append(RequestError(f"{name} {wrong}{came}", hint))

    def refuse(self, message: str, hint: str, code: Code = "bad_value") -> None:
        """Note what is wrong with the call."""
        self._problems.append(RequestError(message, hint, code))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was understood only in part, each once."""
        each = tuple(dict.fromkeys(self._warnings))
        more = len(each) - _MOST_TOLD
        return (*each[:_MOST_TOLD], f"{more} more of the kind") if more > 0 else each

    def raise_if_wrong(
        self, *, topic: str = "", project_root: str = "", receiver: str = ""
    ) -> None:
        """Raises RequestError with every problem; its code is that of the first."""
        if not self._problems:
            return
        told = self._problems[:_MOST_TOLD]
        messages = dict.fromkeys(error.message for error in told)
        hints = dict.fromkeys(error.hint for error in told if error.hint)
        raise RequestError(
            "; ".join(messages),
            "; ".join(hints),
            told[0].code,
            topic=topic,
            project_root=project_root,
            receiver=receiver or "".join(error.receiver for error in self._problems),
        )


@dataclass
class _Seen:
    """Makes texts whole and masked; what was seen on the way: half a character, a placeholder."""

    mask: Mask
    lone: bool = False
    placeholder: str = ""

    def kept(self, part: str) -> str:
        kept, lone = safe(part, self.mask)
        self.lone = self.lone or lone
        if is_placeholder(kept):
            self.placeholder = kept
            return ""
        return kept


def arguments_of(source: str) -> Mapping[str, Json]:
    """The tool's arguments in a text: one JSON object, also in a code fence or as a whole call.

    Raises RequestError for text that is no JSON, names an argument twice, is nested too deeply, or
    is no object.
    """
    try:
        found = read_json(unfenced(source))
        while isinstance(found, str) and found.strip()[:1] in ("{", '"'):
            found = read_json(unfenced(found))
    except ValueError as error:
        raise RequestError(f"the arguments cannot be read: {error}", _ONE_OBJECT) from error
    if not isinstance(found, dict):
        came = type(found).__name__
        raise RequestError(f"the arguments are no JSON object but {came}", _ONE_OBJECT)
    return unwrapped(found)


def unwrapped(args: Mapping[Any, Any]) -> dict[Any, Any]:
    """The arguments themselves where a whole call came: those inside it, and any beside it.

    Raises RequestError where the inner ones are nested too deeply or name an argument twice.
    """
    for name in ("tool_args", "arguments"):
        try:
            inner = decoded(args.get(name))
        except ValueError as error:
            raise RequestError(f"{name} {error}", _ONE_OBJECT) from error
        if isinstance(inner, dict):
            beside = {other: value for other, value in args.items() if other not in _BESIDE}
            return {**beside, **inner}
    return dict(args)

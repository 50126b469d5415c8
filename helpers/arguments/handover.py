"""The arguments of `handover_to_specialist`, from a sloppy call to a request.

Models send lists as strings, numbers as words, JSON inside strings; the shapes understand what is clear, and `parse` names every
problem of a call in one error, because each error costs the model a turn.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from ..text.masking import Mask, map_text, safe
from ..values.call import Call
from ..values.errors import RequestError
from ..values.packet import Artifact, Contents, Decision, rows
from ..values.roster import normal
from ..values.settings import MAX_TOKENS, Settings
from .coerce import (
    ARTIFACTS,
    FLAGS,
    OPEN_QUESTIONS,
    REJECTED_PATHS,
    Problems,
    answered_fields,
    answered_id,
    as_json,
    authority,
    boolean,
    choice,
    decisions,
    decoded,
    items,
    refuse_bottomless,
    shown,
    state,
    text,
    texts,
    turns,
    unfenced,
    whole_number,
)

_LONGEST_PATH = 4095  # bytes: PATH_MAX of Linux without its NUL


@dataclass(frozen=True, kw_only=True)
class HandoverRequest:
    """The arguments of `handover_to_specialist`, understood and masked.

    `given` is what the call says for the packet: `model_fields_set` of it, and of each item in it,
    names what was said; a decision without an id has id "". What came empty was not said. The
    default return condition stands in it as if the call had said it. `recent_turns` are all that
    were sent, oldest first. `answers` is the id of the handover that asked, "" for none.
    """

    specialist_profile: str
    topic: str
    project_root: str
    given: Contents = field(default_factory=Contents)
    answers: str = ""
    max_context_tokens: int
    include_recent_turns: int
    overflow: Literal["fit", "whole"] = "fit"
    start: bool = False
    warnings: tuple[str, ...] = ()


ARGUMENTS = (
    *(item.name for item in fields(HandoverRequest) if item.name not in ("given", "warnings")),
    *(row.name for row in rows()),
)


def parse(args: Mapping[Any, Any], call: Call) -> HandoverRequest:
    """The request in `args`; the caller's project stands in when the call names none.

    Raises RequestError with every problem of the call; its code is that of the first.
    """
    settings, mask = call.settings, call.ports.mask
    problems = Problems()
    attempt = problems.attempt
    raw, warnings = named(args, ARGUMENTS, mask)
    values, broken = made_whole(raw, mask, problems)
    given = {name: values.get(name) for name in ARGUMENTS}
    profile = _profile(given["specialist_profile"], settings, problems)
    topic = _topic(given["topic"], problems)
    root = _project_root(given["project_root"], call.caller.project_root, problems, mask)
    said: dict[str, Any] = {name: text(given[name]).strip() for name in _TEXTS}
    said |= {
        "recent_turns": turns(given["recent_turns"]),
        "decisions": [Decision(**_numbered(d)) for d in decisions(given["decisions"], problems)],
        "artifacts": [
            Artifact(**{**a, **({"version": str(a["version"])} if "version" in a else {})})
            for a in items(given["artifacts"], ARTIFACTS, problems)
        ],
        "rejected_paths": items(given["rejected_paths"], REJECTED_PATHS, problems),
        "open_questions": items(given["open_questions"], OPEN_QUESTIONS, problems),
        "flags": items(given["flags"], FLAGS, problems),
        "acceptance_criteria": texts(given["acceptance_criteria"]),
        "sections_done": texts(given["sections_done"], commas=True),
        "notes": texts(given["notes"]),
        "state": attempt("state", state, given["state"], ())
        + attempt("answers", answered_fields, given["answers"], ()),
        "return_condition": text(given["return_condition"]).strip()
        or settings.default_return_condition,
    }
    asked = attempt("authority", authority, given["authority"], None)
    if asked and any(asked.values()):
        said["authority"] = asked
    request = HandoverRequest(
        specialist_profile=profile,
        topic=topic,
        project_root=root,
        given=Contents(**{name: value for name, value in said.items() if value}),
        answers=answered_id(given["answers"]),
        max_context_tokens=attempt("max_context_tokens", _limit, given["max_context_tokens"], 0)
        or settings.max_context_tokens,
        include_recent_turns=attempt(
            "include_recent_turns", _count(settings), given["include_recent_turns"], 0
        ),
        overflow=attempt("overflow", choice("fit", "whole"), given["overflow"], "fit"),
        start=attempt("start", boolean, given["start"], False),
    )
    problems.raise_if_any(topic=topic, project_root=root, receiver=profile)
    return replace(request, warnings=(*warnings, *broken, *problems.warnings))


def _numbered(item: Mapping[str, Any]) -> dict[str, Any]:
    digits = re.sub(r"\D", "", str(item.get("version") or ""))[:6]
    rest = {name: value for name, value in item.items() if name != "version"}
    if "status" in rest:
        rest["status"] = rest["status"].lower()
    return {**rest, "version": int(digits)} if digits else rest


_TEXTS = ("summary", "handover_reason", "goal", "next_action", "user_state", "stopped_at")


_STRUCTURED = {
    "recent_turns", "decisions", "artifacts", "acceptance_criteria", "rejected_paths", "open_questions", "state", "answers",
    "flags", "sections_done", "notes", "authority", "missing",
}  # fmt: skip


def tidy(
    args: Mapping[Any, Any], known: Sequence[str], mask: Mask, problems: Problems | None = None
) -> tuple[dict[str, Any], list[str]]:
    """The known arguments under their names, JSON in strings decoded, characters whole, secrets masked; and warnings.

    Values are plain JSON afterwards. What is nested too deeply goes to `problems`, or raises RequestError where there are none.
    """
    values, unknown = named(args, known, mask)
    whole, broken = made_whole(values, mask, problems)
    return whole, unknown + broken


def arguments_of(source: str) -> Mapping[str, Any]:
    """The tool's arguments in a text: one JSON object, also in a code fence, behind a byte order mark, or as a whole tool call.

    Raises RequestError for text that is no JSON, is nested too deeply, or is no object.
    """
    told = unfenced(source.lstrip("\ufeff"))
    try:
        found = json.loads(told)
        while isinstance(found, str) and found.strip()[:1] in ("{", '"'):
            found = json.loads(unfenced(found))
    except RecursionError:
        raise RequestError("the arguments are nested too deeply to be read", _ONE_OBJECT) from None
    except ValueError as error:
        raise RequestError(f"the arguments cannot be read: {error}", _ONE_OBJECT) from error
    if not isinstance(found, dict):
        raise RequestError(
            f"the arguments are no JSON object but {type(found).__name__}", _ONE_OBJECT
        )
    return unwrapped(found)


_ONE_OBJECT = "give one JSON object with the tool's arguments"


_CALL_KEYS = {"tool_name", "tool_args", "thoughts", "headline", "name", "arguments"}


def unwrapped(args: Mapping[Any, Any]) -> dict[Any, Any]:
    """The arguments themselves where a whole call came: those in `tool_args` (an object or JSON text), and any beside it."""
    found = dict(args)
    for _ in range(3):
        inner = next(
            (decoded(found[key]) for key in ("tool_args", "arguments") if key in found), None
        )
        if not isinstance(inner, dict):
            break
        found = {**{key: value for key, value in found.items() if key not in _CALL_KEYS}, **inner}
    return found


def named(
    args: Mapping[Any, Any], known: Sequence[str], mask: Mask
) -> tuple[dict[str, Any], list[str]]:
    """The known arguments under their names, JSON in strings decoded; and a warning for each unknown one."""
    warnings: list[str] = []
    values: dict[str, Any] = {}
    for key, value in unwrapped(args).items():
        name = re.sub(r"[\s\-]+", "_", str(key).strip(" \"'`\ufeff")).lower()
        if name in known:
            values[name] = decoded(value) if name in _STRUCTURED else value
            continue
        near = difflib.get_close_matches(name, known, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        warnings.append(
            f"argument {shown(safe(str(key), mask)[0])} is not known and was ignored{meant}"
        )
    return values, warnings


def made_whole(
    values: Mapping[str, Any], mask: Mask, problems: Problems | None = None
) -> tuple[dict[str, Any], list[str]]:
    """The values as plain JSON with whole characters and masked secrets; and a warning for each that held half a character.

    `project_root` is not masked: a path with a placeholder in it is another path.
    """
    found: dict[str, Any] = {}
    broken: list[str] = []
    for name, value in values.items():
        try:
            refuse_bottomless(name, value)
        except RequestError as error:
            if problems is None:
                raise
            problems.add(error.message, error.hint, error.code)
            continue

        def whole(part: str, name: str = name) -> str:
            result, lone = safe(part, _unmasked if name == "project_root" else mask)
            if lone:
                broken.append(name)
            return result

        found[name] = map_text(as_json(value), whole)
    return found, [
        f"{name} held half a character (a lone surrogate); it became U+FFFD"
        for name in dict.fromkeys(broken)
    ]


def _unmasked(text: str) -> str:
    return text


def _limit(value: Any) -> int | None:
    """The token limit, or None where nothing came."""
    number: int | None = -1
    try:
        number = whole_number(value)
    except ValueError:
        pass
    else:
        if number is None or 0 < number <= MAX_TOKENS:
            return number
    raise RequestError(
        f"max_context_tokens must be positive, a whole number up to {MAX_TOKENS}, got {shown(value)}",
        "leave it out for the default",
        "limit_not_positive",
    )


def _count(settings: Settings) -> Callable[[Any], int]:
    def shape(value: Any) -> int:
        try:
            number = whole_number(value)
        except ValueError:
            number = -1
        if number is None:
            return settings.include_recent_turns
        if not 0 <= number <= 1000:
            raise RequestError(
                f"include_recent_turns must be a whole number from 0 to 1000, got {shown(value)}",
                "leave it out for the default, or send a number such as 5",
                "bad_value",
            )
        return number

    return shape


def _profile(value: Any, settings: Settings, problems: Problems) -> str:
    name = text(
        value if not isinstance(value, (list, tuple)) or len(value) != 1 else value[0]
    ).strip()
    if not normal(name):
        problems.add(
            "specialist_profile is required",
            "use one of: " + ", ".join(settings.roster.names()),
            "missing",
        )
        return ""
    found = problems.attempt("specialist_profile", settings.roster.find, name, None)
    return found.profile if found else ""


def _topic(value: Any, problems: Problems) -> str:
    topic = " ".join(text(value).replace("\0", " ").split())
    if not topic:
        problems.add(
            "topic is required",
            "a short name for the piece of work, the same for all its handovers",
            "missing",
        )
    return topic


def _project_root(value: Any, default: str, problems: Problems, mask: Mask) -> str:
    root = text(value).strip(" \"'\t\r\n") or default
    if not root:
        problems.add(
            "project_root is required", "the absolute path of the project's folder", "missing"
        )
    elif not re.match(r"/|[A-Za-z]:[\\/]", root):
        problems.add(
            f"project_root must be absolute, got {shown(mask(root))}",
            "the path from / on",
            "root_not_absolute",
        )
    elif "\0" in root:
        hint = "the path of the project's folder, in readable characters"
        problems.add(
            f"project_root must be absolute and hold no NUL, got {shown(mask(root))}",
            hint,
            "path_unsafe",
        )
    elif len(root.encode("utf-8", "replace")) > _LONGEST_PATH:
        size = f"{len(root):,} characters, more than a path can have"
        problems.add(
            f"project_root has {size}: {shown(mask(root))}",
            "the path of the project's folder",
            "path_unsafe",
        )
    return root

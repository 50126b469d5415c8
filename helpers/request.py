"""From what a model sends to a request: forgiving about form, strict about meaning.

All coercion of tool arguments lives here. Models send lists as strings, numbers as words, JSON inside strings; `parse`
understands what is clear and names every problem of a call in one error, because each error costs the model a turn.
"""

from __future__ import annotations

import ast
import difflib
import json
import math
import re
import warnings as python_warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from usr.plugins.software_orchestrator.helpers.config import MAX_TOKENS, Settings
from usr.plugins.software_orchestrator.helpers.errors import Code, HandoverError, RequestError
from usr.plugins.software_orchestrator.helpers.masking import Mask, clean, map_text, safe
from usr.plugins.software_orchestrator.helpers.packet import DecisionStatus, Turn
from usr.plugins.software_orchestrator.helpers.roster import normal

_NOTHING = {"", "none", "null", "undefined", "nil", "n/a"}
_TRUE, _FALSE = {"true", "yes", "y", "on", "1"}, {"false", "no", "n", "off", "0", ""}
_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_MAX_DEPTH = 40  # of nested JSON; the host's parser allows more, nothing useful needs it

Items = tuple[dict[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class HandoverRequest:
    """The arguments of `handover_to_specialist`, understood and masked. Items are mappings with the packet's field names.

    `recent_turns` are the newest that may travel, at least one where there is any; None when the call sends none.
    """

    specialist_profile: str
    topic: str
    project_root: str
    summary: str = ""
    recent_turns: tuple[Turn, ...] | None = None
    decisions: Items = ()
    artifacts: Items = ()
    return_condition: str = ""
    handover_reason: str = ""
    max_context_tokens: int
    include_recent_turns: int
    goal: str = ""
    next_action: str = ""
    acceptance_criteria: tuple[str, ...] = ()
    rejected_paths: Items = ()
    open_questions: Items = ()
    user_state: str = ""
    state: Items = ()
    answers: str = ""
    flags: Items = ()
    sections_done: tuple[str, ...] = ()
    stopped_at: str = ""
    notes: tuple[str, ...] = ()
    authority: Mapping[str, tuple[str, ...]] | None = None
    overflow: Literal["fit", "whole"] = "fit"
    start: bool = False
    warnings: tuple[str, ...] = field(default=())


ARGUMENTS = tuple(item.name for item in fields(HandoverRequest) if item.name != "warnings")


class Problems:
    """Collects what is wrong with a call, to tell it at once."""

    def __init__(self) -> None:
        self._found: list[tuple[str, str, Code]] = []

    def add(self, message: str, hint: str = "", code: Code = "bad_value") -> None:
        self._found.append((message, hint, code))

    def attempt(self, name: str, shape: Callable[[Any], Any], value: Any, default: Any) -> Any:
        """The shaped value, or the default after noting why the value cannot be understood."""
        try:
            return shape(value)
        except HandoverError as error:
            self.add(error.message, error.hint, error.code)
        except ValueError as error:
            self.add(f"{name} {error}, got {shown(value)}")
        return default

    def raise_if_any(self) -> None:
        if self._found:
            hints = dict.fromkeys(hint for _, hint, _ in self._found if hint)
            raise RequestError("; ".join(message for message, _, _ in self._found), "; ".join(hints), self._found[0][2])


def parse(args: Mapping[Any, Any], settings: Settings, *, mask: Mask, project_root: str = "") -> HandoverRequest:
    """The request in `args`; `project_root` stands in when the call names none.

    Raises RequestError with every problem of the call; its code is that of the first.
    """
    problems = Problems()
    attempt = problems.attempt
    raw, warnings = named(args, ARGUMENTS, mask)
    count = attempt("include_recent_turns", _count(settings), as_json(raw.get("include_recent_turns")), 0)
    if "recent_turns" in raw:
        raw["recent_turns"] = newest_turns(raw["recent_turns"], max(1, count))
    values, broken = made_whole(raw, mask, problems)
    given = {name: values.get(name) for name in ARGUMENTS}
    request = HandoverRequest(
        specialist_profile=_profile(given["specialist_profile"], settings, problems),
        topic=_topic(given["topic"], problems),
        project_root=_project_root(given["project_root"], project_root, problems, mask),
        recent_turns=turns(given["recent_turns"]) or None,
        decisions=attempt("decisions", decisions, given["decisions"], ()),
        artifacts=items(given["artifacts"], "path", ARTIFACT_KEYS, commas=True),
        rejected_paths=items(given["rejected_paths"], "what", REJECTED_KEYS),
        open_questions=items(given["open_questions"], "text", QUESTION_KEYS),
        flags=items(given["flags"], "text", FLAG_KEYS),
        acceptance_criteria=texts(given["acceptance_criteria"]),
        sections_done=texts(given["sections_done"], commas=True),
        notes=texts(given["notes"]),
        state=attempt("state", state, given["state"], ()) + attempt("answers", _answered_fields, given["answers"], ()),
        answers=_answered_id(given["answers"]),
        authority=attempt("authority", authority, given["authority"], None),
        max_context_tokens=attempt("max_context_tokens", _limit, given["max_context_tokens"], 0)
        or settings.max_context_tokens,
        include_recent_turns=count,
        overflow=attempt("overflow", choice("fit", "whole"), given["overflow"], "fit"),
        start=attempt("start", boolean, given["start"], False),
        return_condition=text(given["return_condition"]).strip() or settings.default_return_condition,
        warnings=(*warnings, *broken),
        **{name: text(given[name]).strip() for name in _TEXTS},
    )
    problems.raise_if_any()
    return request


_TEXTS = ("summary", "handover_reason", "goal", "next_action", "user_state", "stopped_at")
DECISION_KEYS = {
    "text": ("decision", "title", "what", "statement", "description", "content"),
    "rationale": ("why", "reason", "because"),
    "evidence": ("sources", "proof"),
    "owner": ("by", "author", "decided_by"),
    "id": (),
    "version": (),
    "status": (),
    "supersedes": ("replaces",),
}
ARTIFACT_KEYS = {"path": ("file", "filename", "name", "uri", "url", "reference"), "kind": ("type",), "version": ()}
REJECTED_KEYS = {"what": ("path", "option", "tried", "text", "approach"), "why": ("reason", "because", "rationale")}
QUESTION_KEYS = {"text": ("question", "what"), "id": (), "field": ("answers",)}
FLAG_KEYS = {"text": ("flag", "what", "message"), "fields": ("field",)}
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


def named(args: Mapping[Any, Any], known: Sequence[str], mask: Mask) -> tuple[dict[str, Any], list[str]]:
    """The known arguments under their names, JSON in strings decoded; and a warning for each unknown one."""
    warnings: list[str] = []
    values: dict[str, Any] = {}
    for key, value in args.items():
        name = re.sub(r"[\s\-]+", "_", str(key).strip(" \"'`")).lower()
        if name in known:
            values[name] = decoded(value) if name in _STRUCTURED else value
            continue
        near = difflib.get_close_matches(name, known, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        warnings.append(f"argument {shown(safe(str(key), mask)[0])} is not known and was ignored{meant}")
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
            _refuse_bottomless(name, value)
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
    return found, [f"{name} held half a character (a lone surrogate); it became U+FFFD" for name in dict.fromkeys(broken)]


def _unmasked(text: str) -> str:
    return text


def as_json(value: Any) -> Any:
    """The value with nothing in it that JSON cannot hold: names of fields and values of other types become text."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= 1024 else f"a number of {value.bit_length():,} bits"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {name if isinstance(name, str) else str(as_json(name)): as_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return sorted(map(as_json, value), key=str) if isinstance(value, (set, frozenset)) else str(value)


def _refuse_bottomless(name: str, value: Any) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            raise RequestError(f"{name} is nested more than {_MAX_DEPTH} levels deep", "send flat lists of texts or objects")
        level = [
            child
            for item in level
            if isinstance(item, (dict, list, tuple))
            for child in (item.values() if isinstance(item, dict) else item)
        ]


# shapes: each takes what came and returns what is meant, or raises ValueError("must be ...")


def decoded(value: Any) -> Any:
    """A string that holds a JSON or Python list or object as that value; everything else as it is."""
    if not isinstance(value, str):
        return value
    stripped = re.sub(r"\A```\w*\s*|\s*```\Z", "", value.strip())
    if stripped[:1] not in ("[", "{") or stripped[-1:] not in ("]", "}"):
        return value
    for read in (json.loads, _literal):
        try:
            found = read(stripped)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        return as_json(found) if isinstance(found, (set, frozenset)) else found
    return value


def _literal(source: str) -> Any:
    with python_warnings.catch_warnings():
        python_warnings.simplefilter("ignore")  # of escapes such as "\\d", which would go to standard error
        return ast.literal_eval(source)


def text(value: Any) -> str:
    """Any value as text; nothing ("None", null) as ""."""
    if value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return "\n".join(part for part in map(text, value) if part.strip())
    if isinstance(value, dict):
        return "\n".join(f"{key}: {text(item)}" for key, item in value.items())
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (bool, int, float)) else str(value)


def texts(value: Any, *, commas: bool = False) -> tuple[str, ...]:
    """A list of texts from a list, JSON, lines with or without bullets, or (where `commas`) a comma list."""
    return tuple(part for part in (text(item).strip() for item in listed(value, commas=commas)) if part)


def listed(value: Any, *, commas: bool = False) -> list[Any]:
    value = decoded(value)
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return list(value)
    if not isinstance(value, str):
        return [value]
    lines = [re.sub(r"\A\s*(?:[-*•]|\d{1,3}[.)])\s+", "", line).strip() for line in value.split("\n")]
    lines = [line for line in lines if line and line.lower() not in _NOTHING]
    if commas and len(lines) == 1:
        return [part.strip() for part in re.split(r"[,;]", lines[0]) if part.strip()]
    return list(lines)


def items(value: Any, main: str, keys: Mapping[str, Sequence[str]], *, commas: bool = False) -> Items:
    """Objects with the packet's field names; a plain text becomes the `main` field. Items without it are left out."""
    value = decoded(value)
    if isinstance(value, dict) and not any(name in value for name in (main, *keys[main])):
        value = [_named(key, item, main, keys) for key, item in value.items()]
    shaped = (_item(item, main, keys) for item in listed(value, commas=commas))
    return tuple(item for item in shaped if item[main])


def _named(name: str, item: Any, main: str, keys: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """An item of an object: its name there is its text, or its id where it brings a text of its own."""
    if not isinstance(item, dict):
        return {main: name, "why": item}
    return {"id" if "id" in keys and any(key in item for key in (main, *keys[main])) else main: name, **item}


def decisions(value: Any) -> Items:
    """Decisions whose status exists. Raises RequestError that names those that do not."""
    found = items(value, "text", DECISION_KEYS)
    wrong = {shown(item["status"]) for item in found if item.get("status", "active").lower() not in get_args(DecisionStatus)}
    if wrong:
        raise RequestError(
            f"decisions have no status {', '.join(sorted(wrong))}", "status is one of: " + ", ".join(get_args(DecisionStatus))
        )
    return found


def _item(item: Any, main: str, keys: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    inner = decoded(item)
    item = inner if isinstance(inner, dict) and any(key in inner for key in (main, *keys[main])) else item
    if not isinstance(item, dict):
        return {main: text(item).strip()}
    lower = {re.sub(r"[\s\-]+", "_", str(key)).lower(): value for key, value in item.items()}
    found: dict[str, Any] = {main: ""}
    for name, others in keys.items():
        value = next((lower[key] for key in (name, *others) if lower.get(key) not in (None, "")), None)
        if value is not None:
            found[name] = texts(value) if name in ("evidence", "fields") else value if name == "version" else text(value).strip()
    return found


_ROLES = {
    "user": "user", "human": "user", "person": "user", "customer": "user", "client": "user",
    "assistant": "assistant", "ai": "assistant", "agent": "assistant", "bot": "assistant", "model": "assistant",
    "orchestrator": "assistant", "system": "system", "tool": "tool", "function": "tool", "developer": "system",
}  # fmt: skip
_TURN = re.compile(r"\s*(?:[-*•]\s+)?\**(?P<role>[A-Za-z][A-Za-z0-9_]{1,40})\**\s*:\**\s*(?P<text>.*)", re.DOTALL)


def turns(value: Any) -> tuple[Turn, ...]:
    """Turns from lists of texts or `{"role", "content"}` objects, JSON, or one text with a turn a line; empty ones left out."""
    value = decoded(value)
    if isinstance(value, str):
        value = _turn_lines(value)
    elif isinstance(value, dict):
        value = [value]
    found = (_turn(item) for item in (value if isinstance(value, (list, tuple)) else [] if value is None else [value]))
    return tuple(turn for turn in found if turn.text.strip())


def newest_turns(value: Any, most: int) -> Any:
    """The end of a long list: its last `most` turns that are not empty. What does not travel is not even read."""
    if not isinstance(value, (list, tuple)) or len(value) <= most:
        return value
    kept: list[Any] = []
    for item in reversed(value):
        if len(kept) == most:
            break
        if (isinstance(item, str) and item.strip()) or turns([item]):
            kept.append(item)
    return kept[::-1]


def _turn_lines(value: str) -> list[str]:
    lines = [line for line in value.split("\n") if line.strip()]
    if not any(_role(line) for line in lines):
        return lines
    joined: list[str] = []
    for line in lines:
        if _role(line) or not joined:
            joined.append(line)
        else:
            joined[-1] += "\n" + line
    return joined


def _role(line: str) -> str:
    match = _TURN.fullmatch(line)
    if match is None:
        return ""
    name = match["role"]
    return _ROLES.get(name.lower(), name if "_" in name and name.islower() else "")


def _turn(item: Any) -> Turn:
    inner = decoded(item)
    item = inner if isinstance(inner, dict) and "role" in inner else item
    if isinstance(item, dict):
        lower = {str(key).lower(): value for key, value in item.items()}
        role = text(next((lower[key] for key in ("role", "speaker", "from", "author") if lower.get(key)), ""))
        content = next((lower[key] for key in ("content", "text", "message") if key in lower), None)
        if content is None and len(lower) == 1 and not role:
            role, content = next((key, value) for key, value in lower.items())
        return Turn(role=_ROLES.get(role.lower(), role) or "user", text=_content(content))
    if isinstance(item, (list, tuple)) and len(item) == 2 and isinstance(item[0], str):
        return Turn(role=_ROLES.get(item[0].lower(), item[0]), text=_content(item[1]))
    said = text(item)
    if role := _role(said):
        match = _TURN.fullmatch(said)
        assert match is not None
        return Turn(role=role, text=match["text"])
    return Turn(role="", text=said)


def _content(value: Any) -> str:
    """The text of a message's content, which is a string or a list of parts of which some are images."""
    if isinstance(value, (list, tuple)):
        return "\n".join(filter(None, map(_content, value)))
    if isinstance(value, dict):
        if "text" in value:
            return text(value["text"])
        kind = value.get("type")
        return f"[{kind}]" if isinstance(kind, str) and kind else text(value)
    return text(value)


STATUSES = ("answered", "declined", "skipped_not_triggered", "skipped_section_omitted", "volunteered")


def state(value: Any) -> Items:
    """Carried fields from an object, a list of `{"field", "value"}`, or lines `field: value`. A bare value is answered."""
    value = decoded(value)
    if isinstance(value, str):
        pairs = [re.split(r"\s*[:=]\s*", line, maxsplit=1) for line in listed(value)]
        if any(len(pair) != 2 or not pair[0] for pair in pairs):
            raise ValueError('must map field names to values, such as {"ticket": "ABC-1"}')
        return tuple(_field(name, part) for name, part in pairs)
    if isinstance(value, dict) and "field" not in value:
        return tuple(_field(str(name), part) for name, part in value.items())
    found = []
    for item in listed(value):
        item = decoded(item)
        if not isinstance(item, dict):
            raise ValueError('must map field names to values, such as {"ticket": "ABC-1"}')
        name = text(item.get("field") or item.get("id") or item.get("name")).strip()
        if name:
            found.append(_field(name, {key: part for key, part in item.items() if key not in ("field", "id", "name")}))
        else:
            found.extend(_field(str(key), part) for key, part in item.items())
    return tuple(found)


def _field(name: str, value: Any) -> dict[str, Any]:
    if not name.strip():
        raise ValueError("needs a name for every field")
    if isinstance(value, dict) and value and set(value) <= {"value", "status", "verbatim", "owner", "hop"}:
        status = re.sub(r"[^a-z]+", "_", text(value.get("status")).lower()).strip("_") or "answered"
        if status not in STATUSES:
            raise ValueError(f"has no status {status!r} (field {name}; allowed: {', '.join(STATUSES)})")
        return {
            "field": name.strip(),
            "value": value.get("value"),
            "status": status,
            "verbatim": text(value.get("verbatim")),
            "owner": text(value.get("owner")),
        }
    if isinstance(value, str) and value.strip(" []().").lower() == "declined":
        return {"field": name.strip(), "value": None, "status": "declined"}
    return {"field": name.strip(), "value": value, "status": "answered"}


_ID = re.compile(r"ho-[0-9a-f]{16}")


def _answered_id(value: Any) -> str:
    """The id of a handover in what came, wherever it stands."""
    match = _ID.search(json.dumps(value, default=str))
    return match[0] if match else ""


def _answered_fields(value: Any) -> Items:
    if isinstance(value, str) and _ID.search(value):
        return ()
    if isinstance(value, dict):
        fields = {key: part for key, part in value.items() if not _ID.fullmatch(str(part)) and not _ID.fullmatch(key)}
        under_id = (part for key, part in value.items() if _ID.fullmatch(key) and isinstance(part, (dict, list)))
        return state(fields) + tuple(item for part in under_id for item in state(part))
    return state(value)


def authority(value: Any) -> Mapping[str, tuple[str, ...]] | None:
    """`{"granted": [...], "denied": [...]}`; a bare list or comma list is what is granted; nothing is None (inherits)."""
    value = decoded(value)
    if value is None or text(value) == "":
        return None
    if isinstance(value, dict):
        if unknown := set(value) - {"granted", "denied"}:
            raise ValueError(f"has granted and denied only, not {', '.join(sorted(map(str, unknown)))}")
        return {name: texts(value.get(name), commas=True) for name in ("granted", "denied")}
    return {"granted": texts(value, commas=True), "denied": ()}


def boolean(value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    word = text(value).strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError("must be true or false")


def choice(*allowed: str) -> Callable[[Any], str]:
    """A shape that takes one of `allowed`, the first when nothing came."""

    def shape(value: Any) -> str:
        word = text(value).strip(" \"'.").lower() or allowed[0]
        if word not in allowed:
            raise ValueError("must be " + " or ".join(allowed))
        return word

    return shape


def whole_number(value: Any) -> int | None:
    """A whole number from `5`, `5.0`, "5", "3,000", "3k", "five"; None where nothing came. Raises ValueError otherwise."""
    if value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING):
        return None
    if isinstance(value, bool):
        raise ValueError("must be a whole number")
    if isinstance(value, str):
        return _number_in(value)
    if isinstance(value, (int, float)) and value == value and abs(value) != float("inf") and value == int(value):
        return int(value)
    raise ValueError("must be a whole number")


def _number_in(value: str) -> int:
    word = re.sub(r"\s*(?:tokens?|turns?)\Z", "", value.strip(" \"'").lower())
    if word in _WORDS:
        return _WORDS.index(word)
    match = re.fullmatch(r"([+-]?)(\d{1,3}(?:[,_ ]\d{3})+|\d{1,20})(?:\.(\d{1,3}))?\s*(k?)", word)
    if match is None or (len(match[3] or "") == 3 and not match[4]):  # 3.000 is three or three thousand
        raise ValueError("must be a whole number")
    sign, digits, decimals, kilo = match.groups()
    scaled = int(re.sub(r"\D", "", digits) + (decimals or "").ljust(3, "0"))  # in thousandths
    if not kilo and scaled % 1000:
        raise ValueError("must be a whole number")
    return (-1 if sign == "-" else 1) * (scaled if kilo else scaled // 1000)


def shown(value: Any, limit: int = 60) -> str:
    """What came, for an error line: one line of printable characters, at most `limit`, in quotes when it was a string."""
    raw = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    raw = clean(raw[: limit * 4])[0]
    line = "".join(char if char.isprintable() else " " for char in raw)
    line = line if len(line) <= limit else line[: limit - 1] + "…"
    return f'"{line}"' if isinstance(value, str) else line


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
        number = whole_number(value)
        if number is None:
            return settings.include_recent_turns
        if not 0 <= number <= 1000:
            raise ValueError("must be a whole number from 0 to 1000")
        return number

    return shape


# the three that every call needs


def _profile(value: Any, settings: Settings, problems: Problems) -> str:
    name = text(value if not isinstance(value, (list, tuple)) or len(value) != 1 else value[0]).strip()
    if not normal(name):
        problems.add("specialist_profile is required", "use one of: " + ", ".join(settings.roster.names()), "missing")
        return ""
    found = problems.attempt("specialist_profile", settings.roster.find, name, None)
    return found.profile if found else ""


def _topic(value: Any, problems: Problems) -> str:
    topic = " ".join(text(value).replace("\0", " ").split())
    if not topic:
        problems.add("topic is required", "a short name for the piece of work, the same for all its handovers", "missing")
    return topic


def _project_root(value: Any, default: str, problems: Problems, mask: Mask) -> str:
    root = text(value).strip(" \"'\t\r\n") or default
    if not root:
        problems.add("project_root is required", "the absolute path of the project's folder", "missing")
    elif not re.match(r"/|[A-Za-z]:[\\/]", root):
        problems.add(f"project_root must be absolute, got {shown(mask(root))}", "the path from / on", "root_not_absolute")
    elif "\0" in root:
        problems.add(f"project_root must be absolute and hold no NUL, got {shown(mask(root))}", "", "path_unsafe")
    return root



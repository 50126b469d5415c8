"""From what a model sends to what it means: a shape takes any value and returns the meant one, or raises ValueError.

Forgiving about form, strict about meaning. All coercion of tool arguments lives here and in `request`.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings as python_warnings
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, get_args

from ..text.masking import clean
from ..values.errors import Code, HandoverError, RequestError
from ..values.packet import DecisionStatus, Turn

_NOTHING = {"", "none", "null", "undefined", "nil", "n/a"}
_TRUE = {"true", "yes", "y", "on", "1"}
_FALSE = {"false", "no", "n", "off", "0", ""}
_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_MAX_DEPTH = 40  # of nested JSON; the host's parser allows more, nothing useful needs it
Items = tuple[dict[str, Any], ...]

_ADVICE = {
    "overflow": 'leave it out: "fit" keeps to the limit and names what it left out, "whole" delivers everything',
    "start": "true runs the specialist at once, false or nothing prepares the handover",
    "state": 'send an object such as {"ticket": "ABC-1", "vat_id": {"status": "declined"}}',
    "answers": 'send the id of the handover that asked, and what it asked for: {"id": "ho-...", "vat_id": "DE123"}',
    "authority": 'send {"granted": ["read"], "denied": ["deploy"]}, or leave it out',
    "outcome": "leave it out where the work is complete",
}


class Problems:
    """Collects what is wrong with a call, to tell it at once; and in `warnings` what was understood only in part."""

    def __init__(self) -> None:
        self._found: list[tuple[str, str, Code]] = []
        self.warnings: list[str] = []

    def add(self, message: str, hint: str = "", code: Code = "bad_value") -> None:
        self._found.append((message, hint, code))

    def attempt(self, name: str, shape: Callable[[Any], Any], value: Any, default: Any) -> Any:
        """The shaped value, or the default after noting why the value cannot be understood."""
        try:
            return shape(value)
        except HandoverError as error:
            self.add(error.message, error.hint, error.code)
        except ValueError as error:
            self.add(
                f"{name} {error}, got {shown(value)}",
                _ADVICE.get(name, "leave it out, or send what it must be"),
            )
        return default

    def raise_if_any(self, *, topic: str = "", project_root: str = "", receiver: str = "") -> None:
        if self._found:
            hints = dict.fromkeys(hint for _, hint, _ in self._found if hint)
            raise RequestError(
                "; ".join(message for message, _, _ in self._found),
                "; ".join(hints),
                self._found[0][2],
                topic=topic,
                project_root=project_root,
                receiver=receiver,
            )


@dataclass(frozen=True)
class Kind:
    """What an argument's items are: `main` is the field that each needs, `keys` all its fields with their other names.

    Values under several names of a field in `joined` are told together, of other fields the first one counts. `value` is the
    field that a plain value stands for in an object `{main: value}`.
    """

    argument: str
    main: str
    keys: Mapping[str, Sequence[str]]
    value: str
    joined: Set[str] = frozenset()
    commas: bool = False

    @property
    def known(self) -> dict[str, str]:
        """Every name of a field, and which field that is."""
        return {alias: name for name, others in self.keys.items() for alias in (name, *others)}

    def rank(self, alias: str) -> int:
        """Which of several names of one field comes first; those that are told together stay in the order they came in."""
        return (
            0 if self.known.get(alias, "") in {"", *self.joined} else list(self.known).index(alias)
        )


DECISIONS = Kind(
    "decisions",
    "text",
    {
        "text": (
            "title",
            "name",
            "decision",
            "what",
            "statement",
            "summary",
            "description",
            "content",
            "details",
        ),
        "rationale": ("why", "reason", "because"),
        "evidence": ("sources", "proof"),
        "owner": ("by", "author", "decided_by"),
        "id": (),
        "version": (),
        "status": (),
        "supersedes": ("replaces",),
    },
    value="rationale",
    joined=frozenset({"text", "rationale"}),
)


ARTIFACTS = Kind(
    "artifacts",
    "path",
    {
        "path": ("file", "filename", "file_path", "uri", "url", "reference", "name"),
        "kind": ("type", "title", "description", "note", "purpose"),
        "version": (),
    },
    value="kind",
    joined=frozenset({"kind"}),
    commas=True,
)


REJECTED_PATHS = Kind(
    "rejected_paths",
    "what",
    {
        "what": ("title", "path", "option", "tried", "approach", "text", "description"),
        "why": ("reason", "because", "rationale"),
    },
    value="why",
    joined=frozenset({"what", "why"}),
)


OPEN_QUESTIONS = Kind(
    "open_questions",
    "text",
    {
        "text": ("title", "question", "what", "description", "content"),
        "id": (),
        "field": ("answers",),
    },
    value="field",
    joined=frozenset({"text"}),
)


FLAGS = Kind(
    "flags",
    "text",
    {"text": ("flag", "title", "what", "message", "description"), "fields": ("field",)},
    value="fields",
    joined=frozenset({"text"}),
)


def unfenced(source: str) -> str:
    return re.sub(r"\A```\w*\s*|\s*```\Z", "", source.strip())


def as_json(value: Any) -> Any:
    """The value with nothing in it that JSON cannot hold: names of fields and values of other types become text."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= 1024 else f"a number of {value.bit_length():,} bits"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {
            name if isinstance(name, str) else str(as_json(name)): as_json(item)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return (
        sorted(map(as_json, value), key=str) if isinstance(value, (set, frozenset)) else str(value)
    )


def refuse_bottomless(name: str, value: Any) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            raise RequestError(
                f"{name} is nested more than {_MAX_DEPTH} levels deep",
                "send flat lists of texts or objects",
            )
        level = [
            child
            for item in level
            if isinstance(item, (dict, list, tuple))
            for child in (item.values() if isinstance(item, dict) else item)
        ]


def decoded(value: Any) -> Any:
    """A string that holds a JSON or Python list or object as that value; everything else as it is."""
    if not isinstance(value, str):
        return value
    stripped = unfenced(value.lstrip("\ufeff"))
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
        python_warnings.simplefilter(
            "ignore"
        )  # of escapes such as "\\d", which would go to standard error
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
    return (
        json.dumps(value, ensure_ascii=False)
        if isinstance(value, (bool, int, float))
        else str(value)
    )


def texts(value: Any, *, commas: bool = False) -> tuple[str, ...]:
    """A list of texts from a list, JSON, lines with or without bullets, or (where `commas`) a comma list."""
    return tuple(
        part for part in (text(item).strip() for item in listed(value, commas=commas)) if part
    )


def listed(value: Any, *, commas: bool = False) -> list[Any]:
    value = decoded(value)
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return list(value)
    if not isinstance(value, str):
        return [value]
    lines = [re.sub(r"\A\s*(?:[-*•]|\d{1,3}[.)])\s+", "", line).strip() for line in _lines(value)]
    lines = [line for line in lines if line and line.lower() not in _NOTHING]
    if commas and len(lines) == 1:
        return [part.strip() for part in re.split(r"[,;]", lines[0]) if part.strip()]
    return list(lines)


def items(value: Any, kind: Kind, problems: Problems) -> Items:
    """Objects with the packet's field names, from texts, objects, or one object that names them; what is lost is warned of."""
    value = decoded(value)
    found: list[dict[str, Any]] = []
    for item in [value] if isinstance(value, dict) else listed(value, commas=kind.commas):
        inner = decoded(item)
        if not isinstance(inner, dict):
            found += [{kind.main: said}] if (said := text(item).strip()) else []
        elif set(map(_key, inner)) & set(kind.known):
            found += _item(inner, kind, problems)
        else:
            found += [
                one
                for name, part in inner.items()
                for one in _named(str(name).strip(), decoded(part), kind, problems)
            ]
    return tuple(found)


def decisions(value: Any, problems: Problems) -> Items:
    """Decisions whose status exists; those that do not are a problem."""
    found = items(value, DECISIONS, problems)
    wrong = {
        shown(item["status"])
        for item in found
        if item.get("status", "active").lower() not in get_args(DecisionStatus)
    }
    if wrong:
        problems.add(
            f"decisions have no status {', '.join(sorted(wrong))}",
            "status is one of: " + ", ".join(get_args(DecisionStatus)),
        )
        return ()
    return found


def _key(name: Any) -> str:
    return re.sub(r"[\s\-]+", "_", str(name).strip()).lower()


def _item(item: Mapping[Any, Any], kind: Kind, problems: Problems) -> list[dict[str, Any]]:
    """One item from an object that names at least one of its fields."""
    given: dict[str, list[str]] = {}
    values: dict[str, Any] = {}
    lost: list[str] = []
    for key, value in sorted(item.items(), key=lambda pair: kind.rank(_key(pair[0]))):
        name = kind.known.get(_key(key), "")
        if text(value).strip() == "":
            continue
        if not name or (name in values and name not in kind.joined):
            if not name or text(value).strip() not in text(values[name]):
                lost.append(f"{shown(str(key))} ({shown(value)})")
            continue
        values.setdefault(name, value)
        given.setdefault(name, []).append(text(value).strip())
    if kind.main not in values:
        if values or lost:
            problems.warnings.append(
                f"an item of {kind.argument} without {kind.main} was left out: {shown(dict(item))}"
            )
        return []
    if lost:
        problems.warnings.append(
            f"{kind.argument} have no field {', '.join(lost)}: left out of {shown(given[kind.main][0], 30)}"
        )
    return [
        {
            name: _value(name, values[name], given[name], kind)
            for name in kind.keys
            if name in values
        }
    ]


def _value(name: str, value: Any, told: Sequence[str], kind: Kind) -> Any:
    if name in ("evidence", "fields"):
        return texts(value)
    if name == "version":
        return value
    return ": ".join(dict.fromkeys(told)) if name in kind.joined else told[0]


_LISTS = {"items", "list", "all", "values", "entries"}


def _named(name: str, value: Any, kind: Kind, problems: Problems) -> list[dict[str, Any]]:
    """The items of one entry of an object: its name is an id, a text or a heading, whichever the value makes likely."""
    if not name:
        return list(items(value if isinstance(value, dict) else listed(value), kind, problems))
    if isinstance(value, dict):
        if set(map(_key, value)) & set(kind.known):
            lower = set(map(_key, value))
            own = (
                "id"
                if "id" in kind.keys and lower & {kind.main, *kind.keys[kind.main]}
                else kind.main
            )
            return _item({own: name, **value} if own not in lower else value, kind, problems)
        if "id" not in kind.keys:
            return [
                {kind.main: name, kind.value: text(value)}
                if kind is not FLAGS
                else {"text": f"{name}: {text(value)}"}
            ]
        return [
            one
            for part, inner in value.items()
            for one in _under(name, {part: inner}, kind, problems)
        ]
    said = text(value).strip()
    if value is True or not said:
        return [{kind.main: name}]
    plain = _key(name) in {*_LISTS, kind.argument, kind.argument.removesuffix("s")}
    if isinstance(value, (list, tuple)) and (plain or kind is not FLAGS):
        return [
            one
            for part in value
            for one in (
                items([part], kind, problems) if plain else _under(name, part, kind, problems)
            )
        ]
    if kind is FLAGS:
        if all(map(_is_name, texts(value))):
            return [{"text": name, "fields": texts(value)}]
        return [{"text": f"{name}: {'; '.join(texts(value))}"}]
    if kind is ARTIFACTS:
        swapped = "/" not in name and "." not in name and bool(re.fullmatch(r"\S*[./]\S+", said))
        return [{"path": said, "kind": name}] if swapped else [{"path": name, "kind": said}]
    if kind is REJECTED_PATHS:
        return [{"what": name, "why": said}]
    if _is_name(name):
        return [{"id": name, "text": said}]
    if kind is OPEN_QUESTIONS:
        return [{"text": name, "field": said}] if _is_name(said) else [{"text": f"{name} {said}"}]
    return [{"text": name, kind.value: said}]


def _under(name: str, part: Any, kind: Kind, problems: Problems) -> list[dict[str, Any]]:
    """An item that stands in a list under a heading; the heading is told before its text."""
    found = items([part], kind, problems)
    if kind is ARTIFACTS:
        return [{"kind": name, **one} for one in found]
    return [{**one, kind.main: f"{name}: {one[kind.main]}"} for one in found]


def _is_name(word: str) -> bool:
    return bool(re.fullmatch(r"\w[\w.\-]*", word))


_ROLES = {
    "user": "user", "human": "user", "person": "user", "customer": "user", "client": "user",
    "assistant": "assistant", "ai": "assistant", "agent": "assistant", "bot": "assistant", "model": "assistant",
    "orchestrator": "assistant", "system": "system", "tool": "tool", "function": "tool", "developer": "system",
}  # fmt: skip


_TURN = re.compile(
    r"\s*(?:[-*•]\s+)?\**(?P<role>[A-Za-z][A-Za-z0-9_]{1,40})\**\s*:\**\s*(?P<text>.*)", re.DOTALL
)


def turns(value: Any) -> tuple[Turn, ...]:
    """Turns from lists of texts or `{"role", "content"}` objects, JSON, or one text with a turn a line; empty ones left out."""
    value = decoded(value)
    if isinstance(value, str):
        value = _turn_lines(value)
    elif isinstance(value, dict) and len(value) == 1 and _key(next(iter(value))) in _TURN_LISTS:
        return turns(next(iter(value.values())))
    many = value if isinstance(value, (list, tuple)) else [] if value is None else [value]
    return tuple(turn for item in many for turn in _turns(item) if turn.text.strip())


_TURN_LISTS = {*_LISTS, "turns", "messages", "recent_turns", "history", "conversation"}


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
    lines = [line for line in _lines(value) if line.strip()]
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


_ROLE_KEYS = ("role", "speaker", "from", "author", "sender")


_CONTENT_KEYS = ("content", "text", "message", "parts", "body", "value")


# What tells of a message but is none of its words.
_ABOUT_KEYS = {
    "id",
    "type",
    "time",
    "timestamp",
    "date",
    "created_at",
    "number",
    "index",
    "turn",
    "name",
    "model",
    "metadata",
}


def _turns(item: Any) -> list[Turn]:
    """The turns of one item; an object without role and content has one for each of its names: `{"user": ..., "ai": ...}`."""
    inner = decoded(item)
    if isinstance(inner, dict):
        lower = {_key(key): part for key, part in inner.items()}
        if any(key in lower for key in (*_ROLE_KEYS, *_CONTENT_KEYS)):
            return [_message(lower)]
        if isinstance(item, str) and not any(_ROLES.get(key) for key in lower):
            return [Turn(role="", text=item)]
        known = any(key in _ROLES for key in lower)
        about = _ABOUT_KEYS - set(_ROLES) if known else set()
        spoken = {name: part for name, part in inner.items() if _key(name) not in about}
        return [
            Turn(role=_ROLES.get(_key(name), str(name)), text=_content(part))
            for name, part in spoken.items()
        ]
    if isinstance(item, (list, tuple)) and len(item) == 2 and isinstance(item[0], str):
        return [Turn(role=_ROLES.get(item[0].lower(), item[0]), text=_content(item[1]))]
    said = _tidy(text(item))
    if role := _role(said):
        match = _TURN.fullmatch(said)
        assert match is not None
        return [Turn(role=role, text=match["text"])]
    return [Turn(role="", text=said)]


def _message(lower: Mapping[str, Any]) -> Turn:
    role = text(next((lower[key] for key in _ROLE_KEYS if lower.get(key)), ""))
    told = [_content(lower[key]) for key in _CONTENT_KEYS if key in lower]
    if not any(part.strip() for part in told):
        beside = {
            key: part
            for key, part in lower.items()
            if key not in (*_ROLE_KEYS, *_CONTENT_KEYS, *_ABOUT_KEYS)
        }
        told = [text(beside)]
    words = "\n".join(dict.fromkeys(part for part in told if part.strip()))
    return Turn(role=_ROLES.get(role.lower(), role) or "user", text=words)


def _lines(value: str) -> list[str]:
    return re.split(r"\r\n?|\n", value)


def _tidy(value: str) -> str:
    """The text with line ends as "\\n" and none around it."""
    return "\n".join(_lines(value)).strip("\n")


def _content(value: Any) -> str:
    """The text of a message's content, which is a string or a list of parts of which some are images."""
    if isinstance(value, (list, tuple)):
        return "\n".join(filter(None, map(_content, value)))
    if isinstance(value, dict):
        if "text" in value:
            return _content(value["text"])
        kind = value.get("type")
        return f"[{kind}]" if isinstance(kind, str) and kind else text(value)
    return _tidy(text(value))


STATUSES = (
    "answered",
    "declined",
    "skipped_not_triggered",
    "skipped_section_omitted",
    "volunteered",
)


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
            found.append(
                _field(
                    name,
                    {key: part for key, part in item.items() if key not in ("field", "id", "name")},
                )
            )
        else:
            found.extend(_field(str(key), part) for key, part in item.items())
    return tuple(found)


def _field(name: str, value: Any) -> dict[str, Any]:
    if not name.strip():
        raise ValueError("needs a name for every field")
    if isinstance(value, dict) and _is_status(value):
        lower = {_key(key): part for key, part in value.items()}
        status = _status(lower.get("status")) or "answered"
        if status not in STATUSES:
            raise ValueError(
                f"has no status {status!r} (field {name}; allowed: {', '.join(STATUSES)})"
            )
        said = [text(lower[key]) for key in _WORDS_KEYS if key in lower]
        beside = text(
            {
                key: part
                for key, part in value.items()
                if _key(key) not in (*_FIELD_KEYS, *_WORDS_KEYS)
            }
        )
        return {
            "field": name.strip(),
            "value": lower.get("value"),
            "status": status,
            "verbatim": "\n".join(dict.fromkeys(filter(None, (*said, beside)))),
            "owner": text(lower.get("owner")),
        }
    if isinstance(value, str) and value.strip(" []().").lower() == "declined":
        return {"field": name.strip(), "value": None, "status": "declined"}
    return {"field": name.strip(), "value": value, "status": "answered"}


_FIELD_KEYS = ("value", "status", "owner", "hop")


_WORDS_KEYS = ("verbatim", "words", "quote", "reason", "why")


_WITHOUT_VALUE = {"declined", "skipped_not_triggered", "skipped_section_omitted"}


def _status(value: Any) -> str:
    return re.sub(r"[^a-z]+", "_", text(value).lower()).strip("_")


def _is_status(value: Mapping[Any, Any]) -> bool:
    """Whether an object tells of a field, and is not the field's value: it has nothing else, or says that there is no value."""
    lower = {_key(key): part for key, part in value.items()}
    return bool(lower) and (
        set(lower) <= {*_FIELD_KEYS, "verbatim"} or _status(lower.get("status")) in _WITHOUT_VALUE
    )


_ID = re.compile(r"ho-[0-9a-f]{16}")


def answered_id(value: Any) -> str:
    """The id of a handover in what came, wherever it stands."""
    match = _ID.search(json.dumps(value, default=str))
    return match[0] if match else ""


def answered_fields(value: Any) -> Items:
    if isinstance(value, str) and _ID.search(value):
        return ()
    if isinstance(value, dict):
        fields = {
            key: part
            for key, part in value.items()
            if not _ID.fullmatch(str(part)) and not _ID.fullmatch(key)
        }
        under_id = (
            part
            for key, part in value.items()
            if _ID.fullmatch(key) and isinstance(part, (dict, list))
        )
        return state(fields) + tuple(item for part in under_id for item in state(part))
    return state(value)


def authority(value: Any) -> Mapping[str, tuple[str, ...]] | None:
    """`{"granted": [...], "denied": [...]}`; a bare list or comma list is what is granted; nothing is None (inherits)."""
    value = decoded(value)
    if value is None or text(value) == "":
        return None
    if isinstance(value, dict):
        if unknown := set(value) - {"granted", "denied"}:
            raise ValueError(
                f"has granted and denied only, not {', '.join(sorted(map(str, unknown)))}"
            )
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
            raise ValueError("must be " + " or ".join(filter(None, allowed)))
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
    if (
        isinstance(value, (int, float))
        and value == value
        and abs(value) != float("inf")
        and value == int(value)
    ):
        return int(value)
    raise ValueError("must be a whole number")


def _number_in(value: str) -> int:
    word = re.sub(r"\s*(?:tokens?|turns?)\Z", "", value.strip(" \"'").lower())
    if word in _WORDS:
        return _WORDS.index(word)
    match = re.fullmatch(r"([+-]?)(\d{1,3}(?:[,_ ]\d{3})+|\d{1,20})(?:\.(\d{1,3}))?\s*(k?)", word)
    if match is None or (
        len(match[3] or "") == 3 and not match[4]
    ):  # 3.000 is three or three thousand
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

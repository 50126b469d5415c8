"""One message of a conversation: what the host keeps as untyped JSON becomes a value here.

Nothing here changes a record, and nothing is dropped: an unknown shape is told as its JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, Required, TypedDict, cast

from pydantic import JsonValue

from ..text.masking import Mask, masked

Role = Literal["user", "assistant", "tool", "summary", "note", "gap"]
Kept = Literal["verbatim", "summary", "shortened"]

ROLES: Final[tuple[Role, ...]] = ("user", "assistant", "tool", "summary", "note", "gap")
USER, ASSISTANT, TOOL, SUMMARY, NOTE, GAP = range(6)


class Record(TypedDict, total=False):
    """One message as the host stores it; the fields below `content` are those of our own log.

    `person` tells that a person wrote it: in the chat, in a child chat, or as a task;
    `glance` what `heard` found out of it.
    """

    id: str
    ai: Required[bool]
    content: Required[object]
    kept: Kept
    agent: int
    profile: str
    person: str
    glance: list[JsonValue]


def record_of(message: Mapping[str, object]) -> Record:
    """A message as the host has it, its fields put right; the content stays what it is."""
    ai, content = message.get("ai") is True, message["content"]
    record: Record = {"ai": ai, "content": content, "id": words(message.get("id"))}
    kept = message.get("kept")
    if kept == "summary" or kept == "shortened":
        record["kept"] = kept
    return record


def masked_content(record: Record, mask: Mask) -> object:
    """What a message holds, masked; an agent's call is masked as what it says.

    In JSON an escaped quote or line feed hides the shape of a secret, so texts come first.
    """
    content = record["content"]
    call = call_in(content) if record["ai"] and isinstance(content, str) else None
    if call is None:
        return masked(cast("JsonValue", content), mask)
    return mask(as_json(masked(cast("JsonValue", call), mask)))


class Message(NamedTuple):
    """One message. `number` counts from 1 in its transcript.

    `text` is what was said, a tool's result, or a tool call told in words (then `tool` names the
    tool). `thoughts` is what the agent thought beside it. `kept` says whether the words are the
    original ones. The role "gap" stands where messages are missing.
    """

    number: int
    role: Role
    text: str
    speaker: str = ""
    tool: str = ""
    thoughts: str = ""
    kept: Kept = "verbatim"

    @property
    def is_call(self) -> bool:
        return self.role == "assistant" and bool(self.tool)

    @property
    def is_empty(self) -> bool:
        return not self.text.strip() and not self.tool


class Said(NamedTuple):
    """An agent's answer: its words, or a call in words and then the tool's name."""

    text: str
    tool: str = ""
    thoughts: str = ""


def message_of(record: Record, number: int) -> Message:
    """The record as a message."""
    kept, content = record.get("kept", "verbatim"), record["content"]
    kind, text = kind_and_words(record)
    if kind == ASSISTANT:
        text, tool, thoughts = decode_agent(text)
        return Message(number, "assistant", text, speaker_of(record), tool, thoughts, kept)
    if kind == TOOL:
        tool = _field(content, "tool_name")
        return Message(number, "tool", text, speaker_of(record), tool, "", kept)
    return Message(number, ROLES[kind], text, kept="summary" if kind == SUMMARY else kept)


def speaker_of(record: Record) -> str:
    """The agent whose message this is: `profile (A1)`, `A0`; "" when nobody recorded it."""
    if "agent" not in record:
        return ""
    profile = record.get("profile", "")
    return f"{profile} (A{record['agent']})" if profile else f"A{record['agent']}"


_KIND_OF_KEY: Final = {
    "user_message": USER,
    "tool_result": TOOL,
    "user_intervention": USER,
    "messages_summary": SUMMARY,
    "raw_content": NOTE,
    "system_warning": NOTE,
    "system_error": NOTE,
    "system_message": NOTE,
    "gap": GAP,
}


def kind_and_words(record: Record) -> tuple[int, str]:
    """The place in `ROLES` and the words; those of an agent as they stand."""
    content = record["content"]
    if record["ai"]:
        return ASSISTANT, content if isinstance(content, str) else as_json(content)
    if isinstance(content, str):
        return (SUMMARY if record.get("kept") == "summary" else USER), content
    if isinstance(content, dict):
        for key, kind in _KIND_OF_KEY.items():
            if key in content:
                return kind, _words_of(content, key)
    return NOTE, as_json(content)


def _words_of(content: Mapping[str, object], key: str) -> str:
    value = content[key]
    if isinstance(value, str) and "attachments" not in content:
        return value
    if key == "raw_content":
        lines = [_field(content, "preview"), *map(_part_words, _listed(value))]
        return "\n".join(lines).lstrip("\n")
    text = value if isinstance(value, str) else as_json(value)
    if _KIND_OF_KEY[key] == USER and content.get("attachments"):
        for name in _listed(content["attachments"]):
            text += f"\n[attached: {name}]"
    return text


def typed_words(content: object) -> str:
    """What somebody typed, of a message for an agent, without what the host puts beside it."""
    if isinstance(content, dict):
        return _field(content, "user_message") or _field(content, "user_intervention")
    return content if isinstance(content, str) else ""


def _part_words(part: object) -> str:
    """A part of a raw message: its text, or an embedded image as its data URI."""
    if not isinstance(part, dict):
        return words(part)
    if part.get("type") == "text":
        return _field(part, "text")
    image = part.get("image_url", part)
    return _field(image, "url") or words(image)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _field(value: object, key: str) -> str:
    return words(value.get(key)) if isinstance(value, dict) else ""


# --- what an agent answered


def decode_agent(raw: str) -> Said:
    """An agent's raw answer.

    A `response` call is speech. What is not the agreed JSON is speech as it stands: a model's slip
    is not lost.
    """
    call = call_in(raw)
    if call is None:
        return Said(raw)
    try:
        thoughts, tool = _field(call, "thoughts"), _field(call, "tool_name")
        args = call.get("tool_args")
        if tool in ("response", ""):
            return Said(_speech(args, call), "", thoughts)
        return Said(call_in_words(args), tool, thoughts)
    except RecursionError:  # lists in lists without end
        return Said(raw)


_DECODER: Final = json.JSONDecoder(strict=False)
_CALL_KEYS: Final = frozenset({"tool_name", "tool_args", "thoughts"})


def call_in(raw: str) -> dict[str, object] | None:
    """The agreed JSON object in an agent's raw answer, or None."""
    text = raw.strip()
    if not text.startswith("{"):
        start, end = text.find("{"), text.rfind("}")
        if start < 0 or '"tool_name"' not in text:
            return None
        text = text[start : end + 1]
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if end != len(text) or not isinstance(value, dict) or _CALL_KEYS.isdisjoint(value):
        return None
    return value


def _speech(args: object, call: Mapping[str, object]) -> str:
    for key in ("text", "message"):
        if isinstance(args, dict) and key in args:
            return words(args[key])
    return call_in_words(args) if args else words(call.get("headline"))


def call_in_words(args: object) -> str:
    """Arguments of a tool call, one `name: value` a line; several lines stand below the name."""
    if not isinstance(args, dict):
        return words(args)
    lines = []
    for name, value in args.items():
        text = words(value)
        lines.append(f"{name}:\n{text}" if "\n" in text else f"{name}: {text}")
    return "\n".join(lines)


def words(value: object) -> str:
    """A text as it stands, a list one item a line, nothing as "", anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join([words(item) for item in value])
    return "" if value is None else as_json(value)


def as_json(value: object) -> str:
    """As one line of JSON; what is nested too deeply says so."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "[data nested too deeply to be shown]"

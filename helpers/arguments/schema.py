"""The arguments of the three tools as JSON Schema, for hosts and servers that ask for one.

Made from the same rows that are read. No example in it: models send examples back as facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import get_args

from pydantic import JsonValue as Json

from ..values.packet import Row, StateField, said_rows
from . import handover, history, reply

Schema = dict[str, Json]
# One line for each argument. What stands in braces are fields of the row's items.
WORDS: Mapping[str, str] = {
    "specialist_profile": "who gets the work",
    "topic": "same words for the same work",
    "project_root": "absolute; default active project",
    "goal": "what is to be reached",
    "summary": "max 300 tokens; facts go in their own fields",
    "user_state": "how the person is",
    "decisions": "what was agreed; texts or {text, rationale, owner, status}",
    "rejected_paths": "refused or tried in vain; texts or {what, why}",
    "state": 'field: value; {"status": "declined"} only where the person declined',
    "flags": "what all later specialists must see",
    "sections_done": "what is finished",
    "stopped_at": "where the work stopped",
    "notes": "anything else",
    "artifacts": "files",
    "open_questions": "unanswered; texts or {text, field}",
    "next_action": "first thing to do",
    "acceptance_criteria": "when it is good",
    "authority": "{granted, denied}",
    "return_condition": "when to hand back",
    "handover_reason": "why this specialist, why now",
    "recent_turns": "default the chat's newest",
    "answers": "field: value, or id of the handover that asked",
    "max_context_tokens": "limit of the package",
    "include_recent_turns": "how many last messages travel",
    "overflow": "whole ignores the limit",
    "start": "run it now, return its note",
    "verdict": "all but accept end your run",
    "outcome": "with done",
    "hand_to": "with done: next specialist",
    "missing": "with clarify: fields or questions",
    "what_happened": "with done",
    "observations": "with done: what you found on the way",
    "next": "with done: what comes next",
    "reason": "with reject, escalate, or for reading more",
    "query": "words or a quoted phrase",
    "turns": '"12-40", "57" or "last 20"',
    "max_tokens": "limit of the answer",
    "part": "page of a long answer",
}
_TEXT: Schema = {"type": "string"}
_LIST: Schema = {"type": "array", "items": {}}
_FIELDS: Schema = {"type": "object"}
_OWN: Mapping[str, Schema] = {
    "answers": _FIELDS,
    "max_context_tokens": {"type": "integer"},
    "include_recent_turns": {"type": "integer"},
    "overflow": {"enum": [*get_args(handover.Overflow)]},
    "start": {"type": "boolean"},
    "verdict": {"enum": [*reply.VERDICT_WORDS]},
    "outcome": {"enum": [word for word in reply.OUTCOMES if word]},
    "missing": _LIST,
    "max_tokens": {"type": "integer"},
    "part": {"type": "integer"},
}


def handover_schema(roster_lines: str) -> Schema:
    """Of `handover_to_specialist`; whom the agent may hand over to is told with the profile."""
    words = {**WORDS, "specialist_profile": f"{WORDS['specialist_profile']}:\n{roster_lines}"}
    return _tool(handover.OWN, said_rows(), ["specialist_profile", "topic"], words)


def reply_schema() -> Schema:
    """Of `handover_reply`."""
    return _tool(reply.OWN, reply.returned_rows(), ["verdict"], WORDS)


def history_schema() -> Schema:
    """Of `request_full_history`."""
    return _tool(history.OWN, (), [], WORDS)


def _tool(
    own: Iterable[str], added: Iterable[Row], required: list[Json], words: Mapping[str, str]
) -> Schema:
    forms = {name: _OWN.get(name, _TEXT) for name in own}
    forms |= {row.name: _of_row(row) for row in added}
    described: Schema = {}
    for name, form in forms.items():
        described[name] = {**form, "description": words[name]}
    return {"type": "object", "properties": described, "required": required}


def _of_row(row: Row) -> Schema:
    """An item of a list may be a text or an object, so its type is not said."""
    if row.kind is StateField:
        return _FIELDS
    if row.plural:
        return _LIST
    return _TEXT if row.kind is str else _FIELDS

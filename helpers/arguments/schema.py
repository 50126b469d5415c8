"""The arguments of the three tools as JSON Schema, for hosts and servers that ask for one.

Made from the same rows that are read. No example in it: models send examples back as facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic import JsonValue as Json

from ..values.packet import Row, StateField, Value, rows
from ..values.roster import Roster
from . import handover, history, reply
from .items import FORMS

Schema = dict[str, Json]
# One line for each argument. A row without one is described by its heading.
WORDS: Mapping[str, str] = {
    "specialist_profile": "who gets the work",
    "topic": "short name of the work, the same for all its handovers",
    "project_root": "absolute path; the active project where left out",
    "goal": "what is to be reached",
    "summary": "what happened so far, at most 300 tokens",
    "user_state": "how the person is",
    "decisions": "what was decided",
    "rejected_paths": "what was tried or refused, and why",
    "state": "fields with their values; an object with status declined where the person declined",
    "flags": "what every later specialist must see",
    "sections_done": "what is finished",
    "stopped_at": "where the work stopped",
    "notes": "what fits no other argument",
    "artifacts": "files and references",
    "open_questions": "what nobody has answered",
    "next_action": "the one thing to do first",
    "acceptance_criteria": "when the work is good",
    "authority": "what the specialist may and may not do",
    "return_condition": "when to hand back",
    "handover_reason": "why this specialist, why now",
    "recent_turns": "newest turns word for word; the chat's own where left out",
    "answers": "id of the handover that asked, with the fields it asked for",
    "max_context_tokens": "limit of the package",
    "include_recent_turns": "how many turns travel",
    "overflow": "fit keeps to the limit, whole delivers everything",
    "start": "run the specialist at once and return its note",
    "verdict": "all but accept end your run",
    "outcome": "with done, where the work is not complete",
    "hand_to": "with done: the specialist that goes on",
    "missing": "with clarify: fields or questions",
    "what_happened": "what was done",
    "observations": "what was found on the way",
    "next": "what comes next",
    "reason": "why",
    "query": "words or a quoted phrase",
    "turns": "one number, a range, or last and a number",
    "max_tokens": "limit of the answer",
    "part": "page of a long answer, from 1",
}
_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
_OWN: Mapping[str, Schema] = {
    "answers": {"type": "object"},
    "max_context_tokens": {"type": "integer", "minimum": 1},
    "include_recent_turns": {"type": "integer", "minimum": 0},
    "overflow": {"enum": [*get_args(handover.Overflow)]},
    "start": {"type": "boolean"},
    "verdict": {"enum": [*reply.VERDICT_WORDS]},
    "outcome": {"enum": [word for word in reply.OUTCOMES if word]},
    "missing": _TEXTS,
    "max_tokens": {"type": "integer", "minimum": 1},
    "part": {"type": "integer", "minimum": 1},
}


def handover_schema(roster: Roster) -> Schema:
    """Of `handover_to_specialist`; the profiles are those of the roster."""
    profiles: Schema = {"enum": [*roster.names()]}
    own = {name: _OWN.get(name, _TEXT) for name in handover.OWN}
    return _tool({**own, "specialist_profile": profiles}, rows(), ["specialist_profile", "topic"])


def reply_schema() -> Schema:
    """Of `handover_reply`."""
    own = {name: _OWN.get(name, _TEXT) for name in reply.OWN}
    return _tool(own, reply.returned_rows(), ["verdict"])


def history_schema() -> Schema:
    """Of `request_full_history`."""
    return _tool({name: _OWN.get(name, _TEXT) for name in history.OWN}, (), [])


def _tool(own: Mapping[str, Schema], added: Iterable[Row], required: list[Json]) -> Schema:
    sections = {row.name: row.travels.section for row in added}
    arguments = {**own, **{row.name: _of_row(row) for row in added}}
    described: Schema = {}
    for name, form in arguments.items():
        described[name] = {**form, "description": WORDS.get(name) or sections[name]}
    return {"type": "object", "properties": described, "required": required}


def _of_row(row: Row) -> Schema:
    if row.kind is StateField:
        return {"type": "object"}
    form = _TEXT if row.kind is str else _of_model(row.kind)
    return {"type": "array", "items": form} if row.plural else form


def _of_model(model: type[Value]) -> Schema:
    """An object with the fields that may be said; a plain text stands for its main field."""
    form = FORMS.get(model)
    fields: Schema = {}
    for name, about in model.model_fields.items():
        if form is None or name not in form.measured:
            fields[name] = _of_type(about.annotation)
    return {"type": ["string", "object"], "properties": fields}


def _of_type(annotation: Any) -> Schema:
    if get_origin(annotation) is tuple:
        return _TEXTS
    if get_origin(annotation) is Literal:
        return {"enum": [*get_args(annotation)]}
    return {"type": "integer"} if annotation is int else _TEXT

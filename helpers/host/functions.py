"""Our tools as functions, on hosts whose models call functions instead of writing JSON.

Such a host makes its list from the prompts of tools alone, which names too few arguments of
`handover_to_specialist` and neither of a specialist's two tools. So the list is put right before
each call: every agent is offered exactly what it may use now, with the schema that the arguments'
own rows give. Hosts without functions do not have the key that is looked for.
"""

from __future__ import annotations

from typing import Any

from agent import Agent

from ..arguments.schema import Schema, handover_schema, history_schema, reply_schema
from ..values.errors import HandoverError
from .agents import root_context
from .bindings import binding
from .memory import memory
from .permissions import tools_of
from .settings import settings_of

_OFFERED = "a0_responses_function_tools"
_NAMES = "responses_tool_name_map"
# From a stored answer the host goes on without prompt and extras, where we tell what is open.
_GOES_ON = ("previous_response_id", "responses_input_items")
_HAND_OVER, _REPLY, _HISTORY = (
    "handover_to_specialist", "handover_reply", "request_full_history",
)  # fmt: skip
_PURPOSE = {
    _HAND_OVER: "Hand a bounded piece of work to a named specialist: typed, token-bounded, recorded.",
    _REPLY: "Accept your handover, ask back, or hand it back with a note.",
    _HISTORY: "Read more of the conversation than your package holds.",
}


def offer(agent: Agent, call_data: dict[str, Any]) -> None:
    """Put our functions into what is offered to the model in this call."""
    offered = call_data.get(_OFFERED)
    if offered is None:
        return
    schemas: dict[str, Schema] = {}
    try:
        schemas[_HAND_OVER] = handover_schema(settings_of(agent).roster)
    except HandoverError:
        return  # the settings cannot be read: the tool says so, in the host's own words
    works_here = binding(agent) is not None
    if works_here:
        schemas |= {_REPLY: reply_schema(), _HISTORY: history_schema()}
    others = [item for item in offered if item.get("name") not in _PURPOSE]
    all_of_them = [*others, *(_function(name, form) for name, form in schemas.items())]
    call_data[_OFFERED] = _without_refused(agent, all_of_them)
    if works_here or memory(root_context(agent))["roots"]:
        for name in _GOES_ON:
            if name in call_data:
                call_data[name] = None


def _without_refused(agent: Agent, functions: list[Any]) -> list[Any]:
    """What the agent may use some of; names of MCP tools are the host's for such a model."""
    tools, names = tools_of(agent), agent.get_data(_NAMES)
    known = names if isinstance(names, dict) else {}
    kept = []
    for item in functions:
        name = str(item.get("name"))
        if tools.allows_some(str(known.get(name, name))):
            kept.append(item)
    return kept


def _function(name: str, parameters: Schema) -> dict[str, Any]:
    return {
        "type": "function",
        "name": name,
        "description": _PURPOSE[name],
        "parameters": {**parameters, "additionalProperties": True},
        "strict": False,
    }

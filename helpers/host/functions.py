"""Our tools as functions, on hosts whose models call functions instead of writing JSON.

Such a host makes its list from the prompts of tools alone, which names too few arguments of
`handover_to_specialist` and neither of a specialist's two tools. So the list is put right before
each call: every agent is offered exactly what it may use now, with the schema that the arguments'
own rows give. What a function says is not told in the prompt as well. Hosts without functions
have neither the module nor the key that are looked for.
"""

from __future__ import annotations

from typing import Any

from agent import Agent

from ..arguments.schema import Schema, handover_schema, history_schema, reply_schema
from ..records import resources
from ..text.tools import told_in_prompt
from ..values.errors import RefusedError
from . import runs
from .agents import root_context
from .bindings import binding
from .memory import memory
from .permissions import tools_of
from .tools import roster_lines

_OFFERED = "a0_responses_function_tools"
_NAMES = "responses_tool_name_map"
# From a stored answer the host goes on without prompt and extras, where we tell what is open.
_GOES_ON = ("previous_response_id", "responses_input_items")
_HAND_OVER, _REPLY, _HISTORY = (
    "handover_to_specialist", "handover_reply", "request_full_history",
)  # fmt: skip
_OURS = (_HAND_OVER, _REPLY, _HISTORY)


def offer(agent: Agent, call_data: dict[str, Any]) -> None:
    """Put our functions into what is offered to the model in this call."""
    offered = call_data.get(_OFFERED)
    if offered is None:
        return
    schemas = {name: form for name, form in _schemas(agent).items() if _may_call(agent, name)}
    others = [item for item in offered if item.get("name") not in _OURS]
    ours = [_function(agent, name, schema) for name, schema in schemas.items()]
    call_data[_OFFERED] = _usable(agent, [*others, *ours])
    if _REPLY in schemas or memory(root_context(agent))["roots"]:
        for name in _GOES_ON:
            if name in call_data:
                call_data[name] = None


def _usable(agent: Agent, functions: list[Any]) -> list[Any]:
    """What the agent may use some of; an MCP tool has a name of the host's own here."""
    tools, names = tools_of(agent), agent.get_data(_NAMES)
    known = names if isinstance(names, dict) else {}
    kept = []
    for item in functions:
        name = str(item.get("name"))
        if tools.allows_some(str(known.get(name, name))):
            kept.append(item)
    return kept


def tell(agent: Agent, system_prompt: list[str]) -> None:
    """What stands of our tools in the system prompt, whose parts are `system_prompt`.

    Only who holds a handover reads of a specialist's, and who may not use every tool of the host
    reads which. Where functions are offered their text is left out; should the host fall back to
    text within that call, the model has to do without.
    """
    offers = offers_functions(agent)
    if offers:
        told = _prompt(agent, _HAND_OVER)
        system_prompt[:] = [part.replace(told, "") for part in system_prompt]
    restricted = told_in_prompt(tools_of(agent))
    if binding(agent):
        tools = () if offers else (_prompt(agent, _REPLY), _prompt(agent, _HISTORY))
        system_prompt.append("\n".join((resources.text("specialist") + restricted, *tools)))
    elif restricted:
        system_prompt.append(restricted)


def offers_functions(agent: Agent) -> bool:
    """Whether the host's own policy offers functions to the agent's model, asked with its options.

    The messages matter only as there are some: with some providers the host marks them for a cache
    and prefers that.
    """
    try:
        from helpers.litellm_transport import LiteLLMTransport
    except ImportError:
        return False
    model = agent.get_chat_model()
    asked = LiteLLMTransport(
        model=model.model_name,
        messages=[{"role": "system", "content": "-"}, {"role": "user", "content": "-"}],
        kwargs={**model.kwargs, "a0_explicit_prompt_caching": True},
    )
    return bool(asked.policy.using_responses)


def _prompt(agent: Agent, name: str) -> str:
    """The whole text of one of our tools; below its heading one line says what it is for."""
    if name == _HAND_OVER:
        return str(agent.read_prompt(f"agent.system.tool.{name}.md"))
    return resources.text(f"tool_{name}")


def _schemas(agent: Agent) -> dict[str, Schema]:
    schemas = {_HAND_OVER: handover_schema(roster_lines(agent))}
    if binding(agent):
        schemas |= {_REPLY: reply_schema(), _HISTORY: history_schema()}
    return schemas


def _may_call(agent: Agent, name: str) -> bool:
    """Whether the person's own policy of tools leaves it to the agent (later hosts)."""
    try:
        runs.refuse_forbidden(agent, name)
    except RefusedError:
        return False
    return True


def _function(agent: Agent, name: str, schema: Schema) -> dict[str, Any]:
    return {
        "type": "function",
        "name": name,
        "description": _prompt(agent, name).splitlines()[1],
        "parameters": schema,
        "strict": False,
    }

"""The handover an agent works in, kept in its saved data, and the persona it shows meanwhile."""

from __future__ import annotations

import dataclasses
from typing import Any

from agent import Agent, AgentContext

from . import agents, voice
from .agents import PLUGIN

# Transient marks on an agent; the host does not save keys that begin with "_".
STATE = "_so_state"  # what the record last said of its handover, or SPOKEN_TO
VERDICT = "_so_verdict"  # the answer that closed it, until the run ends
TOLD = "_so_told_back"  # a row has said what this handover came to
UNSENT = "_so_unsent"  # a reply that could not be recorded
DELIVERIES = "_so_deliveries"  # delivered by it, and about to be taken by a subordinate
TOOLS = "_so_tools"  # what it may use, as last read
_PERSONA = "_so_persona"

# Saved: the handover whose tools an agent has at most although it does not hold it, as PLUGIN's mapping. A plain helper's
# is that of whoever started it; that of a copied chat is the one it was copied with.
LENT = f"{PLUGIN}_tools"

SPOKEN_TO = "spoken to"  # the person wrote to a specialist that works


@dataclasses.dataclass(frozen=True)
class Binding:
    """A handover and the folder it is recorded in."""

    handover_id: str
    project_root: str


def binding(agent: Agent) -> Binding | None:
    """The handover an agent works in; one of another chat, or damaged, is dropped, and said so."""
    kept = agent.data.get(PLUGIN)
    if not kept:
        return None
    if not _is_sound(kept):
        release(agent)
        voice.tell(agent, "What this agent held of a handover was damaged and was dropped")
        return None
    if kept["chat_id"] != str(agent.context.id):
        release(agent)
        agent.data[LENT] = kept
        heading = f"{kept['handover_id']} belongs to another chat and was dropped"
        voice.tell_here(agent, heading, "This chat was branched or imported.")
        return None
    return Binding(kept["handover_id"], kept["project_root"])


def _is_sound(kept: Any) -> bool:
    if not isinstance(kept, dict):
        return False
    texts = [kept.get(name) for name in ("handover_id", "project_root", "chat_id")]
    return all(isinstance(text, str) and text for text in texts)


def bind(agent: Agent, handover_id: str, root: str) -> None:
    release(agent)
    agent.data.pop(LENT, None)
    agent.data[PLUGIN] = _kept(agent, Binding(handover_id, root))


def _kept(agent: Agent, held: Binding) -> dict[str, str]:
    return {**dataclasses.asdict(held), "chat_id": str(agent.context.id)}


def release(agent: Agent) -> None:
    """The agent holds nothing any more; its persona is gone with it."""
    for mark in (PLUGIN, STATE, VERDICT, UNSENT, TOLD, TOOLS):
        agent.data.pop(mark, None)
    undress(agent)


def help_in(agent: Agent, held: Binding | None) -> None:
    """A plain helper works for whoever holds this, also when that one's own run is over."""
    if held:
        agent.data[LENT] = _kept(agent, held)
    elif not _lent(agent, here=False):
        agent.data.pop(LENT, None)
    agent.data.pop(TOOLS, None)


def _lent(agent: Agent, *, here: bool) -> Binding | None:
    """What the agent was lent in this chat, or in the one that this is a copy of."""
    kept = agent.data.get(LENT)
    if not _is_sound(kept) or (kept["chat_id"] == str(agent.context.id)) is not here:
        return None
    return Binding(kept["handover_id"], kept["project_root"])


def holding_of(agent: Agent) -> Binding | None:
    """The agent's own handover, or for a plain helper that of the specialist it works for."""
    for above in agents.line_of(agent):
        if held := binding(above) or _lent(above, here=True):
            return held
    return None


def copied_with(agent: Agent) -> Binding | None:
    """The handover that the agent, or whoever it works for, held where this chat was copied from."""
    for above in agents.line_of(agent):
        if held := _lent(above, here=False):
            return held
    return None


def holders_of(context: AgentContext) -> tuple[tuple[Agent, Binding], ...]:
    """The living agents of a chat that work in a handover, superiors first."""
    bound = [(agent, binding(agent)) for agent in agents.agents_of(context)]
    return tuple((agent, held) for agent, held in bound if held)


def holders_below(agent: Agent) -> tuple[tuple[Agent, Binding], ...]:
    """The agent's own living subordinates that are bound to a handover."""
    holders = holders_of(agents.root_context(agent))
    return tuple((other, held) for other, held in holders if agents.superior(other) is agent)


def subordinate_holding(agent: Agent, handover_id: str) -> Agent | None:
    """The agent's own living subordinate that works in this handover, or None."""
    for other, held in holders_below(agent):
        if held.handover_id == handover_id:
            return other
    return None


def living(agent: Agent) -> frozenset[str]:
    """The handovers that a living agent of the chat works in, or is about to take."""
    ids = set()
    for other in agents.agents_of(agents.root_context(agent)):
        ids.update(other.data.get(DELIVERIES, ()))
        if held := binding(other):
            ids.add(held.handover_id)
    return frozenset(ids)


def dress(agent: Agent, profile: str, name: str) -> None:
    """Profile and persona, which the host loses on reload and when settings are saved (fact 19)."""
    if agent.config.profile != profile:
        agent.config = dataclasses.replace(agent.config, profile=profile)
    agent.agent_name = f"{name} (A{agent.number})"
    agent.data[_PERSONA] = (profile, name)


def redress(agent: Agent) -> None:
    """What `dress` last set, without a look at the record: settings may have been saved since."""
    if persona := agent.data.get(_PERSONA):
        dress(agent, *persona)


def undress(agent: Agent) -> None:
    agent.data.pop(_PERSONA, None)
    agent.agent_name = f"A{agent.number}"

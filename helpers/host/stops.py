"""What stops all handovers of a chat until its person writes: refusals in a row, and too many rounds."""

from __future__ import annotations

from agent import Agent, AgentContext

from ..chain import rules
from ..chain.rules import ASK_THE_PERSON
from ..records import resources
from ..values.errors import HandoverError, RefusedError
from ..values.settings import Settings
from . import memory, voice
from .agents import root_context
from .memory import Memory
from .settings import settings_of


class ChatRounds:
    """The rounds of a chat since its person last wrote, in its saved data."""

    def __init__(self, context: AgentContext) -> None:
        self._kept = memory.memory(context)

    @property
    def made(self) -> int:
        return self._kept["rounds"]

    def add(self) -> None:
        self._kept["rounds"] += 1


def check(agent: Agent) -> None:
    """Raises RefusedError (stopped) until the person writes."""
    stopped = kept_of(agent)["stopped"]
    if stopped:
        message = f"handovers of this chat are stopped: {stopped}"
        raise RefusedError(message, ASK_THE_PERSON, "stopped")


def check_rounds(agent: Agent, settings: Settings) -> None:
    """Before a specialist is asked to take up again what it handed back. Raises RefusedError."""
    check(agent)
    rules.check_rounds(kept_of(agent)["rounds"], settings)


def kept_of(agent: Agent) -> Memory:
    return memory.memory(root_context(agent))


def hear(agent: Agent, error: HandoverError) -> bool:
    """Whether the refusal stops handovers; then the person is called, once for a whole chat."""
    if not isinstance(error, RefusedError) or not error.stops:
        return False
    kept = kept_of(agent)
    if not error.whole_chat or not kept["stopped"]:
        voice.tell_of_stop(agent, error)
    if error.whole_chat:
        kept["stopped"] = kept["stopped"] or error.stops
    return True


def count_refusal(agent: Agent, error: HandoverError) -> bool:
    """Whether this was the last refusal allowed in a row: the chat's handovers are stopped."""
    kept = kept_of(agent)
    kept["refusals"] += 1
    if hear(agent, error) or kept["stopped"] or kept["refusals"] < most_refusals(agent):
        return False
    kept["stopped"] = f"{kept['refusals']} calls in a row were refused"
    voice.call_person(agent, voice.STOPPED, f"{kept['stopped']}. Last: {error.message}")
    return True


def most_refusals(agent: Agent) -> int:
    try:
        return settings_of(agent).max_refusals_in_a_row
    except HandoverError:  # the saved settings are what was refused
        return int(resources.default_settings()["max_refusals_in_a_row"])


def start_afresh(context: AgentContext) -> None:
    """A run that nobody's message began, such as a scheduled one: rounds are counted anew. A stop
    stays."""
    memory.memory(context)["rounds"] = 0


def lines(agent: Agent) -> list[str]:
    """What a prompt says of it."""
    stopped = kept_of(agent)["stopped"]
    return [f"Handovers of this chat are stopped: {stopped}"] if stopped else []

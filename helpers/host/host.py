"""Agent Zero as the plugin needs it: who calls, from which chat and project, with which settings; and where to speak.

The only helper of the flow that imports the host (`host_web` does it for the pages). Both shapes of the host are told apart by
looking for the functions, never by comparing versions.
"""

from __future__ import annotations

import dataclasses
import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent import Agent, AgentContext, AgentContextType, UserMessage
from helpers.errors import InterventionException, RepairableException
from helpers.tool import Response

from helpers import files, notification, persist_chat, plugins, projects, secrets, subagents

from ..history import log
from ..history.answer import Scope, joined, visible_line
from ..history.transcript import Transcript, from_history, recent_turns
from ..records import resources
from ..records.local import local_ports
from ..text.masking import map_text, redact
from ..values import settings as values_settings
from ..values.call import ORCHESTRATOR, Caller, Ports, utc
from ..values.errors import Code, HandoverError, RecordError, RefusedError, SettingsError
from ..values.packet import Turn
from ..values.settings import Settings
from ..views.settings_form import Layer

__all__ = [
    "AgentContext",
    "HandoverResponse",
    "InterventionException",
    "RepairableException",
    "UserMessage",
]

KEY = "software_orchestrator"
REFERENCE = re.compile(r"§§handover\s{0,3}\(\s{0,3}[\"'`]?([\w\-]{0,60})[\"'`]?\s{0,3}\)?")
# Transient marks on an agent; the host does not save keys that begin with "_".
DELIVERIES, STATE, IN_LOOP, NUDGED = "_so_deliveries", "_so_state", "_so_in_loop", "_so_nudged"
_PERSONA, _TOLD = "_so_persona", "_so_told"
_PERSON_MESSAGES, _PERSON_CHARS, _READ_CHARS = 20, 4000, 20_000


@dataclass
class HandoverResponse(Response):  # type: ignore[misc]
    """The host's Response with the error mark of the seed's contract."""

    error: bool = False


def answered(text: str, *, ends: bool = False, failed: Code | None = None) -> HandoverResponse:
    """An answer; `failed` marks one that tells of a handover that did not work, as a refusal is marked."""
    marks = {"error": True, "error_code": failed} if failed else None
    return HandoverResponse(
        message=text, break_loop=ends, additional=marks, error=failed is not None
    )


def refused(error: HandoverError, more: str = "") -> HandoverResponse:
    """A refusal as a Response: never an exception, and marked for the model and for programs."""
    text = f"{error}; {more}" if more else str(error)
    return HandoverResponse(
        message=text,
        break_loop=False,
        additional={"error": True, "error_code": error.code},
        error=True,
    )


# who calls


def root_context(agent: Agent) -> AgentContext:
    """The chat the person sees: a child chat's parent (2.x), else the agent's own."""
    context = agent.context
    for _ in range(20):
        parent = AgentContext.get(str(context.get_output_data("parent_context_id") or ""))
        if parent is None:
            return context
        context = parent
    return context


def superior(agent: Agent) -> Agent | None:
    """Who started the agent. A child chat's parent is found again after a restart by the ids that the host saves (2.x)."""
    found: Agent | None = agent.data.get(Agent.DATA_NAME_SUPERIOR)
    if found is not None:
        return found
    context = agent.context
    parent = AgentContext.get(str(context.get_output_data("parent_context_id") or ""))
    number = context.get_output_data("parent_agent_number")
    return (
        next((each for each in agents_of(parent) if each.number == number), None)
        if parent
        else None
    )


def agents_of(context: AgentContext) -> Iterator[Agent]:
    """Every living agent of a chat and of its child chats, superiors first."""
    seen: list[Agent] = []
    waiting = [context.agent0]
    while waiting:
        agent = waiting.pop(0)
        if agent is None or agent in seen:
            continue
        seen.append(agent)
        yield agent
        children = agent.data.get("_subordinates")
        waiting.append(agent.data.get(Agent.DATA_NAME_SUBORDINATE))
        waiting.extend(children.values() if isinstance(children, dict) else ())
        waiting.extend(each.agent0 for each in AgentContext.all() if _child_of(each, agent))


def _child_of(context: AgentContext, agent: Agent) -> bool:
    above = (
        context.get_output_data("parent_context_id"),
        context.get_output_data("parent_agent_number"),
    )
    return bool(above == (agent.context.id, agent.number))


def project_root(agent: Agent) -> str:
    """The folder of the chat's active project, or ""."""
    name = projects.get_context_project_name(root_context(agent))
    return str(projects.get_project_folder(name)) if name else ""


def roots(agent: Agent) -> tuple[str, ...]:
    """The folders this chat hands over in: the active project's, and those that a call named or that were active before."""
    found = (project_root(agent), *memory(root_context(agent)).get("roots", ()))
    return tuple(root for root in dict.fromkeys(found) if root and Path(root).is_dir())


def remember_root(agent: Agent, root: str) -> None:
    kept = memory(root_context(agent)).setdefault("roots", [])
    if root not in kept:
        kept.append(root)


def real_path(path: Any) -> Any:
    """A path as the model names it (`/a0/...`) as one that can be opened; anything else as it is."""
    return (
        files.fix_dev_path(path.strip())
        if isinstance(path, str) and path.strip().startswith("/a0/")
        else path
    )


def settings_of(agent: Agent) -> Settings:
    """The settings for this agent's project and profile: defaults, then each scope that has a file. Raises SettingsError."""
    project = projects.get_context_project_name(root_context(agent)) or ""
    found = setting_layers(project, agent.config.profile or "")
    return values_settings.settings(
        resources.default_settings(), *(layer.values for layer in found)
    )


def setting_layers(project: str = "", profile: str = "") -> tuple[Layer, ...]:
    """Every config.json that holds for a project and profile, the strongest last.

    The host takes the first one alone, and misses the project's own file as soon as a profile is named; so both questions
    are asked. Raises SettingsError for a file that is no JSON object.
    """
    found = [
        asset
        for asked in dict.fromkeys((profile, ""))
        for asset in plugins.find_plugin_assets(
            plugins.CONFIG_FILE_NAME, plugin_name=KEY, project_name=project, agent_profile=asked
        )
    ]
    unique = {asset["path"]: asset for asset in reversed(found)}
    strongest_last = sorted(
        unique.values(),
        key=lambda asset: (bool(asset["project_name"]), bool(asset["agent_profile"])),
    )
    return tuple(map(_layer, strongest_last))


def _layer(asset: Any) -> Layer:
    path = Path(asset["path"])
    shown = files.normalize_a0_path(str(path))
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"the settings in {shown} cannot be read: {error}", "save them anew"
        ) from error
    if not isinstance(values, dict):
        raise SettingsError(f"the settings in {shown} are no JSON object", "save them anew")
    return Layer(asset["project_name"], asset["agent_profile"], shown, values)


def ports_of(agent: Agent) -> Ports:
    """Ports whose mask knows the secrets of the agent's chat; a mask that fails stops the write."""
    manager = secrets.get_secrets_manager(agent.context)

    def mask(text: str) -> str:
        try:
            return redact(manager.mask_values(text))
        except Exception as error:
            raise RecordError(
                f"failed to append briefing file: secrets cannot be masked ({type(error).__name__})",
                "see the host's secrets",
            ) from error

    return local_ports(mask)


def caller_of(agent: Agent, ports: Ports) -> Caller:
    """The agent as a caller: in its handover when it holds one, else as the orchestrator of its chat."""
    context = root_context(agent)
    held = holding_of(agent)
    person = memory(context)["person"]
    return Caller(
        chat_id=str(context.id),
        sender=sender_of(agent),
        inside=held["handover_id"] if held else "",
        project_root=held["project_root"] if held else project_root(agent),
        person_count=person["count"],
        person_messages=tuple(person["last"]),
        turns=lambda count: masked_turns(agent, count, ports),
    )


def reference_in(message: Any) -> tuple[str, str] | None:
    """The handover that a message refers to, and what is said beside the reference; None without a reference.

    Raises RefusedError (unknown_reference) for more than one.
    """
    text = str(message or "")
    found = REFERENCE.findall(text)
    if len(found) > 1:
        raise RefusedError(
            "a call can hold one reference to a handover", "call once for each", "unknown_reference"
        )
    return (found[0], REFERENCE.sub("", text).strip(" \t\r\n:.,;")) if found else None


def holding_of(agent: Agent) -> dict[str, str] | None:
    """The handover an agent works in: its own, or for a plain helper that of the specialist it works for."""
    above: Agent | None = agent
    while above is not None:
        if held := binding(above):
            return held
        above = superior(above)
    return None


def sender_of(agent: Agent) -> str:
    """The agent's profile; the host's general profiles act as the orchestrator."""
    profile = str(agent.config.profile or "")
    return (
        ORCHESTRATOR
        if agent.number == 0 and profile in ("", "default", "agent0")
        else profile or ORCHESTRATOR
    )


def masked_turns(agent: Agent, count: int, ports: Ports) -> tuple[Turn, ...]:
    """The last turns of the agent's own conversation; lists are copied before they are walked (HOST fact 17)."""
    return recent_turns(from_history(agent.history.to_dict()), count, ports.mask)


def refuse_parallel(agent: Agent) -> None:
    """In the throw-away chat of 2.x's `parallel` tool a handover would be lost. Raises RefusedError (parallel)."""
    try:
        import helpers.parallel_tools as parallel_tools
    except ImportError:
        return
    if parallel_tools.is_parallel_worker(agent):
        raise RefusedError(
            "a handover cannot be made inside parallel", "call the tool by itself", "parallel"
        )


def refuse_unknown_profile(agent: Agent, profile: str) -> None:
    """The host runs unknown profiles with default prompts (HOST fact 18). Raises RefusedError (start_failed)."""
    known = subagents.get_available_agents_dict(
        projects.get_context_project_name(root_context(agent))
    )
    if profile not in known:
        raise RefusedError(
            f"Agent Zero has no profile {profile}",
            f"install it under usr/agents, or use one of: {', '.join(sorted(known))}",
            "start_failed",
        )


# the conversation


def log_path(context: AgentContext) -> Path:
    """The log of a chat lies beside the saved chat, so that deleting the chat deletes it."""
    return Path(persist_chat.get_chat_folder_path(context.id)) / log.NAME


def keep_message(agent: Agent, message: Any, missing: int = 0) -> bool:
    """Append a message to its chat's log, or begin the log with all that the host still holds.

    `missing` is how many before it were not kept. False where this one is not: the log is switched
    off. May raise anything.
    """
    settings = settings_of(agent)
    context = root_context(agent)
    if message is None or context.type == AgentContextType.BACKGROUND:
        return True
    if getattr(context, "agent0", None) is None:
        return True  # the greeting, before the first agent; the next message begins the log with it
    if not settings.transcript_log:
        return False
    path, mask = log_path(context), ports_of(agent).mask
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"id": message.id, "ai": message.ai, "content": message.content}
    log.keep(
        path,
        lambda: log.line_of(record, log_source(agent), utc(datetime.now(UTC)), mask),
        lambda: log.seed_lines(
            [(each.history.to_dict(), log_source(each)) for each in agents_of(context)], mask
        ),
        int(settings.transcript_log_max_mb * 1_000_000),
        missing,
    )
    return True


def forget_messages(context: AgentContext) -> None:
    """A chat that is reset keeps nothing of what was said; a child's reset leaves its parent's log alone."""
    if root_context(context.agent0) is context:
        log.forget(log_path(context))


def log_source(agent: Agent) -> log.Source:
    """Whose message it is. Big results are referred to only where the host keeps them beside this chat's log."""
    held = agent.data.get(KEY)
    own = agent.context is root_context(agent)
    return log.Source(
        number=agent.number,
        profile=str(agent.config.profile or ""),
        handover=str(held.get("handover_id", "")) if isinstance(held, dict) else "",
        messages=log_path(agent.context).parent / "messages" if own else None,
    )


def transcript(agent: Agent, scope: Scope, ports: Ports) -> Transcript:
    """What the scope may see: from the chat's log, else from what the superiors' histories still hold."""
    context = root_context(agent)
    path = log_path(context)
    found = log.open_log(
        path, keep=visible_line(scope), messages=path.parent / "messages", mask=ports.mask
    )
    if found is not None:
        return found
    above = [each for each in agents_of(context) if each.number < agent.number]
    return joined(
        from_history(map_text(each.history.to_dict(), ports.mask), agent=each.number)
        for each in above
    )


# what is kept in the chat


def memory(context: AgentContext) -> dict[str, Any]:
    """The plugin's plain JSON in the chat's data: refusals in a row, and what the person wrote last."""
    found = context.data.get(KEY)
    if isinstance(found, dict) and isinstance(found.get("person"), dict):
        return found
    fresh: dict[str, Any] = {"refusals": 0, "person": {"count": 0, "last": []}}
    context.data[KEY] = fresh
    return fresh


def person_wrote(context: AgentContext, text: str) -> None:
    """Count the person's message; it lifts the stop that refusals made."""
    kept = memory(context)
    kept["refusals"] = 0
    kept["person"]["count"] += 1
    try:  # masked before it is cut, so that no half of a secret stays
        said = ports_of(context.agent0).mask(text[:_READ_CHARS])[:_PERSON_CHARS]
    except RecordError:
        said = ""  # counted, but nothing of it can be kept
    kept["person"]["last"] = [*kept["person"]["last"], said][-_PERSON_MESSAGES:]


def check_refusals(context: AgentContext, settings: Settings) -> None:
    """Raises RefusedError (stopped) after `max_refusals_in_a_row`, until the person writes."""
    if memory(context)["refusals"] >= settings.max_refusals_in_a_row:
        raise RefusedError(
            f"handovers of this chat are stopped after {settings.max_refusals_in_a_row} refused calls in a row",
            "tell the person what you tried and ask how to go on; their next message lifts the stop",
            "stopped",
        )


# what an agent holds


def binding(agent: Agent) -> dict[str, str] | None:
    """The handover an agent works in: {handover_id, project_root, chat_id}; one of another chat is dropped, and said so."""
    found = agent.data.get(KEY)
    if not isinstance(found, dict) or not found.get("handover_id"):
        return None
    if found.get("chat_id") != str(root_context(agent).id):
        release(agent)
        tell(
            agent,
            f"{found['handover_id']} belongs to another chat and was dropped",
            "This chat was branched or imported.",
        )
        return None
    return found


def bind(agent: Agent, handover_id: str, root: str) -> None:
    agent.data[KEY] = {
        "handover_id": handover_id,
        "project_root": root,
        "chat_id": str(root_context(agent).id),
    }
    agent.data.pop(STATE, None)


def release(agent: Agent) -> None:
    """The agent holds nothing any more; its persona is gone with it."""
    agent.data.pop(KEY, None)
    agent.data.pop(STATE, None)
    undress(agent)


def holders_below(agent: Agent) -> list[tuple[Agent, str]]:
    """The agent's own living subordinates that are bound to a handover, with its id."""
    below = (each for each in agents_of(root_context(agent)) if superior(each) is agent)
    return [(each, held["handover_id"]) for each in below if (held := binding(each))]


def subordinate_holding(agent: Agent, handover_id: str) -> Agent | None:
    """The agent's own living subordinate that works in this handover, or None."""
    return next((each for each, held in holders_below(agent) if held == handover_id), None)


def dress(agent: Agent, profile: str, name: str) -> None:
    """Profile and persona, which the host loses on reload and when settings are saved (HOST fact 19); again does nothing."""
    if agent.config.profile != profile:
        agent.config = dataclasses.replace(agent.config, profile=profile)
    agent.agent_name = f"{name} (A{agent.number})"
    agent.data[_PERSONA] = (profile, name)


def redress(agent: Agent) -> None:
    """What `dress` last set, without a look at the record: settings may have been saved a moment ago."""
    if persona := agent.data.get(_PERSONA):
        dress(agent, *persona)


def undress(agent: Agent) -> None:
    agent.data.pop(_PERSONA, None)
    agent.agent_name = f"A{agent.number}"


def save_chat(agent: Agent) -> None:
    """Write the chat of the agent, and the one the person sees, to the disk now, as the host does after every turn."""
    for context in {
        agent.context.id: agent.context,
        root_context(agent).id: root_context(agent),
    }.values():
        persist_chat.save_tmp_chat(context)


# speaking to the person


def tell(agent: Agent, heading: str, content: str = "") -> None:
    """One row in the chat the person sees."""
    root_context(agent).log.log(type="info", heading=heading, content=content)


def complain(agent: Agent, error: HandoverError) -> None:
    """What went wrong beside a tool call, as a row; the same thing once."""
    if agent.data.get(_TOLD) != str(error):
        agent.data[_TOLD] = str(error)
        root_context(agent).log.log(
            type="warning", heading="Software Orchestrator", content=str(error)
        )


async def keep_note(agent: Agent, note: str) -> None:
    """Of a tool that the person interrupts the host keeps the progress alone (HOST fact 14): the note is put there."""
    tool = getattr(getattr(agent, "loop_data", None), "current_tool", None)
    if tool is not None:
        await tool.set_progress(note)


def pass_on_message(agent: Agent, above: Agent) -> None:
    """A message of the person that came when the specialist's run was over would wait there unread: its superior gets it."""
    if agent.intervention and not above.intervention:
        above.intervention, agent.intervention = agent.intervention, None


def call_person(agent: Agent, heading: str, content: str) -> None:
    """A row and a notification: the person is needed. The host shows notifications as HTML: escaped."""
    root_context(agent).log.log(type="warning", heading=heading, content=content)
    notification.NotificationManager.send_notification(
        type=notification.NotificationType.WARNING,
        priority=notification.NotificationPriority.HIGH,
        message=html.escape(content),
        title=heading,
        display_time=20,
        group=KEY,
    )


# starting a subordinate, in both shapes of the host


async def run_subordinate(
    agent: Agent, profile: str, message: str, *, goes_on: Agent | None = None
) -> tuple[str, Agent]:
    """Run a fresh specialist, or the one that goes on; return what it said and who it was. Exceptions of the run pass through."""
    import tools.call_subordinate as host_tool

    if hasattr(host_tool, "get_or_create_subordinate"):
        child = child_context_id(agent, goes_on) if goes_on else ""
        sub = host_tool.get_or_create_subordinate(
            agent,
            profile=profile,
            reset=goes_on is None,
            message=message,
            **({"context_id": child} if child else {}),
        )
        said = await host_tool.run_subordinate(agent, sub, message)
        return str(said or ""), sub
    sub = goes_on or _linear_subordinate(agent, profile)
    sub.hist_add_user_message(UserMessage(message=message, attachments=[]))
    try:
        said = await sub.monologue()
    finally:
        agent.context.streaming_agent = agent
    sub.history.new_topic()
    return str(said or ""), sub


def _linear_subordinate(agent: Agent, profile: str) -> Agent:
    from initialize import initialize_agent

    settings = dataclasses.replace(initialize_agent(), profile=profile)
    sub = Agent(agent.number + 1, settings, agent.context)
    sub.set_data(Agent.DATA_NAME_SUPERIOR, agent)
    agent.set_data(Agent.DATA_NAME_SUBORDINATE, sub)
    return sub


def child_context_id(agent: Agent, sub: Agent) -> str:
    """The id of a subordinate's own chat (2.x), or ""."""
    return "" if sub.context is agent.context else str(sub.context.id)

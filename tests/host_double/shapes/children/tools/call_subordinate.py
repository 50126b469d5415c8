"""2.x host: every subordinate has a chat of its own, and several may live under one agent."""

from agent import Agent, AgentContext, UserMessage
from extensions.python.hist_add_tool_result import _90_save_tool_call_file as saved_results
from helpers import message_queue, persist_chat, projects, subagents
from helpers.errors import RepairableException
from helpers.tool import Response, Tool
from initialize import initialize_agent

SUBORDINATES_DATA_KEY = "_subordinates"
CHILD_PARENT_CONTEXT_ID_KEY = "parent_context_id"
CHILD_PARENT_AGENT_NUMBER_KEY = "parent_agent_number"
CHILD_PARENT_CONTEXT_KIND_KEY = "parent_context_kind"
CHILD_PARENT_CONTEXT_LABEL_KEY = "parent_context_label"
CHILD_SUBORDINATE_SLOT_KEY = "subordinate_slot"
DEFAULT_SUBORDINATE_SLOT = "default"


def get_or_create_subordinate(
    parent: Agent,
    *,
    profile: str = "",
    reset: bool | str = False,
    context_id: str = "",
    name: str = "",
    message: str = "",
    slot: str = DEFAULT_SUBORDINATE_SLOT,
) -> Agent:
    wanted = _known_profile(parent, profile)
    target, fresh = f"{context_id or ''}".strip(), f"{reset}".strip().lower() == "true"
    if target and fresh:
        raise RepairableException(
            "context_id goes on with a subordinate, reset makes a new one: not both"
        )
    found = None if fresh else _find(parent, target, slot)
    if found is None:
        return _create(parent, wanted, name, message, slot)
    used = found.config.profile or ""
    if wanted and wanted != used:
        raise RepairableException(
            f"this subordinate is a {used or 'default'}: Set reset=true for a {wanted}"
        )
    if found.context is not parent.context and found.context.is_running():
        raise RepairableException(f"subordinate {found.context.id} is still running")
    return found


async def run_subordinate(
    parent: Agent, subordinate: Agent, message: str, attachments: list[str] | None = None
) -> str:
    """Runs in the caller's task: the child's chat has no task of its own."""
    text, paths = f"{message or ''}".strip(), [f"{path}" for path in attachments or []]
    if not text:
        raise RepairableException("call_subordinate needs a message")
    own_chat = subordinate.context is not parent.context
    if own_chat:
        message_queue.log_user_message(subordinate.context, text, paths, source=" (subordinate)")
    subordinate.hist_add_user_message(UserMessage(message=text, attachments=paths))
    if own_chat:
        persist_chat.save_tmp_chat(subordinate.context)
    try:
        answer = await subordinate.monologue()
        subordinate.history.new_topic()
        return answer
    finally:
        if own_chat:
            persist_chat.save_tmp_chat(subordinate.context)


def _known_profile(parent: Agent, profile: str) -> str:
    wanted = f"{profile or ''}".strip()
    known = subagents.get_available_agents_dict(projects.get_context_project_name(parent.context))
    if wanted and wanted not in known:
        raise RepairableException(
            f"no profile '{wanted}'; there are: {', '.join(sorted(known)) or 'none'}"
        )
    return wanted


def _is_child(context: AgentContext, parent: Agent, slot: str | None = None) -> bool:
    said = context.get_output_data
    mine = said(CHILD_PARENT_CONTEXT_ID_KEY) == parent.context.id
    mine = mine and said(CHILD_PARENT_AGENT_NUMBER_KEY) == parent.number
    mine = mine and context.agent0.number == parent.number + 1
    return mine and slot in (None, said(CHILD_SUBORDINATE_SLOT_KEY))


def _find(parent: Agent, context_id: str, slot: str) -> Agent | None:
    if context_id:
        chat = AgentContext.get(context_id)
        if chat is None or not _is_child(chat, parent):
            raise RepairableException(
                f"subordinate context '{context_id}' was not found under {parent.agent_name}"
            )
        return _registered(parent, chat.agent0)
    linear = parent.get_data(Agent.DATA_NAME_SUBORDINATE)
    if linear is not None and slot == DEFAULT_SUBORDINATE_SLOT:
        return linear
    chats = [chat for chat in AgentContext.all() if _is_child(chat, parent, slot)]
    return (
        _registered(parent, max(chats, key=lambda chat: chat.created_at).agent0) if chats else None
    )


def _registered(parent: Agent, child: Agent) -> Agent:
    if not isinstance(parent.get_data(SUBORDINATES_DATA_KEY), dict):
        parent.set_data(SUBORDINATES_DATA_KEY, {})
    parent.get_data(SUBORDINATES_DATA_KEY)[child.context.id] = child
    child.set_data(Agent.DATA_NAME_SUPERIOR, parent)
    return child


def _create(parent: Agent, profile: str, name: str, message: str, slot: str) -> Agent:
    child = Agent(
        parent.number + 1,
        initialize_agent(override_settings={"agent_profile": profile} if profile else None),
    )
    chat = child.context
    short = " ".join(f"{message or ''}".split())[:80].rstrip()
    chat.name = f"{name or ''}".strip() or short or child.agent_name
    chat.output_data |= {
        CHILD_PARENT_CONTEXT_ID_KEY: parent.context.id,
        CHILD_PARENT_AGENT_NUMBER_KEY: parent.number,
        CHILD_PARENT_CONTEXT_KIND_KEY: "subordinate",
        CHILD_PARENT_CONTEXT_LABEL_KEY: chat.name,
        CHILD_SUBORDINATE_SLOT_KEY: slot,
    }
    if project := projects.get_context_project_name(parent.context):
        projects.activate_project(chat.id, project, mark_dirty=False)
    return _registered(parent, child)


class Delegation(Tool):
    async def execute(self, message="", reset="", context_id="", **kwargs):
        attachments = kwargs.get("attachments")
        child = get_or_create_subordinate(
            self.agent,
            profile=kwargs.get("profile", kwargs.get("agent_profile", "")),
            reset=reset,
            context_id=context_id or kwargs.get("agent_id", ""),
            name=kwargs.get("name", ""),
            message=message,
        )
        paths = attachments if isinstance(attachments, list) else []
        answer = await run_subordinate(self.agent, child, message, paths)
        additional = {"context_id": child.context.id}
        hint = (
            self.agent.read_prompt("fw.hint.call_sub.md")
            if len(answer) >= saved_results.LEN_MIN
            else ""
        )
        return Response(
            message=answer,
            break_loop=False,
            additional=additional | ({"hint": hint} if hint else {}),
        )

    def get_log_object(self):
        heading = f"icon://communication {self.agent.agent_name}: Calling Subordinate Agent"
        return self.agent.context.log.log(
            type="subagent", heading=heading, content="", kvps=self.args
        )

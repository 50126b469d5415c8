"""2.x host: every subordinate has a chat of its own, and several may live under one agent."""

from agent import Agent, AgentContext, UserMessage
from helpers import message_queue, persist_chat, projects, subagents
from helpers.errors import RepairableException
from helpers.tool import Response, Tool
from initialize import initialize_agent

SUBORDINATES_DATA_KEY = "_subordinates"
CHILD_PARENT_CONTEXT_ID_KEY = "parent_context_id"
CHILD_PARENT_AGENT_NUMBER_KEY = "parent_agent_number"
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
    known = subagents.get_available_agents_dict(projects.get_context_project_name(parent.context))
    if profile and profile not in known:
        raise RepairableException(f"no profile '{profile}'; there are: {', '.join(sorted(known))}")
    if f"{reset}".strip().lower() == "true":
        return _create(parent, profile, name, message, slot)
    child = _find(parent, context_id, slot)
    if child is None:
        return _create(parent, profile, name, message, slot)
    used = child.config.profile
    if profile and profile != used:
        raise RepairableException(f"this subordinate is a {used}: set reset=true for a {profile}")
    return child


async def run_subordinate(
    parent: Agent, subordinate: Agent, message: str, attachments: list[str] | None = None
) -> str:
    """Runs in the caller's task: the child's chat has no task of its own."""
    if not message:
        raise RepairableException("call_subordinate needs a message")
    chat = subordinate.context
    message_queue.log_user_message(chat, message, [], source=" (subordinate)")
    subordinate.hist_add_user_message(UserMessage(message=message, attachments=attachments or []))
    persist_chat.save_tmp_chat(chat)
    try:
        answer = await subordinate.monologue()
        subordinate.history.new_topic()
        return answer
    finally:
        persist_chat.save_tmp_chat(chat)


def _find(parent: Agent, context_id: str, slot: str) -> Agent | None:
    """The child of that chat, or the newest in the slot, also after a restart."""
    chats = []
    for chat in AgentContext.all():
        above = (CHILD_PARENT_CONTEXT_ID_KEY, CHILD_PARENT_AGENT_NUMBER_KEY)
        if tuple(map(chat.get_output_data, above)) == (parent.context.id, parent.number):
            chats.append(chat)
    if context_id:
        chats = [chat for chat in chats if chat.id == context_id]
        if not chats:
            raise RepairableException(f"no subordinate context '{context_id}'")
    else:
        chats = [chat for chat in chats if chat.get_output_data(CHILD_SUBORDINATE_SLOT_KEY) == slot]
    newest = max(chats, key=lambda chat: chat.created_at, default=None)
    return _registered(parent, newest.agent0) if newest else None


def _registered(parent: Agent, child: Agent) -> Agent:
    parent.data.setdefault(SUBORDINATES_DATA_KEY, {})[child.context.id] = child
    child.set_data(Agent.DATA_NAME_SUPERIOR, parent)
    return child


def _create(parent: Agent, profile: str, name: str, message: str, slot: str) -> Agent:
    config = initialize_agent(override_settings={"agent_profile": profile} if profile else None)
    child = Agent(parent.number + 1, config)
    chat = child.context
    chat.name = name or message[:80] or child.agent_name
    chat.output_data |= {
        CHILD_PARENT_CONTEXT_ID_KEY: parent.context.id,
        CHILD_PARENT_AGENT_NUMBER_KEY: parent.number,
        CHILD_SUBORDINATE_SLOT_KEY: slot,
    }
    if project := projects.get_context_project_name(parent.context):
        projects.activate_project(chat.id, project, mark_dirty=False)
    return _registered(parent, child)


class Delegation(Tool):
    async def execute(self, message="", reset="", context_id="", **kwargs):
        child = get_or_create_subordinate(
            self.agent,
            profile=kwargs.get("profile", ""),
            reset=reset,
            context_id=context_id,
            name=kwargs.get("name", ""),
            message=message,
        )
        answer = await run_subordinate(self.agent, child, message)
        more = {"context_id": child.context.id}
        return Response(message=answer, break_loop=False, additional=more)

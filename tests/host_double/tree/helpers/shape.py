"""Not a module of the host: where its lines differ. This one is the linear host, commit 2d95cd9."""

from typing import Any


def validate(request: Any) -> None:
    for key, kind in (("tool_name", str), ("tool_args", dict)):
        if not request.get(key) or not isinstance(request[key], kind):
            raise ValueError(f"the tool request needs a filled {key} of type {kind.__name__}")


async def checked_request(agent: Any, request: dict) -> dict:
    """An invalid request raises here: one retry, then the end of the chain."""
    await agent.validate_tool_request(request)
    return request


def named(name: str, args: dict) -> tuple[str, str | None, dict]:
    """`tool:method` is the tool's name and its method."""
    tool, _, method = name.partition(":")
    return tool, method or None, args


def nudge_message(agent: Any) -> Any:
    from agent import UserMessage

    return UserMessage(agent.read_prompt("fw.msg_nudge.md"))


def saved_profile(agent: Any) -> dict[str, str]:
    """What chat.json says of an agent's profile: nothing."""
    return {}


def loaded_config(saved: dict, config: Any) -> Any:
    return config


def configs_after_settings(context: Any) -> None:
    """Saving settings gives every agent of the line the same fresh config: profiles are lost."""
    from initialize import initialize_agent

    context.config = initialize_agent()
    agent = context.agent0
    while agent is not None:
        agent.config = context.config
        agent = agent.data.get(agent.DATA_NAME_SUBORDINATE)

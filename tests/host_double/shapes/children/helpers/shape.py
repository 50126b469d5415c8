"""Not a module of the host: where its lines differ. This one is the 2.x host: a chat for every child."""

from typing import Any


def validate(request: Any) -> None:
    """Empty arguments are allowed."""
    if not request.get("tool_name") or not isinstance(request.get("tool_args"), dict):
        raise ValueError("the tool request needs a name and an object of arguments")


async def checked_request(agent: Any, request: dict) -> dict | None:
    """An invalid request counts as none: a warning, and the model tries again."""
    try:
        await agent.validate_tool_request(request)
    except ValueError:
        return None
    return request


def named(name: str, args: dict) -> tuple[str, str | None, dict]:
    """A method is the argument `action`, however it came."""
    tool, _, action = name.partition(":")
    method = action or args.get("method")
    return tool, None, {"action": method, **args} if method else args


def nudge_message(agent: Any) -> Any:
    from agent import UserMessage

    return UserMessage("", system_message=[agent.read_prompt("fw.msg_nudge.md")])


def saved_profile(agent: Any) -> dict[str, str]:
    """chat.json keeps every agent's profile, but not its name."""
    return {"agent_profile": agent.config.profile}


def loaded_config(saved: dict, config: Any) -> Any:
    from initialize import initialize_agent

    return initialize_agent(override_settings={"agent_profile": saved["agent_profile"]})


def configs_after_settings(context: Any) -> None:
    """Saving settings makes fresh configs, each with the profile it had."""
    from initialize import initialize_agent

    agent = context.agent0
    while agent is not None:
        agent.config = initialize_agent(override_settings={"agent_profile": agent.config.profile})
        agent = agent.data.get(agent.DATA_NAME_SUBORDINATE)

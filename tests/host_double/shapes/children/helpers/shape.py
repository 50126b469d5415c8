"""Not a module of the host: where its two lines differ. This one is the 2.x host: a chat for every child."""

from typing import Any

NAME = "children"
KEEPS_PROFILE = True


def validate(request: Any) -> None:
    split_request(request)


async def checked_request(agent: Any, request: dict) -> dict | None:
    """An invalid request counts as none: a warning, and the model tries again."""
    try:
        await agent.validate_tool_request(request)
        split_request(request)
    except ValueError:
        return None
    return request


def split_request(request: Any) -> tuple[str, str | None, dict]:
    """Empty arguments are allowed; they are copied; `tool:method` becomes the argument `action`."""
    if not isinstance(request, dict):
        raise ValueError("the tool request is not an object")
    names = [
        request[key]
        for key in ("tool_name", "tool")
        if request.get(key) and isinstance(request[key], str)
    ]
    given = [request[key] for key in ("tool_args", "args") if isinstance(request.get(key), dict)]
    if not names or not given:
        raise ValueError("the tool request needs a name and an object of arguments")
    args = dict(given[0])
    name, colon, action = names[0].partition(":")
    if colon and not (name and action):
        raise ValueError("half a tool name")
    if colon:
        args.setdefault("action", action)
    method = args.get("method")
    if "action" not in args and method and isinstance(method, str):
        args["action"] = method
    return name, None, args


def nudge_message(agent: Any) -> Any:
    from agent import UserMessage

    return UserMessage("", system_message=[agent.read_prompt("fw.msg_nudge.md")])


def saved_profile(agent: Any) -> dict[str, str]:
    """chat.json keeps every agent's profile, but not its name."""
    return {"agent_profile": agent.config.profile}


def configs_after_settings(context: Any) -> None:
    """Saving settings makes fresh configs, each with the profile it had."""
    from initialize import initialize_agent

    agent, first = context.agent0, context.config.profile
    context.config = initialize_agent(override_settings={"agent_profile": first} if first else None)
    while agent is not None:
        own = agent.config.profile or first
        agent.config = initialize_agent(override_settings={"agent_profile": own} if own else None)
        agent = agent.data.get(agent.DATA_NAME_SUBORDINATE)

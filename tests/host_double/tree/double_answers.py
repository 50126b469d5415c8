"""Not a module of the host: what a scripted model says."""

from typing import Any


def call(tool: str, /, **args: Any) -> dict[str, Any]:
    """A model's answer that calls a tool: `script({"agent0": [call("handover_reply", verdict="accept")]})`."""
    return {"thoughts": ["..."], "headline": f"Using {tool}", "tool_name": tool, "tool_args": args}


def respond(text: str) -> dict[str, Any]:
    """A model's answer that ends its run with the host's `response` tool."""
    return call("response", text=text)

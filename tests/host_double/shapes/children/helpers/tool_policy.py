"""Tools that a person forbids to a profile (the newest hosts). `forbidden` holds pairs of profile and tool."""

from typing import Any

from helpers.errors import RepairableException

forbidden: set[tuple[str, str]] = set()


def ensure_tool_allowed(agent: Any, tool_name: str, *, canonical_id: str = "") -> None:
    if (agent.config.profile, tool_name) in forbidden:
        raise RepairableException(f"the profile {agent.config.profile} may not use {tool_name}")

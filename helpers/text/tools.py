"""What a role may use, in words for a model."""

from __future__ import annotations

from ..values.tools import Tools

_MOST = 12


def tools_told(tools: Tools) -> str:
    """Such as `all but text_editor:write`; at most `_MOST` names, then how many more."""
    if not tools.allowed:
        return f"all but {_names(tools.denied)}"
    told = f"only {_names(tools.listed()) or 'those to answer with'}"
    return f"{told}, never {_names(tools.denied)}" if tools.denied else told


def told_in_prompt(tools: Tools) -> str:
    """The line of a system prompt on it, "" for who may use all."""
    return f"- tools, enforced: {tools_told(tools)}\n" if tools else ""


def _names(patterns: tuple[str, ...]) -> str:
    more = len(patterns) - _MOST
    shown = ", ".join(patterns[:_MOST])
    return f"{shown} and {more} more" if more > 0 else shown

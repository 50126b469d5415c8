"""The tools of whoever works in a handover: at most those of everybody around it."""

from __future__ import annotations

from ..values.roster import Roster
from ..values.tools import Tools
from .chain import Chain, Handover


def tools_in(chain: Chain, handover: Handover | None, roster: Roster) -> Tools:
    """The tools of whoever works in a handover: what was recorded of it and of those around it, and
    what the roster says of their receivers now."""
    tools = Tools()
    for item in chain.ancestors(handover.id) if handover else ():
        tools = tools.narrowed(item.prepared.tools).narrowed(roster.tools_of(item.receiver))
    return tools

"""The short reference that stands for a package, and the call that starts it."""

from __future__ import annotations

import json

from ..values.packet import HandoverPacket
from ..values.roster import Specialist


def reference(handover_id: str) -> str:
    """`§§handover(ho-0123456789abcdef)`."""
    return f"§§handover({handover_id})"


def start_call(
    specialist: Specialist, packet: HandoverPacket, project_root: str, *, fresh: bool = True
) -> str:
    """The call that starts a prepared handover, as one line of JSON.

    To another machine no subordinate goes: the handover is called again, with `start` alone.
    """
    arguments: dict[str, object]
    if specialist.remote:
        name = "handover_to_specialist"
        arguments = {
            "specialist_profile": specialist.profile,
            "topic": packet.topic,
            "project_root": project_root,
            "start": True,
        }
    else:
        name = "call_subordinate"
        arguments = {
            "profile": specialist.profile,
            "message": reference(packet.identity.handover_id),
            "reset": "true" if fresh else "false",
        }
    return json.dumps({"tool_name": name, "tool_args": arguments}, ensure_ascii=False)

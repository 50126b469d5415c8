"""The short reference that stands for a package, and the call that starts it."""

from __future__ import annotations

import json

from ..values.roster import Specialist


def reference(handover_id: str) -> str:
    """`§§handover(ho-0123456789abcdef)`."""
    return f"§§handover({handover_id})"


def start_call(specialist: Specialist, handover_id: str, *, fresh: bool = True) -> str:
    """The `call_subordinate` call that starts a prepared handover, as one line of JSON."""
    arguments = {
        "profile": specialist.profile,
        "message": reference(handover_id),
        "reset": "true" if fresh else "false",
    }
    call = {"tool_name": "call_subordinate", "tool_args": arguments}
    return json.dumps(call, ensure_ascii=False)

"""What the tool answers: the JSON object of the contract, its warning line and the next step, ready to copy."""

from __future__ import annotations

import json
from typing import Any

from ..values.roster import Specialist
from .prepare import Prepared

REFERENCE = "§§handover({id})"


def reference(handover_id: str) -> str:
    """The short reference that stands for a package: `§§handover(ho-0123456789abcdef)`."""
    return REFERENCE.format(id=handover_id)


def message(
    prepared: Prepared, reply: dict[str, Any] | None = None, *, dry_run: bool = False
) -> str:
    """The tool's message: one JSON object (seed 001's keys and more), then a WARNING line when over the limit.

    A dry run says so in `package.dry_run` and `next_step`: nothing was recorded.
    """
    found = result(prepared, reply)
    if dry_run:
        found = {
            **found,
            "package": {**found["package"], "dry_run": True},
            "next_step": _not_recorded(prepared),
        }
        found["briefing"] = {**found["briefing"], "newly_created": False}
    text = json.dumps(found, ensure_ascii=False, indent=2)
    planned = prepared.plan
    if not oversize(prepared):
        return text
    limit = planned.request.max_context_tokens
    delivered = (
        f"delivery is fitted to {planned.package.tokens}"
        if planned.package.omitted
        else "all of it is delivered"
    )
    return f"{text}\nWARNING: the package has {planned.estimated_tokens} tokens, over max_context_tokens {limit}; {delivered}"


def _not_recorded(prepared: Prepared) -> str:
    if prepared.repeated:
        return f"Dry run: nothing was recorded; {prepared.packet.identity.handover_id} exists already and would be returned again"
    return "Dry run: nothing was recorded and nothing can be started; make the same call without dry run"


def oversize(prepared: Prepared) -> bool:
    return prepared.plan.estimated_tokens > prepared.plan.request.max_context_tokens


def result(prepared: Prepared, reply: dict[str, Any] | None = None) -> dict[str, Any]:
    """The object of the contract; `reply` is there when the specialist was started and came back."""
    planned, packet, briefing = prepared.plan, prepared.packet, prepared.briefing
    identity, specialist = packet.identity, planned.specialist
    found: dict[str, Any] = {
        "status": "failed" if reply and reply.get("verdict") == "failed" else "ok",
        "persona_marker": specialist.persona_marker,
        "package": {
            "specialist": specialist.profile,
            "topic": packet.topic,
            "summary": packet.summary,
            "briefing_file": str(briefing.path),
            "estimated_tokens": planned.estimated_tokens,
            "max_context_tokens": planned.request.max_context_tokens,
            "oversize_warning": oversize(prepared),
            "handover_id": identity.handover_id,
            "chain_id": identity.chain_id,
            "hop": identity.hop,
            "depth": identity.depth,
            "marker": specialist.marker,
            "delivered_tokens": planned.package.tokens,
            "omitted": list(planned.package.omitted),
            "warnings": list(planned.warnings),
            "repeated": prepared.repeated,
            "token_counter": planned.token_counter,
        },
        "briefing": {
            "path": str(briefing.path),
            "existed_before": briefing.existed_before,
            "newly_created": briefing.newly_created,
            "size_bytes": briefing.size_bytes,
        },
    }
    if reply is not None:
        found["reply"] = {key: value for key, value in reply.items() if key != "next_step"}
    found["next_step"] = (
        reply["next_step"] if reply and reply.get("next_step") else next_step(prepared)
    )
    return found


def next_step(prepared: Prepared) -> str:
    """What the orchestrator does now, with the complete tool call as one-line JSON at the end."""
    identity = prepared.packet.identity
    if prepared.state != "prepared":
        return (
            f"Orchestrator: {identity.receiver} already holds {identity.handover_id} ({prepared.state}), nothing was started;"
            f" when it does not run, let it go on: {start_call(prepared.plan.specialist, identity.handover_id, fresh=False)}"
        )
    return "Orchestrator: review the package, then call_subordinate(...): " + start_call(
        prepared.plan.specialist, identity.handover_id, fresh=not prepared.plan.request.answers
    )


def start_call(specialist: Specialist, handover_id: str, *, fresh: bool = True) -> str:
    """The `call_subordinate` call that starts a prepared handover, as one line of JSON."""
    arguments = {
        "profile": specialist.profile,
        "message": reference(handover_id),
        "reset": "true" if fresh else "false",
    }
    return json.dumps({"tool_name": "call_subordinate", "tool_args": arguments}, ensure_ascii=False)

"""What the tool answers: the JSON object of the contract, its warning line and the next step, ready to copy."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import JsonValue

from .prepare import Prepared
from .reference import reference as reference
from .reference import start_call

Json = dict[str, JsonValue]


def message(prepared: Prepared, reply: Mapping[str, JsonValue] | None = None) -> str:
    """The tool's message: one JSON object (seed 001's keys and more), then a WARNING line when over
    the limit."""
    return _with_warning(result(prepared, reply), prepared)


def dry_run_message(prepared: Prepared) -> str:
    """The same for a call that recorded nothing: `package.dry_run` and `next_step` say so."""
    answer = result(prepared)
    answer["package"] = {**_package(prepared), "dry_run": True}
    answer["briefing"] = {**_briefing(prepared), "newly_created": False}
    answer["next_step"] = _not_recorded(prepared)
    return _with_warning(answer, prepared)


def _with_warning(answer: Json, prepared: Prepared) -> str:
    text = json.dumps(answer, ensure_ascii=False, indent=2)
    if not oversize(prepared):
        return text
    packed = prepared.packed
    if packed.package.omitted:
        delivered = f"delivery is fitted to {packed.package.tokens}"
    else:
        delivered = "all of it is delivered"
    return (
        f"{text}\nWARNING: the package has {packed.estimated_tokens} tokens, over"
        f" max_context_tokens {prepared.limits.tokens}; {delivered}"
    )


def _not_recorded(prepared: Prepared) -> str:
    if prepared.repeated:
        handover_id = prepared.packet.identity.handover_id
        return (
            f"Dry run: nothing was recorded; {handover_id} exists already and would be returned"
            " again"
        )
    return (
        "Dry run: nothing was recorded and nothing can be started; make the same call without dry"
        " run"
    )


def oversize(prepared: Prepared) -> bool:
    return prepared.packed.estimated_tokens > prepared.limits.tokens


def result(prepared: Prepared, reply: Mapping[str, JsonValue] | None = None) -> Json:
    """The object of the contract; `reply` is there when the specialist was started and came back."""
    failed = reply is not None and reply.get("verdict") == "failed"
    answer: Json = {
        "status": "failed" if failed else "ok",
        "persona_marker": prepared.specialist.persona_marker,
        "package": _package(prepared),
        "briefing": _briefing(prepared),
    }
    if reply is None:
        return {**answer, "next_step": next_step(prepared)}
    told = {name: value for name, value in reply.items() if name != "next_step"}
    follows = reply.get("next_step") or next_step(prepared)
    return {**answer, "reply": told, "next_step": follows}


def _package(prepared: Prepared) -> Json:
    packet, packed = prepared.packet, prepared.packed
    identity = packet.identity
    return {
        "specialist": prepared.specialist.profile,
        "topic": packet.topic,
        "summary": packet.summary,
        "briefing_file": str(prepared.briefing.path),
        "estimated_tokens": packed.estimated_tokens,
        "max_context_tokens": prepared.limits.tokens,
        "oversize_warning": oversize(prepared),
        "handover_id": identity.handover_id,
        "chain_id": identity.chain_id,
        "hop": identity.hop,
        "depth": identity.depth,
        "marker": prepared.specialist.marker,
        "delivered_tokens": packed.package.tokens,
        "omitted": list(packed.package.omitted),
        "warnings": list(prepared.warnings),
        "repeated": prepared.repeated,
        "token_counter": packed.counter,
    }


def _briefing(prepared: Prepared) -> Json:
    briefing = prepared.briefing
    return {
        "path": str(briefing.path),
        "existed_before": briefing.existed_before,
        "newly_created": briefing.newly_created,
        "size_bytes": briefing.size_bytes,
    }


def next_step(prepared: Prepared) -> str:
    """What the orchestrator does now, with the complete tool call as one-line JSON at the end."""
    identity, specialist = prepared.packet.identity, prepared.specialist
    if prepared.state != "prepared":
        start = start_call(specialist, prepared.packet, prepared.project_root, fresh=False)
        return (
            f"Orchestrator: {identity.receiver} already holds {identity.handover_id}"
            f" ({prepared.state}), nothing was started; when it does not run, let it go on: {start}"
        )
    fresh = not prepared.answers
    start = start_call(specialist, prepared.packet, prepared.project_root, fresh=fresh)
    tool = "handover_to_specialist" if specialist.remote else "call_subordinate"
    return f"Orchestrator: review the package, then {tool}(...): {start}"

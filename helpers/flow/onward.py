"""The work moves on by itself: the next leg of a run, as the last specialist asked for it (seed 004)."""

from __future__ import annotations

from dataclasses import replace

from ..arguments.handover import HandoverRequest
from ..values.call import Call
from ..values.errors import RefusedError
from ..values.events import Done
from ..values.packet import Contents
from .prepare import Prepared, limits_of, prepare_request
from .standing import chain_of


def next_leg(handover_id: str, call: Call) -> Prepared:
    """Prepare the handover that a `done` with `hand_to` asked for: same depth, next hop, the packet
    inherited.

    Raises RefusedError; a visited specialist without news, and a cap, stop the chain (seed 004:
    escalate to the person).
    """
    folder, chain = chain_of(handover_id, call)
    handover = chain.find(handover_id)
    done = handover.last(Done) if handover else None
    if handover is None or done is None:
        raise RefusedError(f"{handover_id} was not handed back as done", "", "nothing_open")
    note, limits = done.note, limits_of(handover)
    summary = "\n".join(words for words in (note.what_happened, note.observations) if words)
    given = Contents(
        summary=summary,
        recent_turns=(),
        next_action=note.next,
        user_state=note.user_state,
        handover_reason=f"{handover.receiver} handed the work on",
        return_condition=handover.packet.return_condition,
    )
    request = HandoverRequest(
        specialist_profile=done.hand_to,
        topic=handover.packet.topic,
        project_root=str(folder.root),
        given=given,
        max_context_tokens=limits.tokens,
        include_recent_turns=0,
        overflow=limits.overflow,
    )
    moved = replace(
        call.caller,
        sender=handover.receiver,
        inside=handover.parent,
        continues=handover.id,
        project_root=str(folder.root),
    )
    return prepare_request(request, replace(call, caller=moved))

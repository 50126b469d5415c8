"""A handover ends without a verdict of its specialist: it just answered, failed, or is gone."""

from __future__ import annotations

from ..arguments.reply import NOTE_PARTS
from ..chain import merge, rules
from ..chain.chain import Handover
from ..records import shelf
from ..records.folder import HandoverFolder
from ..text.damage import losses
from ..text.masking import safe
from ..values import events
from ..values.call import Call
from ..values.errors import RecordError
from ..values.events import about
from .answer import Answer, answer_of, told_before
from .receive import cancelled_inside, unfinished
from .standing import chain_of, holding, of_chat, task_of

NO_VERDICT = "answered without a verdict"
_LONGEST_ANSWER = 200_000  # characters; a close must fit a ledger's line whatever was said
_NO_OUTCOME = ("prepared", "superseded")


def close(handover_id: str, kind: str, why: str, call: Call, *, said: str = "") -> Answer:
    """Close a handover as done (it just answered with `said`), failed or cancelled.

    A handover that is closed already stays as it is: its recorded note counts.
    """
    with holding(handover_id, call) as (book, handover):
        if not handover.is_open and handover.state != "prepared":
            return told_before(handover, book.folder, call)
        packet = merge.brought_up(handover.packet, book.chain.newest)
        if kind == "done":
            stopped_at = rules.stopped_by(packet.stopped_at, handover, NO_VERDICT)
            packet = packet.model_copy(update={"stopped_at": stopped_at})
        else:
            packet = unfinished(packet, handover, kind, call)
        why = safe(why, call.ports.mask)[0]
        closing = events.KINDS[kind].model_validate(
            {
                "packet": packet,
                "note": closing_note(handover, safe(said, call.ports.mask)[0], why),
                "outcome": events.UNKNOWN if kind == "done" else "blocked",
                "implicit": True,
                "why": why[:_LONGEST_ANSWER],
                "person_messages": call.caller.person_count,
            }
        )
        inner = cancelled_inside(book.chain, handover, f"{handover.id} was closed as {kind}")
        event = book.write(*inner, about(packet, closing))[-1]
        told = (*losses(book.chain.stop_damage), *book.brief_or_tell(event))
        return answer_of(handover, packet, event, book.folder, call, warnings=told)


def closing_note(handover: Handover, said: str, why: str) -> events.Note:
    """The note of a handover that ends without one, of masked words. What a verdict said before it
    was reopened is not lost."""
    kept = {name: getattr(handover.note, name) for name in NOTE_PARTS}
    if not said:
        return events.Note(**{**kept, "reason": why[:_LONGEST_ANSWER]})
    if len(said) > _LONGEST_ANSWER:
        left_out = len(said) - _LONGEST_ANSWER
        said = f"{said[:_LONGEST_ANSWER]}\n[cut here: {left_out:,} characters more]"
    before = kept["what_happened"]
    if before and before != said:
        said = f"{said}\n\nBefore that: {before}"
    return events.Note(**{**kept, "what_happened": said})


def outcome_of(handover_id: str, call: Call) -> Answer | None:
    """What a handover came to, or None while it is open. Nothing is written."""
    folder, chain = chain_of(handover_id, call)
    handover = chain.find(handover_id)
    if handover is None or handover.is_open or handover.state in _NO_OUTCOME:
        return None
    return told_before(handover, folder, call)


def sweep(alive: frozenset[str], call: Call) -> tuple[str, ...]:
    """Close as cancelled what is open in this chat's chains and held by no living agent, here or on
    another machine.

    Returns the ids.
    """
    caller = call.caller
    folder = HandoverFolder.open(caller.project_root)
    gone = []
    for chain_id in shelf.chains_of_chat(folder, caller.chat_id):
        try:
            chain = shelf.peek(folder, chain_id, call)
        except RecordError:
            continue  # `standing` names it
        if not of_chat(chain, folder, caller.chat_id):
            continue
        for handover in chain.open:
            if handover.id not in alive and not task_of(handover):
                close(handover.id, "cancelled", "its agent is gone", call)
                gone.append(handover.id)
    return tuple(gone)

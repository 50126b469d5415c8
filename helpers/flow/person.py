"""What the person does to a chain by a click: a decline or a stop is lifted, a handover closed.

Recorded as the person's own; nothing that an agent says comes here.
"""

from __future__ import annotations

from ..chain.answered import name_key
from ..records.book import Book, Place, open_chain
from ..records.folder import HandoverFolder
from ..text.quote import one_line
from ..values.call import Call
from ..values.errors import RefusedError
from ..values.events import AUDIT_PAGE, DeclineLifted, Resumed, about, of_chain
from .answer import Answer
from .close import close
from .standing import holding


def lift_decline(chain_id: str, field: str, call: Call) -> str:
    """Take a decline back without a new value; the name of the field. Raises RefusedError, RecordError.

    The field may be asked for and answered again from the next hop on, and in the hand-back of who
    works now.
    """
    with open_chain(_place(chain_id, call), call) as book:
        newest = book.chain.newest
        declined = _declined(book)
        name = declined.get(name_key(field))
        if newest is None or name is None:
            standing = ", ".join(sorted(declined.values())) or "nothing"
            raise RefusedError(
                f"{one_line(field, 60)} is not declined", f"declined here: {standing}", "bad_value"
            )
        book.write(about(newest, DeclineLifted(field=name, by=AUDIT_PAGE)))
        return name


def lift_stop(chain_id: str, call: Call) -> str:
    """Let a chain go on that stands still; why it stood still. Raises RefusedError, RecordError."""
    with open_chain(_place(chain_id, call), call) as book:
        why = book.chain.stop
        if not why:
            raise RefusedError("the chain is not stopped", "load it again", "bad_value")
        if book.found_damage:
            raise RefusedError(f"this was found only now: {why}", "lift it again", "stopped")
        resumed = Resumed(by=AUDIT_PAGE, damage=book.chain.stop_damage)
        book.write(of_chain(resumed, chain_id, sender=call.caller.sender))
        return why


def close_handover(handover_id: str, reason: str, call: Call) -> Answer:
    """Close what is prepared or open, as cancelled. Raises RefusedError, RecordError."""
    with holding(handover_id, call) as (_, handover):
        if not handover.is_open and handover.state != "prepared":
            raise RefusedError(
                f"{handover_id} is closed already ({handover.state})",
                "load it again",
                "nothing_open",
            )
    said = one_line(reason) if reason.strip() else "no reason given"
    return close(handover_id, "cancelled", f"the person closed it on the audit page: {said}", call)


def _declined(book: Book) -> dict[str, str]:
    newest = book.chain.newest
    declined = {}
    for item in newest.state if newest else ():
        if item.status == "declined":
            declined[name_key(item.field)] = item.field
    return declined


def _place(chain_id: str, call: Call) -> Place:
    return Place(HandoverFolder.open(call.caller.project_root), chain_id)

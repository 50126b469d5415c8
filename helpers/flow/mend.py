"""Briefings put right by a person: what a merge lost is written again, what they took out stays out."""

from __future__ import annotations

from ..records import listing
from ..records.book import Place, open_chain
from ..records.folder import HandoverFolder
from ..values.call import Call
from ..values.errors import RecordError
from ..values.events import Redacted, about
from .standing import holding


def heal(folder: HandoverFolder, call: Call) -> tuple[int, tuple[str, ...]]:
    """Write what the briefings lack of this installation's ledgers: how many entries there were
    that were lost, and what could not be looked at or written, a line each."""
    written, complaints = 0, []
    for chain_id in listing.chains(folder):
        try:
            with open_chain(Place(folder, chain_id), call) as book:
                written += book.healed
                if book.unhealed:
                    complaints.append(f"{chain_id}: {book.unhealed}")
        except RecordError as error:
            complaints.append(f"{chain_id}: {error.message}")
    return written, tuple(complaints)


def take_out(handover_id: str, reason: str, call: Call) -> None:
    """Record that a person took the entries of a handover out. Raises RefusedError, RecordError."""
    with holding(handover_id, call) as (book, handover):
        book.write(about(handover.packet, Redacted(why=reason)))

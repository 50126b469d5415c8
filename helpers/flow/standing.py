"""Who holds what in a chat: a handover found again, its chain opened, and all that stands prepared or open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..chain.chain import Chain, Handover
from ..records import shelf
from ..records.book import Book, Place, open_chain
from ..records.folder import HandoverFolder, is_called, slugs_of, topic_part
from ..text.damage import losses
from ..text.quote import inert, one_line
from ..values.call import COMMAND_LINE, Call
from ..values.errors import Code, RecordError, RefusedError
from ..values.events import Delivered
from ..values.names import quoted
from ..values.roster import Specialist
from ..values.settings import Settings
from .reference import start_call


def specialist_of(settings: Settings, profile: str) -> Specialist:
    """The roster's entry; one that was taken out of the roster may still finish its work."""
    known = settings.roster.known(profile)
    return known or Specialist(profile=profile, title=profile.replace("_", " ").title())


def held_by(handover_id: str, call: Call) -> Handover:
    """The handover as the ledger has it. Raises RefusedError (unknown_reference)."""
    folder = HandoverFolder.open(call.caller.project_root)
    chain = shelf.chain_holding(folder, handover_id, call.caller.chat_id, call)
    handover = chain.find(handover_id) if chain else None
    if handover is None:
        raise not_recorded(handover_id, folder, call)
    return handover


def not_recorded(
    handover_id: str,
    folder: HandoverFolder,
    call: Call,
    hint: str = "",
    code: Code = "unknown_reference",
) -> RefusedError:
    """The refusal of what is not found; damage that may hide it is named."""
    named = one_line(handover_id, 60)
    hiding = shelf.hiding(folder, handover_id, call.caller.chat_id, call)
    if hiding:
        why = f"no handover {named} can be read: the record is damaged at {'; '.join(hiding)}"
        hint = "tell the person what is lost; `execute.py verify` names all of it"
    else:
        why = f"no handover {named} is recorded in {one_line(str(folder.path))}"
    hints = (hint, shelf.unreadable(folder))
    return RefusedError(why, "; ".join(filter(None, hints)), code)


def task_of(handover: Handover) -> Delivered | None:
    """Where the work of a handover that went to another machine is; None for one that did not."""
    delivered = handover.last(Delivered)
    return delivered if delivered and delivered.remote else None


def check_runs_here(specialist: Specialist, handover: Handover, project_root: str) -> None:
    """A specialist of another machine is no subordinate. Raises RefusedError (start_failed)."""
    if specialist.remote:
        start = start_call(specialist, handover.packet, project_root)
        raise RefusedError(
            f"{specialist.profile} works on another machine and is no subordinate",
            f"start it with {start}",
            "start_failed",
        )


@contextmanager
def holding(handover_id: str, call: Call) -> Iterator[tuple[Book, Handover]]:
    """The chain of a handover of this chat, open. Raises RefusedError (nothing_open,
    unknown_reference).

    A briefing that cannot be healed stops nothing here: `Book.unhealed` says why.
    """
    with open_chain(place_of(handover_id, call), call) as book:
        handover = book.chain.find(handover_id)
        assert handover is not None
        yield book, handover


def chain_of(handover_id: str, call: Call) -> tuple[HandoverFolder, Chain]:
    """The chain of a handover of this chat, as it stands. Raises RefusedError as `holding`."""
    if not handover_id:
        raise RefusedError(
            "no handover is open here",
            "this tool is for a specialist that works on a handover",
            "nothing_open",
        )
    caller = call.caller
    folder = HandoverFolder.open(caller.project_root)
    chain = shelf.chain_holding(folder, handover_id, caller.chat_id, call)
    if chain is None:
        raise not_recorded(handover_id, folder, call, "copy the reference from next_step")
    if caller.chat_id != COMMAND_LINE and not of_chat(chain, folder, caller.chat_id):
        raise RefusedError(
            f"handover {handover_id} belongs to another chat",
            "prepare one in this chat with handover_to_specialist",
            "unknown_reference",
        )
    return folder, chain


def place_of(handover_id: str, call: Call) -> Place:
    folder, chain = chain_of(handover_id, call)
    return Place(folder, chain.id)


def of_chat(chain: Chain, folder: HandoverFolder, chat_id: str) -> bool:
    """Whether the chain is this chat's, by its topic: a file's name alone proves nothing."""
    newest = chain.newest
    if newest is None or folder.chain_id("x", chat_id) != f"x-{chain.id.rpartition('-')[2]}":
        return False
    return is_called(topic_part(chain.id), slugs_of(newest.topic))


def standing(call: Call) -> tuple[str, ...]:
    """What waits for the caller in this chat, a line each: what it prepared and nobody started,
    open work, questions, stops."""
    caller = call.caller
    folder = HandoverFolder.open(caller.project_root)
    lines: list[str] = []
    for chain_id in shelf.chains_of_chat(folder, caller.chat_id):
        try:
            chain = shelf.peek(folder, chain_id, call)
        except RecordError as error:
            lines.append(f"Not read: {chain_id}.jsonl: {one_line(error.message)}")
            continue
        if of_chat(chain, folder, caller.chat_id):
            lines += _standing_in(chain, call)
    return tuple(map(inert, lines))


def _standing_in(chain: Chain, call: Call) -> Iterator[str]:
    caller = call.caller
    waits = chain.stop and caller.person_count <= chain.stop_mark
    if waits and not caller.inside:
        why = quoted(chain.stop, call.settings.handback_note_tokens)
        yield f"Handovers on {one_line(chain.id)} were stopped: {why}"
    if chain.unseen and not caller.inside:
        yield f"Handovers on {one_line(chain.id)} wait: {' '.join(losses(chain.unseen))}"
    for handover in chain.handovers:
        is_newest = chain.newest_to(handover.receiver) is handover
        if is_newest and handover.parent == caller.inside:
            line = _standing_line(handover, call)
            if line:
                yield line


def _standing_line(handover: Handover, call: Call) -> str:
    specialist = specialist_of(call.settings, handover.receiver)
    root = call.caller.project_root
    start = start_call(specialist, handover.packet, root, fresh=not handover.is_open)
    if handover.state == "prepared":
        return f"Prepared, not started: {handover.id} to {handover.receiver}. Start it with {start}"
    if handover.is_open:
        return (
            f"Open: {handover.id}, {handover.receiver} has the work ({handover.state})."
            f" Let it go on with {start}"
        )
    if handover.state == "clarify":
        missing = one_line(", ".join(handover.note.missing), 300)
        return (
            f"Asked: {handover.receiver} needs {missing}."
            f" Answer with handover_to_specialist(answers={handover.id})"
        )
    return ""

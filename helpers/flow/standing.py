"""Who holds what in a chat: a handover found again, its chain opened, and all that stands prepared or open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..chain.chain import Chain, Handover
from ..records.book import ChainBook, chain_holding, opened, peek, unreadable
from ..records.folder import HandoverFolder
from ..text import render
from ..values.call import COMMAND_LINE, Caller, Ports
from ..values.errors import RecordError, RefusedError
from ..values.roster import Specialist, normal
from ..values.settings import Settings
from .result import start_call


def specialist_of(settings: Settings, profile: str) -> Specialist:
    """The roster's entry; one that was taken out of the roster in the meantime may still finish its work."""
    known = next(
        (entry for entry in settings.roster.entries if normal(entry.profile) == normal(profile)),
        None,
    )
    return known or Specialist(profile=profile, title=profile.replace("_", " ").title())


def held_by(handover_id: str, caller: Caller, settings: Settings, ports: Ports) -> Handover:
    """The handover as the ledger has it. Raises RefusedError (unknown_reference)."""
    folder = HandoverFolder.open(caller.project_root)
    chain = chain_holding(folder, handover_id, ports)
    found = chain.find(handover_id) if chain else None
    if found is None:
        hint = unreadable(folder.ledgers())
        raise RefusedError(
            f"no handover {handover_id} is recorded in {folder.path}", hint, "unknown_reference"
        )
    return found


def standing(
    project_root: str, caller: Caller, settings: Settings, ports: Ports
) -> tuple[str, ...]:
    """What waits for the caller in this chat, a line each: what it prepared and nobody started, open work, questions, stops."""
    folder = HandoverFolder.open(project_root)
    lines = []
    for path in ledgers_of_chat(folder, caller):
        try:
            chain = peek(folder, path.stem, ports)
        except RecordError as error:
            lines.append(f"Not read: {path.name}: {one_line(error.message)}")
            continue
        if not of_chat(chain, folder, caller):
            continue
        if chain.stop and caller.person_count <= chain.stop_mark and not caller.inside:
            lines.append(f"Handovers on {one_line(chain.id)} were stopped: {one_line(chain.stop)}")
        mine = (
            item
            for item in chain.handovers
            if item.packet.identity.parent == caller.inside
            and chain.newest_to(item.receiver) is item
        )
        lines += [line for item in mine if (line := _standing_line(item, settings))]
    return tuple(map(inert, lines))


def _standing_line(handover: Handover, settings: Settings) -> str:
    call = start_call(
        specialist_of(settings, handover.receiver), handover.id, fresh=not handover.is_open
    )
    if handover.state == "prepared":
        return f"Prepared, not started: {handover.id} to {handover.receiver}. Start it with {call}"
    if handover.is_open:
        return f"Open: {handover.id}, {handover.receiver} has the work ({handover.state}). Let it go on with {call}"
    if handover.state == "clarify":
        asked = ", ".join(handover.note.get("missing", ()))
        needs = f"{handover.receiver} needs {one_line(asked, 300)}"
        return f"Asked: {needs}. Answer with handover_to_specialist(answers={handover.id})"
    return ""


def ledgers_of_chat(folder: HandoverFolder, caller: Caller) -> tuple[Path, ...]:
    """By their names: other chats' ledgers need not be read."""
    ending = folder.chain_id("x", caller.chat_id).removeprefix("x")
    return tuple(path for path in folder.ledgers() if path.stem.endswith(ending))


def of_chat(chain: Chain, folder: HandoverFolder, caller: Caller) -> bool:
    return (
        chain.newest is not None and folder.chain_id(chain.newest.topic, caller.chat_id) == chain.id
    )


@contextmanager
def holding(
    handover_id: str, caller: Caller, settings: Settings, ports: Ports
) -> Iterator[tuple[ChainBook, Handover]]:
    """The chain of a handover of this chat, locked and healed. Raises RefusedError (nothing_open, unknown_reference).

    A briefing that cannot be healed stops nothing here: `ChainBook.unhealed` says why.
    """
    if not handover_id:
        raise RefusedError(
            "no handover is open here",
            "this tool is for a specialist that works on a handover",
            "nothing_open",
        )
    folder = HandoverFolder.open(caller.project_root)
    chain = chain_holding(folder, handover_id, ports)
    if chain is None:
        raise RefusedError(
            f"no handover {one_line(handover_id, 40)} is recorded in this project",
            "; ".join(
                filter(None, ("copy the reference from next_step", unreadable(folder.ledgers())))
            ),
            "unknown_reference",
        )
    if caller.chat_id != COMMAND_LINE and not of_chat(chain, folder, caller):
        raise RefusedError(
            f"handover {handover_id} belongs to another chat",
            "prepare one in this chat with handover_to_specialist",
            "unknown_reference",
        )
    with opened(
        HandoverFolder.open(caller.project_root, create=True), chain.id, settings, ports
    ) as book:
        handover = book.chain.find(handover_id)
        assert handover is not None
        yield book, handover

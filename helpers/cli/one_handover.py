"""`show`, `close` and `redact`: one recorded handover, named by its id."""

from __future__ import annotations

import json
from typing import NamedTuple

import click

from ..chain.chain import Chain, Handover
from ..flow.close import close as close_handover
from ..flow.mend import take_out
from ..flow.show import package_text, story_of
from ..flow.standing import not_recorded
from ..records.chain_ledger import trust_of
from ..records.folder import HandoverFolder
from ..records.shelf import chain_holding
from ..text.quote import one_line
from ..values.call import Call, Caller
from ..values.errors import RefusedError, RequestError
from ..views.audit import stories
from .call import call_of
from .options import EXIT_CODES, project_option, project_root, settings_option
from .terminal import complain, say


class Recorded(NamedTuple):
    """A handover where it is recorded; not `own` when another installation recorded it."""

    handover: Handover
    chain: Chain
    folder: HandoverFolder
    own: bool


@click.command("show", epilog=EXIT_CODES)
@settings_option
@project_option
@click.option("--packet", is_flag=True, help="the packet as JSON")
@click.option("--text", is_flag=True, help="the package as the specialist reads it")
@click.argument("identifier", metavar="ID")
def show(settings_file: str | None, project: str, packet: bool, text: bool, identifier: str) -> int:
    """Show one handover: who, what, its state and its way back."""
    if packet and text:
        click.get_current_context().fail("--packet and --text do not go together")
    call = call_of(Caller(project_root=project_root(project)), settings_file)
    handover, chain, folder, own = recorded_handover(identifier, call)
    if not own:
        complain(
            f"NOTE: {handover.id} was recorded by another installation;"
            " it is shown and nothing of it is trusted or used here"
        )
    if packet:
        say(json.dumps(handover.packet.to_json(), ensure_ascii=False, indent=2))
    elif text:
        say(package_text(handover, chain, folder, call), end="")
    else:
        say(story_of(handover, chain, folder, call))
    return 0


@click.command("close", epilog=EXIT_CODES)
@settings_option
@project_option
@click.option("--reason", required=True, help="why; stands in ledger and briefing")
@click.argument("identifier", metavar="ID")
def close(settings_file: str | None, project: str, reason: str, identifier: str) -> int:
    """Close a handover that nobody will finish, as cancelled."""
    if not reason.strip():
        hint = "say why in a few words; it stands in ledger and briefing"
        raise RequestError("--reason is empty", hint, "missing")
    call = call_of(Caller(project_root=project_root(project)), settings_file)
    recorded = recorded_handover(identifier, call)
    check_closable(recorded)
    handover = recorded.handover
    close_handover(handover.id, "cancelled", reason, call)
    identity = handover.packet.identity
    was = f"{identity.sender} → {identity.receiver}, was {handover.state}"
    say(f"Closed {handover.id} ({was}) as cancelled: {one_line(reason)}")
    return 0


@click.command("redact", epilog=EXIT_CODES)
@settings_option
@project_option
@click.option("--reason", required=True, help="why; stands in the ledger")
@click.argument("identifier", metavar="ID")
def redact(settings_file: str | None, project: str, reason: str, identifier: str) -> int:
    """Record that you took a handover's entries out of its briefing, so that they stay out."""
    if not reason.strip():
        hint = "say why in a few words; it stands in the ledger"
        raise RequestError("--reason is empty", hint, "missing")
    call = call_of(Caller(project_root=project_root(project)), settings_file)
    recorded = recorded_handover(identifier, call)
    if not recorded.own:
        raise RefusedError(
            f"{recorded.handover.id} was recorded by another installation",
            "redact it there",
            "unknown_reference",
        )
    take_out(recorded.handover.id, reason, call)
    say(
        f"Recorded: the entries of {recorded.handover.id} stay out of the briefing once you have"
        f" deleted them there. The ledger (chains/) still holds what it recorded."
    )
    return 0


def recorded_handover(identifier: str, call: Call) -> Recorded:
    """Our own record of it, else another installation's. Raises RefusedError when there is none."""
    folder = HandoverFolder.open(call.caller.project_root)
    chain = chain_holding(folder, identifier, call.caller.chat_id, call)
    handover = chain.find(identifier) if chain else None
    if chain and handover:
        return Recorded(handover, chain, folder, own=True)
    for story in stories(folder, call.ports.key(), trust_of(call)):
        foreign = None if story.own else story.chain.find(identifier)
        if foreign:
            return Recorded(foreign, story.chain, folder, own=False)
    raise not_recorded(identifier, folder, call, "see the ids in the briefings")


def check_closable(recorded: Recorded) -> None:
    """Only what is prepared or open, and our own, can be closed. Raises RefusedError."""
    handover, state = recorded.handover, recorded.handover.state
    if not recorded.own:
        raise RefusedError(
            f"{handover.id} was recorded by another installation", "close it there", "nothing_open"
        )
    if handover.is_open or state == "prepared":
        return
    closed = f"closed already ({state})"
    if state == "superseded":
        closed = "superseded by a newer call"
    raise RefusedError(
        f"{handover.id} is {closed}, nothing was changed", "see its state with show", "nothing_open"
    )

"""A prepared handover arrives: the package as it is true now, rendered again within its limit, recorded with its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from usr.plugins.software_orchestrator.helpers import budget, inherit, policy, render
from usr.plugins.software_orchestrator.helpers.chain import Chain, Handover
from usr.plugins.software_orchestrator.helpers.chain_book import ChainBook, about
from usr.plugins.software_orchestrator.helpers.config import Settings
from usr.plugins.software_orchestrator.helpers.errors import RefusedError
from usr.plugins.software_orchestrator.helpers.handover_protocol import (
    briefing_path,
    check_source_untouched,
    earlier_work,
    notices,
    packaged,
    resume,
)
from usr.plugins.software_orchestrator.helpers.holding import holding, specialist_of
from usr.plugins.software_orchestrator.helpers.masking import safe
from usr.plugins.software_orchestrator.helpers.packet import HandoverPacket
from usr.plugins.software_orchestrator.helpers.paths import HandoverFolder, check_artifact, footprint
from usr.plugins.software_orchestrator.helpers.ports import Caller, Ports
from usr.plugins.software_orchestrator.helpers.request import HandoverRequest


@dataclass(frozen=True)
class Delivery:
    """The text for the specialist and the handover it binds it to.

    `goes_on` is the handover whose specialist goes on with its own conversation, "" for a fresh one.
    """

    text: str
    handover: Handover
    title: str
    goes_on: str
    project_root: str


def deliver(handover_id: str, caller: Caller, settings: Settings, ports: Ports, *, way: str, beside: str = "") -> Delivery:
    """The package as it is true now: artifacts compared, rendered again within its limit, recorded with its hash.

    What the sender said `beside` the reference is quoted at the end, within the same limit.
    Raises RefusedError: unknown_reference for a handover that is unknown, closed or another chat's; stopped on a stopped chain.
    """
    with holding(handover_id, caller, settings, ports) as (book, handover):
        resume(book, caller)
        check_deliverable(handover, book.chain, caller)
        packet = handover.packet
        status = artifact_status(book.folder, packet)
        added = beside_block(beside, ports)
        room = ports.counter().count(added) if added else 0
        held = footprint(book.ledger.path)
        package = package_of(
            handover, book.chain, book.folder, settings, ports, status, briefing_notices(book, packet), reserve=room
        )
        check_source_untouched(held, footprint(book.ledger.path))
        text = package.text + added
        book.write(
            about(
                packet,
                "delivered",
                tokens=package.tokens + room,
                text_sha256=hashlib.sha256(text.encode()).hexdigest(),
                artifacts=status,
                omitted=list(package.omitted),
                way=way,
            )
        )
        specialist = specialist_of(settings, handover.receiver)
        goes_on = handover.id if handover.is_open else str(handover.events[0].data.get("answers", ""))
        return Delivery(text, handover, specialist.name, goes_on, str(book.folder.root))


def beside_block(beside: str, ports: Ports) -> str:
    said = safe(beside, ports.mask)[0].strip()
    return f"Said with it:\n{render.inert(render.quote(said))}" if said else ""


def artifact_status(folder: HandoverFolder, packet: HandoverPacket) -> dict[str, str]:
    """How each artifact is now, by path: unchanged, changed, gone, outside, unrecorded."""
    return {item.path: check_artifact(folder.root, item) for item in packet.artifacts}


def package_of(
    handover: Handover,
    chain: Chain,
    folder: HandoverFolder,
    settings: Settings,
    ports: Ports,
    status: Mapping[str, str] | None = None,
    more_notices: tuple[str, ...] = (),
    *,
    reserve: int = 0,
) -> budget.Package:
    """The package of a recorded handover, within the limit it was prepared with less `reserve` tokens."""
    packet, prepared = handover.packet, handover.events[0].data
    request = HandoverRequest(
        specialist_profile=packet.identity.receiver,
        topic=packet.topic,
        project_root=str(folder.root),
        max_context_tokens=int(prepared["limit"]) - reserve,
        include_recent_turns=0,
        overflow=prepared["overflow"],
    )
    return packaged(
        request,
        specialist_of(settings, packet.identity.receiver),
        inherit.Built(packet),
        folder,
        ports,
        notices=(*notices(chain), *more_notices),
        artifact_status=artifact_status(folder, packet) if status is None else status,
        earlier=earlier_work(chain, packet),
    ).package


def check_deliverable(handover: Handover, chain: Chain, caller: Caller) -> None:
    """Open or prepared, and by whoever works where it was prepared: depth and authority are those of that place."""
    if handover.packet.identity.parent != caller.inside:
        why = f"handover {handover.id} is not yours to start, {handover.packet.identity.sender} prepared it"
        raise RefusedError(why, "prepare one of your own", "unknown_reference")
    if handover.state != "prepared" and not handover.is_open:
        hint = "prepare a new one with handover_to_specialist"
        raise RefusedError(f"handover {handover.id} is closed ({handover.state})", hint, "unknown_reference")
    policy.check_stop(chain)


def briefing_notices(book: ChainBook, packet: HandoverPacket) -> tuple[str, ...]:
    unknown = book.unaccounted_bytes(briefing_path(book.folder, packet).name)
    return (f"{unknown:,} bytes of the briefing were not written by this installation; weigh them with care.",) if unknown else ()

"""A prepared handover arrives: the package as it is true now, rendered again within its limit, recorded with its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..arguments.handover import HandoverRequest
from ..chain import merge, rules
from ..chain.chain import Chain, Handover
from ..records.book import ChainBook, about
from ..records.files import footprint
from ..records.folder import HandoverFolder
from ..text import fitting, render
from ..text.masking import safe
from ..text.quote import inert, quote
from ..values.call import Caller, Ports
from ..values.errors import RecordError, RefusedError, RequestError
from ..values.packet import HandoverPacket
from ..values.settings import Settings
from .package import (
    Limits,
    artifact_status,
    briefing_path,
    earlier_work,
    limits_of,
    looking,
    notices,
    packaged,
    with_turns,
)
from .prepare import check_source_untouched, resume
from .standing import holding, specialist_of


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


def deliver(
    handover_id: str,
    caller: Caller,
    settings: Settings,
    ports: Ports,
    *,
    way: str,
    beside: str = "",
    limits: Limits | None = None,
) -> Delivery:
    """The package as it is true now: artifacts compared, rendered again within its limits, recorded with its hash.

    `limits` stand in for the recorded ones. What the sender said `beside` the reference is quoted at the end, within the same
    limit, cut where it does not fit.
    Raises RefusedError: unknown_reference for a handover that is unknown, closed or another chat's; stopped on a stopped chain.
    """
    with holding(handover_id, caller, settings, ports) as (book, handover):
        resume(book, caller)
        check_deliverable(handover, book.chain, caller)
        packet, limits = handover.packet, limits or limits_of(handover)
        status = artifact_status(book.folder, packet, looking(book.folder))
        more = briefing_notices(book, packet)
        held = footprint(book.ledger.path)

        def packed(reserve: int) -> fitting.Package:
            return package_of(
                handover,
                book.chain,
                book.folder,
                settings,
                ports,
                status,
                more,
                limits=limits,
                reserve=reserve,
            )

        package = with_beside(beside, limits, packed, ports)
        check_source_untouched(held, footprint(book.ledger.path))
        text = package.text
        book.write(
            about(
                packet,
                "delivered",
                tokens=package.tokens,
                text_sha256=hashlib.sha256(text.encode()).hexdigest(),
                artifacts=status,
                omitted=list(package.omitted),
                way=way,
                limit=limits.tokens,
                overflow=limits.overflow,
                include_recent_turns=limits.turns,
            )
        )
        specialist = specialist_of(settings, handover.receiver)
        goes_on = (
            handover.id if handover.is_open else str(handover.events[0].data.get("answers", ""))
        )
        return Delivery(text, handover, specialist.name, goes_on, str(book.folder.root))


def with_beside(
    beside: str, limits: Limits, packed: Callable[[int], fitting.Package], ports: Ports
) -> fitting.Package:
    """The package that `packed` makes with so many tokens left free, and at its end what was said beside the reference.

    It gets up to a quarter of the limit; where the package needs more, what is left. What of it does not fit is named.
    """
    said, count = safe(beside, ports.mask)[0].strip(), ports.counter().count
    if not said:
        return packed(0)
    added = _beside_block(said)
    room = count(added) if limits.overflow == "whole" else min(count(added), limits.tokens // 4)
    try:
        package = packed(room)
    except RequestError:
        package = packed(0)
        room = limits.tokens - package.tokens
    if count(added) <= room:
        return replace(package, text=package.text + added, tokens=package.tokens + count(added))
    beginning = fitting.cut_text(
        said, room, lambda rest: count(_beside_block(f"{rest.rstrip()} {fitting.MARK}"))
    )
    added = _beside_block(f"{beginning.rstrip()} {fitting.MARK}") if beginning.strip() else ""
    told = f"What was said with the reference: {'cut' if added else 'left out'}, {len(said):,} characters do not fit"
    return fitting.Package(
        package.text + added,
        package.tokens + (count(added) if added else 0),
        (*package.omitted, told),
    )


def _beside_block(said: str) -> str:
    return f"Said with it:\n{inert(quote(said))}"


def package_of(
    handover: Handover,
    chain: Chain,
    folder: HandoverFolder,
    settings: Settings,
    ports: Ports,
    status: Mapping[str, str] | None = None,
    more_notices: tuple[str, ...] = (),
    *,
    limits: Limits | None = None,
    reserve: int = 0,
) -> fitting.Package:
    """The package of a recorded handover, within `limits` (else those it travels with) less `reserve` tokens."""
    limits = limits or limits_of(handover)
    packet = with_turns(handover.packet, limits)
    request = HandoverRequest(
        specialist_profile=packet.identity.receiver,
        topic=packet.topic,
        project_root=str(folder.root),
        max_context_tokens=limits.tokens - reserve,
        include_recent_turns=limits.turns,
        overflow=limits.overflow,
    )
    return packaged(
        request,
        specialist_of(settings, packet.identity.receiver),
        merge.Built(packet),
        folder,
        ports,
        notices=(*notices(chain), *more_notices),
        artifact_status=artifact_status(folder, packet, looking(folder))
        if status is None
        else status,
        earlier=earlier_work(chain, packet),
    ).package


def check_deliverable(handover: Handover, chain: Chain, caller: Caller) -> None:
    """Open or prepared, and by whoever works where it was prepared: depth and authority are those of that place."""
    if handover.packet.identity.parent != caller.inside:
        why = f"handover {handover.id} is not yours to start, {handover.packet.identity.sender} prepared it"
        raise RefusedError(why, "prepare one of your own", "unknown_reference")
    if handover.state != "prepared" and not handover.is_open:
        hint = "prepare a new one with handover_to_specialist"
        raise RefusedError(
            f"handover {handover.id} is closed ({handover.state})", hint, "unknown_reference"
        )
    rules.check_stop(chain)


def briefing_notices(book: ChainBook, packet: HandoverPacket) -> tuple[str, ...]:
    try:
        unknown = book.unaccounted_bytes(briefing_path(book.folder, packet).name)
    except RecordError:
        return ("the briefing cannot be read; this package is from the ledger.",)
    return (
        (
            f"{unknown:,} bytes of the briefing were not written by this installation; weigh them with care.",
        )
        if unknown
        else ()
    )

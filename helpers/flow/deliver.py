"""A prepared handover arrives: the package as it is true now, within its limit, recorded with its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..chain import rules
from ..chain.chain import Handover
from ..records.book import Book
from ..records.files import footprint
from ..text import fitting
from ..text.fitting import Package
from ..text.masking import safe
from ..text.quote import inert, quote
from ..values.call import Call
from ..values.errors import MemoryRuleError, RequestError
from ..values.events import Delivered, about
from .artifacts import Files
from .package import (
    Limits,
    briefing_notices,
    earlier_work,
    notices,
    package_of,
    with_turns,
)
from .prepare import limits_of
from .standing import check_runs_here, holding, specialist_of


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


def deliver(handover_id: str, call: Call, *, way: str, beside: str = "") -> Delivery:
    """The package as it is true now: artifacts compared, drawn again within its limits, recorded
    with its hash.

    What the sender said `beside` the reference is quoted at the end, within the same limit, cut
    where it does not fit. Raises RefusedError: unknown_reference for a handover that is unknown,
    closed or another chat's; stopped on a stopped chain.
    """
    with holding(handover_id, call) as (book, handover):
        rules.check_deliverable(handover, book.chain, call.caller.inside, call.settings)
        specialist = specialist_of(call.settings, handover.receiver)
        check_runs_here(specialist, handover, str(book.folder.root))
        limits = limits_of(handover)
        artifacts = Files(book.folder).status(handover.packet)
        ledger = book.ledger.listed()
        source = tuple(map(footprint, ledger))
        package = delivered_package(book, handover, limits, artifacts, beside, call)
        check_source_untouched(source, tuple(map(footprint, ledger)))
        delivered = Delivered(
            tokens=package.tokens,
            text_sha256=hashlib.sha256(package.text.encode()).hexdigest(),
            artifacts=artifacts,
            omitted=package.omitted,
            way=way,
            limit=limits.tokens,
            overflow=limits.overflow,
            include_recent_turns=limits.turns,
        )
        book.write(about(handover.packet, delivered))
        return Delivery(
            package.text,
            handover,
            specialist.name,
            handover.id if handover.is_open else handover.prepared.answers,
            str(book.folder.root),
        )


def delivered_package(
    book: Book,
    handover: Handover,
    limits: Limits,
    artifacts: dict[str, str],
    beside: str,
    call: Call,
) -> Package:
    """The package of a recorded handover, and at its end what was said beside the reference."""
    packet = with_turns(handover.packet, limits)
    about_it = notices(book.chain, handover.prepared.tools)
    told = (*about_it, *briefing_notices(book, handover.packet))
    earlier = earlier_work(book.chain, packet)

    def packed(reserve: int) -> Package:
        return package_of(
            packet,
            limits,
            book.folder,
            call,
            artifacts=artifacts,
            notices=told,
            earlier=earlier,
            reserve=reserve,
        ).package

    said = safe(beside, call.ports.mask)[0].strip()
    return with_beside(said, limits, packed, call.ports.counter().count) if said else packed(0)


def with_beside(
    said: str, limits: Limits, packed: Callable[[int], Package], count: fitting.Count
) -> Package:
    """The package that `packed` makes with so many tokens left free, and what was said behind it.

    It gets up to a quarter of the limit; where the package needs more, what is left. What of it
    does not fit is named.
    """
    added = _beside(said)
    needed = count(added)
    room = needed if limits.overflow == "whole" else min(needed, limits.tokens // 4)
    try:
        package = packed(room)
    except RequestError:
        package = packed(0)
        room = limits.tokens - package.tokens
    if needed <= room:
        return replace(package, text=package.text + added, tokens=package.tokens + needed)
    added = fitting.frame_cut(said, _beside, room, count)
    how = "cut" if added else "left out"
    omitted = f"What was said with the reference: {how}, {len(said):,} characters do not fit"
    return Package(package.text + added, package.tokens + count(added), (*package.omitted, omitted))


def _beside(said: str) -> str:
    return f"Said with it:\n{inert(quote(said))}"


def check_source_untouched(before: object, after: object) -> None:
    """Compaction makes a new text and changes nothing stored, also while a specialist runs; both
    are marks of the source."""
    if before != after:
        raise MemoryRuleError("a text was made and what it was made from changed")

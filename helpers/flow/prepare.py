"""The handover, from a sloppy call to a recorded, bounded package. Read this first.

Three memory-protection rules (seed 001) are checked here by name: `check_source_untouched`, `check_append_only` and
`check_no_turns`. The packet is made in `next_packet`, its text in `packaging`; how it arrives is told in `delivery`, the way
back in `reply_protocol`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ..arguments.handover import HandoverRequest, named, parse
from ..chain import merge, rules
from ..chain.chain import CLOSED, Chain
from ..chain.rules import Sender
from ..records.book import (
    ChainBook,
    about,
    chain_holding,
    entry_of,
    opened,
    peek,
    without_turns,
)
from ..records.briefing import Written
from ..records.files import Footprint
from ..records.folder import HandoverFolder
from ..records.ledger import canonical
from ..values.call import Caller, Ports
from ..values.errors import (
    HandoverError,
    MemoryRuleError,
    RecordError,
    RefusedError,
    RequestError,
)
from ..values.events import draft
from ..values.packet import HandoverPacket
from ..values.roster import Specialist, normal
from ..values.settings import Settings
from .package import (
    Plan,
    artifact_status,
    artifact_warnings,
    briefing_path,
    earlier_work,
    limit_warnings,
    limited,
    limits_asked,
    limits_of,
    looking,
    notices,
    packaged,
    with_turns,
)
from .packet import build

# What does not make a call another call (docs/architecture.md, A second call).


# What does not make a call another call (docs/architecture.md, A second call).
NOT_IN_FINGERPRINT = frozenset(
    {
        "start",
        "max_context_tokens",
        "include_recent_turns",
        "overflow",
        "handover_reason",
        "project_root",
        "warnings",
    }
)


@dataclass(frozen=True)
class Prepared:
    """A handover that is recorded and ready to be started; `repeated` when the same call had prepared it before."""

    plan: Plan
    briefing: Written
    state: str = "prepared"
    repeated: bool = False

    @property
    def packet(self) -> HandoverPacket:
        return self.plan.packet


def prepare(args: Mapping[Any, Any], caller: Caller, settings: Settings, ports: Ports) -> Prepared:
    """Check a call, build its packet and package, and record them: ledger first, then briefing.

    Raises HandoverError. A refused call makes no file; a ledger that exists gets a `refused` event.
    """
    try:
        request = parse(args, settings, mask=ports.mask, project_root=caller.project_root)
    except RequestError as error:
        note_not_understood(args, error, caller, settings, ports)
        raise
    return prepare_request(request, caller, settings, ports)


def prepare_request(
    request: HandoverRequest, caller: Caller, settings: Settings, ports: Ports
) -> Prepared:
    """`prepare` for arguments that are understood already."""
    folder, chain_id = place(request, caller, ports)
    try:
        rehearsed = rehearse(
            request, caller, peek(folder, chain_id, ports), settings, folder, ports
        )
        with opened(
            HandoverFolder.open(str(folder.root), create=True), chain_id, settings, ports
        ) as book:
            resume(book, caller)
            first = rehearsed if not book.chain.handovers else None
            found = first or plan(request, caller, book.chain, settings, folder, ports)
            return (
                again(book, found) if isinstance(found, Prepared) else record(book, found, caller)
            )
    except (RefusedError, RequestError) as error:
        note_refusal_if_possible(folder, chain_id, error, caller, settings, ports)
        raise


def preview(args: Mapping[Any, Any], caller: Caller, settings: Settings, ports: Ports) -> Prepared:
    """What `prepare` would answer, without writing anything. Raises HandoverError."""
    request = parse(args, settings, mask=ports.mask, project_root=caller.project_root)
    folder, chain_id = place(request, caller, ports)
    chain = peek(folder, chain_id, ports)
    if caller.resume:
        chain = replace(chain, stop="", fresh_from=len(chain.handovers))
    found = plan(request, caller, chain, settings, folder, ports)
    if isinstance(found, Prepared):
        return found
    path = briefing_path(folder, found.packet)
    exists = path.exists()
    return Prepared(found, Written(path, exists, not exists, path.stat().st_size if exists else 0))


def place(request: HandoverRequest, caller: Caller, ports: Ports) -> tuple[HandoverFolder, str]:
    """Where the chain is kept: inside a handover it is that handover's chain, whatever the arguments say."""
    folder = HandoverFolder.open(
        caller.project_root if caller.inside and caller.project_root else request.project_root
    )
    if not (caller.inside or caller.continues):
        return folder, folder.chain_id(request.topic, caller.chat_id)
    chain = chain_holding(folder, caller.inside or caller.continues, ports)
    if chain is None:
        raise RefusedError(
            f"no handover {caller.inside or caller.continues} is recorded in {folder.path}",
            "check the id",
            "nothing_open",
        )
    return folder, chain.id


def rehearse(
    request: HandoverRequest,
    caller: Caller,
    chain: Chain,
    settings: Settings,
    folder: HandoverFolder,
    ports: Ports,
) -> Plan | Prepared | None:
    """The plan on a chain that holds no handover yet, so that a refusal comes before any folder or file is made."""
    return None if chain.handovers else plan(request, caller, chain, settings, folder, ports)


def plan(
    request: HandoverRequest,
    caller: Caller,
    chain: Chain,
    settings: Settings,
    folder: HandoverFolder,
    ports: Ports,
) -> Plan | Prepared:
    """The handover that this call means, or the one that it repeats. Decides and shapes; writes nothing."""
    specialist = settings.roster.find(request.specialist_profile)
    sender = sender_of(chain, caller)
    check_sender(sender, caller, specialist, settings)
    rules.check_stop(chain)
    check_answers(request.answers, chain)
    rules.check_goal(chain, sender, request.goal)
    call = rules.second_call(
        chain, sender, specialist.profile, fingerprint(request), leg=bool(caller.continues)
    )
    if call in ("repeat", "repeat_open"):
        return repeated(request, specialist, chain, folder, ports)
    rules.check_depth(chain, sender, settings)
    if call == "new":
        rules.check_hops(chain, settings)
    look = looking(folder)
    built = build(request, specialist, sender, caller, chain, look, ports)
    check_packet(built.packet, specialist, caller, chain, settings)
    planned = packaged(
        request,
        specialist,
        built,
        folder,
        ports,
        artifact_status=artifact_status(folder, built.packet, look),
        notices=notices(chain),
        earlier=earlier_work(chain, built.packet),
        keeps_room=True,
    )
    old = chain.newest_to(specialist.profile) if call == "supersede" else None
    told = (*advice(built.packet, settings, ports), *artifact_warnings(folder, built.packet, look))
    return replace(planned, supersedes=old, warnings=(*planned.warnings, *told))


def sender_of(chain: Chain, caller: Caller) -> Sender:
    return Sender(caller.sender, chain.find(caller.inside) if caller.inside else None)


def check_sender(
    sender: Sender, caller: Caller, specialist: Specialist, settings: Settings
) -> None:
    """Who hands over is who works in the handover, and may hand over along the graph. Raises RefusedError."""
    if sender.inside and not caller.continues and sender.inside.state in CLOSED:
        raise RefusedError(
            f"{sender.inside.id} is closed ({sender.inside.state}): nothing of it can be handed over",
            "answer your superior with response; it hands over what is left",
            "nothing_open",
        )
    if (
        sender.inside
        and not caller.continues
        and normal(sender.inside.receiver) != normal(sender.profile)
    ):
        raise RefusedError(
            f"{sender.profile} does not work in {sender.inside.id}, {sender.inside.receiver} does",
            "name the right sender",
            "graph",
        )
    rules.check_route(settings.roster, sender.profile, specialist)


def check_answers(handover_id: str, chain: Chain) -> None:
    """Only what this chain asked can be answered. Raises RefusedError (unknown_reference)."""
    if handover_id and chain.find(handover_id) is None:
        asked = ", ".join(item.id for item in chain.handovers if item.state == "clarify")
        hint = (
            f"waiting for an answer here: {asked}"
            if asked
            else "nothing of this topic waits for an answer: leave answers out"
        )
        raise RefusedError(
            f"answers names {handover_id}, which is no handover of this topic",
            hint,
            "unknown_reference",
        )


def check_packet(
    packet: HandoverPacket, specialist: Specialist, caller: Caller, chain: Chain, settings: Settings
) -> None:
    """Before responsibility may move: something new, and all that the receiver insists on. Raises RefusedError."""
    newest = chain.newest_to(specialist.profile)
    news = merge.news(packet, newest.known) if newest else ("first",)
    if last := chain.find(caller.continues):
        rules.check_leg(chain, settings.roster, last, specialist, news)
    else:
        rules.check_news(chain, specialist.profile, news)
    rules.check_required(packet, specialist)


def record(book: ChainBook, planned: Plan, caller: Caller) -> Prepared:
    """Snapshot, then briefing: from the snapshot on a crash loses nothing."""
    request, packet, package = planned.request, planned.packet, planned.package
    before = [about(packet, "decline_lifted", **asdict(lift)) for lift in planned.built.lifts]
    if planned.supersedes:
        before.append(
            about(planned.supersedes.packet, "superseded", by=packet.identity.handover_id)
        )
    if planned.built.widened:
        before.append(about(packet, "refused", code="authority", asked=list(planned.built.widened)))
    snapshot = book.snapshot(
        about(
            packet,
            "prepared",
            packet=packet.to_json(),
            fingerprint=fingerprint(request),
            person_messages=caller.person_count,
            answers=request.answers,
            continues=caller.continues,
            limit=request.max_context_tokens,
            overflow=request.overflow,
            estimated=planned.estimated_tokens,
            delivered=package.tokens,
            omitted=list(package.omitted),
            turns=len(packet.recent_turns),
            include_recent_turns=request.include_recent_turns,
            **(
                {"authority_asked": {k: list(v) for k, v in asked.items()}}
                if (asked := planned.built.asked)
                else {}
            ),
            token_counter=planned.token_counter,
            **({"warnings": list(planned.warnings)} if planned.warnings else {}),
        ),
        before=tuple(before),
    )
    check_no_turns(entry_of(snapshot), entry_of(without_turns(snapshot)))
    written = book.brief(snapshot, check_append_only)
    foreign = book.unaccounted_bytes(written.path.name)
    told = (
        [f"{foreign:,} bytes of the briefing were not written by this installation"]
        if foreign
        else []
    )
    told += (
        [f"an earlier entry is still missing in its briefing: {book.unhealed}"]
        if book.unhealed
        else []
    )
    return Prepared(replace(planned, warnings=(*planned.warnings, *told, *book.unread())), written)


def repeated(
    request: HandoverRequest,
    specialist: Specialist,
    chain: Chain,
    folder: HandoverFolder,
    ports: Ports,
) -> Prepared:
    """The handover that was prepared, or is under way, by the same call, with the limits that it travels with."""
    found = chain.newest_to(specialist.profile)
    assert found is not None
    starts = request.start and found.state == "prepared"
    asked, recorded = limits_asked(request), limits_of(found)
    look = looking(folder)
    planned = packaged(
        limited(request, asked if starts else recorded),
        specialist,
        merge.Built(with_turns(found.packet, asked if starts else recorded)),
        folder,
        ports,
        artifact_status=artifact_status(folder, found.packet, look),
        notices=notices(chain),
        earlier=earlier_work(chain, found.packet),
        keeps_room=starts,
    )
    path = briefing_path(folder, found.packet)
    warnings = (
        *map(str, found.events[0].data.get("warnings", ())),
        *request.warnings,
        *artifact_warnings(folder, found.packet, look),
        *limit_warnings(asked, recorded, starts=starts, open=found.is_open),
    )
    planned = replace(planned, warnings=tuple(dict.fromkeys(warnings)))
    return Prepared(planned, Written(path, True, False, 0), state=found.state, repeated=True)


def again(book: ChainBook, prepared: Prepared) -> Prepared:
    """The same handover as its briefing stands now; nothing is written."""
    path = prepared.briefing.path
    if path.exists():
        return replace(prepared, briefing=Written(path, True, False, path.stat().st_size))
    warning = "the briefing file is gone; the ledger still holds all of it"
    planned = replace(prepared.plan, warnings=(*prepared.plan.warnings, warning))
    return replace(prepared, plan=planned, briefing=Written(path, False, False, 0))


def resume(book: ChainBook, caller: Caller) -> None:
    """Lift the chain's stop when the person wrote since, or says so on the command line."""
    chain = book.chain
    if chain.stop and (caller.resume or caller.person_count > chain.stop_mark):
        by = "command line" if caller.resume else "person"
        book.write(draft("resumed", chain=chain.id, sender=caller.sender, by=by))


def note_not_understood(
    args: Mapping[Any, Any], error: RequestError, caller: Caller, settings: Settings, ports: Ports
) -> None:
    """Record the refusal of a call that is not understood in the chain it is about, where its topic and project are."""
    given, _ = named(args, ("topic", "project_root"), ports.mask)
    somebody = settings.roster.entries[0].profile
    try:
        request = parse(
            {"specialist_profile": somebody, **given},
            settings,
            mask=ports.mask,
            project_root=caller.project_root,
        )
        folder, chain_id = place(request, caller, ports)
    except HandoverError as unplaced:
        raise error from unplaced  # about no chain that could be told
    note_refusal_if_possible(folder, chain_id, error, caller, settings, ports)


def note_refusal_if_possible(
    folder: HandoverFolder,
    chain_id: str,
    error: HandoverError,
    caller: Caller,
    settings: Settings,
    ports: Ports,
) -> None:
    try:
        note_refusal(folder, chain_id, error, caller, settings, ports)
    except RecordError as unwritten:
        raise error from unwritten  # the refusal is what the caller must hear


def note_refusal(
    folder: HandoverFolder,
    chain_id: str,
    error: HandoverError,
    caller: Caller,
    settings: Settings,
    ports: Ports,
) -> None:
    """Record a refusal where a ledger exists; one that stops the chain also as `escalated`, once."""
    if not peek(folder, chain_id, ports).handovers:
        return
    with opened(folder, chain_id, settings, ports) as book:
        events = [
            draft(
                "refused",
                chain=chain_id,
                sender=caller.sender,
                code=error.code,
                why=ports.mask(error.message),
            )
        ]
        if isinstance(error, RefusedError) and error.stops and not book.chain.stop:
            events.append(
                draft(
                    "escalated",
                    chain=chain_id,
                    sender=caller.sender,
                    why=error.stops,
                    person_messages=caller.person_count,
                )
            )
        book.write(*events)


def advice(packet: HandoverPacket, settings: Settings, ports: Ports) -> tuple[str, ...]:
    """What would have made the handover better; it travels all the same."""
    found = []
    if not (packet.goal or packet.summary or packet.decisions):
        found.append(
            "cold handover: no goal, summary or decisions; the specialist will have to ask"
        )
    most = len(packet.summary.encode())  # of tokens: none is less than a byte
    if most > settings.summary_warning_tokens < (tokens := ports.counter().count(packet.summary)):
        found.append(
            f"the summary has {tokens} tokens, {settings.summary_warning_tokens} are recommended:"
            " put what must survive into fields"
        )
    return tuple(found)


def fingerprint(request: HandoverRequest) -> str:
    """What makes two calls the same: sha256 of the understood arguments without `NOT_IN_FINGERPRINT`."""
    given = {
        item.name: getattr(request, item.name)
        for item in fields(request)
        if item.name not in NOT_IN_FINGERPRINT
    }
    newest = request.recent_turns[-1:] if request.recent_turns else ()  # how many travel is a limit
    given["recent_turns"] = [[turn.role, turn.text] for turn in newest]
    return hashlib.sha256(canonical(given).encode()).hexdigest()


def check_source_untouched(before: object, after: object) -> None:
    """Compaction makes a new text and changes nothing stored, also while a specialist runs; both are marks of the source."""
    if before != after:
        raise MemoryRuleError("a text was made and what it was made from changed")


def check_append_only(before: Footprint, after: Footprint) -> None:
    """Nothing on disk is overwritten: what a file held before, it holds after."""
    if before != after:
        raise MemoryRuleError("a record was changed instead of appended to")


def check_no_turns(entry: bytes, entry_without_turns: bytes) -> None:
    """A briefing is no chat log: an entry is the same whether or not turns travelled."""
    if entry != entry_without_turns:
        raise MemoryRuleError("a briefing entry depends on the turns of the chat")

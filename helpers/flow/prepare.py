"""The handover, from a sloppy call to a recorded, bounded package. Read this first.

How it arrives is told in `deliver`, the way back in `receive`, how it ends in `close`, how it moves
on in `onward`. The packet is made in `packet`, its text in `package`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..arguments.handover import HandoverRequest, parse
from ..chain import rules
from ..chain.chain import Chain, Handover
from ..records import shelf
from ..records.book import Book, Place, briefing_path, open_chain, refusals_recorded
from ..records.briefing import Written
from ..records.folder import HandoverFolder
from ..records.ledger import canonical
from ..text.quote import one_line
from ..values import events
from ..values.call import Call
from ..values.errors import HandoverError, RequestError
from ..values.events import DeclineLifted, State, about
from ..values.packet import HandoverPacket
from ..values.roster import Specialist
from .artifacts import Files
from .package import Limits, Packed, earlier_work, notices, package_of, record_notices, with_turns
from .packet import NextPacket, next_packet, sender_of
from .place import place, record_refusal, refusal_of

# What does not make a call another call (docs/architecture.md, A second call).
_NOT_IN_FINGERPRINT = frozenset({"handover_reason", "recent_turns"})


@dataclass(frozen=True)
class Prepared:
    """A handover that is recorded and ready to be started; `repeated` when it had been before."""

    packet: HandoverPacket
    specialist: Specialist
    packed: Packed
    limits: Limits
    briefing: Written
    start: bool
    answers: str
    project_root: str
    warnings: tuple[str, ...] = ()
    lifts: tuple[DeclineLifted, ...] = ()
    state: State = "prepared"
    repeated: bool = False


@dataclass(frozen=True)
class Repeat:
    """The call means this handover, which stands already."""

    handover: Handover


@dataclass(frozen=True)
class New:
    """The call means a new handover, perhaps in place of one that nobody started."""

    supersedes: Handover | None = None


@dataclass(frozen=True)
class Made:
    """A new handover that may be recorded; `fingerprint` is that of its call, `near` are warnings
    about a topic like this one."""

    next: NextPacket
    packed: Packed
    fingerprint: str
    supersedes: Handover | None = None
    near: tuple[str, ...] = ()

    @property
    def packet(self) -> HandoverPacket:
        return self.next.packet


def prepare(args: Mapping[Any, Any], call: Call) -> Prepared:
    """Check a call, build its packet and package, and record them: ledger first, then briefing.

    Raises HandoverError. A refused call makes no file; a ledger that exists gets a `refused` event.
    """
    try:
        request = parse(args, call)
    except RequestError as error:
        record_misunderstood(args, error, call)
        raise
    return prepare_request(request, call)


def prepare_request(request: HandoverRequest, call: Call) -> Prepared:
    """`prepare` for arguments that are understood already."""
    where = place_of(request, call)
    with open_chain(where, call) as book:
        with refusals_recorded(book, request.specialist_profile):
            decided = decide(request, book, call)
        if not isinstance(decided, Prepared):
            decided = record(book, decided, request, call)
        return replace(decided, warnings=(*where.warnings, *decided.warnings))


def decide(request: HandoverRequest, book: Book | Sketch, call: Call) -> Prepared | Made:
    """The handover that the call repeats, or a new one, ready to be recorded. Raises RefusedError,
    and RequestError where its package cannot be kept within its limit."""
    mark = fingerprint(request)
    match meaning(request, mark, book.chain, call):
        case Repeat(handover):
            return again(book, handover, request, call)
        case New(supersedes):
            made = next_packet(request, book.chain, Files(book.folder), call)
            check_packet(made.packet, book.chain, call)
            packed = packed_for_the_sender(made, request, book, call)
            near = near_topics(request, book, call)
            return Made(made, packed, mark, supersedes, near)


def preview(args: Mapping[Any, Any], call: Call) -> Prepared:
    """What `prepare` would answer, without writing anything. Raises HandoverError."""
    request = parse(args, call)
    where = place_of(request, call)
    chain = shelf.peek(where.folder, where.chain_id, call)
    if call.caller.resume:
        chain = chain.after_resume()
    decided = decide(request, Sketch(where.folder, chain), call)
    if isinstance(decided, Prepared):
        return decided
    briefing = briefing_now(where.folder, decided.packet)
    would_be = replace(briefing, newly_created=not briefing.existed_before)
    would_say = prepared_of(decided, request, would_be, call)
    return replace(would_say, warnings=(*would_say.warnings, *record_notices(chain)))


def briefing_now(folder: HandoverFolder, packet: HandoverPacket) -> Written:
    """A handover's briefing as it stands, with nothing written to it."""
    path = briefing_path(folder, packet)
    exists = path.exists()
    return Written(path, exists, False, path.stat().st_size if exists else 0)


@dataclass(frozen=True)
class Sketch:
    """A chain that is only looked at: what of a `Book` decides, and nothing that writes."""

    folder: HandoverFolder
    chain: Chain


def place_of(request: HandoverRequest, call: Call) -> Place:
    return place(request.topic, request.project_root, call)


def meaning(request: HandoverRequest, mark: str, chain: Chain, call: Call) -> Repeat | New:
    """What this call means beside what the chain holds: a new handover, the one that it repeats, or
    one in the place of another. Raises RefusedError."""
    caller, settings = call.caller, call.settings
    specialist = settings.roster.find(request.specialist_profile)
    sender = sender_of(chain, call)
    rules.check_sender(sender, caller, specialist, settings.roster)
    rules.check_stop(chain, settings)
    rules.check_answers(chain, request.answers, specialist.profile)
    rules.check_goal(chain, sender, request.given.goal)
    newest = chain.newest_to(specialist.profile)
    if newest is not None and means_start(request, newest, caller.inside):
        return Repeat(newest)
    second = rules.second_call(chain, sender, specialist.profile, mark, leg=bool(caller.continues))
    if newest is not None and second in ("repeat", "repeat_open"):
        return Repeat(newest)
    rules.check_depth(chain, sender, settings)
    rules.check_rounds(call.ports.rounds.made, settings)
    if second == "supersede":
        return New(newest)
    rules.check_hops(chain, settings)
    return New()


def means_start(request: HandoverRequest, newest: Handover, inside: str) -> bool:
    """`start` with nothing but the receiver and the topic: what stands prepared shall be started,
    or waited for."""
    if not request.start or request.answers or newest.parent != inside:
        return False
    says = request.given.model_dump(exclude={"return_condition"}, exclude_defaults=True)
    return not says and (newest.state == "prepared" or newest.is_open)


def check_packet(packet: HandoverPacket, chain: Chain, call: Call) -> None:
    """Before responsibility may move: something new, and all that the receiver insists on."""
    specialist = call.settings.roster.find(packet.identity.receiver)
    rules.check_packet(packet, chain, specialist, call.settings.roster, call.caller.continues)


def near_topics(request: HandoverRequest, book: Book | Sketch, call: Call) -> tuple[str, ...]:
    """For the first handover on a topic: another spelling may have been meant, whose chain holds
    decisions and declines."""
    if book.chain.handovers:
        return ()
    near = shelf.near_topics(book.folder, request.topic, call.caller.chat_id, call)
    if not near:
        return ()
    topics = ", ".join(f'"{one_line(topic, 80)}"' for topic in near)
    return (
        f"a new topic; near to it is {topics} in this chat: use that very topic to go on with it",
    )


def packed_for_the_sender(
    made: NextPacket, request: HandoverRequest, book: Book | Sketch, call: Call
) -> Packed:
    """The package as its sender sees it, with room kept for files that change until delivery."""
    return package_of(
        made.packet,
        limits_asked(request),
        book.folder,
        call,
        artifacts=made.files.status(made.packet),
        notices=notices(book.chain, made.tools),
        earlier=earlier_work(book.chain, made.packet),
        keeps_room=True,
    )


def record(book: Book, made: Made, request: HandoverRequest, call: Call) -> Prepared:
    """Snapshot, then briefing: from the snapshot on a crash loses nothing."""
    packet, packed = made.packet, made.packed
    prepared = prepared_of(made, request, briefing_now(book.folder, packet), call)
    before = [about(packet, lift) for lift in made.next.lifts]
    if made.supersedes is not None:
        replaced = events.Superseded(by=packet.identity.handover_id)
        before.append(about(made.supersedes.packet, replaced))
    if made.next.widened:
        before.append(about(packet, events.Refused(code="authority", asked=made.next.widened)))
    snapshot = events.Prepared(
        packet=packet,
        fingerprint=made.fingerprint,
        person_messages=call.caller.person_count,
        answers=request.answers,
        continues=call.caller.continues,
        came=call.caller.came or None,
        limit=request.max_context_tokens,
        overflow=request.overflow,
        estimated=packed.estimated_tokens,
        delivered=packed.package.tokens,
        omitted=packed.package.omitted,
        turns=len(packet.recent_turns),
        include_recent_turns=request.include_recent_turns,
        authority_asked=made.next.authority_asked,
        tools=made.next.tools,
        token_counter=packed.counter,
        warnings=prepared.warnings,
        contradicted=made.next.contradicted,
    )
    event = book.snapshot(about(packet, snapshot), before=tuple(before))
    written = book.brief(event)
    told = record_warnings(book, packet)
    return replace(prepared, briefing=written, warnings=(*prepared.warnings, *told))


def prepared_of(made: Made, request: HandoverRequest, briefing: Written, call: Call) -> Prepared:
    warnings = (
        *request.warnings,
        *made.near,
        *made.next.warnings,
        *advice(made.packet, call),
        *made.next.files.warnings(made.packet),
    )
    return Prepared(
        made.packet,
        call.settings.roster.find(request.specialist_profile),
        made.packed,
        limits_asked(request),
        briefing,
        start=request.start,
        answers=request.answers,
        project_root=request.project_root,
        warnings=tuple(dict.fromkeys(warnings)),
        lifts=made.next.lifts,
    )


def record_warnings(book: Book, packet: HandoverPacket) -> tuple[str, ...]:
    """What the caller should know of the record itself."""
    account = book.account(packet)
    warnings = [*account.lines(), *record_notices(book.chain)]
    if book.unhealed:
        warnings.append(f"an earlier entry is still missing in its briefing: {book.unhealed}")
    return (*warnings, *account.unread)


def again(
    book: Book | Sketch, handover: Handover, request: HandoverRequest, call: Call
) -> Prepared:
    """The handover that was prepared, or is under way, by the same call; nothing is written.

    It travels with its recorded limits; a call with other ones is told so.
    """
    files, prepared = Files(book.folder), handover.prepared
    told = record_notices(book.chain)
    asked, recorded = limits_asked(request), limits_of(handover)
    packed = package_of(
        with_turns(handover.packet, recorded),
        recorded,
        book.folder,
        call,
        artifacts=files.status(handover.packet),
        notices=notices(book.chain, prepared.tools),
        earlier=earlier_work(book.chain, handover.packet),
    )
    warnings = [*prepared.warnings, *request.warnings, *files.warnings(handover.packet), *told]
    if asked != recorded:
        warnings.append(
            f"this handover travels with {recorded}; the limits of this call ({asked}) were not"
            " taken"
        )
    briefing = briefing_now(book.folder, handover.packet)
    if not briefing.existed_before:
        warnings.append("the briefing file is gone; the ledger still holds all of it")
    return Prepared(
        handover.packet,
        call.settings.roster.find(request.specialist_profile),
        packed,
        recorded,
        briefing,
        start=request.start,
        answers=request.answers,
        project_root=request.project_root,
        warnings=tuple(dict.fromkeys(warnings)),
        state=handover.state,
        repeated=True,
    )


def limits_asked(request: HandoverRequest) -> Limits:
    return Limits(request.max_context_tokens, request.overflow, request.include_recent_turns)


def limits_of(handover: Handover) -> Limits:
    """The limits that a handover was prepared with."""
    prepared = handover.prepared
    turns = prepared.include_recent_turns
    if turns is None:
        turns = len(handover.packet.recent_turns)
    return Limits(prepared.limit, prepared.overflow, turns)


def record_misunderstood(args: Mapping[Any, Any], error: RequestError, call: Call) -> None:
    """Record the refusal of a call that is not understood in the chain that it is about."""
    try:
        record_refusal(refusal_of(args, error, call), call)
        error.recorded = True
    except HandoverError as unplaced:
        raise error from unplaced  # about no chain that could be told


def advice(packet: HandoverPacket, call: Call) -> list[str]:
    """What would have made the handover better; it travels all the same."""
    warnings = []
    if not (packet.goal or packet.summary or packet.decisions):
        warnings.append(
            "cold handover: no goal, summary or decisions; the specialist will have to ask"
        )
    recommended = call.settings.summary_warning_tokens
    if len(packet.summary.encode()) > recommended:  # no token is less than a byte
        tokens = call.ports.counter().count(packet.summary)
        if tokens > recommended:
            warnings.append(
                f"the summary has {tokens} tokens, {recommended} are recommended:"
                " put what must survive into fields"
            )
    return warnings


def fingerprint(request: HandoverRequest) -> str:
    """What makes two calls the same: sha256 of what was understood, without limits and reason.

    Of the turns only the newest counts, because how many travel is a limit.
    """
    given = request.given.model_dump(
        mode="json", exclude_unset=True, exclude=set(_NOT_IN_FINGERPRINT)
    )
    newest = [[turn.role, turn.text] for turn in request.given.recent_turns[-1:]]
    means = {
        "specialist_profile": request.specialist_profile,
        "topic": request.topic,
        "answers": request.answers,
        "given": given,
        "recent_turns": newest,
    }
    return hashlib.sha256(canonical(means).encode()).hexdigest()

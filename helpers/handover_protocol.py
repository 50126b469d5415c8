"""The handover, from a sloppy call to a recorded, bounded package. Read this first.

Three memory-protection rules (seed 001) are checked here by name: `check_source_untouched`, `check_append_only` and
`check_no_turns`. How it arrives is told in `delivery`, the way back in `reply_protocol`.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from usr.plugins.software_orchestrator.helpers import budget, inherit, policy, render, resources
from usr.plugins.software_orchestrator.helpers.briefing_file import Written
from usr.plugins.software_orchestrator.helpers.chain import CLOSED, Chain, Handover
from usr.plugins.software_orchestrator.helpers.chain_book import (
    ChainBook,
    about,
    chain_holding,
    entry_of,
    opened,
    peek,
    without_turns,
)
from usr.plugins.software_orchestrator.helpers.config import Settings
from usr.plugins.software_orchestrator.helpers.errors import (
    HandoverError,
    MemoryRuleError,
    RecordError,
    RefusedError,
    RequestError,
)
from usr.plugins.software_orchestrator.helpers.event import draft
from usr.plugins.software_orchestrator.helpers.masking import safe
from usr.plugins.software_orchestrator.helpers.packet import Authority, HandoverPacket, Identity, Turn
from usr.plugins.software_orchestrator.helpers.paths import Facts, Footprint, HandoverFolder, artifact_facts, check_artifact
from usr.plugins.software_orchestrator.helpers.policy import Sender
from usr.plugins.software_orchestrator.helpers.ports import Caller, Ports, utc
from usr.plugins.software_orchestrator.helpers.request import HandoverRequest, named, parse
from usr.plugins.software_orchestrator.helpers.roster import Specialist, normal
from usr.plugins.software_orchestrator.helpers.state_store import canonical

# What does not make a call another call (docs/architecture.md, A second call).
NOT_IN_FINGERPRINT = frozenset(
    {"start", "max_context_tokens", "include_recent_turns", "overflow", "handover_reason", "project_root", "warnings"}
)


Look = Callable[[str], Facts]


@dataclass(frozen=True)
class Limits:
    """How much of a handover travels: at most so many tokens and turns; `overflow` "whole" lets a larger package through."""

    tokens: int
    overflow: Literal["fit", "whole"]
    turns: int

    def __str__(self) -> str:
        return f"max_context_tokens {self.tokens}, overflow {self.overflow}, include_recent_turns {self.turns}"


@dataclass(frozen=True)
class Plan:
    """A handover that may be recorded: its packet, and the package made from it."""

    request: HandoverRequest
    specialist: Specialist
    built: inherit.Built
    package: budget.Package
    estimated_tokens: int
    token_counter: str
    warnings: tuple[str, ...]
    supersedes: Handover | None = None

    @property
    def packet(self) -> HandoverPacket:
        return self.built.packet

    @property
    def limits(self) -> Limits:
        return limits_asked(self.request)


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


def prepare_request(request: HandoverRequest, caller: Caller, settings: Settings, ports: Ports) -> Prepared:
    """`prepare` for arguments that are understood already."""
    folder, chain_id = place(request, caller, ports)
    try:
        rehearsed = rehearse(request, caller, peek(folder, chain_id, ports), settings, folder, ports)
        with opened(HandoverFolder.open(str(folder.root), create=True), chain_id, settings, ports) as book:
            resume(book, caller)
            first = rehearsed if not book.chain.handovers else None
            found = first or plan(request, caller, book.chain, settings, folder, ports)
            return again(book, found) if isinstance(found, Prepared) else record(book, found, caller)
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
    folder = HandoverFolder.open(caller.project_root if caller.inside and caller.project_root else request.project_root)
    if not (caller.inside or caller.continues):
        return folder, folder.chain_id(request.topic, caller.chat_id)
    chain = chain_holding(folder, caller.inside or caller.continues, ports)
    if chain is None:
        raise RefusedError(
            f"no handover {caller.inside or caller.continues} is recorded in {folder.path}", "check the id", "nothing_open"
        )
    return folder, chain.id


def rehearse(
    request: HandoverRequest, caller: Caller, chain: Chain, settings: Settings, folder: HandoverFolder, ports: Ports
) -> Plan | Prepared | None:
    """The plan on a chain that holds no handover yet, so that a refusal comes before any folder or file is made."""
    return None if chain.handovers else plan(request, caller, chain, settings, folder, ports)


def plan(
    request: HandoverRequest, caller: Caller, chain: Chain, settings: Settings, folder: HandoverFolder, ports: Ports
) -> Plan | Prepared:
    """The handover that this call means, or the one that it repeats. Decides and shapes; writes nothing."""
    specialist = settings.roster.find(request.specialist_profile)
    sender = sender_of(chain, caller)
    check_sender(sender, caller, specialist, settings)
    policy.check_stop(chain)
    check_answers(request.answers, chain)
    policy.check_goal(chain, sender, request.goal)
    call = policy.second_call(chain, sender, specialist.profile, fingerprint(request), leg=bool(caller.continues))
    if call in ("repeat", "repeat_open"):
        return repeated(request, specialist, chain, folder, ports)
    policy.check_depth(chain, sender, settings)
    if call == "new":
        policy.check_hops(chain, settings)
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


def check_sender(sender: Sender, caller: Caller, specialist: Specialist, settings: Settings) -> None:
    """Who hands over is who works in the handover, and may hand over along the graph. Raises RefusedError."""
    if sender.inside and not caller.continues and sender.inside.state in CLOSED:
        raise RefusedError(
            f"{sender.inside.id} is closed ({sender.inside.state}): nothing of it can be handed over",
            "answer your superior with response; it hands over what is left",
            "nothing_open",
        )
    if sender.inside and not caller.continues and normal(sender.inside.receiver) != normal(sender.profile):
        raise RefusedError(
            f"{sender.profile} does not work in {sender.inside.id}, {sender.inside.receiver} does",
            "name the right sender",
            "graph",
        )
    policy.check_route(settings.roster, sender.profile, specialist)


def check_answers(handover_id: str, chain: Chain) -> None:
    """Only what this chain asked can be answered. Raises RefusedError (unknown_reference)."""
    if handover_id and chain.find(handover_id) is None:
        asked = ", ".join(item.id for item in chain.handovers if item.state == "clarify")
        hint = f"waiting for an answer here: {asked}" if asked else "nothing of this topic waits for an answer: leave answers out"
        raise RefusedError(f"answers names {handover_id}, which is no handover of this topic", hint, "unknown_reference")


def build(
    request: HandoverRequest,
    specialist: Specialist,
    sender: Sender,
    caller: Caller,
    chain: Chain,
    look: Look,
    ports: Ports,
) -> inherit.Built:
    """The packet: what the chain holds, what the call adds, who hands what to whom, and what the receiver may do."""
    identity = Identity(
        handover_id=ports.new_id("ho"),
        chain_id=chain.id,
        hop=chain.next_hop,
        parent=caller.inside,
        depth=sender.depth(chain),
        sender=sender.profile,
        receiver=specialist.profile,
        created_at=utc(ports.clock()),
    )
    evidence = inherit.Evidence(
        since=lambda field: caller.said_since(chain.declined.get(field, caller.person_count)),
        when=chain.time_of,
        lifts=caller.lifts,
        artifact=lambda path: (look(path).sha256, look(path).size),
    )
    built = inherit.merge(chain.newest, request, identity, evidence)
    turns, told = turns_of(request, caller, ports)
    told_authority = request.authority if asks(request) else inherited_authority(chain, caller)
    authority, widened = inherit.narrowed(giver(chain, sender, caller, specialist), told_authority)
    widened = widened if asks(request) else ()
    authority = inherit.bounded(authority, specialist.authority)
    packet = built.packet.model_copy(
        update={
            "topic": sender.inside.packet.topic if sender.inside else request.topic,
            "summary": request.summary,
            "user_state": request.user_state,
            "recent_turns": turns,
            "next_action": request.next_action,
            "return_condition": request.return_condition,
            "handover_reason": request.handover_reason,
            "authority": authority,
        }
    )
    warnings = [*request.warnings, *built.warnings]
    warnings += told
    warnings += [f"authority narrowed: {', '.join(widened)} is not {sender.profile}'s to give"] if widened else []
    return replace(built, packet=packet, warnings=tuple(warnings), widened=widened, asked=told_authority)


def turns_of(request: HandoverRequest, caller: Caller, ports: Ports) -> tuple[tuple[Turn, ...], tuple[str, ...]]:
    """The newest turns that travel, each once, and warnings of what was told already."""
    wanted = request.include_recent_turns
    given = request.recent_turns if request.recent_turns is not None else caller.turns(wanted)
    newest = tuple(turn for turn in given if turn.text.strip())[-wanted:] if wanted else ()
    cleaned = tuple(Turn(role=turn.role or "user", text=safe(turn.text, ports.mask)[0]) for turn in newest)
    return inherit.told_once(cleaned, request.summary)


def giver(chain: Chain, sender: Sender, caller: Caller, specialist: Specialist) -> Authority:
    """Whose authority bounds the receiver's: the sender's own, and at the root what the roster's entry says."""
    last = chain.find(caller.continues) or sender.inside
    return last.packet.authority if last else specialist.authority


def asks(request: HandoverRequest) -> bool:
    """Whether the call says what the receiver may do."""
    return bool(request.authority and any(request.authority.values()))


def inherited_authority(chain: Chain, caller: Caller) -> Mapping[str, tuple[str, ...]] | None:
    """What the newest handover from the same place was given in words; what a receiver's own entry took away is not passed on."""
    for item in reversed(chain.handovers):
        told = item.events[0].data.get("authority_asked")
        if item.packet.identity.parent == caller.inside and told:
            return {name: tuple(map(str, told.get(name, ()))) for name in ("granted", "denied")}
    return None


def check_packet(packet: HandoverPacket, specialist: Specialist, caller: Caller, chain: Chain, settings: Settings) -> None:
    """Before responsibility may move: something new, and all that the receiver insists on. Raises RefusedError."""
    newest = chain.newest_to(specialist.profile)
    news = inherit.news(packet, newest.known) if newest else ("first",)
    if last := chain.find(caller.continues):
        policy.check_leg(chain, settings.roster, last, specialist, news)
    else:
        policy.check_news(chain, specialist.profile, news)
    policy.check_required(packet, specialist)


def packaged(
    request: HandoverRequest,
    specialist: Specialist,
    built: inherit.Built,
    folder: HandoverFolder,
    ports: Ports,
    *,
    artifact_status: Mapping[str, str],
    notices: tuple[str, ...] = (),
    earlier: tuple[tuple[str, str], ...] = (),
    keeps_room: bool = False,
) -> Plan:
    """The text for the specialist: all that was asked to travel, fitted into the limit when it is larger.

    `artifact_status` is how each artifact is now; with `keeps_room` there must be room for one line on those that change.
    """
    packet, counter, limit = built.packet, ports.counter(), request.max_context_tokens
    path = briefing_path(folder, packet)

    def parts(title_chars: int, artifact_counts: str = "") -> tuple[render.Part, ...]:
        found = render.package_parts(
            packet,
            head=resources.text("package_head"),
            foot=f"briefing: {render.visible(str(path)).replace(chr(10), chr(92) + 'n')}\n{resources.text('package_foot')}",
            notices=notices,
            earlier=earlier,
            title_chars=title_chars,
            artifact_status=artifact_status,
            artifact_counts=artifact_counts,
        )
        return tuple(map(render.inert_part, found))

    package = budget.whole(parts(0), counter.count, likely_tokens=limit)
    estimated = package.tokens
    if request.overflow == "fit":
        check_room(parts, len(packet.artifacts) if keeps_room else 0, limit, counter.count)
        if estimated > limit:
            package = fitted(parts, render.artifact_counts(artifact_status.values()), limit, counter.count)
    return Plan(request, specialist, built, package, estimated, counter.name, built.warnings)


Parts = Callable[[int, str], tuple[render.Part, ...]]
_SHORTER_TITLES = (render.TITLE_CHARS, 40, 24)


def fitted(parts: Parts, artifact_counts: str, limit_tokens: int, count: budget.Count) -> budget.Package:
    """The package within the limit; where only that fits with shorter titles of decisions, then with counted artifacts."""
    where = {"Recent turns": "request_full_history gives them"}
    for counts in dict.fromkeys(("", artifact_counts)):
        for title_chars in _SHORTER_TITLES:
            try:
                fitting = parts(title_chars, counts)
                return budget.fit(fitting, limit_tokens, count, lambda section: where.get(section, "the briefing has all of it"))
            except RequestError as error:
                refusal = error
    raise refusal


def check_room(parts: Parts, artifacts: int, limit_tokens: int, count: budget.Count) -> None:
    """Whatever becomes of its files, a handover can be delivered: there is room for the line that counts them.

    Raises RequestError (limit_not_positive).
    """
    if not artifacts:
        return
    worst = f"{artifacts} of the artifacts not as recorded: {artifacts} changed, {artifacts} gone, {artifacts} outside\n"
    if (needed := budget.least(parts(_SHORTER_TITLES[-1], worst), count)) > limit_tokens:
        raise RequestError(
            f"max_context_tokens must be positive and large enough, got {limit_tokens}: what is never cut needs {needed} tokens,"
            " the line on artifacts that change before delivery included",
            f"set max_context_tokens to {needed} or more, or shorten what is never cut",
            "limit_not_positive",
        )


def record(book: ChainBook, planned: Plan, caller: Caller) -> Prepared:
    """Snapshot, then briefing: from the snapshot on a crash loses nothing."""
    request, packet, package = planned.request, planned.packet, planned.package
    before = [about(packet, "decline_lifted", **asdict(lift)) for lift in planned.built.lifts]
    if planned.supersedes:
        before.append(about(planned.supersedes.packet, "superseded", by=packet.identity.handover_id))
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
            **({"authority_asked": {k: list(v) for k, v in asked.items()}} if (asked := planned.built.asked) else {}),
            token_counter=planned.token_counter,
            **({"warnings": list(planned.warnings)} if planned.warnings else {}),
        ),
        before=tuple(before),
    )
    check_no_turns(entry_of(snapshot), entry_of(without_turns(snapshot)))
    written = book.brief(snapshot, check_append_only)
    foreign = book.unaccounted_bytes(written.path.name)
    told = [f"{foreign:,} bytes of the briefing were not written by this installation"] if foreign else []
    told += [f"an earlier entry is still missing in its briefing: {book.unhealed}"] if book.unhealed else []
    return Prepared(replace(planned, warnings=(*planned.warnings, *told, *book.unread())), written)


def repeated(request: HandoverRequest, specialist: Specialist, chain: Chain, folder: HandoverFolder, ports: Ports) -> Prepared:
    """The handover that was prepared, or is under way, by the same call, with the limits that it travels with."""
    found = chain.newest_to(specialist.profile)
    assert found is not None
    starts = request.start and found.state == "prepared"
    asked, recorded = limits_asked(request), limits_of(found)
    look = looking(folder)
    planned = packaged(
        limited(request, asked if starts else recorded),
        specialist,
        inherit.Built(with_turns(found.packet, asked if starts else recorded)),
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


def limits_asked(request: HandoverRequest) -> Limits:
    return Limits(request.max_context_tokens, request.overflow, request.include_recent_turns)


def limits_of(handover: Handover) -> Limits:
    """The limits that a handover travels with: those of its last delivery, before one those it was prepared with."""
    prepared = handover.events[0].data
    data = next((e.data for e in reversed(handover.events) if e.kind == "delivered" and "limit" in e.data), prepared)
    turns = data.get("include_recent_turns", len(handover.packet.recent_turns))
    return Limits(int(data["limit"]), "whole" if data["overflow"] == "whole" else "fit", int(turns))


def limited(request: HandoverRequest, limits: Limits) -> HandoverRequest:
    return replace(request, max_context_tokens=limits.tokens, overflow=limits.overflow, include_recent_turns=limits.turns)


def with_turns(packet: HandoverPacket, limits: Limits) -> HandoverPacket:
    """The packet with no more of its turns than travel; what was not recorded with it cannot."""
    if len(packet.recent_turns) <= limits.turns:
        return packet
    newest = packet.recent_turns[-limits.turns :] if limits.turns else ()
    return packet.model_copy(update={"recent_turns": newest})


def limit_warnings(asked: Limits, recorded: Limits, *, starts: bool, open: bool) -> tuple[str, ...]:
    """What a repeated call with other limits must know: which count."""
    if asked == recorded:
        return ()
    if not starts:
        how = "it is under way" if open else "with start=true it is delivered with the limits of that call"
        return (f"this handover travels with {recorded}; the limits of this call ({asked}) were not taken: {how}",)
    more = "; turns that were not recorded with it do not travel" if asked.turns > recorded.turns else ""
    return (f"delivered with the limits of this call ({asked}); it was prepared with {recorded}{more}",)


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


def note_not_understood(args: Mapping[Any, Any], error: RequestError, caller: Caller, settings: Settings, ports: Ports) -> None:
    """Record the refusal of a call that is not understood in the chain it is about, where its topic and project are."""
    given, _ = named(args, ("topic", "project_root"), ports.mask)
    somebody = settings.roster.entries[0].profile
    try:
        request = parse({"specialist_profile": somebody, **given}, settings, mask=ports.mask, project_root=caller.project_root)
        folder, chain_id = place(request, caller, ports)
    except HandoverError as unplaced:
        raise error from unplaced  # about no chain that could be told
    note_refusal_if_possible(folder, chain_id, error, caller, settings, ports)


def note_refusal_if_possible(
    folder: HandoverFolder, chain_id: str, error: HandoverError, caller: Caller, settings: Settings, ports: Ports
) -> None:
    try:
        note_refusal(folder, chain_id, error, caller, settings, ports)
    except RecordError as unwritten:
        raise error from unwritten  # the refusal is what the caller must hear


def note_refusal(
    folder: HandoverFolder, chain_id: str, error: HandoverError, caller: Caller, settings: Settings, ports: Ports
) -> None:
    """Record a refusal where a ledger exists; one that stops the chain also as `escalated`, once."""
    if not peek(folder, chain_id, ports).handovers:
        return
    with opened(folder, chain_id, settings, ports) as book:
        events = [draft("refused", chain=chain_id, sender=caller.sender, code=error.code, why=ports.mask(error.message))]
        if isinstance(error, RefusedError) and error.stops and not book.chain.stop:
            events.append(
                draft("escalated", chain=chain_id, sender=caller.sender, why=error.stops, person_messages=caller.person_count)
            )
        book.write(*events)


def earlier_work(chain: Chain, packet: HandoverPacket) -> tuple[tuple[str, str], ...]:
    """For a specialist that comes back to the topic: the note it left, and what is new since."""
    identity = packet.identity
    mine = [item for item in chain.handovers if item.receiver == identity.receiver and item.hop < identity.hop and item.note]
    if not mine:
        return ()
    last = mine[-1]
    told = "\n".join(f"{name}: {text}" for name, text in last.note.items() if isinstance(text, str))
    return (
        (f"Your earlier hand-back (hop {last.hop}, {last.state})", told),
        ("New since then", ", ".join(inherit.news(packet, last.known))),
    )


def notices(chain: Chain) -> tuple[str, ...]:
    """What the receiver must know about the record itself."""
    if not chain.foreign:
        return ()
    return (f"{chain.foreign} events in this chain's ledger are not this installation's; nothing of them was used.",)


def advice(packet: HandoverPacket, settings: Settings, ports: Ports) -> tuple[str, ...]:
    """What would have made the handover better; it travels all the same."""
    found = []
    if not (packet.goal or packet.summary or packet.decisions):
        found.append("cold handover: no goal, summary or decisions; the specialist will have to ask")
    most = len(packet.summary.encode())  # of tokens: none is less than a byte
    if most > settings.summary_warning_tokens < (tokens := ports.counter().count(packet.summary)):
        found.append(
            f"the summary has {tokens} tokens, {settings.summary_warning_tokens} are recommended:"
            " put what must survive into fields"
        )
    return tuple(found)


def briefing_path(folder: HandoverFolder, packet: HandoverPacket) -> Path:
    name = folder.briefing_name(packet.identity.receiver, packet.topic, packet.identity.created_at)
    return folder.briefing_path(name)


def fingerprint(request: HandoverRequest) -> str:
    """What makes two calls the same: sha256 of the understood arguments without `NOT_IN_FINGERPRINT`."""
    given = {item.name: getattr(request, item.name) for item in fields(request) if item.name not in NOT_IN_FINGERPRINT}
    newest = request.recent_turns[-1:] if request.recent_turns else ()  # how many travel is a limit
    given["recent_turns"] = [[turn.role, turn.text] for turn in newest]
    return hashlib.sha256(canonical(given).encode()).hexdigest()


def looking(folder: HandoverFolder) -> Look:
    """What each file of the project is, looked at once."""
    return functools.cache(lambda path: artifact_facts(folder.root, path))


def artifact_status(folder: HandoverFolder, packet: HandoverPacket, look: Look) -> dict[str, str]:
    """How each artifact is now, by path: unchanged, changed, gone, outside, unrecorded."""
    return {item.path: check_artifact(folder.root, item, look(item.path)) for item in packet.artifacts}


_ARTIFACT_TOLD = {
    "changed": "changed since it was recorded",
    "gone": "does not exist",
    "outside": "lies outside the project and is not compared",
    "unrecorded": "is no readable plain file and is not compared",
}


def artifact_warnings(folder: HandoverFolder, packet: HandoverPacket, look: Look) -> tuple[str, ...]:
    """What the sender should know of the files it names, a line for each way in which they are not as it may think."""
    found: dict[str, list[str]] = {}
    for item in packet.artifacts:
        status = check_artifact(folder.root, item, look(item.path))
        told = (look(item.path).missing if status == "unrecorded" else status) if "://" not in item.path else ""
        found.setdefault(told, []).append(render.one_line(item.path, 80))
    return tuple(
        f"artifact {', '.join(names[:5])}{f' and {len(names) - 5} more' if len(names) > 5 else ''}: {told}"
        for word, told in _ARTIFACT_TOLD.items()
        if (names := found.get(word, ()))
    )


def facts(folder: HandoverFolder, path: str) -> tuple[str, int | None]:
    """sha256 and size of an artifact of the project, ("", None) where there is none."""
    found = artifact_facts(folder.root, path)
    return found.sha256, found.size


# the memory-protection rules (seed 001)


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

"""The way of a handover after it was prepared: delivered, accepted, worked on, handed back, moved on, or lost.

Responsibility moves only when the receiver accepts (seed 004); the departing agent's note is its exit action (seed 002).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from usr.plugins.software_orchestrator.helpers import budget, inherit, policy, render
from usr.plugins.software_orchestrator.helpers.chain import Chain, Handover
from usr.plugins.software_orchestrator.helpers.chain_book import ChainBook, about, chain_holding, opened, peek
from usr.plugins.software_orchestrator.helpers.config import Settings
from usr.plugins.software_orchestrator.helpers.errors import RefusedError, RequestError
from usr.plugins.software_orchestrator.helpers.event import Draft, Event
from usr.plugins.software_orchestrator.helpers.handover_protocol import (
    Prepared,
    briefing_path,
    check_source_untouched,
    earlier_work,
    facts,
    notices,
    packaged,
    prepare_request,
    resume,
)
from usr.plugins.software_orchestrator.helpers.handover_result import start_call
from usr.plugins.software_orchestrator.helpers.held import held
from usr.plugins.software_orchestrator.helpers.masking import safe
from usr.plugins.software_orchestrator.helpers.packet import HandoverPacket, StateField
from usr.plugins.software_orchestrator.helpers.paths import HandoverFolder, check_artifact, footprint
from usr.plugins.software_orchestrator.helpers.ports import COMMAND_LINE, Caller, Ports
from usr.plugins.software_orchestrator.helpers.reply_request import NOTE_PARTS, ReplyRequest, parse_reply
from usr.plugins.software_orchestrator.helpers.request import HandoverRequest
from usr.plugins.software_orchestrator.helpers.roster import Specialist, normal

KIND = {"clarify": "clarify", "reject": "rejected", "done": "done", "escalate": "escalated"}
_VERDICT = {kind: verdict for verdict, kind in KIND.items()}


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


@dataclass(frozen=True)
class Answer:
    """What a reply leads to.

    `ends` tells whether the specialist's run is over; then `note` is the text for its superior, else `message` is for the
    specialist. `summary` is the same as values, for the superior's tool result.
    """

    message: str
    ends: bool = False
    note: str = ""
    summary: Mapping[str, Any] = field(default_factory=dict)
    hand_to: str = ""
    stops: str = ""


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


def specialist_of(settings: Settings, profile: str) -> Specialist:
    """The roster's entry; one that was taken out of the roster in the meantime may still finish its work."""
    known = next((entry for entry in settings.roster.entries if normal(entry.profile) == normal(profile)), None)
    return known or Specialist(profile=profile, title=profile.replace("_", " ").title())


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


def story_of(handover: Handover, chain: Chain, folder: HandoverFolder, settings: Settings, ports: Ports) -> str:
    """What a person wants to know of one handover: who, what, state, when what happened, where it is written."""
    identity = handover.packet.identity
    lines = [
        f"{handover.id}: {identity.sender} > {identity.receiver}, {handover.state}",
        f"topic {render.one_line(handover.packet.topic)}, chain {chain.id}, hop {handover.hop}, depth {identity.depth}",
        f"briefing {briefing_path(folder, handover.packet)}",
        *(f"{event.time[:19].replace('T', ' ')} UTC  {event.kind}" for event in handover.events),
    ]
    if chain.stop:
        lines.append(f"the chain is stopped: {render.one_line(chain.stop)}")
    if handover.is_open or handover.state in ("prepared", "superseded"):
        return "\n".join(lines)
    return "\n".join(lines) + "\n" + told_before(handover, folder, settings, ports).note.rstrip()


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


def touch(handover_id: str, caller: Caller, settings: Settings, ports: Ports) -> str:
    """The specialist works: an implicit accept, or the reopening of what it had handed back. Returns the state after it."""
    with holding(handover_id, caller, settings, ports) as (book, handover):
        if handover.state in ("delivered", "interrupted"):
            book.write(about(handover.packet, "accepted", implicit=True))
        elif handover.state not in ("accepted", "prepared", "superseded"):
            book.write(about(handover.packet, "reopened", why="the specialist went on"))
        found = book.chain.find(handover_id)
        return found.state if found else ""


def interrupt(handover_id: str, why: str, caller: Caller, settings: Settings, ports: Ports) -> None:
    """The run was stopped or spoken into; the work stays with its specialist until it goes on or is gone."""
    with holding(handover_id, caller, settings, ports) as (book, handover):
        if handover.state in ("delivered", "accepted"):
            book.write(about(handover.packet, "interrupted", why=why))


def reply(args: Mapping[Any, Any], caller: Caller, settings: Settings, ports: Ports) -> Answer:
    """A specialist's verdict on the handover it works in (`caller.inside`).

    Raises HandoverError: RequestError for bad arguments, RefusedError (nothing_open, graph, incomplete: asked for once).
    """
    request = parse_reply(args, settings.roster, ports.mask)
    with holding(caller.inside, caller, settings, ports) as (book, handover):
        if not handover.is_open:
            if handover.state in ("prepared", "superseded"):
                raise RefusedError(
                    f"handover {handover.id} is {handover.state}, not open", "answer with response", "nothing_open"
                )
            book.write(about(handover.packet, "reopened", why="the specialist answered again"))
        if request.verdict == "accept":
            return accept(book, handover)
        if request.verdict == "clarify" and (given := all_held(request, handover)):
            return remind(book, handover, given)
        check_reply(book, handover, request, settings)
        return hand_back(book, handover, request, caller, settings, ports)


def accept(book: ChainBook, handover: Handover) -> Answer:
    book.write(about(handover.packet, "accepted", implicit=False))
    return Answer("Accepted: the work is yours. Do it, then hand back with verdict done.")


def all_held(request: ReplyRequest, handover: Handover) -> Mapping[str, str]:
    """Everything that was asked for with its answer, when the packet holds all of it; else nothing.

    Who asks again for what it was reminded of means something else, and is heard.
    """
    found = {name: held(handover.packet, name) for name in request.missing}
    return found if all(found.values()) and not reminded_of(handover).intersection(found) else {}


def reminded_of(handover: Handover) -> set[str]:
    """What the specialist asked for and was told that its package answers."""
    return {name for event in handover.events if event.kind == "clarify" for name in event.data.get("already_held", ())}


def remind(book: ChainBook, handover: Handover, given: Mapping[str, str]) -> Answer:
    """Nobody is bothered with what the packet already says."""
    book.write(about(handover.packet, "clarify", missing=[], already_held=list(given)))
    told = "".join(f"{render.one_line(name, 120)}:\n{render.quote(answer)}" for name, answer in given.items())
    return Answer(f"Your package already answers this; go on with the work.\n{told}")


def check_reply(book: ChainBook, handover: Handover, request: ReplyRequest, settings: Settings) -> None:
    """Before a hand-back is taken: a receiver the graph allows, and the four parts of the note, asked for once."""
    if request.hand_to:
        policy.check_route(settings.roster, handover.receiver, settings.roster.find(request.hand_to))
    asked_before = any(event.kind == "refused" and event.data.get("code") == "incomplete" for event in handover.events)
    if request.verdict == "done" and request.lacking and not asked_before:
        why = f"the note lacks {', '.join(request.lacking)}"
        book.write(about(handover.packet, "refused", code="incomplete", why=why))
        raise RefusedError(
            why,
            "send handover_reply again with all of " + ", ".join(NOTE_PARTS) + "; what does not apply: say so in a word",
            "incomplete",
        )


def hand_back(
    book: ChainBook, handover: Handover, request: ReplyRequest, caller: Caller, settings: Settings, ports: Ports
) -> Answer:
    """Merge what the specialist decided, changed, rejected and asked into the chain, record it, and tell the superior."""
    kind = KIND[request.verdict]
    packet, warnings = returned_packet(book, handover, request, caller, settings)
    note = note_of(request, handover)
    warnings = (*request.warnings, *warnings)
    outcome = request.outcome or ("completed" if kind == "done" else "blocked")
    drafts = [*closing_inside(book.chain, handover, f"{handover.id} was handed back")]
    closing = about(
        packet,
        kind,
        packet=packet.to_json(),
        note=note,
        outcome=outcome,
        implicit=False,
        hand_to=request.hand_to,
        person_messages=caller.person_count,
        **({"warnings": list(warnings)} if warnings else {}),
        **({"why": request.reason or request.what_happened} if kind == "escalated" else {}),
        **({"missing": note["missing"], "already_held": note.get("already_held", [])} if kind == "clarify" else {}),
    )
    event = book.write(*drafts, closing)[-1]
    book.brief(event)
    return answer_of(handover, packet, event, book.folder, settings, ports)


def returned_packet(
    book: ChainBook, handover: Handover, request: ReplyRequest, caller: Caller, settings: Settings
) -> tuple[HandoverPacket, tuple[str, ...]]:
    """The chain's packet with this hand-back in it; what was required and not done is marked so (seed 000, dropped calls)."""
    chain, identity = book.chain, handover.packet.identity
    evidence = inherit.Evidence(
        since=lambda field: caller.said_since(chain.declined.get(field, caller.person_count)),
        when=chain.time_of,
        artifact=lambda path: facts(book.folder, path),
    )
    owner = identity.model_copy(update={"sender": identity.receiver})
    built = inherit.merge(inherit.brought_up(handover.packet, chain.newest), request, owner, evidence)
    update: dict[str, Any] = {"identity": identity, "stopped_at": request.stopped_at}
    if request.verdict != "done" or request.outcome in ("partial", "blocked"):
        requires = specialist_of(settings, identity.receiver).requires
        update |= omitted_sections(built.packet, requires, identity.receiver, identity.hop)
        update["stopped_at"] = request.stopped_at or f"{identity.receiver}, hop {identity.hop}: {request.verdict}"
    return built.packet.model_copy(update=update), built.warnings


def omitted_sections(packet: HandoverPacket, requires: tuple[str, ...], owner: str, hop: int) -> dict[str, Any]:
    lacking = [name.removeprefix("state.") for name in policy.missing_fields(packet, requires) if name.startswith("state.")]
    skipped = {name: StateField(field=name, status="skipped_section_omitted", owner=owner, hop=hop) for name in lacking}
    return {"state": (*(item for item in packet.state if item.field not in skipped), *skipped.values())} if skipped else {}


def note_of(request: ReplyRequest, handover: Handover) -> dict[str, Any]:
    """The note as recorded: seed 002's four parts, and what else was said. `already_held` are questions the packet answered."""
    note: dict[str, Any] = {name: getattr(request, name) for name in NOTE_PARTS if getattr(request, name)}
    if request.reason:
        note["reason"] = request.reason
    if request.missing:
        reminded = reminded_of(handover)
        already = [name for name in request.missing if name not in reminded and held(handover.packet, name)]
        note["missing"] = [name for name in request.missing if name not in already]
        note |= {"already_held": already} if already else {}
    if request.verdict == "done" and request.lacking:
        note["incomplete"] = list(request.lacking)
    return note


def closing_inside(chain: Chain, handover: Handover, why: str) -> Iterator[Draft]:
    """What is still open inside a handover that closes is closed with it."""
    for inner in chain.handovers:
        unfinished = inner.is_open or inner.state == "prepared"
        if unfinished and inner.id != handover.id and handover in chain.ancestors(inner.id):
            yield about(inner.packet, "cancelled", why=why, note={"reason": why}, outcome="blocked", implicit=True)


def close(
    handover_id: str,
    kind: str,
    why: str,
    caller: Caller,
    settings: Settings,
    ports: Ports,
    *,
    said: str = "",
) -> Answer:
    """Close a handover without a verdict of its specialist: done (it just answered with `said`), failed or cancelled.

    A handover that is closed already stays as it is: its recorded note counts.
    """
    with holding(handover_id, caller, settings, ports) as (book, handover):
        if not handover.is_open and handover.state != "prepared":
            return told_before(handover, book.folder, settings, ports)
        note = closing_note(handover, said, why, ports)
        outcome = "completed" if kind == "done" else "blocked"
        packet = inherit.brought_up(handover.packet, book.chain.newest)
        update: dict[str, Any] = {"identity": handover.packet.identity}
        if kind != "done":
            specialist = specialist_of(settings, handover.receiver)
            update |= omitted_sections(packet, specialist.requires, handover.receiver, handover.hop)
            update["stopped_at"] = packet.stopped_at or f"{handover.receiver}, hop {handover.hop}: {kind}"
        packet = packet.model_copy(update=update)
        drafts = list(closing_inside(book.chain, handover, f"{handover.id} was closed as {kind}"))
        event = book.write(
            *drafts,
            about(
                packet,
                kind,
                packet=packet.to_json(),
                note=note,
                outcome=outcome,
                implicit=True,
                why=safe(why, ports.mask)[0],
                person_messages=caller.person_count,
            ),
        )[-1]
        book.brief(event)
        return answer_of(handover, packet, event, book.folder, settings, ports)


def closing_note(handover: Handover, said: str, why: str, ports: Ports) -> dict[str, Any]:
    """The note of a handover that ends without one. What a verdict said before it was reopened is not lost."""
    earlier = {name: text for name, text in handover.note.items() if name in NOTE_PARTS}
    if not said:
        return {**earlier, "reason": safe(why, ports.mask)[0]}
    told = safe(said, ports.mask)[0]
    before = earlier.get("what_happened", "")
    return {**earlier, "what_happened": f"{told}\n\nBefore that: {before}" if before and before != told else told}


def told_before(handover: Handover, folder: HandoverFolder, settings: Settings, ports: Ports) -> Answer:
    """The answer of a handover that is closed, made again from the record."""
    return answer_of(
        handover, handover.latest, next(e for e in reversed(handover.events) if e.kind == handover.state), folder, settings, ports
    )


def answer_of(
    handover: Handover,
    packet: HandoverPacket,
    event: Event,
    folder: HandoverFolder,
    settings: Settings,
    ports: Ports,
) -> Answer:
    """What a closing event tells the superior: the note as text, and the same as values, each within `handback_note_tokens`."""
    data, note = event.data, event.data.get("note", {})
    parts = note_parts(handover, packet, event, folder)
    text = note_text(parts, settings, ports)
    return Answer(
        text,
        ends=True,
        note=text,
        summary={
            "verdict": _VERDICT.get(event.kind, event.kind),
            "outcome": str(data.get("outcome", "")),
            "implicit": bool(data.get("implicit")),
            "handover_id": handover.id,
            **note_values(note, parts, settings, ports),
        },
        hand_to=str(data.get("hand_to", "")),
        stops=str(data.get("why", "")) if event.kind == "escalated" else "",
    )


def outcome_of(handover_id: str, caller: Caller, settings: Settings, ports: Ports) -> Answer | None:
    """What a handover came to, or None while it is open."""
    with holding(handover_id, caller, settings, ports) as (book, handover):
        if handover.is_open or handover.state in ("prepared", "superseded"):
            return None
        return told_before(handover, book.folder, settings, ports)


def held_by(handover_id: str, caller: Caller, settings: Settings, ports: Ports) -> Handover:
    """The handover as the ledger has it. Raises RefusedError (unknown_reference)."""
    folder = HandoverFolder.open(caller.project_root)
    chain = chain_holding(folder, handover_id, ports)
    found = chain.find(handover_id) if chain else None
    if found is None:
        raise RefusedError(f"no handover {handover_id} is recorded in {folder.path}", "", "unknown_reference")
    return found


def standing(project_root: str, caller: Caller, settings: Settings, ports: Ports) -> tuple[str, ...]:
    """What waits for the caller in this chat, a line each: what it prepared and nobody started, open work, questions, stops."""
    folder = HandoverFolder.open(project_root)
    lines = []
    for path in ledgers_of_chat(folder, caller):
        chain = peek(folder, path.stem, ports)
        if not of_chat(chain, folder, caller):
            continue
        if chain.stop and caller.person_count <= chain.stop_mark and not caller.inside:
            lines.append(f"Handovers on {render.one_line(chain.id)} were stopped: {render.one_line(chain.stop)}")
        mine = (
            item
            for item in chain.handovers
            if item.packet.identity.parent == caller.inside and chain.newest_to(item.receiver) is item
        )
        lines += [line for item in mine if (line := _standing_line(item, settings))]
    return tuple(map(render.inert, lines))


def _standing_line(handover: Handover, settings: Settings) -> str:
    call = start_call(specialist_of(settings, handover.receiver), handover.id, fresh=not handover.is_open)
    if handover.state == "prepared":
        return f"Prepared, not started: {handover.id} to {handover.receiver}. Start it with {call}"
    if handover.is_open:
        return f"Open: {handover.id}, {handover.receiver} has the work ({handover.state}). Let it go on with {call}"
    if handover.state == "clarify":
        asked = ", ".join(handover.note.get("missing", ()))
        needs = f"{handover.receiver} needs {render.one_line(asked, 300)}"
        return f"Asked: {needs}. Answer with handover_to_specialist(answers={handover.id})"
    return ""


def next_leg(handover_id: str, caller: Caller, settings: Settings, ports: Ports) -> Prepared:
    """Prepare the handover that a `done` with `hand_to` asked for: same depth, next hop, the packet inherited.

    Raises RefusedError; a visited specialist without news, and a cap, stop the chain (seed 004: escalate to the person).
    """
    with holding(handover_id, caller, settings, ports) as (book, handover):
        event = handover.last("done")
        data: Mapping[str, Any] = event.data if event else {}
        note, limit = data.get("note", {}), int(handover.events[0].data["limit"])
        root = str(book.folder.root)
    request = HandoverRequest(
        specialist_profile=str(data.get("hand_to", "")),
        topic=handover.packet.topic,
        project_root=root,
        summary="\n".join(filter(None, (note.get("what_happened", ""), note.get("observations", "")))),
        recent_turns=(),
        next_action=note.get("next", ""),
        user_state=note.get("user_state", ""),
        handover_reason=f"{handover.receiver} handed the work on",
        return_condition=handover.packet.return_condition,
        max_context_tokens=limit,
        include_recent_turns=0,
        overflow=handover.events[0].data["overflow"],
    )
    moved = replace(
        caller, sender=handover.receiver, inside=handover.packet.identity.parent, continues=handover.id, project_root=root
    )
    return prepare_request(request, moved, settings, ports)


def note_history(
    handover_id: str, reason: str, selection: str, tokens: int, caller: Caller, settings: Settings, ports: Ports
) -> None:
    """Record that the specialist read more than its package: what stage 1 lacked (seed 001, stage 2)."""
    with holding(handover_id, caller, settings, ports) as (book, handover):
        book.write(about(handover.packet, "history_read", reason=ports.mask(reason), range=selection, tokens=tokens))


def sweep(alive: set[str], project_root: str, caller: Caller, settings: Settings, ports: Ports) -> tuple[str, ...]:
    """Close as cancelled what is open in this chat's chains and held by no living agent; returns the ids."""
    folder = HandoverFolder.open(project_root)
    gone = []
    for path in ledgers_of_chat(folder, caller):
        chain = peek(folder, path.stem, ports)
        for handover in chain.open if of_chat(chain, folder, caller) else ():
            if handover.id not in alive:
                close(handover.id, "cancelled", "its agent is gone", caller, settings, ports)
                gone.append(handover.id)
    return tuple(gone)


def ledgers_of_chat(folder: HandoverFolder, caller: Caller) -> tuple[Path, ...]:
    """By their names: other chats' ledgers need not be read."""
    ending = folder.chain_id("x", caller.chat_id).removeprefix("x")
    return tuple(path for path in folder.ledgers() if path.stem.endswith(ending))


def of_chat(chain: Chain, folder: HandoverFolder, caller: Caller) -> bool:
    return chain.newest is not None and folder.chain_id(chain.newest.topic, caller.chat_id) == chain.id


@contextmanager
def holding(handover_id: str, caller: Caller, settings: Settings, ports: Ports) -> Iterator[tuple[ChainBook, Handover]]:
    """The chain of a handover of this chat, locked and healed. Raises RefusedError (nothing_open, unknown_reference)."""
    if not handover_id:
        raise RefusedError("no handover is open here", "this tool is for a specialist that works on a handover", "nothing_open")
    folder = HandoverFolder.open(caller.project_root)
    chain = chain_holding(folder, handover_id, ports)
    if chain is None:
        raise RefusedError(
            f"no handover {render.one_line(handover_id, 40)} is recorded in this project",
            "copy the reference from next_step",
            "unknown_reference",
        )
    if caller.chat_id != COMMAND_LINE and not of_chat(chain, folder, caller):
        raise RefusedError(
            f"handover {handover_id} belongs to another chat",
            "prepare one in this chat with handover_to_specialist",
            "unknown_reference",
        )
    with opened(HandoverFolder.open(caller.project_root, create=True), chain.id, settings, ports) as book:
        handover = book.chain.find(handover_id)
        assert handover is not None
        yield book, handover


# the note for the superior


def note_parts(handover: Handover, packet: HandoverPacket, event: Event, folder: HandoverFolder) -> tuple[render.Part, ...]:
    """The hand-back in parts; all but its first and last lines may be left out, as the briefing has them."""
    foot = f"briefing: {briefing_path(folder, packet)}\n"
    outcome, note, warnings = (event.data.get(name) for name in ("outcome", "note", "warnings"))
    parts = render.note_parts(packet, event.kind, outcome or "", note or {}, warnings or (), before=handover.packet, foot=foot)
    return tuple(render.inert_part(part if not part.section else replace(part, short="")) for part in parts)


def note_text(parts: tuple[render.Part, ...], settings: Settings, ports: Ports) -> str:
    """The hand-back as its superior reads it, within `handback_note_tokens`; what is left out is named (seed 002)."""
    count, limit = ports.counter().count, settings.handback_note_tokens
    whole = budget.whole(parts, count)
    if whole.tokens <= limit:
        return whole.text
    try:
        return budget.fit(parts, limit, count, _in_briefing).text
    except RequestError:  # not even the frame fits
        return "".join(part.full for part in parts if not part.section)


def note_values(note: Mapping[str, Any], parts: tuple[render.Part, ...], settings: Settings, ports: Ports) -> dict[str, Any]:
    """The hand-back as values for a program or a model, together within `handback_note_tokens`.

    The note's own parts, then `changes`: decisions, fields, questions and artifacts as text. `omitted` names what was cut.
    """
    count, limit = ports.counter().count, settings.handback_note_tokens
    items = {name: tuple(map(str, note[name])) for name in ("missing", "already_held", "incomplete") if note.get(name)}
    lists = {name: budget.fit_items(told, limit // 2, count) for name, told in items.items()}
    left = limit - sum(count(item) for told in lists.values() for item in told)
    texts = {name: str(note[name]) for name in ("reason", *NOTE_PARTS) if note.get(name)}
    told, cut = budget.fit_texts(texts, max(0, left), count)
    changes, omitted = _changes(parts, left - sum(map(count, told.values())), count)
    omitted = (
        *(
            f"{name}: {len(told)} of {len(items[name])} told; {_in_briefing(name)}"
            for name, told in lists.items()
            if len(told) < len(items[name])
        ),
        *(f"{name}: cut; {_in_briefing(name)}" for name in cut),
        *omitted,
    )
    return {
        **told,
        **{name: list(told) for name, told in lists.items()},
        **({"changes": changes} if changes else {}),
        **({"omitted": list(omitted)} if omitted else {}),
    }


_CHANGES = ("Decisions", "Decisions no longer active", "State", "Open questions", "Warnings", "Artifacts")


def _changes(parts: tuple[render.Part, ...], limit_tokens: int, count: budget.Count) -> tuple[str, tuple[str, ...]]:
    found = tuple(part for part in parts if part.section in _CHANGES)
    whole = budget.whole(found, count)
    if whole.tokens <= limit_tokens:
        return whole.text, ()
    try:
        fitted = budget.fit(found, limit_tokens, count, _in_briefing)
    except RequestError:
        return "", tuple(f"{name}: left out; {_in_briefing(name)}" for name in dict.fromkeys(part.section for part in found))
    return fitted.text, fitted.omitted


def _in_briefing(section: str) -> str:
    return "the briefing has all of it"

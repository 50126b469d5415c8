"""The way of a handover after it was delivered: accepted, worked on, handed back, moved on, or lost.

Responsibility moves only when the receiver accepts (seed 004); the departing agent's note is its exit action (seed 002).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..arguments.handover import HandoverRequest
from ..arguments.reply import NOTE_PARTS, ReplyRequest, parse_reply
from ..chain import merge, rules
from ..chain.answered import held
from ..chain.chain import CLOSED, Chain, Handover
from ..records.book import ChainBook, about, peek
from ..records.folder import HandoverFolder
from ..text import render
from ..text.masking import safe
from ..text.quote import one_line, quote
from ..values.call import Caller, Ports
from ..values.errors import RecordError, RefusedError
from ..values.events import Draft
from ..values.packet import HandoverPacket, StateField
from ..values.settings import Settings
from .answer import KIND, Answer, answer_of, told_before
from .package import briefing_path, facts
from .prepare import Prepared, prepare_request
from .standing import holding, ledgers_of_chat, of_chat, specialist_of


def story_of(
    handover: Handover, chain: Chain, folder: HandoverFolder, settings: Settings, ports: Ports
) -> str:
    """What a person wants to know of one handover: who, what, state, when what happened, where it is written."""
    identity = handover.packet.identity
    lines = [
        f"{handover.id}: {identity.sender} → {identity.receiver}, {handover.state}",
        f"topic {one_line(handover.packet.topic)}, chain {chain.id}, hop {handover.hop}, depth {identity.depth}",
        f"briefing {briefing_path(folder, handover.packet)}",
        *(f"{event.time[:19].replace('T', ' ')} UTC  {event.kind}" for event in handover.events),
    ]
    if chain.stop:
        lines.append(f"the chain is stopped: {one_line(chain.stop)}")
    if handover.is_open or handover.state in ("prepared", "superseded"):
        return "\n".join(lines)
    return "\n".join(lines) + "\n" + told_before(handover, folder, settings, ports).note.rstrip()


def touch(handover_id: str, caller: Caller, settings: Settings, ports: Ports) -> str:
    """The specialist works: an implicit accept, or the reopening of what it had handed back. Returns the state after it."""
    with holding(handover_id, caller, settings, ports) as (book, handover):
        if handover.state in ("delivered", "interrupted"):
            book.write(about(handover.packet, "accepted", implicit=True))
        elif handover.state not in ("accepted", "prepared", "superseded") and not closed_around(
            book.chain, handover
        ):
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
                    f"handover {handover.id} is {handover.state}, not open",
                    "answer with response",
                    "nothing_open",
                )
            if outer := closed_around(book.chain, handover):
                raise RefusedError(
                    f"handover {handover.id} was closed with {outer.id}, which it was a part of ({outer.state})",
                    "answer with response",
                    "nothing_open",
                )
            book.write(about(handover.packet, "reopened", why="the specialist answered again"))
        if request.verdict == "accept":
            return accept(book, handover)
        if request.verdict == "clarify" and (given := all_held(request, handover)):
            return remind(book, handover, given)
        check_reply(book, handover, request, settings)
        return hand_back(book, handover, request, caller, settings, ports)


def closed_around(chain: Chain, handover: Handover) -> Handover | None:
    """The handover around this one that is over: what is a part of it cannot go on."""
    return next((item for item in chain.ancestors(handover.id)[1:] if item.state in CLOSED), None)


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
    return {
        name
        for event in handover.events
        if event.kind == "clarify"
        for name in event.data.get("already_held", ())
    }


def remind(book: ChainBook, handover: Handover, given: Mapping[str, str]) -> Answer:
    """Nobody is bothered with what the packet already says."""
    book.write(about(handover.packet, "clarify", missing=[], already_held=list(given)))
    told = "".join(f"{one_line(name, 120)}:\n{quote(answer)}" for name, answer in given.items())
    return Answer(f"Your package already answers this; go on with the work.\n{told}")


def check_reply(
    book: ChainBook, handover: Handover, request: ReplyRequest, settings: Settings
) -> None:
    """Before a hand-back is taken: a receiver the graph allows, and the four parts of the note, asked for once."""
    if request.hand_to:
        rules.check_route(settings.roster, handover.receiver, settings.roster.find(request.hand_to))
    asked_before = any(
        event.kind == "refused" and event.data.get("code") == "incomplete"
        for event in handover.events
    )
    if request.verdict == "done" and request.lacking and not asked_before:
        why = f"the note lacks {', '.join(request.lacking)}"
        book.write(about(handover.packet, "refused", code="incomplete", why=why))
        raise RefusedError(
            why,
            "send handover_reply again with all of "
            + ", ".join(NOTE_PARTS)
            + "; what does not apply: say so in a word",
            "incomplete",
        )


def hand_back(
    book: ChainBook,
    handover: Handover,
    request: ReplyRequest,
    caller: Caller,
    settings: Settings,
    ports: Ports,
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
        **(
            {"missing": note["missing"], "already_held": note.get("already_held", [])}
            if kind == "clarify"
            else {}
        ),
    )
    event = book.write(*drafts, closing)[-1]
    return answer_of(
        handover, packet, event, book.folder, settings, ports, warnings=book.brief_or_tell(event)
    )


def returned_packet(
    book: ChainBook, handover: Handover, request: ReplyRequest, caller: Caller, settings: Settings
) -> tuple[HandoverPacket, tuple[str, ...]]:
    """The chain's packet with this hand-back in it; what was required and not done is marked so (seed 000, dropped calls)."""
    chain, identity = book.chain, handover.packet.identity
    evidence = merge.Evidence(
        since=lambda field: caller.said_since(chain.declined.get(field, caller.person_count)),
        when=chain.time_of,
        artifact=lambda path: facts(book.folder, path),
    )
    owner = identity.model_copy(update={"sender": identity.receiver})
    built = merge.merge(merge.brought_up(handover.packet, chain.newest), request, owner, evidence)
    update: dict[str, Any] = {"identity": identity}
    if request.verdict != "done" or request.outcome in ("partial", "blocked"):
        requires = specialist_of(settings, identity.receiver).requires
        update |= omitted_sections(built.packet, requires, identity.receiver, identity.hop)
        update["stopped_at"] = request.stopped_at or stopped_by(
            built.packet, handover, request.verdict
        )
    elif (
        request.outcome == "completed"
        and handover.packet.stopped_at == built.packet.stopped_at
        and not request.stopped_at
    ):
        update["stopped_at"] = ""
    return built.packet.model_copy(update=update), built.warnings


def stopped_by(packet: HandoverPacket, handover: Handover, how: str) -> str:
    """Where the work stands still when nobody says: what a specialist said before counts more than who stopped last."""
    said = packet.stopped_at if not _STOPPED_BY.fullmatch(packet.stopped_at) else ""
    return said or f"{handover.receiver}, hop {handover.hop}: {how}"


_STOPPED_BY = re.compile(r"[^,\n]*, hop \d+: [a-z]+")


def omitted_sections(
    packet: HandoverPacket, requires: tuple[str, ...], owner: str, hop: int
) -> dict[str, Any]:
    lacking = [
        name.removeprefix("state.")
        for name in rules.missing_fields(packet, requires)
        if name.startswith("state.") or name not in HandoverPacket.model_fields
    ]
    skipped = {
        name: StateField(field=name, status="skipped_section_omitted", owner=owner, hop=hop)
        for name in lacking
    }
    return (
        {
            "state": (
                *(item for item in packet.state if item.field not in skipped),
                *skipped.values(),
            )
        }
        if skipped
        else {}
    )


def note_of(request: ReplyRequest, handover: Handover) -> dict[str, Any]:
    """The note as recorded: seed 002's four parts, and what else was said. `already_held` are questions the packet answered."""
    note: dict[str, Any] = {
        name: getattr(request, name) for name in NOTE_PARTS if getattr(request, name)
    }
    if request.reason:
        note["reason"] = request.reason
    if request.missing:
        reminded = reminded_of(handover)
        already = [
            name for name in request.missing if name not in reminded and held(handover.packet, name)
        ]
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
            yield about(
                inner.packet,
                "cancelled",
                why=why,
                note={"reason": why},
                outcome="blocked",
                implicit=True,
            )


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
        packet = merge.brought_up(handover.packet, book.chain.newest)
        update: dict[str, Any] = {"identity": handover.packet.identity}
        if kind != "done":
            specialist = specialist_of(settings, handover.receiver)
            update |= omitted_sections(packet, specialist.requires, handover.receiver, handover.hop)
            update["stopped_at"] = stopped_by(packet, handover, kind)
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
        return answer_of(
            handover,
            packet,
            event,
            book.folder,
            settings,
            ports,
            warnings=book.brief_or_tell(event),
        )


def closing_note(handover: Handover, said: str, why: str, ports: Ports) -> dict[str, Any]:
    """The note of a handover that ends without one. What a verdict said before it was reopened is not lost."""
    earlier = {name: text for name, text in handover.note.items() if name in NOTE_PARTS}
    if not said:
        return {**earlier, "reason": safe(why, ports.mask)[0]}
    told = safe(said, ports.mask)[0]
    before = earlier.get("what_happened", "")
    return {
        **earlier,
        "what_happened": f"{told}\n\nBefore that: {before}" if before and before != told else told,
    }


def outcome_of(handover_id: str, caller: Caller, settings: Settings, ports: Ports) -> Answer | None:
    """What a handover came to, or None while it is open."""
    with holding(handover_id, caller, settings, ports) as (book, handover):
        if handover.is_open or handover.state in ("prepared", "superseded"):
            return None
        return told_before(handover, book.folder, settings, ports)


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
        summary="\n".join(
            filter(None, (note.get("what_happened", ""), note.get("observations", "")))
        ),
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
        caller,
        sender=handover.receiver,
        inside=handover.packet.identity.parent,
        continues=handover.id,
        project_root=root,
    )
    return prepare_request(request, moved, settings, ports)


def note_history(
    handover_id: str,
    reason: str,
    selection: str,
    tokens: int,
    caller: Caller,
    settings: Settings,
    ports: Ports,
) -> None:
    """Record that the specialist read more than its package: what stage 1 lacked (seed 001, stage 2)."""
    with holding(handover_id, caller, settings, ports) as (book, handover):
        book.write(
            about(
                handover.packet,
                "history_read",
                reason=ports.mask(reason),
                range=selection,
                tokens=tokens,
            )
        )


def note_failed_start(
    handover_id: str, error: RefusedError, caller: Caller, settings: Settings, ports: Ports
) -> None:
    """Record that a handover could not be started; it stays as it is."""
    with holding(handover_id, caller, settings, ports) as (book, handover):
        book.write(
            about(handover.packet, "refused", code=error.code, why=ports.mask(error.message))
        )


def sweep(
    alive: set[str], project_root: str, caller: Caller, settings: Settings, ports: Ports
) -> tuple[str, ...]:
    """Close as cancelled what is open in this chat's chains and held by no living agent; returns the ids."""
    folder = HandoverFolder.open(project_root)
    gone = []
    for path in ledgers_of_chat(folder, caller):
        try:
            chain = peek(folder, path.stem, ports)
        except RecordError:
            continue  # `standing` names it
        for handover in chain.open if of_chat(chain, folder, caller) else ():
            if handover.id not in alive:
                close(handover.id, "cancelled", "its agent is gone", caller, settings, ports)
                gone.append(handover.id)
    return tuple(gone)

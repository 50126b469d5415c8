"""The specialist's side: the work is accepted, worked on, asked about, and handed back.

Responsibility moves only when the receiver accepts (seed 004); the departing agent's note is its
exit action (seed 002).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..arguments.reply import NOTE_PARTS, ReplyRequest, parse_reply
from ..chain import merge, rules
from ..chain.answered import answer_to
from ..chain.chain import Chain, Handover
from ..records.book import Book
from ..text.damage import losses
from ..text.quote import one_line, quote
from ..values import events
from ..values.call import Call
from ..values.errors import RefusedError
from ..values.events import Draft, about
from ..values.packet import HandoverPacket, StateField
from .answer import Answer, answer_of
from .artifacts import Files
from .grounded import Grounded, grounded, with_persons_words
from .package import briefing_notices
from .packet import evidence
from .standing import held_by, holding, specialist_of

MOST_TOOLS_NOTED = 20


def reply(args: Mapping[Any, Any], call: Call, *, asks_again: bool = True) -> Answer:
    """A specialist's verdict on the handover it works in (`call.caller.inside`).

    `asks_again` false: who sent it cannot be asked for the parts that its note lacks.

    Raises HandoverError: RequestError for bad arguments, RefusedError (nothing_open, graph,
    incomplete: asked for once).
    """
    request = parse_reply(args, call)
    with holding(call.caller.inside, call) as (book, handover):
        reopen_for_an_answer(book, handover, call)
        if request.verdict == "accept":
            return accept(book, handover)
        if request.verdict == "clarify":
            given = answers_in_package(request, handover)
            if given:
                return remind(book, handover, given)
        check_route(handover, request, call)
        if asks_again:
            check_note(book, handover, request)
        return hand_back(book, handover, request, call)


def reopen_for_an_answer(book: Book, handover: Handover, call: Call) -> None:
    """Who answers again after its verdict goes on with the work. Raises RefusedError."""
    rules.check_reply_open(handover, book.chain)
    if not handover.may_be_open:
        reopen(book, handover, "the specialist answered again", call)


def reopen(book: Book, handover: Handover, why: str, call: Call) -> None:
    """What was handed back is taken up again: a round like a handover.

    Raises RefusedError where the chat has had all of them, recorded once.
    """
    try:
        rules.check_rounds(call.ports.rounds.made, call.settings)
    except RefusedError as error:
        if not book.chain.stop:
            book.refuse(error, handover.receiver)
        raise
    book.write(about(handover.packet, events.Reopened(why=why)))


def accept(book: Book, handover: Handover) -> Answer:
    """Nothing is written for work that was accepted before, by the specialist's own word."""
    accepted = handover.last(events.Accepted)
    if handover.state != "accepted" or accepted is None or accepted.implicit:
        book.write(about(handover.packet, events.Accepted(implicit=False)))
    return Answer("Accepted: the work is yours. Do it, then hand back with verdict done.")


def answers_in_package(request: ReplyRequest, handover: Handover) -> Mapping[str, str]:
    """Everything that was asked for with its answer, when the packet holds all of it; else nothing.

    Who asks again for what it was reminded of means something else, and is heard.
    """
    reminded = reminded_of(handover)
    answers: dict[str, str] = {}
    for name in request.missing:
        answer = answer_to(handover.packet, name)
        if not answer or name in reminded:
            return {}
        answers[name] = answer
    return answers


def reminded_of(handover: Handover) -> set[str]:
    """What the specialist asked for and was told that its package answers."""
    names: set[str] = set()
    for event in handover.events:
        if isinstance(event.payload, events.Clarify):
            names.update(event.payload.already_held)
    return names


def remind(book: Book, handover: Handover, answers: Mapping[str, str]) -> Answer:
    """Nobody is bothered with what the packet already says."""
    book.write(about(handover.packet, events.Clarify(already_held=tuple(answers))))
    text = "Your package already answers this; go on with the work.\n"
    for name, answer in answers.items():
        text += f"{one_line(name, 120)}:\n{quote(answer)}"
    return Answer(text)


def check_route(handover: Handover, request: ReplyRequest, call: Call) -> None:
    """The work moves on to whom the graph allows. Raises RefusedError."""
    roster = call.settings.roster
    if request.hand_to:
        rules.check_route(roster, handover.receiver, roster.find(request.hand_to))


def check_note(book: Book, handover: Handover, request: ReplyRequest) -> None:
    """The four parts of the note, asked for once. Raises RefusedError (incomplete)."""
    if request.verdict != "done" or not request.lacking or was_asked_for_all(handover):
        return
    why = f"the note lacks {', '.join(request.lacking)}"
    book.write(about(handover.packet, events.Refused(code="incomplete", why=why)))
    raise RefusedError(
        why,
        f"send handover_reply again with all of {', '.join(NOTE_PARTS)}; what does not apply: say"
        " so in a word",
        "incomplete",
    )


def was_asked_for_all(handover: Handover) -> bool:
    for event in handover.events:
        if isinstance(event.payload, events.Refused) and event.payload.code == "incomplete":
            return True
    return False


def hand_back(book: Book, handover: Handover, request: ReplyRequest, call: Call) -> Answer:
    """Merge what the specialist decided, changed, rejected and asked into the chain, record it, and
    tell the superior."""
    kind = events.VERDICTS[request.verdict]
    returned = returned_packet(book, handover, request, call)
    packet, merged = returned.packet, returned.merged
    note = note_of(request, handover)
    closing: dict[str, Any] = {
        "packet": packet,
        "note": note,
        "outcome": request.outcome or ("completed" if request.verdict == "done" else "blocked"),
        "hand_to": request.hand_to,
        "person_messages": call.caller.person_count,
        "warnings": (*request.warnings, *returned.claims.warnings, *merged.warnings),
        "contradicted": returned.claims.contradicted,
    }
    if request.verdict == "escalate":
        closing["why"] = request.reason or request.what_happened
    if request.verdict == "clarify":
        closing |= {"missing": note.missing, "already_held": note.already_held}
    inner = cancelled_inside(book.chain, handover, f"{handover.id} was handed back")
    lifts = [about(packet, lift) for lift in merged.lifts]
    event = book.write(*inner, *lifts, about(packet, kind(**closing)))[-1]
    told = (
        *losses(book.chain.stop_damage),
        *book.brief_or_tell(event),
        *briefing_notices(book, packet),
    )
    answer = answer_of(handover, packet, event, book.folder, call, warnings=told)
    return replace(answer, lifts=merged.lifts)


@dataclass(frozen=True)
class Returned:
    """The chain's packet with a hand-back in it, what of the hand-back is founded, and what merging
    it told."""

    packet: HandoverPacket
    claims: Grounded
    merged: merge.Merged


def returned_packet(book: Book, handover: Handover, request: ReplyRequest, call: Call) -> Returned:
    """The chain's packet with this hand-back in it; what was required and not done is marked so
    (seed 000, dropped calls)."""
    chain, identity = book.chain, handover.packet.identity
    proof = evidence(chain, Files(book.folder), call)
    as_owner = identity.model_copy(update={"sender": identity.receiver})
    before = merge.brought_up(handover.packet, chain.newest)
    claims = grounded(request.given, chain, call, identity.depth)
    merged = merge.merge(before, claims.given, as_owner, proof)
    packet = merge.brought_up(handover.packet, merged.packet)
    packet = with_persons_words(packet, chain, call, merged.lifts)
    if request.verdict != "done" or request.outcome in ("partial", "blocked"):
        packet = unfinished(packet, handover, request.verdict, call, request.given.stopped_at)
    elif not request.given.stopped_at:  # said to be complete: nothing stands still any more
        packet = packet.model_copy(update={"stopped_at": ""})
    return Returned(packet, claims, merged)


def unfinished(
    packet: HandoverPacket, handover: Handover, how: str, call: Call, said: str = ""
) -> HandoverPacket:
    """The packet of work that is not done: where it stopped, and what was required and never came
    up."""
    requires = specialist_of(call.settings, handover.receiver).requires
    skipped = rules.never_came_up(packet, requires)
    state = [item for item in packet.state if item.field not in skipped]
    for name in skipped:
        state.append(
            StateField(
                field=name,
                status="skipped_section_omitted",
                owner=handover.receiver,
                hop=handover.hop,
            )
        )
    stopped_at = said or rules.stopped_by(packet.stopped_at, handover, how)
    return packet.model_copy(update={"state": tuple(state), "stopped_at": stopped_at})


def note_of(request: ReplyRequest, handover: Handover) -> events.Note:
    """The note as recorded: seed 002's four parts, and what else was said."""
    reminded = reminded_of(handover)
    missing: list[str] = []
    answered: list[str] = []
    for name in request.missing:
        is_answered = name not in reminded and answer_to(handover.packet, name)
        (answered if is_answered else missing).append(name)
    return events.Note(
        what_happened=request.what_happened,
        observations=request.observations,
        user_state=request.user_state,
        next=request.next,
        reason=request.reason,
        missing=tuple(missing),
        already_held=tuple(answered),
        incomplete=request.lacking if request.verdict == "done" else (),
    )


def cancelled_inside(chain: Chain, handover: Handover, why: str) -> Iterator[Draft]:
    """What is still open inside a handover that closes is closed with it."""
    for inner in chain.handovers:
        unfinished_work = inner.is_open or inner.state == "prepared"
        if not unfinished_work or inner.id == handover.id:
            continue
        if handover in chain.ancestors(inner.id):
            note = events.Note(reason=why)
            cancelled = events.Cancelled(note=note, why=why, outcome="blocked", implicit=True)
            yield about(inner.packet, cancelled)


def touch(handover_id: str, call: Call) -> str:
    """The specialist works: an implicit accept, or the reopening of what it had handed back.

    Returns the state after it. Raises RefusedError where the chat has had all its rounds.
    """
    with holding(handover_id, call) as (book, handover):
        if handover.may_be_open and handover.state != "accepted":
            book.write(about(handover.packet, events.Accepted(implicit=True)))
        elif handover.state in events.Reopened.follows:
            if rules.closed_around(book.chain, handover) is None:
                reopen(book, handover, "the specialist went on", call)
        after = book.chain.find(handover_id)
        return after.state if after else ""


def interrupt(handover_id: str, why: str, call: Call) -> None:
    """The run was stopped or spoken into; the work stays with its specialist until it goes on or is
    gone."""
    with holding(handover_id, call) as (book, handover):
        if handover.may_be_open and handover.state != "interrupted":
            book.write(about(handover.packet, events.Interrupted(why=why)))


def note_history(handover_id: str, reason: str, selection: str, tokens: int, call: Call) -> None:
    """Record that the specialist read more than its package: what stage 1 lacked (seed 001)."""
    with holding(handover_id, call) as (book, handover):
        read = events.HistoryRead(reason=reason, range=selection, tokens=tokens)
        book.write(about(handover.packet, read))


def note_failed_start(handover_id: str, error: RefusedError, call: Call) -> None:
    """Record that a handover could not be started; it stays as it is."""
    with holding(handover_id, call) as (book, handover):
        refused = events.Refused(code=error.code, why=error.message)
        book.write(about(handover.packet, refused))


def note_refused_tool(handover_id: str, tool: str, call: Call) -> None:
    """Record that a tool was tried that is not the specialist's to use: each once, and no more than
    `MOST_TOOLS_NOTED`, however often a model tries."""
    if not _is_news(held_by(handover_id, call), tool):
        return
    with holding(handover_id, call) as (book, handover):
        if _is_news(handover, tool):
            why = f"{tool} is not {handover.receiver}'s to use"
            refused = events.Refused(code="authority", why=why, tool=tool)
            book.write(about(handover.packet, refused))


def _is_news(handover: Handover, tool: str) -> bool:
    noted = set()
    for event in handover.events:
        if isinstance(event.payload, events.Refused) and event.payload.tool:
            noted.add(event.payload.tool)
    return tool not in noted and len(noted) < MOST_TOOLS_NOTED

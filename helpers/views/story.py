"""A chain as plain JSON, for the command line, programs and the audit page.

Pure: events in, JSON out. Times are UTC as in the ledger (`2026-06-05T14:03:07.123456Z`, "" where
it has not happened), durations seconds (None where one end is missing or the clock went back),
sizes tokens or bytes. Text from models and people is as recorded: whoever shows it escapes it.

ChainSummary
    chain, topic, project      id, the topic's words, absolute path of the project
    state                      open | stopped | prepared | closed | unreadable | foreign (no event
                               is this installation's)
    stop                       why it stands still, "" otherwise
    holder                     profile that holds the work, "" for the orchestrator
    own                        False: another installation's ledger, shown and never trusted
    started, updated           times of the first and the last event
    seconds                    first `prepared` to the last hand-back, None while something is open
                               or prepared
    hops, verdicts             number of handovers; {state: how many}
    tokens                     {asked, delivered, left_out, estimated}; `estimated` true when
                               counted without the tokenizer
    history_reads, escalations, refusals    how many of these events
    bytes, foreign, faults     of the ledger: its size, events of another installation, faults
                               (`verify` names them)
    lost                       lines: places where the ledger lost events, and events that cannot be
                               understood; the rest of the chain is shown
    declined                   list of {field, verbatim, hop}: declines that stand now
    error                      why a chain is unreadable, "" otherwise
    handovers                  list of HandoverSummary, in the order of the ledger

HandoverSummary
    handover, hop, depth, parent, continues, answers     ids "" where there is none; depth is the
                                                         sender's
    sender, receiver, topic, reason, goal
    state, open, implicit, outcome, hand_to, why
    prepared, delivered, accepted, closed                times
    on                              the machine it went to, as `https://host:port`; "": here
    queue_s, work_s, latency_s      delivered→accepted, accepted→verdict (pauses included),
                                    prepared→delivered
    tokens                          {asked, delivered, left_out, limit, estimated}
    turns, omitted                  recent turns that travelled; lines naming what was left out
    history_reads                   list of {time, reason, range, tokens}
    briefing                        list of {path, offset, length, kind}: where its entries are,
                                    kind as the event's
    decisions, artifacts, fields, questions              how many the packet carried
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ..chain.chain import Chain, Handover, fold
from ..chain.news import news
from ..text.damage import losses
from ..text.tools import tools_told
from ..values.errors import RecordError
from ..values.events import (
    CLOSED,
    KINDS,
    RETURNED,
    Accepted,
    Briefed,
    Clarify,
    Closing,
    Damage,
    DeclineLifted,
    Delivered,
    Escalated,
    Event,
    HistoryRead,
    Interrupted,
    Payload,
    Prepared,
    Refused,
    Reopened,
    Resumed,
    Superseded,
)
from ..values.names import short

Json = dict[str, Any]

# No package is larger. A ledger may hold any number, and Python writes none of over 4,300 digits.
MOST_TOKENS = 10**12
_MOST_LOST = 3
_STOP_CHARS = 400  # of a reason; the record has the whole

_MOST_MACHINE_CHARS = 200


@dataclass(frozen=True)
class Story:
    """A chain and the events that tell it.

    `own` False: no event is this installation's, and it is told by what is there. `kinds` counts
    the events; with an `error` there are no handovers and nothing is counted. `lost` names what is
    not shown.
    """

    chain: Chain
    events: tuple[Event, ...]
    own: bool = True
    foreign: int = 0
    error: str = ""
    kinds: Mapping[type[Payload], int] = field(default_factory=Counter)
    lost: tuple[str, ...] = ()


def story(
    chain_id: str, events: Iterable[Event], gaps: Mapping[str, Damage] | None = None
) -> Story:
    """The story of a chain, also of what is left of it; `gaps` as in a `Reading`."""
    everything = tuple(event for event in events if event.chain == chain_id)
    shown = tuple(event for event in everything if event.trusted)
    foreign = len(everything) - len(shown)
    own = bool(shown) or not everything
    if not own:
        shown = tuple(replace(event, trusted=True) for event in everything)
    kinds: Counter[type[Payload]] = Counter()
    readable, lost = [], []
    for event in shown:
        try:
            kinds[type(event.payload)] += 1
            readable.append(event)
        except RecordError as error:
            lost.append(error.message)
    chain = fold(chain_id, readable, gaps if own else {})
    told = (*losses(chain.damage), *lost[:_MOST_LOST])
    if len(lost) > _MOST_LOST:
        told = (*told, f"{len(lost) - _MOST_LOST:,} more events that cannot be understood")
    return Story(chain, tuple(readable), own, foreign, kinds=kinds, lost=told)


# --- summaries -----------------------------------------------------------------------------------


def summary(told: Story, *, project: str = "", size_bytes: int = 0, faults: int = 0) -> Json:
    """The ChainSummary of a chain."""
    chain, kinds = told.chain, told.kinds
    handovers = [handover_summary(item) for item in chain.handovers]
    holder = chain.holder
    started, updated = _span(told)
    return {
        "chain": chain.id,
        "topic": _topic(chain),
        "project": project,
        "state": state_of(told),
        "stop": short(chain.stop, _STOP_CHARS),
        "holder": holder.receiver if holder else "",
        "own": told.own,
        "started": started,
        "updated": updated,
        "seconds": seconds_of(chain),
        "hops": len(handovers),
        "verdicts": dict(Counter(item.state for item in chain.handovers)),
        "tokens": _tokens_of_all(handovers),
        "history_reads": kinds.get(HistoryRead, 0),
        "escalations": kinds.get(Escalated, 0),
        "refusals": kinds.get(Refused, 0),
        "bytes": size_bytes,
        "foreign": told.foreign,
        "faults": faults,
        "lost": list(told.lost),
        "declined": declined(chain),
        "error": told.error,
        "handovers": handovers,
    }


def declined(chain: Chain) -> list[Json]:
    """What the person has declined and not taken back."""
    return [
        {"field": item.field, "verbatim": item.verbatim, "hop": item.hop}
        for item in (chain.newest.state if chain.newest else ())
        if item.status == "declined"
    ]


def state_of(told: Story) -> str:
    """One word for where the chain stands."""
    if told.error:
        return "unreadable"
    if not told.own:
        return "foreign"
    if told.chain.open:
        return "open"
    if told.chain.stop:
        return "stopped"
    states = {item.state for item in told.chain.handovers}
    return "prepared" if "prepared" in states else "closed"


def _span(told: Story) -> tuple[str, str]:
    """Times of the first and the last event."""
    return (told.events[0].time, told.events[-1].time) if told.events else ("", "")


def _topic(chain: Chain) -> str:
    return chain.handovers[-1].packet.topic if chain.handovers else ""


def _tokens_of_all(handovers: Iterable[Json]) -> Json:
    total: Json = {"asked": 0, "delivered": 0, "left_out": 0, "estimated": False}
    for item in handovers:
        for name in total:
            total[name] += item["tokens"][name]
    return {**total, "estimated": total["estimated"] > 0}


def handover_summary(item: Handover) -> Json:
    """The HandoverSummary of one handover."""
    packet, identity, prepared = item.packet, item.packet.identity, item.prepared
    closing = verdict(item) or Closing()
    return {
        "handover": item.id,
        "hop": item.hop,
        "depth": identity.depth,
        "parent": identity.parent,
        "continues": item.continues,
        "answers": prepared.answers,
        "sender": identity.sender,
        "receiver": identity.receiver,
        "topic": packet.topic,
        "goal": packet.goal,
        "reason": packet.handover_reason,
        "state": item.state,
        "open": item.is_open,
        "implicit": closing.implicit,
        "outcome": closing.outcome,
        "hand_to": closing.hand_to,
        "why": why(closing),
        **times(item),
        "on": machine(item),
        "queue_s": queue_seconds(item),
        "work_s": work_seconds(item),
        "latency_s": latency_seconds(item),
        "tokens": tokens(item),
        "turns": prepared.turns,
        "omitted": list(prepared.omitted),
        "history_reads": history_reads(item),
        "briefing": briefing(item),
        "decisions": sum(decision.status == "active" for decision in packet.decisions),
        "artifacts": len(packet.artifacts),
        "fields": len(packet.state),
        "questions": len(packet.open_questions),
    }


def machine(item: Handover) -> str:
    """The other machine that a handover went to; "" for this one."""
    delivered = item.last(Delivered)
    return ((delivered and delivered.remote) or "")[:_MOST_MACHINE_CHARS]


def verdict(item: Handover) -> Closing | None:
    """What the hand-back says that closed a handover, None while there is none."""
    if item.state not in RETURNED:
        return None
    payload = item.last(KINDS[item.state])
    return payload if isinstance(payload, Closing) else None


def asks_nothing(payload: Payload) -> bool:
    """Whether this asks only for what the packet holds: it is answered at once, closes nothing."""
    return isinstance(payload, Clarify) and not payload.missing


def why(closing: Closing) -> str:
    """The reason a hand-back gives, in its own words."""
    return closing.why or closing.note.reason


def times(item: Handover) -> dict[str, str]:
    closed = item.last_event(KINDS[item.state]) if item.state in CLOSED else None
    return {
        "prepared": _first_time(item, Prepared),
        "delivered": _first_time(item, Delivered),
        "accepted": _first_time(item, Accepted),
        "closed": closed.time if closed else "",
    }


def _first_time(item: Handover, kind: type[Payload]) -> str:
    for event in item.events:
        if isinstance(event.payload, kind):
            return event.time
    return ""


def tokens(item: Handover) -> Json:
    """Tokens of the package: what was asked to travel, what went, what the limit left out."""
    prepared = item.prepared
    asked, delivered = countable(prepared.estimated), countable(prepared.delivered)
    return {
        "asked": asked,
        "delivered": delivered,
        "left_out": max(0, asked - delivered),
        "limit": countable(prepared.limit),
        "estimated": prepared.token_counter == "estimate",
    }


def countable(number: int) -> int:
    """A number of tokens from a ledger, within what can be summed and written."""
    return min(max(number, 0), MOST_TOKENS)


def history_reads(item: Handover) -> list[Json]:
    reads = []
    for event in item.events:
        payload = event.payload
        if isinstance(payload, HistoryRead):
            spent = countable(payload.tokens)
            read = {"reason": payload.reason, "range": payload.range, "tokens": spent}
            reads.append({"time": event.time, **read})
    return reads


def briefing(item: Handover) -> list[Json]:
    """Where the entries of a handover stand; of an entry written again the last place."""
    kinds = {event.id: event.kind for event in item.events}
    places: dict[str, Json] = {}
    for event in item.events:
        payload = event.payload
        if isinstance(payload, Briefed):
            place = {"path": payload.path, "offset": payload.offset, "length": payload.length}
            places[payload.event] = {**place, "kind": kinds.get(payload.event, "")}
    return list(places.values())


# --- durations -----------------------------------------------------------------------------------


def queue_seconds(item: Handover) -> float | None:
    """From delivered to accepted (a first action counts as accepting)."""
    return between(_first_time(item, Delivered), _first_time(item, Accepted))


def latency_seconds(item: Handover) -> float | None:
    """From prepared to delivered: the handover itself."""
    return between(_first_time(item, Prepared), _first_time(item, Delivered))


def work_seconds(item: Handover) -> float | None:
    """From accepted to the verdict, and again from every reopening to the next one.

    None while it is at work, and when the clock went back on the way.
    """
    total: float | None = None
    since = ""
    for event in item.events:
        payload = event.payload
        if isinstance(payload, Accepted | Reopened):
            since = since or event.time
        elif since and isinstance(payload, Closing) and not asks_nothing(payload):
            spent = between(since, event.time)
            if spent is None:
                return None
            total, since = (total or 0.0) + spent, ""
    return None if since else total


def seconds_of(chain: Chain) -> float | None:
    """From the first `prepared` to the last hand-back.

    None while a handover is open or prepared, and when none was handed back.
    """
    ends = []
    for item in chain.handovers:
        if item.is_open or item.state == "prepared":
            return None
        if item.state in RETURNED:
            ends.append(times(item)["closed"])
    return between(chain.handovers[0].events[0].time, max(ends)) if ends else None


def between(start: str, end: str) -> float | None:
    """Seconds between two times of a ledger, None when one is missing or the clock went back."""
    try:
        spent = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    except (ValueError, TypeError):  # no time at all, or one of the two without a zone
        return None
    seconds = spent.total_seconds()
    return seconds if seconds >= 0 else None


# --- the picture ---------------------------------------------------------------------------------


def timeline(told: Story) -> Json:
    """Lanes, bars, arrows and marks of a chain, each in the order of the ledger.

    {chain, topic, state, start, end, seconds,
     lanes:  [{agent, hops}]     in order of appearance; the first is who handed over first
     bars:   [{handover, hop, agent, depth, state, open, start, end, accepted}]
             end "" while open: who holds the work
     arrows: [{id, order, kind: handover | return | on, handover, hop, from, to, time, second,
             state, open, label, tokens, why}]
             `on`: a hand-back that names the next specialist; state is the verdict, for a
             handover what became of it
     marks:  [{id, order, kind, handover, agent, time, second, text}]
             history reads, refusals, escalations, pauses, lifted declines, questions that the
             packet answered
    }
    `order` is the event's number in the ledger, which is what happened first; `second` counts from
    `start` and is None when the clock went back.
    """
    chain = told.chain
    start, end = _span(told)
    arrows, marks = [], []
    for order, event in enumerate(told.events if not told.error else ()):
        place = {
            "id": event.id,
            "order": order,
            "handover": event.handover,
            "time": event.time,
            "second": between(start, event.time),
        }
        arrow = _arrow(chain.find(event.handover), event)
        if arrow:
            arrows.append({**place, **arrow})
        mark = _mark_text(event.payload)
        if mark is not None:
            agent = event.receiver or event.sender
            marks.append({**place, "kind": event.kind, "agent": agent, "text": mark})
    return {
        "chain": chain.id,
        "topic": _topic(chain),
        "state": state_of(told),
        "start": start,
        "end": end,
        "seconds": between(start, end),
        "lanes": _lanes(chain, arrows),
        "bars": [_bar(item) for item in chain.handovers],
        "arrows": arrows,
        "marks": marks,
    }


def _lanes(chain: Chain, arrows: Iterable[Json]) -> list[Json]:
    hops = Counter(item.receiver for item in chain.handovers)
    lanes: dict[str, Json] = {}
    for arrow in arrows:
        for agent in (arrow["from"], arrow["to"]):
            lanes[agent] = {"agent": agent, "hops": hops[agent]}
    return list(lanes.values())


def _arrow(item: Handover | None, event: Event) -> Json | None:
    """The arrow of an event that moves the work, else None."""
    payload = event.payload
    if item is None or asks_nothing(payload):
        return None
    match payload:
        case Prepared():
            return {
                "kind": "handover",
                "hop": item.hop,
                "from": event.sender,
                "to": event.receiver,
                "state": item.state,
                "open": item.is_open,
                "label": f"hop {item.hop}",
                "on": machine(item),
                "tokens": tokens(item)["delivered"],
                "why": item.packet.handover_reason,
            }
        case Closing():
            onwards = f"then {payload.hand_to}" if payload.hand_to else ""
            return {
                "kind": "on" if onwards else "return",
                "hop": item.hop,
                "from": event.receiver,
                "to": event.sender,
                "state": event.kind,
                "open": False,
                "label": event.kind,
                "on": "",
                "tokens": 0,
                "why": why(payload) or onwards,
            }
    return None


def _bar(item: Handover) -> Json:
    moments = times(item)
    return {
        "handover": item.id,
        "hop": item.hop,
        "agent": item.receiver,
        "depth": item.packet.identity.depth,
        "state": item.state,
        "open": item.is_open,
        "start": moments["delivered"] or moments["prepared"],
        "accepted": moments["accepted"],
        "end": moments["closed"],
    }


def _mark_text(payload: Payload) -> str | None:
    """What a mark says, None of an event that has none."""
    match payload:
        case HistoryRead(tokens=spent):
            return f"{countable(spent):,} tokens of history: {payload.reason or payload.range}"
        case Refused(code=code):
            return f"{code}: {payload.why or ', '.join(payload.asked)}"
        case DeclineLifted():
            return f"{payload.field}: {payload.verbatim or payload.by}"
        case Clarify(missing=()):
            return f"asked for what the packet holds: {', '.join(payload.already_held)}"
        case Superseded():
            return f"by {payload.by}"
        case Resumed():
            return payload.by
        case Escalated() | Interrupted() | Reopened():
            return payload.why
    return None


# --- one packet ----------------------------------------------------------------------------------


def packet_of(told: Story, handover_id: str) -> Json | None:
    """What was handed over and what came back, None when the chain has no such handover.

    {chain, summary: HandoverSummary, packet: as published (docs/packet.schema.json),
     returned: the packet after the hand-back or None, note: the hand-back's note or {},
     news: what the hand-back changed, omitted: [...], artifacts: {path: status at delivery},
     tools: which the receiver may use, "" for all,
     events: [{id, kind, time, from, to}]}
    """
    item = told.chain.find(handover_id)
    if item is None:
        return None
    closing = verdict(item) or Closing()
    delivered = item.last(Delivered) or Delivered()
    returned = item.returned
    return {
        "chain": told.chain.id,
        "own": told.own,
        "summary": handover_summary(item),
        "packet": item.packet.to_json(),
        "returned": returned.to_json() if returned else None,
        "note": closing.note.model_dump(mode="json", exclude_defaults=True),
        "news": list(news(returned, item.packet)) if returned else [],
        "omitted": list(item.prepared.omitted),
        "tools": tools_told(item.prepared.tools) if item.prepared.tools else "",
        "artifacts": dict(delivered.artifacts),
        "events": [_event(event) for event in item.events],
    }


def _event(event: Event) -> Json:
    return {
        "id": event.id,
        "kind": event.kind,
        "time": event.time,
        "from": event.sender,
        "to": event.receiver,
    }

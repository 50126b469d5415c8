"""A chain as plain JSON, for the command line, programs and the audit page. Pure: events in, JSON out.

Times are UTC as in the ledger (`2026-06-05T14:03:07.123456Z`, "" where it has not happened), durations seconds (None where
one end is missing or the clock went back), sizes tokens or bytes. Text from models and people is as recorded: whoever shows
it escapes it.

ChainSummary
    chain, topic, project      id, the topic's words, absolute path of the project
    state                      open | stopped | prepared | closed | foreign (no event is this installation's) | unreadable
    stop                       why it stands still, "" otherwise
    holder                     profile that holds the work, "" for the orchestrator
    own                        False: told by another installation's ledger, shown and never trusted
    started, updated           times of the first and the last event
    seconds                    first `prepared` to the last hand-back, None while something is open or prepared
    hops, verdicts             number of handovers; {state: how many}
    tokens                     {asked, delivered, left_out}; `estimated` true when counted without the tokenizer
    history_reads, escalations, refusals    how many of these events
    bytes, foreign, faults     of the ledger: its size, events of another installation, faults (`verify` names them)
    error                      why a chain is unreadable, "" otherwise
    handovers                  list of HandoverSummary, in the order of the ledger

HandoverSummary
    handover, hop, depth, parent, continues, answers     ids "" where there is none; depth is the sender's
    sender, receiver, topic, reason, goal
    state, open, implicit, outcome, hand_to, why
    prepared, delivered, accepted, closed                times
    queue_s, work_s, latency_s      delivered→accepted, accepted→verdict (pauses included), prepared→delivered
    tokens                          {asked, delivered, left_out, limit, estimated}
    turns, omitted                  recent turns that travelled; lines naming what was left out
    history_reads                   list of {time, reason, range, tokens}
    briefing                        list of {path, offset, length, kind}: where its entries are, kind as the event's
    decisions, artifacts, fields, questions              how many the packet carried
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..chain.chain import Chain, Handover, fold
from ..chain.news import news
from ..values.errors import RecordError
from ..values.events import CLOSED, KINDS, Delivered, Event

Json = dict[str, Any]

# Closing by a verdict, that is: not by a newer handover in its place.
VERDICTS = CLOSED - {"superseded"}
NOTABLE = frozenset(
    {
        "history_read",
        "refused",
        "escalated",
        "resumed",
        "decline_lifted",
        "interrupted",
        "reopened",
        "superseded",
    }
)


@dataclass(frozen=True)
class Story:
    """A chain and the events that tell it. `own` False: no event is this installation's, and it is told by what is there."""

    chain: Chain
    events: tuple[Event, ...]
    own: bool = True
    foreign: int = 0
    error: str = ""


def story(chain_id: str, events: Iterable[Event]) -> Story:
    """The story of a chain; one whose packets cannot be read has an `error` and no handovers."""
    everything = tuple(event for event in events if event.chain == chain_id)
    trusted = tuple(event for event in everything if event.trusted)
    own = bool(trusted) or not everything
    told = trusted if own else tuple(replace(event, trusted=True) for event in everything)
    foreign = len(everything) - len(trusted)
    try:
        return Story(fold(chain_id, told), told, own, foreign)
    except (RecordError, ValueError, TypeError) as error:
        return Story(Chain(chain_id), told, own, foreign, str(error))


# --- summaries -------------------------------------------------------------------------------------------------------


def summary(told: Story, *, project: str = "", size_bytes: int = 0, faults: int = 0) -> Json:
    """The ChainSummary of a chain."""
    chain, kinds = told.chain, Counter(event.kind for event in told.events)
    handovers = [handover_summary(chain, item) for item in chain.handovers]
    state = state_of(told)
    holder = chain.holder
    return {
        "chain": chain.id,
        "topic": chain.handovers[-1].packet.topic if chain.handovers else "",
        "project": project,
        "state": state,
        "stop": chain.stop,
        "holder": holder.receiver if holder else "",
        "own": told.own,
        "started": told.events[0].time if told.events else "",
        "updated": told.events[-1].time if told.events else "",
        "seconds": seconds_of(chain),
        "hops": len(handovers),
        "verdicts": dict(Counter(item["state"] for item in handovers)),
        "tokens": {
            **{
                name: sum(item["tokens"][name] for item in handovers)
                for name in ("asked", "delivered", "left_out")
            },
            "estimated": any(item["tokens"]["estimated"] for item in handovers),
        },
        "history_reads": kinds["history_read"],
        "escalations": kinds["escalated"],
        "refusals": kinds["refused"],
        "bytes": size_bytes,
        "foreign": told.foreign,
        "faults": faults,
        "error": told.error,
        "handovers": handovers,
    }


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
    return (
        "prepared" if any(item.state == "prepared" for item in told.chain.handovers) else "closed"
    )


def handover_summary(chain: Chain, item: Handover) -> Json:
    """The HandoverSummary of one handover."""
    identity, prepared, packet = item.packet.identity, item.events[0], item.packet
    closed = closing(item)
    data: Mapping[str, Any] = closed.data if closed else {}
    return {
        "handover": item.id,
        "hop": item.hop,
        "depth": identity.depth,
        "parent": identity.parent,
        "continues": item.continues,
        "answers": text(prepared.data.get("answers")),
        "sender": identity.sender,
        "receiver": identity.receiver,
        "topic": packet.topic,
        "goal": packet.goal,
        "reason": packet.handover_reason,
        "state": item.state,
        "open": item.is_open,
        "implicit": bool(data.get("implicit", False)),
        "outcome": text(data.get("outcome")),
        "hand_to": text(data.get("hand_to")),
        "why": why(closed),
        **times(item),
        "queue_s": queue_seconds(item),
        "work_s": work_seconds(item),
        "latency_s": latency_seconds(item),
        "tokens": tokens(item),
        "turns": number(prepared.data.get("turns")),
        "omitted": texts(prepared.data.get("omitted")),
        "history_reads": [
            history_read(event) for event in item.events if event.kind == "history_read"
        ],
        "briefing": briefing(item),
        "decisions": sum(decision.status == "active" for decision in packet.decisions),
        "artifacts": len(packet.artifacts),
        "fields": len(packet.state),
        "questions": len(packet.open_questions),
    }


def closing(item: Handover) -> Event | None:
    """The event that closed a handover, None while it is not closed."""
    return item.last_event(KINDS[item.state]) if item.state in CLOSED else None


def asks_nothing(event: Event) -> bool:
    """Whether this is a `clarify` for nothing but what the packet holds: it is answered at once and closes nothing."""
    return event.kind == "clarify" and not texts(event.data.get("missing"))


def why(event: Event | None) -> str:
    """The reason a hand-back gives, in its own words."""
    if event is None:
        return ""
    note = event.data.get("note")
    reason = note.get("reason") if isinstance(note, Mapping) else ""
    return text(event.data.get("why")) or text(reason)


def times(item: Handover) -> dict[str, str]:
    closed = closing(item)
    first = {
        kind: next((e.time for e in item.events if e.kind == kind), "")
        for kind in ("prepared", "delivered", "accepted")
    }
    return {**first, "closed": closed.time if closed else ""}


def tokens(item: Handover) -> Json:
    """Tokens of the package: what was asked to travel, what went, what was left out for the limit."""
    data = item.events[0].data
    asked, delivered = number(data.get("estimated")), number(data.get("delivered"))
    return {
        "asked": asked,
        "delivered": delivered,
        "left_out": max(0, asked - delivered),
        "limit": number(data.get("limit")),
        "estimated": data.get("token_counter") == "estimate",
    }


def history_read(event: Event) -> Json:
    return {
        "time": event.time,
        "reason": text(event.data.get("reason")),
        "range": event.data.get("range", ""),
        "tokens": number(event.data.get("tokens")),
    }


def briefing(item: Handover) -> list[Json]:
    """Where the entries of a handover stand; of an entry that was written again the last place."""
    kinds = {event.id: event.kind for event in item.events}
    found: dict[str, Json] = {}
    for event in item.events:
        if event.kind == "briefed":
            about = text(event.data.get("event"))
            place = {name: event.data.get(name) for name in ("path", "offset", "length")}
            found[about] = {**place, "kind": kinds.get(about, "")}
    return list(found.values())


# --- durations -------------------------------------------------------------------------------------------------------


def queue_seconds(item: Handover) -> float | None:
    """From delivered to accepted (a first action counts as accepting)."""
    found = times(item)
    return between(found["delivered"], found["accepted"])


def latency_seconds(item: Handover) -> float | None:
    """From prepared to delivered: the handover itself."""
    found = times(item)
    return between(found["prepared"], found["delivered"])


def work_seconds(item: Handover) -> float | None:
    """From accepted to the verdict, and again from every reopening to the next one; None while it is at work."""
    total: float | None = None
    since = ""
    for event in item.events:
        if event.kind in ("accepted", "reopened") and not since:
            since = event.time
        elif event.kind in VERDICTS and since and not asks_nothing(event):
            spent = between(since, event.time)
            total, since = None if spent is None else (total or 0.0) + spent, ""
    return None if since else total


def seconds_of(chain: Chain) -> float | None:
    """From the first `prepared` to the last hand-back; None while a handover is open or prepared, or there is none."""
    if (
        not chain.handovers
        or chain.open
        or any(item.state == "prepared" for item in chain.handovers)
    ):
        return None
    ends = [
        closed.time
        for item in chain.handovers
        if item.state in VERDICTS and (closed := closing(item))
    ]
    return between(chain.handovers[0].events[0].time, max(ends)) if ends else None


def between(start: str, end: str) -> float | None:
    """Seconds between two times of a ledger, None when one is missing or the clock went back."""
    if not start or not end:
        return None
    try:
        spent = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except ValueError:
        return None
    return spent if spent >= 0 else None


# --- the picture -----------------------------------------------------------------------------------------------------


def timeline(told: Story) -> Json:
    """Lanes, bars, arrows and marks of a chain, each in the order of the ledger.

    {chain, topic, state, start, end, seconds,
     lanes:  [{agent, hops}]                                     in order of appearance; the first is who handed over first
     bars:   [{handover, hop, agent, depth, state, open, start, end, accepted}]    end "" while open: who holds the work
     arrows: [{id, order, kind: handover | return | on, handover, hop, from, to, time, second, state, open, label, tokens, why}]
             `on`: a hand-back that names the next specialist; state is the verdict, for a handover what became of it
     marks:  [{id, order, kind, handover, agent, time, second, text}]   history reads, refusals, escalations, pauses, lifted
             declines, questions that the packet answered
    }
    `order` is the event's number in the ledger, which is what happened first; `second` counts from `start` and is None when the
    clock went back.
    """
    chain, events = told.chain, told.events
    start = events[0].time if events else ""
    arrows = [
        {"order": order, **arrow}
        for order, event in enumerate(events)
        if (arrow := _arrow(chain, event, start))
    ]
    bars = [_bar(item) for item in chain.handovers]
    hops = Counter(item.receiver for item in chain.handovers)
    agents = dict.fromkeys(name for arrow in arrows for name in (arrow["from"], arrow["to"]))
    return {
        "chain": chain.id,
        "topic": chain.handovers[-1].packet.topic if chain.handovers else "",
        "state": state_of(told),
        "start": start,
        "end": events[-1].time if events else "",
        "seconds": between(start, events[-1].time) if events else None,
        "lanes": [{"agent": agent, "hops": hops[agent]} for agent in agents],
        "bars": bars,
        "arrows": arrows,
        "marks": [
            {"order": order, **_mark(event, start)}
            for order, event in enumerate(events)
            if _notable(event)
        ],
    }


def _arrow(chain: Chain, event: Event, start: str) -> Json | None:
    """The arrow of an event that moves the work, else None."""
    item = chain.find(event.handover)
    if item is None or event.kind not in VERDICTS | {"prepared"} or asks_nothing(event):
        return None
    out = event.kind == "prepared"
    hand_to = text(event.data.get("hand_to"))
    return {
        "id": event.id,
        "kind": "handover" if out else "on" if hand_to else "return",
        "handover": event.handover,
        "hop": item.hop,
        "from": event.sender if out else event.receiver,
        "to": event.receiver if out else event.sender,
        "time": event.time,
        "second": between(start, event.time),
        "state": item.state if out else event.kind,
        "open": out and item.is_open,
        "label": f"hop {item.hop}" if out else event.kind,
        "tokens": tokens(item)["delivered"] if out else 0,
        "why": item.packet.handover_reason
        if out
        else why(event) or (f"then {hand_to}" if hand_to else ""),
    }


def _bar(item: Handover) -> Json:
    found = times(item)
    return {
        "handover": item.id,
        "hop": item.hop,
        "agent": item.receiver,
        "depth": item.packet.identity.depth,
        "state": item.state,
        "open": item.is_open,
        "start": found["delivered"] or found["prepared"],
        "accepted": found["accepted"],
        "end": found["closed"],
    }


def _notable(event: Event) -> bool:
    return event.kind in NOTABLE or asks_nothing(event)


def _mark(event: Event, start: str) -> Json:
    return {
        "id": event.id,
        "kind": event.kind,
        "handover": event.handover,
        "agent": event.receiver or event.sender,
        "time": event.time,
        "second": between(start, event.time),
        "text": _mark_text(event),
    }


def _mark_text(event: Event) -> str:
    data = event.data
    if event.kind == "history_read":
        return f"{number(data.get('tokens')):,} tokens of history: {text(data.get('reason')) or text(data.get('range'))}"
    if event.kind == "refused":
        asked = ", ".join(texts(data.get("asked")))
        return f"{text(data.get('code'))}: {text(data.get('why')) or asked}"
    if event.kind == "decline_lifted":
        return f"{text(data.get('field'))}: {text(data.get('verbatim'))}"
    if event.kind == "clarify":
        return f"asked for what the packet holds: {', '.join(texts(data.get('already_held')))}"
    if event.kind == "superseded":
        return f"by {text(data.get('by'))}"
    return text(data.get("why")) or text(data.get("by"))


# --- one packet ------------------------------------------------------------------------------------------------------


def packet_of(told: Story, handover_id: str) -> Json | None:
    """What was handed over and what came back, None when the chain has no such handover.

    {chain, summary: HandoverSummary, packet: the packet as published (docs/packet.schema.json),
     returned: the packet after the hand-back or None, note: the hand-back's note or {}, news: what the hand-back changed,
     omitted: [...], artifacts: {path: status at delivery}, events: [{id, kind, time, from, to}]}
    """
    item = told.chain.find(handover_id)
    if item is None:
        return None
    closed, delivered = closing(item), item.last_event(Delivered)
    note = closed.data.get("note") if closed else None
    statuses = delivered.data.get("artifacts") if delivered else None
    return {
        "chain": told.chain.id,
        "own": told.own,
        "summary": handover_summary(told.chain, item),
        "packet": item.packet.to_json(),
        "returned": item.returned.to_json() if item.returned else None,
        "note": dict(note) if isinstance(note, Mapping) else {},
        "news": list(news(item.returned, item.packet)) if item.returned else [],
        "omitted": texts(item.events[0].data.get("omitted")),
        "artifacts": dict(statuses) if isinstance(statuses, Mapping) else {},
        "events": [
            {"id": e.id, "kind": e.kind, "time": e.time, "from": e.sender, "to": e.receiver}
            for e in item.events
        ],
    }


# --- reading what another installation may have written --------------------------------------------------------------


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def texts(value: Any) -> list[str]:
    return (
        [item for item in value if isinstance(item, str)]
        if isinstance(value, Sequence) and not isinstance(value, str)
        else []
    )


def number(value: Any) -> int:
    return value if type(value) is int and value >= 0 else 0

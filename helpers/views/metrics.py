"""What the ledgers tell about how well handovers work; docs/metrics.md defines every measure.

Pure: events in, `Metrics` out; one chain at a time is held. A rate is None where its `n` is 0.
A new measure is a row of `MEASURES`, what `_Tally` counts for it, and its section in the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from statistics import fmean, median
from typing import Any

from ..chain.chain import Handover
from ..chain.news import news
from ..values.events import (
    UNKNOWN,
    Clarify,
    Closing,
    Delivered,
    Done,
    Escalated,
    Event,
    Prepared,
    Refused,
    Rejected,
    WithPacket,
)
from ..values.names import words
from ..values.packet import Decision, HandoverPacket
from ..values.roster import normal
from ..values.settings import Settings
from . import story
from .story import Story, asks_nothing

Json = dict[str, Any]

# Of `refused` events: what is no refused call.
_NARROWED, _NOT_WRITTEN = "authority", "append_failed"
_SHORTEST_QUOTE = 8  # characters
# What a package says of decisions whose reasons did not fit. Digits are few: it is a ledger's text.
_SHORTENED = re.compile(r"Decisions: (?:.*, )?(\d{1,9})(?: of \d+)? shortened")


@dataclass(frozen=True)
class Sla:
    """Limits in seconds, `work` by receiver (a normalised name); who is not there has none."""

    queue: float
    chain: float
    work: Mapping[str, float]


def sla_of(settings: Settings) -> Sla:
    """The limits of the settings."""
    work = {normal(entry.profile): entry.sla_minutes * 60 for entry in settings.roster.entries}
    return Sla(settings.sla_queue_minutes * 60, settings.chain_sla_minutes * 60, work)


@dataclass(frozen=True)
class Measure:
    """`hits` of `n`, or for a mean its `value`; `detail` is plain JSON."""

    n: int
    hits: int | None = None
    value: float | None = None
    detail: Json = field(default_factory=dict)
    id: str = ""
    label: str = ""

    @property
    def rate(self) -> float | None:
        """From 0 to 1; None where n is 0 or this is no rate."""
        return self.hits / self.n if self.n and self.hits is not None else None

    def to_json(self) -> Json:
        return {
            "id": self.id,
            "label": self.label,
            "n": self.n,
            "hits": self.hits,
            "rate": self.rate,
            "value": self.value,
            "detail": self.detail,
        }


@dataclass(frozen=True)
class Metrics:
    """All measures over `chains` chains with `handovers` handovers.

    `foreign` events are another installation's and count for nothing; `unreadable` chains could
    not be read, or not whole: what is readable of them counts.
    """

    chains: int
    handovers: int
    foreign: int
    unreadable: int
    measures: tuple[Measure, ...]

    def find(self, measure: str) -> Measure:
        return next(item for item in self.measures if item.id == measure)

    def to_json(self) -> Json:
        """{chains, handovers, foreign, unreadable, measures: [as `Measure.to_json`]}"""
        return {
            "chains": self.chains,
            "handovers": self.handovers,
            "foreign": self.foreign,
            "unreadable": self.unreadable,
            "measures": [item.to_json() for item in self.measures],
        }


def metrics(events: Iterable[Event], sla: Sla) -> Metrics:
    """The measures of all chains in `events`.

    They come chain by chain, no two chains of one name beside each other.
    """
    chains = groupby(events, key=attrgetter("chain"))
    return of_stories((story.story(chain, its_events) for chain, its_events in chains), sla)


def of_stories(stories: Iterable[Story], sla: Sla) -> Metrics:
    """The measures of chains that are read already, one at a time."""
    tally = _Tally(sla)
    for told in stories:
        tally.add(told)
    counts = tally.counts
    return Metrics(
        counts["chains"],
        counts["handovers"],
        counts["foreign"],
        counts["unreadable"],
        tuple(replace(row.measured(tally), id=row.id, label=row.label) for row in MEASURES),
    )


# --- counting ------------------------------------------------------------------------------------


@dataclass
class _Tally:
    """The counts so far; nothing of a chain but numbers is kept."""

    sla: Sla
    counts: Counter[str] = field(default_factory=Counter)
    hops: Counter[int] = field(default_factory=Counter)
    stops: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    queue: list[float] = field(default_factory=list)
    machines: Counter[str] = field(default_factory=Counter)
    work: list[float] = field(default_factory=list)
    chain: list[float] = field(default_factory=list)
    latency: list[float] = field(default_factory=list)

    def add(self, told: Story) -> None:
        self.counts["foreign"] += told.foreign
        if not told.own:
            return
        if told.error:
            self.counts["unreadable"] += 1
            return
        self.counts["unreadable"] += bool(told.lost)
        self.counts["chains"] += 1
        self.hops[sum(item.state != "superseded" for item in told.chain.handovers)] += 1
        self._add_stops(told.events)
        for item in told.chain.handovers:
            self._add_handover(item)
        for before, prepared, after in _steps(told.events):
            self.counts.update(retention(before, after, prepared.omitted))
        self._add_chain_time(told)

    def pick(self, *names: str) -> dict[str, int]:
        return {name: self.counts[name] for name in names}

    def _add_stops(self, events: Sequence[Event]) -> None:
        """Stops of a chain, each by the code of the refusal before it."""
        code, stopped = "unknown", False
        for event in events:
            match event.payload:
                case Refused(tool=tool) if tool:
                    self.counts["tools_refused"] += 1
                case Refused() as refusal:
                    code = refusal.code or "unknown"
                    self.refused[code] += 1
                case Escalated() if not event.handover:
                    self.stops[code] += 1
                    stopped = True
                case Prepared():
                    code = "unknown"
        self.counts["stopped"] += stopped

    def _add_handover(self, item: Handover) -> None:
        counts, tokens = self.counts, story.tokens(item)
        counts["handovers"] += 1
        for name in ("asked", "delivered", "left_out"):
            counts[f"tokens_{name}"] += tokens[name]
        counts["estimated"] += tokens["estimated"]
        counts["shortened_packages"] += bool(item.prepared.omitted)
        counts["delivered"] += item.last(Delivered) is not None
        counts["open"] += item.is_open
        if machine := story.machine(item):
            self.machines[machine] += 1
        self._add_history(story.history_reads(item))
        counts.update(claims(item))
        counts.update(quoted(item))
        self._add_answers(item)
        self._add_times(item)

    def _add_history(self, reads: Sequence[Json]) -> None:
        self.counts["pulled"] += bool(reads)
        self.counts["reads"] += len(reads)
        self.counts["read_tokens"] += sum(read["tokens"] for read in reads)

    def _add_answers(self, item: Handover) -> None:
        for event in item.events:
            match event.payload:
                case Clarify() as clarify:
                    self.counts.update(questions(clarify))
                case Rejected() as rejected:
                    self.rejected[story.why(rejected) or "no reason given"] += 1
        was_needed = needed(item)
        if was_needed is not None:
            self.counts["handed_back"] += 1
            self.counts["unneeded"] += not was_needed

    def _add_times(self, item: Handover) -> None:
        latency = story.latency_seconds(item)
        if latency is not None:
            self.latency.append(latency)
        queue = story.queue_seconds(item)
        if queue is not None:
            self.queue.append(queue)
            self.counts["queue_met"] += queue <= self.sla.queue
        verdict = story.verdict(item)
        self.counts["outcome_unknown"] += verdict is not None and verdict.outcome == UNKNOWN
        work, limit = story.work_seconds(item), self.sla.work.get(normal(item.receiver))
        if work is not None:
            self.work.append(work)
            if limit is not None:
                self.counts["work_rated"] += 1
                self.counts["work_met"] += work <= limit

    def _add_chain_time(self, told: Story) -> None:
        seconds = story.seconds_of(told.chain)
        if seconds is None:
            self.counts["unfinished"] += bool(told.chain.handovers)
            return
        self.chain.append(seconds)
        if seconds <= self.sla.chain:
            self.counts["chain_met"] += 1
        elif all(self._is_in_time(item) for item in told.chain.handovers):
            self.counts["late_by_sum"] += 1

    def _is_in_time(self, item: Handover) -> bool:
        limit = self.sla.work.get(normal(item.receiver), float("inf"))
        queue, work = story.queue_seconds(item) or 0, story.work_seconds(item) or 0
        return queue <= self.sla.queue and work <= limit


# --- the measures --------------------------------------------------------------------------------


def _chain_length(tally: _Tally) -> Measure:
    hops = tally.hops
    by_hops = {str(length): hops[length] for length in sorted(hops)}
    return Measure(
        hops.total(),
        value=fmean(hops.elements()) if hops else None,
        detail={"max": max(hops, default=0), "by_hops": by_hops},
    )


def _cap_exhaustion(tally: _Tally) -> Measure:
    by_reason = _most_first(tally.stops)
    return Measure(tally.counts["chains"], tally.counts["stopped"], detail={"by_reason": by_reason})


def _repeat_questions(tally: _Tally) -> Measure:
    counts = tally.counts
    return Measure(counts["asked"], counts["already_held"], detail=tally.pick("clarifications"))


def _decision_retention(tally: _Tally) -> Measure:
    detail = tally.pick("lost", "altered", "shortened", "with_rationale", "with_evidence")
    return Measure(tally.counts["decisions"], tally.counts["intact"], detail=detail)


def _sla_queue(tally: _Tally) -> Measure:
    detail = {"limit_s": tally.sla.queue, **tally.pick("open"), **_spread(tally.queue)}
    return Measure(len(tally.queue), tally.counts["queue_met"], detail=detail)


def _sla_work(tally: _Tally) -> Measure:
    detail = {**tally.pick("open", "outcome_unknown"), **_spread(tally.work)}
    return Measure(tally.counts["work_rated"], tally.counts["work_met"], detail=detail)


def _sla_chain(tally: _Tally) -> Measure:
    detail = {
        "limit_s": tally.sla.chain,
        **tally.pick("unfinished"),
        "late_though_every_stage_was_in_time": tally.counts["late_by_sum"],
        **_spread(tally.chain),
    }
    return Measure(len(tally.chain), tally.counts["chain_met"], detail=detail)


def _handover_latency(tally: _Tally) -> Measure:
    spread = _spread(tally.latency)
    return Measure(len(tally.latency), value=spread["median_s"], detail=spread)


def _elsewhere(tally: _Tally) -> Measure:
    by_machine = _most_first(tally.machines)
    return Measure(
        tally.counts["delivered"], tally.machines.total(), detail={"by_machine": by_machine}
    )


def _stage2_pulls(tally: _Tally) -> Measure:
    counts = tally.counts
    detail = {"reads": counts["reads"], "tokens": counts["read_tokens"]}
    return Measure(counts["delivered"], counts["pulled"], detail=detail)


def _refusals(tally: _Tally) -> Measure:
    by_reason = _most_first(tally.refused)
    detail = {
        "by_reason": by_reason,
        "rejected_by_receiver": _most_first(tally.rejected),
        "authority_narrowed": by_reason.pop(_NARROWED, 0),
        "tools_refused": tally.counts["tools_refused"],
        "not_written": by_reason.pop(_NOT_WRITTEN, 0),
    }
    calls = sum(by_reason.values())
    return Measure(tally.counts["handovers"] + calls, calls, detail=detail)


def _unneeded(tally: _Tally) -> Measure:
    return Measure(tally.counts["handed_back"], tally.counts["unneeded"])


def _claimed_declines(tally: _Tally) -> Measure:
    return Measure(tally.counts["declines"], tally.counts["claimed"])


def _contradicted_decisions(tally: _Tally) -> Measure:
    counts = tally.counts
    detail = {"decisions": counts["contradicted"]}
    return Measure(counts["handovers"], counts["contradicting"], detail=detail)


def _person_said_used(tally: _Tally) -> Measure:
    return Measure(tally.counts["sentences"], tally.counts["quoted"])


def _tokens(tally: _Tally) -> Measure:
    counts = tally.counts
    detail = {name: counts[f"tokens_{name}"] for name in ("asked", "delivered", "left_out")}
    detail["estimated"] = counts["estimated"]
    return Measure(counts["handovers"], counts["shortened_packages"], detail=detail)


@dataclass(frozen=True)
class Row:
    """A measure: its id in JSON and in docs/metrics.md, its name in words, how it is computed."""

    id: str
    label: str
    measured: Callable[[_Tally], Measure]


MEASURES = (
    Row("chain_length", "Chain length in hops, superseded ones not counted", _chain_length),
    Row("cap_exhaustion", "Chains stopped by a limit", _cap_exhaustion),
    Row("repeat_questions", "Questions the packet already answered", _repeat_questions),
    Row("decision_retention", "Decisions that arrive intact at the next hop", _decision_retention),
    Row("sla_queue", "Accepted within the queue time", _sla_queue),
    Row("sla_work", "Done within the specialist's time", _sla_work),
    Row("sla_chain", "Chains finished within the chain's time", _sla_chain),
    Row("handover_latency", "Seconds from prepared to delivered", _handover_latency),
    Row("elsewhere", "Handovers that went to another machine", _elsewhere),
    Row("stage2_pulls", "Handovers that needed the full history", _stage2_pulls),
    Row("refusals", "Handover calls that were refused", _refusals),
    Row("unneeded", "Hand-backs that brought nothing", _unneeded),
    Row("claimed_declines", "Declines of which the person never spoke", _claimed_declines),
    Row(
        "contradicted_decisions",
        "Handovers with a decision against the person's words",
        _contradicted_decisions,
    ),
    Row("person_said_used", "Sentences of the person that a verdict quotes", _person_said_used),
    Row("tokens", "Packages that had to leave something out", _tokens),
)


def _most_first(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def _spread(seconds: Sequence[float]) -> Json:
    return {"median_s": median(seconds) if seconds else None, "max_s": max(seconds, default=None)}


# --- definitions ---------------------------------------------------------------------------------


def questions(clarify: Clarify) -> Counter[str]:
    """What was asked for: names, each once, and how many of them the packet held already."""
    held = set(clarify.already_held)
    asked = held.union(clarify.missing)
    return Counter(asked=len(asked), already_held=len(held), clarifications=1)


def claims(item: Handover) -> Counter[str]:
    """What was claimed of the person at this hop: declines, those without a word of theirs, and
    decisions against their words."""
    counts: Counter[str] = Counter()
    newest = item.returned or item.packet
    for field_ in newest.state:
        if field_.hop == item.hop and field_.status in ("declined", "claimed"):
            counts["declines"] += 1
            counts["claimed"] += field_.status == "claimed"
    against = [*item.prepared.contradicted]
    for event in item.events:
        if isinstance(event.payload, Closing):
            against += event.payload.contradicted
    counts["contradicted"] = len(set(against))
    counts["contradicting"] = bool(against)
    return counts


def quoted(item: Handover) -> Counter[str]:
    """Of a handover that came back: the sentences of the person that it travelled with, and how many
    of them a field or decision of the verdict quotes."""
    if item.returned is None:
        return Counter()
    before = set(_texts(item.packet))
    added = [words(text) for text in _texts(item.returned) if text not in before]
    used = 0
    for sentence in item.packet.person_said:
        plain = words(sentence.text).rstrip(".!?…。！？")
        used += any(_quotes(text, plain) for text in added)
    return Counter(sentences=len(item.packet.person_said), quoted=used)


def _quotes(text: str, sentence: str) -> bool:
    is_part = len(text) >= _SHORTEST_QUOTE and text.rstrip(".!?…。！？") in sentence
    return sentence in text or is_part


def _texts(packet: HandoverPacket) -> Iterator[str]:
    for item in packet.state:
        yield item.verbatim
        yield item.value if isinstance(item.value, str) else ""
    for decision in packet.decisions:
        yield from (decision.text, decision.rationale, *decision.evidence)


def _steps(events: Iterable[Event]) -> Iterator[tuple[HandoverPacket, Prepared, HandoverPacket]]:
    """Each handover but the first: the packet the chain held, and the one handed over.

    An event that cannot follow, such as a verdict after the verdict, changes nothing, as in `fold`.
    """
    newest: HandoverPacket | None = None
    states: dict[str, str] = {}
    for event in events:
        payload = event.payload
        can_follow = states.get(event.handover) in payload.follows or isinstance(payload, Prepared)
        if not can_follow or asks_nothing(payload):
            continue
        states[event.handover] = payload.state
        if not isinstance(payload, WithPacket) or payload.packet is None:
            continue
        if isinstance(payload, Prepared) and newest is not None:
            yield newest, payload, payload.packet
        newest = payload.packet


def retention(
    before: HandoverPacket, after: HandoverPacket, omitted: Sequence[str]
) -> Counter[str]:
    """How the active decisions of a packet arrive: intact, shortened in the package, altered, lost.

    One that was superseded, rejected or declined on the way, or has a newer version, was changed
    on purpose and is not counted.
    """
    arrived: dict[str, list[Decision]] = {}
    for decision in after.decisions:
        arrived.setdefault(decision.id, []).append(decision)
    counts: Counter[str] = Counter()
    for decision in before.decisions:
        fate = _fate(decision, arrived.get(decision.id, []))
        if decision.status == "active" and fate:
            counts.update((fate, "decisions"))
            counts["with_rationale"] += bool(decision.rationale)
            counts["with_evidence"] += bool(decision.evidence)
    shortened = min(counts["intact"], _shortened(omitted))
    counts["intact"] -= shortened
    counts["shortened"] += shortened
    return counts


def _fate(decision: Decision, same: Sequence[Decision]) -> str:
    """intact, altered or lost; "" for a change on purpose."""
    if not same:
        return "lost"
    fate = "altered"
    for item in same:
        if item.version > decision.version or item.status != "active":
            return ""
        if _says_as_much(item, decision):
            fate = "intact"
    return fate


def _says_as_much(item: Decision, decision: Decision) -> bool:
    return (
        item.text == decision.text
        and decision.rationale in ("", item.rationale)
        and set(decision.evidence) <= set(item.evidence)
    )


def _shortened(omitted: Iterable[str]) -> int:
    """How many decisions the package has as titles only."""
    matches = map(_SHORTENED.match, omitted)
    return sum(int(match[1]) for match in matches if match)


def needed(item: Handover) -> bool | None:
    """Whether a hand-back brought a decision, artifact, state change or question.

    None where nothing was handed back, or only an answer without a verdict.
    """
    verdict = story.verdict(item)
    if verdict is not None and verdict.outcome == UNKNOWN:
        return None
    if item.returned is None or not isinstance(verdict, Done | Rejected | Clarify):
        return None
    if isinstance(verdict, Clarify) and verdict.missing:
        return True
    return bool(set(news(item.returned, item.packet)) - {"summary"})

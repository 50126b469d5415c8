"""What the ledgers tell about how well handovers work; every measure is defined in docs/metrics.md with its source.

Pure: events in, `Metrics` out; one chain at a time is held. A rate is None where its `n` is 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from statistics import fmean, median
from typing import Any

from ..chain.chain import Handover
from ..chain.news import news
from ..values.errors import RecordError
from ..values.events import KINDS, Event, Payload
from ..values.packet import Decision, HandoverPacket
from ..values.roster import normal
from ..values.settings import Settings
from . import story
from .story import Story, asks_nothing, number, text, texts

Json = dict[str, Any]

# Of `refused` events: what is no refused call.
_NARROWED, _NOT_WRITTEN = "authority", "append_failed"
# What `budget` says of decisions whose reasons did not fit.
_SHORTENED = re.compile(r"Decisions: (?:.*, )?(\d+)(?: of \d+)? shortened")


@dataclass(frozen=True)
class Sla:
    """Limits in seconds. `work` is by receiver (normalised profile name); a receiver that is not there has none."""

    queue: float
    chain: float
    work: Mapping[str, float]


def sla_of(settings: Settings) -> Sla:
    """The limits of the settings."""
    work = {normal(entry.profile): entry.sla_minutes * 60 for entry in settings.roster.entries}
    return Sla(settings.sla_queue_minutes * 60, settings.chain_sla_minutes * 60, work)


@dataclass(frozen=True)
class Measure:
    """`hits` of `n`; `detail` is plain JSON. For a mean or a sum `value` is the number and `hits` is None."""

    id: str
    label: str
    n: int
    hits: int | None = None
    value: float | None = None
    detail: Json = field(default_factory=dict)

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

    `foreign` events are another installation's and count for nothing; `unreadable` chains were left out.
    """

    chains: int
    handovers: int
    foreign: int
    unreadable: int
    measures: tuple[Measure, ...]

    def find(self, measure: str) -> Measure:
        return next(item for item in self.measures if item.id == measure)

    def to_json(self) -> Json:
        """{chains, handovers, foreign, unreadable, measures: [{id, label, n, hits, rate, value, detail}]}"""
        return {
            "chains": self.chains,
            "handovers": self.handovers,
            "foreign": self.foreign,
            "unreadable": self.unreadable,
            "measures": [item.to_json() for item in self.measures],
        }


def metrics(events: Iterable[Event], sla: Sla) -> Metrics:
    """The measures of all chains in `events`, which must come chain by chain, no two chains of one name beside each other."""
    return of_stories(
        (story.story(chain, told) for chain, told in groupby(events, key=attrgetter("chain"))), sla
    )


def of_stories(stories: Iterable[Story], sla: Sla) -> Metrics:
    """The measures of chains that are read already, one at a time."""
    tally = _Tally(sla)
    for told in stories:
        tally.add(told)
    return tally.result()


@dataclass
class _Tally:
    """The counts so far; nothing of a chain but numbers is kept."""

    sla: Sla
    foreign: int = 0
    unreadable: int = 0
    hops: list[int] = field(default_factory=list)
    stopped: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    stops: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(
        default_factory=lambda: {name: [] for name in ("queue", "work", "chain", "latency")}
    )

    def add(self, told: Story) -> None:
        self.foreign += told.foreign
        if not told.own:
            return
        try:
            steps = tuple(_steps(told.events))
        except RecordError:
            steps = None
        if told.error or steps is None:
            self.unreadable += 1
            return
        chain = told.chain
        self.hops.append(sum(item.state != "superseded" for item in chain.handovers))
        self._stops(told.events)
        for item in chain.handovers:
            self._handover(item)
        for before, after, omitted in steps:
            self.counts.update(retention(before, after, omitted))
        self._chain_time(told)

    def _stops(self, events: Sequence[Event]) -> None:
        code, stopped = "", False
        for event in events:
            if event.kind == "refused":
                code = text(event.data.get("code")) or "unknown"
                self.refused[code] += 1
            elif event.kind == "escalated" and not event.handover:
                self.stops[code or "unknown"] += 1
                stopped = True
            elif event.kind == "prepared":
                code = ""
        self.stopped += stopped

    def _handover(self, item: Handover) -> None:
        found = story.tokens(item)
        self.tokens.update({name: found[name] for name in ("asked", "delivered", "left_out")})
        self.counts["handovers"] += 1
        self.counts["estimated"] += found["estimated"]
        self.counts["shortened_packages"] += bool(texts(item.events[0].data.get("omitted")))
        self.counts["delivered"] += any(event.kind == "delivered" for event in item.events)
        self._history(item)
        for event in item.events:
            if event.kind == "clarify":
                self.counts.update(questions(event))
            elif event.kind == "rejected":
                self.rejected[story.why(event) or "no reason given"] += 1
        if (verdict := needed(item)) is not None:
            self.counts["handed_back"] += 1
            self.counts["unneeded"] += not verdict
        self._stages(item)

    def _history(self, item: Handover) -> None:
        reads = [event for event in item.events if event.kind == "history_read"]
        self.counts["pulled"] += bool(reads)
        self.counts["reads"] += len(reads)
        self.counts["read_tokens"] += sum(number(event.data.get("tokens")) for event in reads)

    def _stages(self, item: Handover) -> None:
        limits = {
            "queue": self.sla.queue,
            "work": self.sla.work.get(normal(item.receiver)),
            "latency": None,
        }
        spent = {
            "queue": story.queue_seconds(item),
            "work": story.work_seconds(item),
            "latency": story.latency_seconds(item),
        }
        self.counts["open"] += item.is_open
        for stage, seconds in spent.items():
            if seconds is None:
                continue
            self.seconds[stage].append(seconds)
            limit = limits[stage]
            self.counts[f"{stage}_n"] += limit is not None
            self.counts[f"{stage}_met"] += limit is not None and seconds <= limit

    def _chain_time(self, told: Story) -> None:
        seconds = story.seconds_of(told.chain)
        if seconds is None:
            self.counts["unfinished_chains"] += bool(told.chain.handovers)
            return
        self.seconds["chain"].append(seconds)
        self.counts["chain_met"] += seconds <= self.sla.chain
        self.counts["late_by_sum"] += seconds > self.sla.chain and all(
            self._stages_met(item) for item in told.chain.handovers
        )

    def _stages_met(self, item: Handover) -> bool:
        limit = self.sla.work.get(normal(item.receiver), float("inf"))
        return (story.queue_seconds(item) or 0) <= self.sla.queue and (
            story.work_seconds(item) or 0
        ) <= limit

    # the result

    def result(self) -> Metrics:
        return Metrics(
            len(self.hops),
            self.counts["handovers"],
            self.foreign,
            self.unreadable,
            tuple(self._measures()),
        )

    def _measures(self) -> Iterator[Measure]:
        counts, chains = self.counts, len(self.hops)
        yield Measure(
            "chain_length",
            "Chain length in hops, superseded ones not counted",
            chains,
            value=fmean(self.hops) if chains else None,
            detail={
                "max": max(self.hops, default=0),
                "by_hops": {str(hops): n for hops, n in sorted(Counter(self.hops).items())},
            },
        )
        yield Measure(
            "cap_exhaustion",
            "Chains stopped by a limit",
            chains,
            self.stopped,
            detail={"by_reason": _sorted(self.stops)},
        )
        yield Measure(
            "repeat_questions",
            "Questions the packet already answered",
            counts["asked"],
            counts["already_held"],
            detail={"clarifications": counts["clarifications"]},
        )
        yield Measure(
            "decision_retention",
            "Decisions that arrive intact at the next hop",
            counts["decisions"],
            counts["intact"],
            detail={
                name: counts[name]
                for name in ("lost", "altered", "shortened", "with_rationale", "with_evidence")
            },
        )
        yield self._stage(
            "queue",
            "Accepted within the queue time",
            {"limit_s": self.sla.queue, "open": counts["open"]},
        )
        yield self._stage("work", "Done within the specialist's time", {"open": counts["open"]})
        yield Measure(
            "sla_chain",
            "Chains finished within the chain's time",
            len(self.seconds["chain"]),
            counts["chain_met"],
            detail={
                "limit_s": self.sla.chain,
                "unfinished": counts["unfinished_chains"],
                "late_though_every_stage_was_in_time": counts["late_by_sum"],
                **_spread(self.seconds["chain"]),
            },
        )
        latency = self.seconds["latency"]
        yield Measure(
            "handover_latency",
            "Seconds from prepared to delivered",
            len(latency),
            value=median(latency) if latency else None,
            detail=_spread(latency),
        )
        yield Measure(
            "stage2_pulls",
            "Handovers that needed the full history",
            counts["delivered"],
            counts["pulled"],
            detail={"reads": counts["reads"], "tokens": counts["read_tokens"]},
        )
        yield self._refusals()
        yield Measure(
            "unneeded",
            "Hand-backs that brought nothing",
            counts["handed_back"],
            counts["unneeded"],
        )
        yield Measure(
            "tokens",
            "Packages that had to leave something out",
            counts["handovers"],
            counts["shortened_packages"],
            detail={
                **{name: self.tokens[name] for name in ("asked", "delivered", "left_out")},
                "estimated": counts["estimated"],
            },
        )

    def _stage(self, stage: str, label: str, detail: Json) -> Measure:
        return Measure(
            f"sla_{stage}",
            label,
            self.counts[f"{stage}_n"],
            self.counts[f"{stage}_met"],
            detail={**detail, **_spread(self.seconds[stage])},
        )

    def _refusals(self) -> Measure:
        refused = {
            code: n
            for code, n in _sorted(self.refused).items()
            if code not in (_NARROWED, _NOT_WRITTEN)
        }
        calls = sum(refused.values())
        return Measure(
            "refusals",
            "Handover calls that were refused",
            self.counts["handovers"] + calls,
            calls,
            detail={
                "by_reason": refused,
                "rejected_by_receiver": _sorted(self.rejected),
                "authority_narrowed": self.refused[_NARROWED],
                "not_written": self.refused[_NOT_WRITTEN],
            },
        )


def _sorted(counter: Counter[str]) -> dict[str, int]:
    """The most frequent first."""
    return {
        name: n for name, n in sorted(counter.items(), key=lambda item: (-item[1], item[0])) if n
    }


def _spread(seconds: Sequence[float]) -> Json:
    return {"median_s": median(seconds) if seconds else None, "max_s": max(seconds, default=None)}


# --- definitions -----------------------------------------------------------------------------------------------------


def questions(clarify: Event) -> Counter[str]:
    """What a `clarify` asked for: names, each once, and how many of them the packet held already."""
    held = set(texts(clarify.data.get("already_held")))
    asked = held | set(texts(clarify.data.get("missing")))
    return Counter(asked=len(asked), already_held=len(held), clarifications=1)


def _steps(
    events: Iterable[Event],
) -> Iterator[tuple[HandoverPacket, HandoverPacket, Sequence[str]]]:
    """Each handover but the first: the packet the chain held, the one handed over, and what its package left out.

    An event that cannot follow, such as a verdict after the verdict, changes nothing, as in `chain.fold`.
    """
    newest: HandoverPacket | None = None
    states: dict[str, Any] = {}
    for event in events:
        state = states.get(event.handover)
        if event.kind != "prepared" and state not in KINDS.get(event.kind, Payload).follows:
            continue
        if not asks_nothing(event):
            states[event.handover] = "accepted" if event.kind == "reopened" else event.kind
        packet = event.packet
        if packet is None:
            continue
        if event.kind == "prepared" and newest is not None:
            yield newest, packet, texts(event.data.get("omitted"))
        newest = packet


def retention(
    before: HandoverPacket, after: HandoverPacket, omitted: Sequence[str]
) -> Counter[str]:
    """How the active decisions of a packet arrive in the next: intact, shortened in the package, altered or lost.

    One that was superseded, rejected or declined on the way, or has a newer version, was changed on purpose and is not counted.
    """
    found: Counter[str] = Counter()
    for decision in before.decisions:
        if decision.status != "active":
            continue
        fate = _fate(decision, [item for item in after.decisions if item.id == decision.id])
        if fate:
            found.update((fate, "decisions"))
            found["with_rationale"] += bool(decision.rationale)
            found["with_evidence"] += bool(decision.evidence)
    shortened = min(
        found["intact"], sum(int(match[1]) for line in omitted if (match := _SHORTENED.match(line)))
    )
    found["intact"] -= shortened
    found["shortened"] += shortened
    return found


def _fate(decision: Decision, same: Sequence[Decision]) -> str:
    if not same:
        return "lost"
    if any(item.version > decision.version or item.status != "active" for item in same):
        return ""
    whole = (
        item.text == decision.text
        and item.rationale == (decision.rationale or item.rationale)
        and set(decision.evidence) <= set(item.evidence)
        for item in same
    )
    return "intact" if any(whole) else "altered"


def needed(item: Handover) -> bool | None:
    """Whether a hand-back brought a decision, artifact, state change or question; None where nothing was handed back."""
    closed = story.closing(item)
    if (
        closed is None
        or closed.kind not in ("done", "rejected", "clarify")
        or item.returned is None
    ):
        return None
    asked = texts(closed.data.get("missing"))
    return bool(asked) or bool(set(news(item.returned, item.packet)) - {"summary"})

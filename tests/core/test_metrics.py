"""Each measure of docs/metrics.md against a ledger whose numbers can be counted by hand."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from usr.plugins.software_orchestrator.helpers.records.ledger import Ledger
from usr.plugins.software_orchestrator.helpers.values.events import Failed, about
from usr.plugins.software_orchestrator.helpers.values.packet import Decision
from usr.plugins.software_orchestrator.helpers.views import metrics as measuring
from usr.plugins.software_orchestrator.helpers.views.metrics import Sla, metrics, sla_of
from usr.plugins.software_orchestrator.tests.core.chain_maker import (
    KEY,
    OTHER_KEY,
    SETTINGS,
    ChainMaker,
    decided,
    hero_chain,
)

ROOT = Path(__file__).resolve().parents[2]
SLA = sla_of(SETTINGS)


@pytest.fixture
def made(tmp_path):
    return ChainMaker(tmp_path / "project")


def of(made, key=KEY, sla=SLA):
    return metrics(Ledger(made.ledger, key).read().events, sla)


def measure(made, name, **other):
    return of(made, **other).find(name)


def test_the_limits_come_from_the_settings():
    assert (SLA.queue, SLA.chain, SLA.work["frontend_designer"]) == (600, 14400, 3600)


def test_without_events_there_is_no_rate_at_all():
    empty = metrics((), SLA)
    assert [item.rate for item in empty.measures] == [None] * len(empty.measures)
    assert [item.value for item in empty.measures] == [None] * len(empty.measures)
    assert {item.n for item in empty.measures} == {0}


def test_every_measure_is_defined_in_the_documentation_and_no_other_is():
    page = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    assert re.findall(r"^## .*\(`(\w+)`\)$", page, re.MULTILINE) == [
        item.id for item in metrics((), SLA).measures
    ]


def test_a_chain_is_as_long_as_its_handovers_without_those_superseded(made):
    made.hand_over()
    made.hand_over(summary="Another summary, so the first is superseded.")
    made.hand_over("quality_reviewer")
    found = measure(made, "chain_length")
    assert (found.value, found.n, found.detail) == (2, 1, {"max": 2, "by_hops": {"2": 1}})


def test_a_chain_that_a_limit_stopped_counts_once_with_its_reasons(made):
    packet = made.hand_over()
    assert measure(made, "cap_exhaustion").rate == 0
    made.tell(packet, "refused", code="hops", why="12 is reached")
    made.stop("12 is reached")
    made.resume()
    made.tell(packet, "refused", code="depth", why="3 is reached")
    made.stop("3 is reached")
    found = measure(made, "cap_exhaustion")
    assert (found.hits, found.n, found.detail["by_reason"]) == (1, 1, {"depth": 1, "hops": 1})


def test_an_escalation_of_a_specialist_is_no_cap(made):
    packet = made.hand_over()
    made.deliver(packet)
    made.hand_back(packet, "escalated", why="the person must decide")
    assert measure(made, "cap_exhaustion").hits == 0


def test_a_question_that_the_packet_answered_is_a_repeat_each_name_once(made):
    packet = made.hand_over()
    made.deliver(packet)
    made.tell(packet, "clarify", missing=[], already_held=["ticket"])
    made.tell(packet, "clarify", missing=["browsers", "budget", "ticket"], already_held=["ticket"])
    found = measure(made, "repeat_questions")
    assert (found.hits, found.n, found.detail) == (2, 4, {"clarifications": 2})


# --- decisions ---


def retained(made):
    found = measure(made, "decision_retention")
    return found.hits, found.n, {name: n for name, n in found.detail.items() if n}


def test_decisions_that_arrive_with_rationale_and_evidence_are_retained(made):
    made.hand_over()
    made.hand_over("quality_reviewer")
    assert retained(made) == (2, 2, {"with_rationale": 1, "with_evidence": 1})


def test_the_first_handover_has_nothing_to_retain(made):
    made.hand_over()
    assert measure(made, "decision_retention").rate is None


def test_a_decision_that_did_not_arrive_is_lost_and_one_without_its_reason_is_altered(made):
    packet = made.hand_over()
    made.deliver(packet)
    made.hand_back(packet, changes=decided(packet, "d3", "AVIF"))
    bare = (Decision(id="d1", text="No video"), Decision(id="d2", text="Keep the headline"))
    poorer = packet.model_copy(
        update={
            "decisions": bare,
            "identity": packet.identity.model_copy(update={"handover_id": "ho-poorer", "hop": 2}),
        }
    )
    made.tell(
        poorer,
        "prepared",
        packet=poorer.to_json(),
        limit=1,
        estimated=1,
        delivered=1,
        omitted=[],
        turns=0,
    )
    assert retained(made) == (
        1,
        3,
        {"lost": 1, "altered": 1, "with_rationale": 1, "with_evidence": 1},
    )


def test_a_decision_that_another_replaced_is_not_counted(made):
    made.hand_over()
    made.hand_over(
        "quality_reviewer",
        decisions=[{"id": "d1", "text": "A short video", "rationale": "the person asked for it"}],
    )
    assert retained(made) == (1, 1, {})


def test_a_decision_whose_reason_did_not_fit_into_the_package_is_not_retained(made):
    long = [
        {"id": f"d{n}", "text": f"Decision {n}", "rationale": "because " * 60} for n in range(10)
    ]
    made.hand_over(decisions=long)
    packet = made.hand_over("quality_reviewer", max_context_tokens=700, decisions=long)
    omitted = Ledger(made.ledger, KEY).read().events[-2].data["omitted"]
    assert packet.identity.hop == 2
    assert any(line.startswith("Decisions: ") for line in omitted)
    hits, n, detail = retained(made)
    assert (n, detail["with_rationale"]) == (10, 10)
    assert hits == n - detail["shortened"] < n


# --- time ---


def test_queue_and_work_are_measured_against_their_limits(made):
    first = made.hand_over()
    made.wait(2)
    made.deliver(first, queue=10)
    made.wait(60)
    made.hand_back(first)
    second = made.hand_over("quality_reviewer", summary="The hero is built.")
    made.deliver(second, queue=10.5)
    made.wait(31)
    made.hand_back(second)
    found = of(made)
    queue, work, latency = (
        found.find("sla_queue"),
        found.find("sla_work"),
        found.find("handover_latency"),
    )
    assert (queue.hits, queue.n, queue.detail["max_s"]) == (1, 2, 630)
    assert (work.hits, work.n, work.detail["max_s"]) == (1, 2, 3600)
    assert (latency.value, latency.n) == (60, 2)


def test_a_handover_that_is_at_work_is_open_and_not_in_any_rate_of_work(made):
    made.deliver(made.hand_over())
    found = measure(made, "sla_work")
    assert (found.rate, found.n, found.detail["open"]) == (None, 0, 1)


def test_work_that_was_reopened_counts_both_times(made):
    packet = made.hand_over()
    made.deliver(packet)
    made.wait(40)
    made.hand_back(packet, "clarify", missing=["browsers"])
    made.wait(500)
    made.tell(packet, "reopened", why="answered")
    made.wait(15)
    made.hand_back(packet)
    assert measure(made, "sla_work").detail["max_s"] == 55 * 60


def test_a_receiver_without_a_limit_is_measured_and_not_rated(made):
    packet = made.hand_over()
    made.deliver(packet)
    made.hand_back(packet)
    found = measure(made, "sla_work", sla=Sla(600, 14400, {}))
    assert (found.n, found.detail["max_s"]) == (0, 0)


def test_a_chain_can_be_late_though_every_stage_was_in_time(made):
    first = made.hand_over()
    made.wait(300)
    made.deliver(first)
    assert measure(made, "sla_chain").n == 0
    made.wait(10)
    made.hand_back(first)
    found = measure(made, "sla_chain")
    assert (found.hits, found.n, found.detail["late_though_every_stage_was_in_time"]) == (0, 1, 1)


def test_a_clock_that_went_back_gives_no_duration(made):
    packet = made.hand_over()
    made.deliver(packet)
    made.wait(-30)
    made.hand_back(packet)
    assert measure(made, "sla_work").n == 0


# --- the rest ---


def test_a_handover_that_read_history_counts_once_however_often_it_read(made):
    packet = made.hand_over()
    made.deliver(packet)
    made.tell(packet, "history_read", reason="why", range="all", tokens=900)
    made.tell(packet, "history_read", reason="why", range="all", tokens=100)
    found = measure(made, "stage2_pulls")
    assert (found.hits, found.n, found.detail) == (1, 1, {"reads": 2, "tokens": 1000})


def test_refused_calls_are_counted_by_reason_and_narrowed_authority_is_none(made):
    packet = made.hand_over()
    made.refuse()
    made.refuse("a0_software_orchestrator")
    made.tell(packet, "refused", code="authority", asked=["deploy"])
    made.tell(packet, "refused", code="authority", tool="text_editor:write")
    made.deliver(packet)
    made.hand_back(packet, "rejected", note={"reason": "not mine"})
    found = measure(made, "refusals")
    assert (found.hits, found.n) == (2, 3)
    assert found.detail == {
        "by_reason": {"self": 2},
        "rejected_by_receiver": {"not mine": 1},
        "authority_narrowed": 1,
        "tools_refused": 1,
        "not_written": 0,
    }


@pytest.mark.parametrize(
    ("verdict", "given", "unneeded"),
    [
        ("done", {}, 1),
        ("rejected", {}, 1),
        ("clarify", {"missing": ["browsers"]}, 0),
        ("done", {"changes": {"summary": "only words"}}, 1),
    ],
)
def test_a_hand_back_that_brought_nothing_was_not_needed(made, verdict, given, unneeded):
    packet = made.hand_over()
    made.deliver(packet)
    made.hand_back(packet, verdict, **given)
    found = measure(made, "unneeded")
    assert (found.hits, found.n) == (unneeded, 1)


def test_a_question_that_the_packet_answers_hands_nothing_back(made):
    packet = made.hand_over()
    made.deliver(packet)
    made.wait(10)
    made.tell(packet, "clarify", missing=[], already_held=["ticket"])
    made.wait(10)
    made.hand_back(packet)
    assert (measure(made, "unneeded").n, measure(made, "sla_work").detail["max_s"]) == (1, 1200)


def test_a_hand_back_with_a_decision_was_needed_and_a_failed_one_is_not_asked(made):
    packet = made.hand_over()
    made.deliver(packet)
    made.hand_back(packet, changes=decided(packet, "d3", "AVIF"))
    other = made.hand_over("quality_reviewer", summary="Now review.")
    made.hand_back(other, "failed")
    assert (measure(made, "unneeded").hits, measure(made, "unneeded").n) == (0, 1)


def test_handovers_are_counted_by_the_machine_they_went_to(made):
    made.deliver(made.hand_over())
    away = made.hand_over("quality_reviewer", summary="Now review.")
    made.tell(away, "delivered", way="remote", remote="https://there.example:443", task="t")
    found = measure(made, "elsewhere")
    assert (found.hits, found.n) == (1, 2)
    assert found.detail == {"by_machine": {"https://there.example:443": 1}}


def test_tokens_are_summed_over_handovers(made):
    made.hand_over()
    made.hand_over("quality_reviewer", max_context_tokens=240, summary="word " * 250)
    found = measure(made, "tokens")
    assert (found.hits, found.n) == (1, 2)
    assert found.detail["asked"] - found.detail["delivered"] == found.detail["left_out"] > 0


def test_another_installations_events_count_for_nothing(made):
    made.hand_over()
    found = of(made, key=OTHER_KEY)
    assert (found.chains, found.handovers, found.foreign) == (0, 0, 2)


def test_a_chain_that_cannot_be_read_whole_is_told_and_the_rest_counts(tmp_path):
    whole = hero_chain(tmp_path / "project")
    broken = ChainMaker(tmp_path / "project", topic="Another", seed=500)
    packet = broken.hand_over()
    raw = {**packet.to_json(), "identity": {**packet.to_json()["identity"], "schema": 99}}
    with broken.folder.lock(1):
        draft = replace(about(packet, Failed()), data={"packet": raw})
        Ledger(broken.ledger, KEY).append([draft])
    events = [event for path in whole.folder.ledgers() for event in Ledger(path, KEY).read().events]
    found = metrics(events, SLA)
    assert (found.chains, found.handovers, found.unreadable) == (2, 4, 1)


def test_the_json_form_has_every_measure_with_its_n(tmp_path):
    found = of(hero_chain(tmp_path / "project")).to_json()
    assert found["chains"] == 1
    assert all(
        {"id", "label", "n", "hits", "rate", "value", "detail"} == item.keys()
        for item in found["measures"]
    )
    assert (
        measuring.Metrics.find(of(hero_chain(tmp_path / "second")), "repeat_questions").rate == 0.5
    )

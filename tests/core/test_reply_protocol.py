"""The way back, without a host: what is recorded, what the superior reads, and that nothing stays open."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.chain.answered import answer_to
from usr.plugins.software_orchestrator.helpers.chain.chain import OPEN
from usr.plugins.software_orchestrator.helpers.flow import close, receive
from usr.plugins.software_orchestrator.helpers.flow import deliver as flow_deliver
from usr.plugins.software_orchestrator.helpers.records.shelf import peek
from usr.plugins.software_orchestrator.helpers.text import fitting, quote, tokens
from usr.plugins.software_orchestrator.helpers.values.call import Call
from usr.plugins.software_orchestrator.helpers.values.errors import HandoverError, RefusedError
from usr.plugins.software_orchestrator.helpers.views import audit, metrics
from usr.plugins.software_orchestrator.tests.core.chain_maker import KEY, SETTINGS, ChainMaker

NOTE = {
    "what_happened": "Hero built.",
    "observations": "120 kB.",
    "user_state": "calm",
    "next": "Review.",
}
COUNT = tokens.counter().count
TEXT = (
    st.text(max_size=400)
    | st.text(alphabet="{}ab \n", max_size=60)
    | st.integers(1, 400).map(lambda n: "word " * n)
)


class Desk:
    """A chain with one delivered handover, and the calls of the reply side on it."""

    def __init__(self, root: Path) -> None:
        self.made = ChainMaker(root)
        self.packet = self.made.hand_over()
        self.id = self.packet.identity.handover_id

    @property
    def rest(self) -> Call:
        return self.made.call(inside=self.id, sender="frontend_designer", person_count=1)

    @property
    def chain(self) -> Any:
        return peek(self.made.folder, self.made.chain_id, self.made.call())

    @property
    def state(self) -> str:
        return self.chain.find(self.id).state

    def deliver(self) -> Any:
        return flow_deliver.deliver(self.id, self.made.call(person_count=1), way="start")

    def reply(self, **args: Any) -> Any:
        return receive.reply(args, self.rest)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    found = Desk(tmp_path / "project")
    found.deliver()
    return found


@given(
    texts=st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), TEXT, max_size=4),
    limit=st.integers(0, 200),
)
def test_texts_that_share_a_limit_never_exceed_it_and_what_was_cut_is_named(
    texts: dict[str, str], limit: int
) -> None:
    kept, cut = fitting.fit_texts(texts, limit, COUNT)
    assert sum(map(COUNT, kept.values())) <= limit
    assert {name for name, text in texts.items() if text and kept.get(name) != text} == set(cut)


@given(TEXT | st.from_regex(r"\{{1,7}[a-z]{0,3}\}{0,4}", fullmatch=True))
def test_inert_text_holds_no_double_brace_and_loses_no_character(text: str) -> None:
    calm = quote.inert(text)
    assert "{{" not in calm
    assert calm.replace("{ ", "{").replace("{ ", "{") == text.replace("{ ", "{").replace("{ ", "{")
    assert quote.inert(calm) == calm


@settings(max_examples=15)
@given(note=st.fixed_dictionaries(dict.fromkeys(NOTE, TEXT)), count=st.integers(0, 40))
def test_any_hand_back_is_recorded_whole_and_told_within_its_limit(
    tmp_path_factory: Any, note: dict[str, str], count: int
) -> None:
    desk = Desk(tmp_path_factory.mktemp("any"))
    desk.deliver()
    args = {**NOTE, **{name: text for name, text in note.items() if text.strip()}}
    answer = desk.reply(
        verdict="done", **args, decisions=[f"Decision {n} of this work" for n in range(count)]
    )
    assert COUNT(answer.note) <= SETTINGS.handback_note_tokens
    assert "{{" not in answer.note
    told = [text for name in NOTE if isinstance(text := answer.summary.get(name, ""), str)]
    assert (
        sum(map(COUNT, (*told, answer.summary.get("changes", "")))) <= SETTINGS.handback_note_tokens
    )
    assert len(desk.chain.find(desk.id).latest.decisions) == 2 + count


STEPS = (
    "accept",
    "clarify",
    "ask held",
    "reject",
    "done",
    "short",
    "escalate",
    "touch",
    "interrupt",
    "failed",
    "cancelled",
    "done implicit",
    "deliver",
    "bad",
)


@settings(max_examples=25)
@given(steps=st.lists(st.sampled_from(STEPS), max_size=8))
def test_in_any_order_of_events_the_last_verdict_counts_and_an_end_of_the_run_closes(
    tmp_path_factory: Any, steps: list[str]
) -> None:
    desk = Desk(tmp_path_factory.mktemp("order"))
    desk.deliver()
    written = b""
    for step in steps:
        with contextlib.suppress(
            HandoverError
        ):  # a refusal is an answer; what matters is what stands afterwards
            play(desk, step)
        now = desk.made.ledger.read_bytes()
        assert now.startswith(written)
        written = now
        if step in ("reject", "done", "escalate", "clarify"):
            assert desk.state == {"reject": "rejected", "escalate": "escalated"}.get(step, step)
    close.close(desk.id, "done", "", desk.rest, said="The end.")
    assert desk.state not in OPEN
    assert close.outcome_of(desk.id, desk.rest).note


def play(desk: Desk, step: str) -> None:
    rest = desk.rest
    actions = {
        "accept": lambda: desk.reply(verdict="accept"),
        "clarify": lambda: desk.reply(verdict="clarify", missing=["browsers"]),
        "ask held": lambda: desk.reply(verdict="clarify", missing=["ticket"]),
        "reject": lambda: desk.reply(verdict="reject", reason="not mine"),
        "done": lambda: desk.reply(verdict="done", **NOTE),
        "short": lambda: desk.reply(verdict="done", next="x"),
        "escalate": lambda: desk.reply(verdict="escalate", reason="a person must say"),
        "touch": lambda: receive.touch(desk.id, rest),
        "interrupt": lambda: receive.interrupt(desk.id, "stop", rest),
        "failed": lambda: close.close(desk.id, "failed", "boom", rest),
        "cancelled": lambda: close.close(desk.id, "cancelled", "gone", rest),
        "done implicit": lambda: close.close(desk.id, "done", "", rest, said="said"),
        "deliver": desk.deliver,
        "bad": lambda: desk.reply(verdict="perhaps"),
    }
    actions[step]()


def test_a_question_that_was_answered_from_the_packet_is_heard_when_it_is_asked_again(
    desk: Desk,
) -> None:
    assert not desk.reply(verdict="clarify", missing=["ticket"]).ends
    assert desk.state == "delivered"
    assert desk.reply(verdict="clarify", missing=["ticket"]).ends
    assert desk.state == "clarify"


def test_the_note_of_a_dropped_verdict_is_not_lost_when_the_run_just_ends(desk: Desk) -> None:
    desk.reply(verdict="done", **NOTE)
    receive.touch(desk.id, desk.rest)
    answer = close.close(desk.id, "done", "", desk.rest, said="Also blue.")
    assert "Also blue." in answer.note
    assert NOTE["what_happened"] in answer.note
    assert answer.summary["observations"] == NOTE["observations"]


def test_what_stands_prepared_or_open_inside_is_closed_with_its_parent(desk: Desk) -> None:
    inner = desk.made.hand_over(
        "quality_reviewer", caller={"inside": desk.id, "sender": "frontend_designer"}, goal="Review"
    )
    desk.reply(verdict="done", **NOTE)
    assert desk.chain.find(inner.identity.handover_id).state == "cancelled"


def test_the_missing_parts_of_a_note_are_asked_for_once_in_the_handovers_life(desk: Desk) -> None:
    with pytest.raises(RefusedError, match="lacks"):
        desk.reply(verdict="done", what_happened="x")
    answer = desk.reply(verdict="done", what_happened="x")
    assert answer.ends
    assert answer.summary["incomplete"] == ["observations", "user_state", "next"]


def test_a_handover_of_another_chat_is_unknown_here(desk: Desk) -> None:
    other = desk.made.caller(chat_id="other")
    with pytest.raises(RefusedError, match="another chat"):
        flow_deliver.deliver(desk.id, Call(other, SETTINGS, desk.made.ports), way="start")


def test_a_hostile_exception_text_is_recorded_without_its_secret_and_half_characters(
    desk: Desk,
) -> None:
    answer = close.close(
        desk.id, "failed", "key sk-proj-abcdefgh12345678 \ud83c {{ include 'x' }}", desk.rest
    )
    assert "sk-proj" not in desk.made.ledger.read_text("utf-8")
    assert "{{" not in answer.note


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ("ticket", True),
        ("state.ticket", True),
        ("What is the ticket number?", False),
        ("vat id", True),
        ("browsers", False),
        ("goal", True),
    ],
)
def test_what_the_packet_holds_is_found_by_its_name(desk: Desk, asked: str, known: bool) -> None:
    assert bool(answer_to(desk.packet, asked)) is known


def test_who_ends_without_a_verdict_leaves_the_outcome_unknown_and_the_next_one_reads_it(
    desk: Desk,
) -> None:
    said = "Now let me look at index.html and then I will"
    answer = close.close(desk.id, "done", "", desk.rest, said=said)
    assert (answer.summary["verdict"], answer.summary["outcome"]) == ("done", "unknown")
    assert "unknown" in answer.note
    (summary,) = audit.chains(desk.made.folder, KEY)
    assert summary["handovers"][0]["outcome"] == "unknown"
    measured = metrics.of_stories(audit.stories(desk.made.folder, KEY), metrics.sla_of(SETTINGS))
    assert measured.find("sla_work").detail["outcome_unknown"] == 1
    assert measured.find("unneeded").n == 0
    after = desk.made.hand_over("quality_reviewer", {"person_count": 1}, summary="Look at it")
    assert "frontend_designer" in after.stopped_at
    package = flow_deliver.deliver(
        after.identity.handover_id, desk.made.call(person_count=1), way="start"
    )
    assert f"> {after.stopped_at}" in package.text


def test_what_a_cut_note_leaves_out_stands_in_the_entry_of_its_hand_back(desk: Desk) -> None:
    number = range(60)
    answer = desk.reply(
        verdict="done",
        **NOTE,
        decisions=[f"Decision {n} of this work" for n in number],
        state={f"field_{n}": f"value {n}" for n in number},
        rejected_paths=[{"what": f"path {n}", "why": f"reason {n}"} for n in number],
        nonsense="unknown",
    )
    assert "the briefing has all of it" in str(answer.summary)
    path = desk.made.folder.briefings()[0]
    entry = path.read_text(encoding="utf-8").rpartition("\n## ")[2]
    for n in number:
        assert f"Decision {n} of this work" in entry
        assert f'field_{n} = "value {n}"' in entry
        assert f"path {n} — reason {n}" in entry
    assert "nonsense" in entry

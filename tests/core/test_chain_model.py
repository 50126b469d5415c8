"""Walks of calls, hand-backs, stops, resumes and nesting, compared with a model of ten lines.

Also: a call that dies between any two of its writes is finished by the same call, once.
"""

import subprocess
import sys
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from usr.plugins.software_orchestrator.helpers.chain.chain import OPEN, fold
from usr.plugins.software_orchestrator.helpers.records import briefing, files
from usr.plugins.software_orchestrator.helpers.records.ledger import Ledger
from usr.plugins.software_orchestrator.helpers.values.errors import RefusedError

ROOT = Path(__file__).resolve().parents[2]
GRAPH = {
    "a0_software_orchestrator": [
        "solution_architect",
        "implementation_engineer",
        "quality_reviewer",
    ],
    "solution_architect": ["implementation_engineer", "quality_reviewer"],
    "implementation_engineer": ["quality_reviewer", "solution_architect"],
    "quality_reviewer": ["implementation_engineer", "solution_architect"],
}
ROSTER = {name: {"can_handoff_to": edges} for name, edges in GRAPH.items()}
SPECIALISTS = sorted(set(GRAPH) - {"a0_software_orchestrator"})
MOST_HOPS, MOST_DEPTH = 4, 2


@dataclass
class Hop:
    """One handover as the model knows it."""

    prepared: object
    receiver: str
    parent: "Hop | None"
    words: tuple
    state: str = "prepared"

    def line(self):
        return [self, *(self.parent.line() if self.parent else [])]


class Walk(RuleBasedStateMachine):
    """The chain of one topic; the model is `hops`, `stopped`, `fresh` (index since the last resume) and `expected`."""

    open_desk = None

    @initialize()
    def begin(self):
        self.desk = Walk.open_desk(
            roster=ROSTER, max_handovers_per_chain=MOST_HOPS, max_handover_depth=MOST_DEPTH
        )
        self.hops, self.stopped, self.fresh, self.written_since_stop, self.entries = (
            [],
            False,
            0,
            False,
            0,
        )
        self.said = set()

    def expected(self, inside, receiver, words):
        """The model: what the tables of docs/architecture.md say of a call."""
        sender = inside.receiver if inside else "a0_software_orchestrator"
        newest = next((hop for hop in reversed(self.hops) if hop.receiver == receiver), None)
        if inside and inside.state not in ("prepared", *OPEN):
            return "nothing_open"
        if sender == receiver:
            return "self"
        if receiver not in GRAPH[sender]:
            return "graph"
        if self.stopped and not self.written_since_stop:
            return "stopped"
        if inside and words[1] and words[1] in [hop.prepared.packet.goal for hop in inside.line()]:
            return "nothing_new"  # the goal of an inner level, which a call without one inherits
        if inside and receiver in [hop.receiver for hop in inside.line()]:
            return "receiver_open"
        same = newest is not None and newest.words == words and newest.parent is inside
        if newest and newest.state == "prepared" and same:
            return "repeat"
        if newest and newest.state in OPEN:
            return "repeat" if same else "receiver_open"
        if newest and newest.state in ("done", "rejected") and same:
            return "nothing_new"
        if (len(inside.line()) if inside else 0) >= MOST_DEPTH:
            return "depth"
        replaces = newest is not None and newest.state == "prepared"
        fresh = 0 if self.stopped else self.fresh
        start = len(self.hops) if self.stopped else fresh
        if (
            not replaces
            and len([hop for hop in self.hops[start:] if hop.state != "superseded"]) >= MOST_HOPS
        ):
            return "hops"
        if newest and newest.state in ("done", "rejected") and words[0] == newest.words[0]:
            return "nothing_new"
        return "supersede" if replaces else "new"

    @rule(
        receiver=st.sampled_from(SPECIALISTS),
        summary=st.sampled_from("abc"),
        goal=st.sampled_from(["", "g"]),
        where=st.integers(0, 30),
    )
    def call(self, receiver, summary, goal, where):
        places = [None, *self.hops]
        inside = places[where % len(places)]
        goal = goal and f"{goal} of {receiver} {len(inside.line()) if inside else 0}"
        expected = self.expected(inside, receiver, (summary, goal))
        if (
            self.stopped
            and self.written_since_stop
            and expected not in ("nothing_open", "self", "graph")
        ):
            self.stopped, self.fresh = False, len(self.hops)
        elif self.stopped and self.written_since_stop:
            self.stopped, self.fresh = (
                False,
                len(self.hops),
            )  # the person's word lifts it, whatever becomes of this call
        caller = self.desk.inside(inside.prepared) if inside else self.desk.caller
        try:
            prepared = self.desk.call(receiver, caller=caller, summary=summary, goal=goal)
        except RefusedError as error:
            assert error.code == expected, (error.code, expected)
            if expected == "hops":
                self.stopped, self.written_since_stop = True, False
            return
        newest = next((hop for hop in reversed(self.hops) if hop.receiver == receiver), None)
        found = "repeat" if prepared.repeated else "new"
        if newest and self.state_of(newest) == "superseded" != newest.state:
            found = "supersede"
        assert found == expected, (found, expected)
        if found == "repeat":
            assert prepared.packet == newest.prepared.packet
            return
        if found == "supersede":
            newest.state = "superseded"
        self.entries += 1
        self.hops.append(Hop(prepared, receiver, inside, (summary, goal)))
        identity = prepared.packet.identity
        assert (identity.hop, identity.depth) == (
            len(self.hops),
            len(inside.line()) if inside else 0,
        )
        assert identity.parent == (inside.prepared.packet.identity.handover_id if inside else "")

    def state_of(self, hop):
        return self.desk.chain().find(hop.prepared.packet.identity.handover_id).state

    def one(self, number, *states):
        found = [hop for hop in self.hops if hop.state in states]
        return found[number % len(found)] if found else None

    @precondition(lambda self: any(hop.state == "prepared" for hop in self.hops))
    @rule(number=st.integers(0, 30))
    def deliver(self, number):
        hop = self.one(number, "prepared")
        self.desk.deliver(hop.prepared)
        hop.state = "delivered"

    @precondition(lambda self: any(hop.state in OPEN for hop in self.hops))
    @rule(number=st.integers(0, 30), kind=st.sampled_from(["accepted", "interrupted"]))
    def work(self, number, kind):
        hop = self.one(number, *OPEN)
        self.desk.tell(hop.prepared, kind, implicit=True, why="")
        if hop.state != kind:
            hop.state = kind

    @precondition(lambda self: any(hop.state in OPEN for hop in self.hops))
    @rule(
        number=st.integers(0, 30),
        kind=st.sampled_from(["done", "rejected", "clarify", "failed", "cancelled", "escalated"]),
    )
    def come_back(self, number, kind):
        hop = self.one(number, *OPEN)
        self.give_back(hop, kind)
        hop.state = kind
        if kind == "escalated":
            self.stopped, self.written_since_stop = True, False

    def give_back(self, hop, kind):
        newest = self.desk.chain().newest.model_copy(
            update={"identity": hop.prepared.packet.identity}
        )
        more = {"missing": ["x"], "already_held": []} if kind == "clarify" else {}
        self.desk.tell(
            hop.prepared,
            kind,
            packet=newest.to_json(),
            note={"what_happened": "x"},
            outcome="completed",
            implicit=False,
            hand_to="",
            person_messages=self.desk.caller.person_count,
            why="x",
            **more,
        )
        self.entries += 1

    @precondition(lambda self: any(hop.state in ("superseded", "done") for hop in self.hops))
    @rule(number=st.integers(0, 30), kind=st.sampled_from(["done", "failed"]))
    def a_late_verdict_changes_nothing(self, number, kind):
        hop = self.one(number, "superseded", "done")
        before = self.desk.chain().newest
        self.give_back(hop, kind)
        assert self.desk.chain().newest == before

    @precondition(lambda self: any(hop.state in ("done", "clarify") for hop in self.hops))
    @rule(number=st.integers(0, 30))
    def go_on(self, number):
        hop = self.one(number, "done", "clarify")
        self.desk.tell(hop.prepared, "reopened", why="the specialist went on")
        hop.state = "accepted"

    @rule()
    def the_person_writes(self):
        self.desk.person_writes()
        self.written_since_stop = True

    @invariant()
    def the_ledger_tells_the_model(self):
        if not getattr(self, "hops", None):
            return
        chain = self.desk.chain()
        assert [item.state for item in chain.handovers] == [hop.state for hop in self.hops]
        assert bool(chain.stop) == self.stopped
        assert {item.id for item in chain.open} == {
            hop.prepared.packet.identity.handover_id for hop in self.hops if hop.state in OPEN
        }
        holder = max(
            (hop for hop in self.hops if hop.state in OPEN),
            key=lambda hop: (len(hop.line()), self.hops.index(hop)),
            default=None,
        )
        assert (chain.holder and chain.holder.receiver) == (holder and holder.receiver)

    @invariant()
    def nothing_is_written_twice_and_everything_verifies(self):
        if not getattr(self, "hops", None):
            return
        pieces = [piece for path in self.desk.folder.briefings() for piece in briefing.scan(path)]
        assert [piece.kind for piece in pieces] == ["entry"] * self.entries
        assert all(piece.sha_ok for piece in pieces)
        readings = [Ledger(path, b"k" * 32).read() for path in self.desk.folder.ledgers()]
        assert not [fault for reading in readings for fault in reading.faults]


def test_any_walk_of_calls_and_verdicts_is_as_the_model_says(open_desk):
    Walk.open_desk = staticmethod(open_desk)
    run_state_machine_as_test(
        Walk, settings=settings(max_examples=40, stateful_step_count=20, phases=[Phase.generate])
    )


# crashes


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the code catches it."""


def die_at(monkeypatch, write, share):
    """Let the `write`-th write of a record put only a share of its bytes on the disk, and end there."""
    calls = []
    real = files.write_whole

    def write_whole(file, content, path):
        calls.append(path)
        if len(calls) < write:
            return real(file, content, path)
        file.write(content[: round(len(content) * share)])
        raise Killed

    monkeypatch.setattr(files, "write_whole", write_whole)


def healthy(desk, entries):
    pieces = [piece for path in desk.folder.briefings() for piece in briefing.scan(path)]
    assert [piece.sha_ok for piece in pieces if piece.kind == "entry"].count(True) == entries
    ids = [piece.id for piece in pieces if piece.kind == "entry" and piece.sha_ok]
    assert len(ids) == len(set(ids)) == entries


@pytest.mark.parametrize("share", [0, 0.3, 0.99, 1])
@pytest.mark.parametrize("write", [1, 2, 3])
@pytest.mark.parametrize("first", [True, False])
def test_a_call_that_dies_in_any_of_its_writes_is_finished_by_the_same_call_once(
    desk, monkeypatch, write, share, first
):
    if not first:
        desk.call("hacker", summary="before")
        desk.call("solution_architect", summary="the one that is superseded")
    with monkeypatch.context() as patched, pytest.raises(Killed):
        die_at(patched, write, share)
        desk.call("solution_architect", summary="s", state={"vat_id": {"status": "declined"}})
    again = desk.call("solution_architect", summary="s", state={"vat_id": {"status": "declined"}})
    healthy(desk, 1 if first else 3)
    assert len([item for item in desk.chain().handovers if item.state == "prepared"]) == (
        1 if first else 2
    )
    assert again.packet.identity.hop == (1 if first else 3)
    following = desk.call("implementation_engineer", summary="t")
    assert [item.status for item in following.packet.state] == ["declined"]
    healthy(desk, 2 if first else 4)


@pytest.mark.parametrize("write", [1, 2, 3])
def test_another_call_after_a_crash_heals_first_and_goes_on(desk, monkeypatch, write):
    with monkeypatch.context() as patched, pytest.raises(Killed):
        die_at(patched, write, 0.5)
        desk.call("solution_architect", decisions=["Use HTML"])
    desk.call("implementation_engineer", summary="t")
    healthy(desk, 1 if write == 1 else 2)


@pytest.mark.parametrize("after_writes", [0, 1, 2, 3])
def test_a_process_that_is_gone_between_two_writes_leaves_a_chain_that_goes_on(desk, after_writes):
    program = f"""
        import importlib.util, os, sys, pathlib
        for name in ("tests/conftest.py", "tests/core/conftest.py"):
            spec = importlib.util.spec_from_file_location("c" + str(len(sys.modules)), pathlib.Path({str(ROOT)!r}) / name)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        from usr.plugins.software_orchestrator.helpers.records import files
        real, done = files.write_whole, []
        def write_whole(file, content, path):
            if len(done) == {after_writes}:
                os._exit(9)
            done.append(real(file, content, path))
        files.write_whole = write_whole
        module.Desk(pathlib.Path({str(desk.root)!r})).call("hacker", summary="s")
        os._exit(9)
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 9, ended.stderr
    desk.skip_ids(100)  # which the other process may have given
    prepared = desk.call("hacker", summary="s")
    assert prepared.repeated is (after_writes > 0)
    healthy(desk, 1)
    assert desk.call("hacker", summary="other").packet.identity.hop == 2
    healthy(desk, 2)


def test_a_chain_is_folded_the_same_from_any_prefix_and_its_rest(desk):
    first = desk.call("solution_architect", summary="a")
    desk.returns(first)
    desk.call("implementation_engineer", summary="b")
    events = desk.events()
    for cut in range(len(events) + 1):
        chain = fold(first.packet.identity.chain_id, events[:cut])
        assert chain.newest is None or chain.newest in [item.packet for item in chain.handovers] + [
            item.returned for item in chain.handovers
        ]


def test_events_of_another_installation_are_counted_and_change_nothing(desk):
    prepared = desk.call("hacker", summary="s")
    events = [replace(event, trusted=False) for event in desk.events()]
    chain = fold(prepared.packet.identity.chain_id, events)
    assert (chain.handovers, chain.foreign) == ((), len(events))

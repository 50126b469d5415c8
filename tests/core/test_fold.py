"""A chain as its events tell it: what each event changes, and what changes nothing."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.chain.chain import Chain, fold
from usr.plugins.software_orchestrator.helpers.values import events
from usr.plugins.software_orchestrator.helpers.values.packet import (
    HandoverPacket,
    Identity,
    StateField,
)

_numbers = itertools.count(1)


def packet(number, receiver="hacker", parent="", **fields):
    identity = Identity(
        handover_id=f"ho-{number}",
        chain_id="c",
        hop=number,
        parent=parent,
        depth=1 if parent else 0,
        sender="a",
        receiver=receiver,
        created_at=f"2026-06-05T14:0{number}:00Z",
    )
    return HandoverPacket(identity=identity, topic="t", **fields)


def event(handover, payload, *, chain="c", trusted=True):
    number = next(_numbers)
    return events.Event(
        schema=1,
        id=f"ev-{number}",
        kind=payload.kind,
        time="2026-06-05T14:03:00Z",
        chain=chain,
        handover=handover,
        hop=1,
        depth=0,
        sender="a",
        receiver="b",
        data=payload.to_data(),
        prev="",
        sha=str(number),
        mac="",
        trusted=trusted,
    )


def prepared(number, **more):
    return event(f"ho-{number}", events.Prepared(packet=packet(number, **more), fingerprint="f"))


def told(*payloads, number=1):
    return [prepared(number), *(event(f"ho-{number}", payload) for payload in payloads)]


def test_a_handover_goes_its_way_and_the_newest_note_and_packet_count():
    back = packet(1, goal="g")
    note = events.Note(what_happened="it was done")
    chain = fold(
        "c",
        told(events.Delivered(), events.Accepted(), events.Done(packet=back, note=note)),
    )
    (handover,) = chain.handovers
    assert (handover.state, handover.returned, handover.latest) == ("done", back, back)
    assert (handover.note, handover.fingerprint) == (note, "f")
    assert (chain.newest, chain.holder, chain.next_hop) == (back, None, 2)
    assert handover.last(events.Closing).packet == back
    assert handover.last(events.Clarify) is None
    assert handover.last_event(events.Delivered).kind == "delivered"


@pytest.mark.parametrize(
    "payload",
    [
        events.Accepted(),
        events.Reopened(),
        events.Done(packet=packet(1, goal="g")),
        events.HistoryRead(),
        events.Refused(code="graph"),
    ],
)
def test_what_cannot_follow_is_kept_and_changes_nothing(payload):
    before = fold("c", told())
    after = before.after([event("ho-1", payload)])
    assert len(after.handovers[0].events) == 2
    assert after.handovers[0].state == "prepared"
    assert after.newest == before.newest


def test_a_clarify_for_what_the_packet_holds_changes_nothing():
    asked = told(events.Delivered(), events.Clarify(already_held=("goal",)))
    assert fold("c", asked).handovers[0].state == "delivered"
    asked.append(event("ho-1", events.Clarify(missing=("vat",))))
    assert fold("c", asked).handovers[0].state == "clarify"


def test_what_is_of_another_hand_or_chain_is_counted_and_not_believed():
    strangers = [
        event("ho-1", events.Delivered(), trusted=False),
        event("ho-1", events.Delivered(), chain="d"),
    ]
    chain = fold("c", [*told(), *strangers])
    assert (chain.foreign, chain.handovers[0].state) == (2, "prepared")


def test_a_stop_holds_until_it_is_lifted_and_the_count_starts_afresh():
    stop = event("", events.Escalated(why="a cap", person_messages=3))
    stopped = fold("c", [*told(), stop])
    assert (stopped.stop, stopped.stop_mark, len(stopped.counted)) == ("a cap", 3, 1)
    resumed = stopped.after([event("", events.Resumed(by="person"))])
    assert (resumed.stop, resumed.counted) == ("", ())
    assert stopped.after_resume().fresh_from == resumed.fresh_from == 1


def test_a_field_is_declined_since_the_person_had_written_so_many_messages():
    state = (StateField(field="vat", status="declined"),)
    events_ = [
        event("ho-1", events.Prepared(packet=packet(1, state=state), person_messages=2)),
        event("ho-2", events.Prepared(packet=packet(2, state=state), person_messages=5)),
    ]
    assert fold("c", events_).declined == {"vat": 2}
    assert fold("c", [*events_, prepared(3)]).declined == {}


PAYLOADS = [
    events.Delivered(),
    events.Accepted(),
    events.Interrupted(),
    events.Superseded(),
    events.Reopened(),
    events.Resumed(),
    events.Escalated(why="x"),
    events.Clarify(missing=("a",)),
    events.Done(packet=packet(9, notes=("n",))),
    events.Cancelled(),
]
steps = st.one_of(
    st.builds(prepared, st.integers(1, 4), receiver=st.sampled_from(["x", "y"])),
    st.builds(
        lambda number, payload: event(f"ho-{number}", payload),
        st.integers(1, 4),
        st.sampled_from(PAYLOADS),
    ),
)


@settings(max_examples=200)
@given(st.lists(steps, max_size=12), st.integers(0, 12))
def test_events_in_two_parts_tell_the_same_chain(told_events, cut):
    parts = Chain("c").after(told_events[:cut]).after(told_events[cut:])
    one_by_one = Chain("c")
    for item in told_events:
        one_by_one = one_by_one.after([item])
    assert parts == one_by_one == fold("c", told_events)

"""The rules by themselves: what they refuse, in which words, and what they let through."""

import pytest

from usr.plugins.software_orchestrator.helpers.chain import rules
from usr.plugins.software_orchestrator.helpers.chain.chain import Chain, Handover
from usr.plugins.software_orchestrator.helpers.chain.rules import Sender
from usr.plugins.software_orchestrator.helpers.values.call import Caller
from usr.plugins.software_orchestrator.helpers.values.errors import RefusedError
from usr.plugins.software_orchestrator.helpers.values.events import CLOSED, KINDS, OPEN
from usr.plugins.software_orchestrator.helpers.values.packet import HandoverPacket
from usr.plugins.software_orchestrator.helpers.values.roster import Roster, Specialist


def handover(
    number,
    receiver,
    *,
    sender="a0_software_orchestrator",
    parent="",
    now="done",
    continues="",
    fingerprint="f",
    **fields,
):
    identity = {
        "handover_id": f"ho-{number:016x}",
        "chain_id": "c",
        "hop": number,
        "parent": parent,
        "depth": 0,
        "sender": sender,
        "receiver": receiver,
        "created_at": "2026-06-05T14:03:00.000000Z",
        "schema": 1,
    }
    packet = HandoverPacket.model_validate({"identity": identity, "topic": "t", **fields})
    return Handover(packet, now, (), continues=continues, fingerprint=fingerprint)


def refused(rule, *arguments, **named):
    with pytest.raises(RefusedError) as caught:
        rule(*arguments, **named)
    return caught.value


def test_a_sender_outside_the_roster_may_hand_over_to_anybody_but_itself(settings):
    hacker = settings.roster.find("hacker")
    rules.check_route(settings.roster, "agent0", hacker)
    assert refused(rules.check_route, settings.roster, "Hacker", hacker).code == "self"


def test_a_specialist_without_edges_is_told_to_hand_back(settings):
    lonely = Roster(entries=(Specialist(profile="lonely"), Specialist(profile="other")))
    error = refused(rules.check_route, lonely, "lonely", lonely.find("other"))
    assert "handover_reply" in str(error)


def test_a_stopped_chain_says_why_and_what_to_do(settings):
    error = refused(
        rules.check_stop, Chain("c", stop="max_handovers_per_chain 12 is reached (a > b)"), settings
    )
    assert error.code == "stopped"
    assert "a > b" in str(error)
    assert "tell the person" in str(error)
    assert not error.stops


@pytest.mark.parametrize(("count", "allowed"), [(11, True), (12, False), (13, False)])
def test_the_hop_cap_counts_what_is_not_superseded_since_the_last_lift(settings, count, allowed):
    some = tuple(handover(n, f"s{n}") for n in range(1, count + 1))
    more = (handover(90, "x", now="superseded"), handover(91, "x", now="superseded"))
    chain = Chain("c", handovers=(handover(99, "before"), *some, *more), fresh_from=1)
    if allowed:
        rules.check_hops(chain, settings)
    else:
        assert refused(rules.check_hops, chain, settings).stops.endswith(
            "(" + " > ".join(item.receiver for item in some) + ")"
        )


@pytest.mark.parametrize(("depth", "allowed"), [(0, True), (2, True), (3, False), (4, False)])
def test_depth_is_the_length_of_the_parent_line(settings, depth, allowed):
    line = [
        handover(n, f"s{n}", parent=f"ho-{n - 1:016x}" if n > 1 else "", now="accepted")
        for n in range(1, depth + 1)
    ]
    chain = Chain("c", handovers=tuple(line))
    sender = Sender("s", line[-1] if line else None)
    assert sender.depth(chain) == depth
    if allowed:
        rules.check_depth(chain, sender, settings)
    else:
        error = refused(rules.check_depth, chain, sender, settings)
        assert (error.code, error.stops) == ("depth", "")


def test_a_parent_line_that_runs_in_a_circle_ends():
    one, two = handover(1, "a", parent=f"ho-{2:016x}"), handover(2, "b", parent=f"ho-{1:016x}")
    chain = Chain("c", handovers=(one, two))
    assert [item.receiver for item in chain.ancestors(one.id)] == ["a", "b"]


def test_a_run_of_legs_that_runs_in_a_circle_ends():
    one, two = (
        handover(1, "a", continues=f"ho-{2:016x}"),
        handover(2, "b", continues=f"ho-{1:016x}"),
    )
    assert len(Chain("c", handovers=(one, two)).run(one.id)) == 2


def test_a_visited_specialist_gets_the_run_again_only_with_news(settings):
    review = handover(1, "quality_reviewer")
    fix = handover(2, "implementation_engineer", continues=review.id)
    chain = Chain("c", handovers=(review, fix))
    reviewer = settings.roster.find("quality_reviewer")
    rules.check_leg(chain, settings.roster, fix, reviewer, ("decisions",))
    error = refused(rules.check_leg, chain, settings.roster, fix, reviewer, ())
    assert error.code == "nothing_new"
    assert "quality_reviewer > implementation_engineer > quality_reviewer" in error.stops


@pytest.mark.parametrize(
    "goal",
    [
        "Build the café hero.",
        "build  the café hero!",
        "- Build the café hero",
        '"Build the café hero"',
        "Build the cafe\u0301 hero …",
        "BUILD THE\u200b CAFÉ HERO",
    ],
)
def test_the_same_goal_in_another_dress_is_the_same_goal(goal):
    outer = handover(1, "solution_architect", now="accepted", goal="Build the café hero")
    error = refused(
        rules.check_goal, Chain("c", handovers=(outer,)), Sender("solution_architect", outer), goal
    )
    assert error.code == "nothing_new"


@pytest.mark.parametrize(
    ("whole", "part"),
    [("Learn C", "Learn C#"), ("Reach 50", "Reach 50%"), ("...", "!"), ("Build it", ""), ("", "")],
)
def test_another_goal_passes(whole, part):
    outer = handover(1, "solution_architect", now="accepted", goal=whole)
    rules.check_goal(Chain("c", handovers=(outer,)), Sender("solution_architect", outer), part)


def test_a_required_field_is_found_under_another_spelling():
    packet = handover(1, "x", state=[{"field": "VAT id", "value": 1}]).packet
    assert rules.missing_fields(packet, ("state.vat_id", "vat-id")) == ()


def test_after_a_resume_the_visited_specialists_are_forgotten(settings):
    review = handover(1, "quality_reviewer")
    fix = handover(2, "implementation_engineer", continues=review.id)
    chain = Chain("c", handovers=(review, fix), fresh_from=1)
    rules.check_leg(chain, settings.roster, fix, settings.roster.find("quality_reviewer"), ())


@pytest.mark.parametrize(
    ("name", "filled"),
    [
        ("goal", True),
        ("summary", False),
        ("state.a", True),
        ("b", True),
        ("c", False),
        ("state.d", False),
        ("authority", False),
        ("nothing", False),
        ("decisions", False),
    ],
)
def test_a_required_field_is_filled_by_a_value_or_a_decline(name, filled):
    state = [
        {"field": "a", "value": 0},
        {"field": "b", "status": "declined"},
        {"field": "c", "status": "skipped_section_omitted"},
    ]
    packet = handover(1, "x", goal="g", state=state).packet
    assert rules.missing_fields(packet, (name,)) == (() if filled else (name,))


def test_every_state_is_open_or_closed_or_prepared_and_leads_somewhere():
    states = {kind.state for kind in KINDS.values() if kind.state}
    assert states == OPEN | CLOSED | {"prepared"}
    nexts = {
        state: {kind.kind for kind in KINDS.values() if state in kind.follows} for state in states
    }
    for state in OPEN:
        assert {"done", "failed", "cancelled"} <= nexts[state]
    assert {"failed", "cancelled", "superseded"} <= nexts["prepared"]
    for state in CLOSED - {"superseded"}:
        assert nexts[state] == {"reopened"}


ASKED, DONE = handover(1, "solution_architect", now="clarify"), handover(2, "hacker", now="done")


@pytest.mark.parametrize(
    ("answers", "receiver", "allowed"),
    [
        ("", "hacker", True),
        (ASKED.id, "Solution-Architect", True),
        (ASKED.id, "hacker", False),
        (DONE.id, "hacker", False),
        ("ho-00000000000000ff", "solution_architect", False),
    ],
)
def test_an_answer_goes_to_the_specialist_that_asked(answers, receiver, allowed):
    chain = Chain("c", handovers=(ASKED, DONE))
    if allowed:
        rules.check_answers(chain, answers, receiver)
    else:
        error = refused(rules.check_answers, chain, answers, receiver)
        assert error.code == "unknown_reference"
        assert ASKED.id in error.hint
        assert DONE.id not in error.hint


def test_an_answer_to_nobody_is_told_that_nothing_waits():
    error = refused(rules.check_answers, Chain("c", handovers=(DONE,)), DONE.id, "hacker")
    assert "leave answers out" in error.hint


@pytest.mark.parametrize(
    ("now", "profile", "code"),
    [
        ("accepted", "solution_architect", ""),
        ("done", "solution_architect", "nothing_open"),
        ("accepted", "hacker", "graph"),
    ],
)
def test_who_hands_over_works_in_an_open_handover(settings, now, profile, code):
    sender = Sender(profile, handover(1, "solution_architect", now=now))
    receiver = settings.roster.find("implementation_engineer")
    if code:
        error = refused(rules.check_sender, sender, Caller(), receiver, settings.roster)
        assert error.code == code
    else:
        rules.check_sender(sender, Caller(), receiver, settings.roster)


def test_a_handover_is_started_only_where_it_was_prepared(settings):
    inner = handover(2, "hacker", parent=ASKED.id, now="prepared")
    chain = Chain("c", handovers=(ASKED, inner))
    rules.check_deliverable(inner, chain, ASKED.id, settings)
    assert refused(rules.check_deliverable, inner, chain, "", settings).code == "unknown_reference"
    closed = refused(rules.check_deliverable, ASKED, chain, "", settings)
    assert "closed" in closed.message


@pytest.mark.parametrize(
    ("now", "outer", "allowed"),
    [
        ("accepted", "accepted", True),
        ("done", "accepted", True),
        ("done", "done", False),
        ("prepared", "accepted", False),
        ("superseded", "accepted", False),
    ],
)
def test_a_verdict_goes_to_what_is_open_or_may_be_reopened(now, outer, allowed):
    around = handover(1, "solution_architect", now=outer)
    inner = handover(2, "hacker", parent=around.id, now=now)
    chain = Chain("c", handovers=(around, inner))
    if allowed:
        rules.check_reply_open(inner, chain)
    else:
        assert refused(rules.check_reply_open, inner, chain).code == "nothing_open"


def test_what_a_specialist_said_of_a_stop_counts_more_than_who_stopped_last():
    stopped = handover(3, "hacker")
    assert rules.stopped_by("", stopped, "failed") == "hacker, hop 3: failed"
    assert rules.stopped_by("nobody, hop 1: failed", stopped, "failed") == "hacker, hop 3: failed"
    assert rules.stopped_by("the login page", stopped, "failed") == "the login page"

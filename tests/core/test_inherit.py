"""What travels: nothing that was said is dropped, a decline is a value, authority only narrows."""

import time
import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.chain import merge
from usr.plugins.software_orchestrator.helpers.chain.merge import (
    Evidence,
    blank,
    bounded,
    merge_decisions,
    merge_state,
    narrowed,
    said,
    told_once,
)
from usr.plugins.software_orchestrator.helpers.values.packet import (
    Artifact,
    Authority,
    OpenQuestion,
    RejectedPath,
    StateField,
    Turn,
)

nobody = Evidence()


def state_after(*hops, evidence=nobody):
    """Fields after hops that each say something: mappings of field to a value, or to {"status", "value", "verbatim"}."""
    fields, warnings, lifts = (), (), ()
    for hop, said_now in enumerate(hops, 1):
        items = [
            {
                "field": name,
                "value": None,
                "status": "answered",
                **(value if isinstance(value, dict) else {"value": value}),
            }
            for name, value in said_now.items()
        ]
        fields, warnings, lifts = merge_state(
            fields, items, owner=f"agent{hop}", hop=hop, evidence=evidence
        )
    return {item.field: item for item in fields}, warnings, lifts


DECLINED = {"status": "declined"}


def test_a_declined_field_is_still_declined_after_three_hops():
    fields, _, _ = state_after(
        {"ticket": "ABC-1", "budget_eur": 0, "vat_id": DECLINED}, {}, {"other": 1}
    )
    assert (fields["ticket"].value, fields["budget_eur"].value) == ("ABC-1", 0)
    assert type(fields["budget_eur"].value) is int
    assert (fields["vat_id"].status, fields["vat_id"].hop, fields["vat_id"].owner) == (
        "declined",
        1,
        "agent1",
    )


@pytest.mark.parametrize(
    "value",
    [
        "",
        "  ",
        None,
        [],
        {},
        "DE123",
        7,
        {"status": "volunteered", "value": "DE123"},
        {"status": "skipped_not_triggered"},
    ],
)
def test_nothing_a_model_sends_lifts_a_decline_and_the_warning_says_who_declined_and_when(value):
    evidence = Evidence(when=lambda hop: "2026-06-05T14:03:00Z")
    fields, warnings, lifts = state_after(
        {"vat_id": DECLINED},
        {"vat_id": value if isinstance(value, dict) and value else {"value": value}},
        evidence=evidence,
    )
    assert fields["vat_id"].status == "declined"
    assert not lifts
    assert all(
        part in warnings[0] for part in ("vat_id", "agent1", "hop 1", "2026-06-05T14:03:00Z")
    )


LIFT = {"status": "answered", "value": "DE123", "verbatim": "my VAT id is DE123"}


@pytest.mark.parametrize(
    "message", ["my VAT id is DE123", "All right,  MY VAT ID\nis de123, go on"]
)
def test_the_persons_own_words_lift_a_decline(message):
    fields, _, lifts = state_after(
        {"vat_id": DECLINED}, {"vat_id": LIFT}, evidence=Evidence(since=lambda field: (message,))
    )
    assert (fields["vat_id"].status, fields["vat_id"].value) == ("answered", "DE123")
    assert [(lift.field, lift.by) for lift in lifts] == [("vat_id", "person")]


@pytest.mark.parametrize(
    "messages", [(), ("no",), ("my VAT id stays secret",), ("my VAT id is", "DE123")]
)
def test_words_the_person_did_not_write_do_not_lift_a_decline(messages):
    fields, _, _ = state_after(
        {"vat_id": DECLINED}, {"vat_id": LIFT}, evidence=Evidence(since=lambda field: messages)
    )
    assert fields["vat_id"].status == "declined"


@pytest.mark.parametrize(
    ("words", "message", "proof"),
    [
        ("ok", "ok", True),
        ("ok", "look at this", False),
        ("", "anything", False),
        (" ", " ", False),
        ("yes, DE1", "well: yes, DE1", True),
    ],
)
def test_very_few_words_prove_something_only_as_a_whole_message(words, message, proof):
    assert said(words, (message,)) is proof


def test_the_command_line_lifts_a_decline():
    fields, _, lifts = state_after(
        {"vat_id": DECLINED}, {"vat_id": "DE123"}, evidence=Evidence(lifts=("vat_id",))
    )
    assert fields["vat_id"].value == "DE123"
    assert lifts[0].by == "command line"


def test_a_blank_does_not_replace_an_answer():
    fields, warnings, _ = state_after({"ticket": "ABC-1"}, {"ticket": ""})
    assert fields["ticket"].value == "ABC-1"
    assert "ticket" in warnings[0]


def test_a_real_answer_replaces_a_skipped_field():
    fields, _, _ = state_after(
        {"vat_id": {"status": "skipped_section_omitted"}}, {"vat_id": "DE123"}
    )
    assert (fields["vat_id"].status, fields["vat_id"].value) == ("answered", "DE123")


def test_a_volunteered_value_reaches_the_owner_as_given():
    fields, _, _ = state_after(
        {"phone": {"status": "volunteered", "value": "123", "verbatim": "call me at 123"}}, {}
    )
    assert (fields["phone"].status, fields["phone"].value, fields["phone"].verbatim) == (
        "volunteered",
        "123",
        "call me at 123",
    )


@pytest.mark.parametrize(
    ("value", "is_blank"),
    [
        (0, False),
        (False, False),
        ("", True),
        (" ", True),
        (None, True),
        ([], True),
        ({}, True),
        ([0], False),
    ],
)
def test_zero_and_no_are_values(value, is_blank):
    assert blank(value) is is_blank


@pytest.mark.parametrize(
    "spelling", ["VAT id", "Vat_Id", "vat-id", "vat_id_", " vat  ID ", "state.vat_id"]
)
def test_a_decline_holds_for_every_spelling_of_the_field_and_the_first_one_stays(spelling):
    fields, warnings, lifts = state_after({"vat_id": DECLINED}, {spelling: "DE123"})
    assert [(name, item.field, item.status) for name, item in fields.items()] == [
        ("vat_id", "vat_id", "declined")
    ]
    assert "vat_id stays declined" in warnings[0]
    assert not lifts


def test_an_answer_under_another_spelling_replaces_the_first_one_under_its_name():
    fields, _, _ = state_after({"Budget-EUR": 100}, {"budget_eur": 200})
    assert [(name, item.value) for name, item in fields.items()] == [("Budget-EUR", 200)]


@pytest.mark.parametrize("lift", ["VAT-ID", "vat id", "vat_id"])
def test_the_person_may_lift_a_decline_under_any_spelling(lift):
    fields, _, lifts = state_after(
        {"vat_id": DECLINED}, {"Vat Id": "DE123"}, evidence=Evidence(lifts=(lift,))
    )
    assert (fields["vat_id"].value, lifts[0].field) == ("DE123", "vat_id")


@pytest.mark.parametrize(
    ("one", "other"), [("C++", "C#"), ("🚀", "🍸"), ("a_b", "ab"), ("价格", "价")]
)
def test_fields_of_other_names_stay_apart(one, other):
    fields, _, _ = state_after({one: 1}, {other: 2})
    assert set(fields) == {one, other}


def test_two_spellings_of_an_older_record_both_stay_and_the_decline_counts():
    before = (StateField(field="VAT", value=1), StateField(field="vat", status="declined"))
    fields, warnings, _ = merge_state(
        before, [{"field": "VAT", "value": 2}], owner="x", hop=3, evidence=nobody
    )
    assert fields == before
    assert "stays declined" in warnings[0]


names = st.sampled_from(["a", "b", "c"])
values = st.sampled_from(["", None, 0, "x", False, [], {"k": 1}])
statuses = st.sampled_from(
    ["answered", "volunteered", "declined", "skipped_not_triggered", "skipped_section_omitted"]
)
says = st.dictionaries(
    names,
    st.fixed_dictionaries(
        {
            "value": values,
            "status": statuses,
            "verbatim": st.sampled_from(["", "I do not want to tell"]),
        }
    ),
)


@settings(max_examples=200)
@given(st.lists(says, max_size=8))
def test_a_decline_survives_any_sequence_of_hops(hops):
    declined: set[str] = set()
    fields = ()
    for hop, said_now in enumerate(hops, 1):
        fields, _, lifts = merge_state(
            fields,
            [{"field": name, **item} for name, item in said_now.items()],
            owner="x",
            hop=hop,
            evidence=nobody,
        )
        declined |= {name for name, item in said_now.items() if item["status"] == "declined"}
        assert not lifts
        assert declined == {item.field for item in fields if item.status == "declined"}


@settings(max_examples=200)
@given(st.lists(says, max_size=8))
def test_a_value_once_given_never_becomes_blank(hops):
    fields, given_once = (), set()
    for hop, said_now in enumerate(hops, 1):
        fields, _, _ = merge_state(
            fields,
            [{"field": name, **item} for name, item in said_now.items()],
            owner="x",
            hop=hop,
            evidence=nobody,
        )
        given_once |= {item.field for item in fields if item.status in ("answered", "volunteered")}
        assert given_once <= {
            item.field for item in fields if item.status == "declined" or not blank(item.value)
        }


# decisions


def decided(*hops):
    decisions, warnings = (), ()
    for hop, items in enumerate(hops, 1):
        decisions, warnings = merge_decisions(
            decisions,
            [{"text": item} if isinstance(item, str) else item for item in items],
            f"agent{hop}",
        )
    return decisions, warnings


def shape(decisions):
    return [(item.id, item.version, item.status) for item in decisions]


def test_a_plain_sentence_is_a_decision_of_its_sender_version_one():
    (decision,), _ = decided(["Use HTML"])
    assert (decision.id, decision.version, decision.owner, decision.status) == (
        "d1",
        1,
        "agent1",
        "active",
    )


def test_the_same_sentence_again_is_the_same_decision():
    decisions, _ = decided(["Use HTML"], ["use  html", "No build step"])
    assert shape(decisions) == [("d1", 1, "active"), ("d2", 1, "active")]


def test_other_words_under_the_same_id_are_a_new_version_and_the_old_one_stays_listed():
    decisions, _ = decided(["Use HTML"], [{"id": "d1", "text": "Use plain HTML"}])
    assert shape(decisions) == [("d1", 1, "superseded"), ("d1", 2, "active")]


def test_a_decision_that_supersedes_another_leaves_only_itself_active():
    decisions, warnings = decided(["Use Postgres"], [{"text": "Use SQLite", "supersedes": "d1"}])
    assert shape(decisions) == [("d1", 1, "superseded"), ("d2", 1, "active")]
    assert not warnings


def test_a_decision_may_supersede_another_later():
    decisions, _ = decided(
        ["Use Postgres", "Use SQLite"], [{"id": "d2", "text": "Use SQLite", "supersedes": "d1"}]
    )
    assert shape(decisions) == [("d1", 1, "superseded"), ("d2", 1, "active")]


def test_a_superseded_decision_that_is_only_repeated_is_not_revived():
    decisions, warnings = decided(
        ["Use Postgres"],
        [{"text": "Use SQLite", "supersedes": "d1"}],
        ["Use Postgres", "Use SQLite"],
    )
    assert shape(decisions) == [("d1", 1, "superseded"), ("d2", 1, "active")]
    assert "d1" in warnings[0]


def test_a_superseded_decision_can_be_taken_up_again_in_words():
    decisions, _ = decided(
        ["Use Postgres"],
        [{"text": "Use SQLite", "supersedes": "d1"}],
        [{"text": "Use Postgres", "supersedes": "d2"}],
    )
    assert shape(decisions) == [
        ("d1", 1, "superseded"),
        ("d2", 1, "superseded"),
        ("d3", 1, "active"),
    ]


@pytest.mark.parametrize(
    "again",
    [
        {"id": "d1", "text": "Use HTML"},
        {"id": "d1", "text": "Use HTML", "version": 1},
        {"text": "Use HTML", "version": "v0"},
        "Use HTML",
    ],
)
def test_rationale_and_evidence_are_never_lost_by_repeating_a_decision(again):
    decisions, _ = decided(
        [{"text": "Use HTML", "rationale": "no tooling", "evidence": ("survey",), "version": 2}],
        [again],
    )
    assert [(item.version, item.rationale, item.evidence, item.status) for item in decisions] == [
        (2, "no tooling", ("survey",), "active")
    ]


def test_a_rejected_decision_stays_rejected_when_it_is_repeated():
    decisions, _ = decided([{"text": "Use Flash", "status": "rejected"}], ["Use Flash"])
    assert shape(decisions) == [("d1", 1, "rejected")]


B2, A1 = (
    {"id": "x", "version": 2, "text": "B", "supersedes": "x"},
    {"id": "x", "version": 1, "text": "A"},
)


@pytest.mark.parametrize(
    "hops", [([B2, A1],), ([B2], [A1]), ([A1], [B2]), ([A1, B2],), ([B2], [A1], [A1, B2])]
)
def test_of_two_versions_the_higher_one_stands_whichever_comes_first(hops):
    decisions, _ = decided(*hops)
    assert [(item.version, item.text, item.status) for item in decisions] == [
        (1, "A", "superseded"),
        (2, "B", "active"),
    ]


def test_three_versions_told_newest_first_stand_in_their_order():
    decisions, _ = decided(
        [{"id": "x", "version": n, "text": f"T{n}"} for n in (3, 2, 1)], ["Other"]
    )
    assert shape(decisions) == [
        ("x", 1, "superseded"),
        ("x", 2, "superseded"),
        ("x", 3, "active"),
        ("d1", 1, "active"),
    ]


def test_other_words_for_a_version_that_is_recorded_are_said_and_change_nothing():
    decisions, warnings = decided([A1], [B2], [{**A1, "text": "C"}])
    assert [(item.version, item.text) for item in decisions] == [(1, "A"), (2, "B")]
    assert "x v1" in warnings[0]


def test_twenty_thousand_decisions_and_questions_are_merged_in_seconds():
    begun = time.process_time()
    decisions, _ = merge_decisions(
        (), [{"text": f"decision number {n}"} for n in range(20_000)], "x"
    )
    again, _ = merge_decisions(
        decisions, [{"text": f"decision number {n}"} for n in range(20_000)], "x"
    )
    questions = merge.merge_questions((), [{"text": f"question {n}?"} for n in range(20_000)], ())
    assert again == decisions
    assert (len(decisions), len(questions), questions[-1].id) == (20_000, 20_000, "q20000")
    assert time.process_time() - begun < 8


def test_superseding_what_is_not_there_is_said():
    _, warnings = decided([{"text": "Use SQLite", "supersedes": "d9"}])
    assert "d9" in warnings[0]


decision_items = st.fixed_dictionaries(
    {"text": st.sampled_from(["A", "B", "C"])},
    optional={
        "id": st.sampled_from(["d1", "d2", "x"]),
        "version": st.integers(0, 3),
        "supersedes": st.sampled_from(["d1", "d2", "x"]),
        "rationale": st.just("why"),
    },
)


@settings(max_examples=200)
@given(st.lists(st.lists(decision_items, max_size=3), max_size=5))
def test_no_decision_is_ever_dropped_and_each_id_is_active_at_most_once(hops):
    before = ()
    for hop in hops:
        after, _ = merge_decisions(before, hop, "x")
        assert {(item.id, item.version) for item in before} <= {
            (item.id, item.version) for item in after
        }
        assert len({(item.id, item.version) for item in after}) == len(after)
        active = [item.id for item in after if item.status == "active"]
        assert len(active) == len(set(active))
        before = after


# lists, turns, questions


def given_(**fields):
    empty = dict.fromkeys(
        (
            "state",
            "decisions",
            "artifacts",
            "rejected_paths",
            "open_questions",
            "flags",
            "sections_done",
            "notes",
        ),
        (),
    )
    return types.SimpleNamespace(
        **{**empty, "stopped_at": "", "goal": "", "acceptance_criteria": (), **fields}
    )


def test_rejected_paths_are_added_and_a_reason_is_not_lost_by_repeating():
    old = (RejectedPath(what="Flash", why="dead"),)
    found = merge._added(
        old, [RejectedPath(what="flash"), RejectedPath(what="Java applet", why="dead too")], "what"
    )
    assert [(path.what, path.why) for path in found] == [
        ("Flash", "dead"),
        ("Java applet", "dead too"),
    ]


def test_an_answered_or_declined_question_is_gone_and_others_stay():
    questions = (
        OpenQuestion(id="q1", text="VAT?", field="vat_id"),
        OpenQuestion(id="q2", text="Logo?"),
    )
    state = (StateField(field="vat_id", status="declined"),)
    assert [
        item.id
        for item in merge.merge_questions(
            questions, ({"text": "logo?"}, {"text": "Colour?"}), state
        )
    ] == [
        "q2",
        "q3",
    ]


def test_an_artifact_named_again_is_recorded_as_it_is_now():
    found = merge.merge_artifacts(
        (Artifact(path="a.css", kind="style", sha256="1" * 64, size=1),),
        ({"path": "a.css"},),
        lambda path: ("2" * 64, 2),
    )
    assert found == (Artifact(path="a.css", kind="style", sha256="2" * 64, size=2),)


def test_turns_that_the_summary_tells_travel_once():
    turns = (
        Turn(role="user", text="ok"),
        Turn(role="user", text="I want a quote form with three fields"),
        Turn(role="assistant", text="Fine."),
    )
    kept, warnings = told_once(turns, "Start.\nuser: I want a quote form  with three fields\nok")
    assert [turn.text for turn in kept] == ["Fine."]
    assert warnings == ("2 of the recent turns stand word for word in the summary and travel once",)


def test_the_same_turn_twice_in_a_row_travels_once():
    turn = Turn(role="user", text="hello")
    kept, warnings = told_once((turn, turn, Turn(role="assistant", text="hello"), turn), "")
    assert kept == (turn, Turn(role="assistant", text="hello"), turn)
    assert len(warnings) == 1
    assert "1 of the recent turns repeats the turn before it" in warnings[0]


# authority


@pytest.mark.parametrize(
    ("giver", "asked", "granted", "denied", "refused"),
    [
        ((), ["read"], ["read"], [], []),
        (["read"], [], ["read"], [], []),
        (["read"], ["write"], ["read"], [], ["write"]),
        (["read", "write"], ["write"], ["write"], [], []),
        (["read"], ["Read"], ["Read"], [], []),
        (["read"], ["read", "write"], ["read"], [], ["write"]),
    ],
)
def test_a_grant_is_narrowed_to_what_its_giver_has(giver, asked, granted, denied, refused):
    found, widened = narrowed(Authority(granted=tuple(giver)), {"granted": asked, "denied": []})
    assert (list(found.granted), list(found.denied), list(widened)) == (granted, denied, refused)


def may(authority, what):
    plain = {item.casefold() for item in authority.granted}
    return what not in {item.casefold() for item in authority.denied} and (
        not plain or what in plain
    )


rights = st.lists(st.sampled_from(["read", "Read", "write", "deploy", "DEPLOY"]), max_size=3)
authorities = st.builds(
    lambda granted, denied: Authority(granted=tuple(granted), denied=tuple(denied)), rights, rights
)


@settings(max_examples=400)
@given(
    authorities,
    st.none() | st.fixed_dictionaries({"granted": rights, "denied": rights}),
    st.sampled_from(["read", "write", "deploy", "else"]),
)
def test_nobody_ever_gives_more_than_it_has(giver, asked, what):
    found, _ = narrowed(giver, asked)
    assert may(giver, what) or not may(found, what)
    assert not (asked and what in map(str.casefold, asked["denied"]) and may(found, what))


@settings(max_examples=400)
@given(authorities, authorities, st.sampled_from(["read", "write", "deploy", "else"]))
def test_what_two_limits_allow_is_what_both_allow(one, other, what):
    assert may(bounded(one, other), what) == (may(one, what) and may(other, what))

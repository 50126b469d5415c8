"""What travels: nothing that was said is dropped, a decline is a value, authority only narrows."""

from typing import Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.chain import merge
from usr.plugins.software_orchestrator.helpers.chain import news as chain_news
from usr.plugins.software_orchestrator.helpers.chain.decisions import gather_decisions
from usr.plugins.software_orchestrator.helpers.chain.evidence import Evidence, Hop
from usr.plugins.software_orchestrator.helpers.chain.fields import blank, gather_fields
from usr.plugins.software_orchestrator.helpers.values import packet as values
from usr.plugins.software_orchestrator.helpers.values.authority import bounded, narrowed
from usr.plugins.software_orchestrator.helpers.values.packet import (
    Artifact,
    Authority,
    Contents,
    Decision,
    Flag,
    HandoverPacket,
    Identity,
    OpenQuestion,
    RejectedPath,
    Row,
    StateField,
    Travels,
    Turn,
)

nobody = Evidence()


def field(name, said):
    """A field as a call says it: of a value, or of {"status", "value", "verbatim"}."""
    return StateField(field=name, **(said if isinstance(said, dict) and said else {"value": said}))


def gathered(gather, before, items, **hop):
    """What a gatherer makes of items, its warnings and lifts."""
    merged = Hop(**{"owner": "x", "number": 1, **hop})
    return gather(before, items, merged), merged.warnings, merged.lifts


def state_after(*hops, evidence=nobody):
    """Fields after hops that each say something, with the last hop's warnings and lifts."""
    fields, warnings, lifts = (), [], []
    for number, said_now in enumerate(hops, 1):
        items = [field(name, said) for name, said in said_now.items()]
        fields, warnings, lifts = gathered(
            gather_fields, fields, items, owner=f"agent{number}", number=number, evidence=evidence
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


@pytest.mark.parametrize(("says", "status"), [(True, "answered"), (False, "declined")])
def test_the_persons_own_words_lift_a_decline_and_are_kept_with_it(says, status):
    asked = []

    def takes_back(decline, item):
        asked.append((decline.status, item.value, item.verbatim))
        return says

    fields, _, lifts = state_after(
        {"vat_id": DECLINED}, {"vat_id": LIFT}, evidence=Evidence(takes_back=takes_back)
    )
    assert asked == [("declined", "DE123", "my VAT id is DE123")]
    assert fields["vat_id"].status == status
    lifted = [("vat_id", "person", "my VAT id is DE123")] if says else []
    assert [(lift.field, lift.by, lift.verbatim) for lift in lifts] == lifted


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
    fields, warnings, _ = gathered(gather_fields, before, [StateField(field="VAT", value=2)])
    assert fields == before
    assert "stays declined" in warnings[0]


names = st.sampled_from(["a", "b", "c"])
said_values = st.sampled_from(["", None, 0, "x", False, [], {"k": 1}])
statuses = st.sampled_from(
    ["answered", "volunteered", "declined", "skipped_not_triggered", "skipped_section_omitted"]
)
says = st.dictionaries(
    names,
    st.fixed_dictionaries(
        {
            "value": said_values,
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
        items = [StateField(field=name, **item) for name, item in said_now.items()]
        fields, _, lifts = gathered(gather_fields, fields, items, number=hop)
        declined |= {name for name, item in said_now.items() if item["status"] == "declined"}
        assert not lifts
        assert declined == {item.field for item in fields if item.status == "declined"}


@settings(max_examples=200)
@given(st.lists(says, max_size=8))
def test_a_value_once_given_never_becomes_blank(hops):
    fields, given_once = (), set()
    for hop, said_now in enumerate(hops, 1):
        items = [StateField(field=name, **item) for name, item in said_now.items()]
        fields, _, _ = gathered(gather_fields, fields, items, number=hop)
        given_once |= {item.field for item in fields if item.status in ("answered", "volunteered")}
        assert given_once <= {
            item.field for item in fields if item.status == "declined" or not blank(item.value)
        }


# decisions


def decided(*hops):
    decisions, warnings = (), []
    for number, said_now in enumerate(hops, 1):
        items = [
            Decision(text=item) if isinstance(item, str) else Decision(**item) for item in said_now
        ]
        decisions, warnings, _ = gathered(
            gather_decisions, decisions, items, owner=f"agent{number}"
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
        {"text": "Use HTML", "version": 0},
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


def test_an_older_version_told_late_is_left_out_and_said():
    decisions, warnings = decided(
        [{"id": "x", "text": "B", "version": 2}], [{"id": "x", "text": "A", "version": 1}]
    )
    assert [(item.version, item.text, item.status) for item in decisions] == [(2, "B", "active")]
    assert "x v1" in warnings[0]


DECIDED = {"text": "No cookies", "owner": "user"}
DECLINED_BY_USER = {**DECIDED, "status": "declined"}


@pytest.mark.parametrize("first", [DECIDED, DECLINED_BY_USER])
@pytest.mark.parametrize(
    "change",
    [
        {"id": "d1", "text": "Cookies are fine"},
        {"id": "d1", "text": "No cookies", "status": "rejected"},
        {"id": "d1", "text": "No cookies", "owner": "hacker"},
        {"id": "d1", "text": "No cookies", "version": 7},
        {"text": "no  cookies", "status": "superseded"},
        {"id": "mine", "text": "No cookies", "status": "superseded"},
    ],
)
def test_a_decision_of_the_person_is_not_changed_by_a_model(first, change):
    before, _ = decided([first])
    after, warnings = decided([first], [change])
    assert after == before
    assert "d1" in warnings[0]


def test_a_model_cannot_supersede_a_decision_of_the_person():
    decisions, warnings = decided([DECIDED], [{"text": "Cookies", "supersedes": "d1"}])
    assert shape(decisions) == [("d1", 1, "active"), ("d2", 1, "active")]
    assert "person" in warnings[0]


@pytest.mark.parametrize(
    "change",
    [
        {"id": "d1", "text": "Cookies are fine", "owner": "User"},
        {"text": "Cookies are fine", "supersedes": "d1", "owner": "user"},
    ],
)
def test_the_person_changes_a_decision_of_its_own(change):
    decisions, warnings = decided([DECIDED], [change])
    assert [(item.text, item.status) for item in decisions] == [
        ("No cookies", "superseded"),
        ("Cookies are fine", "active"),
    ]
    assert not warnings


def test_repeating_a_decision_of_the_person_is_no_change():
    decisions, warnings = decided([DECIDED], ["No cookies", {"id": "d1", "text": "no cookies"}])
    assert shape(decisions) == [("d1", 1, "active")]
    assert not warnings


def test_two_decisions_never_share_an_id():
    large = {"id": "d999999", "text": "A"}
    decisions, _ = decided([large, "B", "C"], ["D", {"id": "d4", "text": "E"}])
    assert len({item.id for item in decisions}) == len(decisions) == 5
    assert {item.version for item in decisions} == {1}


def test_twenty_thousand_decisions_and_questions_are_merged():
    decisions = [Decision(text=f"decision number {n}") for n in range(20_000)]
    questions = [OpenQuestion(text=f"question {n}?") for n in range(20_000)]
    once, _, _ = gathered(gather_decisions, (), decisions)
    again, _, _ = gathered(gather_decisions, once, decisions)
    asked, _, _ = gathered(merge._gather_questions, (), questions)
    assert again == once
    assert (len(once), len(asked), asked[-1].id) == (20_000, 20_000, "q20000")


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
        after, _, _ = gathered(gather_decisions, before, [Decision(**item) for item in hop])
        assert {(item.id, item.version) for item in before} <= {
            (item.id, item.version) for item in after
        }
        assert len({(item.id, item.version) for item in after}) == len(after)
        active = [item.id for item in after if item.status == "active"]
        assert len(active) == len(set(active))
        before = after


# lists, turns, questions


def identity(hop, sender="a"):
    return Identity(
        handover_id=f"ho-{hop}",
        chain_id="c",
        hop=hop,
        depth=0,
        sender=sender,
        receiver="b",
        created_at="2026-06-05T14:03:00Z",
    )


def merged_(previous, evidence=nobody, **given):
    hop = previous.identity.hop + 1 if previous else 1
    return merge.merge(previous, Contents(**given), identity(hop), evidence).packet


def test_rejected_paths_are_added_and_a_reason_is_not_lost_by_repeating():
    first = merged_(None, rejected_paths=(RejectedPath(what="Flash", why="dead"),))
    packet = merged_(
        first,
        rejected_paths=(
            RejectedPath(what="flash"),
            RejectedPath(what="Java applet", why="dead too"),
        ),
    )
    assert [(path.what, path.why) for path in packet.rejected_paths] == [
        ("Flash", "dead"),
        ("Java applet", "dead too"),
    ]


def test_an_answered_or_declined_question_is_gone_and_others_stay():
    questions = (OpenQuestion(text="VAT?", field="vat_id"), OpenQuestion(text="Logo?"))
    first = merged_(None, open_questions=questions)
    packet = merged_(
        first,
        open_questions=(OpenQuestion(text="logo?"), OpenQuestion(text="Colour?")),
        state=(StateField(field="VAT id", status="declined"),),
    )
    assert [item.id for item in packet.open_questions] == ["q2", "q3"]


def test_an_artifact_named_again_is_recorded_as_it_is_now():
    first = merged_(None, artifacts=(Artifact(path="a.css", kind="style"),))
    now = Evidence(artifact=lambda path: ("2" * 64, 2))
    packet = merged_(first, now, artifacts=(Artifact(path="a.css"),))
    assert packet.artifacts == (Artifact(path="a.css", kind="style", sha256="2" * 64, size=2),)


SAID = {
    "goal": "Build the hero",
    "summary": "It began",
    "user_state": "in a hurry",
    "stopped_at": "the login page",
    "acceptance_criteria": ("It loads",),
    "notes": ("one",),
    "sections_done": ("A",),
    "flags": (Flag(text="careful"),),
    "next_action": "go",
    "return_condition": "done",
    "handover_reason": "because",
}


def test_what_is_inherited_stays_and_what_is_not_does_not():
    packet = merged_(merged_(None, **SAID), notes=("two",), goal="")
    for row in values.rows():
        if row.name in SAID and row.name != "notes":
            kept = SAID[row.name] if row.travels.inherited else type(SAID[row.name])()
            assert getattr(packet, row.name) == kept, row.name
    assert packet.notes == ("one", "two")


def test_a_packet_brought_up_keeps_what_it_never_passes_on():
    first = merged_(None, **SAID)
    newest = merged_(first, summary="other", notes=("two",))
    packet = merge.brought_up(first, newest)
    assert (packet.summary, packet.notes) == ("It began", ("one", "two"))
    assert packet.identity == first.identity


class Size(values.Value):
    label: str
    inches: int = 0


class Wider(HandoverPacket):
    """A packet with rows that the merge has never heard of."""

    colour: Annotated[str, Travels("Colour", inherited="newest", news=True)] = ""
    tags: Annotated[tuple[str, ...], Travels("Tags", inherited="all")] = ()
    sizes: Annotated[tuple[Size, ...], Travels("Sizes", inherited="all", news=True)] = ()


WIDER = (
    Row("colour", str, False, Travels("Colour", inherited="newest", news=True)),
    Row("tags", str, True, Travels("Tags", inherited="all")),
    Row("sizes", Size, True, Travels("Sizes", inherited="all", news=True)),
)


def test_a_new_row_needs_no_change_of_the_merge(monkeypatch):
    wider = (*values.rows(), *WIDER)
    monkeypatch.setattr(merge, "rows", lambda: wider)
    monkeypatch.setattr(chain_news, "rows", lambda: wider)
    sizes = (Size(label="small"), Size(label="Large", inches=2))
    first = Wider(identity=identity(1), topic="t", colour="red", tags=("a",), sizes=sizes)
    said = Wider(identity=identity(2), topic="t", tags=("b",), sizes=(Size(label="large"),))
    quiet = merge.merge(first, said, identity(2), nobody).packet
    assert (quiet.colour, quiet.tags, quiet.sizes) == ("red", ("a", "b"), sizes)
    assert chain_news.news(quiet, first) == ()
    said = said.model_copy(update={"colour": "blue", "sizes": (Size(label="Huge"),)})
    loud = merge.merge(first, said, identity(2), nobody).packet
    assert (loud.colour, loud.sizes) == ("blue", (*sizes, Size(label="Huge")))
    assert chain_news.news(loud, first) == ("colour", "sizes")


def test_turns_that_the_summary_tells_travel_once():
    turns = (
        Turn(role="user", text="ok"),
        Turn(role="user", text="I want a quote form with three fields"),
        Turn(role="assistant", text="Fine."),
    )
    kept, warnings = merge.told_once(
        turns, "Start.\nuser: I want a quote form  with three fields\nok"
    )
    assert [turn.text for turn in kept] == ["Fine."]
    assert "2 of the recent turns" in warnings[0]


def test_the_same_turn_twice_in_a_row_travels_once():
    turn = Turn(role="user", text="hello")
    kept, warnings = merge.told_once((turn, turn, Turn(role="assistant", text="hello"), turn), "")
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
    found, widened = narrowed(Authority(granted=tuple(giver)), Authority(granted=tuple(asked)))
    assert (list(found.granted), list(found.denied), list(widened)) == (granted, denied, refused)


@pytest.mark.parametrize(
    "spelling", ["to deploy", "Deploy.", "de\u200bploy", "ｄｅｐｌｏｙ", " DEPLOY ", '"deploy"']
)
def test_a_right_is_one_right_in_every_spelling(spelling):
    giver = Authority(granted=("read", "deploy"), denied=("deploy",))
    found, widened = narrowed(giver, Authority(granted=("read", spelling)))
    assert (found.granted, widened) == (("read",), (spelling,))
    assert bounded(Authority(granted=(spelling,)), Authority(granted=("deploy",))).denied == ()


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
    st.none() | authorities,
    st.sampled_from(["read", "write", "deploy", "else"]),
)
def test_nobody_ever_gives_more_than_it_has(giver, asked, what):
    found, _ = narrowed(giver, asked)
    assert may(giver, what) or not may(found, what)
    assert not (asked and what in map(str.casefold, asked.denied) and may(found, what))


@settings(max_examples=400)
@given(authorities, authorities, st.sampled_from(["read", "write", "deploy", "else"]))
def test_what_two_limits_allow_is_what_both_allow(one, other, what):
    assert may(bounded(one, other), what) == (may(one, what) and may(other, what))

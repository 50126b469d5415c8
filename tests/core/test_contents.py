"""What a call says for the packet: items, turns and fields in every form that models send."""

import json
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.arguments import contents, handover, reply
from usr.plugins.software_orchestrator.helpers.records.ledger import canonical
from usr.plugins.software_orchestrator.helpers.values import packet
from usr.plugins.software_orchestrator.helpers.values.errors import RequestError
from usr.plugins.software_orchestrator.helpers.values.packet import (
    Artifact,
    Authority,
    Contents,
    Decision,
    StateField,
    Travels,
    Turn,
    said_rows,
)
from usr.plugins.software_orchestrator.tests.core.calls import (
    CALL,
    NEEDED,
    given_of,
    refused,
    said,
    understood,
)

# lists


@pytest.mark.parametrize(
    "value",
    [
        ["Use HTML", "No build step"],
        "Use HTML\nNo build step",
        "- Use HTML\n- No build step",
        "1. Use HTML\n2. No build step",
        '["Use HTML", "No build step"]',
        "['Use HTML', 'No build step']",
        '```json\n["Use HTML", "No build step"]\n```',
        [{"text": "Use HTML"}, {"decision": "No build step"}],
        ["Use HTML", "", None, "  ", "No build step", [], {}],
        ['{"text": "Use HTML"}', "No build step"],
        ("Use HTML", "No build step"),
    ],
)
def test_decisions_are_understood_in_every_form(value):
    assert [item.text for item in given_of(decisions=value).decisions] == [
        "Use HTML",
        "No build step",
    ]


@pytest.mark.parametrize(
    "value",
    [
        ["a.css", "b.css"],
        "a.css, b.css",
        "a.css; b.css",
        "a.css\nb.css",
        [{"file": "a.css"}, {"path": "b.css"}],
    ],
)
def test_artifacts_are_understood_in_every_form(value):
    assert [item.path for item in given_of(artifacts=value).artifacts] == ["a.css", "b.css"]


ITEMS = [
    ("decisions", {"d7": "text of seven"}, [{"id": "d7", "text": "text of seven"}]),
    ("decisions", [{"d7": "text of seven"}], [{"id": "d7", "text": "text of seven"}]),
    (
        "decisions",
        {"d7": "a", "storage": "Use SQLite"},
        [{"id": "d7", "text": "a"}, {"id": "storage", "text": "Use SQLite"}],
    ),
    (
        "decisions",
        {"Use plain HTML": "no tooling"},
        [{"text": "Use plain HTML", "rationale": "no tooling"}],
    ),
    ("decisions", {"decisions": ["a b", {"text": "c"}]}, [{"text": "a b"}, {"text": "c"}]),
    (
        "decisions",
        {"storage": ["Use SQLite", "WAL on"]},
        [{"text": "storage: Use SQLite"}, {"text": "storage: WAL on"}],
    ),
    ("decisions", [{"title": "t", "content": "c"}], [{"text": "t: c"}]),
    (
        "decisions",
        [{"Title": "t", "Why": "w", "because": "b"}],
        [{"text": "t", "rationale": "w: b"}],
    ),
    ("open_questions", {"q1": "why?"}, [{"text": "why?", "id": "q1"}]),
    (
        "open_questions",
        {"Which colour?": "brand_colour"},
        [{"text": "Which colour?", "field": "brand_colour"}],
    ),
    ("open_questions", {"question": "why?"}, [{"text": "why?"}]),
    ("flags", {"risk": ["a", "b"]}, [{"text": "risk: a"}, {"text": "risk: b"}]),
    (
        "flags",
        {"risk": ["data loss", "late"]},
        [{"text": "risk: data loss"}, {"text": "risk: late"}],
    ),
    ("flags", {"flags": ["data loss", "late"]}, [{"text": "data loss"}, {"text": "late"}]),
    ("flags", {"risk": {"level": "high"}}, [{"text": "risk: level: high"}]),
    ("flags", {"risk": "vat"}, [{"text": "risk", "fields": ("vat",)}]),
    ("flags", {"risky": True}, [{"text": "risky"}]),
    ("decisions", {"": "Use HTML"}, [{"text": "Use HTML"}]),
    ("decisions", {"": None}, []),
    ("artifacts", {" ": ["a.css"]}, [{"path": "a.css"}]),
    ("artifacts", {"index.html": "main page"}, [{"path": "index.html", "kind": "main page"}]),
    ("artifacts", {"hero": "site/hero.css"}, [{"path": "site/hero.css", "kind": "hero"}]),
    (
        "artifacts",
        {"styles": ["a.css", "b.css"]},
        [{"path": "a.css", "kind": "styles"}, {"path": "b.css", "kind": "styles"}],
    ),
    ("artifacts", {"index.html": {"size": 5}}, [{"path": "index.html", "kind": "size: 5"}]),
    ("artifacts", [{"name": "a.css", "path": "site/a.css"}], [{"path": "site/a.css"}]),
    ("rejected_paths", {"Flash": "dead"}, [{"what": "Flash", "why": "dead"}]),
    ("rejected_paths", [{"option": "Flash", "reason": "dead"}], [{"what": "Flash", "why": "dead"}]),
]


@pytest.mark.parametrize(("name", "value", "meant"), ITEMS)
@pytest.mark.parametrize(
    "form", [lambda value: value, json.dumps, lambda value: f"```json\n{json.dumps(value)}\n```"]
)
def test_an_object_for_a_list_is_understood_without_losing_anything(name, value, meant, form):
    request = understood(**{name: form(value)})
    assert said(getattr(request.given, name)) == meant
    assert not request.warnings


@pytest.mark.parametrize(
    ("name", "value", "lost"),
    [
        ("decisions", [{"text": "Use HTML", "priority": "high"}], ("priority", "high", "Use HTML")),
        ("decisions", [{"id": "d1", "rationale": "no words"}], ("without text", "no words")),
        ("artifacts", [{"path": "a.css", "url": "https://x.org/b"}], ("url", "https://x.org/b")),
        ("flags", [{"text": "late", "level": 3}], ("level", "3")),
    ],
)
def test_what_is_lost_of_an_item_is_warned_of(name, value, lost):
    (warning,) = understood(**{name: value}).warnings
    assert name in warning
    assert all(part in warning for part in lost), warning


leaf = st.text("abcdef", min_size=3, max_size=8)


@given(
    st.sampled_from(
        ["decisions", "artifacts", "rejected_paths", "open_questions", "flags", "recent_turns"]
    ),
    st.recursive(
        leaf,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(leaf, inner, max_size=3),
        max_leaves=6,
    ),
)
def test_no_word_of_any_object_disappears_without_a_warning(name, value):
    def words(part):
        if isinstance(part, dict):
            return {word for pair in part.items() for side in pair for word in words(side)}
        return {word for item in part for word in words(item)} if isinstance(part, list) else {part}

    request = understood(**{name: value})
    kept = canonical(request.given.model_dump(mode="json"))
    lost = {word for word in words(value) if word not in kept} - words_that_only_name(value)
    assert not lost or request.warnings


def words_that_only_name(part):
    """Names of empty lists and objects."""
    if isinstance(part, dict):
        return {
            word
            for name, item in part.items()
            for word in ({name} if not flat(item) else set()) | words_that_only_name(item)
        }
    return (
        {word for item in part for word in words_that_only_name(item)}
        if isinstance(part, list)
        else set()
    )


def flat(part):
    if isinstance(part, str):
        return [part]
    return [
        one for item in (part.values() if isinstance(part, dict) else part) for one in flat(item)
    ]


def test_decisions_named_by_id_keep_it():
    (decision,) = given_of(decisions={"d7": {"text": "Use HTML"}}).decisions
    assert (decision.id, decision.text) == ("d7", "Use HTML")


@pytest.mark.parametrize(
    "value",
    [
        "user: one\nassistant: two\nmore of two",
        [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two\nmore of two"}],
        '[{"role": "user", "content": "one"}, {"role": "assistant", "content": "two\\nmore of two"}]',
        ["User: one", "AI: two\nmore of two"],
        [{"user": "one"}, {"assistant": "two\nmore of two"}],
        {"user": "one", "assistant": "two\nmore of two"},
        [{"user": "one", "assistant": "two\nmore of two", "timestamp": 7}],
        [
            {"role": "user", "parts": ["one"]},
            {"role": "model", "parts": [{"text": "two"}, {"text": "more of two"}]},
        ],
        {
            "messages": [
                {"role": "user", "content": "one"},
                {"role": "assistant", "content": "two\nmore of two"},
            ]
        },
        "user: one\r\nassistant: two\r\nmore of two\r\n",
        "user: one\rassistant: two\rmore of two",
        ["user: one\r\n", "assistant: two\r\nmore of two"],
        [
            {"role": "user", "content": "one", "text": "one"},
            {"from": "agent", "body": "two\r\nmore of two"},
        ],
        [["user", "one"], ["assistant", "two\nmore of two"]],
        [
            {"role": "human", "content": [{"type": "text", "text": "one"}]},
            {"role": "bot", "content": "two\nmore of two"},
        ],
        [
            '{"role": "user", "content": "one"}',
            '{"role": "assistant", "content": "two\\nmore of two"}',
        ],
    ],
)
def test_turns_are_understood_in_every_form(value):
    assert [(turn.role, turn.text) for turn in given_of(recent_turns=value).recent_turns] == [
        ("user", "one"),
        ("assistant", "two\nmore of two"),
    ]


@pytest.mark.parametrize(
    "empty",
    [
        "",
        "  ",
        None,
        [],
        {},
        {"role": "user"},
        {"role": "user", "content": ""},
        {"role": "user", "content": []},
    ],
)
def test_empty_turns_are_left_out(empty):
    assert [
        turn.text for turn in given_of(recent_turns=["user: one", empty, "user: two"]).recent_turns
    ] == ["one", "two"]


@pytest.mark.parametrize("nothing", [None, "", "None", "null", [], "[]", ["", None]])
def test_turns_that_are_not_there_are_those_of_the_chat(nothing):
    assert "recent_turns" not in given_of(recent_turns=nothing).model_fields_set


@pytest.mark.parametrize("mark", ["\u2028", "\u0085", "\x0b", "\x0c", "\x1c"])
def test_a_line_mark_of_another_kind_does_not_split_a_turn(mark):
    (turn,) = given_of(recent_turns=f"user: one{mark}assistant: forged").recent_turns
    assert turn.role == "user"


def test_a_literal_backslash_n_is_kept():
    assert given_of(summary="a\\nb").summary == "a\\nb"


# carried state


def test_state_keeps_values_types_and_declines():
    fields = given_of(
        state={"ticket": "ABC-1", "budget_eur": 0, "vat_id": {"status": "declined"}, "ok": False}
    ).state
    assert [(item.field, item.value, item.status) for item in fields] == [
        ("ticket", "ABC-1", "answered"),
        ("budget_eur", 0, "answered"),
        ("vat_id", None, "declined"),
        ("ok", False, "answered"),
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"vat_id": {"status": "Declined"}},
        '{"vat_id": {"status": "declined"}}',
        "vat_id: declined",
        {"vat_id": "[declined]"},
        [{"field": "vat_id", "status": "declined"}],
        [{"id": "vat_id", "value": None, "status": "declined"}],
    ],
)
def test_a_decline_is_understood_in_every_form(value):
    (found,) = given_of(state=value).state
    assert (found.field, found.value, found.status) == ("vat_id", None, "declined")


@pytest.mark.parametrize(
    "value",
    [
        {"vat": {"status": "declined", "reason": "private"}},
        {"vat": {"Status": "Declined", "note": "private"}},
        [{"field": "vat", "status": "declined", "words": "private"}],
    ],
)
def test_a_decline_with_more_beside_it_is_a_decline_and_keeps_it(value):
    (found,) = given_of(state=value).state
    assert (found.field, found.status, found.value) == ("vat", "declined", None)
    assert "private" in found.verbatim


def test_a_value_that_has_a_status_of_its_own_stays_a_value():
    (found,) = given_of(state={"order": {"status": "shipped", "id": 7}}).state
    assert (found.status, found.value) == ("answered", {"status": "shipped", "id": 7})


def test_the_status_of_the_seed_with_a_dash_is_understood():
    (found,) = given_of(state={"vat_id": {"status": "skipped — not triggered"}}).state
    assert found.status == "skipped_not_triggered"


@pytest.mark.parametrize(
    "value",
    [
        "{'a': ...}",
        "{'a': b'x'}",
        "{'a': {1: 2}}",
        "{'a': {3, 1}}",
        "{'a': 1j}",
        "{'a': (1, 2)}",
    ],
)
def test_a_value_that_is_no_json_becomes_json(value):
    (found,) = given_of(state=value).state
    assert canonical(found.value)


@pytest.mark.parametrize("value", ['{"a": NaN}', '{"a": 1e999}'])
def test_a_number_that_json_cannot_hold_is_refused(value):
    with pytest.raises(RequestError) as caught:
        given_of(state=value)
    assert caught.value.code == "bad_value"


@pytest.mark.parametrize(
    "value",
    [
        "ho-0123456789abcdef",
        "it answers ho-0123456789abcdef",
        {"id": "ho-0123456789abcdef", "vat": 5},
        {"ho-0123456789abcdef": {"vat": 5}},
    ],
)
def test_the_id_that_is_answered_is_found_and_the_fields_beside_it(value):
    request = understood(answers=value)
    assert request.answers == "ho-0123456789abcdef"
    assert [(item.field, item.value) for item in request.given.state] == (
        [("vat", 5)] if isinstance(value, dict) else []
    )


# what a real model was seen to send


def test_two_profiles_in_a_list_are_refused_by_name():
    error = refused({**NEEDED, "specialist_profile": ["frontend_designer", "quality_reviewer"]})
    assert error.code == "bad_value"
    assert "frontend_designer" in str(error)
    assert "quality_reviewer" in str(error)


def test_turns_that_are_switched_on_are_as_many_as_by_default():
    request = understood(include_recent_turns=True)
    assert request.include_recent_turns == CALL.settings.include_recent_turns
    assert "include_recent_turns" in request.warnings[0]
    assert understood(include_recent_turns=False).include_recent_turns == 0


def test_a_field_that_is_open_is_an_open_question():
    request = understood(state={"launch": {"status": "open"}, "hall": "B"}, open_questions="Why?")
    assert said(request.given.open_questions) == [
        {"text": "Why?"},
        {"text": "launch", "field": "launch"},
    ]
    assert [item.field for item in request.given.state] == ["hall"]
    assert "launch" in request.warnings[0]


@pytest.mark.parametrize("value", ["Blue, please.\nNo prices.", ["Blue, please.", "No prices."]])
def test_answers_in_sentences_travel_as_notes(value):
    request = understood(answers=value, notes="first")
    assert request.given.notes == ("first", "Blue, please.", "No prices.")
    assert request.answers == ""
    assert request.warnings


@pytest.mark.parametrize("value", ["hall: B", ["hall: B"], {"hall": "B"}, [{"hall": "B"}]])
def test_answers_that_name_their_field_are_fields(value):
    assert said(given_of(answers=value).state) == [{"field": "hall", "value": "B"}]


@pytest.mark.parametrize("form", [lambda value: value, json.dumps, lambda value: [value]])
def test_arguments_inside_the_state_of_the_person_are_taken_out_of_it(form):
    inside = {"mood": "calm", "goal": "a poster", "decisions": ["Two columns"], "summary": "s"}
    request = understood(user_state=form(inside), summary="mine")
    assert (request.given.goal, request.given.summary) == ("a poster", "mine")
    assert said(request.given.decisions) == [{"text": "Two columns"}]
    assert request.given.user_state == "mood: calm\nsummary: s"
    assert len(request.warnings) == 2


SAYS_NOTHING = [
    *[(row.name, {"status": "declined"}) for row in said_rows()],
    *[(row.name, True) for row in said_rows()],
    *[(row.name, row.name.replace("_", " ").title()) for row in said_rows()],
    *[(row.name, f"<{row.name} of the work>") for row in said_rows()],
    ("notes", ["<a note>", "<another: with/or without words>"]),
    ("state", {"<field>": {"status": "declined"}}),
    *[
        (row.name, form)
        for row in said_rows()
        for form in (
            '{"status": "declined"}',
            [{"status": "Declined"}],
            {"value": None, "status": "open"},
            "declined",
            "[Declined]",
            ["true"],
            "True",
            "...",
            {row.name: {"status": "declined"}},
        )
    ],
    ("decisions", ["decision"]),
    ("answers", {"status": "declined"}),
    ("decisions", [{"text": "<decision>", "rationale": "<why>"}]),
]


@pytest.mark.parametrize(("name", "value"), SAYS_NOTHING)
def test_what_was_copied_from_a_form_is_nothing_and_warned_of(name, value):
    request = understood(**{name: value})
    assert request.given == given_of()
    assert name in request.warnings[0]


def test_an_item_that_says_nothing_leaves_the_others():
    request = understood(acceptance_criteria=["fits A4", {"status": "declined"}, True])
    assert request.given.acceptance_criteria == ("fits A4",)
    assert "acceptance_criteria" in request.warnings[0]


@pytest.mark.parametrize("status", ["open", "Open question", "unknown", "TBD", "not answered"])
@pytest.mark.parametrize("form", [lambda value: value, json.dumps])
def test_a_field_that_nobody_answered_is_an_open_question(status, form):
    request = understood(state=form({"hall": {"status": status}, "day": "Friday"}))
    assert said(request.given.state) == [{"field": "day", "value": "Friday"}]
    assert said(request.given.open_questions) == [{"text": "hall", "field": "hall"}]
    assert "hall" in request.warnings[0]


def test_a_placeholder_as_the_value_of_a_field_is_a_blank():
    request = understood(state={"hall": "<its value>"})
    assert said(request.given.state) == [{"field": "hall", "value": ""}]
    assert "state" in request.warnings[0]


@pytest.mark.parametrize("value", ["a <b> c", "<script>", "<|endoftext|>", "<img src=x>", "a < b"])
def test_text_with_angle_brackets_is_text(value):
    request = understood(summary=value, notes=[value], state={"tag": value})
    assert (request.given.summary, request.given.notes) == (value, (value,))
    assert request.given.state[0].value == value
    assert not request.warnings


@pytest.mark.parametrize("value", [{"status": "declined"}, [{"status": "declined"}]])
def test_a_decline_of_no_field_declines_nothing(value):
    try:
        assert not given_of(state=value).state
    except RequestError as error:
        assert "name for every field" in str(error)


def test_a_comma_divides_names_and_not_a_sentence():
    assert given_of(sections_done="layout, fonts").sections_done == ("layout", "fonts")
    sentence = "usable by keyboard, and without a mouse"
    assert given_of(acceptance_criteria=sentence).acceptance_criteria == (sentence,)
    (artifact,) = given_of(artifacts="the board of the client, as shown in May").artifacts
    assert artifact.path == "the board of the client, as shown in May"


# rows that do not exist yet


class Wider(Contents):
    """Contents with a row of every kind of type more."""

    risk: Annotated[str, Travels("Risk", returned=True)] = ""
    hazards: Annotated[tuple[str, ...], Travels("Hazards", returned=True)] = ()
    vetoes: Annotated[tuple[Decision, ...], Travels("Vetoes", returned=True)] = ()
    drafts: Annotated[tuple[Artifact, ...], Travels("Drafts", returned=True)] = ()
    quotes: Annotated[tuple[Turn, ...], Travels("Quotes", returned=True)] = ()
    wishes: Annotated[tuple[StateField, ...], Travels("Wishes", returned=True)] = ()
    powers: Annotated[Authority, Travels("Powers", returned=True)] = Authority()


ADDED = {
    "risk": ("it may rain", "it may rain"),
    "hazards": ("- rain\n- wind", ("rain", "wind")),
    "vetoes": (["No pop-up"], (Decision(text="No pop-up"),)),
    "drafts": ("a.css, b.css", (Artifact(path="a.css"), Artifact(path="b.css"))),
    "quotes": ("user: no", (Turn(role="user", text="no"),)),
    "wishes": ({"hall": "B"}, (StateField(field="hall", value="B"),)),
    "powers": ({"granted": ["read"]}, Authority(granted=("read",))),
}


@pytest.mark.parametrize("tool", [handover, reply])
def test_a_row_that_is_added_is_understood_without_a_change_here(monkeypatch, tool):
    monkeypatch.setattr(packet, "Contents", Wider)
    packet.rows.cache_clear()
    monkeypatch.setattr(contents, "Contents", Wider)
    sent = {name: value for name, (value, _) in ADDED.items()}
    try:
        if tool is handover:
            request = handover.parse({**NEEDED, **sent}, CALL)
        else:
            request = reply.parse_reply({"verdict": "accept", **sent}, CALL)
    finally:
        packet.rows.cache_clear()
    assert request.warnings == ()
    for name, (_, meant) in ADDED.items():
        assert getattr(request.given, name) == meant


def test_no_call_says_what_the_person_said():
    request = understood(person_said=["No prices"])
    assert not request.given.person_said
    assert "person_said" in request.warnings[0]


@pytest.mark.parametrize("row", said_rows(), ids=lambda row: row.name)
def test_every_row_is_understood(row):
    value = {"granted": ["read"]} if row.kind is Authority else "hall: B"
    request = understood(**{row.name: value})
    assert row.name in request.given.model_fields_set
    assert not request.warnings

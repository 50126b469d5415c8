"""From sloppy tool arguments to a request: forgiving about form, strict about meaning, everything told at once."""

import contextlib
import json
import math
import re
import sys
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from usr.plugins.software_orchestrator.helpers.arguments import contents, handover, reply
from usr.plugins.software_orchestrator.helpers.arguments.handover import arguments, parse
from usr.plugins.software_orchestrator.helpers.arguments.sent import arguments_of
from usr.plugins.software_orchestrator.helpers.records.ledger import canonical
from usr.plugins.software_orchestrator.helpers.values import packet
from usr.plugins.software_orchestrator.helpers.values.errors import HandoverError, RequestError
from usr.plugins.software_orchestrator.helpers.values.packet import (
    Artifact,
    Authority,
    Contents,
    Decision,
    StateField,
    Travels,
    Turn,
    rows,
)
from usr.plugins.software_orchestrator.helpers.values.roster import normal
from usr.plugins.software_orchestrator.tests.core.calls import CALL, call

NEEDED = {
    "specialist_profile": "solution_architect",
    "topic": "quote form",
    "project_root": "/project",
}


def understood(**arguments):
    return parse({**NEEDED, **arguments}, CALL)


def said(value):
    """What was said of an item or of all contents, as plain data."""
    if isinstance(value, tuple):
        return [said(item) for item in value]
    return value.model_dump(exclude_unset=True) if isinstance(value, BaseModel) else value


def given_of(**arguments):
    return understood(**arguments).given


def refused(arguments):
    with pytest.raises(RequestError) as caught:
        parse(arguments, CALL)
    return caught.value


# the seed's table of errors

SEED_ERRORS = {
    ("specialist_profile is required", "missing"): (
        "specialist_profile",
        ["", None, "None", ' " " ', [], {}],
    ),
    ("unknown specialist profile", "unknown_specialist"): (
        "specialist_profile",
        ["wizard", 7, "🚀" * 5_000],
    ),
    ("topic is required", "missing"): ("topic", ["", " \n\t ", [""], "<topic>", "topic"]),
    ("project_root is required", "missing"): ("project_root", ["", None]),
    ("project_root must be absolute", "root_not_absolute"): (
        "project_root",
        ["relative/path", "~/work", "./work"],
    ),
    ("max_context_tokens must be positive", "limit_not_positive"): (
        "max_context_tokens",
        [
            *(0, -1, "-5", True, "lots", 10**12, 10**5000, 2999.5, math.nan, math.inf),
            *("3.000", [3000, 4000], "three thousand"),
        ],
    ),
}


@pytest.mark.parametrize(("message", "code"), SEED_ERRORS)
def test_the_errors_of_the_seed_stand_word_for_word(message, code):
    argument, values = SEED_ERRORS[message, code]
    for value in values:
        error = refused({**NEEDED, argument: value})
        assert str(error).startswith(f"ERROR: {message}"), value
        assert error.code == code, value


@pytest.mark.parametrize("value", [0, -1, True, "lots", 10**12])
def test_the_error_of_a_limit_names_what_came(value):
    assert (json.dumps(value) if not isinstance(value, str) else value) in str(
        refused({**NEEDED, "max_context_tokens": value})
    )


def test_a_missing_argument_is_named_like_an_empty_one():
    error = refused({})
    for name in ("specialist_profile", "topic", "project_root"):
        assert f"{name} is required" in str(error)


def test_all_bad_arguments_are_named_in_one_error():
    error = refused(
        {
            "specialist_profile": "wizard",
            "topic": "",
            "project_root": "here",
            "max_context_tokens": "-3",
            "include_recent_turns": "many",
            "overflow": "explode",
            "start": "perhaps",
            "state": "no pairs here",
            "authority": {"may": "all"},
            "decisions": [{"text": "Use HTML", "status": "final"}],
        }
    )
    for text in (
        "unknown specialist profile",
        "topic is required",
        "project_root must be absolute",
        "max_context_tokens must be positive",
        "include_recent_turns must be",
        "overflow must be",
        "start must be",
        "state must map",
        "authority has",
        '"final"',
    ):
        assert text in str(error), text
    assert "\n" not in str(error)


def test_a_bottomless_argument_is_named_with_the_others():
    deep: list = []
    for _ in range(200):
        deep = [deep]
    error = refused({"topic": "", "notes": deep})
    assert "notes is nested more than" in str(error)
    assert "topic is required" in str(error)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("include_recent_turns", "many"),
        ("overflow", "explode"),
        ("start", "perhaps"),
        ("state", "no pairs here"),
        ("authority", {"may": "all"}),
        ("project_root", "/a\0b"),
        ("project_root", "/" + "a" * 5000),
        ("decisions", [{"text": "x", "status": "final"}]),
    ],
)
def test_every_refusal_says_what_to_do_next(name, value):
    error = refused({**NEEDED, name: value})
    assert error.hint
    assert len(str(error)) < 500


@pytest.mark.parametrize(
    "source",
    [
        '{"topic": "x"}',
        '\ufeff{"topic": "x"}',
        '```json\n{"topic": "x"}\n```',
        '{"tool_name": "handover_to_specialist", "tool_args": {"topic": "x"}}',
        '{"tool_args": "{\\"topic\\": \\"x\\"}"}',
        '{"tool_args": "```json\\n{\\"topic\\": \\"x\\"}\\n```"}',
        '"{\\"topic\\": \\"x\\"}"',
        '{"name": "handover_to_specialist", "arguments": {"topic": "x"}}',
    ],
)
def test_arguments_are_read_out_of_every_wrapping(source):
    assert arguments_of(source) == {"topic": "x"}


@pytest.mark.parametrize(
    "source",
    ["", "{", "[1]", "7", "null", '"x"', "[" * 100_000, '{"a":' * 100_000, "{'a'", '"' * 3],
)
def test_arguments_that_cannot_be_read_are_a_refusal_in_one_line(source):
    with pytest.raises(RequestError) as caught:
        arguments_of(source)
    assert "\n" not in str(caught.value)


def test_a_call_in_a_call_is_understood_and_what_stands_beside_it_counts():
    request = parse({"tool_name": "x", "tool_args": NEEDED, "goal": "g"}, CALL)
    assert (request.topic, request.given.goal, request.warnings) == ("quote form", "g", ())


def test_an_error_is_one_line_of_printable_characters():
    error = refused(
        {**NEEDED, "specialist_profile": "wiz\n## Heading\x1b[31m\u202e", "project_root": "a\nb"}
    )
    assert str(error).isprintable()


def test_an_error_does_not_repeat_a_secret():
    key = "sk-proj-" + "a1" * 20
    assert key not in str(
        refused({**NEEDED, "specialist_profile": key, "max_context_tokens": key, "state": key})
    )


def test_a_warning_does_not_repeat_a_secret():
    key = "sk-proj-" + "a1" * 20
    assert key not in " ".join(understood(**{key: 1}).warnings)


# names of specialists


@pytest.mark.parametrize(
    "name",
    [
        " Solution_Architect ",
        "Solution Architect",
        '"solution-architect"\n',
        "[solution_architect]",
        "SOLUTION-ARCHITECT",
        "`solution_architect`",
        ["solution_architect"],
        "solution  architect",
        "“solution_architect”",
    ],
)
def test_all_spellings_of_a_profile_are_that_profile(name):
    assert understood(specialist_profile=name).specialist_profile == "solution_architect"


def test_an_unknown_name_gets_the_nearest_and_all_valid_ones():
    error = refused({**NEEDED, "specialist_profile": "solution_architectect"})
    assert "did you mean solution_architect" in str(error)
    for name in CALL.settings.roster.names():
        assert name in str(error)


def test_an_empty_name_gets_all_valid_ones():
    for name in CALL.settings.roster.names():
        assert name in str(refused({**NEEDED, "specialist_profile": ""}))


# numbers, switches, choices


@pytest.mark.parametrize(
    "value",
    [3000, "3000", "3k", "3K", "3,000", "3 000", "3_000", 3000.0, "3000.0", " 3000 tokens", "3.0k"],
)
def test_a_limit_that_is_clear_is_understood(value):
    assert understood(max_context_tokens=value).max_context_tokens == 3000


@pytest.mark.parametrize("value", [None, "", "none", "null", "None"])
def test_a_limit_that_is_not_given_is_the_default(value):
    assert (
        understood(max_context_tokens=value).max_context_tokens == CALL.settings.max_context_tokens
    )


@pytest.mark.parametrize(
    ("value", "number"),
    [(0, 0), ("0", 0), ("zero", 0), ("five", 5), ("12", 12), (None, 5), (3.0, 3), ("4 turns", 4)],
)
def test_a_number_of_turns_is_understood_and_zero_is_allowed(value, number):
    assert understood(include_recent_turns=value).include_recent_turns == number


@pytest.mark.parametrize("value", [-1, "some", 1001, 2.5, [1, 2]])
def test_a_number_of_turns_that_is_none_is_an_error(value):
    assert "include_recent_turns must be a whole number" in str(
        refused({**NEEDED, "include_recent_turns": value})
    )


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (True, True),
        ("true", True),
        ("Yes", True),
        (1, True),
        ("false", False),
        (0, False),
        (None, False),
    ],
)
def test_a_switch_is_understood(value, meant):
    assert understood(start=value).start is meant


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
        '{"a": NaN}',
        '{"a": 1e999}',
    ],
)
def test_a_value_that_is_no_json_becomes_json(value):
    (found,) = given_of(state=value).state
    assert canonical(found.value)


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


# characters


def test_halves_of_a_character_become_one():
    request = understood(summary="a \ud83c\udf78 b")
    assert request.given.summary == "a 🍸 b"
    assert not request.warnings


def test_a_lone_half_becomes_the_replacement_character_with_a_warning():
    request = understood(summary="a \ud83c b", decisions=[{"text": "x\udf78"}])
    assert request.given.summary == "a \ufffd b"
    assert [
        name for name in ("summary", "decisions") if any(name in text for text in request.warnings)
    ] == [
        "summary",
        "decisions",
    ]


def test_an_unknown_argument_is_ignored_with_a_warning_that_offers_the_nearest():
    (warning,) = understood(decision=["x"]).warnings
    assert "decision" in warning
    assert "did you mean decisions" in warning


def test_a_secret_that_is_part_of_the_folder_does_not_break_the_path():
    masked = call(mask=lambda text: text.replace("project", "§§secret(NAME)"))
    request = parse({**NEEDED, "summary": "in project"}, masked)
    assert (request.project_root, request.given.summary) == ("/project", "in §§secret(NAME)")


def test_a_data_uri_becomes_its_type_size_and_hash():
    uri = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" * 1000
    (turn,) = given_of(recent_turns=[f"user: see {uri} here"]).recent_turns
    assert turn.text.startswith("see [image/png, 16,500 bytes, sha256 ")
    assert turn.text.endswith("] here")


@pytest.mark.parametrize(
    "value",
    ["{{}}", "{[]: 1}", "[[]", "{", "[...]", "{'a': ...}", "[1, 2", "{1}", "[" * 5000 + "]" * 5000],
)
@pytest.mark.parametrize(
    "name",
    [
        "decisions",
        "artifacts",
        "notes",
        "recent_turns",
        "flags",
        "answers",
        "authority",
        "sections_done",
    ],
)
def test_what_only_looks_like_json_never_raises_anything_but_a_refusal(name, value):
    try:
        parse({**NEEDED, name: value}, CALL)
    except RequestError as error:
        assert name in str(error)


@pytest.mark.filterwarnings("error")
def test_python_that_is_read_out_of_a_string_warns_nobody():
    assert given_of(notes="['\\d']").notes == ("\\d",)


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


SAYS_NOTHING = [
    *[(row.name, {"status": "declined"}) for row in rows()],
    *[(row.name, True) for row in rows()],
    *[(row.name, row.name.replace("_", " ").title()) for row in rows()],
    *[(row.name, f"<{row.name} of the work>") for row in rows()],
    ("notes", ["<a note>", "<another: with/or without words>"]),
    ("state", {"<field>": {"status": "declined"}}),
    ("answers", {"status": "declined"}),
    ("decisions", [{"text": "<decision>", "rationale": "<why>"}]),
]


@pytest.mark.parametrize(("name", "value"), SAYS_NOTHING)
def test_what_was_copied_from_a_form_is_nothing_and_warned_of(name, value):
    request = understood(**{name: value})
    assert request.given == given_of()
    assert name in request.warnings[0]


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


# what was said and what was not


def test_only_what_was_said_counts_as_said():
    given = given_of(
        goal="",
        summary="s",
        decisions=["a", {"id": "d2", "text": "b", "status": "Rejected", "version": "v3"}],
        state={"hall": "B", "vat": "declined"},
        recent_turns=[],
        authority={"granted": []},
    )
    assert given.model_fields_set == {"summary", "decisions", "state", "return_condition"}
    assert said(given.decisions) == [
        {"text": "a"},
        {"id": "d2", "text": "b", "status": "rejected", "version": 3},
    ]
    assert given.decisions[0].id == ""
    assert said(given.state) == [
        {"field": "hall", "value": "B"},
        {"field": "vat", "status": "declined"},
    ]


def test_limits_and_the_return_condition_have_the_defaults_of_the_settings():
    request = understood()
    assert request.given.return_condition == CALL.settings.default_return_condition
    assert request.max_context_tokens == CALL.settings.max_context_tokens
    assert request.include_recent_turns == CALL.settings.include_recent_turns
    assert understood(return_condition="draft done").given.return_condition == "draft done"


def test_a_refusal_tells_what_it_is_about_as_far_as_that_is_understood():
    error = refused({**NEEDED, "start": "perhaps"})
    assert (error.topic, error.project_root, error.receiver) == (
        "quote form",
        "/project",
        "solution_architect",
    )
    error = refused({"specialist_profile": "wizard", "topic": "x", "project_root": "here"})
    assert (error.topic, error.project_root, error.receiver) == ("x", "", "")


def test_the_project_of_the_caller_stands_in():
    request = parse({**NEEDED, "project_root": ""}, call(project_root="/active"))
    assert request.project_root == "/active"


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


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_every_row_is_understood(row):
    value = {"granted": ["read"]} if row.kind is Authority else "hall: B"
    request = understood(**{row.name: value})
    assert row.name in request.given.model_fields_set
    assert not request.warnings


# size and depth


def test_a_text_of_fifty_megabytes_is_refused_before_anything_is_done_with_it():
    class Watched(str):
        """A text that must only be measured."""

        def refuse(self, *_):
            raise AssertionError("read before it was measured")

        strip = lower = split = replace = encode = __getitem__ = __iter__ = refuse

    huge = Watched("x" * 50_000_000)
    error = refused({**NEEDED, "summary": huge, "notes": [huge], "topic": huge})
    assert error.code == "bad_value"
    for name in ("summary", "notes", "topic"):
        assert f"{name} has more than" in str(error)


@pytest.mark.parametrize("name", [*arguments(), "what is this"])
def test_arguments_that_are_nested_deep_are_a_refusal(name):
    deep = []
    for _ in range(900):
        deep = [deep]
    for value in (deep, {"a": deep}, json.dumps(deep), [json.dumps({"text": deep})]):
        try:
            understood(**{name: value})
        except RequestError as error:
            assert error.code
        else:
            assert name not in ("decisions", "notes", "state", "recent_turns") or value != deep


@pytest.mark.parametrize("name", ["state", "decisions", "notes", "answers"])
def test_a_number_that_is_too_long_for_json_is_refused(name):
    assert "bits" in str(refused({**NEEDED, name: {"budget": 10**400}}))


def test_a_topic_that_is_no_text_is_refused():
    assert refused({**NEEDED, "topic": {"a": 1}}).code == "bad_value"
    assert refused({**NEEDED, "topic": ["a", "b"]}).code == "bad_value"
    assert understood(topic=["a"]).topic == "a"
    assert understood(topic=7).topic == "7"


def test_an_argument_that_is_named_twice_is_refused_or_warned_of():
    with pytest.raises(RequestError, match='"topic" twice'):
        arguments_of('{"topic": "a", "topic": "b"}')
    assert '"a" twice' in str(refused({**NEEDED, "state": '{"a": 1, "a": 2}'}))
    request = understood(**{"Goal": "one", "goal ": "two"})
    assert request.given.goal == "one"
    assert "goal" in request.warnings[0]


PIECES = [
    "\n",
    " ",
    "\t",
    "a",
    ".",
    ",",
    ":",
    "-",
    "*",
    "`",
    '"',
    "[",
    "{",
    "<",
    "🚀",
    "1",
    "user: ",
]


@pytest.mark.parametrize("piece", PIECES)
def test_the_work_is_linear_in_the_length_of_an_argument(piece):
    """Twice the length is about twice the lines of ours that run, and no expression is quadratic."""
    for name in arguments():
        small, large = (work(name, piece * (size // len(piece))) for size in (4_000, 8_000))
        assert large <= 2.5 * small + 500, name


def work(name, value):
    """How many lines of helpers/ run to read an argument."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        count += event == "line"
        return trace if "/helpers/" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        understood(**{name: value})
    except RequestError:
        pass
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("name", ["summary", *[row.name for row in rows() if row.plural]])
def test_no_expression_tries_a_long_text_again_and_again(name):
    """What is quadratic would be at this for hours."""
    for piece in PIECES:
        with contextlib.suppress(RequestError):
            understood(**{name: piece * (400_000 // len(piece)) + "x"})


# hints


def test_no_hint_holds_a_fact_that_could_be_copied():
    for name in arguments():
        for value in ({"x": 1}, "perhaps", -1, [["a", "b"]], {"status": "final", "value": 1}):
            with contextlib.suppress(RequestError):
                understood(**{name: value})
                continue
            hint = refused({**NEEDED, name: value}).hint
            assert not re.search(r"\bABC|DE123|vat|ho-[0-9]", hint), hint


# anything at all

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(
        [
            "[",
            "{",
            "[[]]",
            "{{}}",
            "{[]: 1}",
            '{"a": NaN}',
            "none",
            "3k",
            "\ud800",
            "user: x",
            "a: b",
            "declined",
            "ho-0123456789abcdef",
            "[...]",
            "{1: {2: 3}}",
            "{(1, 2): 3}",
        ]
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=6)
            | st.sampled_from(
                [
                    "text",
                    "status",
                    "value",
                    "field",
                    "role",
                    "content",
                    "version",
                    "id",
                    "granted",
                    "path",
                    "why",
                    "fields",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(arguments()) | st.text(max_size=8), anything, max_size=6))
def test_any_arguments_give_a_request_or_an_error_that_can_be_told(sent):
    try:
        request = understood(**sent)
    except HandoverError as error:
        str(error).encode()
        assert str(error).startswith("ERROR: ")
        assert "\n" not in str(error)
        return
    canonical(request.given.model_dump(mode="json")).encode()
    for item in (*request.given.decisions, *request.given.open_questions, *request.given.flags):
        assert item.text
    assert all(item.path for item in request.given.artifacts)
    assert all(item.what for item in request.given.rejected_paths)


@given(st.sampled_from([row.name for row in rows() if row.plural]), anything)
def test_any_json_as_text_is_read_like_the_json_itself(name, value):
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        return

    def outcome(sent):
        try:
            return given_of(**{name: sent})
        except HandoverError as error:
            return error.code

    if isinstance(value, (list, dict)):
        assert outcome(text) == outcome(value)


@given(
    st.sampled_from(["solution_architect", "hacker", "frontend_designer"]),
    st.sampled_from([" ", "-", "_", "  "]),
    st.booleans(),
    st.sampled_from(['"{}"', "[{}]", " {}\n", "`{}`", "({})", "{}."]),
)
def test_every_spelling_means_the_same_profile(name, gap, upper, frame):
    spelt = name.replace("_", gap)
    assert normal(frame.format(spelt.upper() if upper else spelt)) == name

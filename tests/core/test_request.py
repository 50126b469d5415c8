"""From a sloppy call to a request: forgiving about form, strict about meaning, all told at once."""

import contextlib
import json
import math
import re
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.arguments.handover import arguments, parse
from usr.plugins.software_orchestrator.helpers.arguments.sent import arguments_of
from usr.plugins.software_orchestrator.helpers.records.ledger import canonical
from usr.plugins.software_orchestrator.helpers.values.errors import HandoverError, RequestError
from usr.plugins.software_orchestrator.helpers.values.packet import (
    rows,
)
from usr.plugins.software_orchestrator.helpers.values.roster import normal
from usr.plugins.software_orchestrator.tests.core.calls import (
    CALL,
    NEEDED,
    call,
    given_of,
    refused,
    said,
    understood,
)

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
    assert names_in(error.hint) == OTHERS


@pytest.mark.parametrize("name", ["", "specialist_profile", "<the specialist>", {}])
def test_no_name_gets_all_valid_ones(name):
    error = refused({**NEEDED, "specialist_profile": name})
    assert error.code == "missing"
    assert names_in(error.hint) == OTHERS


OTHERS = {entry.profile for entry in CALL.settings.roster.entries} - {CALL.caller.sender}


def names_in(hint):
    return set(re.findall(r"\w+", hint)) & set(CALL.settings.roster.names())


@pytest.mark.parametrize("sender", CALL.settings.roster.names())
def test_a_refusal_names_only_whom_the_sender_may_hand_to(sender):
    from_there = replace(CALL, caller=replace(CALL.caller, sender=sender))
    with pytest.raises(RequestError) as caught:
        parse({**NEEDED, "specialist_profile": "orchestrating engineer"}, from_there)
    allowed = {entry.profile for entry in CALL.settings.roster.open_to(sender)}
    assert sender not in allowed
    assert names_in(caught.value.hint) == allowed


@pytest.mark.parametrize(
    "value",
    [
        ["frontend_designer", "implementation_engineer"],
        "frontend_designer, implementation_engineer",
        "Frontend Designer and implementation engineer",
        "frontend_designer/implementation_engineer",
        "frontend-designer & implementation_engineer",
        '["frontend_designer", "implementation_engineer"]',
    ],
)
def test_of_two_profiles_the_first_is_to_be_sent_alone(value):
    error = refused({**NEEDED, "specialist_profile": value})
    assert error.code == "bad_value"
    assert names_in(error.hint) == {"frontend_designer"}


@pytest.mark.parametrize(
    "value",
    [
        ["hacker", "Hacker"],
        {"profile": "hacker"},
        {"name": "hacker", "title": "Hacker"},
        '{"specialist": "hacker"}',
        "hacker and hacker",
    ],
)
def test_one_profile_in_another_form_is_that_profile(value):
    assert understood(specialist_profile=value).specialist_profile == "hacker"


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
    [
        (0, 0),
        ("0", 0),
        ("zero", 0),
        ("five", 5),
        ("12", 12),
        (None, 5),
        (3.0, 3),
        ("4 turns", 4),
        ("last 3", 3),
        ("the last three messages", 3),
        ("newest two turns", 2),
        (True, 5),
        ("True", 5),
        ("yes", 5),
        (False, 0),
        ("no", 0),
    ],
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
    assert (error.topic, error.project_root, error.receiver) == ("x", "", "wizard")


@pytest.mark.parametrize("root", ["", None, "project_root", "<absolute path>"])
def test_the_project_of_the_caller_stands_in(root):
    request = parse({**NEEDED, "project_root": root}, call(project_root="/active"))
    assert request.project_root == "/active"


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
        assert f"{name} is longer than" in str(error)


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

"""From sloppy tool arguments to a request: forgiving about form, strict about meaning, everything told at once."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.arguments.handover import (
    ARGUMENTS,
    arguments_of,
    parse,
)
from usr.plugins.software_orchestrator.helpers.records.ledger import canonical
from usr.plugins.software_orchestrator.helpers.text.masking import redact
from usr.plugins.software_orchestrator.helpers.values.errors import HandoverError, RequestError
from usr.plugins.software_orchestrator.helpers.values.roster import normal

NEEDED = {
    "specialist_profile": "solution_architect",
    "topic": "quote form",
    "project_root": "/project",
}


@pytest.fixture(scope="module")
def understood(settings):
    return lambda **arguments: parse({**NEEDED, **arguments}, settings, mask=redact)


@pytest.fixture(scope="module")
def refused(settings):
    def refuse(arguments):
        with pytest.raises(RequestError) as caught:
            parse(arguments, settings, mask=redact)
        return caught.value

    return refuse


# the seed's table of errors


@pytest.mark.parametrize(
    ("argument", "value", "message", "code"),
    [
        ("specialist_profile", "", "specialist_profile is required", "missing"),
        ("specialist_profile", None, "specialist_profile is required", "missing"),
        ("specialist_profile", "None", "specialist_profile is required", "missing"),
        ("specialist_profile", ' " " ', "specialist_profile is required", "missing"),
        ("specialist_profile", [], "specialist_profile is required", "missing"),
        ("specialist_profile", {}, "specialist_profile is required", "missing"),
        ("specialist_profile", "wizard", "unknown specialist profile", "unknown_specialist"),
        ("specialist_profile", 7, "unknown specialist profile", "unknown_specialist"),
        ("topic", "", "topic is required", "missing"),
        ("topic", " \n\t ", "topic is required", "missing"),
        ("topic", [""], "topic is required", "missing"),
        ("project_root", "", "project_root is required", "missing"),
        ("project_root", None, "project_root is required", "missing"),
        ("project_root", "relative/path", "project_root must be absolute", "root_not_absolute"),
        ("project_root", "~/work", "project_root must be absolute", "root_not_absolute"),
        ("project_root", "./work", "project_root must be absolute", "root_not_absolute"),
        ("max_context_tokens", 0, "max_context_tokens must be positive", "limit_not_positive"),
        ("max_context_tokens", -1, "max_context_tokens must be positive", "limit_not_positive"),
        ("max_context_tokens", "-5", "max_context_tokens must be positive", "limit_not_positive"),
        ("max_context_tokens", True, "max_context_tokens must be positive", "limit_not_positive"),
        ("max_context_tokens", "lots", "max_context_tokens must be positive", "limit_not_positive"),
        ("max_context_tokens", 10**12, "max_context_tokens must be positive", "limit_not_positive"),
        pytest.param(
            "max_context_tokens",
            10**5000,
            "max_context_tokens must be positive",
            "limit_not_positive",
            id="a huge number",
        ),
        ("max_context_tokens", 2999.5, "max_context_tokens must be positive", "limit_not_positive"),
        (
            "max_context_tokens",
            math.nan,
            "max_context_tokens must be positive",
            "limit_not_positive",
        ),
        (
            "max_context_tokens",
            math.inf,
            "max_context_tokens must be positive",
            "limit_not_positive",
        ),
        (
            "max_context_tokens",
            "3.000",
            "max_context_tokens must be positive",
            "limit_not_positive",
        ),
        (
            "max_context_tokens",
            [3000, 4000],
            "max_context_tokens must be positive",
            "limit_not_positive",
        ),
    ],
)
def test_the_errors_of_the_seed_stand_word_for_word(refused, argument, value, message, code):
    error = refused({**NEEDED, argument: value})
    assert str(error).startswith(f"ERROR: {message}")
    assert error.code == code


@pytest.mark.parametrize("value", [0, -1, True, "lots", 10**12])
def test_the_error_of_a_limit_names_what_came(refused, value):
    assert (json.dumps(value) if not isinstance(value, str) else value) in str(
        refused({**NEEDED, "max_context_tokens": value})
    )


def test_a_missing_argument_is_named_like_an_empty_one(refused):
    error = refused({})
    for name in ("specialist_profile", "topic", "project_root"):
        assert f"{name} is required" in str(error)


def test_all_bad_arguments_are_named_in_one_error(refused):
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
            "answers": "blue, please",
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
        "answers must",
    ):
        assert text in str(error), text
    assert "\n" not in str(error)


def test_a_bottomless_argument_is_named_with_the_others(refused):
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
        ("answers", "blue, please"),
        ("authority", {"may": "all"}),
        ("project_root", "/a\0b"),
        ("project_root", "/" + "a" * 5000),
        ("decisions", [{"text": "x", "status": "final"}]),
    ],
)
def test_every_refusal_says_what_to_do_next(refused, name, value):
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


def test_a_call_in_a_call_is_understood_and_what_stands_beside_it_counts(settings):
    request = parse({"tool_name": "x", "tool_args": NEEDED, "goal": "g"}, settings, mask=redact)
    assert (request.topic, request.goal, request.warnings) == ("quote form", "g", ())


def test_an_error_is_one_line_of_printable_characters(refused):
    error = refused(
        {**NEEDED, "specialist_profile": "wiz\n## Heading\x1b[31m\u202e", "project_root": "a\nb"}
    )
    assert str(error).isprintable()


def test_an_error_does_not_repeat_a_secret(refused):
    key = "sk-proj-" + "a1" * 20
    assert key not in str(
        refused({**NEEDED, "specialist_profile": key, "max_context_tokens": key, "state": key})
    )


def test_a_warning_does_not_repeat_a_secret(understood):
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
def test_all_spellings_of_a_profile_are_that_profile(understood, name):
    assert understood(specialist_profile=name).specialist_profile == "solution_architect"


def test_an_unknown_name_gets_the_nearest_and_all_valid_ones(refused, settings):
    error = refused({**NEEDED, "specialist_profile": "solution_architectect"})
    assert "did you mean solution_architect" in str(error)
    for name in settings.roster.names():
        assert name in str(error)


def test_an_empty_name_gets_all_valid_ones(refused, settings):
    for name in settings.roster.names():
        assert name in str(refused({**NEEDED, "specialist_profile": ""}))


# numbers, switches, choices


@pytest.mark.parametrize(
    "value",
    [3000, "3000", "3k", "3K", "3,000", "3 000", "3_000", 3000.0, "3000.0", " 3000 tokens", "3.0k"],
)
def test_a_limit_that_is_clear_is_understood(understood, value):
    assert understood(max_context_tokens=value).max_context_tokens == 3000


@pytest.mark.parametrize("value", [None, "", "none", "null", "None"])
def test_a_limit_that_is_not_given_is_the_default(understood, settings, value):
    assert understood(max_context_tokens=value).max_context_tokens == settings.max_context_tokens


@pytest.mark.parametrize(
    ("value", "number"),
    [(0, 0), ("0", 0), ("zero", 0), ("five", 5), ("12", 12), (None, 5), (3.0, 3), ("4 turns", 4)],
)
def test_a_number_of_turns_is_understood_and_zero_is_allowed(understood, value, number):
    assert understood(include_recent_turns=value).include_recent_turns == number


@pytest.mark.parametrize("value", [-1, True, "some", 1001, 2.5, [1, 2]])
def test_a_number_of_turns_that_is_none_is_an_error(refused, value):
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
def test_a_switch_is_understood(understood, value, meant):
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
def test_decisions_are_understood_in_every_form(understood, value):
    assert [item["text"] for item in understood(decisions=value).decisions] == [
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
def test_artifacts_are_understood_in_every_form(understood, value):
    assert [item["path"] for item in understood(artifacts=value).artifacts] == ["a.css", "b.css"]


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
    ("flags", {"risk": ["a", "b"]}, [{"text": "risk", "fields": ("a", "b")}]),
    ("flags", {"risk": ["data loss", "late"]}, [{"text": "risk: data loss; late"}]),
    ("flags", {"flags": ["data loss", "late"]}, [{"text": "data loss"}, {"text": "late"}]),
    ("flags", {"risk": {"level": "high"}}, [{"text": "risk: level: high"}]),
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
def test_an_object_for_a_list_is_understood_without_losing_anything(
    understood, name, value, meant, form
):
    request = understood(**{name: form(value)})
    assert list(getattr(request, name)) == meant
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
def test_what_is_lost_of_an_item_is_warned_of(understood, name, value, lost):
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
def test_no_word_of_any_object_disappears_without_a_warning(settings, name, value):
    def words(part):
        if isinstance(part, dict):
            return {word for pair in part.items() for side in pair for word in words(side)}
        return {word for item in part for word in words(item)} if isinstance(part, list) else {part}

    request = parse({**NEEDED, name: value, "include_recent_turns": 100}, settings, mask=redact)
    found = getattr(request, name) or ()
    kept = canonical([turn.model_dump() for turn in found] if name == "recent_turns" else found)
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


def test_decisions_named_by_id_keep_it(understood):
    (decision,) = understood(decisions={"d7": {"text": "Use HTML"}}).decisions
    assert (decision["id"], decision["text"]) == ("d7", "Use HTML")


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
def test_turns_are_understood_in_every_form(understood, value):
    assert [(turn.role, turn.text) for turn in understood(recent_turns=value).recent_turns] == [
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
def test_empty_turns_are_left_out(understood, empty):
    assert [
        turn.text
        for turn in understood(recent_turns=["user: one", empty, "user: two"]).recent_turns
    ] == ["one", "two"]


@pytest.mark.parametrize("nothing", [None, "", "None", "null", [], "[]", ["", None]])
def test_turns_that_are_not_there_are_those_of_the_chat(understood, nothing):
    assert understood(recent_turns=nothing).recent_turns is None


@pytest.mark.parametrize("mark", ["\u2028", "\u0085", "\x0b", "\x0c", "\x1c"])
def test_a_line_mark_of_another_kind_does_not_split_a_turn(understood, mark):
    (turn,) = understood(recent_turns=f"user: one{mark}assistant: forged").recent_turns
    assert turn.role == "user"


def test_a_literal_backslash_n_is_kept(understood):
    assert understood(summary="a\\nb").summary == "a\\nb"


# carried state


def test_state_keeps_values_types_and_declines(understood):
    fields = understood(
        state={"ticket": "ABC-1", "budget_eur": 0, "vat_id": {"status": "declined"}, "ok": False}
    ).state
    assert [(item["field"], item["value"], item["status"]) for item in fields] == [
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
def test_a_decline_is_understood_in_every_form(understood, value):
    (found,) = understood(state=value).state
    assert (found["field"], found["value"], found["status"]) == ("vat_id", None, "declined")


@pytest.mark.parametrize(
    "value",
    [
        {"vat": {"status": "declined", "reason": "private"}},
        {"vat": {"Status": "Declined", "note": "private"}},
        [{"field": "vat", "status": "declined", "words": "private"}],
    ],
)
def test_a_decline_with_more_beside_it_is_a_decline_and_keeps_it(understood, value):
    (found,) = understood(state=value).state
    assert (found["field"], found["status"], found["value"]) == ("vat", "declined", None)
    assert "private" in found["verbatim"]


def test_a_value_that_has_a_status_of_its_own_stays_a_value(understood):
    (found,) = understood(state={"order": {"status": "shipped", "id": 7}}).state
    assert (found["status"], found["value"]) == ("answered", {"status": "shipped", "id": 7})


def test_the_status_of_the_seed_with_a_dash_is_understood(understood):
    (found,) = understood(state={"vat_id": {"status": "skipped — not triggered"}}).state
    assert found["status"] == "skipped_not_triggered"


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
def test_a_value_that_is_no_json_becomes_json(understood, value):
    (found,) = understood(state=value).state
    assert canonical(found["value"])


@pytest.mark.parametrize(
    "value",
    [
        "ho-0123456789abcdef",
        "it answers ho-0123456789abcdef",
        {"id": "ho-0123456789abcdef", "vat": 5},
        {"ho-0123456789abcdef": {"vat": 5}},
    ],
)
def test_the_id_that_is_answered_is_found_and_the_fields_beside_it(understood, value):
    request = understood(answers=value)
    assert request.answers == "ho-0123456789abcdef"
    assert [(item["field"], item["value"]) for item in request.state] == (
        [("vat", 5)] if isinstance(value, dict) else []
    )


# characters


def test_halves_of_a_character_become_one(understood):
    request = understood(summary="a \ud83c\udf78 b")
    assert request.summary == "a 🍸 b"
    assert not request.warnings


def test_a_lone_half_becomes_the_replacement_character_with_a_warning(understood):
    request = understood(summary="a \ud83c b", decisions=[{"text": "x\udf78"}])
    assert request.summary == "a \ufffd b"
    assert [
        name for name in ("summary", "decisions") if any(name in text for text in request.warnings)
    ] == [
        "summary",
        "decisions",
    ]


def test_an_unknown_argument_is_ignored_with_a_warning_that_offers_the_nearest(understood):
    (warning,) = understood(decision=["x"]).warnings
    assert "decision" in warning
    assert "did you mean decisions" in warning


def test_a_secret_that_is_part_of_the_folder_does_not_break_the_path(settings):
    request = parse(
        {**NEEDED, "summary": "in project"},
        settings,
        mask=lambda text: text.replace("project", "§§secret(NAME)"),
    )
    assert (request.project_root, request.summary) == ("/project", "in §§secret(NAME)")


def test_a_data_uri_becomes_its_type_size_and_hash(understood):
    uri = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" * 1000
    (turn,) = understood(recent_turns=[f"user: see {uri} here"]).recent_turns
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
def test_what_only_looks_like_json_never_raises_anything_but_a_refusal(settings, name, value):
    try:
        parse({**NEEDED, name: value}, settings, mask=redact)
    except RequestError as error:
        assert name in str(error)


@pytest.mark.filterwarnings("error")
def test_python_that_is_read_out_of_a_string_warns_nobody(understood):
    assert understood(notes="['\\d']").notes == ("\\d",)


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


@given(st.dictionaries(st.sampled_from(ARGUMENTS) | st.text(max_size=8), anything, max_size=6))
def test_any_arguments_give_a_request_or_an_error_that_can_be_told(settings, arguments):
    try:
        request = parse({**NEEDED, **arguments}, settings, mask=redact)
    except HandoverError as error:
        str(error).encode()
        assert str(error).startswith("ERROR: ")
        assert "\n" not in str(error)
    else:
        for name in (
            "state",
            "decisions",
            "artifacts",
            "rejected_paths",
            "open_questions",
            "flags",
            "notes",
            "summary",
        ):
            canonical(getattr(request, name)).encode()
        assert all(
            item["text"]
            for name in ("decisions", "open_questions", "flags")
            for item in getattr(request, name)
        )
        assert all(
            [item["path"] for item in request.artifacts]
            + [item["what"] for item in request.rejected_paths]
        )


@given(st.sampled_from(ARGUMENTS), anything)
def test_any_json_as_text_is_read_like_the_json_itself(settings, name, value):
    if name in ("specialist_profile", "topic", "project_root") or not isinstance(
        value, (list, dict)
    ):
        return
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        return

    def outcome(given):
        try:
            request = parse({**NEEDED, name: given}, settings, mask=redact)
        except HandoverError as error:
            return error.code
        return getattr(request, name)

    if name in (
        "decisions",
        "artifacts",
        "rejected_paths",
        "open_questions",
        "flags",
        "notes",
        "acceptance_criteria",
        "state",
        "recent_turns",
    ):
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

"""Requests in every form, search, ranges, parts; who may see what; the use on record."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.arguments.history import NEWEST, parse
from usr.plugins.software_orchestrator.helpers.flow.history import full_history
from usr.plugins.software_orchestrator.helpers.history.answer import (
    HistoryAnswer,
    Scope,
    answer,
    joined,
)
from usr.plugins.software_orchestrator.helpers.history.lines import Head
from usr.plugins.software_orchestrator.helpers.history.saved_chat import from_chat
from usr.plugins.software_orchestrator.helpers.history.search import fold, search
from usr.plugins.software_orchestrator.helpers.history.transcript import Transcript, from_history
from usr.plugins.software_orchestrator.helpers.text import tokens
from usr.plugins.software_orchestrator.helpers.text.masking import redact
from usr.plugins.software_orchestrator.helpers.values.errors import (
    RecordError,
    RefusedError,
    RequestError,
)
from usr.plugins.software_orchestrator.tests.core.calls import CALL

CHATS = Path(__file__).resolve().parents[1] / "data" / "chats"
COUNTER = tokens.counter()
CAP = CALL.settings.full_history_max_tokens


def chat(name: str) -> Transcript:
    return from_chat(json.loads((CHATS / f"{name}.json").read_text(encoding="utf-8")))


def person(text: str) -> dict:
    return {"id": "p", "ai": False, "content": {"user_message": text}}


def result(text: str) -> dict:
    return {"id": "r", "ai": False, "content": {"tool_name": "code", "tool_result": text}}


def ask(transcript: Transcript, **args: object) -> HistoryAnswer:
    return answer(transcript, parse(args, CALL), COUNTER, redact)


# the request


@pytest.mark.parametrize(
    ("turns", "meant"),
    [
        ("12-40", (12, 40)),
        ("12 - 40", (12, 40)),
        ("12–40", (12, 40)),
        ("12..40", (12, 40)),
        ("turns 12 to 40", (12, 40)),
        ("40-12", (12, 40)),
        ('"12-40"', (12, 40)),
        ([12, 40], (12, 40)),
        ("[12, 40]", (12, 40)),
        ({"from": 12, "to": 40}, (12, 40)),
        ("1,200-1,300", (1200, 1300)),
        ("57", (57, 57)),
        (57, (57, 57)),
        (57.0, (57, 57)),
        ([57], (57, 57)),
        ("turn 57", (57, 57)),
        ("#57", (57, 57)),
        ("12-", (12, 0)),
        ("12 to the end".replace("the ", ""), (12, 0)),
        ("last 20", (NEWEST, 20)),
        ("last20", (NEWEST, 20)),
        ("the last 20 turns", (NEWEST, 20)),
        ("last", (NEWEST, 1)),
        ("first 5", (1, 5)),
        (None, None),
        ("None", None),
        ("", None),
        ("all", None),
    ],
)
def test_turns_are_understood_in_every_form(turns: object, meant: tuple[int, int] | None) -> None:
    assert parse({"turns": turns}, CALL).turns == meant


@pytest.mark.parametrize(
    ("given_", "meant"),
    [
        ("3k", 3000),
        ("3,000", 3000),
        (3000.0, 3000),
        ("20k", 20_000),
        (None, CAP),
        ("None", CAP),
        (CAP, CAP),
        ("50,000", CAP),
    ],
)
def test_max_tokens_is_understood(given_: object, meant: int) -> None:
    assert parse({"max_tokens": given_}, CALL).max_tokens == meant


def test_more_than_the_cap_is_the_cap_with_a_warning() -> None:
    request = parse({"max_tokens": 10**12}, CALL)

    assert request.max_tokens == CAP
    assert "50,000 was used" in request.warnings[0]


@pytest.mark.parametrize("wrong", [0, -1, "lots", True, 199, "0"])
def test_a_cap_that_makes_no_sense_is_refused_naming_what_is_allowed(wrong: object) -> None:
    with pytest.raises(RequestError, match="from 200 to 50,000"):
        parse({"max_tokens": wrong}, CALL)


def test_all_problems_are_named_at_once() -> None:
    with pytest.raises(RequestError) as caught:
        parse({"max_tokens": "lots", "turns": "some", "query": " ", "part": 0}, CALL)

    message = str(caught.value)
    assert all(name in message for name in ("max_tokens", "turns", "query", "part"))
    assert '"12-40"' in message
    assert caught.value.code == "bad_value"


def test_the_bare_call_asks_for_everything() -> None:
    request = parse({}, CALL)

    assert (request.turns, request.searches, request.part, request.max_tokens) == (
        None,
        False,
        0,
        CAP,
    )


@pytest.mark.parametrize(
    ("query", "words", "phrases"),
    [
        ("retry timeout", ("retry", "timeout"), ()),
        ('retry "duplicate key"', ("retry",), ("duplicate key",)),
        ("“two real orders”", (), ("two real orders",)),
        (["retry", "timeout"], ("retry", "timeout"), ()),
        ("价格", ("价格",), ()),
        ("what, exactly?", ("what", "exactly"), ()),
        ("None", (), ()),
    ],
)
def test_a_query_is_words_and_phrases(
    query: object, words: tuple[str, ...], phrases: tuple[str, ...]
) -> None:
    request = parse({"query": query}, CALL)

    assert (request.words, request.phrases) == (words, phrases)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(
    st.dictionaries(
        st.sampled_from(["reason", "query", "turns", "max_tokens", "part", "x"]), VALUES
    )
)
def test_any_arguments_give_a_request_or_one_clear_error(args: dict) -> None:
    codes = []
    try:
        request = parse(args, CALL)
    except RequestError as error:
        codes.append(error.code)
    else:
        codes.append("understood" if 200 <= request.max_tokens <= CAP else "above the cap")

    assert codes in (["bad_value"], ["understood"])


# ranges and parts


def test_a_range_is_given_word_for_word() -> None:
    found = ask(chat("orders-bugfix"), turns="59-64")

    assert found.complete
    assert (found.turns, found.range, found.total) == ((59, 64), "59-64", 64)
    assert "> Write the fix." in found.text
    assert "Rejected: a unique index on (customer, ts)" in found.text


@pytest.mark.parametrize("turns", ["65", "100-200", "900"])
def test_turns_that_do_not_exist_are_an_error_that_names_those_that_do(turns: str) -> None:
    with pytest.raises(RequestError, match="there are turns 1-64"):
        ask(chat("orders-bugfix"), turns=turns)


def test_a_range_that_ends_too_late_is_cut_with_a_note() -> None:
    found = ask(chat("orders-bugfix"), turns="63-900")

    assert found.turns == (63, 64)
    assert "NOTE: there are only 64 turns; 63-64 are given" in found.text


def test_the_answer_never_exceeds_what_was_asked_and_says_how_to_get_the_rest() -> None:
    found = ask(chat("orders-bugfix"), max_tokens="5k")

    assert 4900 <= COUNTER._measure(found.text) == found.tokens <= 5000
    assert 'word for word in parts: part="1" of' in found.text.splitlines()[0]


def test_the_parts_together_hold_every_turn_word_for_word() -> None:
    transcript = chat("orders-bugfix")
    first = ask(transcript, max_tokens=8000, part=1)

    answers = [
        first,
        *(ask(transcript, max_tokens=8000, part=part) for part in range(2, first.parts + 1)),
    ]

    numbers = [
        int(number)
        for each in answers
        for number in re.findall(r"^### (\d+) ·", each.text, re.MULTILINE)
    ]
    assert sorted(set(numbers)) == list(range(1, 65))
    assert all(each.complete and each.tokens <= 8000 for each in answers)
    assert 'the next: part="2"' in first.text
    assert "this is the last part" in answers[-1].text


def test_a_turn_larger_than_the_cap_comes_in_pieces_that_hold_all_of_it() -> None:
    lines = [f"row {at} of a long table" for at in range(3000)]
    transcript = Transcript([person("go"), result("\n".join(lines))])

    first = ask(transcript, turns=2, part=1, max_tokens=4000)
    pieces = [
        ask(transcript, turns=2, part=part, max_tokens=4000).text
        for part in range(1, first.parts + 1)
    ]

    assert first.parts > 3
    together = "".join(re.sub(r"(?s)^.*?```\n|\n```\n$", "", piece) for piece in pieces)
    assert re.sub(r"\s", "", together) == re.sub(r"\s", "", "".join(lines))


def test_a_part_that_does_not_exist_is_an_error_that_says_how_many_there_are() -> None:
    with pytest.raises(RequestError, match="there is 1 part"):
        ask(chat("landing-page"), part=2)


def test_the_example_in_the_docs_is_what_comes_out() -> None:
    page = (CHATS.parents[2] / "docs" / "history.md").read_text(encoding="utf-8")
    request = parse({"turns": "53-64", "max_tokens": 600}, CALL)

    found = answer(
        chat("orders-bugfix"), request, COUNTER, redact, title="History of orders-bugfix.json"
    )

    assert page.split("`````text\n")[1].split("`````")[0] == found.text


def test_an_empty_conversation_is_told() -> None:
    assert "nothing was said yet" in ask(Transcript([])).text


# search


def test_the_matching_turn_comes_with_its_neighbours() -> None:
    found = ask(chat("landing-page"), query="prices")

    assert found.matches == (17, 18)
    shown = re.findall(r"^### (\d+)", found.text, re.MULTILINE)
    assert shown == ["16", "17", "18", "19"]
    assert "2 turns match prices · best first: 17, 18" in found.text


def test_turns_with_all_words_come_before_turns_with_one() -> None:
    transcript = Transcript(
        [person("retry"), person("nothing"), person("a timeout, then a retry"), person("timeout")]
    )

    assert [match.number for match in search(transcript, ("retry", "timeout"), ())] == [3, 1, 4]


def test_a_phrase_is_found_as_it_stands() -> None:
    transcript = Transcript([person("key duplicate"), person("a DUPLICATE\n key value")])

    assert [match.number for match in search(transcript, (), ("duplicate key",))] == [2]


@pytest.mark.parametrize(
    ("query", "turns"),
    [
        ("cafe zoe", (1,)),
        ("ตะกร้าสินค้า", (3, 4)),
        ("价格", (1,)),
        ("SCREENSHOT", (5, 6)),
        ("ＰＬＵＧＩＮ", (7,)),
    ],
)
def test_case_accents_width_and_scripts_without_spaces_do_not_matter(
    query: str, turns: tuple[int, ...]
) -> None:
    assert tuple(sorted(ask(chat("shop-i18n"), query=query).matches)) == turns


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("don't", "I don’t want it"),
        ("don’t", "I don't want it"),
        ("don´t", "I donʼt want it"),
        ("go-live", "the go\u2011live day"),
        ("go‐live", "the go-live day"),
        ("framework", "the frame\u00adwork we use"),
        ("framework", "the frame\u200bwork we use"),
        ("كتاب", "هذا كِتَابٌ جديد"),
        ("محمد", "محـــمد"),
        ("שלום", "אמר שָׁלוֹם לכולם"),
    ],
)
def test_apostrophes_hyphens_unseen_characters_and_vowel_marks_do_not_matter(
    wanted: str, said: str
) -> None:
    transcript = Transcript([person("nothing"), person(said)])

    assert [match.number for match in search(transcript, (wanted,), ())] == [2]
    assert [match.number for match in search(transcript, (), (wanted,))] == [2]


@pytest.mark.parametrize("other", ["กา", "กิ"])
def test_vowels_of_thai_are_letters(other: str) -> None:
    assert fold("กี") != fold(other)


def test_marks_alone_are_not_found_everywhere() -> None:
    assert search(Transcript([person("nothing")]), ("ـ",), ()) == ()


def test_a_match_deep_in_a_long_result_is_shown_and_not_its_head() -> None:
    lines = [f"line {at} nothing" for at in range(5000)]
    lines[3777] = "line 3777 the needle is here"
    found = ask(
        Transcript([person("go"), result("\n".join(lines))]), query="needle", max_tokens=1000
    )

    assert "the needle is here" in found.text
    assert found.tokens <= 1000


def test_no_match_is_told_with_a_way_on() -> None:
    assert "none of 28 turns holds zeppelin" in ask(chat("landing-page"), query="zeppelin").text


def test_more_matches_than_fit_come_in_parts() -> None:
    transcript = chat("orders-bugfix")
    first = ask(transcript, query="worker", max_tokens=3000)
    second = ask(transcript, query="worker", max_tokens=3000, part=2)

    assert first.parts > 1
    assert f'more: part="2" of {first.parts}' in first.text
    assert first.matches == second.matches
    assert first.text != second.text


@given(st.text(max_size=30))
def test_folding_again_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


# who may see what


SCOPE = Scope(agent=1, handover="ho-2", since="2026-06-05T14:00:00", legs=frozenset({"ho-1"}))


@pytest.mark.parametrize(
    ("head", "seen"),
    [
        (Head(0, 0, "", "2026-06-05T13:00:00"), True),
        (Head(1, 0, "", "2026-06-05T15:00:00"), False),
        (Head(0, 0, "", "2026-06-05T15:00:00"), True),
        (Head(1, 1, "ho-1", "2026-06-05T13:00:00"), True),
        (Head(1, 1, "ho-9", "2026-06-05T13:00:00"), False),
        (Head(1, 1, "ho-2", "2026-06-05T15:00:00"), False),
        (Head(0, 1, "ho-2", "2026-06-05T15:00:00"), False),
        (Head(1, 2, "", "2026-06-05T13:00:00"), False),
    ],
)
def test_a_specialist_sees_its_superiors_up_to_the_handover_earlier_legs_and_the_person_since(
    head: Head, seen: bool
) -> None:
    assert SCOPE.holds(head) == seen


def test_transcripts_of_several_agents_are_numbered_through() -> None:
    both = joined([Transcript([person("one")]), Transcript([person("two")])])

    assert [(message.number, message.text) for message in both] == [(1, "one"), (2, "two")]


def test_without_an_open_handover_there_is_a_clear_error(desk) -> None:
    with pytest.raises(RefusedError) as caught:
        full_history({}, 0, lambda scope: Transcript([]), desk.as_call())

    assert caught.value.code == "nothing_open"


# secrets

SECRETS = ("abcd1234efgh5678", "hunter2Geheim9x", "ghp_" + "A1b2" * 9, "plainwords")


def test_a_secret_in_a_call_that_the_host_still_holds_as_json_is_in_no_answer() -> None:
    code = f'api_key="{SECRETS[0]}"\nd = {{"password": "{SECRETS[1]}"}}\n{SECRETS[2]}'
    args = {"code": code, "env": {"db_password": SECRETS[3]}}
    call = json.dumps({"thoughts": [], "tool_name": "code", "tool_args": args})
    history = {"current": {"messages": [{"id": "c", "ai": True, "content": call}]}}

    masked, unmasked = from_history(history, mask=redact), from_history(history)
    for secret in SECRETS:
        assert secret not in ask(masked).text
    for secret in SECRETS[:3]:  # the last net knows no names of fields
        assert secret not in ask(unmasked).text
    assert history["current"]["messages"][0]["content"] == call


def test_an_answer_counts_the_tokens_of_what_it_gives_out() -> None:
    answered = ask(Transcript([person(f"my password: {SECRETS[1]}, keep it")]))

    assert "[REDACTED:credential]" in answered.text
    assert answered.tokens == COUNTER.count(answered.text)


def test_a_mask_that_fails_gives_no_answer_out() -> None:
    def failing(text: str) -> str:
        raise RecordError("secrets cannot be masked")

    with pytest.raises(RecordError):
        answer(Transcript([person("hello")]), parse({}, CALL), COUNTER, failing)

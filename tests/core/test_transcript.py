"""Reading a chat as numbered messages, and what it says in its own words."""

import json
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from usr.plugins.software_orchestrator.helpers.history.extract import extract, sentences
from usr.plugins.software_orchestrator.helpers.history.message import decode_agent
from usr.plugins.software_orchestrator.helpers.history.saved_chat import from_chat
from usr.plugins.software_orchestrator.helpers.history.transcript import (
    Transcript,
    from_history,
    recent_turns,
)
from usr.plugins.software_orchestrator.helpers.values.errors import RequestError

CHATS = Path(__file__).resolve().parents[1] / "data" / "chats"


def chat(name: str) -> dict:
    return json.loads((CHATS / f"{name}.json").read_text(encoding="utf-8"))


def person(text: str) -> dict:
    return {"id": "p", "ai": False, "content": {"user_message": text}}


def said(text: str, thoughts: str = "hm") -> dict:
    answer = {
        "thoughts": [thoughts],
        "headline": "h",
        "tool_name": "response",
        "tool_args": {"text": text},
    }
    return {"id": "a", "ai": True, "content": json.dumps(answer, ensure_ascii=False)}


def called(tool: str, **args: object) -> dict:
    return {
        "id": "c",
        "ai": True,
        "content": json.dumps({"thoughts": ["t"], "tool_name": tool, "tool_args": args}),
    }


def result(text: str, tool: str = "code") -> dict:
    return {"id": "r", "ai": False, "content": {"tool_name": tool, "tool_result": text}}


def test_a_response_is_speech_and_a_call_is_told_in_words_with_thoughts_apart() -> None:
    speech = Transcript([said("Understood.", "private")])[0]
    call = Transcript([called("text_editor:write", path="/x", content="a\nb")])[0]

    assert (speech.text, speech.tool, speech.thoughts) == ("Understood.", "", "private")
    assert (call.tool, call.text) == ("text_editor:write", "path: /x\ncontent:\na\nb")


def test_what_a_model_misformatted_is_kept_as_it_stands() -> None:
    assert decode_agent("plain words {not json") == ("plain words {not json", "", "")
    assert decode_agent('[1, 2, "x"]')[0] == '[1, 2, "x"]'
    assert decode_agent('{"tool_name": "response", "tool_args": {"text": "hi"}} trailing')[
        0
    ].endswith("trailing")


def test_a_summary_of_the_host_is_marked_and_the_log_gives_back_what_it_replaced() -> None:
    messages = list(from_chat(chat("orders-bugfix")))

    summary = next(message for message in messages if message.role == "summary")
    after = messages[summary.number : summary.number + 2]
    assert summary.kept == "summary"
    assert [message.role for message in after] == ["assistant", "tool"]
    assert after[1].kept == "shortened"
    assert "worker.log" in after[0].text
    assert messages[7].text == "Go on with part 2 of the log."


def test_numbers_count_from_one_and_nothing_given_is_changed() -> None:
    source = chat("orders-bugfix")
    before = json.dumps(source)

    messages = list(from_chat(source))

    assert [message.number for message in messages] == list(range(1, len(messages) + 1))
    assert json.dumps(source) == before


def test_bulks_and_topic_summaries_are_walked_in_order() -> None:
    topic = {"_cls": "Topic", "summary": "", "messages": [person("in a bulk")]}
    gone = {"_cls": "Topic", "summary": "all that is left", "messages": []}
    history = {
        "bulks": [{"summary": "s", "records": [topic, gone]}],
        "topics": [],
        "current": {"messages": [said("now")]},
    }

    messages = list(from_history(history))

    assert [(message.role, message.text) for message in messages] == [
        ("user", "in a bulk"),
        ("summary", "all that is left"),
        ("assistant", "now"),
    ]


def test_an_image_message_is_told_by_its_preview_and_its_data() -> None:
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    record = {"id": "", "ai": False, "content": {"raw_content": parts, "preview": "<image>"}}

    message = Transcript([record])[0]

    assert message.text == "<image>\nlook\ndata:image/png;base64,AAAA"


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        "chat",
        {"agents": "x"},
        {"agents": []},
        {"agents": [{"number": 0, "history": '{"bulks": [], "topi'}]},
        {"agents": [{"number": 0, "history": "[]"}]},
        {"agents": [{"number": 0, "history": {"bulks": 5, "current": {}}}]},
    ],
)
def test_what_is_no_chat_is_an_error_that_says_what_is_allowed(wrong: object) -> None:
    with pytest.raises(RequestError) as caught:
        from_chat(wrong)

    assert caught.value.code == "bad_value"
    assert "chat.json" in str(caught.value)


def test_recent_turns_are_what_a_person_would_read() -> None:
    records = [
        person("Go"),
        called("code", runtime="python"),
        result("line one\n" + "x" * 500),
        said(""),
        person("  "),
        said("Done."),
    ]

    turns = recent_turns(Transcript(records), 3)

    assert [turn.role for turn in turns] == ["user", "tool", "assistant"]
    assert turns[1].text == "code: line one [+501 characters left out]"
    assert recent_turns(Transcript(records), 0) == ()


def test_the_landing_page_chat_says_what_was_decided_declined_and_ruled_out() -> None:
    found = extract(from_chat(chat("landing-page")))

    decided = "\n".join(found.decisions)
    assert found.first_request.startswith("We need a landing page for Acme Analytics.")
    assert "CSS grid, no framework. Why: Bootstrap bundle was 180 kB over budget." in decided
    assert "'See what your customers do next.' Don't change it, legal approved it." in decided
    assert "Page weight budget is 150 kB" in decided
    assert {decline.field for decline in found.declines} == {"carousels", "prices", "phone_number"}
    assert found.rejected == ("We tried Bootstrap last year and the bundle was too big.",)


def test_rejected_ways_and_acceptance_are_found_in_the_orders_chat() -> None:
    found = extract(from_chat(chat("orders-bugfix")))

    assert found.decisions == ("Do not touch the billing service.",)
    assert found.rejected == (
        "a unique index on (customer, ts), because two real orders can share a second.",
    )
    assert found.acceptance == ("8 writers, 10 000 orders, no duplicates, no lost order.",)


def test_the_label_of_a_sentence_is_not_told_again_under_its_heading() -> None:
    words = (
        "**Acceptance criteria:** opens in a second.\nDone when: all tests pass.\nAcceptance:\n验收标准：八个写入者。",
        "Rejected: Flash. We ruled out Java.",
    )
    found = extract(
        Transcript(({"ai": False, "content": {"user_message": words[0]}}, said(words[1])))
    )
    assert found.acceptance == ("opens in a second.", "all tests pass.", "八个写入者。")
    assert found.rejected == ("Flash.", "We ruled out Java.")


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("Don't ask me again about the budget.", "budget"),
        ("I'd rather not say my age.", "age"),
        ("Bitte frag mich nicht nach dem Umsatz.", "umsatz"),
        ("别再问价格了。", "价格"),
        ("อย่าถามเรื่องราคาอีก", "ราคา"),
        ("Prefiero no dar mi teléfono.", "teléfono"),
    ],
)
def test_a_decline_is_heard_in_other_languages(words: str, field: str) -> None:
    declines = extract(Transcript([person("Build it."), person(words)])).declines

    assert [(decline.field, decline.verbatim) for decline in declines] == [(field, words)]


@pytest.mark.parametrize(
    "words",
    [
        "What must be done next?",
        "Thanks, that looks good.",
        "I do not know yet.",
        "I have no idea what is left.",
    ],
)
def test_ordinary_talk_is_no_decision(words: str) -> None:
    found = extract(Transcript([person("Build it."), person(words)]))

    assert (found.decisions, found.declines, found.rejected) == ((), (), ())


def test_a_greeting_is_not_the_first_request() -> None:
    assert (
        extract(Transcript([person("Hello there!"), person("Fix the login.")])).first_request
        == "Fix the login."
    )


def steps(work: Callable[[], object]) -> int:
    """How many lines of the room's Python run."""
    count = 0

    def trace(frame, event, arg):
        nonlocal count
        count += event == "line"
        return trace if "helpers/history" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "sentence",
    [
        "You must never touch part {}.",
        "Never touch it, please.",
        "Don't ask me about price {}.",
        "别再问价格了{}。",
        "We tried way {}.",
    ],
)
def test_an_extract_of_twice_as_many_sentences_is_twice_the_work(sentence: str) -> None:
    def work(count: int) -> int:
        told = person("\n".join(sentence.format(at) for at in range(count)))
        return steps(lambda: extract(Transcript([told])))

    assert work(1200) < 2.2 * work(600)


def test_of_many_rules_each_is_kept_once_and_the_longer_of_two() -> None:
    rules = [f"You must never touch part {at}." for at in range(8, 308)]
    longer = "You must never touch part 300 and its tests."

    found = extract(Transcript([person("\n".join([*rules, *rules, longer]))]))

    assert len(found.decisions) == len(rules)
    assert found.decisions[300 - 8] == longer


def test_what_a_decline_is_about_ends_with_its_clause() -> None:
    words = "I would rather not show prices; don't ask me again"

    assert extract(Transcript([person(words)])).declines[0].field == "prices"


def test_a_list_number_does_not_end_a_sentence() -> None:
    assert sentences("Do this: 2. write tests. Then stop.") == [
        "Do this: 2. write tests.",
        "Then stop.",
    ]


def test_100_000_messages_cost_less_than_10_megabytes_beside_the_input() -> None:
    records = [person("word") if at % 2 else result("word") for at in range(100_000)]
    tracemalloc.start()

    transcript = Transcript(records)
    glance = transcript.at_a_glance
    cost = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert len(glance.kinds) == 100_000
    assert cost < 10_000_000


GREETING = {"ai": True, "content": '{"tool_name": "response", "tool_args": {"text": "Hello"}}'}


def said_in(*messages: dict, placeholder: str = "") -> list[str]:
    history = {"bulks": [], "topics": [], "current": {"messages": list(messages)}}
    return [message.text for message in from_history(history, placeholder=placeholder)]


def test_the_hosts_greeting_and_the_line_it_answers_are_no_turns() -> None:
    line, asked = {"ai": False, "content": {"user_message": "Salut !"}}, person("Build it.")
    answer = {"ai": True, "content": '{"tool_name": "response", "tool_args": {"text": "Built"}}'}

    assert said_in(GREETING, asked, answer) == ["Build it.", "Built"]
    assert said_in(line, GREETING, asked, placeholder="Salut !\n") == ["Build it."]
    assert said_in(line, GREETING, placeholder="Salut !") == []
    # What the person says is said, also in the same words.
    assert said_in(line, GREETING, line, answer, placeholder="Salut !") == ["Salut !", "Built"]
    assert said_in(line, answer, asked) == ["Salut !", "Built", "Build it."]
    assert said_in() == []


def test_a_summary_or_a_call_at_the_beginning_is_no_greeting() -> None:
    call = {"ai": True, "content": '{"tool_name": "search", "tool_args": {"query": "x"}}'}

    assert len(said_in(call, person("Build it."))) == 2
    assert len(said_in({"ai": False, "content": {"messages_summary": "All."}}, GREETING)) == 2


def test_of_a_saved_chat_a_line_that_no_row_shows_was_not_said() -> None:
    """The newest hosts save a person's line that nobody wrote; their rows tell it."""
    saved = chat("landing-page")
    history = json.loads(saved["agents"][0]["history"])
    topics = [*history["topics"], history["current"]]
    topics[0]["messages"].insert(0, {"id": "seed", "ai": False, "content": {"user_message": "Hi"}})
    (asked,) = [
        message for message in topics[1]["messages"] if "user_message" in message["content"]
    ]
    row = {"type": "user", "content": asked["content"]["user_message"], "id": asked["id"]}
    saved["log"]["logs"].insert(0, row)
    seeded = {**saved, "agents": [{**saved["agents"][0], "history": json.dumps(history)}]}

    assert [*from_chat(seeded)] == [*from_chat(saved)]
    assert from_chat(saved)[0].text == row["content"]

"""The evaluation of models: its data, its scoring, and a run against a scripted server."""

import importlib.util
import json
import random
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from usr.plugins.software_orchestrator.benchmarks.evaluation import (
    chats,
    desk,
    picture,
    receivers,
    scoring,
    senders,
    tables,
)
from usr.plugins.software_orchestrator.benchmarks.evaluation.model import Model
from usr.plugins.software_orchestrator.benchmarks.evaluation.store import Store
from usr.plugins.software_orchestrator.helpers.values.errors import HandoverError

ROOT = Path(__file__).resolve().parents[2]
CHATS = {chat.id: chat for chat in chats.load()}
EXAMS = [chat for chat in CHATS.values() if chat.questions]
BAKERY = CHATS["bakery"]


def call(**args):
    made = {"thoughts": [], "headline": "h", "tool_name": senders.TOOL, "tool_args": args}
    return json.dumps(made)


GOOD = {
    "specialist_profile": "frontend_designer",
    "topic": "order page",
    "decisions": ["Burgundy", "Order three days ahead"],
    "state": {"phone_number": {"status": "declined"}, "price": {"status": "declined"}},
}


@pytest.fixture
def server():
    """An OpenAI-compatible address that says what it is told to, and keeps what it was asked."""

    class Scripted(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.server.asked.append(body)
            words = self.server.say(body["messages"])
            answer = json.dumps({"choices": [{"message": {"content": words}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            return

    with HTTPServer(("127.0.0.1", 0), Scripted) as made:
        made.asked = []
        made.base = f"http://127.0.0.1:{made.server_port}/v1"
        made.model = Model(made.base, "scripted")
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


# data


def test_there_are_enough_chats_and_each_calls_for_a_known_specialist():
    assert len(CHATS) >= 24
    assert len(EXAMS) >= 8
    for chat in CHATS.values():
        assert desk.SETTINGS.roster.known(chat.want)
        assert chat.turns[-1][0] == "person"
        assert senders.TOOL in chat.turns[-1][1]
        assert chat.facts


@pytest.mark.parametrize("chat", EXAMS, ids=lambda chat: chat.id)
def test_an_exam_has_twelve_closed_questions_with_one_right_answer(chat):
    assert len(chat.questions) == 12
    kinds = {question.kind for question in chat.questions}
    assert {"decline", "correction", "rejected", "decision", "open", "file"} <= kinds
    for question in chat.questions:
        assert len(set(question.answers)) == 4
        assert question.answers[-1] == chats.ASK


@pytest.mark.parametrize("chat", CHATS.values(), ids=lambda chat: chat.id)
def test_every_fact_was_said_in_the_chat_and_no_prompt_says_it(chat):
    said = chats.told(chat.turns)
    prompt = desk.system_prompt().split("specialists:")[0]
    for fact in chat.facts:
        assert fact.stands_in(said), fact
        if fact.kind not in ("fact", "refusal"):
            assert not fact.stands_in(prompt), fact


def test_the_work_of_a_hop_holds_none_of_the_facts():
    for chat in EXAMS:
        log = chats.told([turn for hop in range(1, 6) for turn in receivers.work(chat, hop)])
        assert not [f for f in chat.facts if f.stands_in(log) and len("".join(f.ways[0])) > 3]
        assert desk.tokens(log) > receivers.LAST_TOKENS


@pytest.mark.parametrize("number", range(len(senders.FAULTY)))
def test_each_faulty_call_is_refused_with_a_way_out(number):
    chat_id, fault = senders.FAULTY[number]
    chat = CHATS[chat_id]
    args = {"specialist_profile": chat.want, "topic": chat.topic}
    with pytest.raises(HandoverError) as caught:
        desk.Desk(chat).hand({**args, **fault})
    assert caught.value.hint
    if isinstance(fault.get("specialist_profile"), str) and "orchestrator" not in str(fault):
        assert f"did you mean {chat.want}" in caught.value.hint
    assert desk.Desk(chat).hand(args).text


# scoring


def test_what_arrived_and_what_nobody_said_are_counted():
    row = scoring.arrived(BAKERY, desk.Desk(BAKERY).hand(GOOD))
    assert row["declines_as_such"] == 1
    assert row["declines_invented"] + row["declines_claimed"] == 1
    assert row["false"] == 0
    assert row["by_fields"] >= 3
    assert row["in_package"] >= row["by_fields"]


def test_a_decision_turned_round_is_false_and_a_negated_one_is_not():
    def false(text):
        handed = desk.Desk(BAKERY).hand({**GOOD, "state": None, "decisions": [text]})
        return scoring.arrived(BAKERY, handed)["false"]

    assert false("Order two days ahead") == 1
    assert false("Not two days ahead but three") == 0


def test_right_answers_and_what_is_asked_again_are_counted():
    questions, keys = scoring.form(BAKERY.questions, random.Random(1))
    assert questions.count("\n") == 11

    def reply(line, which):
        return "\n".join(
            line.format(n, scoring.LETTERS[key.answers.index(key.question.answers[which])],
                        key.question.answers[which])
            for n, key in enumerate(keys, 1)
        )  # fmt: skip

    for line in ("{0}: {1}", "{0}. {1}) {2}", "**{0}.** {1}", "{0}. {2}."):
        assert scoring.marked(reply(line, 0), keys)["right"] == 12, line
        row = scoring.marked(reply(line, -1), keys)
        assert (row["right"], row["asked_again"], row["declines_asked_again"]) == (0, 12, 2)
    assert scoring.marked("I do not know", keys)["unread"] == 12


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        (f"Sure:\n```json\n{call(topic='x')}\n```", senders.TOOL),
        ("Done.", ""),
        ("{broken", ""),
        ('{"tool_name": "x", "tool_args": {"start": true, "artifacts": {"a.csv"}}}', "x"),
    ],
)
def test_a_call_is_found_in_an_answer(reply, name):
    assert desk.call_in(reply)[0] == name


# a run


def test_a_refused_call_is_mended_and_counted(server):
    replies = iter([call(**{**GOOD, "specialist_profile": "designer"}), call(**GOOD)])
    server.say = lambda _: next(replies)
    row = senders.send(BAKERY, server.model, 1)
    assert (row["called"], row["accepted"], row["errors"], row["right"]) == (True, True, 1, True)
    assert "did you mean frontend_designer" in server.asked[1]["messages"][-1]["content"]


def test_who_only_says_that_it_handed_over_did_not_call(server):
    server.say = lambda _: '{"tool_name": "response", "tool_args": {"text": "brought in"}}'
    assert senders.send(BAKERY, server.model, 1)["called"] is False


ARMS = [
    pytest.param(
        arm,
        marks=pytest.mark.skipif(
            arm == "last" and not importlib.util.find_spec("langchain_core"),
            reason="needs requirements-bench.txt",
        ),
    )
    for arm in receivers.ARMS
]


def answered(messages):
    """What a model would say: a call, a message, or letters."""
    asked = messages[-1]["content"]
    if "Answer each question" in asked:
        return "\n".join(f"{n}: A" for n in range(1, 13))
    return call(**GOOD) if senders.TOOL in asked else "Go on with the page in burgundy."


@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_is_passed_on_five_times_and_made_once(server, arm, tmp_path):
    server.say = answered
    store = Store(tmp_path / "results.jsonl")
    passing = receivers.Passing(BAKERY, server.model, store)
    row = passing.answer(arm, 5, 1)
    assert row["questions"] == 12
    written = len(server.asked) - 1
    assert written == (0 if arm in ("last", "whole") else 5)
    receivers.Passing(BAKERY, server.model, Store(store.path)).answer(arm, 1, 2)
    assert len(server.asked) == written + 2


def test_a_decline_and_a_decision_are_in_the_package_of_the_fifth_hop(server, tmp_path):
    server.say = answered
    passing = receivers.Passing(BAKERY, server.model, Store(tmp_path / "results.jsonl"))
    for arm, limit in receivers.PACKAGES.items():
        text = passing.received(arm, 5)
        assert "phone_number" in text
        assert "Burgundy" in text
        assert desk.tokens(text) <= limit


def test_a_run_goes_on_where_it_was_stopped_and_ends_in_tables_and_a_picture(server, tmp_path):
    path = ROOT / "benchmarks/eval_model.py"
    spec = importlib.util.spec_from_file_location("eval_model", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    server.say = answered
    args = ["--api-base", server.base, "--model", "scripted", "--out", str(tmp_path)]
    args += [
        "--part",
        "receivers",
        "--chats",
        "bakery",
        "--arms",
        "package,whole",
        "--seeds",
        "1,2",
    ]
    script.main(args)
    asked = len(server.asked)
    (tmp_path / "results.jsonl").open("a").write('{"key": ["receiver", "ba')
    script.main(args)
    assert len(server.asked) == asked == 5 + 2 * 2 * 2
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [(row["arm"], row["hop"], row["seeds"]) for row in summary["receivers"]] == [
        ("package", 1, 2), ("whole", 1, 2), ("package", 5, 2), ("whole", 5, 2),
    ]  # fmt: skip
    drawn = (tmp_path / "arms.svg").read_text()
    assert drawn == picture.draw(tables.receivers(Store(tmp_path / "results.jsonl")))
    assert re.search(r"^<svg[^>]*>.*</svg>\s*$", drawn)
    assert "whole chat" in drawn

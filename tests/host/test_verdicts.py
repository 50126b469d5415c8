"""What a specialist may say, and what becomes of it, in both shapes of the host."""

import json

import pytest
from host_double.handover_kit import (
    NOTE,
    call,
    done,
    hand_over,
    kinds,
    ledger,
    next_call,
    of_kind,
    respond,
    result_of,
    states,
    texts_sent,
)

from usr.plugins.software_orchestrator.helpers.text import tokens


def play(host, *specialist, **more):
    """The orchestrator starts a designer that answers so; returns the project's folder and the tool's result."""
    folder = host.project("acme")
    host.script(
        {
            "agent0": [hand_over(start=True, **more), respond("ok")],
            "frontend_designer": list(specialist),
        }
    )
    host.say("Please build the hero, and no VAT id")
    return folder, result_of(host)


def test_a_done_with_all_parts_is_recorded_and_told_whole(host):
    folder, found = play(
        host,
        done(
            outcome="partial",
            reason="no images yet",
            decisions=["AVIF with a fallback"],
            artifacts=["index.html"],
            rejected_paths=[{"what": "flexbox", "why": "older grid bug"}],
            open_questions=["Which headline?"],
            state={"weight_kb": 120, "vat_id": {"status": "declined", "verbatim": "no"}},
            flags=["contrast is low"],
            sections_done=["layout"],
            stopped_at="images",
            notes=["fonts are local"],
        ),
    )
    event = of_kind(folder, "done")[0]["data"]
    assert event["note"] == {**NOTE, "reason": "no images yet"}
    assert event["outcome"] == "partial"
    packet = event["packet"]
    assert [item["text"] for item in packet["decisions"]] == [
        "CSS grid, no framework",
        "AVIF with a fallback",
    ]
    assert packet["decisions"][1]["owner"] == "frontend_designer"
    assert {item["field"]: item["status"] for item in packet["state"]} == {
        "weight_kb": "answered",
        "vat_id": "declined",
    }
    assert packet["stopped_at"] == "images"
    assert packet["sections_done"] == ["layout"]
    assert packet["flags"][0]["text"] == "contrast is low"
    assert packet["rejected_paths"][0]["what"] == "flexbox"
    assert packet["open_questions"][0]["text"] == "Which headline?"
    reply = found["reply"]
    assert {name: reply[name] for name in NOTE} == NOTE
    assert (reply["verdict"], reply["outcome"], reply["implicit"]) == ("done", "partial", False)
    assert "AVIF with a fallback" in json.dumps(reply, ensure_ascii=False)


def test_an_incomplete_note_is_asked_for_once_then_taken_and_marked(host):
    short = {"verdict": "done", "what_happened": "Drafted."}
    folder, found = play(
        host, call("handover_reply", **short), call("handover_reply", next="Show it.", **short)
    )
    assert kinds(folder).count("refused") == 1
    assert states(folder) == {"frontend_designer": "done"}
    assert of_kind(folder, "done")[0]["data"]["note"]["incomplete"] == [
        "observations",
        "user_state",
    ]
    assert found["reply"]["incomplete"] == ["observations", "user_state"]


def test_a_clarify_on_what_the_packet_holds_is_answered_without_bothering_anyone(host):
    folder, found = play(
        host,
        call("handover_reply", verdict="clarify", missing=["ticket"]),
        done(),
        state={"ticket": "WEB-12"},
    )
    assert states(folder) == {"frontend_designer": "done"}
    assert found["reply"]["verdict"] == "done"
    data = of_kind(folder, "clarify")[0]["data"]
    assert (data["missing"], data["already_held"]) == ([], ["ticket"])
    reminder = host.tool_results("handover_reply", host.subordinate())[0]["tool_result"]
    assert "WEB-12" in reminder
    assert "go on" in reminder


def test_a_decline_is_an_answer_to_a_clarify(host):
    play(
        host,
        call("handover_reply", verdict="clarify", missing="vat_id"),
        done(),
        state={"vat_id": {"status": "declined"}},
    )
    assert "declined" in host.tool_results("handover_reply", host.subordinate())[0]["tool_result"]


def test_a_clarify_on_known_and_unknown_names_asks_only_the_unknown(host):
    folder, found = play(
        host,
        call("handover_reply", verdict="clarify", missing=["ticket", "Which browsers?"]),
        state={"ticket": "WEB-12"},
    )
    assert states(folder) == {"frontend_designer": "clarify"}
    assert of_kind(folder, "clarify")[0]["data"]["missing"] == ["Which browsers?"]
    reply = found["reply"]
    assert reply["missing"] == ["Which browsers?"]
    assert reply["already_held"] == ["ticket"]
    assert "answers" in found["next_step"]
    assert found["package"]["handover_id"] in found["next_step"]


def test_answers_reach_the_specialist_that_still_knows_its_question(any_host):
    host = any_host
    folder = host.project("acme")
    asked = []

    def answer():
        return hand_over(
            start=True,
            answers=result_of(host)["package"]["handover_id"],
            state={"browsers": "last two"},
        )

    host.script(
        {
            "agent0": [hand_over(start=True), answer, respond("ok")],
            "frontend_designer": [
                call("handover_reply", verdict="clarify", missing=["browsers"]),
                lambda agent: asked.append(agent) or call("handover_reply", verdict="accept"),
                done(),
            ],
        }
    )
    assert host.say("Please build the hero") == "ok"
    specialist = asked[0]
    assert [one["tool_result"] for one in host.tool_results("handover_reply", specialist)][-1] != ""
    clarified = [
        text for text in map(str, host.contents(specialist)) if '"missing": ["browsers"]' in text
    ]
    assert clarified, "the specialist that asked is the one that goes on"
    assert [event["kind"] for event in ledger(folder) if event["kind"] not in ("briefed",)] == [
        "prepared", "delivered", "clarify", "prepared", "delivered", "accepted", "done",
    ]  # fmt: skip
    assert len(host.chats()) <= 2


def test_a_copied_answer_reaches_the_specialist_that_asked_though_another_ran_since(any_host):
    host = any_host
    folder = host.project("acme")
    first = {}

    def remember():
        first["id"] = result_of(host)["package"]["handover_id"]
        return hand_over("quality_reviewer", topic="other topic", start=True)

    host.script(
        {
            "agent0": [
                hand_over(start=True),
                remember,
                lambda: hand_over(answers=first["id"], state={"browsers": "last two"}),
                lambda: next_call(result_of(host)["next_step"]),
                respond("ok"),
            ],
            "frontend_designer": [
                call("handover_reply", verdict="clarify", missing=["browsers"]),
                done(),
            ],
            "quality_reviewer": [done(what_happened="Looked at the other topic.")],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert host.tool_results("call_subordinate")[-1]["tool_result"].startswith(
        "# frontend_designer handed back"
    )
    assert states(folder) == {"frontend_designer": "done", "quality_reviewer": "done"}


def test_a_plain_call_subordinate_answers_and_reopens_the_same_handover(any_host):
    host = any_host
    folder = host.project("acme")
    host.script(
        {
            "agent0": [
                hand_over(start=True),
                call(
                    "call_subordinate",
                    profile="frontend_designer",
                    message="The last two versions.",
                    reset="false",
                ),
                respond("ok"),
            ],
            "frontend_designer": [
                call("handover_reply", verdict="clarify", missing=["browsers"]),
                done(),
            ],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert [kind for kind in kinds(folder) if kind != "briefed"] == [
        "prepared",
        "delivered",
        "clarify",
        "reopened",
        "done",
    ]
    assert "Hero drafted" in host.tool_results("call_subordinate")[-1]["tool_result"]


def test_a_reject_says_why_and_who_may_go_on(host):
    folder, found = play(
        host, call("handover_reply", verdict="reject", reason="This is backend work.")
    )
    assert states(folder) == {"frontend_designer": "rejected"}
    assert found["status"] == "ok"
    assert found["reply"]["verdict"] == "reject"
    assert found["reply"]["reason"] == "This is backend work."
    assert "another specialist" in found["next_step"]


def test_an_escalate_stops_the_chain_calls_the_person_and_their_next_message_lifts_it(host):
    folder, found = play(host, call("handover_reply", verdict="escalate", reason="Needs a lawyer."))
    assert found["reply"]["verdict"] == "escalate"
    assert "ask the person" in found["next_step"]
    assert any("Needs a lawyer." in note["message"] for note in host.notifications())
    stopped = host.tool("handover_to_specialist", **hand_over("quality_reviewer")["tool_args"])
    assert stopped.error
    assert stopped.additional["error_code"] == "stopped"
    host.script(
        {
            "agent0": [hand_over("quality_reviewer", start=True), respond("well")],
            "quality_reviewer": [done()],
        }
    )
    assert host.say("The lawyer said yes") == "well"
    assert "resumed" in kinds(folder)
    assert states(folder)["quality_reviewer"] == "done"


def test_a_handover_prepared_before_the_stop_can_be_started_after_the_person_wrote(host):
    folder = host.project("acme")
    step = {}

    def escalating():
        step.update(next_call(result_of(host)["next_step"]))
        return hand_over("quality_reviewer", start=True)

    host.script(
        {
            "agent0": [hand_over(), escalating, respond("ok")],
            "quality_reviewer": [
                call("handover_reply", verdict="escalate", reason="Needs the person.")
            ],
        }
    )
    host.say("Please build the hero")
    host.script({"agent0": [lambda: dict(step), respond("well")], "frontend_designer": [done()]})
    assert host.say("Go on") == "well"
    assert states(folder) == {"frontend_designer": "done", "quality_reviewer": "escalated"}


def test_a_long_note_is_cut_to_its_limit_and_says_where_the_rest_is(host):
    long = {name: f"{name} " + "many words about the work " * 150 for name in NOTE}
    more = {
        "decisions": [f"Decision number {n} about a thing" for n in range(40)],
        "state": {f"field_{n}": n for n in range(40)},
    }
    folder, found = play(host, call("handover_reply", verdict="done", **long, **more))
    assert states(folder) == {"frontend_designer": "done"}
    reply = found["reply"]
    assert (
        sum(tokens.counter().count(str(reply.get(name, ""))) for name in (*NOTE, "changes", "note"))
        <= 400
    )
    assert reply["omitted"]
    assert "briefing" in json.dumps(reply["omitted"])
    assert of_kind(folder, "done")[0]["data"]["note"]["what_happened"].startswith(
        "what_happened many words"
    )
    assert len(of_kind(folder, "done")[0]["data"]["packet"]["decisions"]) == 41


def test_a_long_note_through_call_subordinate_is_within_its_limit_too(host):
    host.project("acme")
    long = {name: f"{name} " + "many words about the work " * 150 for name in NOTE}
    more = {"decisions": [f"Decision number {n} about a thing" for n in range(40)]}
    host.script(
        {
            "agent0": [hand_over(), lambda: next_call(result_of(host)["next_step"]), respond("ok")],
            "frontend_designer": [call("handover_reply", verdict="done", **long, **more)],
        }
    )
    assert host.say("Please build the hero") == "ok"
    text = host.tool_results("call_subordinate")[-1]["tool_result"]
    assert tokens.counter().count(text) <= 400
    assert "briefing" in text
    assert "Not here for space" in text


def test_sixty_questions_at_once_are_asked_within_the_limit_and_all_recorded(host):
    questions = [f"How should the page behave in the case number {n}?" for n in range(60)]
    folder, found = play(host, call("handover_reply", verdict="clarify", missing=questions))
    assert states(folder) == {"frontend_designer": "clarify"}
    assert of_kind(folder, "clarify")[0]["data"]["missing"] == questions
    assert found["reply"]["verdict"] == "clarify"
    assert found["reply"]["missing"]


def test_going_back_to_a_specialist_gives_it_its_earlier_note_and_the_news(host):
    host.project("acme")
    host.script(
        {
            "agent0": [
                hand_over(start=True),
                hand_over(start=True, decisions=["Use blue"], goal="Make it blue"),
                respond("ok"),
            ],
            "frontend_designer": [done(), done(what_happened="Blue now.")],
        }
    )
    assert host.say("Please build the hero") == "ok"
    second = [asked for asked in host.model_calls if "frontend_designer" in asked["names"]][1]
    text = "\n".join(str(message.content) for message in second["messages"][1:])
    assert "Your earlier hand-back" in text
    assert NOTE["what_happened"] in text
    assert "New since then" in text


def test_what_the_specialist_decided_travels_on(host):
    host.project("acme")
    host.script(
        {
            "agent0": [
                hand_over(start=True, state={"ticket": "A-1"}),
                hand_over("quality_reviewer", start=True, decisions=[]),
                respond("ok"),
            ],
            "frontend_designer": [done(decisions=["AVIF first"], state={"weight_kb": 0})],
            "quality_reviewer": [done(what_happened="Reviewed.")],
        }
    )
    assert host.say("Please build the hero") == "ok"
    text = texts_sent(host, "quality_reviewer")
    assert "AVIF first" in text
    assert "weight_kb = 0" in text
    assert "ticket" in text
    assert "CSS grid" in text


def test_a_reply_without_an_open_handover_is_a_clear_error(host):
    host.project("acme")
    answer = host.tool("handover_reply", verdict="done", **NOTE)
    assert answer.error
    assert answer.additional == {"error": True, "error_code": "nothing_open"}
    assert not answer.break_loop


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"verdict": ""}, "missing"),
        ({"verdict": "maybe"}, "bad_value"),
        ({"verdict": "clarify"}, "missing"),
        ({"verdict": "reject"}, "missing"),
        ({"verdict": "done", "hand_to": "nobody_known", **NOTE}, "unknown_specialist"),
        ({"verdict": "done", "hand_to": "release_auditor", **NOTE}, "graph"),
        ({"verdict": "done", "hand_to": "Frontend Designer", **NOTE}, "self"),
        ({"verdict": "clarify", "missing": ["x"], "hand_to": "quality_reviewer"}, "bad_value"),
    ],
)
def test_a_wrong_reply_is_refused_marked_and_the_specialist_goes_on(host, args, code):
    seen = []

    def look(agent):
        seen.append(host.tool_results("handover_reply", agent)[-1])
        return done()

    folder, found = play(host, call("handover_reply", **args), look)
    assert seen[0]["error"] is True
    assert seen[0]["error_code"] == code
    assert seen[0]["tool_result"].startswith("ERROR: ")
    assert states(folder) == {"frontend_designer": "done"}
    assert found["reply"]["verdict"] == "done"


def test_sloppy_replies_are_understood(host):
    folder, found = play(
        host,
        call(
            "handover_reply",
            verdict="Completed",
            **NOTE,
            decisions='["Use AVIF", {"decision": "Blue", "why": "brand"}]',
            state='{"weight": "12"}',
            sections_done="layout, fonts",
            hand_to="None",
            colour="unknown argument",
        ),
    )
    packet = of_kind(folder, "done")[0]["data"]["packet"]
    assert [item["text"] for item in packet["decisions"]][1:] == ["Use AVIF", "Blue"]
    assert packet["sections_done"] == ["layout", "fonts"]
    assert found["reply"]["verdict"] == "done"
    assert "colour" in json.dumps(found["reply"])

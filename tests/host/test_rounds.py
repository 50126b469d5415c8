"""Between two messages of the person a chat makes at most so many rounds, on whatever topic."""

import json

import pytest
from host_double.handover_kit import (
    NOTE,
    call,
    done,
    hand_over,
    kinds,
    of_kind,
    respond,
    states,
)

SAVED = "usr/plugins/software_orchestrator/config.json"
CAP = 4
REACHED = f"max_handovers_per_chat {CAP} is reached"


@pytest.fixture
def capped(any_tree):
    any_tree.write(SAVED, json.dumps({"max_handovers_per_chat": CAP}))
    with any_tree.enter() as host:
        yield host


def about(number, **more):
    return hand_over(topic=f"login bug round {number}", goal=f"round {number}", **more)


def refused(host):
    results = host.tool_results("handover_to_specialist")
    return [found["error_code"] for found in results if found.get("error")]


def calls_for_the_person(host):
    return [one for one in host.notifications() if one["title"] == "Handovers are stopped"]


def test_new_topics_do_not_go_round_the_cap_and_the_persons_message_lifts_it(capped):
    host = capped
    folder = host.project("acme")
    tries = [about(number) for number in range(CAP + 2)]
    host.script({"agent0": [*tries, respond("stuck"), about("again"), respond("ok")]})
    assert host.say("Mend the login") == "stuck"
    assert len(of_kind(folder, "prepared")) == CAP
    assert refused(host) == ["hops", "stopped"]
    assert len(calls_for_the_person(host)) == 1
    assert REACHED in str(host.rows(type="warning"))
    assert host.say("Go on") == "ok"
    assert len(of_kind(folder, "prepared")) == CAP + 1


def test_a_specialists_own_handovers_and_superseded_ones_count(capped):
    host = capped
    folder = host.project("acme")
    more = [hand_over("quality_reviewer", goal=f"part {number}") for number in range(CAP)]
    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [*more, done()],
        }
    )
    host.say("Please build the hero")
    assert len(of_kind(folder, "prepared")) == CAP
    assert len(of_kind(folder, "superseded")) == CAP - 2
    assert REACHED in of_kind(folder, "escalated")[0]["data"]["why"]


def test_a_question_answered_by_a_plain_message_again_and_again_comes_to_an_end(capped):
    host = capped
    folder = host.project("acme")
    asks = [
        step
        for number in range(9)
        for step in (
            call("notes", text="x"),
            call("handover_reply", verdict="clarify", missing=[f"q{number}"]),
        )
    ]
    plain = [call("call_subordinate", message=f"answer {number}") for number in range(9)]
    host.script({"agent0": [hand_over(start=True), *plain], "frontend_designer": asks})
    host.script({"agent0": [respond("I ask you.")]})
    host.say("Please build the hero")
    assert kinds(folder).count("reopened") == CAP - 1
    assert kinds(folder).count("clarify") == CAP
    assert any(REACHED in warning for warning in host.warnings())
    assert len(calls_for_the_person(host)) == 1


def test_verdicts_sent_again_and_again_are_bounded_and_accept_is_written_once(capped):
    host = capped
    folder = host.project("acme")

    async def verdicts(agent):
        for verdict in ("accept", "done"):
            for _ in range(20):
                await host._tool(agent, "handover_reply", {"verdict": verdict, **NOTE})

    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [verdicts, respond("that is all")],
        }
    )
    host.say("Please build the hero")
    assert kinds(folder).count("accepted") == 1
    assert kinds(folder).count("done") == CAP
    assert kinds(folder).count("refused") == 1
    assert states(folder) == {"frontend_designer": "done"}


def scheduled(host, text="Nightly"):
    """As the scheduler runs a task in a chat: no message of a person goes before it."""
    from agent import UserMessage

    async def run():
        host.agent0.hist_add_user_message(UserMessage(message=text, attachments=[]))
        return await host.agent0.monologue()

    return host.run(run())


def test_a_scheduled_run_counts_afresh_and_lifts_no_stop(capped):
    host = capped
    folder = host.project("acme")
    first, second = ([*map(about, range(start, start + CAP))] for start in (0, 10))
    host.script({"agent0": [*first, respond("ok"), *second, about("more"), respond("stopped")]})
    host.say("Mend the login")
    assert scheduled(host) == "stopped"
    assert refused(host) == ["hops"]
    host.script({"agent0": [about("next night"), respond("stopped")]})
    scheduled(host)
    assert refused(host) == ["hops", "stopped"]
    assert len(of_kind(folder, "prepared")) == 2 * CAP


def test_count_and_stop_are_still_there_after_a_restart_and_a_nudge_lifts_nothing(any_tree):
    any_tree.write(SAVED, json.dumps({"max_handovers_per_chat": CAP}))
    with any_tree.enter() as host:
        host.project("acme")
        host.script({"agent0": [*map(about, range(CAP - 1)), respond("ok")]})
        host.say("Mend the login")
        host.save()
    with any_tree.enter() as host:
        host.load_chats()
        host.script({"agent0": [about("x"), about("y"), respond("stuck")]})
        host.nudge()
        host.settle()
        assert refused(host) == ["hops"]
        host.save()
    with any_tree.enter() as host:
        host.load_chats()
        host.script({"agent0": [about("z"), respond("stuck")]})
        host.nudge()
        host.settle()
        assert refused(host)[-1] == "stopped"
        assert "Handovers of this chat are stopped" in str(host.model_calls[0]["messages"])

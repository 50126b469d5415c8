"""The whole loop inside the host, in both shapes: hand over, accept, hand back, hand on."""

import json

import pytest
from host_double.assemble import call, respond

NOTE = {
    "what_happened": "Hero drafted in index.html.",
    "observations": "Fits the 150 kB.",
    "user_state": "not spoken to",
    "next": "Show the draft.",
}


def hand_over(**more):
    args = {"specialist_profile": "frontend_designer", "topic": "landing page hero", "goal": "First draft of the hero"}
    return call("handover_to_specialist", **{**args, "decisions": ["CSS grid, no framework"], **more})


def result_of(host, tool="handover_to_specialist", number=-1):
    return json.JSONDecoder().raw_decode(host.tool_results(tool)[number]["tool_result"])[0]


def ledger(folder):
    lines = [line for path in sorted((folder / ".a0proj/handover/chains").glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines]


def kinds(folder):
    return [event["kind"] for event in ledger(folder)]


def test_started_specialist_accepts_works_and_its_note_comes_back(any_host):
    host = any_host
    folder = host.project("acme")
    host.script(
        {
            "agent0": [hand_over(start=True), respond("The draft is ready.")],
            "frontend_designer": [call("handover_reply", verdict="accept"), call("handover_reply", verdict="done", **NOTE)],
        }
    )
    assert host.say("Please build the hero") == "The draft is ready."
    found = result_of(host)
    assert found["status"] == "ok"
    assert found["reply"]["verdict"] == "done" and found["reply"]["what_happened"] == NOTE["what_happened"]
    assert kinds(folder) == ["prepared", "briefed", "delivered", "accepted", "done", "briefed"]


def test_copied_next_step_runs_the_right_specialist(any_host):
    host = any_host
    folder = host.project("acme")

    def start():
        step = result_of(host)["next_step"]
        return json.loads(step[step.index("{") :])

    host.script(
        {
            "agent0": [hand_over(), start, respond("ok")],
            "frontend_designer": [call("handover_reply", verdict="done", **NOTE)],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert "Hero drafted" in host.tool_results("call_subordinate")[-1]["tool_result"]
    assert kinds(folder)[-2:] == ["done", "briefed"]


@pytest.mark.parametrize("ending", ["response", "raise"])
def test_a_specialist_that_just_ends_closes_its_handover(any_host, ending):
    host = any_host
    folder = host.project("acme")

    def boom():
        raise RuntimeError("model is gone")

    last = [respond("It is done: index.html.")] if ending == "response" else [boom, boom, boom]
    host.script({"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": last})
    host.say("Please build the hero")
    assert kinds(folder)[-2] == ("done" if ending == "response" else "failed")

"""The plugin where the host offers its tools to the model as functions, with a scripted model.

`A0_CALLS=native` runs the other live tests the same way; here is what only native calls can show.
"""

import json

import pytest

from usr.plugins.software_orchestrator.helpers.text.tokens import counter
from usr.plugins.software_orchestrator.tests.e2e import live
from usr.plugins.software_orchestrator.tests.e2e.scripted_model import response, saying, tool_call

pytestmark = pytest.mark.skipif(bool(live.why_not_native()), reason=live.why_not_native())

DESIGNER = "frontend_designer"
DELEGATE = tool_call("call_subordinate", profile="developer", message="Look around", reset="true")
HAND_OVER = tool_call(
    "handover_to_specialist",
    specialist_profile=DESIGNER,
    topic="landing page hero",
    goal="First draft of the hero",
    start=True,
)
OF_A_HANDOVER = {"handover_reply", "request_full_history"}
DOCUMENTED = {
    "specialist_profile",
    "topic",
    "project_root",
    "goal",
    "summary",
    "next_action",
    "decisions",
    "artifacts",
    "acceptance_criteria",
    "rejected_paths",
    "open_questions",
    "state",
    "user_state",
    "return_condition",
    "answers",
    "start",
}


def test_native_calls_run_tools_and_results_come_back_in_either_of_the_hosts_two_ways() -> None:
    look = tool_call("text_editor:read", path="/nowhere")
    script = {
        "agent0": [DELEGATE, response("Looked.")],
        "developer": [look, saying("Once more.", [look, look]), response("Nothing there.")],
    }
    with live.start(script, plugin=None, native=True) as run:
        assert run.say("Please look around") == "Looked."

        first, second, third = run.model.requests_of("developer")
        assert "text_editor" in first.offered
        # A bare call: the host stops reading, and its result comes as a message, with the whole prompt.
        assert second.previous_id == ""
        assert "file not found" in second.last
        assert "[EXTRAS]" in second.last
        # Words before the calls: outputs by call_id, and the host goes on from the stored answer.
        assert third.previous_id
        assert third.text("tool").count("file not found") == 2


def test_native_an_agent_without_a_handover_is_offered_handover_to_specialist_alone() -> None:
    script = {"agent0": [DELEGATE, response("Fine.")], "developer": [response("Looked.")]}
    with live.start(script, project="demo", native=True) as run:
        assert run.say("Hello") == "Fine."

        for request in run.requests:
            assert "handover_to_specialist" in request.offered
            assert not OF_A_HANDOVER & set(request.offered)


def test_native_handover_to_specialist_is_offered_with_all_its_documented_arguments() -> None:
    with live.start({"agent0": [response("Fine.")]}, project="demo", native=True) as run:
        assert run.say("Hello") == "Fine."

        schema = run.requests[0].function("handover_to_specialist")["parameters"]
        assert set(schema["properties"]) >= DOCUMENTED
        assert set(schema["required"]) == {"specialist_profile", "topic"}
        assert schema["properties"]["decisions"]["type"] == "array"
        assert all(field.get("description") for field in schema["properties"].values())


def test_native_a_specialist_is_offered_handover_reply_and_request_full_history() -> None:
    script = {
        "agent0": [HAND_OVER, response("The draft is ready.")],
        DESIGNER: [response("In index.html.")],
    }
    with live.start(script, project="demo", native=True) as run:
        assert run.say("Please build the hero") == "The draft is ready."

        (asked,) = run.model.requests_of(DESIGNER)
        assert set(asked.offered) >= OF_A_HANDOVER
        verdict = asked.function("handover_reply")["parameters"]["properties"]["verdict"]
        assert {"accept", "done", "clarify", "reject", "escalate"} <= set(verdict["enum"])
        assert not OF_A_HANDOVER & set(run.requests[-1].offered)


def test_native_a_specialist_accepts_works_and_hands_its_note_back() -> None:
    note = {
        "what_happened": "Hero drafted.",
        "observations": "Fits.",
        "user_state": "not spoken to",
        "next": "Show it.",
    }
    script = {
        "agent0": [HAND_OVER, response("The draft is ready.")],
        DESIGNER: [
            tool_call("handover_reply", verdict="accept"),
            saying("Handing back.", tool_call("handover_reply", verdict="done", **note)),
        ],
    }
    with live.start(script, project="demo", native=True) as run:
        assert run.say("Please build the hero") == "The draft is ready."

        assert "Hero drafted." in run.requests[-1].text()


def test_native_what_is_open_is_told_although_the_host_goes_on_from_a_stored_answer() -> None:
    prepare = {**HAND_OVER, "tool_args": {**HAND_OVER["tool_args"], "start": False}}
    script = {
        "agent0": [saying("Let me prepare.", prepare), response("Ready."), response("It is.")]
    }
    with live.start(script, project="demo", native=True) as run:
        assert run.say("Please prepare the hero") == "Ready."
        assert run.say("Is it ready?") == "It is."

        # A fresh prompt, or the line among the new items: the model must not see the state of the first turn.
        assert "Prepared, not started: ho-" in run.requests[2].last


def test_native_the_prompt_repeats_nothing_of_the_functions_and_stays_cheap() -> None:
    script = {
        "agent0": [HAND_OVER, response("The draft is ready.")],
        DESIGNER: [response("In index.html.")],
    }
    with live.start(script, project="demo", native=True) as run:
        assert run.say("Please build the hero") == "The draft is ready."

        (asked,) = run.model.requests_of(DESIGNER)
        for name in ("handover_to_specialist", *OF_A_HANDOVER):
            assert f"### {name}" not in asked.system
        assert "## your handover" in asked.system
        cost = {
            name: counter().count(json.dumps(asked.function(name), separators=(",", ":")))
            for name in ("handover_to_specialist", *OF_A_HANDOVER)
        }
        assert sum(cost.values()) <= 1150, cost

"""The harness itself, against the real Agent Zero without the plugin: a person, an orchestrator and one subordinate."""

import urllib.request

import pytest

from usr.plugins.software_orchestrator.tests.e2e import live
from usr.plugins.software_orchestrator.tests.e2e.scripted_model import held, response, tool_call

pytestmark = pytest.mark.skipif(bool(live.why_not()), reason=live.why_not())

DELEGATE = tool_call(
    "call_subordinate", profile="developer", message="Write hello.py, please", reset="true"
)

ASK_FOR_PROJECT = """
from helpers import projects

async def ask():
    return projects.get_context_project_name(context) + tail

result = ask()
"""


def tool_results(run: live.LiveRun, number: int = 0) -> list[tuple[str, str]]:
    contents = [message.get("content") for message in run.history(number)]
    return [
        (c["tool_name"], c["tool_result"])
        for c in contents
        if isinstance(c, dict) and "tool_name" in c
    ]


def test_a_subordinate_answers_its_superior_and_the_superior_answers_the_person() -> None:
    script = {
        "agent0": [DELEGATE, response("The developer is done.")],
        "developer": [response("hello.py is written")],
    }
    with live.start(script, plugin=None) as run:
        answer = run.say("Please have hello.py written")

        assert answer == "The developer is done."
        assert [(r.profile, r.agent_number) for r in run.requests] == [
            ("agent0", 0),
            ("developer", 1),
            ("agent0", 0),
        ]
        assert "Write hello.py, please" in run.requests[1].last
        assert tool_results(run) == [("call_subordinate", "hello.py is written")]
        assert [agent["number"] for agent in run.saved_agents()] == [0, 1]
        rows = run.log_rows(run.chat_id)
        assert [row["content"] for row in rows if row["type"] == "user"] == [
            "Please have hello.py written"
        ]


@pytest.mark.skipif(live.children_host(), reason="the person's message goes to the orchestrator")
def test_a_run_cut_off_by_a_dying_host_goes_on_in_a_new_process() -> None:
    waiting, after_all = held(response("never read")), response("hello.py is written, after all")
    script = {
        "agent0": [DELEGATE, response("All done.")],
        "developer": [tool_call("wait", seconds="0"), waiting, after_all],
        "agent0#1": [after_all],  # a host of April forgets the profile
    }
    with live.start(script, plugin=None) as run:
        run.send("Please have hello.py written")
        run.model.wait_for("developer", turn=2)

        run.restart()

        assert run.say("Go on") == "All done."
        assert "Go on" in run.model.requests[-2].last
        assert tool_results(run)[0] == ("call_subordinate", "hello.py is written, after all")


def test_after_a_stop_the_next_message_goes_to_the_orchestrator() -> None:
    script = {
        "agent0": [DELEGATE, response("I am back.")],
        "developer": [held(response("never read"))],
    }
    with live.start(script, plugin=None) as run:
        run.send("Please have hello.py written")
        run.model.wait_for("developer")

        run.stop()

        assert run.wait(10).status == "cancelled"
        assert run.streaming() is None
        assert run.say("again") == "I am back."


def test_a_nudge_cancels_the_answer_and_wakes_an_agent() -> None:
    script = {
        "agent0": [DELEGATE, response("All done.")],
        "developer": [held(response("never read")), response("woken")],
    }
    with live.start(script, plugin=None) as run:
        run.send("Please have hello.py written")
        run.model.wait_for("developer")

        run.nudge()

        # The developer or the orchestrator: the host asks who is at work while it is still cancelling.
        assert run.answer() == "All done."
        assert "Nudged" in run.requests[2].text("user")
        assert not run.model.exchanges[1].delivered


def test_saved_settings_and_a_reset_reach_the_running_host() -> None:
    waiting = held(response("late"))
    script = {"agent0": [DELEGATE, response("All done.")], "developer": [waiting]}
    with live.start(script, plugin=None) as run:
        run.send("Please have hello.py written")
        run.model.wait_for("developer")

        run.save_settings(agent_knowledge_subdir="elsewhere")
        profiles = [agent["profile"] for agent in run.agents()]
        waiting.release()

        # A host of April forgets the profile, which the plugin has to mend; later ones keep it.
        assert profiles in (["agent0", "agent0"], ["agent0", "developer"])
        assert run.answer() == "All done."
        run.reset()
        assert [agent["number"] for agent in run.chat_json()["agents"]] == [0]


def test_an_answer_that_the_script_lacks_fails_the_run_and_is_named() -> None:
    with (
        live.start({"agent0": []}, plugin=None) as run,
        pytest.raises(live.LiveError, match="turn 1 of agent0"),
    ):
        run.say("hello")


def test_the_web_ui_is_served_and_its_api_runs_a_chat() -> None:
    script = {
        "agent0": [DELEGATE, response("All done.")],
        "developer": [response("hello.py is written")],
    }
    with live.start_web_ui(script, plugin=None) as ui:
        with urllib.request.urlopen(ui.url, timeout=30) as page:
            assert "<title>" in page.read().decode()

        answer = ui.api("message", {"text": "Please have hello.py written", "context": ""})

        assert answer["message"] == "All done."
        chats = ui.chats(answer["context"])
        assert [agent["number"] for chat in chats for agent in chat["agents"]] == [0, 1]
        assert ui.model.faults == []


def test_a_run_can_have_a_project_a_profile_of_its_own_and_code_inside_the_host() -> None:
    profile = {
        "usr/agents/tester/agent.yaml": "title: Tester\ndescription: Tests.\ncontext: For tests.\n"
    }
    call = tool_call("call_subordinate", profile="tester", message="Test it", reset="true")
    script = {"agent0": [call, response("Tested.")], "tester": [response("green")]}
    with live.start(script, plugin=None, files=profile, project="demo") as run:
        assert run.say("Please have it tested") == "Tested."

        assert run.inside(ASK_FOR_PROJECT, tail="!") == "demo!"
        assert (run.project_folder("demo") / ".a0proj" / "project.json").is_file()

"""With what the host begins a chat was said by nobody: it does not travel, and is no turn of the history."""

import json

import pytest
from host_double.handover_kit import call, done, hand_over, respond, result_of, texts_sent

LINE = "prompts/fw.initial_user_message.md"
GREETING = "Hello from the double."
LOG = "software_orchestrator_history.jsonl"


@pytest.fixture(params=["", "Buongiorno!"], ids=["greeting", "line and greeting"])
def opened(request, any_tree):
    """A host that greets, or as the newest do, seems to be greeted first."""
    if request.param:
        any_tree.write(LINE, request.param)
    with any_tree.enter() as host:
        host.project("acme")
        yield host


def test_the_opening_is_no_recent_turn(opened):
    host = opened
    host.script({"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [done()]})
    host.say("Please build the hero")

    sent = texts_sent(host, "frontend_designer")
    assert "Please build the hero" in sent
    assert GREETING not in sent
    assert "Buongiorno" not in sent
    assert result_of(host)["status"] == "ok"


@pytest.mark.parametrize("log", [True, False])
def test_the_persons_first_message_is_turn_1_of_the_history(opened, log):
    host = opened
    if not log:
        config = host.root / "usr/plugins/software_orchestrator/config.json"
        config.write_text(json.dumps({"transcript_log": False}))
    history = call("request_full_history", reason="all of it")
    host.script(
        {
            "agent0": [respond("What for?"), hand_over(start=True), respond("ok")],
            "frontend_designer": [history, done()],
        }
    )
    host.say("I want a hero")
    host.say("For Acme")

    (agent,) = {id(c["agent"]): c["agent"] for c in host.model_calls[2:4]}.values()
    told = host.tool_results("request_full_history", agent)[-1]["tool_result"]
    assert "### 1 · user\n> I want a hero" in told
    assert GREETING not in told
    assert "Buongiorno" not in told


def test_after_a_reset_the_log_begins_with_what_is_said_then(opened):
    host = opened
    host.script({"agent0": [respond("A hero.")]})
    host.say("I want a hero")
    host.reset()
    log = host.root / "usr/chats" / host.context.id / LOG
    assert not log.exists()

    host.script({"agent0": [respond("A footer.")]})
    host.say("I want a footer")
    kept = log.read_text("utf-8")
    assert "I want a footer" in kept
    assert "I want a hero" not in kept
    assert GREETING not in kept

"""What differs between hosts in how a specialist is started: a chat of its own, and `parallel`. Scripted model."""

import json
from typing import Any

import pytest

from usr.plugins.software_orchestrator.tests.e2e import live
from usr.plugins.software_orchestrator.tests.e2e.scripted_model import (
    ChatRequest,
    held,
    response,
    tool_call,
)
from usr.plugins.software_orchestrator.tests.e2e.test_live_loop import (
    ACCEPT,
    DESIGNER,
    NOTE,
    REVIEWER,
    done,
    hand_over,
    kinds,
    moves,
    start,
    told,
    tool_results,
)

pytestmark = pytest.mark.skipif(bool(live.why_not()), reason=live.why_not())

PARALLEL = live.host_has("tools/parallel.py")
needs_parallel = pytest.mark.skipif(not PARALLEL, reason="the host has no tool parallel")
needs_children = pytest.mark.skipif(
    not live.children_host(), reason="the host's specialists have no chat of their own"
)


def both(request: ChatRequest) -> dict[str, Any]:
    """Every call that a next_step holds, in one `parallel` call."""
    text, calls = request.text().replace('\\\\\\"', '"').replace('\\"', '"'), []
    for place in text.split("Orchestrator: review the package")[1:]:
        call = json.JSONDecoder().raw_decode(place, place.index('{"tool_name": "call_subord'))[0]
        if call not in calls:
            calls.append(call)
    return tool_call("parallel", tool_calls=calls)


@needs_parallel
def test_specialists_are_started_in_parallel_or_the_call_is_refused_in_words() -> None:
    prepare = [hand_over(), hand_over(REVIEWER, topic="shop", goal="Review the shop")]
    specialists = {DESIGNER: [done()], REVIEWER: [done(what_happened="Reviewed.")]}
    runs = specialists if live.children_host() else {}
    script = {"agent0": [*prepare, both, response("Ready.")], **runs}
    with start(script) as run:
        assert run.say("Please build and review") == "Ready."

        ended = [move for move in moves(run) if move.endswith("done")]
        if not live.children_host():
            assert "cannot be started inside parallel" in run.requests[-1].last
            assert moves(run) == [f"{DESIGNER} prepared", f"{REVIEWER} prepared"]
            return
        assert sorted(ended) == [f"{DESIGNER} done", f"{REVIEWER} done"]
        assert all("# Handover ho-" in run.model.requests_of(one)[0].last for one in specialists)
        answered = "".join(tool_results(run, "parallel"))
        assert NOTE["what_happened"] in answered
        assert "Reviewed." in answered
        started = [heading for heading in told(run) if "has the task now: " in heading]
        assert len(started) == 2


@needs_children
def test_a_specialists_chat_has_its_name_shows_the_task_and_is_saved_as_it_goes() -> None:
    waiting = held(done())
    script = {
        "agent0": [hand_over(start=True), response("The draft is ready.")],
        DESIGNER: [ACCEPT, waiting],
    }
    with start(script, utility_answer="") as run:  # else the host names each chat, as it likes
        run.send("Please build the hero")
        run.model.wait_for(DESIGNER, turn=2)
        run.settle(agents=2)

        child = run.chats()[-1]
        assert child["name"] == "🖌️ Frontend Designer: landing page hero"
        assert "Accepted: the work is yours" in child["agents"][0]["history"]
        shown = [row for row in run.log_rows(child["id"]) if row["type"] == "info"]
        assert any("First draft of the hero" in row["content"] for row in shown)

        waiting.release()
        assert run.answer() == "The draft is ready."


@needs_children
def test_what_the_person_writes_in_a_working_specialists_chat_reaches_it_once() -> None:
    waiting = held(response("never used"))
    script = {
        "agent0": [hand_over(start=True), response("The draft is ready.")],
        DESIGNER: [ACCEPT, waiting, done(observations="In blue, as asked.")],
    }
    with start(script) as run:
        run.send("Please build the hero")
        run.model.wait_for(DESIGNER, turn=2)

        run.send("Make it blue", chat=run.agents()[-1]["chat"])
        waiting.release()

        assert run.answer() == "The draft is ready."
        assert len(run.model.requests_of(DESIGNER)) == 3
        assert len(run.model.requests_of("agent0")) == 2
        assert run.model.requests_of(DESIGNER)[2].text("user").count("Make it blue") == 1
        assert kinds(run).count("done") == 1


@needs_children
def test_after_a_restart_a_note_made_in_the_specialists_own_chat_reaches_the_orchestrator() -> None:
    script = {
        "agent0": [hand_over(start=True), response("I have seen it.")],
        DESIGNER: [ACCEPT, held(response("never read")), done()],
    }
    with start(script) as run:
        run.send("Please build the hero")
        run.model.wait_for(DESIGNER, turn=2)
        run.settle(agents=2)

        run.restart()
        child = run.chats()[-1]["id"]
        run.send("Go on, in blue", chat=child)
        run.model.wait_until(lambda: kinds(run)[-1] == "done", "the specialist's note")
        run.model.wait_until(lambda: not run.is_running(), "the end of its run")

        assert run.say("Well?") == "I have seen it."
        assert NOTE["what_happened"] in run.requests[-1].text("user")
        assert kinds(run).count("done") == 1
        assert not [heading for heading in told(run) if heading.startswith("A1")]

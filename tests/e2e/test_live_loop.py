"""The plugin's whole loop in the real Agent Zero, with a scripted model, read back from chat, ledger and briefing."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from usr.plugins.software_orchestrator.helpers.text.tokens import counter
from usr.plugins.software_orchestrator.tests.e2e import live
from usr.plugins.software_orchestrator.tests.e2e.scripted_model import (
    ChatRequest,
    Reply,
    Script,
    held,
    response,
    tool_call,
)

pytestmark = pytest.mark.skipif(bool(live.why_not()), reason=live.why_not())

DESIGNER, REVIEWER, TESTER, EXPLORER = (
    "frontend_designer",
    "quality_reviewer",
    "test_debug_engineer",
    "codebase_explorer",
)
PERSONA = "🖌️ Frontend Designer (A1)"
NOTE = {
    "what_happened": "Hero drafted in index.html.",
    "observations": "Fits the 150 kB.",
    "user_state": "not spoken to",
    "next": "Show the draft to the person.",
}
ACCEPT = tool_call("handover_reply", verdict="accept")
# A message of the person in the one moment that no test can hit from outside (HOST fact 14).
SPEAK = """
from agent import UserMessage
from helpers.extension import Extension


class Speak(Extension):
    async def execute(self, tool_name="", data=None, **kwargs):
        agent = self.agent
        if agent and agent.number == 1 and tool_name in ("", "handover_reply") and not agent.context.data.get("_spoken"):
            agent.context.data["_spoken"] = True
            agent.context.communicate(UserMessage(message="One more thing: use blue"))
"""

# The host dies after the verdict is recorded and before the specialist's run has ended.
SLOW = """
import asyncio
from helpers.extension import Extension


class Slow(Extension):
    async def execute(self, tool_name="", response=None, **kwargs):
        if tool_name == "handover_reply" and response.break_loop:
            await asyncio.sleep(60)
"""

LISTED = """
from helpers import plugins

ours = plugins.get_enhanced_plugins_list(custom=True, builtin=False, plugin_names=["software_orchestrator"])
config = plugins.get_plugin_config("software_orchestrator", agent=context.agent0)
result = {"found": [each.model_dump(mode="json") for each in ours], "config": config}
"""

# What importing or branching a chat comes to: the saved chat under a new id, and a message there.
COPIED = """
from agent import AgentContext, UserMessage
from helpers import persist_chat

async def copied():
    original = AgentContext.get(chat)
    (new_id,) = persist_chat.load_json_chats([persist_chat.export_json_chat(original)])
    copy = AgentContext.get(new_id)
    answer = await copy.communicate(UserMessage(message="Hello")).result()
    agents, agent = [], copy.agent0
    while agent is not None:
        agents.append(agent)
        agent = agent.data.get("_subordinate")
    held = ["software_orchestrator" in each.data for each in agents]
    return {"answer": answer, "held": held, "headings": [item.heading for item in copy.log.logs]}

result = copied()
"""


def hand_over(to: str = DESIGNER, **more: Any) -> dict[str, Any]:
    args = {
        "specialist_profile": to,
        "topic": "landing page hero",
        "goal": "First draft of the hero",
    }
    return tool_call(
        "handover_to_specialist", **{**args, "decisions": ["CSS grid, no framework"], **more}
    )


def done(**more: Any) -> dict[str, Any]:
    return tool_call("handover_reply", **{"verdict": "done", **NOTE, **more})


def copied_step(request: ChatRequest) -> dict[str, Any]:
    """The call that the newest next_step holds, as a model copies it."""
    text = request.text().replace('\\\\\\"', '"').replace('\\"', '"')
    found: dict[str, Any] = json.JSONDecoder().raw_decode(
        text[text.rindex('{"tool_name": "call_subordinate"') :]
    )[0]
    return {"thoughts": ["copied"], "headline": "Starting", **found}


def without(call: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {
        **call,
        "tool_args": {key: value for key, value in call["tool_args"].items() if key not in names},
    }


def newest_id(request: ChatRequest) -> str:
    return re.findall(r"ho-[0-9a-f]{16}", request.text())[-1]


def probe(point: str, source: str) -> dict[str, str]:
    """A plugin with one extension at `point`: what no test can do from outside the host."""
    plugin = "usr/plugins/probe"
    return {
        f"{plugin}/plugin.yaml": "name: probe\ntitle: Probe\ndescription: p\nversion: 1.0.0\n",
        f"{plugin}/.toggle-1": "",
        f"{plugin}/extensions/python/{point}/_90_probe.py": source,
    }


def start(script: Script, **more: Any) -> live.LiveRun:
    return live.start(script, project="demo", **more)


def tool_results(run: live.LiveRun, tool: str, number: int = 0) -> list[str]:
    contents = [message.get("content") for message in run.history(number)]
    return [
        c["tool_result"] for c in contents if isinstance(c, dict) and c.get("tool_name") == tool
    ]


def handed(run: live.LiveRun, at: int = -1) -> dict[str, Any]:
    """The JSON object that handover_to_specialist answered agent 0."""
    found: dict[str, Any] = json.JSONDecoder().raw_decode(
        tool_results(run, "handover_to_specialist")[at]
    )[0]
    return found


def folder(run: live.LiveRun) -> Path:
    return run.project_folder("demo") / ".a0proj" / "handover"


def ledger(run: live.LiveRun) -> list[dict[str, Any]]:
    return events_in(folder(run))


def events_in(handovers: Path) -> list[dict[str, Any]]:
    files = sorted((handovers / "chains").glob("*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()]


def kinds(run: live.LiveRun) -> list[str]:
    return [event["kind"] for event in ledger(run) if event["kind"] != "briefed"]


def moves(run: live.LiveRun) -> list[str]:
    """What happened to whom, where several work: `frontend_designer done`."""
    return [f"{e['to']} {e['kind']}" for e in ledger(run) if e["kind"] != "briefed"]


def briefing(run: live.LiveRun) -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted(folder(run).glob("*.md")))


def headings(run: live.LiveRun, number: int) -> list[str]:
    """The headings of the rows that agent `number` made by thinking and calling tools, but for those that name no agent."""
    rows = [
        row
        for row in run.log_rows()
        if row["agentno"] == number and row["type"] in ("agent", "tool", "response")
    ]
    return [row["heading"] for row in rows if row["heading"]]


def told(run: live.LiveRun) -> list[str]:
    """What the rows of the chat that the person opened say, but for agents' own."""
    rows = run.log_rows(run.chat_id)
    return [row["heading"] for row in rows if row["type"] in ("info", "warning")]


# Where a specialist has a chat of its own, the person's next message goes to the orchestrator, which reads who holds
# the work and lets it go on.
CHILDREN = live.children_host()


def let_go_on() -> list[Any]:
    return [copied_step] if CHILDREN else []


def may_use(request: ChatRequest, tool: str) -> bool:
    """Whether the model is told of the tool, as text or as a function; never as both."""
    as_text, as_function = f"### {tool}\n" in request.system, tool in request.offered
    assert not (as_text and as_function)
    return as_text or as_function


def test_a_specialist_accepts_works_and_its_note_comes_back_to_the_orchestrator() -> None:
    write = tool_call("text_editor:write", path="index.html", content="<h1>Hero</h1>\n")

    def work(request: ChatRequest) -> dict[str, Any]:
        write["tool_args"]["path"] = str(run.project_folder("demo") / "index.html")
        return write

    script = {
        "agent0": [hand_over(start=True), response("The draft is ready.")],
        DESIGNER: [
            ACCEPT,
            work,
            done(artifacts=["index.html"], decisions=["One column below 600 px"]),
        ],
    }
    with start(script) as run:
        assert run.say("Please build the hero") == "The draft is ready."

        first, inner = run.requests[0], run.model.requests_of(DESIGNER)
        assert "You shape what people see" in inner[0].system
        assert "You shape what people see" not in first.system
        assert all(may_use(request, "handover_reply") for request in inner)
        assert not may_use(first, "handover_reply")
        assert "# Handover ho-" in inner[0].last
        assert "CSS grid, no framework" in inner[0].last
        found = handed(run)
        assert found["status"] == "ok"
        assert (
            found["reply"] | NOTE | {"verdict": "done", "outcome": "completed", "implicit": False}
            == found["reply"]
        )
        assert kinds(run) == ["prepared", "delivered", "accepted", "done"]
        packet = ledger(run)[-2]["data"]["packet"]
        assert packet["artifacts"][0]["sha256"]
        assert "One column below 600 px" in str(packet["decisions"])
        assert f"· done · {found['package']['handover_id']}" in briefing(run)
        assert NOTE["what_happened"] in briefing(run)
        assert headings(run, 1)
        assert all(PERSONA in heading for heading in headings(run, 1))
        assert all("Frontend Designer" not in heading for heading in headings(run, 0)[1:])
        assert [agent["agent_name"] for agent in run.agents()] == ["A0", "A1"]
        assert told(run) == [
            "🖌️ Frontend Designer has the task now: landing page hero",
            f"{PERSONA} handed back (done); 🧭 Software Orchestrator has the task now",
        ]


def test_a_copied_next_step_runs_the_right_specialist_although_the_model_forgot_reset() -> None:
    script = {
        "agent0": [
            tool_call("call_subordinate", profile="developer", message="Look around", reset="true"),
            hand_over(),
            lambda request: without(copied_step(request), "reset", "profile"),
            hand_over(REVIEWER, goal="Review the hero", summary="The draft stands."),
            lambda request: without(copied_step(request), "reset"),
            response("Reviewed."),
        ],
        "developer": [response("Looked.")],
        DESIGNER: [done()],
        REVIEWER: [done(what_happened="Reviewed the hero.")],
    }
    with start(script) as run:
        assert run.say("Please build the hero") == "Reviewed."

        assert [(r.profile, r.agent_number) for r in run.requests if r.agent_number] == [
            ("developer", 1),
            (DESIGNER, 1),
            (REVIEWER, 1),
        ]
        package = run.model.requests_of(DESIGNER)[0].last
        assert "# Handover ho-" in package
        assert "§§handover" not in package
        assert "Reviewed the hero." in tool_results(run, "call_subordinate")[2]
        assert moves(run) == [
            f"{who} {what}"
            for who in (DESIGNER, REVIEWER)
            for what in ("prepared", "delivered", "done")
        ]
        assert [event["data"]["way"] for event in ledger(run) if event["kind"] == "delivered"] == [
            "call_subordinate"
        ] * 2
        assert run.agents()[0]["profile"] == "agent0"
        assert any("🧐 Quality Reviewer (A1)" in heading for heading in headings(run, 1))


def test_a_wrong_reference_is_an_error_that_the_orchestrator_can_act_on() -> None:
    ghost = tool_call(
        "call_subordinate",
        profile=DESIGNER,
        message="§§handover(ho-00000000000000ff)",
        reset="true",
    )
    with start({"agent0": [ghost, response("No such handover.")]}) as run:
        assert run.say("Start it") == "No such handover."

        assert "ho-00000000000000ff is recorded" in run.requests[1].last
        assert [agent["number"] for agent in run.agents()] == [0]


def test_hand_to_moves_the_work_on_over_two_legs_and_the_last_note_returns() -> None:
    script = {
        "agent0": [hand_over(start=True), response("Built, reviewed and tested.")],
        DESIGNER: [done(hand_to=REVIEWER, decisions=["One column below 600 px"])],
        REVIEWER: [ACCEPT, done(what_happened="Reviewed.", hand_to=TESTER)],
        TESTER: [done(what_happened="Tests are green.")],
    }
    with start(script) as run:
        assert run.say("Please build the hero") == "Built, reviewed and tested."

        reply = handed(run)["reply"]
        assert [leg["specialist"] for leg in reply["legs"]] == [DESIGNER, REVIEWER, TESTER]
        assert reply["what_happened"] == "Tests are green."
        assert {
            r.agent_number for r in run.requests if r.profile in (DESIGNER, REVIEWER, TESTER)
        } == {1}
        prepared = [event for event in ledger(run) if event["kind"] == "prepared"]
        assert [(event["hop"], event["depth"], event["from"]) for event in prepared] == [
            (1, 0, "a0_software_orchestrator"),
            (2, 0, DESIGNER),
            (3, 0, REVIEWER),
        ]
        assert "One column below 600 px" in run.model.requests_of(TESTER)[0].last
        assert kinds(run)[-1] == "done"
        assert kinds(run).count("done") == 3


def test_under_call_subordinate_hand_to_is_prepared_and_its_note_ends_with_the_next_step() -> None:
    script = {
        "agent0": [hand_over(), copied_step, copied_step, response("Reviewed.")],
        DESIGNER: [done(hand_to=REVIEWER)],
        REVIEWER: [done(what_happened="Reviewed.")],
    }
    with start(script) as run:
        assert run.say("Please build the hero") == "Reviewed."

        assert (
            "Orchestrator: review the package, then call_subordinate"
            in tool_results(run, "call_subordinate")[0]
        )
        assert moves(run) == [
            f"{who} {what}"
            for who in (DESIGNER, REVIEWER)
            for what in ("prepared", "delivered", "done")
        ]


def test_a_specialist_hands_a_part_down_waits_and_goes_on() -> None:
    down = hand_over(EXPLORER, topic="another topic", goal="Find the tokens", start=True)
    script = {
        "agent0": [hand_over(start=True), response("The draft is ready.")],
        DESIGNER: [down, done()],
        EXPLORER: [done(what_happened="Tokens are in theme.css.")],
    }
    with start(script) as run:
        assert run.say("Please build the hero") == "The draft is ready."

        assert [(r.profile, r.agent_number) for r in run.requests] == [
            ("agent0", 0),
            (DESIGNER, 1),
            (EXPLORER, 2),
            (DESIGNER, 1),
            ("agent0", 0),
        ]
        assert "Tokens are in theme.css." in run.requests[3].last
        prepared = [event for event in ledger(run) if event["kind"] == "prepared"]
        assert [event["depth"] for event in prepared] == [0, 1]
        assert len({event["chain"] for event in ledger(run)}) == 1
        assert moves(run) == [
            f"{DESIGNER} prepared",
            f"{DESIGNER} delivered",
            f"{DESIGNER} accepted",
            f"{EXPLORER} prepared",
            f"{EXPLORER} delivered",
            f"{EXPLORER} done",
            f"{DESIGNER} done",
        ]
        assert any("🔎 Codebase Explorer (A2)" in heading for heading in headings(run, 2))
        assert all(PERSONA in heading for heading in headings(run, 1))


def test_an_answered_clarify_reaches_the_specialist_that_asked() -> None:
    ask = tool_call(
        "handover_reply",
        verdict="clarify",
        missing=["audience"],
        what_happened="Looked at the brand.",
    )

    def answer(request: ChatRequest) -> dict[str, Any]:
        return hand_over(answers=newest_id(request), state={"audience": "dentists"}, start=True)

    script = {
        "agent0": [hand_over(start=True), answer, response("The draft is ready.")],
        DESIGNER: [ask, done()],
    }
    with start(script) as run:
        assert run.say("Please build the hero") == "The draft is ready."

        assert handed(run, 0)["reply"]["missing"] == ["audience"]
        again = run.model.requests_of(DESIGNER)[1]
        assert "dentists" in again.last
        assert "Looked at the brand." in again.text("assistant")
        assert kinds(run) == ["prepared", "delivered", "clarify", "prepared", "delivered", "done"]
        assert handed(run)["reply"]["verdict"] == "done"


def test_a_clarify_answered_by_a_plain_message_reopens_the_handover() -> None:
    ask = tool_call("handover_reply", verdict="clarify", missing=["audience"])
    plain = tool_call("call_subordinate", message="Dentists.", profile=DESIGNER, reset="false")
    script = {
        "agent0": [hand_over(start=True), plain, response("The draft is ready.")],
        DESIGNER: [ask, ACCEPT, done()],
    }
    with start(script) as run:
        assert run.say("Please build the hero") == "The draft is ready."

        assert kinds(run)[:4] == ["prepared", "delivered", "clarify", "reopened"]
        assert kinds(run)[-1] == "done"
        assert "Hero drafted" in tool_results(run, "call_subordinate")[0]
        assert all(PERSONA in heading for heading in headings(run, 1))


def test_a_reject_gives_the_reason_and_leaves_the_work_with_the_orchestrator() -> None:
    refuse = tool_call("handover_reply", verdict="reject", reason="This is server logic.")
    script = {"agent0": [hand_over(start=True), response("I do it.")], DESIGNER: [refuse]}
    with start(script) as run:
        assert run.say("Please build the hero") == "I do it."

        assert handed(run)["reply"]["reason"] == "This is server logic."
        assert kinds(run) == ["prepared", "delivered", "rejected"]
        assert "This is server logic." in briefing(run)


def test_an_escalation_stops_the_chain_until_the_person_writes() -> None:
    call_person = tool_call(
        "handover_reply", verdict="escalate", reason="Contrast: the person must decide."
    )
    again = hand_over(goal="Second try", start=True)
    script = {
        "agent0": [
            hand_over(start=True),
            again,
            response("Please decide."),
            again,
            response("Done."),
        ],
        DESIGNER: [call_person, done()],
    }
    with start(script) as run:
        assert run.say("Please build the hero") == "Please decide."
        refusal = tool_results(run, "handover_to_specialist")[1]
        assert refusal.startswith("ERROR:")
        assert "Contrast" in refusal

        assert run.say("Take the dark one") == "Done."

        assert kinds(run)[:3] == ["prepared", "delivered", "escalated"]
        assert kinds(run)[-4:] == ["resumed", "prepared", "delivered", "done"]
        assert any("needs you" in heading or "stopped" in heading for heading in told(run))


@pytest.mark.parametrize("turn", [1, 2])
def test_a_host_that_dies_in_the_middle_finds_the_specialist_again(turn: int) -> None:
    waiting = held(response("never read"))
    script = {
        "agent0": [hand_over(start=True), *let_go_on(), response("The draft is ready.")],
        DESIGNER: [*[ACCEPT][: turn - 1], waiting, done()],
    }
    with start(script) as run:
        run.send("Please build the hero")
        run.model.wait_for(DESIGNER, turn=turn)
        run.settle(agents=2)

        run.restart()

        assert run.say("Go on, in blue") == "The draft is ready."
        back = run.model.requests_of(DESIGNER)[turn]
        assert back.agent_number == 1
        assert "Go on, in blue" in (run.requests[turn + 1] if CHILDREN else back).text("user")
        assert "You shape what people see" in back.system
        assert may_use(back, "handover_reply")
        assert "# Handover ho-" in back.text("user")
        assert NOTE["what_happened"] in tool_results(run, "call_subordinate")[0]
        assert kinds(run)[:2] == ["prepared", "delivered"]
        assert kinds(run)[-1] == "done"
        assert all(PERSONA in heading for heading in headings(run, 1))


def test_a_handover_that_was_only_prepared_is_offered_again_after_a_restart() -> None:
    waiting = held(response("never read"))
    script = {
        "agent0": [hand_over(), waiting, copied_step, response("The draft is ready.")],
        DESIGNER: [done()],
    }
    with start(script) as run:
        run.send("Please build the hero")
        run.model.wait_for("agent0", turn=2)
        run.settle(agents=1)

        run.restart()

        assert run.say("What now?") == "The draft is ready."
        assert "Prepared, not started: ho-" in run.model.requests_of("agent0")[2].last
        assert kinds(run) == ["prepared", "delivered", "done"]


def test_after_a_stop_the_orchestrator_sees_who_holds_the_work_and_can_let_it_go_on() -> None:
    script = {
        "agent0": [hand_over(start=True), copied_step, response("The draft is ready.")],
        DESIGNER: [ACCEPT, held(response("never read")), done(observations="After the stop.")],
    }
    with start(script) as run:
        run.send("Please build the hero")
        run.model.wait_for(DESIGNER, turn=2)

        run.stop()

        assert run.wait(10).status == "cancelled"
        assert kinds(run) == ["prepared", "delivered", "accepted", "interrupted"]
        assert run.say("Go on") == "The draft is ready."
        assert "Open: ho-" in run.model.requests_of("agent0")[1].last
        assert "Accepted: the work is yours" in run.model.requests_of(DESIGNER)[2].text("user")
        assert kinds(run)[-1] == "done"


def test_after_a_stop_under_two_specialists_each_lets_the_one_below_go_on() -> None:
    script = {
        "agent0": [hand_over(start=True), copied_step, response("The draft is ready.")],
        DESIGNER: [hand_over(EXPLORER, goal="Find the tokens", start=True), copied_step, done()],
        EXPLORER: [
            ACCEPT,
            held(response("never read")),
            done(what_happened="Tokens are in theme.css."),
        ],
    }
    with start(script) as run:
        run.send("Please build the hero")
        run.model.wait_for(EXPLORER, turn=2)

        run.stop()

        assert run.wait(10).status == "cancelled"
        assert moves(run)[-2:] == [f"{DESIGNER} interrupted", f"{EXPLORER} interrupted"]
        assert run.say("Go on") == "The draft is ready."
        assert "Accepted: the work is yours" in run.model.requests_of(EXPLORER)[2].text("user")
        assert "Tokens are in theme.css." in run.model.requests_of(DESIGNER)[2].last
        assert [move for move in moves(run) if move.endswith("done")] == [
            f"{EXPLORER} done",
            f"{DESIGNER} done",
        ]
        assert "cancelled" not in kinds(run)


def test_after_a_nudge_nothing_stays_open() -> None:
    script = {
        "agent0": [hand_over(start=True), response("All done."), response("All done.")],
        DESIGNER: [ACCEPT, held(response("never read")), done()],
    }
    with start(script) as run:
        run.send("Please build the hero")
        run.model.wait_for(DESIGNER, turn=2)

        run.nudge()

        # The designer or the orchestrator goes on: the host asks who is at work while it is still cancelling.
        assert run.answer() == "All done."
        assert "interrupted" in kinds(run)
        if len(run.model.requests_of(DESIGNER)) == 3:
            assert kinds(run)[-1] == "done"
            assert NOTE["what_happened"] in tool_results(run, "call_subordinate")[0]
        else:
            assert "Open: ho-" in run.requests[-1].last


def test_a_reset_in_the_middle_cancels_the_handover() -> None:
    script = {
        "agent0": [hand_over(start=True), response("Hello again.")],
        DESIGNER: [ACCEPT, held(response("never read"))],
    }
    with start(script) as run:
        run.send("Please build the hero")
        run.model.wait_for(DESIGNER, turn=2)

        run.reset()

        assert run.say("Hello") == "Hello again."
        assert kinds(run) == ["prepared", "delivered", "accepted", "cancelled"]
        left = [agent for agent in run.agents() if agent["chat"] == run.chat_id]
        assert [agent["agent_name"] for agent in left] == ["A0"]
        assert "handovers" not in run.requests[-1].last


def test_settings_saved_in_the_middle_leave_the_specialist_the_specialist() -> None:
    waiting = held(ACCEPT)
    script = {
        "agent0": [hand_over(start=True), response("The draft is ready.")],
        DESIGNER: [waiting, done()],
    }
    with start(script) as run:
        run.send("Please build the hero")
        run.model.wait_for(DESIGNER)

        run.save_settings(agent_knowledge_subdir="elsewhere")
        waiting.release()

        assert run.answer() == "The draft is ready."
        assert "You shape what people see" in run.model.requests_of(DESIGNER)[1].system
        assert all(PERSONA in heading for heading in headings(run, 1))
        assert run.requests[-1].profile == "agent0"


def test_a_message_of_the_person_in_the_middle_reaches_the_specialist() -> None:
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
        assert "Make it blue" in run.model.requests_of(DESIGNER)[2].text("user")
        assert handed(run)["reply"]["observations"] == "In blue, as asked."
        assert kinds(run)[-1] == "done"


@pytest.mark.parametrize("last", [done(observations="Now in blue."), response("Now in blue.")])
def test_a_message_in_the_moment_of_the_hand_back_loses_no_note(last: dict[str, Any]) -> None:
    script = {
        "agent0": [hand_over(start=True), response("The draft is ready.")],
        DESIGNER: [ACCEPT, done(), last],
    }
    # `accept` is a handover_reply as well: the person speaks at the second.
    second = SPEAK.replace(
        "not agent.context.data",
        "'handed back' in kwargs['response'].message and not agent.context.data",
    )
    with start(script, files=probe("tool_execute_after", second)) as run:
        assert run.say("Please build the hero") == "The draft is ready."

        assert "One more thing: use blue" in run.model.requests_of(DESIGNER)[2].text("user")
        assert kinds(run)[-3:] == ["done", "reopened", "done"]
        assert "Now in blue." in json.dumps(handed(run)["reply"])
        assert NOTE["what_happened"] in json.dumps(handed(run)["reply"])
        assert NOTE["what_happened"] in briefing(run)
        assert "Now in blue." in briefing(run)


@pytest.mark.skipif(CHILDREN, reason="its chat is idle then, and the host starts a run of its own")
def test_a_message_right_after_the_specialists_run_leaves_the_note_with_the_orchestrator() -> None:
    script = {"agent0": [hand_over(start=True), response("Blue it is.")], DESIGNER: [done()]}
    with start(script, files=probe("_functions/agent/Agent/monologue/end", SPEAK)) as run:
        assert run.say("Please build the hero") == "Blue it is."

        assert "One more thing: use blue" in run.requests[-1].last
        assert NOTE["what_happened"] in tool_results(run, "handover_to_specialist")[0]
        assert kinds(run) == ["prepared", "delivered", "done"]


def test_a_specialist_that_just_responds_closes_its_handover() -> None:
    script = {
        "agent0": [hand_over(start=True), response("Fine.")],
        DESIGNER: [response("It is in index.html.")],
    }
    with start(script) as run:
        assert run.say("Please build the hero") == "Fine."

        reply = handed(run)["reply"]
        assert (reply["verdict"], reply["implicit"]) == ("done", True)
        assert "It is in index.html." in reply["what_happened"]
        assert kinds(run)[-1] == "done"
        assert [agent["agent_name"] for agent in run.agents()] == ["A0", "A1"]


@pytest.mark.parametrize("way", ["start", "call_subordinate"])
def test_a_specialist_whose_model_fails_closes_its_handover_as_failed(way: str) -> None:
    calls = [hand_over(start=True)] if way == "start" else [hand_over(), copied_step]
    broken = [Reply("no model today", status=500)] * 2
    script = {"agent0": [*calls, response("It failed.")], DESIGNER: broken}
    with start(script) as run:
        assert run.say("Please build the hero") == "It failed."

        assert kinds(run)[-1] == "failed"
        if way == "start":
            assert handed(run)["status"] == "failed"
            assert handed(run)["reply"]["verdict"] == "failed"
        else:
            assert "failed" in tool_results(run, "call_subordinate")[0]
        seen = (
            briefing(run)
            + json.dumps(ledger(run))
            + json.dumps(run.log_rows())
            + json.dumps(run.history())
        )
        assert "transferred" not in seen.lower()
        assert [agent["agent_name"] for agent in run.agents()] == ["A0", "A1"]


def test_a_secret_in_a_summary_stays_a_placeholder_everywhere() -> None:
    secret = "velvet-otter-4711"
    call = hand_over(summary="Log in with §§secret(SHOP_TOKEN).", start=True)
    back = done(observations="The token §§secret(SHOP_TOKEN) works.")
    script = {"agent0": [call, response("Fine.")], DESIGNER: [back]}
    with start(script, files={"usr/secrets.env": f"SHOP_TOKEN={secret}\n"}) as run:
        assert run.say("Please build the hero") == "Fine."

        assert "§§secret(SHOP_TOKEN)" in run.model.requests_of(DESIGNER)[0].last
        assert briefing(run).count("§§secret(SHOP_TOKEN)") == 2
        everything = [path.read_text("utf-8") for path in folder(run).rglob("*") if path.is_file()]
        everything += [
            run.chat_file.read_text("utf-8"),
            *(request.text() for request in run.requests),
        ]
        assert not [text for text in everything if secret in text]


def test_the_host_lists_the_plugin_and_the_orchestrator_reads_the_roster() -> None:
    with start({"agent0": [response("Hello.")]}) as run:
        assert run.say("Hello") == "Hello."

        listed = run.inside(LISTED)
        (plugin,) = listed["found"]
        assert plugin["has_readme"]
        assert plugin["has_license"]
        assert plugin["has_execute_script"]
        for page, shown in (("main.html", "has_main_screen"), ("config.html", "has_config_screen")):
            assert plugin[shown] == (live.REPOSITORY / "webui" / page).is_file()
        assert listed["config"]["max_context_tokens"] == 3000
        asked = run.requests[0]
        assert may_use(asked, "handover_to_specialist")
        prompt = asked.system[asked.system.find("### handover_to_specialist") :]
        if asked.native:
            prompt = json.dumps(asked.function("handover_to_specialist"), separators=(",", ":"))
        prompt = prompt[: prompt.index("- hacker: authorised penetration tests")]
        assert "- frontend_designer: UI, layout, CSS, accessibility" in prompt
        assert counter().count(prompt) <= (700 if asked.native else 421)
        assert "Error loading tool" not in run.host_log()


@pytest.mark.parametrize("way", ["start", "call_subordinate"])
def test_without_an_active_project_the_folder_named_in_the_call_is_used(
    way: str, tmp_path: Path
) -> None:
    call = hand_over(project_root=str(tmp_path), start=way == "start")
    steps = [call] if way == "start" else [call, copied_step]
    with live.start({"agent0": [*steps, response("Fine.")], DESIGNER: [ACCEPT, done()]}) as run:
        assert run.say("Please build the hero") == "Fine."

        assert [event["kind"] for event in events_in(tmp_path / ".a0proj/handover")][-2:] == [
            "done",
            "briefed",
        ]
        assert NOTE["what_happened"] in json.dumps(run.history())


def test_a_host_that_dies_between_verdict_and_return_loses_no_note() -> None:
    slow = probe("tool_execute_after", SLOW)
    script = {
        "agent0": [hand_over(start=True), response("The draft is ready.")],
        DESIGNER: [ACCEPT, done(), response("I am still here.")],
    }
    with start(script, files=slow) as run:
        run.send("Please build the hero")
        run.model.wait_until(lambda: folder(run).exists() and "done" in kinds(run), "the hand-back")
        run.settle(agents=2)

        run.restart()

        assert run.say("Are you there?") == "The draft is ready."
        note = tool_results(run, "handover_to_specialist" if CHILDREN else "call_subordinate")[0]
        assert NOTE["what_happened"] in note
        assert NOTE["observations"] in note
        assert kinds(run)[-1] == "done"


def test_a_stop_between_verdict_and_return_brings_the_note_to_the_orchestrator() -> None:
    slow = probe("tool_execute_after", SLOW)
    script = {
        "agent0": [hand_over(start=True), response("The draft is ready.")],
        DESIGNER: [done()],
    }
    with start(script, files=slow) as run:
        run.send("Please build the hero")
        run.model.wait_until(lambda: folder(run).exists() and "done" in kinds(run), "the hand-back")

        run.stop()

        assert run.wait(10).status == "cancelled"
        assert run.say("Well?") == "The draft is ready."
        assert NOTE["observations"] in run.requests[-1].text("user")
        assert kinds(run) == ["prepared", "delivered", "done"]
        assert [agent["agent_name"] for agent in run.agents()] == ["A0", "A1"]


def test_a_host_that_dies_under_two_specialists_goes_on_from_the_inner_one_up() -> None:
    waiting = held(response("never read"))
    down = hand_over(EXPLORER, goal="Find the tokens", start=True)
    script = {
        "agent0": [hand_over(start=True), *let_go_on(), copied_step, response("Reviewed.")],
        DESIGNER: [down, *let_go_on(), done(hand_to=REVIEWER)],
        EXPLORER: [ACCEPT, waiting, done(what_happened="Tokens are in theme.css.")],
        REVIEWER: [done(what_happened="Reviewed.")],
    }
    with start(script) as run:
        run.send("Please build the hero")
        run.model.wait_for(EXPLORER, turn=2)
        run.settle(agents=3)

        run.restart()

        assert run.say("Go on") == "Reviewed."
        down_again = [("agent0", 0), (DESIGNER, 1)] if CHILDREN else []
        assert [(r.profile, r.agent_number) for r in run.requests][4:] == [
            *down_again,
            (EXPLORER, 2),
            (DESIGNER, 1),
            ("agent0", 0),
            (REVIEWER, 1),
            ("agent0", 0),
        ]
        assert "Tokens are in theme.css." in run.model.requests_of(DESIGNER)[-1].last
        # Nobody awaited the designer's run any more: the next leg stood ready, with its call at the end of the note.
        assert "call_subordinate" in tool_results(run, "call_subordinate")[0]
        assert [move for move in moves(run) if move.endswith("done")] == [
            f"{who} done" for who in (EXPLORER, DESIGNER, REVIEWER)
        ]
        assert all("🔎 Codebase Explorer (A2)" in heading for heading in headings(run, 2))


def test_a_chat_that_is_removed_in_the_middle_cancels_its_handover() -> None:
    script = {"agent0": [hand_over(start=True)], DESIGNER: [ACCEPT, held(response("never read"))]}
    with start(script) as run:
        run.send("Please build the hero")
        run.model.wait_for(DESIGNER, turn=2)

        run.remove()

        assert kinds(run) == ["prepared", "delivered", "accepted", "cancelled"]
        assert not run.chat_file.exists()


def test_the_shipped_orchestrator_profile_hands_over_as_itself() -> None:
    orchestrator = "a0_software_orchestrator"
    script = {
        orchestrator: [hand_over(start=True), response("The draft is ready.")],
        DESIGNER: [done()],
    }
    with start(script, settings={"agent_profile": orchestrator}) as run:
        assert run.say("Please build the hero") == "The draft is ready."

        assert may_use(run.requests[0], "handover_to_specialist")
        assert {event["from"] for event in ledger(run) if event["kind"] == "prepared"} == {
            orchestrator
        }
        assert run.agents()[0]["profile"] == orchestrator


def test_a_specialist_reads_on_request_what_its_package_left_out() -> None:
    read = tool_call("request_full_history", reason="what did the person want", query="marzipan")
    script = {
        "agent0": [hand_over(start=True, include_recent_turns=0), response("The draft is ready.")],
        DESIGNER: [read, done()],
    }
    with start(script) as run:
        assert run.say("Please build the hero in marzipan") == "The draft is ready."

        package, answered = (request.last for request in run.model.requests_of(DESIGNER))
        assert "marzipan" not in package
        assert "Please build the hero in marzipan" in answered
        assert kinds(run) == ["prepared", "delivered", "accepted", "history_read", "done"]


def test_the_loop_runs_in_the_web_ui_and_its_pages_know_the_chain() -> None:
    project = {"title": "Demo", "description": "", "instructions": "", "color": "", "git_url": ""}
    files = {"usr/projects/demo/.a0proj/project.json": json.dumps(project)}

    def call(request: ChatRequest) -> dict[str, Any]:
        return hand_over(project_root=str(ui.root / "usr/projects/demo"), start=True)

    script = {"agent0": [call, response("The draft is ready.")], DESIGNER: [ACCEPT, done()]}
    with live.start_web_ui(script, files=files) as ui:
        answer = ui.api("message", {"text": "Please build the hero", "context": ""})

        assert answer["message"] == "The draft is ready."
        assert ui.model.faults == []
        rows = [
            row["heading"]
            for chat in ui.chats(answer["context"])
            for row in chat["log"]["logs"]
            if row["agentno"] == 1 and row["heading"]
        ]
        assert rows
        assert all(PERSONA in heading for heading in rows)

        listed = ui.api("plugins_list", {"filter": {"custom": True}})["plugins"]
        assert [plugin["display_name"] for plugin in listed] == ["Software Orchestrator"]
        (chain,) = ui.api("plugins/software_orchestrator/audit", {"action": "chains"})["chains"]
        assert DESIGNER in chain["agents"]
        assert "max_context_tokens" in json.dumps(
            ui.api("plugins/software_orchestrator/settings", {"action": "view"})
        )
        check_up = ui.api(
            "plugins", {"action": "run_execute_script", "plugin_name": "software_orchestrator"}
        )
        assert check_up["exit_code"] == 0, check_up


def test_a_chat_made_from_a_copy_holds_no_handover_of_the_other_chat() -> None:
    ask = tool_call("handover_reply", verdict="clarify", missing=["audience"])
    script = {
        "agent0": [hand_over(start=True), response("For whom?"), response("A new chat.")],
        DESIGNER: [ask, response("A new chat.")],
    }
    with start(script) as run:
        assert run.say("Please build the hero") == "For whom?"
        specialist = run.agents()[-1]
        assert specialist["data"]["software_orchestrator"]["handover_id"]

        copied = run.inside(COPIED, chat=specialist["chat"])

        assert copied["answer"] == "A new chat."
        assert copied["held"]
        assert not any(copied["held"])
        assert any("belongs to another chat" in heading for heading in copied["headings"])
        assert kinds(run) == ["prepared", "delivered", "clarify"]


def test_what_is_recorded_takes_one_line_of_the_files_in_a_prompt() -> None:
    script = {"agent0": [hand_over(), response("Prepared."), response("Hello.")]}
    with start(script) as run:
        assert run.say("Prepare the hero") == "Prepared."
        assert run.say("Hello again") == "Hello."

        first, last = run.requests[0].text(), run.requests[-1].text()
        assert ".a0proj/" in first
        assert last.count("handover/") > first.count("handover/")
        assert ".jsonl" not in last.rpartition("## file tree")[2]
        assert ".lock" not in last.rpartition("## file tree")[2]


def test_the_hosts_greeting_is_no_turn() -> None:
    script = {"agent0": [hand_over(start=True), response("ok")], DESIGNER: [done()]}
    with start(script) as run:
        assert run.say("Please build the hero") == "ok"

        (asked,) = run.model.requests_of(DESIGNER)
        package = asked.text("user")
        assert "Please build the hero" in package
        assert "I'm **Agent Zero**" not in package
        (log,) = run.root.glob("usr/chats/*/software_orchestrator_history.jsonl")
        assert "Please build the hero" in log.read_text("utf-8").splitlines()[0]

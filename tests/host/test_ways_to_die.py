"""Every way a specialist's run may end, and what is left then: nothing open for ever, no note lost, the persona gone."""

import shutil

import pytest
from host_double.handover_kit import (
    NOTE,
    agents,
    call,
    done,
    extras,
    hand_over,
    kinds,
    next_call,
    of_kind,
    respond,
    result_of,
    states,
)


def persona_is_gone(host):
    return all(agent.agent_name == f"A{agent.number}" for agent in agents(host))


def boom():
    raise RuntimeError("the model is gone")


def test_a_run_that_breaks_is_failed_and_nowhere_done(any_host):
    host = any_host
    folder = host.project("acme")
    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [call("handover_reply", verdict="accept"), boom, boom],
        }
    )
    assert host.say("Please build the hero") == "ok"
    found = result_of(host)
    assert found["status"] == "failed"
    assert found["reply"]["verdict"] == "failed"
    assert "the model is gone" in found["reply"]["reason"]
    assert states(folder) == {"frontend_designer": "failed"}
    assert "done" not in kinds(folder)
    assert persona_is_gone(host)
    assert host.context.streaming_agent in (host.agent0, None)
    assert any("failed" in row["heading"] for row in host.rows(type="info"))


def test_a_run_that_breaks_under_call_subordinate_is_failed_too(any_host):
    host = any_host
    folder = host.project("acme")
    host.script(
        {
            "agent0": [hand_over(), lambda: next_call(result_of(host)["next_step"]), respond("ok")],
            "frontend_designer": [boom, boom],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert "the model is gone" in host.tool_results("call_subordinate")[-1]["tool_result"]
    assert states(folder) == {"frontend_designer": "failed"}
    assert persona_is_gone(host)


def test_a_profile_whose_folder_is_gone_fails_before_anything_runs(host):
    folder = host.project("acme")
    shutil.rmtree(host.root / "usr/plugins/software_orchestrator/agents/frontend_designer")
    host.forget_caches()
    prepare = hand_over(decisions=["again"])
    start = [prepare, lambda: next_call(result_of(host)["next_step"])]
    host.script({"agent0": [hand_over(start=True), *start, respond("ok")]})
    assert host.say("Please build the hero") == "ok"
    assert result_of(host, number=0)["status"] == "failed"
    assert "no profile frontend_designer" in result_of(host, number=0)["reply"]["reason"]
    assert "transferred" not in str(host.tool_results("handover_to_specialist"))
    assert "delivered" not in kinds(folder)
    assert "no profile frontend_designer" in host.warnings()[-1]
    marks = host.tool_results("handover_to_specialist")[0]
    assert (marks["error"], marks["error_code"]) == (True, "start_failed")


def test_a_profile_that_is_gone_leaves_a_prepared_handover_to_be_started_later(host):
    folder = host.project("acme")
    home = host.root / "usr/plugins/software_orchestrator/agents/frontend_designer"
    away = host.root / "usr/away"

    def gone():
        home.rename(away)
        host.forget_caches()
        return next_call(result_of(host)["next_step"])

    def back():
        away.rename(home)
        host.forget_caches()
        return next_call(result_of(host)["next_step"])

    host.script({"agent0": [hand_over(), gone, respond("no")]})
    assert host.say("Please build the hero") == "no"
    assert states(folder) == {"frontend_designer": "prepared"}
    host.script({"agent0": [back, respond("ok")], "frontend_designer": [done()]})
    assert host.say("It is there now") == "ok"
    assert [event["data"]["code"] for event in of_kind(folder, "refused")] == ["start_failed"]
    assert states(folder) == {"frontend_designer": "done"}
    assert any("can be started later (start_failed)" in text for text in host.warnings())


def test_a_stop_interrupts_and_the_next_message_lets_the_work_come_to_its_end(any_host):
    host = any_host
    folder = host.project("acme")
    host.script(
        {
            "agent0": [hand_over(start=True)],
            "frontend_designer": [call("handover_reply", verdict="accept"), lambda: host.cancel()],
        }
    )
    task = host.say("Please build the hero", wait=False)
    host.settle()
    assert task is not None
    assert states(folder) == {"frontend_designer": "interrupted"}
    host.script(
        {"agent0": [lambda: next_call(extras(host)), respond("ok")], "frontend_designer": [done()]}
    )
    assert host.say("Go on please") == "ok"
    assert states(folder) == {"frontend_designer": "done"}
    assert persona_is_gone(host)
    assert "Hero drafted" in str(host.contents())
    assert len([agent for agent in agents(host) if agent.number == 1]) == 1


def test_work_whose_agent_is_gone_is_cancelled_at_the_next_use(host):
    folder = host.project("acme")
    host.script({"agent0": [hand_over(start=True)], "frontend_designer": [lambda: host.cancel()]})
    host.say("Please build the hero", wait=False)
    host.settle()
    gone = host.subordinate()
    gone.data.pop("software_orchestrator")
    host.agent0.data.pop("_subordinate", None)
    host.context.streaming_agent = None
    host.script({"agent0": [respond("ok")]})
    host.say("What stands?")
    assert states(folder) == {"frontend_designer": "cancelled"}


@pytest.mark.parametrize("who", ["specialist", "orchestrator"])
def test_a_nudge_goes_on_with_whoever_it_reaches(any_host, who):
    host = any_host
    folder = host.project("acme")

    def nudge(agent):
        if who == "orchestrator":
            agent.context.streaming_agent = None
        host.nudge()

    host.script(
        {
            "agent0": [hand_over(start=True)],
            "frontend_designer": [call("handover_reply", verdict="accept"), nudge],
        }
    )
    goes_on_by_itself = who == "specialist" and not (host.root / "tools/parallel.py").exists()
    first = [] if goes_on_by_itself else [lambda: next_call(extras(host))]
    host.script({"frontend_designer": [done()], "agent0": [*first, respond("ok")]})
    host.say("Please build the hero", wait=False)
    host.settle()
    assert states(folder) == {"frontend_designer": "done"}
    assert "interrupted" in kinds(folder)
    assert persona_is_gone(host)
    assert host.context.data["software_orchestrator"]["person"]["count"] == 1


@pytest.mark.parametrize("way", ["reset", "remove"])
def test_a_chat_that_is_reset_or_removed_leaves_nothing_open(any_host, way):
    host = any_host
    folder = host.project("acme")

    def end(agent):
        from agent import AgentContext

        if way == "reset":
            host.reset()
        else:
            AgentContext.remove(host.context.id)

    host.script(
        {
            "agent0": [hand_over(start=True)],
            "frontend_designer": [call("handover_reply", verdict="accept"), end],
        }
    )
    host.say("Please build the hero", wait=False)
    host.settle()
    assert states(folder) == {"frontend_designer": "cancelled"}
    if way == "reset":
        host.script(
            {"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [done()]}
        )
        assert host.say("Once more") == "ok"
        assert states(folder) == {"frontend_designer": "done"}


def test_a_message_in_the_middle_reaches_the_linear_specialist_and_the_work_stays_its(host):
    folder = host.project("acme")
    read = []

    def look(agent):
        read.extend(map(str, host.contents(agent)))
        return done()

    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [
                call("handover_reply", verdict="accept"),
                lambda: host.interrupt("Make it blue") or respond("never read"),
                look,
            ],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert any("Make it blue" in text for text in read)
    assert [kind for kind in kinds(folder) if kind != "briefed"] == [
        "prepared",
        "delivered",
        "accepted",
        "interrupted",
        "done",
    ]


@pytest.mark.parametrize(
    ("verdict", "moment", "then"),
    [
        ("done", "in execute", "response"),
        ("done", "tool_execute_after", "reply"),
        ("done", "hist_add_tool_result", "response"),
        ("clarify", "in execute", "reply"),
        ("clarify", "hist_add_tool_result", "response"),
        ("escalate", "tool_execute_after", "response"),
        ("escalate", "hist_add_tool_result", "reply"),
    ],
)
def test_a_message_in_the_moment_of_the_hand_back_loses_no_note_and_the_last_verdict_counts(
    host, verdict, moment, then
):
    folder = host.project("acme")
    first = {
        **NOTE,
        "verdict": verdict,
        "what_happened": "First note.",
        "missing": ["x"],
        "reason": "why",
    }
    last = done(what_happened="Second note.") if then == "reply" else respond("Also made it blue.")

    def speak(agent, **_):
        if agent.number == 1 and agent.config.profile == "frontend_designer":
            host.interrupt("Make it blue")

    def reply_now(agent):
        if moment == "in execute":
            host.at("tool_execute_before", speak, times=1, tool_name="handover_reply")
        elif moment == "tool_execute_after":
            host.at("tool_execute_after", speak, times=1, tool_name="handover_reply")
        else:
            host.at("hist_add_tool_result", speak, times=1, profile="frontend_designer")
        return call("handover_reply", **first)

    host.script(
        {"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [reply_now, last]}
    )
    assert host.say("Please build the hero") == "ok"
    found = result_of(host)
    assert states(folder) == {"frontend_designer": "done"}
    assert found["reply"]["verdict"] == "done"
    told = found["reply"]["what_happened"]
    assert (
        ("Second note." in told)
        if then == "reply"
        else ("Also made it blue." in told and "First note." in told)
    )
    assert of_kind(folder, "done")[-1]["data"]["note"]["observations"] == NOTE["observations"]
    assert any(
        "First note." in e["data"]["note"]["what_happened"]
        for kind in ("done", "clarify", "escalated")
        for e in of_kind(folder, kind)
    )
    assert persona_is_gone(host)


@pytest.mark.parametrize("started_by", ["start", "call_subordinate"])
def test_a_superior_that_is_interrupted_right_after_the_hand_back_still_reads_the_note(
    any_host, started_by
):
    host = any_host
    host.project("acme")
    tool = "handover_to_specialist" if started_by == "start" else "call_subordinate"

    def speak(agent, **_):
        agent.intervention = host_message("Wait")

    def host_message(text):
        from agent import UserMessage

        return UserMessage(message=text, attachments=[])

    host.at(
        "_functions/agent/Agent/monologue/end",
        lambda agent, **_: speak(host.agent0),
        times=1,
        profile="frontend_designer",
    )
    steps = (
        [hand_over(start=True)]
        if started_by == "start"
        else [hand_over(), lambda: next_call(result_of(host)["next_step"])]
    )
    host.script({"agent0": [*steps, respond("ok")], "frontend_designer": [done()]})
    assert host.say("Please build the hero") == "ok"
    assert "Hero drafted" in str(host.tool_results(tool)[-1]["tool_result"])


def test_a_message_that_comes_too_late_for_the_specialist_reaches_its_superior(host):
    host.project("acme")

    def late(agent, **_):
        from agent import UserMessage

        agent.intervention = UserMessage(message="And make it blue", attachments=[])

    host.at("_functions/agent/Agent/monologue/end", late, times=1, profile="frontend_designer")
    host.script({"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [done()]})
    assert host.say("Please build the hero") == "ok"
    assert "And make it blue" in str(host.contents())
    assert "Hero drafted" in str(host.contents())


def test_settings_saved_in_the_middle_leave_the_specialist_the_specialist(any_host):
    host = any_host
    folder = host.project("acme")
    seen = []

    def save(agent):
        host.save_settings()
        return hand_over("quality_reviewer", topic="x", goal="Review the draft", start=True)

    def look(agent):
        seen.append((agent.config.profile, agent.agent_name))
        return done()

    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [save, look],
            "quality_reviewer": [done()],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert seen == [("frontend_designer", "🖌️ Frontend Designer (A1)")]
    assert [event["from"] for event in of_kind(folder, "prepared")] == [
        "a0_software_orchestrator",
        "frontend_designer",
    ]
    assert host.agent0.agent_name == "A0"


def test_settings_that_become_unreadable_in_the_middle_end_no_chat(host):
    folder = host.project("acme")
    config = host.root / "usr/plugins/software_orchestrator/config.json"

    def spoil(agent):
        config.write_text("{ not json", "utf-8")
        return call("handover_reply", verdict="accept")

    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [spoil, respond("I am done.")],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert "I am done." in str(host.tool_results("handover_to_specialist")[-1])
    assert persona_is_gone(host)
    config.unlink()
    host.script({"agent0": [respond("well")]})
    host.say("What stands?")
    assert states(folder)["frontend_designer"] in ("done", "cancelled")


def test_a_specialist_taken_out_of_the_roster_may_finish(host):
    import json

    folder = host.project("acme")

    def drop(agent):
        config = host.root / "usr/plugins/software_orchestrator/config.json"
        config.write_text(
            json.dumps({"roster": {"quality_reviewer": {"can_handoff_to": []}}}), "utf-8"
        )
        return call("handover_reply", verdict="accept")

    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [drop, done(outcome="partial")],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert states(folder) == {"frontend_designer": "done"}
    assert result_of(host)["reply"]["outcome"] == "partial"


@pytest.mark.parametrize("what", ["link", "file", "directory for a ledger"])
def test_a_hostile_handover_folder_ends_no_chat(host, what, tmp_path):
    folder = host.project("acme")
    place = folder / ".a0proj/handover"
    place.parent.mkdir(exist_ok=True)
    if what == "link":
        (tmp_path / "elsewhere").mkdir()
        place.symlink_to(tmp_path / "elsewhere")
    elif what == "file":
        place.write_text("mine")
    else:
        (place / "chains/x.jsonl").mkdir(parents=True)
    host.script({"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [done()]})
    assert host.say("Please build the hero") == "ok"
    answer = host.tool_results("handover_to_specialist")[-1]
    assert what == "directory for a ledger" or answer["error_code"] == "path_unsafe"


def test_a_branched_chat_drops_the_binding_and_says_so(any_tree):
    with any_tree.enter() as host:
        folder = host.project("acme")
        host.script(
            {
                "agent0": [hand_over(start=True)],
                "frontend_designer": [
                    call("handover_reply", verdict="accept"),
                    lambda: host.cancel(),
                ],
            }
        )
        host.say("Please build the hero", wait=False)
        host.settle()
        holder = next(agent for agent in agents(host) if agent.number == 1)
        from helpers import persist_chat

        branched = host.chat(
            persist_chat.load_json_chats([persist_chat.export_json_chat(holder.context)])[0]
        )
        branched.output_data = {}
        speaker = next(
            agent
            for agent in (branched.agent0, branched.agent0.data.get("_subordinate"))
            if agent and agent.number == 1
        )
        before = kinds(folder)
        branched.streaming_agent = speaker
        host.script({"A1": [respond("going on")], "A0": [respond("ok")]})
        host.say("Go on", chat=branched)
        assert kinds(folder) == before
        assert "software_orchestrator" not in speaker.data
        assert any("belongs to another chat" in row["heading"] for row in host.rows(branched))


NOTHING = (
    "§§handover(ho-0123456789abcdef)", "§§handover(ho-123)", "§§handover()", "§§handover(the designer)",
)  # fmt: skip


@pytest.mark.parametrize("other_chat", [False, True], ids=["closed", "of another chat"])
def test_a_reference_to_nothing_is_a_clear_error_and_nothing_runs(host, other_chat):
    chat = host.context
    prepared_in = host.new_chat() if other_chat else chat
    folder = host.project("acme")
    host.project("acme", chat=prepared_in)
    host.script({"agent0": [hand_over(start=not other_chat), respond("ok")]})
    host.script({"frontend_designer": [done()]})
    host.say("Please build the hero", chat=prepared_in)
    known = f"§§handover({of_kind(folder, 'prepared')[0]['handover']})"
    before = kinds(folder)
    for message in (*NOTHING, known):
        refer = call("call_subordinate", profile="developer", message=message, reset="true")
        host.script({"agent0": [refer, respond(f"well, {message}")]})
        host.say("Go on", chat=chat)
        assert "ERROR" in host.warnings()[-1], message
    assert len(host.warnings()) == len(NOTHING) + 1
    assert kinds(folder) == before
    assert not [asked for asked in host.model_calls if "developer" in asked["names"]]


def test_two_chats_at_once_have_their_own_depth_and_hops(host):
    chats = [host.new_chat(), host.new_chat()]
    folder = host.project("acme", chat=chats[0])
    host.project("acme", chat=chats[1])
    host.script(
        {
            "agent0": [hand_over(start=True), hand_over(start=True), respond("ok"), respond("ok")],
            "frontend_designer": [done(), done()],
        }
    )
    for chat in chats:
        host.say("Please build the hero", chat=chat, wait=False)
    for chat in chats:
        host.wait(chat)
    assert sorted((e["hop"], e["depth"]) for e in of_kind(folder, "prepared")) == [(1, 0), (1, 0)]
    assert len({e["chain"] for e in of_kind(folder, "done")}) == 2


@pytest.mark.parametrize("reply", ["handover_reply", "response"])
def test_a_disk_that_is_full_from_the_middle_on_ends_no_chat_and_the_superior_reads_what_was_said(
    host, monkeypatch, reply
):
    folder = host.project("acme")

    def fill(agent):
        from usr.plugins.software_orchestrator.helpers.records import ledger
        from usr.plugins.software_orchestrator.helpers.values.errors import RecordError

        def full(*_, **__):
            raise RecordError("failed to append briefing file: no space left on device")

        monkeypatch.setattr(ledger.Ledger, "append", full)
        return done() if reply == "handover_reply" else None

    last = respond("Hero drafted, but the disk is full.")
    host.script(
        {"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [fill, last]}
    )
    assert host.say("Please build the hero") == "ok"
    assert "Hero drafted, but the disk is full." in str(
        host.tool_results("handover_to_specialist")[-1]
    )
    assert "no space left" in str([row["content"] for row in host.rows(type="warning")]) + str(
        host.contents()
    )
    assert persona_is_gone(host)
    assert states(folder) == {"frontend_designer": "delivered"}
    monkeypatch.undo()
    host.script({"agent0": [respond("well")]})
    host.say("What stands?")
    assert states(folder) == {"frontend_designer": "done"}

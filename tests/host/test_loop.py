"""The whole loop inside the host, in both shapes: hand over, accept, hand back, hand on."""

import json

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


def test_started_specialist_accepts_works_and_its_note_comes_back(any_host):
    host = any_host
    folder = host.project("acme")
    host.script(
        {
            "agent0": [hand_over(start=True), respond("The draft is ready.")],
            "frontend_designer": [
                call("handover_reply", verdict="accept"),
                call("handover_reply", verdict="done", **NOTE),
            ],
        }
    )
    assert host.say("Please build the hero") == "The draft is ready."
    found = result_of(host)
    assert found["status"] == "ok"
    assert found["reply"]["verdict"] == "done"
    assert found["reply"]["what_happened"] == NOTE["what_happened"]
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


def test_a_specialist_that_just_ends_closes_its_handover(any_host):
    host = any_host
    folder = host.project("acme")
    last = respond("It is done: index.html.")
    host.script({"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": last})
    host.say("Please build the hero")
    assert kinds(folder)[-2] == "done"


def holders(folder):
    return [(e["from"], e["to"], e["hop"], e["depth"]) for e in of_kind(folder, "prepared")]


def test_the_work_moves_on_leg_by_leg_and_the_last_note_comes_back(any_host):
    host = any_host
    folder = host.project("acme")
    names = []
    host.at(
        "before_main_llm_call", lambda agent, **_: names.append((agent.number, agent.agent_name))
    )
    host.script(
        {
            "agent0": [
                hand_over(
                    start=True,
                    state={"ticket": "A-1", "budget_eur": 0, "vat_id": {"status": "declined"}},
                ),
                respond("ok"),
            ],
            "frontend_designer": [done(hand_to="quality reviewer", decisions=["AVIF first"])],
            "quality_reviewer": [
                done(
                    what_happened="Two findings.",
                    hand_to="implementation_engineer",
                    state={"vat_id": ""},
                )
            ],
            "implementation_engineer": [done(what_happened="Both are mended.")],
        }
    )
    assert host.say("Please build the hero, and do not ask for the VAT id") == "ok"
    assert holders(folder) == [
        ("a0_software_orchestrator", "frontend_designer", 1, 0),
        ("frontend_designer", "quality_reviewer", 2, 0),
        ("quality_reviewer", "implementation_engineer", 3, 0),
    ]
    found = result_of(host)
    assert found["reply"]["what_happened"] == "Both are mended."
    assert [leg["specialist"] for leg in found["reply"]["legs"]] == [
        "frontend_designer",
        "quality_reviewer",
        "implementation_engineer",
    ]
    packet = of_kind(folder, "done")[-1]["data"]["packet"]
    assert [(f["field"], f["status"], f["value"]) for f in packet["state"]] == [
        ("ticket", "answered", "A-1"), ("budget_eur", "answered", 0), ("vat_id", "declined", None),
    ]  # fmt: skip
    assert "Two findings." in texts_sent(host, "implementation_engineer")
    assert "AVIF first" in texts_sent(host, "implementation_engineer")
    assert {number for number, _ in names} == {0, 1}
    assert [name for number, name in names if number] == [
        "🖌️ Frontend Designer (A1)",
        "🧐 Quality Reviewer (A1)",
        "🛠️ Implementation Engineer (A1)",
    ]
    assert (host.agent0.agent_name, host.agent0.config.profile) == ("A0", "agent0")


def test_under_call_subordinate_the_note_ends_with_the_next_leg_ready_to_copy(any_host):
    host = any_host
    folder = host.project("acme")
    host.script(
        {
            "agent0": [
                hand_over(),
                lambda: next_call(result_of(host)["next_step"]),
                lambda: next_call(host.tool_results("call_subordinate")[-1]["tool_result"]),
                respond("ok"),
            ],
            "frontend_designer": [done(hand_to="quality_reviewer")],
            "quality_reviewer": [done(what_happened="Reviewed.")],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert states(folder) == {"frontend_designer": "done", "quality_reviewer": "done"}
    assert (
        of_kind(folder, "prepared")[1]["data"]["continues"]
        == of_kind(folder, "prepared")[0]["handover"]
    )


def test_two_specialists_that_pass_it_back_and_forth_without_news_are_stopped(host):
    folder = host.project("acme")
    same = {"what_happened": "Please look.", "observations": "-"}
    host.script(
        {
            "agent0": [hand_over(start=True), respond("stuck")],
            "frontend_designer": [
                done(hand_to="quality_reviewer", **same),
                done(hand_to="quality_reviewer", **same),
            ],
            "quality_reviewer": [
                done(hand_to="frontend_designer", **same),
                done(hand_to="frontend_designer", **same),
            ],
        }
    )
    assert host.say("Please build the hero") == "stuck"
    assert len(of_kind(folder, "prepared")) <= 4
    why = of_kind(folder, "escalated")[0]["data"]["why"]
    assert "frontend_designer > quality_reviewer > frontend_designer" in why
    assert any(
        "frontend_designer &gt; quality_reviewer" in note["message"]
        for note in host.notifications()
    )  # it shows HTML
    assert "not_handed_on" in result_of(host)["reply"]
    assert "ask the person" in result_of(host)["next_step"]
    assert (
        host.tool("handover_to_specialist", **hand_over("release_auditor")["tool_args"]).additional[
            "error_code"
        ]
        == "stopped"
    )


def test_review_and_fix_may_go_back_and_forth_up_to_the_cap_and_no_further(host):
    folder = host.project("acme")
    (host.root / "usr/plugins/software_orchestrator/config.json").write_text(
        json.dumps({"max_handovers_per_chain": 4}), "utf-8"
    )
    rounds = iter(range(100))

    def move(receiver):
        return lambda: done(
            hand_to=receiver,
            what_happened=f"Round {next(rounds)}.",
            decisions=[f"Decision {next(rounds)}"],
        )

    host.script(
        {
            "agent0": [hand_over(start=True), respond("stuck")],
            "frontend_designer": [move("quality_reviewer")] * 3,
            "quality_reviewer": [move("frontend_designer")] * 3,
        }
    )
    assert host.say("Please build the hero") == "stuck"
    assert [e["hop"] for e in of_kind(folder, "prepared")] == [1, 2, 3, 4]
    assert "max_handovers_per_chain 4" in of_kind(folder, "escalated")[0]["data"]["why"]
    assert "ask the person" in result_of(host)["next_step"]
    host.script(
        {
            "agent0": [hand_over("release_auditor", goal="Look", start=True), respond("well")],
            "release_auditor": [done()],
        }
    )
    assert host.say("Once more") == "well"
    assert of_kind(folder, "prepared")[-1]["hop"] == 5
    assert states(folder)["release_auditor"] == "done"


def test_handovers_go_down_to_depth_three_and_no_deeper(any_host):
    host = any_host
    folder = host.project("acme")

    def down(receiver, goal):
        return hand_over(
            receiver,
            topic=f"part {goal}",
            goal=goal,
            project_root="relative/and/ignored",
            start=True,
        )

    deepest = []
    host.script(
        {
            "agent0": [hand_over("solution_architect", start=True), respond("ok")],
            "solution_architect": [down("implementation_engineer", "Build"), done()],
            "implementation_engineer": [down("test_debug_engineer", "Test"), done()],
            "test_debug_engineer": [
                down("quality_reviewer", "Review"),
                lambda agent: (
                    deepest.append(host.tool_results("handover_to_specialist", agent)[-1])
                    or done(what_happened="Deep.")
                ),
            ],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert [(e["to"], e["depth"], e["hop"]) for e in of_kind(folder, "prepared")] == [
        ("solution_architect", 0, 1), ("implementation_engineer", 1, 2), ("test_debug_engineer", 2, 3),
    ]  # fmt: skip
    assert deepest[0]["error_code"] == "depth"
    assert "implementation_engineer > test_debug_engineer" in deepest[0]["tool_result"]
    assert set(states(folder).values()) == {"done"}
    assert len({e["chain"] for e in ledger(folder) if e["kind"] == "prepared"}) == 1
    assert host.context.streaming_agent in (None, host.agent0)
    assert host.agent0.agent_name == "A0"


def test_another_specialist_without_reset_runs_as_itself(any_host):
    host = any_host
    folder = host.project("acme")

    def copied_without_reset():
        step = next_call(result_of(host)["next_step"])
        step["tool_args"].pop("reset")
        step["tool_args"]["profile"] = "frontend_designer"
        return step

    seen = []
    host.script(
        {
            "agent0": [
                hand_over(start=True),
                hand_over("quality_reviewer", topic="other"),
                copied_without_reset,
                respond("ok"),
            ],
            "frontend_designer": [done()],
            "quality_reviewer": [
                lambda agent: seen.append((agent.config.profile, agent.agent_name)) or done()
            ],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert seen == [("quality_reviewer", "🧐 Quality Reviewer (A1)")]
    assert states(folder) == {"frontend_designer": "done", "quality_reviewer": "done"}


def test_artifacts_are_compared_between_prepare_and_delivery(host):
    folder = host.project("acme")
    for name in ("same.css", "changed.css", "gone.css"):
        (folder / name).write_text("a")

    def change():
        (folder / "changed.css").write_text("b")
        (folder / "gone.css").unlink()
        return next_call(result_of(host)["next_step"])

    host.script(
        {
            "agent0": [
                hand_over(artifacts=["same.css", "changed.css", "gone.css", "../../outside.css"]),
                change,
                respond("ok"),
            ],
            "frontend_designer": [done()],
        }
    )
    assert host.say("Please build the hero") == "ok"
    status = of_kind(folder, "delivered")[0]["data"]["artifacts"]
    assert status == {
        "same.css": "unchanged",
        "changed.css": "changed",
        "gone.css": "gone",
        "../../outside.css": "outside",
    }
    text = texts_sent(host, "frontend_designer")
    assert "CHANGED" in text
    assert "GONE" in text
    assert "OUTSIDE" in text


def test_the_same_call_again_starts_nothing_and_one_with_start_starts_what_was_prepared(host):
    folder = host.project("acme")
    again = []

    def repeat(agent):
        again.append(host.tool_results("handover_to_specialist")[-1])
        return done()

    host.script(
        {
            "agent0": [
                hand_over(),
                hand_over(max_context_tokens=999),
                hand_over(start=True, max_context_tokens=1234),
                respond("ok"),
            ],
            "frontend_designer": [repeat],
        }
    )
    assert host.say("Please build the hero") == "ok"
    told = json.loads(again[0]["tool_result"])["package"]
    assert (told["repeated"], told["max_context_tokens"]) == (True, 3000)
    assert result_of(host)["package"]["max_context_tokens"] == 3000
    assert of_kind(folder, "delivered")[0]["data"]["limit"] == 3000
    assert (
        of_kind(folder, "delivered")[0]["data"]["tokens"]
        == result_of(host)["package"]["delivered_tokens"]
    )
    assert len(of_kind(folder, "prepared")) == 1
    assert states(folder) == {"frontend_designer": "done"}


def test_the_specialist_reads_the_history_before_it_hands_back(any_host):
    host = any_host
    folder = host.project("acme")
    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [
                call("request_full_history", reason="why grid", query="hero"),
                done(),
            ],
        }
    )
    assert host.say("Please build the hero with a grid") == "ok"
    assert [k for k in kinds(folder) if k != "briefed"] == [
        "prepared",
        "delivered",
        "accepted",
        "history_read",
        "done",
    ]
    nothing = host.tool("request_full_history", reason="x")
    assert nothing.error
    assert nothing.additional["error_code"] == "nothing_open"


def test_a_specialist_cannot_start_what_its_superior_prepared(host):
    folder = host.project("acme")
    step, answers = {}, []

    def prepared():
        step.update(next_call(result_of(host)["next_step"]))
        return hand_over("solution_architect", topic="other", start=True)

    host.script(
        {
            "agent0": [hand_over(), prepared, respond("ok")],
            "solution_architect": [
                lambda: dict(step),
                lambda agent: answers.append(host.warnings(agent)) or done(),
            ],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert "not yours to start" in answers[0][-1]
    assert states(folder) == {"frontend_designer": "prepared", "solution_architect": "done"}


def test_a_helper_of_a_specialist_hands_nothing_over_past_its_depth_and_authority(any_host):
    host = any_host
    folder = host.project("acme")
    answers = []
    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [
                call("call_subordinate", profile="developer", message="Help me.", reset="true"),
                done(),
            ],
            "developer": [
                hand_over("release_auditor", topic="free", start=True),
                lambda agent: (
                    answers.append(host.tool_results("handover_to_specialist", agent)[-1])
                    or respond("no")
                ),
            ],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert answers[0]["error_code"] == "graph"
    assert "frontend_designer does" in answers[0]["tool_result"]
    assert states(folder) == {"frontend_designer": "done"}


def test_messages_that_could_not_be_kept_are_a_gap_in_the_log(host):
    host.script({"agent0": [respond("one"), respond("two"), respond("three")]})
    host.say("first")
    log = next(host.root.rglob("software_orchestrator_history.jsonl"))
    so_far = log.read_bytes()
    log.unlink()
    log.mkdir()

    host.say("second")
    log.rmdir()
    log.write_bytes(so_far)
    host.say("third")

    later = log.read_text().removeprefix(so_far.decode())
    assert "messages are missing here" in later.splitlines()[0]
    assert later.count("missing here") == 1
    assert "second" not in later
    assert "third" in later

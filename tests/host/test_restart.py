"""The host is killed between any two steps of the loop, and what is left on the disk goes on."""

import json
import shutil

import pytest
from host_double.assemble import SHAPES, assemble
from host_double.handover_kit import (
    NOTE,
    agents,
    call,
    done,
    extras,
    hand_over,
    kinds,
    ledger,
    next_call,
    of_kind,
    respond,
    result_of,
    states,
)

TOP = [hand_over(start=True, state={"ticket": "A-1"}), respond("The end.")]
PART = hand_over("quality_reviewer", topic="something else", goal="Review the draft", start=True)


def specialist():
    return [
        call("handover_reply", verdict="accept"),
        PART,
        done(what_happened="Designer is done.", decisions=["AVIF first"]),
    ]


def on_disk(host, folder):
    """What a restart depends on: the records, and who speaks and holds what in the saved chats."""
    chats = []
    for path in sorted((host.root / "usr/chats").glob("*/chat.json")):
        saved = json.loads(path.read_text("utf-8"))
        held = [str(agent["data"].get("software_orchestrator")) for agent in saved["agents"]]
        chats.append((path.parent.name, saved["streaming_agent"], *held))
    sizes = [path.stat().st_size for path in sorted((folder / ".a0proj/handover").glob("*.md"))]
    return (*kinds(folder), *sizes, *chats)


def walk(tmp_path, shape):
    """Plays the loop once; at every extension point where the disk differs from what it was before, a copy of it is kept."""
    tree = assemble(tmp_path / "walk", shape=shape)
    taken = {}
    with tree.enter() as host:
        folder = host.project("acme")

        def look(agent, point="", **_):
            if (now := on_disk(host, folder)) not in taken:
                taken[now] = (
                    (len(taken), point, getattr(agent, "agent_name", "")),
                    tree.snapshot(tmp_path / f"at-{len(taken)}"),
                )

        host.script(
            {
                "agent0": TOP,
                "frontend_designer": specialist(),
                "quality_reviewer": [done(what_happened="Reviewed.")],
            }
        )
        host.at("*", look)
        assert host.say("Please build the hero") == "The end."
        assert states(folder) == {"frontend_designer": "done", "quality_reviewer": "done"}
    return tree, [one for one in taken.values() if list(one[1].root.glob("usr/chats/*/chat.json"))]


def put_back(tree, kept):
    """The kept disk in the place where it was: bindings and settings hold absolute paths."""
    shutil.rmtree(tree.root)
    return kept.snapshot(tree.root)


def go_on(tree, folder_name="acme"):
    """After the restart: the person writes, and whoever is asked behaves as the prompt in front of it suggests."""
    with tree.enter() as host:
        host.load_chats()
        folder = host.root / "usr/projects" / folder_name
        before = ledger(folder)
        names = []

        def orchestrator():
            text = extras(host)
            return next_call(text) if "§§handover(" in text else respond(f"The end {len(names)}.")

        def worker(agent):
            names.append((agent.agent_name, agent.config.profile))
            return done(what_happened=f"{agent.config.profile} finished after the restart.")

        host.script(
            {
                "agent0": [orchestrator] * 6,
                "default": [orchestrator] * 6,
                "frontend_designer": [worker] * 6,
                "quality_reviewer": [worker] * 6,
            }
        )
        said = host.say("Please go on")
        host.settle()
        return host, folder, before, names, said, host.agent0.agent_name, texts(host)


def texts(host):
    return [str(host.contents(agent)) for agent in agents(host)]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_kill_between_any_two_steps_loses_nothing_and_leaves_nothing_open(tmp_path, shape):
    place, moments = walk(tmp_path, shape)
    assert len(moments) >= 10, [key for key, _ in moments]
    for key, kept in moments:
        _, folder, before, names, said, top, read = go_on(put_back(place, kept))
        after = ledger(folder)
        assert after[: len(before)] == before, (key, "nothing on the disk is overwritten")
        open_now = {
            who: state
            for who, state in states(folder).items()
            if state in ("delivered", "accepted", "interrupted", "prepared")
        }
        assert not open_now, (key, open_now)
        assert said.startswith("The end"), (key, said)
        assert top == "A0", (key, top)
        for name, profile in names:
            assert name.startswith(
                {
                    "frontend_designer": "🖌️ Frontend Designer",
                    "quality_reviewer": "🧐 Quality Reviewer",
                }[profile]
            ), key
        for event in after:
            if event["kind"] == "prepared" and event["to"] == "quality_reviewer":
                assert (event["depth"], event["from"]) == (1, "frontend_designer"), key
        if names:
            assert any("finished after the restart" in text for text in read), (
                key,
                "the note reached its superior",
            )
        closed = [
            event
            for event in after
            if event["kind"] in ("done", "failed", "cancelled") and event["data"].get("packet")
        ]
        for event in closed:
            assert any(field["field"] == "ticket" for field in event["data"]["packet"]["state"]), (
                key
            )


def test_what_was_prepared_and_not_started_is_offered_again_and_runs(host_tree):
    with host_tree.enter() as host:
        folder = host.project("acme")
        host.script({"agent0": [hand_over(), respond("prepared")]})
        assert host.say("Please build the hero") == "prepared"
    with host_tree.enter() as host:
        host.load_chats()
        folder = host.root / "usr/projects/acme"
        host.script(
            {
                "agent0": [lambda: next_call(extras(host)), respond("ok")],
                "frontend_designer": [done()],
            }
        )
        assert host.say("Go on") == "ok"
        assert states(folder) == {"frontend_designer": "done"}


def stop_in_the_middle(host):
    """The script cancels the run; what then lies on the disk is what a restart finds."""
    host.say("Please build the hero", wait=False)
    host.settle()
    for chat in host.chats():
        host.save(chat)


def test_a_specialist_comes_back_with_profile_marker_depth_and_its_prompts(any_tree):
    with any_tree.enter() as host:
        host.project("acme")
        host.script(
            {
                "agent0": [hand_over(start=True)],
                "frontend_designer": [
                    call("handover_reply", verdict="accept"),
                    lambda: host.cancel(),
                ],
            }
        )
        stop_in_the_middle(host)
    with any_tree.enter() as host:
        host.load_chats()
        folder = host.root / "usr/projects/acme"
        seen = []

        def look(agent):
            prompt = str(host.model_calls[-1]["messages"][0].content)
            seen.append(
                (
                    agent.agent_name,
                    agent.config.profile,
                    agent.number,
                    "### handover_reply" in prompt,
                )
            )
            return hand_over("quality_reviewer", topic="other", goal="Review", start=True)

        host.script(
            {
                "agent0": [lambda: next_call(extras(host)), respond("ok")],
                "frontend_designer": [look, done()],
                "quality_reviewer": [done()],
            }
        )
        assert host.say("Go on") == "ok"
        assert seen == [("🖌️ Frontend Designer (A1)", "frontend_designer", 1, True)]
        assert [event["depth"] for event in of_kind(folder, "prepared")] == [0, 1]


def test_after_a_restart_two_levels_down_hands_over_once_more_and_its_receiver_is_refused(any_tree):
    def part(receiver, goal):
        return hand_over(receiver, topic=f"part {goal}", goal=goal, start=True)

    with any_tree.enter() as host:
        host.project("acme")
        host.script(
            {
                "agent0": [hand_over("solution_architect", start=True)],
                "solution_architect": [part("implementation_engineer", "Build")],
                "implementation_engineer": [
                    call("handover_reply", verdict="accept"),
                    lambda: host.cancel(),
                ],
            }
        )
        stop_in_the_middle(host)
    with any_tree.enter() as host:
        host.load_chats()
        folder = host.root / "usr/projects/acme"
        refused = []
        host.script(
            {
                "agent0": [lambda: next_call(extras(host)), respond("ok")],
                "solution_architect": [lambda: next_call(extras(host)), done()],
                "implementation_engineer": [part("test_debug_engineer", "Test"), done()],
                "test_debug_engineer": [
                    part("quality_reviewer", "Review"),
                    lambda agent: (
                        refused.append(host.tool_results("handover_to_specialist", agent)[-1])
                        or done()
                    ),
                ],
            }
        )
        assert host.say("Go on") == "ok"
        assert [event["depth"] for event in of_kind(folder, "prepared")] == [0, 1, 2]
        assert refused[0]["error_code"] == "depth"
        assert set(states(folder).values()) == {"done"}


def test_a_hand_to_that_a_restart_cut_off_is_prepared_and_offered(any_tree, tmp_path):
    later = []

    with any_tree.enter() as host:
        host.project("acme")

        def keep(agent, **_):
            for chat in host.chats():
                host.save(chat)
            later.append(any_tree.snapshot(tmp_path / "later"))

        host.at("_functions/agent/Agent/monologue/end", keep, times=1, profile="frontend_designer")
        host.script(
            {
                "agent0": [hand_over(start=True), respond("ok")],
                "frontend_designer": [done(hand_to="quality_reviewer")],
                "quality_reviewer": [done(what_happened="Reviewed.")],
            }
        )
        host.say("Please build the hero")
    with put_back(any_tree, later[0]).enter() as host:
        host.load_chats()
        folder = host.root / "usr/projects/acme"
        host.script(
            {
                "agent0": [lambda: next_call(extras(host)), respond("ok")],
                "quality_reviewer": [done(what_happened="Reviewed.")],
            }
        )
        host.script(
            {"frontend_designer": [done(hand_to="quality_reviewer", what_happened="Again.")]}
        )
        assert host.say("Go on") == "ok"
        assert states(folder) == {"frontend_designer": "done", "quality_reviewer": "done"}


def test_a_clarify_survives_a_restart_and_its_answer_reaches_who_asked(any_tree):
    with any_tree.enter() as host:
        host.project("acme")
        host.script(
            {
                "agent0": [hand_over(start=True), respond("Which browsers?")],
                "frontend_designer": [
                    call("handover_reply", verdict="clarify", missing=["browsers"])
                ],
            }
        )
        host.say("Please build the hero")
        for chat in host.chats():
            host.save(chat)
    with any_tree.enter() as host:
        host.load_chats()
        folder = host.root / "usr/projects/acme"
        asked = of_kind(folder, "clarify")[0]["handover"]
        read = []

        def look(agent):
            read.append(str(host.contents(agent)))
            return done()

        host.script(
            {
                "agent0": [
                    hand_over(start=True, answers=asked, state={"browsers": "last two"}),
                    respond("ok"),
                ],
                "frontend_designer": [look],
            }
        )
        assert host.say("The last two") == "ok"
        assert '"missing": ["browsers"]' in read[0]
        assert "last two" in read[0]
        assert NOTE["what_happened"] in result_of(host)["reply"]["what_happened"]

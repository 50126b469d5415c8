"""Where every subordinate has a chat of its own: what stands there, and who reads what the person writes there."""

import json

import pytest
from host_double.handover_kit import (
    agents,
    call,
    done,
    extras,
    hand_over,
    kinds,
    next_call,
    respond,
    result_of,
    states,
)

DESIGNER, REVIEWER = "frontend_designer", "quality_reviewer"
PERSONA = "🖌️ Frontend Designer (A1)"


def headings(host, chat=None):
    return [row["heading"] for row in host.rows(chat, type="info")]


def child_of(host):
    return host.subordinate().context


def as_call(host):
    """The call_subordinate of the newest result."""
    return next_call(result_of(host)["next_step"])


@pytest.mark.parametrize("start", [True, False])
def test_the_childs_chat_has_the_specialists_name_and_shows_the_task(children, start):
    host = children
    host.project("acme")
    first = [hand_over(start=start)] if start else [hand_over(), lambda: as_call(host)]
    host.script({"agent0": [*first, respond("ok")], DESIGNER: [done()]})
    assert host.say("Please build the hero") == "ok"

    chat = child_of(host)
    assert chat.name == "🖌️ Frontend Designer: landing page hero"
    (row,) = [row for row in host.rows(chat, type="info") if "landing page hero" in row["heading"]]
    assert "First draft of the hero" in row["content"]


def in_parallel(*calls, form=list):
    wanted = [{"tool_name": c["tool_name"], "tool_args": c["tool_args"]} for c in calls]
    return call("parallel", tool_calls=json.dumps(wanted) if form is str else wanted)


@pytest.mark.parametrize("form", [list, str])
def test_specialists_started_in_parallel_each_get_their_package_and_a_row(children, form):
    host = children
    folder = host.project("acme")
    copied = []

    def both():
        for number in (0, 1):
            made = next_call(result_of(host, number=number)["next_step"])
            for name in ("profile", "reset"):  # a sloppy copy
                made["tool_args"].pop(name)
            copied.append(made)
        return in_parallel(*copied, form=form)

    host.script(
        {
            "agent0": [
                hand_over(),
                hand_over(REVIEWER, topic="shop", goal="Review the shop"),
                both,
                respond("ok"),
            ],
            DESIGNER: [done()],
            REVIEWER: [done(what_happened="Reviewed.")],
        }
    )
    assert host.say("Please build and review") == "ok"
    assert states(folder) == {DESIGNER: "done", REVIEWER: "done"}
    told = [heading for heading in headings(host) if "has the task now" in heading]
    assert [one for one in told if "Frontend Designer has" in one]
    assert [one for one in told if "Quality Reviewer has" in one]
    (answered,) = host.tool_results("parallel")
    assert "Hero drafted" in answered["tool_result"]
    assert "Reviewed." in answered["tool_result"]


def test_one_wrong_reference_refuses_the_parallel_call_before_anything_runs(children):
    host = children
    folder = host.project("acme")

    def wrong():
        other = as_call(host)
        bad = json.loads(json.dumps(other))
        bad["tool_args"]["message"] = "§§handover(ho-0000000000000000)"
        return in_parallel(other, bad)

    host.script({"agent0": [hand_over(), wrong, respond("ok")]})
    assert host.say("Please build the hero") == "ok"
    assert "no handover ho-0000000000000000" in host.warnings()[-1]
    assert states(folder) == {DESIGNER: "prepared"}


def test_a_host_whose_parallel_gives_no_chat_below_refuses_in_words(host_tree):
    """The linear host's: its workers have no superior, and their replies would reach nobody."""
    from host_double.assemble import HERE

    shape = HERE / "shapes/children"
    for path in ("helpers/parallel_tools.py", "tools/parallel.py"):
        host_tree.write(path, (shape / path).read_text("utf-8"))
    with host_tree.enter() as host:
        folder = host.project("acme")
        host.script({"agent0": [hand_over(), lambda: in_parallel(as_call(host)), respond("ok")]})
        assert host.say("Please build the hero") == "ok"
        assert "cannot be started inside parallel" in host.warnings()[-1]
        assert "call_subordinate by itself" in host.warnings()[-1]
        assert states(folder) == {DESIGNER: "prepared"}


def test_a_policy_that_forbids_subordinates_is_asked_before_a_specialist_runs(children):
    host = children
    folder = host.project("acme")
    from helpers import tool_policy

    tool_policy.forbidden.add(("agent0", "call_subordinate"))
    host.script({"agent0": [hand_over(start=True), respond("ok")]})
    assert host.say("Please build the hero") == "ok"

    told = result_of(host)
    assert told["status"] == "failed"
    assert "may not use call_subordinate" in json.dumps(told["reply"])
    assert kinds(folder)[-2:] == ["failed", "briefed"] or "failed" in kinds(folder)
    assert len(agents(host)) == 1


def test_after_a_restart_a_row_names_the_specialist_that_holds_the_task(any_tree):
    with any_tree.enter() as host:
        host.project("acme")
        stop = [lambda: host.cancel(), done()]
        host.script({"agent0": [hand_over(start=True)], DESIGNER: stop})
        with pytest.raises(BaseException):  # noqa: B017 - the task is cancelled
            host.say("Please build the hero")
        host.settle()
        for chat in host.chats():
            host.save(chat)
    with any_tree.enter() as host:
        host.load_chats()
        host.script(
            {
                "agent0": [lambda: next_call(extras(host)), respond("ok")],
                DESIGNER: [done(what_happened="Done later.")],
            }
        )
        assert host.say("Go on") == "ok"
        rows = [one for one in headings(host) if "task" in one or "handed back" in one]
        assert [one for one in rows if one.startswith("A1")] == []
        assert [one for one in rows if PERSONA in one]


def test_after_a_restart_a_note_made_in_the_specialists_own_chat_reaches_its_superior(tmp_path):
    from host_double.assemble import assemble

    tree = assemble(tmp_path / "a0", shape="children")
    with tree.enter() as host:
        folder = host.project("acme")
        asks = call("handover_reply", verdict="accept")
        stop = [asks, lambda: host.cancel(), done()]
        host.script({"agent0": [hand_over(start=True)], DESIGNER: stop})
        with pytest.raises(BaseException):  # noqa: B017 - the task is cancelled
            host.say("Please build the hero")
        host.settle()
        for chat in host.chats():
            host.save(chat)
    with tree.enter() as host:
        host.load_chats()
        chat = next(one for one in host.chats() if one.get_output_data("parent_context_id"))
        host.script({DESIGNER: [done(what_happened="Blue now.")], "agent0": [respond("Seen.")]})
        host.say("In blue, please", chat)
        assert "done" in kinds(folder)
        assert host.say("Well?") == "Seen."
        assert "Blue now." in json.dumps(host.tool_results("handover_to_specialist"))
        assert kinds(folder).count("done") == 1
        (back,) = [heading for heading in headings(host) if "handed back" in heading]
        assert PERSONA in back


def test_a_specialist_that_is_stopped_alone_can_go_on(children, monkeypatch):
    """In the newest hosts a child has a task of its own; Stop there is a repairable error above."""
    from types import SimpleNamespace

    import tools.call_subordinate as host_tool
    from agent import UserMessage
    from helpers.errors import RepairableException

    host = children
    folder = host.project("acme")

    async def stopped(parent, subordinate, message, attachments=None):
        subordinate.hist_add_user_message(UserMessage(message=message))
        subordinate.context.task = SimpleNamespace(is_alive=lambda: True, kill=lambda: None)
        subordinate.context.kill_process()
        subordinate.context.task = None
        raise RepairableException("the subordinate was stopped")

    with monkeypatch.context() as patched:
        patched.setattr(host_tool, "run_subordinate", stopped)
        host.script({"agent0": [hand_over(start=True), respond("Stopped.")]})
        assert host.say("Please build the hero") == "Stopped."
    assert states(folder) == {DESIGNER: "interrupted"}
    assert "the subordinate was stopped" in host.warnings()[-1]

    goes_on = [lambda: next_call(extras(host)), respond("ok")]
    host.script({"agent0": goes_on, DESIGNER: [done()]})
    assert host.say("Go on") == "ok"
    assert states(folder) == {DESIGNER: "done"}


def test_every_turn_of_a_specialists_run_is_saved_as_it_goes(children):
    host = children
    host.project("acme")
    saved = []

    def look(agent):
        path = host.root / "usr/chats" / agent.context.id / "chat.json"
        saved.append(path.read_text("utf-8"))
        return done()

    accept = call("handover_reply", verdict="accept")
    work = call("handover_reply", verdict="accept", notes=["second turn"])
    host.script({"agent0": [hand_over(start=True), respond("ok")], DESIGNER: [accept, work, look]})
    assert host.say("Please build the hero") == "ok"
    assert "second turn" in saved[0]


def test_a_person_who_writes_in_the_specialists_chat_speaks_to_it_once(children):
    host = children
    folder = host.project("acme")
    heard = []

    def speak(agent):
        host.interrupt("Make it blue", agent.context)
        return call("handover_reply", verdict="accept")

    def look(agent):
        heard.append(json.dumps(host.contents(agent)))
        return done(what_happened="Blue now.")

    host.script({"agent0": [hand_over(start=True), respond("ok")], DESIGNER: [speak, look]})
    assert host.say("Please build the hero") == "ok"
    host.settle()

    assert heard[0].count("Make it blue") == 1
    assert "Blue now." in host.tool_results("handover_to_specialist")[-1]["tool_result"]
    assert kinds(folder).count("done") == 1
    assert "interrupted" in kinds(folder)
    assert "Make it blue" not in json.dumps(host.contents())


def test_a_person_who_writes_there_when_nobody_works_is_left_to_the_host(children):
    host = children
    host.project("acme")
    host.script({"agent0": [hand_over(start=True), respond("ok")], DESIGNER: [done()]})
    host.say("Please build the hero")
    chat = child_of(host)
    host.script({DESIGNER: [respond("You are welcome.")], "agent0": [respond("Told.")]})
    assert host.say("Thanks", chat) in ("You are welcome.", "Told.")


def test_a_copy_of_a_specialists_chat_drops_the_handover_and_says_so(children):
    from agent import AgentContext

    from helpers import persist_chat

    host = children
    host.project("acme")
    asks = call("handover_reply", verdict="clarify", missing=["prices"])
    host.script({"agent0": [hand_over(start=True), respond("ok")], DESIGNER: [asks]})
    host.say("Please build the hero")
    original = child_of(host)
    host.save(original)
    saved = json.loads((host.root / f"usr/chats/{original.id}/chat.json").read_text("utf-8"))
    (copy_id,) = persist_chat.load_json_chats([json.dumps(saved)])
    copy = AgentContext.get(copy_id)
    assert copy.get_output_data("parent_context_id") == host.context.id

    from usr.plugins.software_orchestrator.helpers.host import bindings

    assert bindings.binding(copy.agent0) is None
    assert bindings.binding(original.agent0) is not None
    assert [one for one in headings(host, copy) if "belongs to another chat" in one]

"""Who has the task, as the person sees it in the rows of the chat."""

import json

from host_double.handover_kit import call, done, hand_over, next_call, respond, result_of

PERSONA = "🖌️ Frontend Designer (A1)"


def rows_of_work(host, chat):
    """The headings of what agents did: their turns and tools."""
    return [
        row["heading"]
        for row in host.rows(chat)
        if row["type"] in ("agent", "tool") and row["agentno"] == 1
    ]


def lines(host):
    return [(row["heading"], row["content"]) for row in host.rows(type="info")]


def play(host, *steps, **more):
    chats = []
    host.script(
        {
            "agent0": [
                hand_over(start=True, handover_reason="Layout is the designer's work.", **more),
                respond("ok"),
            ],
            "frontend_designer": [
                lambda agent: (
                    chats.append(agent.context) or call("handover_reply", verdict="accept")
                ),
                *steps,
            ],
        }
    )
    host.say("Please build the hero")
    return chats[0]


def test_every_row_of_the_specialist_carries_its_persona_also_in_the_saved_chat(any_host):
    host = any_host
    host.project("acme")
    chat = play(host, call("handover_reply", verdict="clarify", missing=["goal"]), done())
    headings = rows_of_work(host, chat)
    assert len(headings) >= 4
    assert [heading for heading in headings if PERSONA not in heading] == []
    saved = [
        row["heading"]
        for row in host.save(chat)["log"]["logs"]
        if row["type"] in ("agent", "tool") and row["agentno"] == 1
    ]
    assert saved == headings


def test_the_persona_is_gone_after_the_hand_back_and_the_orchestrators_rows_never_had_it(any_host):
    host = any_host
    host.project("acme")
    chat = play(host, done())
    assert [
        row["heading"]
        for row in host.rows()
        if row["agentno"] == 0
        and PERSONA in (row["heading"] or "")
        and row["type"] in ("agent", "tool")
    ] == []
    assert host.subordinate().agent_name == "A1"
    assert chat is not None


def test_one_line_says_who_has_the_task_now_and_why_at_each_change(any_host):
    host = any_host
    host.project("acme")
    host.script(
        {
            "agent0": [
                hand_over(start=True, handover_reason="Layout is the designer's work."),
                respond("ok"),
            ],
            "frontend_designer": [done(hand_to="quality_reviewer")],
            "quality_reviewer": [done(what_happened="Reviewed.")],
        }
    )
    host.say("Please build the hero")
    changes = [
        (heading, content)
        for heading, content in lines(host)
        if "task now" in heading or "handed back" in heading
    ]
    whose = [heading.partition(" (A1)")[0].partition(" has")[0] for heading, _ in changes]
    designer, reviewer = "🖌️ Frontend Designer", "🧐 Quality Reviewer"
    assert whose == [designer, designer, reviewer, reviewer]
    assert "asks for quality_reviewer" in changes[1][0]
    assert "🧭 Software Orchestrator has the task now" in changes[3][0]
    assert [content for _, content in changes] == [
        "Layout is the designer's work.",
        "Hero drafted in index.html.",
        "frontend_designer handed the work on",
        "Reviewed.",
    ]


def test_the_line_has_a_reason_though_the_call_gave_none(host):
    host.project("acme")
    host.script(
        {
            "agent0": [
                call(
                    "handover_to_specialist", specialist_profile="frontend_designer", topic="hero"
                ),
                lambda: next_call(result_of(host)["next_step"]),
                respond("ok"),
            ],
            "frontend_designer": [done()],
        }
    )
    host.say("Please build the hero")
    assert all(content for heading, content in lines(host) if "task now" in heading)


def test_a_nested_specialist_hands_back_to_the_persona_above_it(any_host):
    host = any_host
    host.project("acme")
    host.script({"quality_reviewer": [done()]})
    play(host, hand_over("quality_reviewer", topic="x", goal="Review", start=True), done())
    assert f"🧐 Quality Reviewer (A2) handed back (done); {PERSONA} has the task now" in [
        heading for heading, _ in lines(host)
    ]


def test_the_person_who_writes_while_a_child_works_is_told_who_holds_the_task(children):
    host = children
    host.project("acme")
    host.script(
        {
            "agent0": [hand_over(start=True), respond("I pass it on."), respond("ok")],
            "frontend_designer": [
                call("handover_reply", verdict="accept"),
                lambda: host.interrupt("Make it blue"),
                done(),
            ],
        }
    )
    host.say("Please build the hero")
    assert f"{PERSONA} holds the task now" in [heading for heading, _ in lines(host)]


def test_a_child_that_only_asked_is_not_said_to_hold_the_task(children):
    host = children
    host.project("acme")
    host.script(
        {
            "agent0": [hand_over(start=True), respond("Which browsers?"), respond("ok")],
            "frontend_designer": [call("handover_reply", verdict="clarify", missing=["browsers"])],
        }
    )
    host.say("Please build the hero")
    host.say("The last two")
    assert not [heading for heading, _ in lines(host) if "holds the task" in heading]
    assert "Asked: frontend_designer needs browsers" in json.dumps(
        str(host.model_calls[-1]["messages"][-1].content)
    )

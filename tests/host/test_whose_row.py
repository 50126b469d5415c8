"""Whose row and whose conversation it is when one specialist works for another."""

from host_double.handover_kit import call, done, hand_over, of_kind, respond


def test_the_row_of_a_nested_hand_back_stands_under_the_agent_that_has_the_task(host):
    host.project("acme")
    part = hand_over("quality_reviewer", topic="x", goal="Review the draft", start=True)
    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [part, done()],
            "quality_reviewer": [done()],
        }
    )
    assert host.say("Please build the hero") == "ok"
    rows = [row for row in host.rows(type="info") if "handed back" in row["heading"]]
    assert [row["agentno"] for row in rows] == [1, 0]


def test_an_answer_to_anothers_question_does_not_run_in_its_conversation(any_host):
    host = any_host
    folder = host.project("acme")

    def answer_another():
        asked = of_kind(folder, "prepared")[0]["handover"]
        state = {"budget": "10"}
        return hand_over("quality_reviewer", answers=asked, state=state, start=True)

    host.script(
        {
            "agent0": [hand_over(start=True), answer_another, respond("ok")],
            "frontend_designer": [call("handover_reply", verdict="clarify", missing=["budget"])],
            "quality_reviewer": [done()],
        }
    )
    host.say("Please build the hero")
    for asked in host.model_calls:
        if "quality_reviewer" in asked["names"]:
            assert '"verdict": "clarify"' not in str([m.content for m in asked["messages"]])

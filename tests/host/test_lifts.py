"""A decline that the person takes back in the chat: recorded, and shown to them with their words."""

import pytest
from host_double.handover_kit import call, done, hand_over, of_kind, respond

DECLINED = {"prices": {"status": "declined", "verbatim": "I would rather not show prices"}}


def answered(words):
    return {"prices": {"status": "answered", "value": True, "verbatim": words}}


def told(host):
    return [
        row["content"] for row in host.rows(type="info") if "decline of prices" in row["heading"]
    ]


@pytest.mark.parametrize(
    ("question", "words", "lifts"),
    [
        ("The hero is done. May I show the prices now?", "Yes", True),
        ("The hero is done. Shall I go on?", "Yes", False),
        ("The hero is done.", "You may show the prices.", True),
        ("The hero is done.", "No! I still do not want to show prices. Please continue", False),
    ],
)
def test_a_lift_is_recorded_and_the_person_sees_their_words(any_host, question, words, lifts):
    host = any_host
    folder = host.project("acme")
    again = hand_over(summary="more", state=answered(words))
    host.script({"agent0": [hand_over(state=DECLINED), respond(question), again, respond("ok")]})
    host.say("Please build the page, I would rather not show prices.")
    host.say(words)
    lifted = [event["data"] for event in of_kind(folder, "decline_lifted")]
    assert [(one["field"], one["verbatim"], one["by"]) for one in lifted] == [
        ("prices", words, "person")
    ] * lifts
    assert [words in row for row in told(host)] == [True] * lifts


def test_what_the_person_tells_a_specialist_lifts_with_its_hand_back(host):
    folder = host.project("acme")
    words = "Go on, the prices may be shown."

    def person(agent):
        host.interrupt(words)

    host.script(
        {
            "agent0": [hand_over(start=True, state=DECLINED), respond("ok")],
            "frontend_designer": [person, call("notes", text="x"), done(state=answered(words))],
        }
    )
    host.say("Please build the page, and no prices yet")
    host.settle()
    assert [event["data"]["field"] for event in of_kind(folder, "decline_lifted")] == ["prices"]
    assert [words in row for row in told(host)] == [True]
    state = of_kind(folder, "done")[-1]["data"]["packet"]["state"]
    assert [(item["field"], item["status"]) for item in state] == [("prices", "answered")]

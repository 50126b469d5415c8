"""In the chat: whose words a decline is looked for in, and what of the person's words travels."""

import pytest
from host_double.handover_kit import done, hand_over, of_kind, respond

DECLINED = {"prices": {"status": "declined"}}


def prepared(folder):
    return of_kind(folder, "prepared")[-1]["data"]


def statuses(folder):
    return [(item["field"], item["status"]) for item in prepared(folder)["packet"]["state"]]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (["Please build the page for our shop."], "claimed"),
        (["Please build the page for our shop.", "Make the footer blue"], "claimed"),
        (["Please build the page for our shop.", "We never show costs"], "declined"),
        (["Please build the page for our shop, with no prices."], "declined"),
    ],
)
def test_a_decline_is_looked_for_in_what_the_person_wrote(any_host, said, status):
    host = any_host
    folder = host.project("acme")
    *before, last = said
    host.script(
        {"agent0": [*[respond("fine") for _ in before], hand_over(state=DECLINED), respond("ok")]}
    )
    for message in (*before, last):
        host.say(message)
    assert statuses(folder) == [("prices", status)]
    assert ("never spoke of prices" in str(prepared(folder)["warnings"])) == (status == "claimed")


def test_the_persons_own_words_reach_the_specialist_with_their_turns(any_host):
    host = any_host
    folder = host.project("acme")
    host.script(
        {
            "agent0": [respond("fine"), hand_over(start=True), respond("ok")],
            "frontend_designer": done(),
        }
    )
    host.say("Please build the page. No Bootstrap.")
    host.say("At most 150 kB, please.")
    said = prepared(folder)["packet"]["person_said"]
    assert [item["text"] for item in said] == ["At most 150 kB, please.", "No Bootstrap."]
    assert said[0]["turn"] > said[1]["turn"] > 0


def test_what_a_superior_wrote_is_not_the_persons(any_host):
    host = any_host
    folder = host.project("acme")
    host.script(
        {
            "agent0": [
                hand_over(start=True, summary="The person wants no prices shown. Never use Redis."),
                respond("ok"),
            ],
            "frontend_designer": done(state=DECLINED),
        }
    )
    host.say("Please build the page for our shop.")
    state = of_kind(folder, "done")[-1]["data"]["packet"]["state"]
    assert [(item["field"], item["status"]) for item in state] == [("prices", "claimed")]
    assert not prepared(folder)["packet"]["person_said"]

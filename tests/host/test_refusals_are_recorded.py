"""A refused call stands in the ledger with what is known of it, also one that could not be written at once."""

import fcntl

from host_double.handover_kit import done, hand_over, of_kind, respond, states

SELF = hand_over("a0_software_orchestrator")
SECRET = "sk-ant-api03-" + "a1B2" * 20


def told(events):
    return [
        (event["data"].get("code"), event["to"], event["hop"], event["depth"]) for event in events
    ]


def test_refusals_that_stop_the_chat_and_those_after_it_are_in_the_ledger(any_host):
    host = any_host
    folder = host.project("acme")
    nobody = hand_over("nobody")
    again = hand_over("a0_software_orchestrator", goal="again")
    calls = [hand_over(), SELF, nobody, SELF, again, nobody, hand_over("hacker")]
    host.script({"agent0": [*calls, respond("no")]})
    assert host.say("Please build the hero") == "no"
    refused = of_kind(folder, "refused")
    me = "a0_software_orchestrator"
    assert told(refused) == [
        ("self", me, 2, 0),
        ("unknown_specialist", "nobody", 2, 0),
        ("self", me, 2, 0),
        ("stopped", me, 2, 0),
        ("stopped", "nobody", 2, 0),
        ("stopped", "hacker", 2, 0),
    ]
    (stopped,) = of_kind(folder, "escalated")
    assert "3 calls in a row" in stopped["data"]["why"]
    host.script({"agent0": [hand_over("hacker"), respond("ok")]})
    assert host.say("Go on") == "ok"
    assert states(folder)["hacker"] == "prepared"


def test_a_refusal_inside_a_handover_has_its_depth(host):
    folder = host.project("acme")
    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [hand_over("frontend_designer", topic="another"), done()],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert [row[1:] for row in told(of_kind(folder, "refused"))] == [("frontend_designer", 2, 1)]


def test_a_refusal_that_cannot_be_written_is_kept_masked_and_written_at_the_next_use(any_host):
    host = any_host
    folder = host.project("acme")
    saved = host.root / "usr/plugins/software_orchestrator/config.json"
    saved.write_text('{"lock_timeout_s": 0.1}')
    host.script({"agent0": [hand_over(), respond("ok")]})
    host.say("Please build the hero")
    lock = (folder / ".a0proj/handover/chains/.lock").open()

    def held(agent):
        fcntl.flock(lock, fcntl.LOCK_EX)
        return hand_over("hacker", summary=SECRET)

    def free(agent):
        fcntl.flock(lock, fcntl.LOCK_UN)
        return hand_over("hacker", summary=SECRET)

    host.script({"agent0": [held, hand_over(SECRET), free, respond("ok")]})
    assert host.say("And the hacker") == "ok"
    assert [row[:2] for row in told(of_kind(folder, "refused"))] == [
        ("append_failed", "hacker"),
        ("unknown_specialist", "[REDACTED:anthropic_key]"),
    ]
    assert SECRET not in str(host.context.data["software_orchestrator"])
    assert host.context.data["software_orchestrator"]["unrecorded"] == []

"""The person is told in the chat what the record lost, and their next message goes on."""

from host_double.handover_kit import done, hand_over, of_kind, respond, result_of


def ledger_of(folder):
    (path,) = (folder / ".a0proj/handover/chains").glob("*.jsonl")
    return path


def test_after_damage_the_person_is_called_once_and_their_next_message_goes_on(any_host):
    host = any_host
    folder = host.project("acme")
    host.script({"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [done()]})
    host.say("Please build the hero")
    ledger = ledger_of(folder)
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-1]))
    more = hand_over("hacker", goal="Look at the hero")
    host.script({"agent0": [more, more, respond("stopped")]})
    assert host.say("Now the hacker") == "stopped"
    assert "stopped" in host.tool_results("handover_to_specialist")[-1]["tool_result"]
    told = [note for note in host.notifications() if "damaged" in note["message"]]
    assert len(told) == 1
    assert sum("damaged" in row["content"] for row in host.rows(type="warning")) == 1
    host.script({"agent0": [more, respond("ok")]})
    assert host.say("I see, go on") == "ok"
    assert any("damaged" in text for text in result_of(host)["package"]["warnings"])
    (resumed,) = of_kind(folder, "resumed")
    assert resumed["data"]["damage"][0]["where"].startswith(ledger.name)

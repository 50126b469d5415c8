"""What the person does on the audit page: declines and stops are lifted, handovers closed, and the record says who."""

import json
from pathlib import Path
from typing import Any

import pytest
from host_double.assemble import call, respond

TOPIC = "Landing page"


def acted(host: Any, action: str, **body: Any) -> tuple[int, dict[str, Any]]:
    answer = host.api("act", {"action": action, **body})
    return getattr(answer, "status_code", getattr(answer, "status", 200)), answer.get_json()


def chain(host: Any) -> dict[str, Any]:
    return host.api("audit", {"action": "chains"}).get_json()["chains"][0]


def about(host: Any) -> dict[str, str]:
    return {"project": "shop", "chain": chain(host)["chain"]}


def ledger(host: Any) -> list[dict[str, Any]]:
    folder = Path(host.project("shop")) / ".a0proj/handover/chains"
    return [
        json.loads(line)
        for path in folder.glob("*.jsonl")
        for line in path.read_text("utf-8").splitlines()
    ]


def handed(**more: Any) -> Any:
    return call(
        "handover_to_specialist", specialist_profile="frontend_designer", topic=TOPIC, **more
    )


@pytest.fixture
def declined(host):
    """A chat in which the person declined to name prices, and a handover that says so is prepared."""
    host.project("shop")
    host.script({"agent0": [handed(state={"prices": {"status": "declined"}}), respond("ready")]})
    host.say("No prices, please.")
    return host


def test_a_click_lifts_a_decline_and_the_next_hop_may_hold_a_value(declined):
    host = declined
    summary = host.api("audit", {"action": "chain", **about(host)}).get_json()["summary"]
    assert [item["field"] for item in summary["declined"]] == ["prices"]
    assert acted(host, "lift_decline", **about(host), field="Prices")[0] == 200
    (lifted,) = [event for event in ledger(host) if event["kind"] == "decline_lifted"]
    assert (lifted["data"]["field"], lifted["data"]["by"]) == ("prices", "audit page")
    assert any("prices" in str(row) for row in host.rows(type="info"))
    host.script({"agent0": [handed(state={"prices": "from 49"}, goal="new"), respond("again")]})
    host.say("go on")
    newest = [event for event in ledger(host) if event["kind"] == "prepared"][-1]
    (field,) = newest["data"]["packet"]["state"]
    assert (field["status"], field["value"]) == ("answered", "from 49")


def test_what_is_not_declined_stopped_or_open_is_refused_and_nothing_is_written(declined):
    host = declined
    before = ledger(host)
    for action, more in (
        ("lift_decline", {"field": "colour"}),
        ("lift_decline", {"field": None}),
        ("lift_stop", {}),
        ("close", {"handover": "ho-0123456789abcdef"}),
        ("close", {"handover": ["x"]}),
        ("delete", {}),
    ):
        status, answer = acted(host, action, **about(host), **more)
        assert (status, answer["ok"]) == (400, False), action
        assert answer["error"]
    assert acted(host, "lift_stop", project="shop", chain="../x")[0] == 400
    assert acted(host, "lift_stop", project="nobody", chain=about(host)["chain"])[0] == 400
    assert ledger(host) == before


def test_a_click_closes_a_handover_once_with_the_reason_of_the_person(declined):
    host = declined
    handover = chain(host)["ids"][0]
    assert (
        acted(host, "close", **about(host), handover=handover, reason="not needed\n# now")[0] == 200
    )
    (closed,) = [event for event in ledger(host) if event["kind"] == "cancelled"]
    assert "not needed" in closed["data"]["why"]
    assert acted(host, "close", **about(host), handover=handover)[0] == 400
    assert chain(host)["state"] == "closed"


def test_a_click_lifts_a_stop_and_the_orchestrator_goes_on_without_a_message(host):
    host.project("shop")
    escalate = call("handover_reply", verdict="escalate", reason="a person must allow it")
    host.script({"agent0": [handed(start=True), respond("told")], "frontend_designer": [escalate]})
    host.say("build it")
    assert chain(host)["state"] == "stopped"
    assert acted(host, "lift_stop", **about(host))[0] == 200
    assert chain(host)["state"] != "stopped"
    (resumed,) = [event for event in ledger(host) if event["kind"] == "resumed"]
    assert resumed["data"]["by"] == "audit page"

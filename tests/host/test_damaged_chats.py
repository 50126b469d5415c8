"""A chat comes from anywhere: damaged data of ours is passed over and said, never raised."""

import pytest
from host_double.handover_kit import done, hand_over, respond, states

OURS = "software_orchestrator"
DAMAGED = [
    [],
    "x",
    7,
    {"person": 3},
    {"person": {"count": "many", "last": []}},
    {"person": {"count": -1, "last": []}},
    {"person": {"count": 10**400, "last": []}},
    {"person": {"count": 1, "last": [None]}},
    {"refusals": None},
    {"refusals": True},
    {"roots": "x"},
    {"roots": [1]},
    {"log_failed": "no"},
    {"unrecorded": {}},
    {"unrecorded": ["x"]},
    {"unrecorded": [{"handover_id": 1}]},
]


@pytest.mark.parametrize("damage", DAMAGED, ids=str)
def test_damaged_data_of_a_chat_is_left_out_and_said_once(host, damage):
    folder = host.project("acme")
    host.context.data[OURS] = damage
    host.script({"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [done()]})
    assert host.say("Please build the hero") == "ok"
    assert states(folder) == {"frontend_designer": "done"}
    rows = [row for row in host.rows(type="warning") if "damaged" in row["heading"]]
    assert len(rows) == 1
    assert host.context.data[OURS]["person"]["count"] == 1


def test_what_is_sound_beside_what_is_damaged_stays(host):
    host.project("acme")
    host.context.data[OURS] = {"refusals": "x", "person": {"count": 5, "last": ["hello"]}}
    host.script({"agent0": [respond("ok")]})
    host.say("What stands?")
    person = host.context.data[OURS]["person"]
    assert person == {"count": 6, "last": ["hello", "What stands?"]}


@pytest.mark.parametrize(
    "damage",
    [
        "x",
        [1],
        {"handover_id": 5, "project_root": "/x", "chat_id": "y"},
        {"handover_id": "ho-0123456789abcdef"},
        {"handover_id": "ho-0123456789abcdef", "project_root": ["/x"], "chat_id": "y"},
    ],
    ids=str,
)
def test_a_damaged_binding_is_dropped_and_said(any_host, damage):
    host = any_host
    host.project("acme")
    host.agent0.data[OURS] = damage
    host.script({"agent0": [respond("ok")]})
    assert host.say("What stands?") == "ok"
    assert OURS not in host.agent0.data
    assert any("damaged" in row["heading"] for row in host.rows(type="info"))


@pytest.mark.parametrize("body", [["x"], "x", 7, [[]]], ids=str)
@pytest.mark.parametrize("handler", ["audit", "settings"])
def test_a_body_of_the_pages_that_is_no_object_is_a_bad_request(host, handler, body):
    answer = host.api(handler, body)
    assert answer.status_code == 400
    assert answer.get_json()["ok"] is False


def test_artifacts_nested_without_end_are_refused_or_left(host):
    host.project("acme")
    nested = []
    for _ in range(900):
        nested = [nested]
    from usr.plugins.software_orchestrator.helpers.host import agents

    assert agents.openable({"path": " /a0/usr/x"}) == {"path": agents.openable("/a0/usr/x")}
    assert agents.openable(nested) == nested

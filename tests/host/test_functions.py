"""What a model is offered as functions, on hosts that have them."""

import json

from host_double.handover_kit import call, done, hand_over, respond

OFFERED = "a0_responses_function_tools"
OTHERS = [{"name": "response"}, {"name": "handover_to_specialist", "parameters": {}}]


def offered(agent):
    """The functions of a call, after our extension has seen them."""
    from usr.plugins.software_orchestrator.helpers.host import functions

    call_data = {OFFERED: list(OTHERS), "previous_response_id": "r1", "messages": []}
    functions.offer(agent, call_data)
    return call_data


def names(call_data):
    return [item["name"] for item in call_data[OFFERED]]


def test_an_agent_without_a_handover_is_offered_the_one_tool_with_all_its_arguments(host):
    host.project("acme")
    host.script({"agent0": [respond("ok")]})
    host.say("hello")
    call_data = offered(host.context.agent0)
    assert names(call_data) == ["response", "handover_to_specialist"]
    properties = call_data[OFFERED][1]["parameters"]["properties"]
    assert {"goal", "decisions", "state", "answers", "start"} <= set(properties)
    assert "frontend_designer" in properties["specialist_profile"]["description"]
    assert call_data["previous_response_id"] == "r1"


def test_a_specialist_is_offered_its_two_tools_and_always_its_whole_prompt(any_host):
    host = any_host
    host.project("acme")
    seen = []

    def look(agent):
        seen.append(offered(agent))
        return call("handover_reply", verdict="accept")

    host.script(
        {"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [look, done()]}
    )
    assert host.say("Please build the hero") == "ok"
    assert set(names(seen[0])) >= {"handover_reply", "request_full_history"}
    assert seen[0]["previous_response_id"] is None
    assert "handover_reply" not in names(offered(host.context.agent0))
    assert json.dumps(seen[0][OFFERED])


def test_a_host_without_functions_is_left_as_it_is(host):
    from usr.plugins.software_orchestrator.helpers.host import functions

    call_data = {"messages": []}
    functions.offer(host.context.agent0, call_data)
    assert call_data == {"messages": []}

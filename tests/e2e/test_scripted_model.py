"""The scripted model by itself, asked over HTTP as a host asks it."""

import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from usr.plugins.software_orchestrator.tests.e2e.scripted_model import (
    CHAT_MODEL,
    UTILITY_MODEL,
    Reply,
    ScriptedModel,
    ScriptedModelError,
    held,
    response,
    saying,
    tool_call,
)


def ask(
    model: ScriptedModel,
    profile: str,
    number: int = 0,
    *,
    name: str = CHAT_MODEL,
    stream: bool = False,
) -> str:
    """The raw body of the answer to one request of an agent."""
    extras = json.dumps(
        {"agent_info": f"# Agent info\nAgent Number: {number}\nProfile: {profile}\nLLM: x"}
    )
    messages = [
        {"role": "system", "content": "You are"},
        {"role": "user", "content": [{"type": "text", "text": extras}]},
    ]
    body = json.dumps({"model": name, "stream": stream, "messages": messages}).encode()
    request = urllib.request.Request(
        f"{model.api_base}/chat/completions", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return str(answer.read().decode())


def said(body: str) -> Any:
    return json.loads(body)["choices"][0]["message"]["content"]


def test_the_profile_chooses_the_answers_and_the_agent_number_goes_first() -> None:
    script = {"developer": ["one", "two"], "developer#2": ["nested"], "agent0": ["top"]}
    with ScriptedModel(script) as model:
        answers = [
            said(ask(model, *who))
            for who in (("developer", 1), ("agent0", 0), ("developer", 2), ("developer", 1))
        ]

        assert answers == ["one", "top", "nested", "two"]
        assert [(r.profile, r.agent_number, r.turn) for r in model.requests] == [
            ("developer", 1, 1),
            ("agent0", 0, 1),
            ("developer", 2, 1),
            ("developer", 1, 2),
        ]


def test_a_streamed_answer_is_the_same_text_in_pieces() -> None:
    call = tool_call("response", text="🖌️ " + "x" * 500)
    with ScriptedModel({"agent0": [call]}) as model:
        events = [
            line[6:]
            for line in ask(model, "agent0", stream=True).splitlines()
            if line.startswith("data: ")
        ]

    deltas = [json.loads(event)["choices"][0]["delta"].get("content", "") for event in events[:-1]]
    assert events[-1] == "[DONE]"
    assert len([delta for delta in deltas if delta]) > 5
    assert json.loads("".join(deltas)) == call


def test_the_utility_model_has_a_fixed_answer_and_takes_no_turn() -> None:
    with ScriptedModel({"agent0": ["first"]}, utility_answer="A name") as model:
        assert said(ask(model, "agent0", name=UTILITY_MODEL)) == "A name"
        assert said(ask(model, "agent0")) == "first"
        assert len(model.utility_requests) == 1


def test_a_request_without_an_answer_ends_the_chat_and_is_a_fault() -> None:
    with ScriptedModel({"agent0": [lambda request: 1 / 0]}) as model:  # type: ignore[arg-type, return-value]
        answers = [json.loads(said(ask(model, "agent0"))), json.loads(said(ask(model, "agent0")))]

        assert [answer["tool_name"] for answer in answers] == ["response", "response"]
        assert "ZeroDivisionError" in model.faults[0]
        assert "no answer for turn 2 of agent0" in model.faults[1]


def test_a_held_answer_comes_when_it_is_released() -> None:
    reply = held(response("late"))
    with ScriptedModel({"agent0": [reply]}) as model, ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask, model, "agent0")
        assert model.wait_for("agent0").turn == 1
        assert not model.exchanges[0].delivered

        reply.release()

        assert "late" in said(asking.result(10))
        assert model.wait_until(lambda: model.exchanges[0].delivered, "delivery")


def test_a_failing_model_and_a_waiting_test_are_bounded() -> None:
    with ScriptedModel(
        {"agent0": [Reply("overloaded", 503)]}, max_requests=1, lifetime_s=2
    ) as model:
        for status in (503, 400):  # scripted, then over the limit of requests
            with pytest.raises(urllib.error.HTTPError) as caught:
                ask(model, "agent0")
            assert caught.value.code == status
        with pytest.raises(ScriptedModelError, match="developer turn 1"):
            model.wait_for("developer", timeout_s=0.2)
        assert model.closed.wait(10)
        with pytest.raises(OSError):
            ask(model, "agent0")


def test_models_are_listed() -> None:
    with (
        ScriptedModel({}) as model,
        urllib.request.urlopen(f"{model.api_base}/models", timeout=5) as answer,
    ):
        assert [entry["id"] for entry in json.load(answer)["data"]] == [CHAT_MODEL, UTILITY_MODEL]


FUNCTIONS = [{"type": "function", "name": name} for name in ("response", "text_editor")]


def ask_native(model: ScriptedModel, said: list[dict[str, Any]], **more: Any) -> str:
    """The raw body of the answer to one request in the form of the Responses API."""
    body = {"model": CHAT_MODEL, "input": said, "tools": FUNCTIONS, **more}
    request = urllib.request.Request(
        f"{model.api_base}/responses",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return str(answer.read().decode())


def as_developer(text: str) -> dict[str, Any]:
    return {"role": "user", "content": f"{text}\nAgent Number: 1\nProfile: developer"}


def test_a_native_call_is_streamed_as_a_call_of_an_offered_function() -> None:
    call = tool_call("text_editor:read", path="x" * 200)
    with ScriptedModel({"developer": [call]}) as model:
        body = ask_native(model, [as_developer("Look")], stream=True)

    events = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: ")]
    pieces = [event["delta"] for event in events if event["type"].endswith("arguments.delta")]
    (item,) = events[-1]["response"]["output"]
    assert events[-1]["type"] == "response.completed"
    assert len(pieces) > 3
    assert "".join(pieces) == item["arguments"]
    assert (item["type"], item["name"]) == ("function_call", "text_editor")
    assert json.loads(item["arguments"]) == {"action": "read", "path": "x" * 200}


def test_a_native_request_that_goes_on_from_an_answer_is_read_with_what_was_said_before() -> None:
    look = tool_call("text_editor:read", path="a")
    with ScriptedModel({"developer": [saying("I look.", [look, look]), "done"]}) as model:
        first = json.loads(ask_native(model, [as_developer("Look")]))
        output = {"type": "function_call_output", "output": "not there"}
        outputs = [{**output, "call_id": f"call_0_{place}"} for place in (0, 1)]
        second = json.loads(ask_native(model, outputs, previous_response_id=first["id"]))

        assert [item["type"] for item in first["output"]] == ["message", *["function_call"] * 2]
        assert second["output"][0]["content"][0]["text"] == "done"
        request = model.requests[1]
        assert (request.profile, request.agent_number, request.turn) == ("developer", 1, 2)
        assert (request.text("tool"), request.previous_id) == ("not there\nnot there", first["id"])
        assert "Look" in request.text("user")


def test_a_native_call_of_what_is_not_offered_is_a_fault() -> None:
    with ScriptedModel({"developer": [tool_call("handover_reply", verdict="accept")]}) as model:
        answer = json.loads(ask_native(model, [as_developer("Look")]))

        assert answer["output"][0]["name"] == "response"
        assert model.faults == ["turn 1 of developer calls handover_reply, not offered"]


def test_a_native_request_without_the_output_of_a_call_is_refused() -> None:
    look = tool_call("text_editor:read", path="a")
    with ScriptedModel({"developer": [saying("I look.", look), "done"]}) as model:
        first = json.loads(ask_native(model, [as_developer("Look")]))

        with pytest.raises(urllib.error.HTTPError) as caught:
            ask_native(model, [as_developer("Well?")], previous_response_id=first["id"])

        assert caught.value.code == 400
        assert model.faults == ["no output for ['text_editor']"]

"""Tokens that the plugin adds to a prompt, whoever reads it, as text and with functions."""

import json

import pytest
from host_double.assemble import NATIVE, assemble
from host_double.handover_kit import done, hand_over, respond

OURS = {"handover_to_specialist", "handover_reply", "request_full_history"}
ORCHESTRATOR = "a0_software_orchestrator"


def count(text):
    from usr.plugins.software_orchestrator.helpers.text import tokens

    assert tokens.counter().name == "cl100k_base"
    return tokens.counter().count(text)


def system(call):
    return str(call["messages"][0].content)


def of_functions(call):
    """Our functions as they go over the wire: JSON without white space."""
    ours = [function for function in call["functions"] or () if function["name"] in OURS]
    return sum(count(json.dumps(function, separators=(",", ":"))) for function in ours)


@pytest.fixture(params=["linear", NATIVE])
def asked(request, tmp_path):
    """What the model is asked for each kind of agent, and what the bare host asks."""
    with assemble(tmp_path / "bare", shape=request.param, plugin=False).enter() as bare:
        bare.script({"agent0": [respond("hello")]})
        bare.say("Hello")
        calls = {"bare": system(bare.model_calls[0])}
    with assemble(tmp_path / "a0", shape=request.param).enter() as host:
        host.project("acme")
        host.script({"agent0": [respond("hello")]})
        host.say("Hello")
        calls["agent"] = host.model_calls[-1]
        chat = host.new_chat()
        host.project("acme", chat)
        chat.agent0.config.profile = ORCHESTRATOR
        script = {ORCHESTRATOR: [hand_over(start=True), respond("ok")]}
        host.script(script | {"frontend_designer": [done()]})
        host.say("Please build the hero", chat)
        _, calls["specialist"], calls["orchestrator"] = host.model_calls[-3:]
        calls["released"] = host.system_prompt(calls["specialist"]["agent"])
        calls["native"] = request.param == NATIVE
        yield calls


def test_what_every_agent_reads(asked):
    base = count(asked["bare"])
    text = count(system(asked["agent"])) - base
    if asked["native"]:
        assert text + of_functions(asked["agent"]) <= 700
    else:
        assert text <= 421
        assert not of_functions(asked["agent"])


def test_the_orchestrator_reads_no_more_when_its_handover_is_back(asked):
    assert of_functions(asked["orchestrator"]) == of_functions(asked["agent"])
    assert count(system(asked["orchestrator"])) < count(asked["released"]) + 421


def test_what_a_specialist_reads(asked):
    more = count(system(asked["specialist"])) - count(asked["released"])
    if asked["native"]:
        assert more + of_functions(asked["specialist"]) <= 1300
    else:
        assert more <= 470


def test_with_functions_the_prompt_says_nothing_that_they_say(asked):
    prompt = system(asked["specialist"])
    assert all((f"### {name}" in prompt) is not asked["native"] for name in OURS)
    assert "## your handover" in prompt
    told = {function["name"] for function in asked["specialist"]["functions"] or ()}
    assert (told >= OURS) is asked["native"]


@pytest.mark.parametrize(
    ("model", "options", "native"),
    [
        ("openai/any", {}, True),
        ("openai/any", {"a0_api_mode": "chat"}, False),
        ("anthropic/any", {}, False),
    ],
)
def test_the_mode_is_what_the_hosts_policy_says_of_the_model(native_host, model, options, native):
    native_host.use_model(model, **options)
    prompt = native_host.system_prompt()
    assert ("### handover_to_specialist" not in prompt) is native


def test_an_argument_told_in_the_schema_has_one_line(native_host):
    native_host.project("acme")
    native_host.script({"agent0": [respond("hello")]})
    native_host.say("Hello")
    (ours,) = [f for f in native_host.model_calls[-1]["functions"] if f["name"] in OURS]
    assert ours["description"]
    for name, about in ours["parameters"]["properties"].items():
        lines = about["description"].splitlines()
        assert len(lines) == 1 or name == "specialist_profile"

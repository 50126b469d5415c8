"""The JSON Schema of the tools' arguments: complete, thrifty, without a fact to copy."""

import json

import pytest

from usr.plugins.software_orchestrator.helpers.arguments import handover, history, reply, schema
from usr.plugins.software_orchestrator.helpers.text.tokens import counter
from usr.plugins.software_orchestrator.helpers.values.packet import rows
from usr.plugins.software_orchestrator.tests.core.calls import CALL

ROSTER = CALL.settings.roster
TOOLS = {
    "handover_to_specialist": (schema.handover_schema(ROSTER), handover.arguments()),
    "handover_reply": (schema.reply_schema(), reply.arguments()),
    "request_full_history": (schema.history_schema(), history.OWN),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_every_argument_stands_in_the_schema_with_a_line_about_it(tool):
    made, names = TOOLS[tool]
    assert set(made["properties"]) == set(names)
    for name, about in made["properties"].items():
        assert about["description"], name
        assert set(about) & {"type", "enum"}, name
        assert "example" not in json.dumps(about)


def test_every_row_and_no_unknown_argument_has_words():
    known = {name for _, names in TOOLS.values() for name in names}
    assert set(schema.WORDS) <= known
    assert {row.name for row in rows()} <= set(schema.WORDS)


def test_what_is_required_is_what_a_call_cannot_do_without():
    assert TOOLS["handover_to_specialist"][0]["required"] == ["specialist_profile", "topic"]
    assert TOOLS["handover_reply"][0]["required"] == ["verdict"]
    assert TOOLS["request_full_history"][0]["required"] == []


def test_the_profiles_are_those_of_the_roster():
    made = schema.handover_schema(ROSTER)["properties"]["specialist_profile"]
    assert tuple(made["enum"]) == ROSTER.names()


def test_the_schemas_are_thrifty():
    size = {tool: counter().count(json.dumps(made)) for tool, (made, _) in TOOLS.items()}
    assert size["handover_to_specialist"] < 1200
    assert size["handover_reply"] < 800
    assert size["request_full_history"] < 150

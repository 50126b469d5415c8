"""The JSON Schema of the tools' arguments: complete, thrifty, without a fact to copy."""

import json
import re

import pytest

from usr.plugins.software_orchestrator.helpers.arguments import handover, history, reply, schema
from usr.plugins.software_orchestrator.helpers.values.packet import rows, said_rows
from usr.plugins.software_orchestrator.tests.core.calls import CALL

LINES = CALL.settings.roster.lines("a0_software_orchestrator")
TOOLS = {
    "handover_to_specialist": (schema.handover_schema(LINES), handover.arguments()),
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
    assert {row.name for row in said_rows()} <= set(schema.WORDS)


def test_what_is_required_is_what_a_call_cannot_do_without():
    assert TOOLS["handover_to_specialist"][0]["required"] == ["specialist_profile", "topic"]
    assert TOOLS["handover_reply"][0]["required"] == ["verdict"]
    assert TOOLS["request_full_history"][0]["required"] == []


def test_the_profile_tells_whom_the_agent_may_hand_over_to():
    made = schema.handover_schema(LINES)["properties"]["specialist_profile"]
    assert made["description"].endswith(LINES)


def test_fields_that_words_name_are_fields_of_the_items():
    fields = {row.name: getattr(row.kind, "model_fields", {}) for row in rows()}
    for name, words in schema.WORDS.items():
        named = re.search(r"{([\w, ]+)}", words)
        if named:
            assert set(named[1].split(", ")) <= set(fields[name]), name

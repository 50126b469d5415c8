"""What a packet already answers, and what it does not."""

import pytest

from usr.plugins.software_orchestrator.helpers.chain.answered import answer_to
from usr.plugins.software_orchestrator.helpers.values.packet import HandoverPacket, StateField

PACKET = HandoverPacket.model_validate(
    {
        "identity": {
            "handover_id": "ho-1",
            "chain_id": "c",
            "hop": 1,
            "depth": 0,
            "sender": "a",
            "receiver": "b",
            "created_at": "2026-06-05T14:03:00Z",
        },
        "topic": "t",
        "goal": "Build it",
        "notes": ("one", "two"),
        "state": (
            StateField(field="page", value="/start"),
            StateField(field="vat_id", status="declined", verbatim="never"),
            StateField(field="sizes", value=[1, 2], verbatim="one or two"),
            StateField(field="later", status="skipped_not_triggered"),
        ),
    }
)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("page", "/start"),
        ("Page?", "/start"),
        ("state.page", "/start"),
        ("VAT id", "declined by the person; do not ask: never"),
        ("sizes", "[1, 2] (one or two)"),
        ("goal", "Build it"),
        ("Notes", "one\ntwo"),
    ],
)
def test_a_field_that_is_asked_for_by_name_is_answered(asked, answer):
    assert answer_to(PACKET, asked) == answer


@pytest.mark.parametrize(
    "asked",
    ["", "?", "May I delete the page for good?", "page size", "later", "summary", "decisions"],
)
def test_a_question_that_only_holds_the_name_is_not_answered(asked):
    assert answer_to(PACKET, asked) == ""

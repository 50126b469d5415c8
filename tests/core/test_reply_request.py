"""From the sloppy arguments of a verdict to a reply."""

import pytest

from usr.plugins.software_orchestrator.helpers.arguments.reply import (
    NOTE_PARTS,
    arguments,
    parse_reply,
)
from usr.plugins.software_orchestrator.helpers.values.errors import RequestError
from usr.plugins.software_orchestrator.helpers.values.events import VERDICTS
from usr.plugins.software_orchestrator.helpers.values.packet import rows
from usr.plugins.software_orchestrator.tests.core.calls import CALL

NOTE = {"what_happened": "Built.", "observations": "Fits.", "user_state": "calm", "next": "Show."}


def understood(**args):
    return parse_reply(args, CALL)


def refused(**args):
    with pytest.raises(RequestError) as caught:
        parse_reply(args, CALL)
    return caught.value


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        *[(word, word) for word in ("accept", *VERDICTS)],
        ('"Done."', "done"),
        ("completed", "done"),
        ("REFUSE", "reject"),
        ("clarification", "clarify"),
    ],
)
def test_a_verdict_is_understood(word, verdict):
    assert understood(verdict=word, missing="x", reason="y").verdict == verdict


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        ({}, "missing", "verdict is required"),
        ({"verdict": "perhaps"}, "bad_value", '"perhaps"'),
        ({"verdict": "clarify"}, "missing", "missing is required"),
        ({"verdict": "reject"}, "missing", "reason is required"),
        ({"verdict": "escalate"}, "missing", "reason is required"),
        ({"verdict": "accept", "hand_to": "hacker"}, "bad_value", "hand_to"),
        ({"verdict": "done", "hand_to": "wizard"}, "unknown_specialist", "wizard"),
        ({"verdict": "done", "outcome": "great"}, "bad_value", "outcome must be"),
        ({"verdict": "done", "state": "no pairs"}, "bad_value", "state must map"),
    ],
)
def test_a_reply_that_makes_no_sense_is_refused(args, code, words):
    error = refused(**args)
    assert error.code == code
    assert words in str(error)
    assert error.hint


def test_all_problems_of_a_reply_are_named_at_once():
    error = refused(verdict="perhaps", outcome="great", hand_to="wizard", state="no pairs")
    for words in ("verdict", "outcome", "wizard", "state"):
        assert words in str(error)


@pytest.mark.parametrize(
    ("missing", "meant"),
    [
        ("who rotates the key, and how often", ("who rotates the key, and how often",)),
        ("who, and when", ("who, and when",)),
        ("colour?, size?", ("colour?, size?",)),
        ("wer, und wann", ("wer, und wann",)),
        ("vat id, budget", ("vat id", "budget")),
        ("browsers", ("browsers",)),
        ("- browsers\n- Which colour, and why?", ("browsers", "Which colour, and why?")),
        (["browsers", "Which colour, and why?"], ("browsers", "Which colour, and why?")),
        ('["browsers"]', ("browsers",)),
    ],
)
def test_what_is_missing_is_names_or_questions(missing, meant):
    assert understood(verdict="clarify", missing=missing).missing == meant


def test_the_empty_parts_of_a_note_are_lacking():
    assert understood(verdict="done", **NOTE).lacking == ()
    lacking = {"what_happened": "", "observations": "None", "next": "<what comes next>"}
    assert understood(verdict="done", **{**NOTE, **lacking}).lacking == tuple(lacking)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_a_reply_reads_the_rows_that_come_back_and_no_others(row):
    reply = understood(verdict="done", **{row.name: "hall: B"})
    if row.travels.returned:
        assert reply.given.model_fields_set == {row.name}
        assert not reply.warnings
    else:
        assert not reply.given.model_fields_set
        assert row.name in NOTE_PARTS or row.name in reply.warnings[0]


def test_a_note_is_told_in_the_order_of_its_parts():
    assert tuple(name for name in arguments() if name in NOTE_PARTS) == NOTE_PARTS


def test_the_receiver_is_named_as_in_the_roster():
    assert understood(verdict="done", hand_to="Quality Reviewer").hand_to == "quality_reviewer"
    assert understood(verdict="done", hand_to="none").hand_to == ""
    assert refused(verdict="done", hand_to="qa").hint.endswith("hand_to quality_reviewer")

"""The three memory-protection rules of seed 001, each with what breaks it."""

import pytest

from usr.plugins.software_orchestrator.helpers.flow import prepare
from usr.plugins.software_orchestrator.helpers.records import book
from usr.plugins.software_orchestrator.helpers.records.files import footprint
from usr.plugins.software_orchestrator.helpers.values.errors import MemoryRuleError


def test_a_record_that_grew_passes_and_one_that_was_rewritten_is_caught(tmp_path):
    file = tmp_path / "briefing.md"
    file.write_text("one\ntwo\n", encoding="utf-8")
    before = footprint(file)
    file.write_text("one\ntwo\nthree\n", encoding="utf-8")
    prepare.check_append_only(before, footprint(file, before.size))
    file.write_text("ONE\ntwo\nthree\n", encoding="utf-8")
    with pytest.raises(MemoryRuleError, match="instead of appended"):
        prepare.check_append_only(before, footprint(file, before.size))


def test_a_briefing_that_would_hold_turns_is_caught(desk, monkeypatch):
    wholly = book.entry_body

    def with_turns(packet, travelled, **more):
        return wholly(
            packet, travelled + "".join(turn.text + "\n" for turn in packet.recent_turns), **more
        )

    monkeypatch.setattr(book, "entry_body", with_turns)
    with pytest.raises(MemoryRuleError, match="turns"):
        desk.call("frontend_designer", summary="s", recent_turns=["user: hello there"])


def test_a_source_that_changed_while_a_text_was_made_is_caught():
    prepare.check_source_untouched((1, 2), (1, 2))
    with pytest.raises(MemoryRuleError, match="changed"):
        prepare.check_source_untouched((1, 2), (1, 3))

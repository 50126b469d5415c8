"""The three memory-protection rules of seed 001, each over every path that writes."""

import io
import os

import pytest

from usr.plugins.software_orchestrator.helpers.flow import close, deliver, receive
from usr.plugins.software_orchestrator.helpers.flow.deliver import check_source_untouched
from usr.plugins.software_orchestrator.helpers.records import book, files
from usr.plugins.software_orchestrator.helpers.records.files import footprint
from usr.plugins.software_orchestrator.helpers.values.errors import MemoryRuleError

NOTE = {"what_happened": "a", "observations": "b", "user_state": "c", "next": "d"}


def prepared(desk):
    summary = f"after {len(desk.events())} events"
    return desk.call("hacker", summary=summary, recent_turns=["user: hello there, all of you"])


def at_work(desk):
    handover = prepared(desk)
    desk.deliver(handover)
    return handover, desk.as_call(desk.inside(handover))


def hand_back(desk):
    _, call = at_work(desk)
    receive.reply({"verdict": "done", **NOTE}, call)


def close_it(desk):
    handover, call = at_work(desk)
    close.close(handover.packet.identity.handover_id, "failed", "boom", call)


def heal(desk):
    """A crash before the entry of a hand-back was written; the next use writes it."""
    handover, call = at_work(desk)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book.Book, "brief_or_tell", lambda self, event: ())
        receive.reply({"verdict": "done", **NOTE}, call)
    receive.touch(handover.packet.identity.handover_id, call)


WRITES = [prepared, hand_back, close_it, heal]


class Rewriting(io.FileIO):
    """A file that changes what it holds while it is appended to."""

    def write(self, content):
        if self.seekable() and (size := os.fstat(self.fileno()).st_size) > 3:
            with open(f"/proc/self/fd/{self.fileno()}", "r+b") as other:  # noqa: PTH123
                other.seek(size - 3)
                other.write(b"X")
        return super().write(content)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("suffix", [".jsonl", ".md"])
def test_a_record_that_is_rewritten_instead_of_appended_to_is_caught(
    desk, monkeypatch, write, suffix
):
    prepared(desk)
    honest = files.open_append

    def opened(path, *mode):
        file = honest(path, *mode)
        if path.suffix != suffix:
            return file
        return Rewriting(os.dup(file.fileno()), "r+b")

    monkeypatch.setattr(files, "open_append", opened)
    with pytest.raises(MemoryRuleError, match="instead of appended"):
        write(desk)


def test_a_record_that_grew_passes_and_one_that_was_rewritten_is_caught(tmp_path):
    file = tmp_path / "briefing.md"
    file.write_text("one\ntwo\n", encoding="utf-8")
    before = footprint(file)
    file.write_text("one\ntwo\nthree\n", encoding="utf-8")
    files.check_append_only(before, footprint(file, before.size))
    file.write_text("ONE\ntwo\nthree\n", encoding="utf-8")
    with pytest.raises(MemoryRuleError, match="instead of appended"):
        files.check_append_only(before, footprint(file, before.size))


@pytest.mark.parametrize("write", WRITES)
def test_no_entry_of_a_briefing_is_made_from_a_packet_with_turns(desk, monkeypatch, write):
    drawn = []

    def seen(name):
        honest = getattr(book.note, name)

        def body(packet, *more, **named):
            drawn.append(packet.recent_turns)
            return honest(packet, *more, **named)

        monkeypatch.setattr(book.note, name, body)

    seen("entry_body")
    seen("note_body")
    write(desk)
    assert drawn
    assert not any(drawn)
    assert "hello there" not in desk.briefings()


def test_a_source_that_changed_while_a_text_was_made_is_caught(desk, monkeypatch):
    check_source_untouched((1, 2), (1, 2))
    handover = prepared(desk)
    honest = deliver.delivered_package

    def writing(chain_book, item, *more):
        desk.tell(handover, "history_read", reason="r")
        return honest(chain_book, item, *more)

    monkeypatch.setattr(deliver, "delivered_package", writing)
    monkeypatch.setattr(book.Book, "_take_lock", lambda self: None)
    with pytest.raises(MemoryRuleError, match="changed"):
        deliver.deliver(handover.packet.identity.handover_id, desk.as_call(), way="start")

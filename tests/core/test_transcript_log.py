"""The log beside the chat: every message once, masked, at a cost that does not grow; readable whatever happened to it."""

import errno
import io
import json
import os
from pathlib import Path

import pytest

from usr.plugins.software_orchestrator.helpers.arguments.history import parse
from usr.plugins.software_orchestrator.helpers.history import log as history_log
from usr.plugins.software_orchestrator.helpers.history.answer import Scope, answer, visible_line
from usr.plugins.software_orchestrator.helpers.history.lines import HEAD_LENGTH, head_of, line_head
from usr.plugins.software_orchestrator.helpers.history.log import (
    Source,
    append,
    keep,
    line_of,
    open_log,
    seed_lines,
)
from usr.plugins.software_orchestrator.helpers.history.message import GAP, ROLES
from usr.plugins.software_orchestrator.helpers.history.transcript import Transcript
from usr.plugins.software_orchestrator.helpers.text.masking import redact
from usr.plugins.software_orchestrator.helpers.text.tokens import counter
from usr.plugins.software_orchestrator.helpers.values.errors import RecordError
from usr.plugins.software_orchestrator.tests.core.calls import CALL

NOW = "2026-06-05T14:03:07.123456Z"
MB = 1_000_000


def person(text: str) -> dict:
    return {"id": "p1", "ai": False, "content": {"user_message": text}}


def said(text: str) -> dict:
    return {
        "id": "a1",
        "ai": True,
        "content": json.dumps(
            {"thoughts": ["t"], "tool_name": "response", "tool_args": {"text": text}}
        ),
    }


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / history_log.NAME


def written(log: Path, *records: dict, source: Source = Source(), at: str = NOW) -> None:  # noqa: B008 - a frozen value
    for record in records:
        append(log, line_of(record, source, at, redact), MB)


def test_messages_come_back_as_they_were_with_who_said_them(log: Path) -> None:
    written(
        log,
        person("Hello"),
        said("Hi"),
        source=Source(1, "frontend_designer", "ho-0123456789abcdef"),
    )

    messages = list(open_log(log))

    assert [(message.role, message.text) for message in messages] == [
        ("user", "Hello"),
        ("assistant", "Hi"),
    ]
    assert messages[1].speaker == "frontend_designer (A1)"
    assert messages[1].thoughts == "t"


def test_a_head_has_a_fixed_length_and_says_whose_line_it_is(log: Path) -> None:
    written(log, said("We decided: no framework."), source=Source(2, "x", "ho-0123456789abcdef"))
    line = log.read_bytes()

    head = line_head(line)

    assert len(head_of("user", False, 0, 5, "", NOW)) == HEAD_LENGTH
    assert (head.kind, head.agent, head.handover, head.time) == (1, 2, "ho-0123456789abcdef", NOW)
    assert open_log(log).at_a_glance.tells == b"\x01"


@pytest.mark.parametrize(
    "damaged",
    [b'{"head":"', b"no line of ours, but long enough\n", b'{"head":"X00000000000005\n',
     b'{"head":"A0000000000xx05----\n', b'{"head":"A0000-000000005----\n'],
)  # fmt: skip
def test_heads_tell_kind_size_and_decisions_and_a_damaged_line_is_a_gap(damaged: bytes) -> None:
    sizes = (0, 7, 4321, 999_999_999, 4_000_000_000, 5)
    lines = []
    for at, (role, size) in enumerate(zip(ROLES, sizes, strict=True)):
        lines.append(f'{{"head":"{head_of(role, at % 2 == 0, at, size, "", NOW)}"}}\n'.encode())

    index = Transcript([*lines, damaged]).at_a_glance

    assert list(index.kinds) == [*range(len(ROLES)), GAP]
    assert list(index.sizes) == [*sizes, len(damaged)]
    assert index.tells == b"\1\0\1\0\1\0\0"


def test_secrets_never_reach_the_log_and_a_failing_mask_stops_the_write(log: Path) -> None:
    def failing(text: str) -> str:
        raise RuntimeError("no secrets manager")

    written(log, person("my key is sk-proj-abcdefghijklmnop1234"))
    with pytest.raises(RuntimeError):
        append(log, line_of(person("x"), Source(), NOW, failing), MB)

    assert b"abcdefghijklmnop" not in log.read_bytes()
    assert len(list(open_log(log))) == 1


def test_lone_surrogates_are_repaired_before_they_are_written(log: Path) -> None:
    written(log, person("\ud83c\udf78 \ud83c"))

    assert open_log(log)[0].text == "\U0001f378 \ufffd"


def test_line_ends_of_every_kind_stay_inside_one_line(log: Path) -> None:
    written(log, person("a\u2028b\nc\x0bd"), person("next"))

    assert [message.text for message in open_log(log)] == ["a\u2028b\nc\x0bd", "next"]


def test_a_torn_line_is_ended_and_told_and_the_others_are_read(log: Path) -> None:
    written(log, person("one"))
    with log.open("ab") as file:
        file.write(b'{"head":"U0000000')
    written(log, person("two"))

    messages = list(open_log(log))

    assert [message.text for message in messages] == [
        "one",
        "[one damaged line of the transcript log]",
        "two",
    ]


def test_a_full_log_says_so_once_and_stays_below_its_limit(log: Path) -> None:
    line = line_of(person("word " * 100), Source(), NOW, redact)

    states = [append(log, line, 5000) for _ in range(40)]

    assert states[0]
    assert not states[-1]
    assert log.stat().st_size < 5600
    assert [message.role for message in open_log(log)].count("gap") == 1
    assert "later messages are missing here" in open_log(log)[-1].text


def test_appending_reads_and_writes_the_same_at_any_size(log: Path, monkeypatch) -> None:
    line = line_of(person("word"), Source(), NOW, redact)
    append(log, line, 10**9)
    with log.open("ab") as file:
        file.write(line * 10_000)
    read, plain = [], os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: read.append(size) or plain(fd, size, at))

    append(log, line, 10**9)

    assert sum(read) <= 1


def test_a_link_in_place_of_the_log_is_refused(log: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("")
    log.symlink_to(target)

    with pytest.raises((RecordError, OSError)):
        append(log, b"x\n", MB)
    assert target.read_text() == ""


# what could not be written


class Full(io.FileIO):
    """A file on a disk that has room for ten bytes."""

    def write(self, data) -> int:
        return super().write(bytes(data)[:10])


def keep_one(log: Path, text: str, missing: int = 0) -> bool:
    line = lambda: line_of(person(text), Source(), NOW, redact)  # noqa: E731
    return keep(log, line, lambda: [line()], MB, missing)


def test_a_short_write_counts_as_not_written(log: Path, monkeypatch) -> None:
    keep_one(log, "one")
    monkeypatch.setattr(history_log, "open_append", lambda path: Full(path, "r+b"))

    with pytest.raises(OSError) as caught:
        append(log, line_of(person("two"), Source(), NOW, redact), MB)

    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize(("missing", "words"), [(1, "1 message is"), (2, "2 messages are")])
def test_messages_that_were_not_written_are_a_gap_as_soon_as_one_is(
    log: Path, missing: int, words: str
) -> None:
    keep_one(log, "one")
    keep_one(log, "later", missing)

    found = open_log(log)

    assert [message.role for message in found] == ["user", "gap", "user"]
    assert f"[{words} missing here" in found[1].text
    assert found.has_gap()
    assert not found.has_gap(3)


@pytest.mark.parametrize("what", [{}, {"query": "later"}, {"query": "nothing"}, {"turns": "1-2"}])
def test_no_answer_over_a_gap_is_complete(log: Path, what: dict) -> None:
    keep_one(log, "one")
    keep_one(log, "later", 2)

    found = answer(open_log(log), parse(what, CALL), counter(), redact)

    assert not found.complete
    assert "complete" not in found.text
    if "query" not in what:
        assert "messages are missing" in found.text.splitlines()[0]
        assert "### 2 · gap in the record" in found.text


def test_beyond_a_gap_an_answer_is_complete(log: Path) -> None:
    keep_one(log, "one")
    keep_one(log, "later", 2)

    assert answer(open_log(log), parse({"turns": 3}, CALL), counter(), redact).complete


@pytest.mark.parametrize("end", [b'{"head":"U0000000', b"\xff\n"])
def test_a_torn_or_foreign_line_is_a_gap(log: Path, end: bytes) -> None:
    keep_one(log, "one")
    with log.open("ab") as file:
        file.write(end)

    assert open_log(log).has_gap()


def test_everybody_sees_a_gap(log: Path) -> None:
    written(log, said("not for everybody"))
    keep_one(log, "later", 2)
    scope = Scope(1, "ho-2222222222222222", "0001-01-01T00:00:00.000000Z")

    assert [message.role for message in open_log(log, keep=visible_line(scope))] == ["gap", "user"]


# big results


def big(tmp_path: Path, text: str) -> tuple[dict, Source]:
    folder = tmp_path / "messages"
    folder.mkdir(exist_ok=True)
    (folder / "1.txt").write_text(text)
    content = {"tool_name": "code", "tool_result": text, "file": str(folder / "1.txt")}
    return {"id": "r1", "ai": False, "content": content}, Source(messages=folder)


def test_a_big_result_is_referred_to_not_copied_and_read_again(log: Path, tmp_path: Path) -> None:
    record, source = big(tmp_path, "row of data\n" * 500)
    written(log, record, source=source)

    found = open_log(log, messages=tmp_path / "messages")

    assert log.stat().st_size < 1000
    assert found[0].text == "row of data\n" * 500
    assert found.at_a_glance.sizes[0] == 6000


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("delete", "its file is gone"),
        ("replace", "its file was replaced"),
        ("link", "its file is gone"),
    ],
)
def test_a_result_whose_file_is_gone_or_another_says_so(
    log: Path, tmp_path: Path, change: str, why: str
) -> None:
    record, source = big(tmp_path, "row of data\n" * 500)
    written(log, record, source=source)
    file = tmp_path / "messages" / "1.txt"
    file.unlink()
    if change == "replace":
        file.write_text("another result")
    if change == "link":
        file.symlink_to("/etc/hostname")

    text = open_log(log, messages=tmp_path / "messages")[0].text

    assert why in text
    assert text.startswith("row of data")
    assert "6,000 characters were kept in messages/1.txt" in text


def test_a_big_result_is_masked_when_it_is_read(log: Path, tmp_path: Path) -> None:
    record, source = big(tmp_path, "key sk-proj-abcdefghijklmnop1234 here\n" * 50)
    written(log, record, source=source)

    assert (
        "abcdefghijklmnop" not in open_log(log, messages=tmp_path / "messages", mask=redact)[0].text
    )


def test_the_head_of_a_big_result_is_masked_before_it_is_cut(log: Path, tmp_path: Path) -> None:
    secret = "sk-proj-abcdefghijklmnop1234"
    record, source = big(tmp_path, "x" * 185 + f" {secret} " + "row of data\n" * 50)
    written(log, record, source=source)

    assert secret[:12] not in log.read_text()


def test_a_secret_is_masked_by_the_name_that_a_call_gives_it(log: Path) -> None:
    call = {"thoughts": ["t"], "tool_name": "x", "tool_args": {"password": "hunter2Geheim"}}
    written(log, {"id": "c", "ai": True, "content": json.dumps(call)})

    assert "hunter2Geheim" not in log.read_text()


@pytest.mark.parametrize("code", ['api_key="abcd1234efgh5678"', "a\nsk-proj-abcdefghijklmnop1234"])
def test_a_secret_in_a_call_is_masked_where_json_hides_its_shape(log: Path, code: str) -> None:
    call = {"thoughts": ["t"], "tool_name": "code", "tool_args": {"code": code}}
    written(log, {"id": "c", "ai": True, "content": json.dumps(call)})

    assert "efgh" not in log.read_text()
    assert "[REDACTED:" in open_log(log)[0].text


# joining late, choosing


def test_joining_late_writes_what_the_host_still_holds_and_marks_its_summaries(log: Path) -> None:
    summary = {"id": "s", "ai": False, "content": {"messages_summary": "earlier talk"}}
    history = {
        "bulks": [],
        "topics": [{"messages": [person("first"), summary]}],
        "current": {"messages": [said("now")]},
    }

    kept = keep(
        log, lambda: b"never asked for", lambda: seed_lines([(history, Source())], redact), MB
    )

    assert kept
    assert [(message.role, message.kept) for message in open_log(log)] == [
        ("gap", "verbatim"),
        ("user", "verbatim"),
        ("summary", "summary"),
        ("assistant", "verbatim"),
    ]
    keep(
        log,
        lambda: line_of(person("later"), Source(), NOW, redact),
        lambda: pytest.fail("seeded twice"),
        MB,
    )
    assert open_log(log)[-1].text == "later"


def test_lines_are_chosen_by_their_head_without_decoding(log: Path) -> None:
    written(log, person("orchestrator"), at="2026-06-05T13:00:00.000000Z")
    written(log, said("my own run"), source=Source(1, "x", "ho-2222222222222222"))
    written(log, person("since then"), at="2026-06-05T15:00:00.000000Z")
    scope = Scope(1, "ho-2222222222222222", "2026-06-05T14:00:00.000000Z")

    found = open_log(log, keep=visible_line(scope))

    assert [message.text for message in found] == ["orchestrator", "since then"]
    assert all(isinstance(record, bytes) for record in found.records)


def test_no_log_is_no_error_and_forgetting_twice_is_none(log: Path) -> None:
    assert open_log(log) is None
    written(log, person("x"))
    history_log.forget(log)
    history_log.forget(log)
    assert not log.exists()


def test_the_log_belongs_to_the_person_alone(log: Path) -> None:
    written(log, person("x"))

    assert log.stat().st_mode & 0o077 == 0

"""A briefing only grows, tells its own entries from other bytes, and heals after a torn write."""

import hashlib
import os
import resource
import tracemalloc
from dataclasses import replace
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.records import briefing
from usr.plugins.software_orchestrator.helpers.records.briefing import (
    Piece,
    Plan,
    append,
    plan,
    scan,
    seal,
    stands,
)
from usr.plugins.software_orchestrator.helpers.records.folder import HandoverFolder
from usr.plugins.software_orchestrator.helpers.values.errors import RecordError

NAME = "frontend-designer-landing-page-hero-2026-06-05.md"
HEAD = "## 2026-06-05 14:03 UTC · a0_software_orchestrator → frontend_designer · handover · ho-1\n"

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\n")
quoted_lines = st.lists(st.text(characters, max_size=40), max_size=5)


def standing(planned):
    return stands(planned.path, [planned])


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return HandoverFolder.open(str(tmp_path_factory.mktemp("project")), create=True)


@pytest.fixture
def folder(tmp_path):
    return HandoverFolder.open(str(tmp_path), create=True)


def entry(n=1, text="> hello"):
    return seal(f"ho-{n}", f"{HEAD}\n{text}\n")


def write(folder, content):
    planned = plan(folder, NAME, content)
    return planned, append(folder, planned, content)


def given_file(folder, content):
    path = folder.briefing_path(NAME)
    path.write_bytes(content)
    return path


def shape(path):
    return [(piece.kind, piece.id, piece.sha_ok) for piece in scan(path)]


# --- an entry ---


def test_the_marker_holds_the_hash_of_all_bytes_before_it():
    body = f"{HEAD}\n> grüße\n"
    digest = hashlib.sha256(body.encode()).hexdigest()
    assert seal("ho-1", body) == f"{body}<!-- handover:end id=ho-1 sha256={digest} -->\n".encode()


@pytest.mark.parametrize(
    "body",
    [
        "",
        "# x\n",
        "## x",
        "text\n## x\n",
        f"{HEAD}## second\n",
        f"{HEAD}<!-- handover:end id=ho-9 sha256={'0' * 64} -->\n",
        f"{HEAD}<!-- handover:end\n",
    ],
)
def test_a_body_that_could_be_read_as_another_entry_is_an_error(body):
    with pytest.raises(ValueError, match="an entry starts with"):
        seal("ho-1", body)


@pytest.mark.parametrize("id_", ["", "a b", "x" * 65, "a\n", "-->", "-x"])
def test_an_id_that_could_leave_its_marker_is_an_error(id_):
    with pytest.raises(ValueError, match="not an id"):
        seal(id_, HEAD)


@given(st.lists(quoted_lines, min_size=1, max_size=5))
def test_whatever_is_quoted_the_same_entries_come_back(shared, texts):
    entries = [entry(n, "".join(f"> {line}\n" for line in lines)) for n, lines in enumerate(texts)]
    path = given_file(shared, b"".join(entries))
    assert shape(path) == [("entry", f"ho-{n}", True) for n in range(len(texts))]
    assert [piece.length for piece in scan(path)] == [len(one) for one in entries]


# --- appending ---


def test_the_first_entry_makes_the_file_and_the_second_leaves_it_as_it_is(folder):
    first, second = entry(1), entry(2)
    _, one = write(folder, first)
    assert (one.existed_before, one.newly_created, one.size_bytes) == (False, True, len(first))
    _, two = write(folder, second)
    assert (two.existed_before, two.newly_created, two.size_bytes) == (
        True,
        False,
        len(first + second),
    )
    assert two.path.read_bytes() == first + second


def test_planning_writes_nothing(folder):
    planned = plan(folder, NAME, entry())
    assert (planned.offset, planned.length, planned.existed_before) == (0, len(entry()), False)
    assert not planned.path.exists()
    assert not standing(planned)


def test_a_plan_survives_the_ledger(folder):
    write(folder, entry(1))
    planned, _ = write(folder, entry(2))
    data = planned.to_data()
    assert data["path"] == NAME
    assert briefing.plan_from_data(folder, data) == planned


@pytest.mark.parametrize(
    "change",
    [
        {"path": "../x.md"},
        {"path": 1},
        {"path": None},
        {"offset": -1},
        {"offset": True},
        {"offset": "0"},
        {"length": 0},
        {"length": 1.5},
        {"sha256": "x"},
        {"sha256": None},
    ],
)
def test_a_plan_of_another_form_is_refused(folder, change):
    data = plan(folder, NAME, entry()).to_data() | change
    with pytest.raises(RecordError) as caught:
        briefing.plan_from_data(folder, data)
    assert caught.value.code == "path_unsafe"


def test_an_entry_is_not_written_anywhere_but_where_it_was_planned(folder):
    planned = plan(folder, NAME, entry(1))
    write(folder, entry(2))
    before = planned.path.read_bytes()
    for stale, content in ((planned, entry(1)), (plan(folder, NAME, entry(3)), entry(4))):
        with pytest.raises(RecordError, match="not as it was when the entry was planned"):
            append(folder, stale, content)
    assert planned.path.read_bytes() == before


def test_a_persons_notes_at_the_end_stay_and_the_next_entry_follows(folder):
    write(folder, entry(1))
    path = folder.briefing_path(NAME)
    with path.open("a") as file:
        file.write("\n## my notes\nlooks good")
    write(folder, entry(2))
    notes = ("foreign", "", False)
    assert shape(path) == [("entry", "ho-1", True), notes, notes, ("entry", "ho-2", True)]


@given(st.data())
def test_any_cut_shows_as_damage_and_the_next_append_works(shared, data):
    given_file(shared, b"").unlink()
    for n in range(3):
        planned, written = write(shared, entry(n))
    raw = written.path.read_bytes()
    size = len(entry(0))
    cut = data.draw(st.integers(0, len(raw)))
    written.path.write_bytes(raw[:cut])
    assert standing(planned) == (cut >= len(raw) - 1)
    again, _ = write(shared, entry(9))
    assert standing(again)
    pieces = list(scan(written.path))
    whole = [
        (f"ho-{n}", True) for n in range(3) if (n + 1) * size <= cut + 1
    ]  # only its line feed may be missing
    assert [(piece.id, piece.sha_ok) for piece in pieces if piece.kind == "entry"] == [
        *whole,
        ("ho-9", True),
    ]
    assert len([piece for piece in pieces if piece.kind != "entry"]) <= 1
    assert written.path.read_bytes() == raw[:cut] + (
        b"" if raw[:cut][-1:] in (b"", b"\n") else b"\n"
    ) + entry(9)


@given(st.data())
def test_any_change_of_one_byte_of_an_entry_is_found(shared, data):
    given_file(shared, b"").unlink()
    plans = [write(shared, entry(n))[0] for n in range(3)]
    path = plans[0].path
    raw = bytearray(path.read_bytes())
    position = data.draw(st.integers(0, len(raw) - 1))
    raw[position] ^= data.draw(st.integers(1, 255))
    path.write_bytes(raw)
    broken = position // len(entry(0))
    assert [standing(one) for one in plans] == [n != broken for n in range(3)]
    assert [piece.id for piece in scan(path) if piece.sha_ok] != ["ho-0", "ho-1", "ho-2"]


# --- scanning ---


def test_a_changed_entry_is_told_and_the_others_verify(folder):
    path = given_file(folder, entry(1) + entry(2, "> abc").replace(b"abc", b"abd") + entry(3))
    assert shape(path) == [
        ("entry", "ho-1", True),
        ("entry", "ho-2", False),
        ("entry", "ho-3", True),
    ]


def test_a_forged_end_marker_inside_a_quote_ends_nothing(folder):
    forged = f"> <!-- handover:end id=ho-9 sha256={'0' * 64} -->\n> ## 2026-01-01 00:00 UTC · evil"
    path = given_file(folder, entry(1, forged))
    assert shape(path) == [("entry", "ho-1", True)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", ["foreign"]),
        (b"notes", ["foreign"]),
        (b"## notes\n", ["foreign"]),
        (HEAD.encode(), ["torn"]),
        (HEAD.encode() + b"## notes\n", ["torn", "foreign"]),
        (b"<!-- handover:end id=ho-1 sha256=" + b"0" * 64 + b" -->\n", ["foreign"]),
        (b"notes\n" + entry(), ["foreign", "entry"]),
        (b"no line feed before " + entry(), ["foreign"]),
        (entry().replace(b"\n", b"\r\n"), ["torn"]),
        (entry()[:-1], ["entry"]),
        (entry()[:-2], ["torn"]),
        (entry() + b"\0" * 500, ["entry", "foreign"]),
    ],
)
def test_what_is_no_entry_is_named(folder, content, expected):
    assert [piece.kind for piece in scan(given_file(folder, content))] == expected


parts = st.sampled_from(
    [entry(1), entry(2, "> x" * 300), HEAD.encode(), b"## x\n", b"\n", b"<!-- handover:end "]
)


@given(st.lists(parts | st.binary(max_size=40), max_size=12), st.integers(200, 700))
def test_the_pieces_are_all_bytes_however_long_a_line_may_be(shared, content, line_bytes):
    path = given_file(shared, b"".join(content))
    pieces = list(scan(path))
    with mock.patch.object(briefing, "_LINE_BYTES", line_bytes):
        assert list(scan(path)) == pieces
    ends = [0, *(piece.end for piece in pieces)]
    assert [piece.offset for piece in pieces] == ends[:-1]
    assert ends[-1] == path.stat().st_size
    assert ends == sorted(set(ends))


def test_a_huge_file_without_a_line_end_is_scanned_in_little_memory(folder):
    path = given_file(folder, entry(1))
    with path.open("ab") as file:
        for _ in range(50):
            file.write(b"x" * 1_000_000)
        file.write(b"\n" + entry(2))
    tracemalloc.start()
    try:
        pieces = list(scan(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [(piece.kind, piece.sha_ok) for piece in pieces] == [
        ("entry", True),
        ("foreign", False),
        ("entry", True),
    ]
    assert peak < 3_000_000


def test_scanning_what_is_not_there_says_so(folder):
    with pytest.raises(FileNotFoundError):
        list(scan(folder.briefing_path(NAME)))


# --- unsafe places, and the system says no ---


@pytest.mark.parametrize("kind", ["link", "fifo", "hard link"])
def test_a_briefing_that_is_something_else_is_refused_and_nothing_is_written_outside(
    folder, tmp_path, kind
):
    outside = tmp_path / "outside.md"
    outside.write_text("theirs")
    path = folder.briefing_path(NAME)
    {"link": path.symlink_to, "hard link": path.hardlink_to, "fifo": lambda _: os.mkfifo(path)}[
        kind
    ](outside)
    planned = Plan(path, 6, len(entry()), hashlib.sha256(entry()).hexdigest(), True)
    actions = (
        lambda: plan(folder, NAME, entry()),
        lambda: append(folder, planned, entry()),
        lambda: standing(planned),
        lambda: list(scan(path)),
    )
    for action in actions:
        with pytest.raises(RecordError) as caught:
            action()
        assert caught.value.code == "path_unsafe"
    assert outside.read_text() == "theirs"


def test_a_plan_for_another_place_is_written_into_the_folder_or_not_at_all(folder, tmp_path):
    planned = replace(plan(folder, NAME, entry()), path=tmp_path / NAME)
    assert append(folder, planned, entry()).path == folder.briefing_path(NAME)
    with pytest.raises(RecordError):
        append(folder, replace(planned, path=tmp_path / "x.txt"), entry())
    assert not (tmp_path / NAME).exists()


def test_a_full_disk_is_an_error_the_entry_is_torn_and_the_next_append_heals(folder):
    _, first = write(folder, entry(1))
    planned = plan(folder, NAME, entry(2))
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (first.size_bytes + 60, limit[1]))
    try:
        with pytest.raises(RecordError, match="failed to append briefing file: only 60 of"):
            append(folder, planned, entry(2))
        with pytest.raises(RecordError, match="failed to append briefing file: File too large"):
            write(folder, entry(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert not standing(planned)
    write(folder, entry(2))
    assert shape(first.path) == [
        ("entry", "ho-1", True),
        ("torn", "", False),
        ("entry", "ho-2", True),
    ]


def test_an_entry_that_lacks_only_its_last_line_feed_is_whole_and_gets_it_from_the_next_append(
    folder,
):
    planned, written = write(folder, entry(1))
    os.truncate(written.path, written.size_bytes - 1)
    assert standing(planned)
    assert list(scan(written.path)) == [Piece("entry", 0, written.size_bytes - 1, "ho-1", True)]
    write(folder, entry(2))
    assert standing(planned)
    assert shape(written.path) == [("entry", "ho-1", True), ("entry", "ho-2", True)]

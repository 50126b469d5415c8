"""A ledger keeps what was written, tells what was changed, and survives what happens to files."""

import errno
import hashlib
import hmac
import json
import os
import resource
import tracemalloc
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.records import ledger as records_ledger
from usr.plugins.software_orchestrator.helpers.records import line as records_line
from usr.plugins.software_orchestrator.helpers.records.files import Stamp
from usr.plugins.software_orchestrator.helpers.records.folder import HandoverFolder
from usr.plugins.software_orchestrator.helpers.records.identity import signer_of, verified
from usr.plugins.software_orchestrator.helpers.records.ledger import (
    Ledger,
    Reading,
    canonical,
    snapshot,
)
from usr.plugins.software_orchestrator.helpers.values.errors import RecordError
from usr.plugins.software_orchestrator.helpers.values.events import KINDS, Draft

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
CHAIN = "auth-login-cli"
START = datetime(2026, 6, 5, 14, 3, 7, 123456, UTC)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=12,
)
names = st.text(max_size=30)
counts = st.integers(0, 1_000_000_000)
drafts = st.builds(
    lambda kind, handover, hop, depth, sender, receiver, data: Draft(
        kind, CHAIN, handover, hop, depth, sender, receiver, data
    ),
    st.sampled_from(sorted(KINDS)),
    names,
    counts,
    counts,
    names,
    names,
    st.dictionaries(st.text(max_size=8), json_values, max_size=4),
)


def draft(kind, chain, handover="", hop=0, depth=0, sender="", receiver="", **data):
    """A draft from raw data, as an event of any version may have been written."""
    if kind not in KINDS:
        raise ValueError(f"no such kind of event: {kind}")
    return Draft(kind, chain, handover, hop, depth, sender, receiver, data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return HandoverFolder.open(str(tmp_path_factory.mktemp("project")), create=True)


@pytest.fixture
def ledger(folder):
    return fresh(folder)


def fresh(folder, key=KEY, **more):
    path = folder.ledger_path(CHAIN)
    for file in (path, path.with_suffix(".end")):
        file.unlink(missing_ok=True)
    return Ledger(path, key, **more)


def example(ledger, count=3):
    """`count` events of this installation."""
    return ledger.append([draft("refused", chain=CHAIN, code="hops", n=n) for n in range(count)])


def kinds(reading: Reading):
    return [fault.kind for fault in reading.faults]


def lines_of(ledger):
    return ledger.path.read_bytes().splitlines(keepends=True)


def forged(key=OTHER_KEY, drop=(), **changes):
    """A line as somebody else would make it, with a right sha."""
    body = {
        "schema": 1,
        "id": "ev-" + "0" * 16,
        "kind": "prepared",
        "time": "2026-06-05T14:03:07.123456Z",
    }
    body |= {
        "chain": CHAIN,
        "handover": "",
        "hop": 1,
        "depth": 0,
        "from": "a",
        "to": "b",
        "data": {},
        "prev": "",
    }
    body |= changes
    return signed({name: value for name, value in body.items() if name not in drop}, key)


def signed(body, key):
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return signed_text(text, key)


def signed_text(text, key):
    sha = hashlib.sha256(text.encode()).hexdigest()
    mac = hmac.new(key, sha.encode(), hashlib.sha256).hexdigest()
    text = text.replace(',"prev":"', f',"mac":"{mac}","prev":"').replace(
        ',"time":"', f',"sha":"{sha}","time":"'
    )
    return (text + "\n").encode()


# --- what is written comes back ---


@given(st.lists(drafts, min_size=1, max_size=4), st.integers(1, 4))
def test_any_event_comes_back_equal(folder, given_drafts, calls):
    ledger = fresh(folder)
    written = tuple(event for _ in range(calls) for event in ledger.append(given_drafts))
    reading = ledger.read()
    assert (reading.events, reading.faults, reading.torn) == (written, (), False)
    assert all(event.trusted for event in reading.events)
    assert [event.data for event in written] == [
        json.loads(canonical(one.data)) for one in given_drafts
    ] * calls


def test_a_line_is_the_canonical_json_of_the_design(ledger):
    event = ledger.append(
        [draft("accepted", chain=CHAIN, handover="ho-1", hop=2, sender="a", implicit=True)]
    )[0]
    raw = ledger.path.read_text()
    line = json.loads(raw)
    assert raw == json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    bare = {name: value for name, value in line.items() if name not in ("sha", "mac", "sig")}
    keys = "by chain data depth from handover hop id kind prev schema time to"
    assert " ".join(sorted(bare)) == keys
    assert line["sha"] == event.sha == hashlib.sha256(canonical(bare).encode()).hexdigest()
    sealed = (line["sha"] + line["sig"]).encode()
    assert line["mac"] == hmac.new(KEY, sealed, hashlib.sha256).hexdigest()
    signer, own = signer_of(KEY), hashlib.sha256(line["sha"].encode()).hexdigest()
    said = f"software_orchestrator ledger\n{CHAIN}\n{own}".encode()
    assert line["by"] == signer.fingerprint and verified(signer.public, said, line["sig"])


def test_each_event_names_the_one_before(ledger):
    events = example(ledger, 2) + example(ledger, 2)
    assert [event.prev for event in events] == ["", *(event.sha for event in events[:-1])]


def test_the_order_is_that_of_the_ledger_when_the_clock_goes_back(folder):
    times = iter([START, START, START - timedelta(days=1)])
    ledger = fresh(folder, clock=lambda: next(times))
    written = example(ledger, 3)
    reading = ledger.read()
    assert (reading.events, reading.faults) == (written, ())
    assert len({event.id for event in written}) == 3


def test_times_are_utc_whatever_zone_the_clock_has(folder):
    ledger = fresh(folder, clock=lambda: START.astimezone(timezone(timedelta(hours=9))))
    assert example(ledger, 1)[0].time == "2026-06-05T14:03:07.123456Z"


def test_a_ledger_that_is_not_there_is_empty(ledger):
    assert ledger.read() == Reading()


def test_a_snapshot_is_a_prepared_event(ledger):
    before = draft("superseded", chain=CHAIN)
    events = snapshot(
        ledger, draft("prepared", chain=CHAIN, packet={"topic": "x"}), before=[before]
    )
    assert [event.kind for event in events] == ["superseded", "prepared"]
    assert ledger.read().events == events
    with pytest.raises(ValueError, match="not 'done'"):
        snapshot(ledger, draft("done", chain=CHAIN))


def test_one_write_and_one_sync_per_call(ledger, monkeypatch):
    example(ledger, 1)
    synced = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd).st_size))
    example(ledger, 3)
    assert synced == [ledger.path.stat().st_size]


@pytest.mark.parametrize(
    "data",
    [
        {"x": float("nan")},
        {"x": float("inf")},
        {"x": {1, 2}},
        {"x": "\ud83c"},
        {"x": b"bytes"},
        {"x": 10**5000},
    ],
)
def test_data_that_is_not_json_is_an_error_before_anything_is_written(ledger, data):
    with pytest.raises((ValueError, TypeError)):
        ledger.append([draft("refused", chain=CHAIN), Draft("refused", CHAIN, data=data)])
    assert not ledger.path.exists()


def test_data_nested_too_deeply_is_an_error_before_anything_is_written(ledger):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply"):
        ledger.append([draft("refused", chain=CHAIN, deep=deep)])
    assert not ledger.path.exists()


@pytest.mark.parametrize(
    "wrong", [{"chain": "another"}, {"hop": -1}, {"hop": True}, {"receiver": "x" * 1001}]
)
def test_a_draft_that_is_no_event_of_this_chain_is_an_error(ledger, wrong):
    with pytest.raises(ValueError, match=r"does not belong|not an event"):
        ledger.append([draft("refused", **({"chain": CHAIN} | wrong))])


def test_nothing_to_append_makes_no_file(ledger):
    assert ledger.append([]) == ()
    assert not ledger.path.exists()


def test_an_unknown_kind_is_an_error():
    with pytest.raises(ValueError, match="no such kind"):
        draft("transferred", chain=CHAIN)


def test_an_event_larger_than_is_read_again_is_refused(ledger, monkeypatch):
    monkeypatch.setattr(records_ledger, "LINE_BYTES", 1000)
    with pytest.raises(RecordError, match="over the limit"):
        ledger.append([draft("refused", chain=CHAIN, text="x" * 1000)])


# --- what is changed is found ---


@given(st.data())
def test_any_change_of_one_byte_is_found(folder, data):
    ledger = fresh(folder)
    written = example(ledger, 3)
    raw = bytearray(ledger.path.read_bytes())
    position = data.draw(st.integers(0, len(raw) - 1))
    raw[position] ^= data.draw(st.integers(1, 255))
    ledger.path.write_bytes(raw)
    reading = ledger.read()
    assert reading.faults or reading.torn
    assert [event for event in written if event not in reading.events]
    assert not [event for event in reading.events if event.trusted and event not in written]


def test_every_single_bit_of_a_line_matters(ledger):
    example(ledger, 1)
    raw = ledger.path.read_bytes()
    for position in range(len(raw) - 1):
        ledger.path.write_bytes(raw[:position] + bytes([raw[position] ^ 1]) + raw[position + 1 :])
        reading = ledger.read()
        assert reading.faults, position
        assert not [event for event in reading.events if event.trusted]


@given(st.data())
def test_any_cut_leaves_the_lines_before_it_and_the_next_append_works(folder, data):
    ledger = fresh(folder)
    written = example(ledger, 3)
    raw = ledger.path.read_bytes()
    ledger.path.with_suffix(".end").unlink()  # a crash comes before the mark of what it cut
    cut = data.draw(st.integers(0, len(raw)))
    ledger.path.write_bytes(raw[:cut])
    # Of a whole line only the line feed may be missing.
    whole = [event for event, end in zip(written, ends(raw), strict=True) if end <= cut + 1]
    assert list(ledger.read().events) == whole
    more = example(ledger, 1)
    reading = ledger.read()
    assert list(reading.events) == [*whole, *more]
    assert not reading.torn
    assert set(kinds(reading)) <= {"healed"}
    assert more[0].prev == (whole[-1].sha if whole else "")
    assert ledger.path.read_bytes().startswith(raw[:cut])


def ends(raw):
    return [position + 1 for position, byte in enumerate(raw) if byte == ord("\n")]


def without_last_byte(line):
    return line[:-2] + b"\n"


def with_cr_lf(line):
    return line[:-1] + b"\r\n"


@pytest.mark.parametrize(
    ("damage", "expected"),
    [(with_cr_lf, ["changed"] * 4), (without_last_byte, ["changed"] * 3 + ["torn"])],
)
def test_a_ledger_of_which_every_line_is_damaged_is_not_healed(ledger, damage, expected):
    example(ledger, 4)
    ledger.path.write_bytes(b"".join(damage(line) for line in lines_of(ledger)))
    assert kinds(ledger.read()) == expected
    assert all(fault.is_damage for fault in ledger.read().faults)
    example(ledger, 1)  # which begins anew
    later = [fault.kind for fault in ledger.read().faults if fault.is_damage]
    assert len(later) >= 3


def test_a_cut_line_that_later_lines_followed_is_torn_and_not_healed(ledger):
    example(ledger, 3)
    first, second, third = lines_of(ledger)
    ledger.path.write_bytes(first + second[:100] + b"\n" + third)
    assert kinds(ledger.read()) == ["torn"]


def test_a_cut_line_is_torn_only_at_the_very_end(ledger):
    example(ledger, 2)
    first, second = lines_of(ledger)
    ledger.path.write_bytes(first + second[:100] + b"\n" + b"garbage\n")
    assert sorted(kinds(ledger.read())) == ["changed", "malformed"]


def test_writes_that_were_cut_short_one_after_the_other_are_healed(ledger):
    example(ledger, 1)
    for length in (40, 200):
        line = forged(KEY)
        with ledger.path.open("ab") as file:
            file.write(line[:length] + b"\n")
    assert kinds(ledger.read()) == ["changed", "torn"]
    example(ledger, 1)
    assert kinds(ledger.read()) == ["healed", "healed"]


@given(st.data())
def test_a_line_taken_out_before_another_is_missed(folder, data):
    ledger = fresh(folder)
    example(ledger, 4)
    lines = lines_of(ledger)
    del lines[data.draw(st.integers(0, 2))]
    ledger.path.write_bytes(b"".join(lines))
    assert kinds(ledger.read()) == ["missing"]


@given(st.permutations(range(4)))
def test_lines_in_another_order_are_told(folder, order):
    ledger = fresh(folder)
    example(ledger, 4)
    lines = lines_of(ledger)
    ledger.path.write_bytes(b"".join(lines[n] for n in order))
    found = kinds(ledger.read())
    assert set(found) == (
        set() if list(order) == [0, 1, 2, 3] else {"out_of_order"} | set(found) & {"missing"}
    )


def test_a_line_that_stands_twice_counts_once(ledger):
    written = example(ledger, 2)
    ledger.path.write_bytes(b"".join([*lines_of(ledger), lines_of(ledger)[0]]))
    reading = ledger.read()
    assert (reading.events, kinds(reading)) == (written, ["out_of_order"])


def test_a_changed_line_is_one_fault_and_the_rest_stands(ledger):
    written = example(ledger, 3)
    first, second, third = lines_of(ledger)
    ledger.path.write_bytes(first + second.replace(b'"n":1', b'"n":7') + third)
    reading = ledger.read()
    assert (reading.events, kinds(reading)) == ((written[0], written[2]), ["changed"])
    assert reading.faults[0].where == f"{CHAIN}.jsonl:2"


def test_an_append_after_a_changed_end_follows_the_last_intact_line(ledger):
    written = example(ledger, 2)
    first, second = lines_of(ledger)
    ledger.path.write_bytes(first + second.replace(b"hops", b"hopz"))
    assert example(ledger, 1)[0].prev == written[0].sha
    assert kinds(ledger.read()) == ["changed"]


def test_an_events_line_copied_from_another_chain_is_not_trusted(folder, ledger):
    other = Ledger(folder.ledger_path("other-cli"), KEY)
    other.append([draft("done", chain="other-cli")])
    ledger.path.write_bytes(other.path.read_bytes())
    reading = ledger.read()
    assert ([event.trusted for event in reading.events], kinds(reading)) == ([False], ["foreign"])


# --- another installation ---


def test_what_another_installation_wrote_is_read_and_not_trusted(folder):
    theirs = example(fresh(folder, OTHER_KEY), 2)
    ours = Ledger(folder.ledger_path(CHAIN), KEY)
    own = example(ours, 1)
    reading = ours.read()
    assert [event.sha for event in reading.events] == [event.sha for event in theirs + own]
    assert [event.trusted for event in reading.events] == [False, False, True]
    assert kinds(reading) == ["foreign", "foreign"]


def test_a_forged_mac_of_any_form_is_not_trusted(ledger):
    event = example(ledger, 1)[0]
    raw = ledger.path.read_bytes()
    for mac in ("0" * 64, event.sha, hashlib.sha256(event.sha.encode()).hexdigest()):
        ledger.path.write_bytes(raw.replace(event.mac.encode(), mac.encode()))
        assert [one.trusted for one in ledger.read().events] == [False]


def test_of_another_installations_lines_only_so_many_bytes_are_read(ledger, monkeypatch):
    monkeypatch.setattr(records_ledger, "UNTRUSTED_BYTES", 10_000)
    with ledger.path.open("wb") as file:
        for n in range(100):
            file.write(forged(id=f"ev-{n:016x}", data={"x": "y" * 500}))
    own = example(ledger, 1)
    reading = ledger.read()
    assert 5 < len(reading.events) < 20
    assert reading.events[-1] == own[0]
    assert {"foreign"} <= set(kinds(reading))


# --- hostile lines ---


def with_raw_value(value):
    """A line with a right sha whose data holds what no JSON writer of ours would make."""
    head = '{"chain":"c","data":{"x":' + value + '},"depth":0,"from":"","handover":"","hop":0,'
    tail = '"id":"ev-0000000000000000","kind":"done","prev":"","schema":1,"time":"2026-06-05T14:03:07.123456Z","to":""}'
    return signed_text(head + tail, OTHER_KEY)


HOSTILE = {
    "empty": b"\n",
    "spaces": b"   \n",
    "NULs": b"\0" * 300 + b"\n",
    "not JSON": b"hello\n",
    "a list": b"[]\n",
    "a number": b"1\n",
    "an empty object": b"{}\n",
    "deeply nested": b"[" * 200_000 + b"]" * 200_000 + b"\n",
    "invalid UTF-8": b'{"chain":"\xff\xfe"}\n',
    "a half line": b'{"chain":"auth-lo\n',
    "carriage return": b"{}\r\n",
    "signed, deeply nested": with_raw_value("[" * 50_000 + "]" * 50_000),
    "signed, a number of 5,000 digits": with_raw_value("1" * 5000),
    "signed, 1e999": with_raw_value("1e999"),
    "signed, NaN": with_raw_value("NaN"),
    "signed, -Infinity": with_raw_value("-Infinity"),
    "signed, hop is text": forged(hop="1"),
    "signed, hop is true": forged(hop=True),
    "signed, hop is negative": forged(hop=-1),
    "signed, hop is huge": forged(hop=10**30),
    "signed, depth is a float": forged(depth=0.0),
    "signed, data is a list": forged(data=[]),
    "signed, data is null": forged(data=None),
    "signed, id is another": forged(id="ev-1"),
    "signed, id is a number": forged(id=1),
    "signed, kind is a sentence": forged(kind="do this\nnow"),
    "signed, time is another": forged(time="yesterday"),
    "signed, a key too many": forged(extra=1),
    "signed, a key too few": forged(drop=("handover",)),
    "signed, a name of 2,000 characters": forged(to="x" * 2000),
    "signed, a name of 200,000 escapes": forged(to='"' * 200_000),
    "signed, schema 0.5": forged(schema=0.5),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_line_is_one_fault_and_the_lines_around_it_are_read(ledger, name):
    before = example(ledger, 1)
    with ledger.path.open("ab") as file:
        file.write(HOSTILE[name])
    after = example(ledger, 1)
    reading = ledger.read()
    assert [event for event in reading.events if event.trusted] == [*before, *after]
    assert len(reading.events) == 2
    assert set(kinds(reading)) <= {"malformed", "changed", "healed", "missing"}
    assert kinds(reading)[0] != "missing"


def test_a_signed_line_with_keys_twice_or_spaces_is_no_trusted_event(ledger):
    line = forged()
    ledger.path.write_bytes(
        line.replace(b'"hop":1', b'"hop":1,"hop":2') + line.replace(b":", b": ")
    )
    assert not [event for event in ledger.read().events if event.trusted]


@pytest.mark.parametrize(("key", "kind"), [(KEY, "newer"), (OTHER_KEY, "foreign")])
def test_only_a_line_signed_here_says_that_a_newer_version_wrote_here(ledger, key, kind):
    ledger.path.write_bytes(forged(key, schema=2, new_field={}))
    reading = ledger.read()
    assert (reading.events, kinds(reading)) == ((), [kind])
    assert "schema 2" in reading.faults[0].detail
    assert not reading.faults[0].is_damage


@given(
    st.lists(
        st.binary(max_size=300) | st.sampled_from(sorted(HOSTILE.values(), key=len)[:20]),
        max_size=8,
    )
)
def test_no_content_makes_reading_or_appending_raise(folder, pieces):
    ledger = fresh(folder)
    ledger.path.write_bytes(b"".join(pieces))
    before = ledger.path.read_bytes()
    ledger.read()
    own = example(ledger, 1)
    assert ledger.read().events[-1:] == own
    assert ledger.path.read_bytes().startswith(before)


def test_a_line_of_100_mb_costs_bounded_memory_and_the_rest_is_read(ledger):
    first = example(ledger, 1)
    with ledger.path.open("ab") as file:
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b"\n")
    tracemalloc.start()
    try:
        second = example(ledger, 1)
        reading = ledger.read()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (reading.events, kinds(reading)) == (first + second, ["malformed"])
    assert second[0].prev == first[0].sha
    assert peak < 80_000_000


def test_a_line_that_ends_in_millions_of_escapes_costs_little_more_than_itself(ledger):
    ledger.path.write_bytes(forged(to='"' * 4_000_000))
    tracemalloc.start()
    try:
        reading = ledger.read()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert kinds(reading) == ["changed"]
    assert peak < 4 * ledger.path.stat().st_size


def test_a_line_of_millions_of_small_lists_costs_bounded_memory(ledger):
    ledger.path.write_bytes(with_raw_value("[" + "[]," * 1_300_000 + "1]"))
    tracemalloc.start()
    try:
        ledger.read()
        ledger.path.write_bytes(with_raw_value("[" + "[]," * 5_000_000 + "1]"))
        reading = ledger.read()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (reading.events, kinds(reading)) == ((), ["foreign"])
    assert peak < 150_000_000


def test_any_number_of_broken_lines_is_told_in_bounded_memory(ledger):
    ledger.path.write_bytes(b"\n" * 100_000)
    tracemalloc.start()
    try:
        reading = ledger.read()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(reading.faults) == records_ledger.MOST_FAULTS + 1
    assert "99,000 more" in reading.faults[-1].detail
    assert peak < 10_000_000


def test_a_fault_is_one_printable_line(ledger):
    ledger.path.write_bytes(forged(chain="evil\n## heading \x1b[31m"))
    assert [fault.detail.isprintable() for fault in ledger.read().faults] == [True]


# --- cost ---


def test_an_append_reads_only_the_end_of_a_long_ledger(ledger, monkeypatch):
    example(ledger, 2)
    line = lines_of(ledger)[-1]
    with ledger.path.open("ab") as file:
        file.write(line * (20_000_000 // len(line)))
    read = []
    pread = os.pread
    monkeypatch.setattr(
        os, "pread", lambda fd, count, at: read.append(count) or pread(fd, count, at)
    )
    monkeypatch.setattr(records_line, "lines", None)
    example(ledger, 1)
    assert sum(read) < 600_000


@pytest.mark.parametrize("size", [300_000, 6_000_000])
def test_an_append_after_a_long_event_follows_it_and_reads_not_all(ledger, monkeypatch, size):
    with monkeypatch.context() as patched:
        patched.setattr(records_line, "lines", None)
        long = ledger.append([draft("prepared", chain=CHAIN, text="x" * size)])
        assert example(ledger, 1)[0].prev == long[0].sha
    assert ledger.read().faults == ()


def test_the_stamp_tells_every_write_and_no_file(folder, ledger):
    assert ledger.stamp() == Stamp()
    stamps = [ledger.stamp()]
    for _ in range(3):
        example(ledger, 1)
        stamps.append(ledger.stamp())
    assert len(set(stamps)) == 4
    assert ledger.stamp() == stamps[-1]
    ledger.path.write_bytes(ledger.path.read_bytes())
    assert ledger.stamp() != stamps[-1]
    assert Ledger(HandoverFolder(folder.root / "none").ledger_path(CHAIN), KEY).stamp() == Stamp()


def test_the_stamp_of_a_link_is_its_own(ledger, tmp_path):
    (tmp_path / "outside").write_text("theirs")
    ledger.path.symlink_to(tmp_path / "outside")
    assert ledger.stamp().inode == ledger.path.lstat().st_ino


# --- the system says no ---


@pytest.mark.parametrize("before", [None, 0o644, 0o664])
def test_only_the_owner_may_read_a_ledger_also_one_that_was_wider(ledger, before):
    if before:
        ledger.path.touch()
        ledger.path.chmod(before)
    example(ledger, 1)
    assert ledger.path.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_is_an_error_and_the_next_append_heals(ledger):
    before = example(ledger, 1)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ledger.path.stat().st_size + 100, limit[1]))
    try:
        with pytest.raises(
            RecordError, match=r"failed to append briefing file: only 100 of"
        ) as caught:
            example(ledger, 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert caught.value.code == "append_failed"
    assert ledger.read().torn
    after = example(ledger, 1)
    assert (ledger.read().events, kinds(ledger.read())) == (before + after, ["healed"])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])
def test_any_error_of_the_system_is_told_with_its_reason(ledger, monkeypatch, number):
    def fail(fd):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(RecordError) as caught:
        example(ledger, 1)
    assert f"failed to append briefing file: {os.strerror(number)}" in str(caught.value)


def test_a_ledger_that_is_a_link_is_refused_for_reading_and_writing(ledger, tmp_path):
    (tmp_path / "outside").write_text("theirs")
    ledger.path.symlink_to(tmp_path / "outside")
    for action in (ledger.read, lambda: example(ledger, 1)):
        with pytest.raises(RecordError) as caught:
            action()
        assert caught.value.code == "path_unsafe"
    assert (tmp_path / "outside").read_text() == "theirs"


def test_a_ledger_without_its_folder_is_an_error(tmp_path):
    folder = HandoverFolder.open(str(tmp_path))
    with pytest.raises(RecordError, match="No such file"):
        example(Ledger(folder.ledger_path(CHAIN), KEY), 1)
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_that_is_a_fifo_is_refused_at_once(ledger):
    os.mkfifo(ledger.path)
    for action in (ledger.read, lambda: example(ledger, 1)):
        with pytest.raises(RecordError, match="not a plain file"):
            action()
    ledger.path.unlink()

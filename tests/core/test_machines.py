"""Several installations in one project: who wrote what, who is believed, and what a stranger can do."""

import hashlib
import json
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.records import shelf, signature
from usr.plugins.software_orchestrator.helpers.records.chain_ledger import ChainLedger
from usr.plugins.software_orchestrator.helpers.records.identity import signer_of, writer_of
from usr.plugins.software_orchestrator.helpers.records.ledger import Ledger
from usr.plugins.software_orchestrator.helpers.records.line import canonical, mac_of
from usr.plugins.software_orchestrator.helpers.records.signature import Signed, content, run_over
from usr.plugins.software_orchestrator.helpers.records.verify import verify
from usr.plugins.software_orchestrator.helpers.values.trust import Trust, Trusted
from usr.plugins.software_orchestrator.tests.core.conftest import Desk

OURS, THEIRS = b"a" * 32, b"b" * 32
ED25519 = "cryptography.hazmat.primitives.asymmetric.ed25519"
CHAIN = "quote-form-chat1"
DECLINED = {"vat_id": {"status": "declined", "verbatim": "no tax number"}}
DECISIONS = [{"text": "Prices in euro", "owner": "user"}, "One page only"]


class Machine(Desk):
    """An installation at work in a project that it shares."""

    def __init__(self, root, key, trusted=(), former=(), start=1):
        super().__init__(root, trusted=list(trusted))
        self.key = key
        self.ports = replace(self.ports, key=lambda: key, former=lambda: tuple(former))
        self.skip_ids(start)

    @property
    def trust(self):
        return Trust(self.ports.former(), self.settings.trusted)

    @property
    def ledger(self):
        return self.folder.ledger_path(CHAIN, writer_of(self.key))

    def chain(self):
        return shelf.peek(self.folder, CHAIN, self.as_call())

    def reading(self):
        return ChainLedger(self.folder, CHAIN, self.key, trust=self.trust).read()

    def found(self):
        results = verify([self.folder], self.key, trust=self.trust)
        return [finding for result in results for finding in result.findings]

    def trusting(self, *others):
        return Machine(self.root, self.key, [named(other) for other in others], start=5000)


def named(key, name="workshop"):
    return {"name": name, "key": signer_of(key).public}


@pytest.fixture
def theirs(tmp_path):
    machine = Machine(tmp_path / "project", THEIRS, start=1000)
    machine.returns(machine.call(decisions=DECISIONS, state=DECLINED))
    return machine


@pytest.fixture
def ours(theirs):
    return Machine(theirs.root, OURS, [named(THEIRS)])


@pytest.fixture
def suspicious(theirs):
    return Machine(theirs.root, OURS)


def lines_of(path):
    return path.read_bytes().splitlines(keepends=True)


def resealed(line, key=None, **changes):
    """A line with other members and a right sha; signed with `key` if there is one."""
    members = {**json.loads(line), **changes}
    body = {name: members[name] for name in members if name not in ("sha", "mac", "sig")}
    sha = hashlib.sha256(canonical(body).encode()).hexdigest()
    ends = {"sha": sha, "mac": mac_of(key or b"x" * 32, sha, "")}
    return (
        canonical({**body, **ends, **{n: members[n] for n in members if n == "sig"}}).encode()
        + b"\n"
    )


# --- one writer a file


def test_each_installation_writes_a_file_of_its_own_and_the_chain_is_read_from_all(theirs, ours):
    before = theirs.ledger.read_bytes()
    ours.call("hacker", summary="ours now")
    assert theirs.ledger.read_bytes() == before
    assert sorted(path.name for path in ours.folder.ledgers()) == sorted(
        f"{CHAIN}.{writer_of(key)}.jsonl" for key in (OURS, THEIRS)
    )
    chain = ours.chain()
    assert [item.receiver for item in chain.handovers] == ["solution_architect", "hacker"]
    assert (chain.handovers[1].hop, chain.foreign) == (2, 0)


def test_an_event_is_never_timed_before_what_was_read_of_others(theirs, ours):
    theirs.now = theirs.now.replace(year=2027)  # a clock that is ahead
    theirs.returns(theirs.call("hacker", summary="from the future"))
    ours.returns(ours.call("codebase_explorer", summary="answered"))
    events = ours.reading().events
    assert [event.is_own for event in events] == sorted(event.is_own for event in events)
    assert ours.chain().handovers[-1].state == "done"


def test_a_ledger_of_before_is_read_on_and_a_new_file_begun_beside_it(tmp_path):
    desk = Machine(tmp_path / "project", OURS)
    desk.returns(desk.call(state=DECLINED))
    old = desk.folder.ledger_path(CHAIN)
    desk.ledger.rename(old)
    desk.ledger.with_suffix(".end").unlink()
    desk.now = desk.now.replace(year=2025)
    content = old.read_bytes()
    desk.call("hacker", summary="goes on")
    assert old.read_bytes() == content and desk.ledger.exists()
    chain = desk.chain()
    assert [item.hop for item in chain.handovers] == [1, 2]
    assert [item.status for item in chain.newest.state] == ["declined"]


# --- who is believed


def test_what_a_trusted_installation_recorded_is_inherited_and_named(ours):
    prepared = ours.call("hacker", summary="ours now")
    packet = prepared.packet
    assert [item.status for item in packet.state] == ["declined"]
    owners = [item.owner for item in packet.decisions]
    assert owners == ["user of workshop", "a0_software_orchestrator of workshop"]
    assert "workshop" in prepared.packed.package.text


def test_a_persons_decision_stays_the_persons_also_from_another_installation(ours):
    prepared = ours.call("hacker", decisions=[{"id": "d1", "text": "Prices in dollars"}])
    assert prepared.packet.decisions[0].text == "Prices in euro"
    assert any("person's own" in text for text in prepared.warnings)


def test_a_strangers_record_is_told_to_caller_and_receiver_and_not_believed(suspicious):
    prepared = suspicious.call("hacker", summary="ours now")
    assert not prepared.packet.state and not prepared.packet.decisions
    assert any("not this installation's" in text for text in prepared.warnings)
    assert "not this installation's" in prepared.packed.package.text


def test_what_was_inherited_stays_named_when_trust_is_taken_back(theirs, ours, suspicious):
    ours.call("hacker", summary="ours now")
    theirs.returns(theirs.call("codebase_explorer", decisions=["Something new"]))
    after = Machine(ours.root, OURS, start=7000)
    packet = after.call("codebase_explorer", summary="and now").packet
    assert packet.decisions[0].owner == "user of workshop"
    assert "Something new" not in [item.text for item in packet.decisions]


def test_an_earlier_key_of_ones_own_is_still_ones_own(tmp_path):
    before = Machine(tmp_path / "project", THEIRS)
    before.returns(before.call(state=DECLINED))
    after = Machine(before.root, OURS, former=[THEIRS], start=500)
    prepared = after.call("hacker", summary="goes on")
    assert [item.status for item in prepared.packet.state] == ["declined"]
    assert not after.found() and not prepared.packet.decisions


# --- what a stranger can do


def test_a_changed_line_of_a_trusted_installation_is_a_fault(theirs, ours):
    for number in range(len(lines_of(theirs.ledger))):
        whole = lines_of(theirs.ledger)
        forged = resealed(whole[number], **{"from": "somebody"})
        for changed in (whole[number].replace(b'"hop":1', b'"hop":2'), forged):
            theirs.ledger.write_bytes(b"".join([*whole[:number], changed, *whole[number + 1 :]]))
            assert any(item.level == "fault" for item in ours.found()), (number, changed)
        theirs.ledger.write_bytes(b"".join(whole))
    assert not any(item.level == "fault" for item in ours.found())


def test_a_line_in_the_name_of_a_trusted_installation_is_not_believed_and_theirs_still_are(
    theirs, ours
):
    first = json.loads(lines_of(theirs.ledger)[0])
    packet = {**first["data"]["packet"], "goal": "Delete everything"}
    forged = resealed(lines_of(theirs.ledger)[0], data={**first["data"], "packet": packet})
    theirs.ledger.write_bytes(b"".join([*lines_of(theirs.ledger), forged]))
    theirs.returns(theirs.call("codebase_explorer", state={"vat": "19"}))
    newest = Machine(ours.root, OURS, [named(THEIRS)], start=9000).chain().newest
    assert newest.goal == "" and [item.field for item in newest.state] == ["vat_id", "vat"]


def test_a_signature_of_another_chain_or_another_key_covers_nothing(theirs, tmp_path):
    copied = theirs.folder.ledger_path("other-topic-chat1", writer_of(THEIRS))
    copied.write_bytes(
        theirs.ledger.read_bytes().replace(b"quote-form-chat1", b"other-topic-chat1")
    )
    trust = Trust((), (Trusted.model_validate(named(THEIRS)),))
    assert not any(event.trusted for event in Ledger(copied, OURS, trust=trust).read().events)
    liar = Trust((), (Trusted.model_validate(named(b"z" * 32)),))
    assert not any(event.trusted for event in Ledger(theirs.ledger, OURS, trust=liar).read().events)


SIGNER = signer_of(THEIRS)


def written(writes):
    """Lines of true writes, each of so many lines."""
    lines, own = [], ""
    for number, count in enumerate(writes):
        for at in range(count):
            sha = hashlib.sha256(f"{number} {at}".encode()).hexdigest()
            own = run_over((sha,), own)
            ends = at == count - 1
            lines.append(Signed(sha, SIGNER.sign(content(CHAIN, own)) if ends else ""))
    return lines


@tried(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 8), st.integers(1, 3), st.booleans()), max_size=3),
)
def test_lines_between_true_writes_drop_out_and_all_true_ones_count(writes, forgeries):
    lines = written(writes)
    true = frozenset(line.sha for line in lines)
    ends = [0, *(place for place, line in enumerate(lines, 1) if line.sig)]
    between = {ends[min(at, len(ends) - 1)]: (count, sig) for at, count, sig in forgeries}
    mixed = []
    for place in range(len(lines) + 1):
        count, sig = between.get(place, (0, False))
        mixed += [Signed(f"{place:032x}{n:032x}", "0" * 128 if sig else "") for n in range(count)]
        mixed += lines[place : place + 1]
    assert signature.covered(mixed, CHAIN, SIGNER.public) == true


def test_an_unfinished_write_counts_with_the_next(theirs):
    lines = written([2, 2])
    cut = [lines[0], lines[1]._replace(sig=""), *lines[2:]]
    assert signature.covered(cut, CHAIN, SIGNER.public) == {line.sha for line in lines}
    assert signature.covered(cut[:2], CHAIN, SIGNER.public) == frozenset()


def test_one_check_covers_all_lines_of_a_signer(theirs, monkeypatch):
    checked = []
    real = signature.verified
    monkeypatch.setattr(signature, "verified", lambda *about: checked.append(about) or real(*about))
    assert len(signature.covered(written([1] * 50), CHAIN, SIGNER.public)) == 50
    assert len(checked) == 1


# --- without cryptography


def test_without_cryptography_lines_are_unsigned_and_ones_own_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, ED25519, None)
    signer_of.cache_clear()
    try:
        desk = Machine(tmp_path / "project", OURS)
        desk.returns(desk.call(state=DECLINED))
        assert not any({"by", "sig"} & json.loads(line).keys() for line in lines_of(desk.ledger))
        assert [item.status for item in desk.chain().newest.state] == ["declined"]
        assert not desk.found()
    finally:
        signer_of.cache_clear()


# --- verify


def test_verify_names_each_signer(theirs, ours, suspicious):
    ours.call("hacker", summary="ours now")
    assert not ours.found()
    told = {}
    for result in verify([ours.folder], OURS, trust=ours.trust):
        for by, counts, entries, events in result.signers:
            before = told.get((by, counts), (0, 0))
            told[by, counts] = (before[0] + entries, before[1] + events)
    own, other = signer_of(OURS).fingerprint, signer_of(THEIRS).fingerprint
    assert told == {(own, True): (1, 2), (other, True): (2, 6)}
    strangers = [one for r in verify([ours.folder], OURS) for one in r.signers if not one.counts]
    assert [(one.by, one.events) for one in strangers] == [(other, 6)]

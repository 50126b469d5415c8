"""A project that version 0.1.0 wrote is read, verified and worked on."""

import shutil
from pathlib import Path

import pytest

from usr.plugins.software_orchestrator.helpers.records import shelf
from usr.plugins.software_orchestrator.helpers.records.chain_ledger import chain_ledger
from usr.plugins.software_orchestrator.helpers.records.verify import verify
from usr.plugins.software_orchestrator.helpers.views.story import story
from usr.plugins.software_orchestrator.tests.core.conftest import KEY

RECORDS = Path(__file__).resolve().parents[1] / "data" / "records_0_1_0"


@pytest.fixture
def old(desk):
    """A desk in the project; its chat wrote once since the chain was stopped."""
    shutil.copytree(RECORDS, desk.root / ".a0proj" / "handover")
    desk.skip_ids(1000)
    desk.person_writes()
    return desk


def test_every_event_says_what_it_said(old):
    (chain_id,) = shelf.chains_of_chat(old.folder, "chat1")
    copy = shelf.copy_of(chain_ledger(old.folder, chain_id, old.as_call()))
    assert [handover.state for handover in copy.chain.handovers] == [
        "superseded", "clarify", "done", "escalated",
    ]  # fmt: skip
    assert all(type(event.payload).kind == event.kind for event in copy.events)
    assert copy.chain.stop == "needs you"
    assert story(chain_id, copy.events).error == ""


def test_the_chain_goes_on_with_all_that_it_held(old):
    prepared = old.call("frontend_designer", topic="Landing page hero", summary="go on")
    state = {item.field: item.status for item in prepared.packet.state}
    assert prepared.packet.identity.hop == 5
    assert state == {"prices": "declined", "vat_id": "answered"}
    assert [item.text for item in prepared.packet.decisions] == ["CSS grid", "AVIF"]
    assert prepared.packet.authority.denied == ("deploy",)
    results = [*verify([old.folder], KEY)]
    assert results
    assert not [finding for result in results for finding in result.findings]

"""A field of a packet is one row: package, briefing entry and note follow from it."""

from typing import Annotated

import pytest

from usr.plugins.software_orchestrator.helpers.text import note as text_note
from usr.plugins.software_orchestrator.helpers.text.fitting import fit
from usr.plugins.software_orchestrator.helpers.text.package import DRAWINGS, package_parts
from usr.plugins.software_orchestrator.helpers.values import packet as values
from usr.plugins.software_orchestrator.helpers.values.events import Note
from usr.plugins.software_orchestrator.helpers.values.packet import (
    Artifact,
    Decision,
    HandoverPacket,
    RejectedPath,
    StateField,
    Travels,
    Turn,
    rows,
)
from usr.plugins.software_orchestrator.tests.core.packet_maker import made, packet_of

ROWS = {row.name: row for row in rows()}


class Wider(HandoverPacket):
    """A packet with new fields of each kind that needs no change but its row."""

    mood: Annotated[str, Travels("Mood", rank=2, place=41, returned=True)] = ""
    risks: Annotated[tuple[str, ...], Travels("Risks", place=42, returned=True, entry="Risk")] = ()
    dead_ends: Annotated[tuple[RejectedPath, ...], Travels("Dead ends", returned=True)] = ()
    facts: Annotated[tuple[StateField, ...], Travels("Facts", place=7, returned=True)] = ()
    plans: Annotated[tuple[Decision, ...], Travels("Plans", place=9, returned=True)] = ()
    proofs: Annotated[tuple[Artifact, ...], Travels("Proofs", returned=True)] = ()


@pytest.fixture
def wider(monkeypatch):
    """The rows of a packet with more fields."""

    class Contents(values.Contents):
        pass

    for name in ROWS.keys() ^ (Wider.model_fields.keys() - {"identity", "topic"}):
        Contents.model_fields[name] = Wider.model_fields[name]
    monkeypatch.setattr(values, "Contents", Contents)
    for cached in (values.rows, values.package_rows):
        cached.cache_clear()
    yield {row.name: row for row in values.rows()}
    for cached in (values.rows, values.package_rows):
        cached.cache_clear()


def sections(text, mark):
    """The blocks of a text by their headings."""
    blocks = {}
    for block in text.split(f"\n{mark} ")[1:]:
        heading, _, body = block.partition("\n")
        blocks[heading] = body
    return blocks


def package(packet):
    parts = package_parts(packet, head="", foot="")
    return sections("\n" + fit(parts, 10**6, len, str).text, "##")


def entry(packet):
    body = text_note.entry_body(packet, "", created="2026-06-05 14:03 UTC")
    return sections(body, "###")


def note(packet, before):
    parts = text_note.note_parts(packet, "done", "", Note(), (), before=before, foot="")
    return sections("\n" + fit(parts, 10**6, len, str).text, "##")


def check(row, model):
    travels, empty = row.travels, packet_of(model)
    filled = packet_of(model, **{row.name: made(row, "marked", times=3)})
    assert "marked" in package(filled)[travels.section]
    if row.kind is Turn:  # the third memory rule: a briefing holds no turns
        assert "marked" not in str(entry(filled))
    else:
        assert "marked" in entry(filled)[travels.entry or travels.section]
    assert ("marked" in str(note(filled, empty))) == travels.returned
    assert note(filled, filled) == {}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_stands_in_package_entry_and_note_under_its_heading(name):
    check(ROWS[name], HandoverPacket)


@pytest.mark.parametrize("name", ["mood", "risks", "dead_ends", "facts", "plans", "proofs"])
def test_a_new_row_stands_there_too_without_a_change_anywhere_else(wider, name):
    check(wider[name], Wider)


def test_a_decline_in_a_new_row_is_never_cut(wider):
    declined = StateField(field="vat", status="declined")
    parts = package_parts(packet_of(Wider, facts=(declined,)), head="", foot="")
    (part,) = (part for part in parts if "vat" in part.full)
    assert part.short == part.full


def test_every_type_of_a_row_has_a_drawing():
    assert {row.kind for row in rows()} <= DRAWINGS.keys()


def test_the_sections_of_a_package_stand_in_the_order_of_their_places():
    packet = packet_of(**{name: made(row, "x") for name, row in ROWS.items()})
    headings = [row.travels.section for row in values.package_rows()]
    assert list(package(packet)) == headings


def test_the_sections_of_an_entry_stand_in_the_order_of_the_fields():
    packet = packet_of(**{name: made(row, "x") for name, row in ROWS.items()})
    headings = [row.travels.entry or row.travels.section for row in rows() if row.kind is not Turn]
    assert list(entry(packet)) == ["Topic", *headings]


def test_a_note_says_its_parts_in_the_order_of_its_fields():
    packet = packet_of()
    said = Note(next="n", what_happened="w", missing=("m",))
    body = text_note.note_body(packet, "done", said, created="2026-06-05 14:03 UTC")
    assert list(sections(body, "###")) == ["What happened", "Next", "Missing"]

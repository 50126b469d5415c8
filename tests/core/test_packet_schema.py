"""docs/packet.schema.json and docs/packet.md say what the code does."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
from pydantic import BaseModel, ValidationError

from usr.plugins.software_orchestrator.helpers.records import briefing, resources
from usr.plugins.software_orchestrator.helpers.text.note import entry_body
from usr.plugins.software_orchestrator.helpers.text.package import package_parts
from usr.plugins.software_orchestrator.helpers.text.tokens import counter
from usr.plugins.software_orchestrator.helpers.values import packet
from usr.plugins.software_orchestrator.helpers.values.packet import HandoverPacket, schema

DOCS = Path(__file__).resolve().parents[2] / "docs"
PUBLISHED = DOCS / "packet.schema.json"
PAGE = (DOCS / "packet.md").read_text(encoding="utf-8")
BRIEFING = "/srv/projects/shop/.a0proj/handover/frontend-designer-quote-form-2026-06-05.md"


def block(kind, number=0):
    """The number-th fenced block of that kind on the page."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[number]


def example():
    return HandoverPacket.model_validate_json(block("json"))


def rendered_package(of):
    foot = f"briefing: {BRIEFING}\n" + resources.text("package_foot")
    status = {item.path: "unchanged" for item in of.artifacts}
    parts = package_parts(
        of, head=resources.text("package_head"), foot=foot, artifact_status=status
    )
    found, seen = "", set()
    for part in parts:
        found += f"## {part.section}\n" if part.section and part.section not in seen else ""
        seen.add(part.section)
        found += part.full
    return found


def rendered_entry(of):
    body = entry_body(
        of, "533 of 533 tokens (limit 3000), 2 recent turns\n", created="2026-06-05 14:03 UTC"
    )
    return briefing.seal(of.identity.handover_id, body).decode()


def models():
    return [
        found
        for found in vars(packet).values()
        if isinstance(found, type)
        and issubclass(found, BaseModel)
        and found.__module__ == packet.__name__
    ]


def test_the_published_schema_is_current():
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == schema(), "run `make schema`"


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(schema())


def test_the_example_fits_the_schema_and_is_what_the_code_writes():
    jsonschema.validate(
        json.loads(block("json")), json.loads(PUBLISHED.read_text(encoding="utf-8"))
    )
    assert json.loads(block("json")) == example().to_json()


def test_the_example_fills_every_field():
    empty = [name for name, value in example().to_json().items() if not value]
    assert not empty


def test_the_package_on_the_page_is_the_one_that_is_rendered():
    assert block("text", 0) == rendered_package(example())


def test_the_entry_on_the_page_is_the_one_that_is_rendered():
    assert block("text", 1) == rendered_entry(example())


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_every_field_is_explained_on_the_page(model):
    missing = [name for name in model.model_fields if f"`{name.rstrip('_')}`" not in PAGE]
    assert not missing


@pytest.mark.parametrize(
    "status",
    [
        "answered",
        "declined",
        "claimed",
        "volunteered",
        "skipped_not_triggered",
        "skipped_section_omitted",
        "active",
        "superseded",
        "rejected",
    ],
)
def test_every_status_is_explained_on_the_page(status):
    assert f"`{status}`" in PAGE


@pytest.mark.parametrize("change", [{"hop": 0}, {"depth": -1}, {"receiver": None}, {"unknown": 1}])
def test_what_does_not_fit_is_refused_by_code_and_schema_alike(change):
    wrong = json.loads(block("json"))
    wrong["identity"] |= change
    with pytest.raises(ValidationError):
        HandoverPacket.model_validate(wrong)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema())


def test_a_packet_survives_its_own_json():
    assert HandoverPacket.model_validate_json(json.dumps(example().to_json())) == example()


def test_the_tokens_on_the_page_are_counted():
    assert "533 of 533 tokens" in block("text", 1)
    assert counter().name == "estimate" or counter().count(rendered_package(example())) == 533


def fields():
    """Every value of the packet with its fields, as one text."""
    values = {
        name: value
        for name, value in vars(packet).items()
        if isinstance(value, type) and issubclass(value, BaseModel) and name != "Contents"
    }
    return "; ".join(
        f"{name}: {' '.join(sorted(values[name].model_fields))}"
        for name in sorted(values)
        if values[name].model_fields
    )


# An older version refuses fields it does not know; only a raised number lets it say "update the plugin".
FIELDS_OF_SCHEMA = {
    1: (
        "Artifact: kind path sha256 size version; Authority: denied granted; Decision: "
        "evidence id owner rationale status supersedes text version; Flag: fields text; "
        "HandoverPacket: acceptance_criteria artifacts authority decisions flags goal "
        "handover_reason identity next_action notes open_questions recent_turns "
        "rejected_paths return_condition sections_done state stopped_at summary topic "
        "user_state; Identity: chain_id created_at depth handover_id hop parent receiver "
        "schema_ sender; OpenQuestion: field id text; RejectedPath: what why; StateField: "
        "field hop owner status value verbatim; Turn: role text"
    ),
    2: (
        "Artifact: kind path sha256 size version; Authority: denied granted; Decision: "
        "evidence id owner rationale status supersedes text version; Flag: fields text; "
        "HandoverPacket: acceptance_criteria artifacts authority decisions flags goal "
        "handover_reason identity next_action notes open_questions person_said recent_turns "
        "rejected_paths return_condition sections_done state stopped_at summary topic "
        "user_state; Identity: chain_id created_at depth handover_id hop parent receiver "
        "schema_ sender; OpenQuestion: field id text; PersonSaid: text turn; RejectedPath: what why; StateField: "
        "field hop owner status value verbatim; Turn: role text"
    ),
}


def test_the_schema_number_is_raised_when_the_fields_change():
    assert fields() == FIELDS_OF_SCHEMA[packet.SCHEMA], (
        "raise packet.SCHEMA and add its fields here"
    )

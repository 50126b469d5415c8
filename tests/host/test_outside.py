"""A handover stays in the chat's project, except where the host or the person allows another folder."""

import json

import pytest
from host_double.handover_kit import hand_over, of_kind, respond, result_of

SAVED = "usr/plugins/software_orchestrator/config.json"
PROJECT_SAVED = "usr/projects/acme/.a0proj/plugins/software_orchestrator/config.json"


@pytest.fixture
def allowed(tmp_path):
    folder = tmp_path / "allowed" / "part"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def host(host_tree, allowed):
    host_tree.write(SAVED, json.dumps({"allowed_roots": str(allowed.parent)}))
    with host_tree.enter() as entered:
        yield entered


def handed_over(host, root, name="project_root"):
    host.script({"agent0": [hand_over(**{name: str(root)}), respond("ok")]})
    host.say("Go")
    (result,) = host.tool_results("handover_to_specialist")
    return result


@pytest.mark.parametrize("name", ["project_root", "Project Root"])
def test_any_other_folder_is_refused_and_nothing_is_written_there(host, tmp_path, name):
    host.project("acme")
    other = tmp_path / "elsewhere"
    other.mkdir()
    result = handed_over(host, other, name)
    assert result["error_code"] == "path_unsafe"
    assert "allowed_roots" in result["tool_result"]
    assert not list(other.iterdir())
    assert str(other) not in str(host.context.data["software_orchestrator"]["roots"])


def test_a_link_in_the_project_that_leads_out_is_outside(host, tmp_path):
    folder = host.project("acme")
    other = tmp_path / "elsewhere"
    other.mkdir()
    (folder / "in").symlink_to(other)
    assert handed_over(host, folder / "in")["error_code"] == "path_unsafe"


def test_a_project_cannot_allow_more(host, tmp_path, host_tree):
    host.project("acme")
    host_tree.write(PROJECT_SAVED, json.dumps({"allowed_roots": [str(tmp_path)]}))
    other = tmp_path / "elsewhere"
    other.mkdir()
    assert handed_over(host, other)["error_code"] == "path_unsafe"


@pytest.mark.parametrize("where", ["another project", "allowed"])
def test_a_project_of_the_host_and_an_allowed_folder_are_taken_with_a_warning(host, allowed, where):
    other = host.project("other") if where == "another project" else allowed
    host.project("acme")
    handed_over(host, other)
    assert any("active project" in told for told in result_of(host)["package"]["warnings"])
    assert of_kind(other, "prepared")


def test_in_the_project_and_without_an_active_one_nothing_is_said(host, tmp_path):
    other = tmp_path / "elsewhere"
    other.mkdir()
    handed_over(host, other)
    part = host.project("acme") / "part"
    part.mkdir()
    host.script({"agent0": [hand_over(project_root=str(part), topic="x"), respond("ok")]})
    host.say("Go")
    warnings = result_of(host)["package"]["warnings"]
    assert not any("active project" in told for told in warnings)
    assert of_kind(other, "prepared")
    assert of_kind(part, "prepared")

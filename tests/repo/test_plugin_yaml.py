"""plugin.yaml is what Agent Zero and the Plugin Index accept."""

import os
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = yaml.safe_load((ROOT / "plugin.yaml").read_text(encoding="utf-8"))

KNOWN = {
    "name": str,
    "title": str,
    "description": str,
    "version": str,
    "settings_sections": list,
    "per_project_config": bool,
    "per_agent_config": bool,
    "always_enabled": bool,
}
SECTIONS = {"agent", "external", "mcp", "developer", "backup"}


def test_it_has_the_keys_the_host_knows_and_no_other():
    assert set(PLUGIN) == set(KNOWN)


@pytest.mark.skipif("A0_ROOT" not in os.environ, reason="A0_ROOT names no Agent Zero checkout")
def test_the_keys_are_those_of_the_real_host():
    source = (Path(os.environ["A0_ROOT"]) / "helpers/plugins.py").read_text(encoding="utf-8")
    # Read as text: the host is written for 3.12, which an older ast module cannot parse.
    body = re.search(r"^class PluginMetadata\(.*\):\n((?:    .*\n|\n)+)", source, re.MULTILINE)
    assert body is not None
    assert set(re.findall(r"^    (\w+):", body.group(1), re.MULTILINE)) == set(KNOWN)


def test_each_value_has_the_type_the_host_reads():
    for key in KNOWN:
        assert type(PLUGIN[key]) is KNOWN[key]


def test_the_name_is_an_identifier_that_imports_can_use():
    assert PLUGIN["name"] == "software_orchestrator"
    assert re.fullmatch(r"[a-z0-9_]+", PLUGIN["name"])


def test_the_settings_stand_in_a_section_that_the_host_shows():
    assert PLUGIN["settings_sections"]
    assert set(PLUGIN["settings_sections"]) <= SECTIONS


def test_title_and_description_fit_the_plugin_index():
    assert 0 < len(PLUGIN["title"]) <= 50
    assert 0 < len(PLUGIN["description"]) <= 500


def test_a_person_can_switch_it_off():
    assert PLUGIN["always_enabled"] is False


def test_the_version_is_that_of_the_newest_changelog_entry():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?(\d+\.\d+\.\d+)", changelog, re.MULTILINE)
    assert newest is not None, "CHANGELOG.md has no heading like `## 0.1.0`"
    assert PLUGIN["version"] == newest.group(1)


def test_the_licence_stands_where_the_index_looks_for_it():
    assert "MIT License" in (ROOT / "LICENSE").read_text(encoding="utf-8")

"""`execute.py key` and `trust`: the settings of the installation hold whom it believes."""

import json

import pytest

from usr.plugins.software_orchestrator.helpers.cli import call as cli_call
from usr.plugins.software_orchestrator.helpers.cli import keys
from usr.plugins.software_orchestrator.helpers.cli.main import main
from usr.plugins.software_orchestrator.helpers.records.identity import signer_of
from usr.plugins.software_orchestrator.helpers.records.local import local_ports

THEIRS = signer_of(b"t" * 32).public


@pytest.fixture
def saved(tmp_path, monkeypatch):
    file = tmp_path / "config.json"
    for module in (cli_call, keys):
        monkeypatch.setattr(module, "saved_settings", lambda: file)
    return file


def test_the_public_key_is_the_first_line(capsys):
    assert main(["key"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == signer_of(local_ports().key()).public
    assert lines[1].startswith("fingerprint ") and lines[2].startswith("kept in ")


def test_a_trusted_installation_is_added_listed_changed_and_removed(saved, capsys):
    saved.write_text('{"max_context_tokens": 2000}')
    assert main(["trust", THEIRS.upper(), "--name", "workshop"]) == 0
    work = ["--work", "--project", "shop", "--profiles", "frontend_designer, quality_reviewer"]
    assert main(["trust", THEIRS, "--name", "workshop", *work]) == 0
    held = json.loads(saved.read_text())
    assert held["max_context_tokens"] == 2000
    assert held["trusted"] == [
        {
            "name": "workshop",
            "key": THEIRS,
            "work": True,
            "project": "shop",
            "profiles": ["frontend_designer", "quality_reviewer"],
        }
    ]
    capsys.readouterr()
    assert main(["trust", "--list"]) == 0
    assert "frontend_designer" in capsys.readouterr().out
    assert main(["trust", "--remove", "Workshop"]) == 0
    assert json.loads(saved.read_text())["trusted"] == []


@pytest.mark.parametrize(
    "wrong",
    [
        ["12ab", "--name", "x"],
        [THEIRS],
        ["--name", "x"],
        [THEIRS, "--name", "x", "--work"],
        [THEIRS, "--remove"],
        [THEIRS, "--name", "x" * 61],
    ],
)
def test_what_is_no_key_or_says_too_little_is_refused_and_nothing_is_written(saved, capsys, wrong):
    assert main(["trust", *wrong]) == 1
    assert capsys.readouterr().err.startswith("ERROR: ")
    assert not saved.exists()

"""What is known of a project's files, and whether they are still the same; nothing outside is read."""

import os

import pytest

from usr.plugins.software_orchestrator.helpers.records import artifacts
from usr.plugins.software_orchestrator.helpers.records.artifacts import (
    HASHED_BYTES,
    Facts,
    artifact_facts,
    check_artifact,
)
from usr.plugins.software_orchestrator.helpers.values.packet import Artifact


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src/a.txt").write_text("abc")
    (tmp_path / "secret.txt").write_text("secret")
    return root


def recorded(project, path):
    facts = artifact_facts(project, path)
    return Artifact(path=path, sha256=facts.sha256, size=facts.size)


@pytest.mark.parametrize("spelling", ["src/a.txt", "./src/../src/a.txt", "absolute"])
def test_an_artifact_that_stayed_is_unchanged(project, spelling):
    path = str(project / "src/a.txt") if spelling == "absolute" else spelling
    artifact = recorded(project, path)
    assert (len(artifact.sha256), artifact.size) == (64, 3)
    assert check_artifact(project, artifact) == "unchanged"


def test_an_artifact_that_moved_on_is_told(project):
    artifact = recorded(project, "src/a.txt")
    (project / "src/a.txt").write_text("abd")
    assert check_artifact(project, artifact) == "changed"
    (project / "src/a.txt").unlink()
    assert check_artifact(project, artifact) == "gone"
    (project / "src").rmdir()
    (project / "src").write_text("a file where the folder was")
    assert check_artifact(project, artifact) == "gone"


@pytest.mark.parametrize(
    "path", ["../secret.txt", "/etc/passwd", "src/../../secret.txt", "link/secret.txt", "link2"]
)
def test_an_artifact_outside_the_project_is_never_read(project, path):
    (project / "link").symlink_to(project.parent)
    (project / "link2").symlink_to(project.parent / "secret.txt")
    assert artifact_facts(project, path) == Facts(missing="outside")
    assert check_artifact(project, Artifact(path=path, sha256="0" * 64, size=6)) == "outside"


@pytest.mark.parametrize("path", ["", ".", "src", "pipe", "a\0b", "\ud83c", "x" * 5000, "loop"])
def test_what_is_not_a_plain_file_is_unrecorded(project, path):
    os.mkfifo(project / "pipe")
    (project / "loop").symlink_to("loop")
    assert artifact_facts(project, path) == Facts(missing="unrecorded")


def test_a_reference_that_was_never_a_file_is_unrecorded(project):
    assert check_artifact(project, Artifact(path="https://example.org/design")) == "unrecorded"


def test_a_link_put_in_after_the_look_is_not_followed(project, monkeypatch):
    inside = artifacts._inside(project, "src/a.txt")
    (project / "src/a.txt").unlink()
    (project / "src/a.txt").symlink_to(project.parent / "secret.txt")
    monkeypatch.setattr(artifacts, "_inside", lambda root, path: inside)
    assert artifact_facts(project, "src/a.txt") == Facts(missing="unrecorded")


def test_of_a_huge_artifact_only_the_size_is_compared(project):
    with (project / "huge").open("wb") as file:
        file.truncate(HASHED_BYTES + 1)
    artifact = recorded(project, "huge")
    assert (artifact.sha256, artifact.size) == ("", HASHED_BYTES + 1)
    assert check_artifact(project, artifact) == "unchanged"
    os.truncate(project / "huge", HASHED_BYTES + 2)
    assert check_artifact(project, artifact) == "changed"

"""Only plain files with one name are opened, and what is made once is whole or not there."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from usr.plugins.software_orchestrator.helpers.records import files
from usr.plugins.software_orchestrator.helpers.records.files import open_append, open_read
from usr.plugins.software_orchestrator.helpers.records.folder import HandoverFolder
from usr.plugins.software_orchestrator.helpers.records.key import installation_key, key_folder
from usr.plugins.software_orchestrator.tests.core.odd_files import (
    ODD,
    full_disk,
    refused,
    without_rights,
)


@pytest.fixture
def folder(tmp_path):
    return HandoverFolder.open(str(tmp_path), create=True)


def no_links(*args, **kwargs):
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
@pytest.mark.parametrize("open_file", [open_append, open_read])
def test_only_plain_files_are_opened(folder, tmp_path, make, open_file):
    outside = tmp_path / "outside.md"
    outside.write_text("theirs")
    path = folder.briefing_path("x.md")
    make(path, outside)
    refused("path_unsafe", open_file, path)
    assert outside.read_text() == "theirs"
    assert not outside.with_name("nothing").exists()


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
@pytest.mark.parametrize("open_file", [open_append, open_read])
def test_what_takes_the_files_place_after_the_look_is_not_opened_either(
    folder, tmp_path, monkeypatch, make, open_file
):
    outside = tmp_path / "outside.md"
    outside.write_text("theirs")
    path = folder.briefing_path("x.md")
    make(path, outside)
    monkeypatch.setattr(files, "exists", lambda name, at: False)
    refused("path_unsafe", open_file, path)
    assert outside.read_text() == "theirs"


def test_reading_what_is_not_there_says_so(folder):
    with pytest.raises(FileNotFoundError):
        open_read(folder.briefing_path("x.md"))


# --- the key ---


def test_the_key_is_32_bytes_that_only_the_owner_reads_and_stays_the_same(tmp_path):
    key = installation_key(tmp_path)
    file = key_folder(tmp_path) / "installation.key"
    assert (len(key), file.read_bytes(), file.stat().st_mode & 0o777) == (32, key, 0o600)
    assert installation_key(tmp_path) == key
    assert [one.name for one in file.parent.iterdir()] == ["installation.key"]


def test_all_who_ask_at_once_get_the_same_key(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(installation_key, [tmp_path] * 64))
    assert len(keys) == 1


def test_a_file_system_without_hard_links_gets_a_key_too(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", no_links)
    assert installation_key(tmp_path) == installation_key(tmp_path)


def test_the_key_lies_where_removing_the_plugin_does_not_reach(tmp_path):
    plugin = tmp_path / "a0/usr/plugins/software_orchestrator"
    plugin.mkdir(parents=True)
    installation_key(plugin)
    kept = tmp_path / "a0/usr/software_orchestrator/installation.key"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert not plugin.is_relative_to(key_folder(tmp_path / "other"))
    assert key_folder(tmp_path / "other") != key_folder(tmp_path / "another")


def test_the_key_of_an_earlier_version_is_moved_by_whoever_comes_first(tmp_path):
    before = tmp_path / "data/installation.key"
    before.parent.mkdir()
    before.write_bytes(b"k" * 32)
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(installation_key, [tmp_path] * 64))
    assert keys == {b"k" * 32}
    assert not before.exists()


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_key_of_another_length_is_refused_and_left(tmp_path, content):
    for folder in (tmp_path / "data", key_folder(tmp_path)):  # an earlier version's, and ours
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "installation.key").write_bytes(content)
        assert "must hold 32 bytes" in refused("append_failed", installation_key, tmp_path)
        assert (folder / "installation.key").read_bytes() == content


def test_a_key_that_cannot_be_made_is_an_error_with_the_reason(tmp_path):
    key_folder(tmp_path).mkdir(parents=True)
    with without_rights(key_folder(tmp_path)):
        assert "Permission denied" in refused("append_failed", installation_key, tmp_path)


@pytest.mark.parametrize("has_links", [True, False])
def test_a_full_disk_leaves_nothing_of_a_key(tmp_path, monkeypatch, has_links):
    if not has_links:
        monkeypatch.setattr(os, "link", no_links)
    for free_bytes in (0, 7):
        with full_disk(free_bytes):
            refused("append_failed", installation_key, tmp_path)
        assert list(key_folder(tmp_path).iterdir()) == []


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o622])
def test_a_key_that_others_could_read_is_taken_from_them_and_that_is_said(tmp_path, caplog, mode):
    key = installation_key(tmp_path)
    assert not caplog.records
    file = key_folder(tmp_path) / "installation.key"
    file.chmod(mode)
    assert installation_key(tmp_path) == key
    assert file.stat().st_mode & 0o777 == 0o600
    assert [str(file) in record.getMessage() for record in caplog.records] == [True]


def test_a_key_that_cannot_be_taken_from_others_is_refused(tmp_path, monkeypatch):
    installation_key(tmp_path)
    (key_folder(tmp_path) / "installation.key").chmod(0o644)
    monkeypatch.setattr(os, "fchmod", no_links)
    assert "mode 600" in refused("append_failed", installation_key, tmp_path)

"""Names are legal and tell topics apart; nothing outside the folder is ever opened."""

import os
import re
import socket
import sys
import threading
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.records import artifacts, files
from usr.plugins.software_orchestrator.helpers.records import folder as records_folder
from usr.plugins.software_orchestrator.helpers.records.folder import HandoverFolder
from usr.plugins.software_orchestrator.helpers.records.key import installation_key
from usr.plugins.software_orchestrator.helpers.values.errors import RecordError
from usr.plugins.software_orchestrator.helpers.values.packet import Artifact

DEVICES = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
}
NOBODY = 65534

any_text = st.text(st.characters(exclude_categories=()), max_size=400)  # lone surrogates too
plain_topic = st.from_regex(r"[A-Za-z0-9]{1,12}([ _-][A-Za-z0-9]{1,12}){0,3}", fullmatch=True)


@pytest.fixture
def folder(tmp_path):
    return HandoverFolder.open(str(tmp_path), create=True)


def refused(code, action, *args, **kwargs):
    with pytest.raises(RecordError) as caught:
        action(*args, **kwargs)
    assert caught.value.code == code
    return str(caught.value)


# --- names ---


@pytest.mark.parametrize(
    ("topic", "slug"),
    [
        ("Landing page hero", "landing-page-hero"),
        ("landing-page-hero", "landing-page-hero"),
        ("auth login", "auth-login"),
        ("  auth_login\n", "auth-login"),
        ("OAuth2", "oauth2"),
    ],
)
def test_a_topic_of_plain_words_is_its_slug(topic, slug):
    assert records_folder.topic_slug(topic) == slug


@pytest.mark.parametrize(
    "topic",
    [
        "C++ build",
        "Auth/login",
        "🚀",
        "数据库迁移",
        "CON",
        "nul",
        "a - b",
        "a:b",
        "é",
        "",
        "\0",
        "x" * 61,
        "\ud83c",
    ],
)
def test_every_other_topic_carries_a_short_hash(topic):
    assert re.fullmatch(r"[a-z0-9-]+-[0-9a-f]{8}", records_folder.topic_slug(topic))


def test_topics_that_look_alike_get_different_files():
    topics = [
        "数据库迁移",
        "认证修复",
        "🚀🔥",
        "ทดสอบ",
        "C++ build",
        "C# build",
        "c build",
        "Auth/login",
        "auth login",
    ]
    topics += [
        "x" * 299 + "a",
        "x" * 299 + "b",
        "../../etc/cron.d/x",
        "..\\..\\x",
        "a:b",
        "a/b",
        "a b",
        "a\0b",
    ]
    assert len({records_folder.topic_slug(topic) for topic in topics}) == len(topics)


def test_a_topic_cannot_be_spelled_like_the_hashed_slug_of_another():
    hashed = records_folder.topic_slug("C++ build")
    assert records_folder.topic_slug(hashed) != hashed


@given(any_text)
def test_any_topic_gives_a_legal_name_within_120_characters(topic):
    folder = HandoverFolder(Path("/project"))
    name = folder.briefing_name("a-very-long-specialist-name-" * 5, topic, date(2026, 6, 5))
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*-2026-06-05\.md", name)
    assert len(name) <= 120
    assert name.split(".")[0] not in DEVICES
    assert folder.briefing_path(name).parent == folder.path


@given(any_text, any_text)
def test_any_topic_and_chat_give_a_legal_chain_id(topic, chat):
    folder = HandoverFolder(Path("/project"))
    chain = folder.chain_id(topic, chat)
    assert re.fullmatch(r"[a-z0-9-]+-[A-Za-z0-9_]+", chain)
    assert chain.lower() not in DEVICES
    assert len(folder.ledger_path(chain).name) <= 120


@given(st.lists(any_text, min_size=2, max_size=6))
def test_raw_topics_share_a_slug_only_when_they_are_the_same_words(topics):
    by_slug = {}
    for topic in topics:
        raw = unicodedata.normalize("NFC", topic).strip()
        words = re.sub("[ _]", "-", raw.lower()) if raw.isascii() else raw
        assert by_slug.setdefault(records_folder.topic_slug(topic), words) == words


@given(plain_topic, st.sampled_from([" ", "_", "-"]), st.booleans())
def test_case_and_separators_of_plain_words_do_not_matter(topic, separator, upper):
    same = re.sub("[ _-]", separator, topic.upper() if upper else topic)
    assume(not re.search(r"-[0-9a-f]{8}$", records_folder.topic_slug(topic)))
    assert records_folder.topic_slug(same) == records_folder.topic_slug(topic)


def test_the_same_topic_composed_and_decomposed_is_one_topic():
    assert records_folder.topic_slug("Café") == records_folder.topic_slug(
        unicodedata.normalize("NFD", "Café")
    )


def test_a_device_name_is_never_a_whole_slug():
    assert not DEVICES & {
        records_folder.topic_slug(name) for device in DEVICES for name in (device, device.upper())
    }


def test_a_hosts_chat_id_stays_as_it_is():
    assert (
        HandoverFolder(Path("/p")).chain_id("Landing page hero", "ujOeHwdF")
        == "landing-page-hero-ujOeHwdF"
    )
    assert HandoverFolder(Path("/p")).chain_id("x", "cli") == "x-cli"


def test_topic_and_chat_cannot_be_cut_at_another_hyphen():
    folder = HandoverFolder(Path("/p"))
    assert folder.chain_id("a", "b-c") != folder.chain_id("a-b", "c")


@pytest.mark.parametrize("day", [date(2026, 6, 5), "2026-06-05", "2026-06-05T14:03:07.123456Z"])
def test_a_briefing_is_named_by_specialist_topic_and_day(day):
    name = HandoverFolder(Path("/p")).briefing_name("frontend_designer", "Landing page hero", day)
    assert name == "frontend-designer-landing-page-hero-2026-06-05.md"


def test_plain_topics_need_no_slugify_and_others_say_that_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "slugify", None)
    assert records_folder.topic_slug("auth login") == "auth-login"
    said = refused("append_failed", records_folder.topic_slug, "C++")
    assert "python-slugify" in said
    assert "python execute.py" in said


@pytest.mark.parametrize(
    "name",
    [
        "../x.md",
        "/etc/x.md",
        "a/b.md",
        "x.txt",
        "x",
        ".md",
        "",
        "a\0.md",
        "a\n.md",
        "x" * 118 + ".md",
        "..",
        "é.md",
    ],
)
def test_a_briefing_of_another_name_is_refused(folder, name):
    refused("path_unsafe", folder.briefing_path, name)


@pytest.mark.parametrize("chain", ["", "..", "../x", "a/b", "a\0", "x" * 200, "a.b"])
def test_a_chain_of_another_name_is_refused(folder, chain):
    refused("path_unsafe", folder.ledger_path, chain)


# --- the folder ---


@pytest.mark.parametrize("root", ["relative", "", "./x", "~", "C:\\project"])
def test_a_relative_root_is_refused(root):
    assert "project_root must be absolute" in refused(
        "root_not_absolute", HandoverFolder.open, root
    )


@pytest.mark.parametrize(
    "root", ["/nonexistent/project", "/dev/null", "/a\0b", "/\ud83c", "/" + "x" * 5000]
)
def test_a_root_that_is_no_folder_is_refused(root):
    refused("path_unsafe", HandoverFolder.open, root, create=True)


def test_looking_makes_nothing(tmp_path):
    folder = HandoverFolder.open(str(tmp_path))
    assert (folder.briefings(), folder.ledgers()) == ((), ())
    assert list(tmp_path.iterdir()) == []


def test_a_project_reached_through_a_link_is_fine(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    HandoverFolder.open(str(tmp_path / "link"), create=True)
    assert (tmp_path / "real/.a0proj/handover/chains").is_dir()


@pytest.mark.parametrize("part", [".a0proj", ".a0proj/handover", ".a0proj/handover/chains"])
@pytest.mark.parametrize("kind", ["link", "dangling link", "file", "fifo"])
@pytest.mark.parametrize("create", [True, False])
def test_a_part_of_the_way_that_is_no_folder_is_refused_and_nothing_is_written(
    tmp_path, part, kind, create
):
    project, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    target = project / part
    target.parent.mkdir(parents=True)
    {
        "link": lambda: target.symlink_to(outside),
        "dangling link": lambda: target.symlink_to(tmp_path / "nothing"),
        "file": lambda: target.write_text("x"),
        "fifo": lambda: os.mkfifo(target),
    }[kind]()
    refused("path_unsafe", HandoverFolder.open, str(project), create=create)
    assert list(outside.iterdir()) == []
    assert not (tmp_path / "nothing").exists()


def test_a_folder_swapped_for_a_link_after_it_was_checked_is_refused(folder, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    folder.path.rename(tmp_path / "moved")
    folder.path.symlink_to(outside)
    refused("path_unsafe", files.open_append, folder.briefing_path("x.md"))
    refused("path_unsafe", records_folder.write_gitignore, folder, "all")
    refused("path_unsafe", folder.lock(1).__enter__)
    assert list(outside.iterdir()) == []


def make_link(path, outside):
    path.symlink_to(outside)


def make_dangling_link(path, outside):
    path.symlink_to(outside.with_name("nothing"))


def make_hard_link(path, outside):
    path.hardlink_to(outside)


def make_fifo(path, outside):
    os.mkfifo(path)


def make_folder(path, outside):
    path.mkdir()


def make_socket(path, outside):
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket is at most about 100 characters long
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


@pytest.mark.parametrize(
    "make", [make_link, make_dangling_link, make_hard_link, make_fifo, make_folder, make_socket]
)
@pytest.mark.parametrize("open_file", [files.open_append, files.open_read])
def test_only_plain_files_are_opened(folder, tmp_path, make, open_file):
    outside = tmp_path / "outside.md"
    outside.write_text("theirs")
    path = folder.briefing_path("x.md")
    make(path, outside)
    refused("path_unsafe", open_file, path)
    assert outside.read_text() == "theirs"
    assert not outside.with_name("nothing").exists()


@pytest.mark.parametrize("make", [make_link, make_hard_link, make_fifo, make_folder, make_socket])
@pytest.mark.parametrize("open_file", [files.open_append, files.open_read])
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
        files.open_read(folder.briefing_path("x.md"))


def test_only_our_own_kinds_of_names_are_listed(folder):
    for name in ("b.md", "a.md", "é.md", "a b.md", ".hidden.md", "x.txt"):
        (folder.path / name).write_text("")
    assert [path.name for path in folder.briefings()] == ["a.md", "b.md"]


# --- the system says no ---


@contextmanager
def without_rights(*folders: Path):
    """Folders that cannot be written, also when the tests run as root."""
    root = os.geteuid() == 0
    for one in folders:
        one.chmod(0o555)
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        for one in folders:
            one.chmod(0o755)


@pytest.fixture
def reachable(tmp_path):
    """A project that another user can reach: pytest's own folders are closed to others."""
    changed = []
    for one in (tmp_path, *tmp_path.parents):
        if one.stat().st_uid == os.geteuid() and not one.stat().st_mode & 0o001:
            changed.append((one, one.stat().st_mode))
            one.chmod(0o755)
    yield tmp_path
    for one, mode in changed:
        one.chmod(mode)


def test_a_read_only_project_is_an_error_with_the_reason(reachable):
    with without_rights(reachable):
        said = refused("append_failed", HandoverFolder.open, str(reachable), create=True)
    assert "failed to append briefing file: Permission denied" in said


def test_a_read_only_folder_is_an_error_with_the_reason(reachable):
    folder = HandoverFolder.open(str(reachable), create=True)
    with without_rights(folder.path, folder.chains):
        assert "Permission denied" in refused("append_failed", folder.lock(1).__enter__)
        assert "Permission denied" in refused(
            "append_failed", records_folder.write_gitignore, folder, "all"
        )


# --- the lock ---


def test_a_lock_held_for_ever_is_an_error_in_bounded_time(folder):
    started = time.monotonic()
    with folder.lock(5), ThreadPoolExecutor(1) as other:
        said = other.submit(refused, "append_failed", folder.lock(0.2).__enter__).result(10)
    assert "failed to append briefing file: the lock" in said
    assert time.monotonic() - started < 5


def test_threads_hold_the_lock_one_at_a_time(folder):
    inside, most = [], []

    def work():
        for _ in range(5):
            with folder.lock(30):
                inside.append(threading.get_ident())
                most.append(len(inside))
                time.sleep(0.001)
                inside.pop()

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work) for _ in range(4)]:
            done.result()
    assert (len(most), max(most)) == (20, 1)


def test_the_lock_is_free_again_after_an_error_inside(folder):
    with pytest.raises(KeyError), folder.lock(1):
        raise KeyError
    with folder.lock(1):
        pass


@pytest.mark.parametrize(
    "make", [make_link, make_dangling_link, make_hard_link, make_fifo, make_folder]
)
def test_a_lock_file_that_is_something_else_is_refused(folder, tmp_path, make):
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    make(folder.chains / ".lock", outside)
    refused("path_unsafe", folder.lock(1).__enter__)
    assert outside.read_text() == "theirs"


def test_a_missing_filelock_says_how_to_get_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "filelock", None)
    said = refused("append_failed", folder.lock(1).__enter__)
    assert "filelock is not installed" in said
    assert "pip install filelock" in said


# --- made once ---


@pytest.mark.parametrize(
    ("mode", "content"), [("chains", "chains/\n"), ("all", "*\n"), ("none", None)]
)
def test_the_ignore_file_follows_the_setting(folder, mode, content):
    records_folder.write_gitignore(folder, mode)
    file = folder.path / ".gitignore"
    assert (file.read_text() if file.exists() else None) == content
    assert [
        one.name for one in folder.path.iterdir() if one.name not in ("chains", ".gitignore")
    ] == []


def test_an_ignore_file_that_a_person_changed_stays(folder):
    (folder.path / ".gitignore").write_text("mine\n")
    records_folder.write_gitignore(folder, "all")
    assert (folder.path / ".gitignore").read_text() == "mine\n"


def test_the_key_is_32_bytes_that_only_the_owner_reads_and_stays_the_same(tmp_path):
    key = installation_key(tmp_path)
    file = tmp_path / "data/installation.key"
    assert (len(key), file.read_bytes(), file.stat().st_mode & 0o777) == (32, key, 0o600)
    assert installation_key(tmp_path) == key
    assert [one.name for one in file.parent.iterdir()] == ["installation.key"]


def test_all_who_ask_at_once_get_the_same_key(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(installation_key, [tmp_path] * 64))
    assert len(keys) == 1


def test_a_file_system_without_hard_links_gets_a_key_too(tmp_path, monkeypatch):
    def no_links(*args, **kwargs):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    assert installation_key(tmp_path) == installation_key(tmp_path)


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_key_of_another_length_is_refused_and_left(tmp_path, content):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/installation.key").write_bytes(content)
    assert "must hold 32 bytes" in refused("append_failed", installation_key, tmp_path)
    assert (tmp_path / "data/installation.key").read_bytes() == content


def test_a_key_that_cannot_be_made_is_an_error_with_the_reason(reachable):
    with without_rights(reachable):
        assert "Permission denied" in refused("append_failed", installation_key, reachable)


# --- artifacts ---


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src/a.txt").write_text("abc")
    (tmp_path / "secret.txt").write_text("secret")
    return root


def recorded(project, path):
    facts = artifacts.artifact_facts(project, path)
    return Artifact(path=path, sha256=facts.sha256, size=facts.size)


@pytest.mark.parametrize("spelling", ["src/a.txt", "./src/../src/a.txt", "absolute"])
def test_an_artifact_that_stayed_is_unchanged(project, spelling):
    path = str(project / "src/a.txt") if spelling == "absolute" else spelling
    artifact = recorded(project, path)
    assert (len(artifact.sha256), artifact.size) == (64, 3)
    assert artifacts.check_artifact(project, artifact) == "unchanged"


def test_an_artifact_that_moved_on_is_told(project):
    artifact = recorded(project, "src/a.txt")
    (project / "src/a.txt").write_text("abd")
    assert artifacts.check_artifact(project, artifact) == "changed"
    (project / "src/a.txt").unlink()
    assert artifacts.check_artifact(project, artifact) == "gone"
    (project / "src").rmdir()
    (project / "src").write_text("a file where the folder was")
    assert artifacts.check_artifact(project, artifact) == "gone"


@pytest.mark.parametrize(
    "path", ["../secret.txt", "/etc/passwd", "src/../../secret.txt", "link/secret.txt", "link2"]
)
def test_an_artifact_outside_the_project_is_never_read(project, path):
    (project / "link").symlink_to(project.parent)
    (project / "link2").symlink_to(project.parent / "secret.txt")
    assert artifacts.artifact_facts(project, path) == artifacts.Facts(missing="outside")
    assert (
        artifacts.check_artifact(project, Artifact(path=path, sha256="0" * 64, size=6)) == "outside"
    )


@pytest.mark.parametrize("path", ["", ".", "src", "pipe", "a\0b", "\ud83c", "x" * 5000, "loop"])
def test_what_is_not_a_plain_file_is_unrecorded(project, path):
    os.mkfifo(project / "pipe")
    (project / "loop").symlink_to("loop")
    assert artifacts.artifact_facts(project, path) == artifacts.Facts(missing="unrecorded")


def test_a_reference_that_was_never_a_file_is_unrecorded(project):
    assert (
        artifacts.check_artifact(project, Artifact(path="https://example.org/design"))
        == "unrecorded"
    )


def test_a_link_put_in_after_the_look_is_not_followed(project, monkeypatch):
    inside = artifacts._inside(project, "src/a.txt")
    (project / "src/a.txt").unlink()
    (project / "src/a.txt").symlink_to(project.parent / "secret.txt")
    monkeypatch.setattr(artifacts, "_inside", lambda root, path: inside)
    assert artifacts.artifact_facts(project, "src/a.txt") == artifacts.Facts(missing="unrecorded")


def test_of_a_huge_artifact_only_the_size_is_compared(project):
    with (project / "huge").open("wb") as file:
        file.truncate(artifacts.HASHED_BYTES + 1)
    artifact = recorded(project, "huge")
    assert (artifact.sha256, artifact.size) == ("", artifacts.HASHED_BYTES + 1)
    assert artifacts.check_artifact(project, artifact) == "unchanged"
    os.truncate(project / "huge", artifacts.HASHED_BYTES + 2)
    assert artifacts.check_artifact(project, artifact) == "changed"

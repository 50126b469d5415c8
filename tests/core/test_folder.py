"""Names are legal and tell topics apart; the folder is opened safely and locked by one at a time."""

import errno
import fcntl
import os
import re
import sys
import threading
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.flow import standing
from usr.plugins.software_orchestrator.helpers.records import files
from usr.plugins.software_orchestrator.helpers.records import folder as records_folder
from usr.plugins.software_orchestrator.helpers.records import lock as records_lock
from usr.plugins.software_orchestrator.helpers.records.folder import (
    HandoverFolder,
    topic_slug,
    write_git_files,
)
from usr.plugins.software_orchestrator.helpers.values import names
from usr.plugins.software_orchestrator.tests.core.odd_files import (
    ODD,
    full_disk,
    refused,
    without_rights,
)

DEVICES = {"con", "prn", "aux", "nul", *(f"{p}{n}" for p in ("com", "lpt") for n in range(10))}

any_text = st.text(st.characters(exclude_categories=()), max_size=400)  # lone surrogates too
plain_topic = st.from_regex(r"[A-Za-z0-9]{1,12}([ _-][A-Za-z0-9]{1,12}){0,3}", fullmatch=True)


@pytest.fixture
def folder(tmp_path):
    return HandoverFolder.open(str(tmp_path), create=True)


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
    assert topic_slug(topic) == slug


@pytest.mark.parametrize(
    "topic",
    [
        "C++ build",
        "Auth/login",
        "🚀",
        "数据库迁移",
        "CON",
        "nul",
        "a:b",
        "é",
        "",
        "\0",
        "x" * 61,
        "\ud83c",
    ],
)
def test_every_other_topic_carries_a_short_hash(topic):
    assert re.fullmatch(r"[a-z0-9-]+-[0-9a-f]{8}", topic_slug(topic))


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
    assert len({topic_slug(topic) for topic in topics}) == len(topics)


def test_a_topic_cannot_be_spelled_like_the_hashed_slug_of_another():
    hashed = topic_slug("C++ build")
    assert topic_slug(hashed) != hashed


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
def test_topics_share_a_slug_only_when_they_have_one_key(topics):
    by_slug = {}
    for topic in topics:
        words = names.key(topic) or topic
        assert by_slug.setdefault(topic_slug(topic), words) == words


ONE = {
    "hero": [
        "hero.",
        "'hero'",
        "hero\u200b",
        "(Hero)",
        "\u201chero\u201d!",
        "\uff48\uff45\uff52\uff4f",
        " hero \n",
    ],
    "Auth/login": ["auth/login", "AUTH/LOGIN...", '"Auth/login"'],
    "\u6570\u636e\u5e93\u8fc1\u79fb": [
        "\u6570\u636e\u5e93\u8fc1\u79fb\u3002",
        "\u300c\u6570\u636e\u5e93\u8fc1\u79fb\u300d",
    ],
    "Stra\u00dfe": ["STRASSE", "strasse"],
    "landing page - hero": ["Landing\u2011page hero", "landing_page\u00a0hero"],
    "C++": ["c++.", "\uff23\uff0b\uff0b"],
}


@pytest.mark.parametrize(("topic", "same"), [(topic, one) for topic in ONE for one in ONE[topic]])
def test_one_topic_in_another_dress_is_one_topic(topic, same):
    assert topic_slug(same) == topic_slug(topic)


@pytest.mark.parametrize(
    "topics",
    [
        ("C", "C#", "C++"),
        (".NET", "NET"),
        ("?", "!", "..."),
        ("\U0001f680", "\U0001f525"),
        ("a b", "ab"),
    ],
)
def test_topics_that_differ_in_more_than_dress_are_apart(topics):
    assert len(set(map(topic_slug, topics))) == len(topics)


@pytest.mark.parametrize("topic", ["Straße 1", "数据库迁移", "C++ build", "hero"])
def test_a_chain_is_found_whatever_transliterated_its_topic(desk, monkeypatch, topic):
    first = desk.call("hacker", topic=topic, state={"prices": {"status": "declined"}})
    monkeypatch.setattr(records_folder, "_slugified", lambda text: "other-letters")
    again = desk.call("solution_architect", topic=f"{topic}.", summary="more")
    assert again.packet.identity.chain_id == first.packet.identity.chain_id
    assert again.packet.identity.hop == 2
    assert [item.status for item in again.packet.state] == ["declined"]
    slug = records_folder.topic_part(first.packet.identity.chain_id)
    assert all(f"-{slug}-" in path.name for path in desk.folder.briefings())


@pytest.mark.parametrize("topic", ["Hero: part 2", "C++ build", "数据库迁移", "Café", "CON"])
def test_a_chain_that_0_1_0_named_is_found_by_its_topic(desk, monkeypatch, topic):
    old = records_folder._unique_slug(topic, records_folder.TOPIC_CHARS, "topic")
    with monkeypatch.context() as before:
        before.setattr(records_folder, "topic_slug", lambda topic: old)
        first = desk.call("hacker", topic=topic)
    assert first.packet.identity.chain_id == f"{old}-chat1"
    again = desk.call("solution_architect", topic=topic, summary="more")
    assert (again.packet.identity.chain_id, again.packet.identity.hop) == (f"{old}-chat1", 2)
    assert again.briefing.path.name.startswith(f"solution-architect-{old}-")
    assert standing.standing(desk.as_call())


@pytest.mark.parametrize(
    ("topic", "warned"),
    [
        ("login bug", False),
        ("Login bug!", False),
        ("login bugs", True),
        ("log-in bug", True),
        ("pricing table", False),
    ],
)
def test_a_near_topic_of_the_same_chat_is_named(desk, topic, warned):
    desk.call("hacker", topic="Login bug")
    told = desk.call("solution_architect", topic=topic, summary="x").warnings
    assert any('"Login bug"' in warning for warning in told) == warned


@given(plain_topic, st.sampled_from([" ", "_", "-"]), st.booleans())
def test_case_and_separators_of_plain_words_do_not_matter(topic, separator, upper):
    same = re.sub("[ _-]", separator, topic.upper() if upper else topic)
    assume(not re.search(r"-[0-9a-f]{8}$", topic_slug(topic)))
    assert topic_slug(same) == topic_slug(topic)


def test_the_same_topic_composed_and_decomposed_is_one_topic():
    assert topic_slug("Café") == topic_slug(unicodedata.normalize("NFD", "Café"))


def test_a_device_name_is_never_a_whole_slug():
    assert not DEVICES & {
        topic_slug(name) for device in DEVICES for name in (device, device.upper())
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
    assert topic_slug("auth login") == "auth-login"
    said = refused("append_failed", topic_slug, "C++")
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
    refused("path_unsafe", write_git_files, folder, "all")
    refused("path_unsafe", folder.lock(1).__enter__)
    assert list(outside.iterdir()) == []


def test_only_our_own_kinds_of_names_are_listed(folder):
    for name in ("b.md", "a.md", "é.md", "a b.md", ".hidden.md", "x.txt"):
        (folder.path / name).write_text("")
    assert [path.name for path in folder.briefings()] == ["a.md", "b.md"]


# --- the system says no ---


def test_a_read_only_project_is_an_error_with_the_reason(tmp_path):
    with without_rights(tmp_path):
        said = refused("append_failed", HandoverFolder.open, str(tmp_path), create=True)
    assert "failed to append briefing file: Permission denied" in said


def test_a_read_only_folder_is_an_error_with_the_reason(tmp_path):
    folder = HandoverFolder.open(str(tmp_path), create=True)
    with without_rights(folder.path, folder.chains):
        assert "Permission denied" in refused("append_failed", folder.lock(1).__enter__)
        assert "Permission denied" in refused("append_failed", write_git_files, folder, "all")


# --- the lock ---


def test_a_lock_held_for_ever_is_an_error_in_bounded_time(folder):
    with folder.lock(5), ThreadPoolExecutor(1) as other:
        said = other.submit(refused, "append_failed", folder.lock(0.2).__enter__).result(10)
    assert "failed to append briefing file: the lock" in said


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


def test_another_process_waits_and_goes_on_when_the_holder_is_gone(folder):
    with folder.lock(5):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with folder.lock(30):
                    status = 0
            finally:
                os._exit(status)
        time.sleep(0.05)
        assert os.waitpid(child, os.WNOHANG) == (0, 0)
    assert os.waitpid(child, 0)[1] == 0


def test_the_lock_is_free_again_after_an_error_inside(folder):
    with pytest.raises(KeyError), folder.lock(1):
        raise KeyError
    with folder.lock(1):
        pass


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
def test_a_lock_file_that_is_something_else_is_refused(folder, tmp_path, make):
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    make(folder.chains / ".lock", outside)
    refused("path_unsafe", folder.lock(1).__enter__)
    assert outside.read_text() == "theirs"


def test_a_link_put_in_the_lock_files_place_after_it_was_opened_is_not_followed(
    folder, tmp_path, monkeypatch
):
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    path = folder.chains / ".lock"

    def swapped(file, operation):
        if not path.is_symlink():
            path.unlink()
            path.symlink_to(outside)
        return real(file, operation)

    real = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", swapped)
    refused("path_unsafe", folder.lock(1).__enter__)
    assert outside.read_text() == "theirs"


def test_a_lock_file_that_was_removed_while_it_was_held_is_held_by_one_alone(folder):
    with folder.lock(1), ThreadPoolExecutor(1) as other:
        (folder.chains / ".lock").unlink()
        with folder.lock(1):
            said = other.submit(refused, "append_failed", folder.lock(0.1).__enter__).result(10)
    assert "was not free" in said


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK])
def test_a_file_system_without_locks_is_said_at_once(folder, monkeypatch, number):
    def no_locks(file, operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    monkeypatch.setattr(records_lock.time, "sleep", None)
    said = refused("append_failed", folder.lock(60).__enter__)
    assert "has no file locks" in said


# --- the ignore file ---


@pytest.mark.parametrize(
    ("mode", "content"),
    [("chains", "chains/\n"), ("all", "*\n"), ("none", "chains/.lock\nchains/*.end\n")],
)
def test_the_ignore_file_follows_the_setting(folder, mode, content):
    write_git_files(folder, mode)
    assert (folder.path / ".gitignore").read_text() == content
    assert (folder.path / ".gitattributes").read_text() == "* -text -merge\n"
    assert {one.name for one in folder.path.iterdir()} == {"chains", ".gitignore", ".gitattributes"}


def test_an_ignore_file_that_a_person_changed_stays(folder):
    for mine in ("mine", "mine\n", "", "chains/*\n!chains/x\n"):
        (folder.path / ".gitignore").write_text(mine)
        for _ in range(2):
            write_git_files(folder, "all")
        said = (folder.path / ".gitignore").read_text()
        assert said.startswith(mine)
        assert said.count("chains/.lock\n") == (0 if "chains/*" in mine else 1)


@pytest.mark.parametrize("has_links", [True, False])
def test_a_full_disk_leaves_nothing_of_the_ignore_file(folder, monkeypatch, has_links):
    if not has_links:
        monkeypatch.setattr(os, "link", no_links)
    before = sorted(folder.path.iterdir())
    with full_disk():
        refused("append_failed", write_git_files, folder, "all")
    assert sorted(folder.path.iterdir()) == before
    write_git_files(folder, "all")
    assert (folder.path / ".gitignore").read_text() == "*\n"


def no_links(*args, **kwargs):
    raise PermissionError(1, "Operation not permitted")

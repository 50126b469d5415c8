"""What a live test installs in the host's copy, shown without a host."""

import json
import subprocess
from pathlib import Path

from usr.plugins.software_orchestrator.tests.e2e import live


def test_what_git_tracks_is_installed_as_it_is_in_the_working_tree_and_nothing_else(
    tmp_path: Path,
) -> None:
    repository, target = tmp_path / "repository", tmp_path / "installed"
    (repository / "helpers").mkdir(parents=True)
    (repository / "helpers" / "ä b.py").write_text("old", "utf-8")
    (repository / "gone.py").write_text("", "utf-8")
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    (repository / "helpers" / "ä b.py").write_text("new", "utf-8")
    (repository / "gone.py").unlink()
    (repository / "untracked.py").write_text("", "utf-8")

    live.install(repository, target)

    installed = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert installed == {"helpers/ä b.py", ".toggle-1"}
    assert (target / "helpers" / "ä b.py").read_text("utf-8") == "new"


def test_saved_messages_are_listed_oldest_first_with_summaries_in_place() -> None:
    history = """{
        "bulks": [{"records": [{"summary": "old talk", "messages": []}], "summary": ""}],
        "topics": [{"summary": "", "messages": [{"ai": false, "content": {"user_message": "one"}, "summary": ""}]}],
        "current": {"summary": "", "messages": [{"ai": true, "content": "two", "summary": ""}]}
    }"""

    messages = live.saved_messages(history)

    assert [message.get("summary") or message.get("content") for message in messages] == [
        "old talk",
        {"user_message": "one"},
        "two",
    ]


def test_a_run_reads_the_chats_of_its_subordinates_after_its_own(tmp_path: Path) -> None:
    saved = {
        "child": ("own", "2026-12-01T10:00:02"),
        "grandchild": ("child", "2026-12-01T10:00:01"),
        "own": ("", "2026-12-01T10:00:00"),
        "another": ("", "2026-12-01T10:00:03"),
    }
    for chat_id, (parent, created) in saved.items():
        chat = {
            "id": chat_id,
            "created_at": created,
            "output_data": {"parent_context_id": parent} if parent else {},
        }
        (tmp_path / chat_id).mkdir()
        (tmp_path / chat_id / "chat.json").write_text(json.dumps(chat), "utf-8")

    family = live.saved_family(tmp_path, "own")

    assert [chat["id"] for chat in family] == ["own", "child", "grandchild"]


def test_a_host_cannot_change_passwords_or_packages_of_the_machine(tmp_path: Path) -> None:
    live.shadow(tmp_path)

    outcomes = {}
    for command in (["apt-get", "install", "-y", "nothing"], ["chpasswd"]):
        run = subprocess.run(
            command, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, input=b"", capture_output=True
        )
        outcomes[command[0]] = (run.returncode, b"does nothing" in run.stderr)

    assert outcomes == {"apt-get": (1, True), "chpasswd": (0, False)}

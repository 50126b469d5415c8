"""Two clones of a project, two installations, the same topic, specialist and day: whatever git takes, the records come back."""

import shutil
import subprocess
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from usr.plugins.software_orchestrator.helpers.flow import mend
from usr.plugins.software_orchestrator.helpers.records import missing
from usr.plugins.software_orchestrator.helpers.records.folder import HandoverFolder
from usr.plugins.software_orchestrator.helpers.records.verify import verify
from usr.plugins.software_orchestrator.tests.browser.records import SETTINGS, START, Chat, Clock

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
TOPIC, DESIGNER = "Landing page", "frontend_designer"
NAME = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]


def git(where: Path, *words: str, fails: bool = False) -> str:
    done = subprocess.run(
        ["git", *NAME, *words], cwd=where, capture_output=True, text=True, check=False
    )
    assert fails or done.returncode == 0, done.stderr
    return done.stdout


class Side(Chat):
    """An installation with its own key and its own clone."""

    key = b""

    @property
    def ports(self):
        return replace(super().ports, key=lambda: self.key)

    def work(self, chat: str, text: str) -> str:
        """One handover there and back in a chat of that name."""
        self.chat_id = chat
        made = self.hand(DESIGNER, TOPIC, goal=text)
        note = {"what_happened": text, "observations": "-", "user_state": "calm", "next": "go on"}
        self.reply(verdict="done", **note)
        return made

    def commit(self, words: str) -> None:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-qm", words, "--allow-empty")

    def heal(self) -> int:
        missing._whole.clear()  # as in another process
        written, complaints = mend.heal(self.folder, self.call())
        assert complaints == ()
        return written

    def faults(self) -> list[str]:
        return [str(item) for one in verify([self.folder], self.key) for item in one.faults]

    def briefing(self) -> Path:
        return next(self.folder.path.glob("*.md"))

    @property
    def folder(self) -> HandoverFolder:
        return HandoverFolder.open(str(self.root))


@pytest.fixture(params=["chains", "all", "none"])
def git_ignore(request, monkeypatch):
    """What git ignores in the handover folder."""
    from usr.plugins.software_orchestrator.tests.browser import records

    monkeypatch.setattr(
        records, "SETTINGS", SETTINGS.model_copy(update={"git_ignore": request.param})
    )
    return request.param


@pytest.fixture
def sides(tmp_path, git_ignore):
    """A repository with one handover, and two clones of it."""
    first = Side(tmp_path / "a", "chatA", Clock())
    first.key = b"a" * 32
    first.root.mkdir()
    (first.root / "app.py").write_text("x = 1\n")
    git(first.root, "init", "-q", "-b", "main")
    first.work("chatA", "first draft")
    first.commit("first")
    git(tmp_path, "clone", "-q", str(first.root), "b")
    second = Side(tmp_path / "b", "chatB", Clock(START + timedelta(hours=1)))
    second.key = b"b" * 32
    return first, second


def parted(sides) -> tuple[Side, Side]:
    """Both work on the same topic with the same specialist on the same day, and commit."""
    first, second = sides
    first.work("chatA2", "the left way")
    second.work("chatB", "the right way")
    for side in sides:
        side.commit("work")
        assert side.faults() == []
    return first, second


@pytest.mark.parametrize("taken", ["ours", "theirs"])
def test_either_side_of_a_merge_can_be_taken_and_what_is_missing_comes_back_once(
    sides, git_ignore, taken
):
    first, second = parted(sides)
    git(second.root, "fetch", "-q", "origin")
    git(second.root, "merge", "-q", "origin/main", fails=True)
    if git_ignore != "all":
        git(second.root, "checkout", f"--{taken}", "--", ".")
    git(second.root, "add", "-A")
    git(second.root, "commit", "-qm", "merge", "--allow-empty")
    second.heal()
    assert second.heal() == 0
    git(first.root, "pull", "-q", "--no-rebase", str(second.root), "main")
    first.heal()
    assert first.heal() == 0
    for side in (first, second):
        assert side.faults() == []
    if git_ignore != "all":
        assert second.briefing().read_text().count("the right way") == 2
        assert first.briefing().read_text().count("the left way") == 2


def test_rebase_and_cherry_pick_keep_both(sides, git_ignore):
    first, second = parted(sides)
    git(second.root, "fetch", "-q", "origin")
    git(second.root, "rebase", "-q", "origin/main", fails=True)
    if git_ignore != "all":
        git(second.root, "checkout", "--ours", "--", ".")
    git(second.root, "add", "-A")
    git(second.root, "-c", "core.editor=true", "rebase", "--continue", fails=True)
    second.heal()
    assert second.faults() == []
    second.commit("healed") if git(second.root, "status", "--porcelain") else None
    git(first.root, "fetch", "-q", str(second.root), "main")
    git(first.root, "cherry-pick", "FETCH_HEAD", fails=True)
    git(first.root, "checkout", "--theirs", "--", ".", fails=True)
    first.heal()
    assert first.faults() == []


def test_line_ends_and_a_branch_away_and_back_change_no_byte(sides, tmp_path):
    first, _ = sides
    before = first.briefing().read_bytes()
    git(first.root, "config", "core.autocrlf", "true")
    git(first.root, "checkout", "-q", "-b", "other")
    git(first.root, "rm", "-rq", "--cached", ".")
    git(first.root, "reset", "-q", "--hard")
    git(first.root, "checkout", "-q", "main")
    assert first.briefing().read_bytes() == before
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{first.root}", "shallow")
    for path in (tmp_path / "shallow").rglob("*.md"):
        assert path.read_bytes() == before
    assert first.faults() == []


def test_the_lock_is_never_committed(sides):
    first, _ = sides
    assert ".lock" not in git(first.root, "ls-files")


def test_an_altered_entry_is_a_fault_and_is_not_written_again(sides):
    first, _ = sides
    text = first.briefing().read_text()
    first.briefing().write_text(text.replace("first draft", "last draft", 1))
    assert first.heal() == 0
    assert first.faults() != []


def test_what_a_person_took_out_stays_out(sides):
    first, _ = sides
    made = first.work("chatA3", "my salary")
    mend.take_out(made, "private", first.call())
    text = first.briefing().read_text()
    kept = text[: text.index("## ", text.index("sha256=", text.rindex("first draft")))]
    first.briefing().write_text(kept)
    assert first.heal() == 0
    assert "my salary" not in first.briefing().read_text()
    assert first.faults() == []


def test_a_briefing_that_is_gone_comes_back_whole(sides):
    first, _ = sides
    first.briefing().unlink()
    assert first.heal() == 2
    assert first.faults() == []
    assert first.heal() == 0

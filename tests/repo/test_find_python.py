""".ci/find-python picks the first Python that is new enough and can make environments, or says what to install."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def find(*candidates: Path | str) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(ROOT / ".ci/find-python"), *map(str, candidates)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)


@pytest.fixture
def command(tmp_path):
    """Makes a command called `name` that runs the shell lines `body`; "$2" is the Python code it is asked to run."""

    def make(name: str, body: str) -> Path:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    return make


def test_the_first_good_one_is_taken(command):
    first, second = command("first", "exit 0"), command("second", "exit 0")
    assert find(first, second).stdout.strip() == str(first)


def test_a_real_python_is_recognised():
    assert find(sys.executable).stdout.strip() == sys.executable


def test_one_that_is_absent_broken_or_too_old_is_passed_over(command):
    shim = command("shim", "echo 'command not found' >&2; exit 127")
    old = command("old", f'{sys.executable} -c "import sys; sys.version_info = (3, 10); $2"')
    good = command("good", "exit 0")
    assert find("no-such-python", shim, old, good).stdout.strip() == str(good)


def test_none_at_all_is_one_clear_error():
    result = find("no-such-python")
    assert result.returncode == 1
    assert result.stdout == ""
    assert "no Python 3.11 or newer" in result.stderr
    assert "PYTHON=" in result.stderr


def test_one_that_cannot_make_environments_is_named_with_what_to_install(command):
    bare = command("bare", 'case "$2" in *ensurepip*) exit 1;; esac')
    result = find(bare)
    assert result.returncode == 1
    assert str(bare) in result.stderr
    assert "python3-venv" in result.stderr

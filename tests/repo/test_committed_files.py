"""What is committed says nothing of the machine it was written on, and running the plugin changes none of it."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOMES = re.compile(rb"(?<![\w./~$}])/(?:home|Users|root|work)/[\w.-]")
INDEXES = re.compile(rb"file:///|--(?:extra-)?index-url|--find-links")
LARGEST_BYTES = 2_000_000


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


def hits(pattern: re.Pattern[bytes], skip: tuple[str, ...] = ()) -> list[str]:
    found = []
    for path in tracked():
        name = str(path.relative_to(ROOT))
        if name in skip:
            continue
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            if pattern.search(line):
                found.append(f"{name}:{number}")
    return found


def test_no_file_names_this_checkout_or_this_home():
    places = {str(ROOT), str(Path.home())} - {"/"}
    assert not hits(re.compile(b"|".join(re.escape(place.encode()) + b"/" for place in places)))


def test_no_file_names_a_home_folder():
    assert not hits(HOMES, skip=("tests/repo/test_committed_files.py",))


def test_no_file_names_a_package_index():
    assert not hits(INDEXES, skip=("tests/repo/test_committed_files.py",))


@pytest.mark.parametrize("line", [b"cd /home/ann/x", b'"/Users/ann/x"', b"see /root/.cache", b"(/work/main)"])
def test_a_home_folder_is_found(line):
    assert HOMES.search(line)


@pytest.mark.parametrize("line", [b"src/work/main", b"https://example.com/home/x", b"the /home/ folder", b"$X/work/a"])
def test_a_path_that_names_nobody_is_left_alone(line):
    assert not HOMES.search(line)


def test_no_file_is_large():
    assert not [str(path) for path in tracked() if path.stat().st_size > LARGEST_BYTES]


@pytest.mark.parametrize("name", ["data/installation.key", "config.json", ".toggle-1", "helpers/__pycache__/x.pyc"])
def test_what_is_made_at_run_time_is_ignored_by_git(name):
    if not tracked():
        pytest.skip("nothing is tracked")
    assert subprocess.run(["git", "check-ignore", "-q", name], cwd=ROOT, check=False).returncode == 0

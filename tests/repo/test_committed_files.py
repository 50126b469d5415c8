"""What is committed says nothing of the machine it was written on, and running the plugin changes none of it."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("home", "Users", "root", "work")
HOMES = re.compile(rb"(?<![\w./~$}])/(?:%s)/[\w.-]" % "|".join(FOLDERS).encode())
INDEXES = re.compile(rb"--(?:extra-)?index-ur[l]|--find-link[s]")
LARGEST_BYTES = 2_000_000


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [
        path
        for name in listed.stdout.decode().split("\0")
        if name and (path := ROOT / name).is_file()
    ]


def hits(pattern: re.Pattern[bytes]) -> list[str]:
    """Where the pattern occurs in tracked files, as `file:line`."""
    return [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked()
        for number, line in enumerate(path.read_bytes().splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_file_names_this_checkout_or_this_home():
    places = {str(ROOT), str(Path.home())} - {"/"}
    assert not hits(re.compile(b"|".join(re.escape(place.encode()) + b"/" for place in places)))


def test_no_file_names_a_home_folder():
    assert not hits(HOMES)


def test_no_file_names_a_package_index():
    assert not hits(INDEXES)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_home_folder_is_found_and_a_path_that_names_nobody_is_left_alone(folder):
    for line in ("cd /{}/ann/x", '"/{}/ann"', "see /{}/.cache", "(/{}/main)"):
        assert HOMES.search(line.format(folder).encode()), line
    for line in ("src/{}/main", "https://example.com/{}/x", "the /{}/ folder", "$X/{}/a"):
        assert not HOMES.search(line.format(folder).encode()), line


def test_no_file_is_large():
    assert not [str(path) for path in tracked() if path.stat().st_size > LARGEST_BYTES]


@pytest.mark.parametrize(
    "name", ["data/installation.key", "config.json", ".toggle-1", "helpers/__pycache__/x.pyc"]
)
def test_what_is_made_at_run_time_is_ignored_by_git(name):
    ignored = subprocess.run(
        ["git", "check-ignore", "-q", name], cwd=ROOT, capture_output=True, check=False
    ).returncode
    if ignored not in (0, 1):
        pytest.skip("not a git checkout")
    assert ignored == 0

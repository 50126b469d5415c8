"""Dependencies: the floors stand in the requirements files, the reasons in CONTRIBUTING.md, and both agree."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = ("requirements.txt", "requirements-dev.txt", "requirements-bench.txt")


def lines(name: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


REQUIREMENTS = [line for name in FILES for line in lines(name)]


@pytest.mark.parametrize("name", FILES)
def test_each_line_is_a_name_with_a_floor_and_nothing_else(name):
    odd = [line for line in lines(name) if not re.fullmatch(r"[A-Za-z0-9-]+>=\d+(\.\d+)*", line)]
    assert not odd, "no pins, no index addresses, no options"


def test_contributing_gives_exactly_these_dependencies_with_their_floors_and_a_reason():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Za-z0-9-]+) \| (\d[\d.]*) \| \S.+ \|$", page, re.MULTILINE)
    assert sorted(rows) == sorted(tuple(line.split(">=")) for line in REQUIREMENTS)


def test_pyproject_and_makefile_name_no_versions_of_their_own():
    for name in ("pyproject.toml", "Makefile"):
        assert not re.search(
            r"[A-Za-z]\s*[><=~]=\s*\d", (ROOT / name).read_text(encoding="utf-8")
        ), name


def test_the_pytest_that_pyproject_demands_is_the_floor():
    floor = next(line.split(">=")[1] for line in REQUIREMENTS if line.startswith("pytest>="))
    demanded = re.search(
        r'^minversion = "(.+)"$',
        (ROOT / "pyproject.toml").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert demanded is not None
    assert demanded.group(1) == floor


def test_the_oldest_python_is_the_same_everywhere():
    assert 'python_version = "3.11"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'target-version = "py311"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "sys.version_info < (3, 11)" in (ROOT / ".ci/find-python").read_text(encoding="utf-8")
    assert "Python 3.11 or newer" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

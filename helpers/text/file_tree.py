"""The host's picture of a project's files, without what this plugin keeps there."""

from __future__ import annotations

import re
from typing import Final

_ENTRY: Final = re.compile(r"((?:[│ ] {3})*)[├└]── (.*)")  # each level is four characters
_RECORDS: Final = [".a0proj/", "handover/"]


def without_records(picture: str) -> str:
    """The folder of briefings and ledgers as one line; every other line as it came."""
    kept: list[str] = []
    path: list[str] = []
    inside = 0  # how deep the entries of our folder stand; 0 outside of it
    for line in picture.split("\n"):
        entry = _ENTRY.fullmatch(line)
        level = len(entry[1]) // 4 if entry else 0
        if inside and level >= inside:
            continue
        path = [*path[:level], entry[2]] if entry else []
        inside = level + 1 if path[-2:] == _RECORDS else 0
        kept.append(line)
    return "\n".join(kept)

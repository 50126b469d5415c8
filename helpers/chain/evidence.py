"""What a merge needs to know beside what was said, and what it has to tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..values.events import DeclineLifted


@dataclass(frozen=True)
class Evidence:
    """Where the merge looks things up.

    `since(field)` gives what the person wrote after that field was declined, `when(hop)` the time
    of a hop; `lifts` are fields that the person at the command line lifts; `artifact(path)` gives
    sha256 and size (bytes) of a referenced file.
    """

    since: Callable[[str], Sequence[str]] = lambda field: ()
    when: Callable[[int], str] = lambda hop: ""
    lifts: tuple[str, ...] = ()
    artifact: Callable[[str], tuple[str, int | None]] = lambda path: ("", None)


@dataclass(frozen=True)
class Hop:
    """The hop that is merged: who says it, its number, and what comes to light on the way."""

    owner: str = ""
    number: int = 0
    evidence: Evidence = Evidence()
    warnings: list[str] = field(default_factory=list)
    lifts: list[DeclineLifted] = field(default_factory=list)

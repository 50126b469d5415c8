"""What a merge needs to know beside what was said, and what it has to tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..values.events import DeclineLifted
from ..values.packet import StateField


@dataclass(frozen=True)
class Evidence:
    """Where the merge looks things up.

    `takes_back(decline, item)` tells whether the person, in the words of the item, took that decline
    back since; `when(hop)` gives the time of a hop; `lifts` are fields that the person at the command
    line lifts; `artifact(path)` gives sha256 and size (bytes) of a referenced file;
    `persons_words(text)` tells whether the person wrote these words ("": whether they make the call
    themselves).
    """

    takes_back: Callable[[StateField, StateField], bool] = lambda decline, item: False
    persons_words: Callable[[str], bool] = lambda text: True
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

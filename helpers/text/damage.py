"""What is said of a record that lost something: to the person, to who hands over, to who receives."""

from __future__ import annotations

from collections.abc import Sequence

from ..values.events import Damage
from .quote import one_line

_MOST = 3
_DECLINES_UNSURE = (
    "What the person declined since the newest whole packet may be lost with it: ask before relying"
    " on a field that is not told as declined."
)


def losses(damage: Sequence[Damage]) -> tuple[str, ...]:
    """A line for each place, the newest first, at most three and how many more there are."""
    lines = []
    for item in damage[: -_MOST - 1 : -1]:
        what = f" ({one_line(item.what, 200)})" if item.what else ""
        lines.append(
            f"The record is damaged at {item.where}{what}: what was written there is lost."
        )
    if len(damage) > _MOST:
        lines.append(f"It is damaged at {len(damage) - _MOST:,} more places.")
    return tuple(lines)


def notices(damage: Sequence[Damage]) -> tuple[str, ...]:
    """`losses`, and what they mean for the declines that travel."""
    if all(item.declines_kept for item in damage):
        return losses(damage)
    return (*losses(damage), _DECLINES_UNSURE)

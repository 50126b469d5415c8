"""What a person at the command line may take back: a decline that stands, for a value."""

from __future__ import annotations

from collections.abc import Sequence

from ..values.errors import RequestError
from .answered import name_key
from .merge import Merged


def check_lifts(wanted: Sequence[str], merged: Merged) -> None:
    """Every field that the person takes back is lifted by this packet. Raises RequestError."""
    lifted = {name_key(lift.field) for lift in merged.lifts}
    declined = {}
    for item in merged.packet.state:
        if item.status == "declined":
            declined[name_key(item.field)] = item.field
    for field in wanted:
        key = name_key(field)
        if key in declined:
            raise RequestError(
                f"the decline of {declined[key]} cannot be lifted: its new value is missing",
                "send state with the new value",
            )
        if key not in lifted:
            standing = ", ".join(sorted(declined.values())) or "nothing"
            raise RequestError(
                f"the decline of {field} cannot be lifted: nobody declined it",
                f"declined here: {standing}",
            )

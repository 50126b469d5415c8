"""The ports of this machine: its clock, its installation's key, and a counter that needs no network."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from ..text.masking import Mask, redact
from ..text.tokens import counter
from ..values.call import Ports
from .key import former_keys, installation_key
from .resources import ROOT


def local_ports(mask: Mask = redact) -> Ports:
    """The real clock, ids, counter and key; `mask` hides what this place knows to be secret."""
    return Ports(
        clock=lambda: datetime.now(UTC),
        new_id=lambda prefix: f"{prefix}-{secrets.token_hex(8)}",
        mask=mask,
        counter=counter,
        key=lambda: installation_key(ROOT),
        former=lambda: former_keys(ROOT),
    )

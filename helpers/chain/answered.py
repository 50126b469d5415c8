"""What a packet already answers, so that nobody is asked twice (seed 004, repeat questions)."""

from __future__ import annotations

import json

from ..values.names import key
from ..values.packet import HandoverPacket, StateField, rows

# With these a field needs nothing more: a decline is an answer.
SETTLED = frozenset({"answered", "declined", "volunteered"})


def answer_to(packet: HandoverPacket, asked: str) -> str:
    """What the packet says of a field that is asked for by its name, else "".

    A question in words asks for more than a name, even where the name stands in it.
    """
    wanted = name_key(asked)
    for item in packet.state:
        if item.status in SETTLED and name_key(item.field) == wanted:
            return _in_words(item)
    for row in rows():
        if row.kind is str and key(row.name) == wanted:
            value = getattr(packet, row.name)
            return "\n".join(value) if row.plural else value
    return ""


def name_key(field: str) -> str:
    """What all spellings of a field's name share: `VAT id`, `vat-id`, `state.vat_id` are one."""
    name = key(field)
    return name.removeprefix("state.").strip() or name


def _in_words(item: StateField) -> str:
    if item.status == "declined":
        words = f": {item.verbatim}" if item.verbatim else ""
        return f"declined by the person; do not ask{words}"
    is_text = isinstance(item.value, str)
    value = item.value if is_text else json.dumps(item.value, ensure_ascii=False)
    return f"{value} ({item.verbatim})" if item.verbatim else f"{value}"

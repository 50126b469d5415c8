"""What is new since a receiver last had the work: a reason to hand over to it again."""

from __future__ import annotations

import json

from ..values.names import words
from ..values.packet import (
    Artifact,
    Decision,
    HandoverPacket,
    Row,
    StateField,
    Value,
    main_field,
    rows,
)


def news(packet: HandoverPacket, before: HandoverPacket) -> tuple[str, ...]:
    """The fields in which the packet says more than the earlier one; () when nothing is new."""
    fields = []
    for row in rows():
        if row.travels.news and _marks(packet, row) - _marks(before, row):
            fields.append(row.name)
    return tuple(fields)


def _marks(packet: HandoverPacket, row: Row) -> set[tuple[object, ...]]:
    value = getattr(packet, row.name)
    items = value if row.plural else (value,)
    return {_mark(item) for item in items if item}


def _mark(item: Value | str) -> tuple[object, ...]:
    """What two items share that say the same; who said it and when does not count."""
    match item:
        case Decision():
            return item.id, item.version, item.status, words(item.text)
        case StateField():
            value = json.dumps(item.value, sort_keys=True)
            return item.field, value, item.status, item.verbatim
        case Artifact():
            return item.path, item.version, item.sha256, item.size
        case Value():
            return (words(getattr(item, main_field(type(item)))),)
        case text:
            return (words(text),)

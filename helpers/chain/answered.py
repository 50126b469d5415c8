"""What a packet already answers, so that nobody is asked twice (seed 004, repeat questions)."""

from __future__ import annotations

import json
import re
import unicodedata

from ..values.packet import HandoverPacket

_PLAIN = (
    "goal",
    "next_action",
    "return_condition",
    "user_state",
    "summary",
    "acceptance_criteria",
    "sections_done",
)


def held(packet: HandoverPacket, asked: str) -> str:
    """The answer the packet gives to a field name or a question, or "". A decline is an answer."""
    words = _words(asked)
    for item in packet.state:
        if item.status in ("answered", "declined", "volunteered") and _names(words, item.field):
            return _told(item.status, item.value, item.verbatim)
    for name in _PLAIN:
        value = getattr(packet, name)
        if value and words == _words(name):
            return value if isinstance(value, str) else "\n".join(value)
    return ""


def _told(status: str, value: object, verbatim: str) -> str:
    if status == "declined":
        return "declined by the person; do not ask" + (f": {verbatim}" if verbatim else "")
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{told} ({verbatim})" if verbatim else told


def name_key(field: str) -> str:
    """The comparable form of a field's name: `VAT id`, `vat-id` and `state.vat_id` are one field, `C++` and `C#` are two."""
    plain = (
        unicodedata.normalize("NFC", unicodedata.normalize("NFC", field).casefold())
        .strip()
        .removeprefix("state.")
    )
    return re.sub(r"[\s_\-]+", " ", plain).strip() or plain


def _words(text: str) -> list[str]:
    return re.findall(
        r"\w+",
        unicodedata.normalize("NFC", text).replace("_", " ").removeprefix("state.").casefold(),
    )


def _names(asked: list[str], field: str) -> bool:
    """Whether the words of the field's name stand together in what was asked."""
    name = _words(field)
    return bool(name) and any(
        asked[at : at + len(name)] == name for at in range(len(asked) - len(name) + 1)
    )

"""Work that another installation hands over to here: checked, recorded in its project, answered.

Believing what an installation recorded and working for it are two permissions (`values/trust.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from ..arguments.handover import HandoverRequest
from ..records.identity import fingerprint_of, signer_of, verified
from ..values.call import Call
from ..values.errors import Code, HandoverError, RefusedError
from ..values.events import Closing, Done
from ..values.packet import Contents, rows
from ..values.parcel import Parcel, Signed
from ..values.roster import normal
from ..values.trust import Trusted, named
from .prepare import Prepared, prepare_request
from .standing import held_by

LONGEST = timedelta(days=1)  # that a package may be good for

Take = Callable[[str], bool]


def check_parcel(signed: Signed, call: Call) -> Trusted:
    """Who sent it may hand over this work to here, now. Raises RefusedError."""
    parcel, now = signed.parcel, call.ports.clock()
    sender = named(call.settings.trusted, parcel.by)
    if sender is None or not sender.work:
        raise _refused("this installation does not work for the one that signed the package")
    own = signer_of(call.ports.key())
    if own is None or parcel.to != own.fingerprint:
        raise _refused("the package is for another installation")
    if not verified(parcel.by, signed.covered, signed.signature):
        raise _refused("the signature of the package is not good")
    if not now < parcel.expires <= now + LONGEST:
        raise _refused("the package is no longer good, or for too long")
    identity = parcel.packet.identity
    if identity.handover_id != parcel.handover:
        raise _refused("the package holds another handover than it names")
    if normal(identity.receiver) not in map(normal, sender.profiles):
        raise _refused(f"{sender.name} may not hand over to that specialist here")
    if parcel.terms.depth >= min(parcel.terms.max_depth, call.settings.max_handover_depth):
        raise _refused("max_handover_depth is reached", "depth")
    return sender


def _refused(why: str, code: Code = "authority") -> RefusedError:
    return RefusedError(why, "", code)


def prepare_received(parcel: Parcel, sender: Trusted, call: Call, take: Take) -> Prepared:
    """A handover of its own in this project: depth and hop go on from those of the package.

    Raises RefusedError for one that was taken before, and as `prepare`.
    """
    if not take(f"{fingerprint_of(parcel.by)}-{parcel.handover}"):
        raise _refused(f"{parcel.handover} was taken before")
    packet, identity = parcel.packet, parcel.packet.identity
    request = HandoverRequest(
        specialist_profile=call.settings.roster.find(identity.receiver).profile,
        topic=packet.topic,
        project_root=call.caller.project_root,
        given=Contents(**{name: getattr(packet, name) for name in Contents.model_fields}),
        max_context_tokens=call.settings.max_context_tokens,
        include_recent_turns=len(packet.recent_turns),
    )
    came = replace(
        call.caller,
        sender=f"{identity.sender}@{sender.name}",
        depth=parcel.terms.depth,
        hop=identity.hop,
        came=f"{sender.name} {parcel.handover}",
    )
    return prepare_request(request, replace(call, caller=came))


def reply_of(handover_id: str, call: Call) -> str:
    """What goes back: the arguments of `handover_reply` as JSON, all that the specialist added with
    them; the plain words of one that gave no verdict."""
    handover = held_by(handover_id, call)
    closing = next(
        event.payload for event in reversed(handover.events) if isinstance(event.payload, Closing)
    )
    if isinstance(closing, Done) and closing.implicit:
        return closing.note.what_happened
    told: dict[str, Any] = {"verdict": closing.verdict or closing.kind, **dict(closing.note.said())}
    told |= {"outcome": closing.outcome, "hand_to": closing.hand_to, "reason": closing.note.reason}
    if not told["reason"]:
        told["reason"] = closing.why
    before, after = handover.packet, closing.packet or handover.packet
    for row in rows():
        new, old = getattr(after, row.name), getattr(before, row.name)
        if row.travels.returned and new != old:
            added = [item for item in new if item not in old] if row.plural else new
            told[row.name] = [_plain(item) for item in added] if row.plural else added
    return json.dumps({name: value for name, value in told.items() if value}, ensure_ascii=False)


def refusal(error: HandoverError) -> str:
    """The answer to a package that is not taken."""
    return json.dumps({"verdict": "reject", "reason": error.message}, ensure_ascii=False)


def _plain(item: Any) -> Any:
    return item if isinstance(item, str) else item.model_dump(mode="json", exclude_defaults=True)

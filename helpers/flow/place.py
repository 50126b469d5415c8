"""Where the chain of a call is kept, and a refusal of it written down there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from ..arguments.handover import parse
from ..records import shelf
from ..records.book import Place, open_chain
from ..records.folder import HandoverFolder
from ..values.call import Call
from ..values.errors import Code, HandoverError, RecordError, RefusedError, RequestError
from .standing import not_recorded


def place(topic: str, project_root: str, call: Call) -> Place:
    """Where the chain is kept: inside a handover it is that handover's chain, whatever the arguments
    say. Raises RefusedError (nothing_open, path_unsafe)."""
    caller = call.caller
    inside = caller.inside or caller.continues
    is_own = bool(caller.inside and caller.project_root)
    root = caller.project_root if is_own else project_root
    outside = "" if is_own or inside else caller.outside(root)
    folder = HandoverFolder.open(root)
    if not inside:
        chain_id = shelf.chain_of_topic(folder, topic, caller.chat_id)
        return Place(folder, chain_id, (outside,) if outside else ())
    chain = shelf.chain_holding(folder, inside, caller.chat_id, call)
    if chain is None:
        raise not_recorded(inside, folder, call, "check the id", "nothing_open")
    return Place(folder, chain.id)


@dataclass(frozen=True)
class Refusal:
    """A refused call, as far as it is known what it was about.

    `code` and `why` are "" where that is recorded already; `stops` is why it stops handovers.
    """

    topic: str
    project_root: str
    receiver: str
    code: str = ""
    why: str = ""
    stops: str = ""


def refusal_of(
    args: Mapping[Any, Any], error: HandoverError, call: Call, stops: str = ""
) -> Refusal:
    """What there is to record of a call that was refused, for whatever reason."""
    about: RequestError | None = error if isinstance(error, RequestError) else None
    code, why = ("", "") if error.recorded else (error.code, error.message)
    try:
        request = parse(args, call)
    except RequestError as not_understood:
        about = about or not_understood
    except RecordError:
        return Refusal("", "", "", code, why, stops)  # what cannot be masked is not looked at
    if about is not None:
        return Refusal(about.topic, about.project_root, about.receiver, code, why, stops)
    root, receiver = request.project_root, request.specialist_profile
    return Refusal(request.topic, root, receiver, code, why, stops)


def record_refusal(refusal: Refusal, call: Call) -> None:
    """In the chain that it is about, where there is one. Raises HandoverError."""
    caller = call.caller
    root = (caller.inside and caller.project_root) or refusal.project_root
    if not root or not (refusal.topic or caller.inside):
        return
    error = RefusedError(refusal.why, "", cast("Code", refusal.code), stops=refusal.stops)
    error.recorded = not refusal.code
    with open_chain(place(refusal.topic, root, call), call) as book:
        book.refuse(error, refusal.receiver)
    if error.__cause__:
        raise error.__cause__

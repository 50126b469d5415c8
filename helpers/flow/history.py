"""A specialist asks for more than its package: who may see what, the answer, and the record of it.

args -> arguments.history.parse   every problem of the call at once
     -> scope_of                  superiors up to the handover, earlier legs, the person since
     -> history.answer            range, search or parts, within the cap
     -> note_history              `history_read`: who, why, which turns, how many tokens
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..arguments import history as arguments_history
from ..chain.chain import Chain, Handover
from ..history import answer
from ..history.answer import HistoryAnswer, Scope
from ..history.compaction import CountCache
from ..history.transcript import Transcript
from ..values.call import Call, TokenCounter
from ..values.errors import RefusedError
from ..values.events import Delivered
from .deliver import check_source_untouched
from .receive import note_history
from .standing import chain_of


def full_history(
    args: Mapping[Any, Any], number: int, load: Callable[[Scope], Transcript], call: Call
) -> HistoryAnswer:
    """The answer for the specialist with agent number `number`; `load` gives the transcript that
    its scope holds.

    Raises RequestError (bad_value), RefusedError (nothing_open, unknown_reference), RecordError.
    """
    request = arguments_history.parse(args, call)
    _, chain = chain_of(call.caller.inside, call)
    handover = chain.find(call.caller.inside)
    if handover is None or not handover.is_open:
        raise RefusedError(
            f"handover {call.caller.inside} is closed",
            "history is for a specialist that works on an open handover",
            "nothing_open",
        )
    source = load(scope_of(chain, handover, number))
    before = marks_of(source)
    title = f"History of chat {call.caller.chat_id}"
    counter = cached(call.ports.counter())
    found = answer.answer(source, request, counter, call.ports.mask, title=title)
    check_source_untouched(before, marks_of(source))
    note_history(handover.id, request.reason, asked(request, found), found.tokens, call)
    return found


def marks_of(source: Transcript) -> tuple[int, ...]:
    """How many records a transcript holds and which; reading must leave both as they are."""
    return (len(source.records), *map(id, (*source.records[:1], *source.records[-1:])))


def scope_of(chain: Chain, handover: Handover, number: int) -> Scope:
    delivered = handover.last_event(Delivered)
    since = delivered.time if delivered else handover.events[0].time
    legs = frozenset(item.id for item in chain.handovers if item.id != handover.id)
    return Scope(number, handover.id, since, legs)


def asked(request: arguments_history.HistoryRequest, found: HistoryAnswer) -> str:
    """What was asked for, in the words of the arguments: `turns 12-40`, `query retry "duplicate
    key"`, `all, part 2`."""
    words = " ".join([*request.words, *(f'"{phrase}"' for phrase in request.phrases)])
    selection = "all"
    if words:
        selection = f"query {words}"
    elif request.turns:
        selection = f"turns {found.range}"
    return f"{selection}, part {found.part}" if request.part else selection


def cached(counter: TokenCounter) -> CountCache:
    """One cache of counts a process: a second request counts nothing again."""
    if _caches.get(counter.name) is None:
        _caches[counter.name] = CountCache(counter)
    return _caches[counter.name]


_caches: dict[str, CountCache] = {}

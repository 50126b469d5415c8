"""A specialist asks for more than its package: who may see what, the answer, and the record that it was asked.

args -> history_request.parse   every problem of the call at once
     -> scope_of                superiors up to the handover, earlier legs, the person since
     -> history.answer          range, search or parts, within the cap
     -> note_history            `history_read`: who, why, which turns, how many tokens
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from ..arguments import history as arguments_history
from ..chain.chain import Chain, Handover
from ..history import answer
from ..history.answer import HistoryAnswer, Scope
from ..history.compaction import CountCache
from ..history.transcript import Transcript
from ..text.tokens import TokenCounter
from ..values.call import Caller, Ports
from ..values.errors import RefusedError
from ..values.settings import Settings
from .prepare import check_source_untouched
from .receive import note_history
from .standing import holding


def full_history(
    args: Mapping[Any, Any],
    number: int,
    load: Callable[[Scope], Transcript],
    caller: Caller,
    settings: Settings,
    ports: Ports,
) -> HistoryAnswer:
    """The answer for the specialist with agent number `number`; `load` gives the transcript its scope holds.

    Raises RequestError (bad_value), RefusedError (nothing_open, unknown_reference), RecordError.
    """
    request = arguments_history.parse(args, settings.full_history_max_tokens, mask=ports.mask)
    with holding(caller.inside, caller, settings, ports) as (book, handover):
        if not handover.is_open:
            raise RefusedError(
                f"handover {handover.id} is closed",
                "history is for a specialist that works on an open handover",
                "nothing_open",
            )
        scope = scope_of(book.chain, handover, number)
    source = load(scope)
    before = marks_of(source)
    found = answer.answer(
        source, request, cached(ports.counter()), title=f"History of chat {caller.chat_id}"
    )
    check_source_untouched(before, marks_of(source))
    note_history(
        handover.id, request.reason, asked(request, found), found.tokens, caller, settings, ports
    )
    return found


def marks_of(source: Transcript) -> tuple[int, ...]:
    """How many records a transcript holds and which; reading must leave both as they are."""
    return (len(source.records), *map(id, (*source.records[:1], *source.records[-1:])))


def scope_of(chain: Chain, handover: Handover, number: int) -> Scope:
    delivered = handover.last("delivered")
    since = delivered.time if delivered else handover.events[0].time
    legs = frozenset(item.id for item in chain.handovers if item.id != handover.id)
    return Scope(number, handover.id, since, legs)


def asked(request: arguments_history.HistoryRequest, found: HistoryAnswer) -> str:
    """What was asked for, in the words of the arguments: `turns 12-40`, `query retry "duplicate key"`, `all, part 2`."""
    words = " ".join([*request.words, *(f'"{phrase}"' for phrase in request.phrases)])
    what = f"query {words}" if words else f"turns {found.range}" if request.turns else "all"
    return f"{what}, part {found.part}" if request.part else what


@lru_cache(maxsize=4)
def cached(counter: TokenCounter) -> CountCache:
    """One cache of counts a process: a second request counts nothing again that was counted before."""
    return CountCache(counter)

"""What a call claims of the person, compared with what they wrote in this chat; and their own words.

Where the log is not complete nothing is checked: what a call says of the person then counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..chain.answered import name_key
from ..chain.chain import Chain
from ..chain.decisions import is_persons
from ..history import grounding
from ..history.heard import Heard, heard
from ..text.masking import safe
from ..text.quote import one_line
from ..values.call import Call
from ..values.events import DeclineLifted
from ..values.names import words
from ..values.packet import Contents, Decision, HandoverPacket, PersonSaid, StateField

_MOST_SENTENCES = 60
_MOST_CHARS = 12_000
_SHOWN_CHARS = 160


@dataclass(frozen=True)
class Grounded:
    """What was given, as far as it is founded; what its sender should know; and the texts of
    decisions of which the person said the opposite."""

    given: Contents
    warnings: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()


def grounded(given: Contents, chain: Chain, call: Call, receiver: int) -> Grounded:
    """What a call or a reply gives, its unfounded declines marked as claimed, and the owner of a
    decision as far as the person's words bear it out.

    A claimed decline of the chain for which words turned up is given again, as a decline.
    `receiver` is the number of the agent that reads the turns named in warnings.
    """
    caller = call.caller
    known = heard(caller.log_path)
    if known is None or not known.is_whole(caller.person_count, caller.person_in_children):
        return Grounded(given)
    check = _Check(known, chain, receiver)
    update = {"state": check.state(given.state), "decisions": check.decisions(given.decisions)}
    # What was not said is not said now either: `model_fields_set` is what the merge goes by.
    said = {name: value for name, value in update.items() if value != getattr(given, name)}
    return Grounded(given.model_copy(update=said), tuple(check.warnings), tuple(check.contradicted))


class _Check:
    """One call's claims beside what the person wrote."""

    def __init__(self, known: Heard, chain: Chain, receiver: int) -> None:
        self._known = known
        self._legs = frozenset(item.id for item in chain.handovers)
        self._receiver = receiver
        self._state = chain.newest.state if chain.newest else ()
        self._decided = chain.newest.decisions if chain.newest else ()
        self.warnings: list[str] = []
        self.contradicted: list[str] = []

    def state(self, given: tuple[StateField, ...]) -> tuple[StateField, ...]:
        named = {name_key(item.field) for item in given}
        before = {name_key(item.field): item for item in self._state}
        claimed = [item for item in self._state if item.status == "claimed"]
        items = [item for item in claimed if name_key(item.field) not in named]
        told = [self._told(item, (*given, *self._state)) for item in (*items, *given)]
        checked = []
        for item in told:
            old = before.get(name_key(item.field))
            if item.status == "claimed" and item in items:
                continue  # it stands in the chain already
            if item.status == "claimed" and (old is None or old.status == "claimed"):
                self._warn_of(item.field)
            checked.append(item)
        return tuple(checked)

    def _told(self, item: StateField, all_of_them: tuple[StateField, ...]) -> StateField:
        """A decline is one where the person spoke of it; else it is claimed."""
        if item.status not in ("declined", "claimed"):
            return item
        own = name_key(item.field)
        others = [other for other in all_of_them if name_key(other.field) != own]
        is_founded = grounding.is_founded(item, others, self._known)
        status = "declined" if is_founded else "claimed"
        return item if item.status == status else item.model_copy(update={"status": status})

    def _warn_of(self, field: str) -> None:
        name = one_line(field, 60)
        self.warnings.append(
            f"the person never spoke of {name} in this chat: its decline travels as claimed and"
            " binds nobody; ask the person, or take it back by sending the field blank"
        )

    def decisions(self, given: tuple[Decision, ...]) -> tuple[Decision, ...]:
        known = {words(item.text) for item in self._decided}
        checked = []
        for item in given:
            is_new = words(item.text) not in known and item.status == "active"
            checked.append(self._owned(item) if is_new else item)
        return tuple(checked)

    def _owned(self, item: Decision) -> Decision:
        """The person owns what they said and did not say the opposite of."""
        opposite = grounding.contradicts(item, self._known)
        text = one_line(item.text, _SHOWN_CHARS)
        if opposite:
            self.contradicted.append(item.text)
            turn = self._known.turn_numbers(self._receiver, self._legs)[opposite.line]
            sentence = one_line(opposite.sentence, _SHOWN_CHARS)
            self.warnings.append(
                f'the decision "{text}" says the opposite of what the person wrote in turn {turn}:'
                f' "{sentence}"; ask the person, or send the decision as they made it'
            )
        if not is_persons(item) or (not opposite and grounding.is_said(item, self._known)):
            return item
        if not opposite:
            self.warnings.append(
                f'the person did not say "{text}" in this chat: the decision is told as yours, not'
                " as theirs"
            )
        return item.model_copy(update={"owner": ""})


# --- the person's own words


def with_persons_words(
    packet: HandoverPacket, chain: Chain, call: Call, lifts: tuple[DeclineLifted, ...] = ()
) -> HandoverPacket:
    """The packet with the sentences in which the person decided, refused or set a limit, newest
    first, word for word; what they took back is left out."""
    if not call.settings.person_said:
        return packet.model_copy(update={"person_said": ()})
    known = heard(call.caller.log_path)
    if known is None:
        return packet
    fresh = _sentences(known, chain, call, packet.identity.depth + 1)
    texts = {words(item.text) for item in fresh}
    earlier = [
        item.model_copy(update={"turn": 0})
        for item in packet.person_said
        if words(item.text) not in texts
    ]
    lifted = {name_key(lift.field): lift for lift in (*_lifted(chain), *lifts)}
    standing = [item for item in (*fresh, *earlier) if not _is_taken_back(item, lifted, packet)]
    return packet.model_copy(update={"person_said": _within(standing)})


def _sentences(known: Heard, chain: Chain, call: Call, receiver: int) -> list[PersonSaid]:
    """Newest first, each once."""
    legs = frozenset(item.id for item in chain.handovers)
    numbers: list[int] = []
    found: dict[str, PersonSaid] = {}
    chars = 0
    for message in known.by_hand():
        for sentence in reversed(message.decides):
            numbers = numbers or known.turn_numbers(receiver, legs)
            text = safe(sentence, call.ports.mask)[0]
            found.setdefault(words(text), PersonSaid(text=text, turn=numbers[message.line]))
            chars += len(text)
        if chars > _MOST_CHARS or len(found) > _MOST_SENTENCES:
            break
    return list(found.values())


def _lifted(chain: Chain) -> list[DeclineLifted]:
    """The declines that were taken back in this chain."""
    lifts = []
    for handover in chain.handovers:
        for event in handover.events:
            if isinstance(event.payload, DeclineLifted):
                lifts.append(event.payload)
    return lifts


def _is_taken_back(
    item: PersonSaid, lifted: dict[str, DeclineLifted], packet: HandoverPacket
) -> bool:
    """Whether the sentence refuses a field that the person gave later; declined again it stands."""
    declined = {name_key(field.field) for field in packet.state if field.status == "declined"}
    for name, lift in lifted.items():
        is_the_lift = words(lift.verbatim) and words(lift.verbatim) in words(item.text)
        if name in declined or is_the_lift:
            continue
        if grounding.refuses_field(item.text, StateField(field=lift.field)):
            return True
    return False


def _within(items: list[PersonSaid]) -> tuple[PersonSaid, ...]:
    """As many of the newest as a packet may hold."""
    kept: list[PersonSaid] = []
    chars = 0
    for item in items[:_MOST_SENTENCES]:
        chars += len(item.text)
        if chars > _MOST_CHARS:
            break
        kept.append(item)
    return tuple(kept)

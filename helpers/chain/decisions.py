"""Decisions of a chain: none is dropped, a person's own is changed by the person only."""

from __future__ import annotations

from collections.abc import Iterable

from ..values.names import key, words
from ..values.packet import Decision
from .evidence import Hop

PERSON = "user"
_OF = " of "


def gather_decisions(
    before: Iterable[Decision], given: Iterable[Decision], hop: Hop
) -> tuple[Decision, ...]:
    """Decisions after a hop, in the order they were made.

    Other words under an id make a new version; the older one stays listed as superseded.
    """
    given = tuple(given)
    known = _Decisions(before, {item.id for item in given})
    for item in given:
        old = known.meant(item)
        if old is None:
            _take(known, item, hop)
        elif old.status == "superseded" and not item.id:
            _take_again(known, old, item, hop)
        else:
            _renew(known, old, item, hop)
    return tuple(known.all)


class _Decisions:
    """Decisions found by id (the newest version) and by words, without looking through all."""

    def __init__(self, before: Iterable[Decision], reserved: set[str]) -> None:
        self.all: list[Decision] = []
        self._newest: dict[str, int] = {}
        self._saying: dict[str, list[int]] = {}
        self._reserved = reserved
        self._number = 0
        for item in before:
            self.add(item)

    def add(self, item: Decision) -> None:
        place = len(self.all)
        self.all.append(item)
        self._newest[item.id] = place
        self._saying.setdefault(words(item.text), []).append(place)

    def next_id(self) -> str:
        """`d1`, `d2` and so on: an id that no decision has and that the call gives to none."""
        while True:
            self._number += 1
            number = f"d{self._number}"
            if number not in self._newest and number not in self._reserved:
                return number

    def find(self, number: str) -> Decision | None:
        """The newest version of a decision."""
        place = self._newest.get(number)
        return None if place is None else self.all[place]

    def meant(self, item: Decision) -> Decision | None:
        """The newest of its id, else of its words: the newest one that still stands.

        A new id makes a new decision, except of the words of a person's own.
        """
        if item.id in self._newest:
            return self.find(item.id)
        newest = None
        for place in reversed(self._saying.get(words(item.text), ())):
            same = self.all[place]
            if item.id and not is_persons(same):
                continue
            if same.status != "superseded":
                return same
            newest = newest or same
        return newest if not item.id else None

    def replace(self, new: Decision) -> None:
        """The newest version of its id is now said like this."""
        self.all[self._newest[new.id]] = new


def is_persons(decision: Decision) -> bool:
    """Also the person's at another installation."""
    return key(decision.owner.partition(_OF)[0]) == PERSON


def named_as_theirs(
    decisions: Iterable[Decision], name: str, before: Iterable[Decision]
) -> tuple[Decision, ...]:
    """Decisions as another installation, called `name`, recorded them: their owners are called
    theirs, but of those that the chain held `before`."""
    known = {(item.id, item.version, item.text): item.owner for item in before}
    named = []
    for item in decisions:
        is_named = item.owner.endswith(f"{_OF}{name}")
        owner = item.owner if is_named else f"{item.owner}{_OF}{name}"
        owner = known.get((item.id, item.version, item.text), owner)
        named.append(item.model_copy(update={"owner": owner}))
    return tuple(named)


def _take(known: _Decisions, item: Decision, hop: Hop) -> None:
    """A decision that is new to the chain."""
    update = {"id": item.id or known.next_id(), "owner": item.owner or hop.owner}
    new = item.model_copy(update=update)
    known.add(new)
    _supersede(known, new, hop)


def _take_again(known: _Decisions, old: Decision, item: Decision, hop: Hop) -> None:
    """Words of a superseded decision: taken up as a new one only where that is said."""
    if item.supersedes:
        _take(known, item, hop)
        return
    hop.warnings.append(
        f"decision {old.id} v{old.version} stays superseded;"
        " to take it up again send it with supersedes"
    )


def _renew(known: _Decisions, old: Decision, item: Decision, hop: Hop) -> None:
    """More, or other words, about a decision that the chain has."""
    if _is_older(item, old):
        hop.warnings.append(
            f"decision {old.id} v{item.version} was left out, v{old.version} stands;"
            " to change the decision send it without version"
        )
        return
    new = _next_version(old, item, hop.owner)
    if new == old:
        return
    if is_persons(old) and not _by_the_person(item, old, hop):
        hop.warnings.append(
            f"decision {old.id} v{old.version} is the person's own and stays as it is;"
            " ask the person to change it"
        )
        return
    if new.version == old.version:
        known.replace(new)
    else:
        known.replace(old.model_copy(update={"status": "superseded"}))
        known.add(new)
    if new.supersedes != old.supersedes:
        _supersede(known, new, hop)


def _by_the_person(item: Decision, old: Decision, hop: Hop) -> bool:
    """Whether a change of the person's own decision is theirs: said to be, and in their words. One
    that they declined or decided is not taken up or dropped by its status alone."""
    if key(item.owner) != PERSON:
        return False
    if words(item.text) != words(old.text):
        return hop.evidence.persons_words(item.text)
    says_more = "status" not in item.model_fields_set or item.status == old.status
    return says_more or hop.evidence.persons_words("")


def _is_older(item: Decision, old: Decision) -> bool:
    is_said = "version" in item.model_fields_set
    return is_said and item.version < old.version and words(item.text) != words(old.text)


def _next_version(old: Decision, item: Decision, owner: str) -> Decision:
    """The decision with what is new about it."""
    version = max(item.version, old.version)
    if words(item.text) != words(old.text):
        version = max(version, old.version + 1)
    if version > old.version:
        update = {"id": old.id, "owner": item.owner or owner, "version": version}
        return item.model_copy(update=update)
    said = {name: getattr(item, name) for name in item.model_fields_set}
    update = {name: value for name, value in said.items() if value}
    return old.model_copy(update={**update, "text": old.text, "version": version, "id": old.id})


def _supersede(known: _Decisions, new: Decision, hop: Hop) -> None:
    """The decision that the new one replaces is marked so."""
    if not new.supersedes or new.supersedes == new.id:
        return
    old = known.find(new.supersedes)
    if old is None or old.status != "active":
        hop.warnings.append(
            f"decision {new.id} supersedes {new.supersedes},"
            " which is not an active decision of this chain"
        )
    elif is_persons(old) and not _by_the_person(new, old, hop):
        hop.warnings.append(
            f"decision {old.id} v{old.version} is the person's own and stays active;"
            " ask the person to change it"
        )
    else:
        known.replace(old.model_copy(update={"status": "superseded"}))

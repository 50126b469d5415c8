"""Carried fields (seed 000): state accumulates, a decline stays, the person alone lifts it."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from ..values.events import DeclineLifted
from ..values.packet import StateField
from .answered import name_key
from .evidence import Hop

_WITH_VALUE = frozenset({"answered", "volunteered"})
_DECLINES = frozenset({"declined", "claimed"})


def gather_fields(
    before: Iterable[StateField], given: Iterable[StateField], hop: Hop
) -> tuple[StateField, ...]:
    """Carried fields after a hop. A blank never replaces anything.

    A field is found under every spelling of its name and keeps the first one.
    """
    fields = {item.field: item for item in before}
    spellings = _spellings(fields.values())
    for item in given:
        name = spellings.setdefault(name_key(item.field), item.field)
        owner = item.owner or hop.owner
        new = item.model_copy(update={"field": name, "owner": owner, "hop": hop.number})
        old = fields.get(name)
        if old is None:
            if _is_empty(new):
                hop.warnings.append(f"state field {name} came without a value and was left out")
                continue
            fields[name] = new
        elif old.status == "declined":
            fields[name] = _after_decline(old, new, hop)
        elif old.status == "claimed":
            _after_claim(fields, old, new)
        else:
            fields[name] = _after_value(old, new, hop)
    return tuple(fields.values())


def _spellings(fields: Iterable[StateField]) -> dict[str, str]:
    """The name in use for each key; of two spellings in an older record the declined one counts."""
    declined_last = sorted(fields, key=lambda item: item.status == "declined")
    return {name_key(item.field): item.field for item in declined_last}


def blank(value: JsonValue) -> bool:
    """Whether a value says nothing; zero and no say something."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or value == [] or value == {}


def _is_empty(item: StateField) -> bool:
    """Whether it claims a value and has none."""
    return item.status in _WITH_VALUE and blank(item.value)


def _after_value(old: StateField, new: StateField, hop: Hop) -> StateField:
    """A real answer or a decline replaces; a blank, a skip or a claim does not replace a value."""
    if new.status == "declined":
        return new
    if new.status == "claimed" and old.status in _WITH_VALUE:
        return old
    if new.status in _WITH_VALUE and not blank(new.value):
        kept_words = old.verbatim if old.value == new.value else ""
        return new.model_copy(update={"verbatim": new.verbatim or kept_words})
    if old.status in _WITH_VALUE:
        hop.warnings.append(
            f"state field {new.field} keeps its value from hop {old.hop}: what came was"
            f" {new.status} without a value"
        )
        return old
    if new.status in _WITH_VALUE:
        hop.warnings.append(f"state field {new.field} came without a value")
        return old
    return new


def _after_claim(fields: dict[str, StateField], old: StateField, new: StateField) -> None:
    """Whatever is said of it now replaces a claimed decline; a blank takes it back."""
    if _is_empty(new):
        del fields[old.field]
        return
    kept_words = old.verbatim if new.status in _DECLINES else ""
    fields[old.field] = new.model_copy(update={"verbatim": new.verbatim or kept_words})


def _after_decline(old: StateField, new: StateField, hop: Hop) -> StateField:
    if new.status in _DECLINES:
        return old.model_copy(update={"verbatim": old.verbatim or new.verbatim})
    by = _lifted_by(old, new, hop)
    if by:
        lift = DeclineLifted(field=old.field, verbatim=new.verbatim, by=by)
        hop.lifts.append(lift)
        return new
    time = hop.evidence.when(old.hop)
    when = f", {time}" if time else ""
    hop.warnings.append(
        f"state field {old.field} stays declined (told by {old.owner} at hop {old.hop}{when});"
        " only the person lifts it: ask them, then send status answered with value and verbatim, the"
        " words in which they gave it or agreed; or they lift it on the audit page"
    )
    return old


def _lifted_by(old: StateField, new: StateField, hop: Hop) -> str:
    """Who takes the decline back, "" when nobody does."""
    if new.status != "answered" or blank(new.value):
        return ""
    if name_key(old.field) in map(name_key, hop.evidence.lifts):
        return "command line"
    return "person" if hop.evidence.takes_back(old, new) else ""

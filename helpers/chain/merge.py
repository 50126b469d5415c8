"""What the chain holds and what a call adds, made into the next packet. Nothing that was said before is dropped.

Seed 000: state accumulates and is not rewritten by each hop; `declined` is a value, not an absence; a summary never stands in
for a field.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from pydantic import JsonValue

from ..values.errors import RequestError
from ..values.packet import (
    Artifact,
    Authority,
    Decision,
    DecisionStatus,
    Flag,
    HandoverPacket,
    Identity,
    OpenQuestion,
    RejectedPath,
    StateField,
    Turn,
)
from .answered import name_key

_SHORTEST_PROOF = (
    8  # characters of a verbatim quote; a shorter one must be the person's whole message
)
T = TypeVar("T")
NEVER_INHERITED = (
    "summary",
    "recent_turns",
    "next_action",
    "user_state",
    "return_condition",
    "handover_reason",
)


@dataclass(frozen=True)
class Evidence:
    """What the rules about declines need to know.

    `since(field)` gives what the person wrote after that field was declined, `when(hop)` the time of a hop; `lifts` are fields
    the person at the command line lifts; `artifact` gives sha256 and size of a referenced file.
    """

    since: Callable[[str], Sequence[str]] = lambda field: ()
    when: Callable[[int], str] = lambda hop: ""
    lifts: tuple[str, ...] = ()
    artifact: Callable[[str], tuple[str, int | None]] = lambda path: ("", None)


@dataclass(frozen=True)
class Lift:
    """A decline the person took back."""

    field: str
    verbatim: str
    by: str


@dataclass(frozen=True)
class Built:
    """A packet, what its maker should know, declines that were lifted, and authority that was asked for in vain.

    `asked` is the authority as the call, or the one before it, gave it.
    """

    packet: HandoverPacket
    warnings: tuple[str, ...] = ()
    lifts: tuple[Lift, ...] = ()
    widened: tuple[str, ...] = ()
    asked: Mapping[str, Sequence[str]] | None = None


def brought_up(packet: HandoverPacket, newest: HandoverPacket | None) -> HandoverPacket:
    """What was handed over, with all that the chain has gathered since; what is never inherited stays its own."""
    own = {name: getattr(packet, name) for name in ("identity", *NEVER_INHERITED)}
    return newest.model_copy(update=own) if newest else packet


def merge(
    previous: HandoverPacket | None, given: Any, identity: Identity, evidence: Evidence
) -> Built:
    """The packet of this hop from the newest packet of the chain and what was given (a request or a reply).

    `given` has the packet's field names; lists of items are mappings. Authority is the caller's to set. Raises RequestError for
    a decision status that does not exist.
    """
    base = previous or HandoverPacket(identity=identity, topic="")
    owner = identity.sender
    state, warnings, lifts = merge_state(
        base.state, given.state, owner=owner, hop=identity.hop, evidence=evidence
    )
    decisions, decision_warnings = merge_decisions(base.decisions, given.decisions, owner)
    packet = base.model_copy(
        update={
            "identity": identity,
            "goal": getattr(given, "goal", "") or base.goal,
            "acceptance_criteria": getattr(given, "acceptance_criteria", ())
            or base.acceptance_criteria,
            "decisions": decisions,
            "artifacts": merge_artifacts(base.artifacts, given.artifacts, evidence.artifact),
            "rejected_paths": _added(
                base.rejected_paths, (RejectedPath(**item) for item in given.rejected_paths), "what"
            ),
            "open_questions": merge_questions(base.open_questions, given.open_questions, state),
            "state": state,
            "flags": _added(base.flags, (Flag(**item) for item in given.flags), "text"),
            "sections_done": tuple(dict.fromkeys((*base.sections_done, *given.sections_done))),
            "notes": tuple(dict.fromkeys((*base.notes, *given.notes))),
            "stopped_at": given.stopped_at or base.stopped_at,
        }
    )
    return Built(packet, (*warnings, *decision_warnings), lifts)


def merge_state(
    before: Sequence[StateField],
    given: Iterable[Mapping[str, Any]],
    *,
    owner: str,
    hop: int,
    evidence: Evidence,
) -> tuple[tuple[StateField, ...], tuple[str, ...], tuple[Lift, ...]]:
    """Carried fields after a hop. A decline stays unless the person lifted it; a blank never replaces anything.

    A field is found under every spelling of its name and keeps the first one.
    """
    fields = {item.field: item for item in before}
    spelled = {
        name_key(item.field): item.field
        for item in sorted(before, key=lambda item: item.status == "declined")
    }
    warnings: list[str] = []
    lifts: list[Lift] = []
    for item in given:
        new = StateField(**{**item, "owner": item.get("owner") or owner, "hop": hop})
        new = new.model_copy(update={"field": spelled.setdefault(name_key(new.field), new.field)})
        old = fields.get(new.field)
        if old is None:
            kept, warning = _first(new)
        elif old.status == "declined":
            kept, warning, lift = _after_decline(old, new, evidence)
            lifts += [lift] if lift else []
        else:
            kept, warning = _over(old, new)
        if kept is not None:
            fields[new.field] = kept
        warnings += [warning] if warning else []
    return tuple(fields.values()), tuple(warnings), tuple(lifts)


def blank(value: JsonValue) -> bool:
    return (
        value is None
        or value == []
        or value == {}
        or (isinstance(value, str) and not value.strip())
    )


def _first(new: StateField) -> tuple[StateField | None, str]:
    if new.status in ("answered", "volunteered") and blank(new.value):
        return None, f"state field {new.field} came without a value and was left out"
    return new, ""


def _over(old: StateField, new: StateField) -> tuple[StateField, str]:
    """A real answer or a decline replaces; a blank or a skip does not replace a value."""
    if new.status == "declined":
        return new, ""
    if new.status in ("answered", "volunteered") and not blank(new.value):
        words = new.verbatim or (old.verbatim if old.value == new.value else "")
        return new.model_copy(update={"verbatim": words}), ""
    if old.status in ("answered", "volunteered"):
        return (
            old,
            f"state field {new.field} keeps its value from hop {old.hop}: what came was {new.status} without a value",
        )
    return (
        (new, "")
        if new.status.startswith("skipped")
        else (old, f"state field {new.field} came without a value")
    )


def _after_decline(
    old: StateField, new: StateField, evidence: Evidence
) -> tuple[StateField, str, Lift | None]:
    if new.status == "declined":
        return old.model_copy(update={"verbatim": old.verbatim or new.verbatim}), "", None
    if new.status == "answered" and not blank(new.value):
        if name_key(old.field) in map(name_key, evidence.lifts):
            return new, "", Lift(old.field, new.verbatim, "command line")
        if said(new.verbatim, evidence.since(old.field)):
            return new, "", Lift(old.field, new.verbatim, "person")
    when = evidence.when(old.hop)
    return (
        old,
        f"state field {old.field} stays declined (told by {old.owner} at hop {old.hop}{', ' + when if when else ''});"
        " only the person lifts it: send status answered with value and verbatim, their own words written since",
        None,
    )


def said(verbatim: str, messages: Iterable[str]) -> bool:
    """Whether the person wrote these words: in a message, or as the whole of it where they are very few."""
    words = _plain(verbatim)
    if not words:
        return False
    return any(
        words == _plain(text) or (len(words) >= _SHORTEST_PROOF and words in _plain(text))
        for text in messages
    )


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def merge_decisions(
    before: Sequence[Decision], given: Iterable[Mapping[str, Any]], owner: str
) -> tuple[tuple[Decision, ...], tuple[str, ...]]:
    """Decisions after a hop, in the order they were made. A newer version leaves the older one listed as superseded."""
    known = _Decisions(before)
    warnings: list[str] = []
    for item in given:
        _check_status(item)
        old = known.same(item)
        if old is None:
            new = known.add(_new_decision(known.next_id(), item, owner))
        elif old.status == "superseded" and not item.get("id"):
            if not item.get("supersedes"):
                warnings.append(
                    f"decision {old.id} v{old.version} stays superseded; to take it up again send it with supersedes"
                )
                continue
            new, old = known.add(_new_decision(known.next_id(), item, owner)), None
        elif _version(item, old.version) < old.version and _plain(item["text"]) != _plain(old.text):
            warnings += known.add_older(_older_version(old, item, owner))
            continue
        else:
            new = _next_version(old, item, owner)
            if new == old:
                continue
            known.renew(old, new)
        if old is None or new.supersedes != old.supersedes:
            warnings += known.supersede(new)
    return known.in_order(), tuple(warnings)


class _Decisions:
    """The decisions of a chain, found by id (the newest version) and by their words without looking through all of them."""

    def __init__(self, before: Sequence[Decision]) -> None:
        self._all: list[Decision] = []
        self._newest: dict[str, int] = {}
        self._saying: dict[str, list[int]] = {}
        self._place: dict[tuple[str, int], int] = {}
        self._older: dict[str, list[Decision]] = {}
        self._number = 0
        for item in before:
            self.add(item)

    def add(self, new: Decision) -> Decision:
        place = len(self._all)
        self._all.append(new)
        self._newest[new.id] = self._place[new.id, new.version] = place
        self._saying.setdefault(_plain(new.text), []).append(place)
        if found := re.fullmatch(r"d(\d{1,6})", new.id):
            self._number = max(self._number, int(found[1]))
        return new

    def next_id(self) -> str:
        return f"d{self._number + 1}"

    def same(self, item: Mapping[str, Any]) -> Decision | None:
        """The decision that is meant: the newest of that id, else the newest active one of those words."""
        if wanted := str(item.get("id") or ""):
            return self._all[self._newest[wanted]] if wanted in self._newest else None
        saying = [
            self._all[place] for place in reversed(self._saying.get(_plain(item["text"]), ()))
        ]
        return next(
            (old for old in saying if old.status != "superseded"), saying[0] if saying else None
        )

    def renew(self, old: Decision, new: Decision) -> None:
        place = self._place[old.id, old.version]
        if new.version == old.version:
            self._all[place] = new
        else:
            self._all[place] = old.model_copy(update={"status": "superseded"})
            self.add(new)

    def add_older(self, older: Decision) -> list[str]:
        """A version below the newest is recorded as superseded; one that is recorded already keeps its words."""
        recorded = [item for item in self._older.get(older.id, ()) if item.version == older.version]
        if (older.id, older.version) in self._place:
            recorded.append(self._all[self._place[older.id, older.version]])
        if not recorded:
            self._older.setdefault(older.id, []).append(older)
            return []
        if _plain(recorded[0].text) == _plain(older.text):
            return []
        return [
            f"decision {older.id} v{older.version} is recorded with other words and stays so; to change the decision send it"
            " without version"
        ]

    def supersede(self, new: Decision) -> list[str]:
        if not new.supersedes or new.supersedes == new.id:
            return []
        place = self._newest.get(new.supersedes)
        if place is None or self._all[place].status != "active":
            return [
                f"decision {new.id} supersedes {new.supersedes}, which is not an active decision of this chain"
            ]
        self._all[place] = self._all[place].model_copy(update={"status": "superseded"})
        return []

    def in_order(self) -> tuple[Decision, ...]:
        """All of them; versions that were told late stand among those of their id."""
        if not self._older:
            return tuple(self._all)
        ordered: list[Decision] = []
        for item in self._all:
            late = self._older.get(item.id, [])
            earlier = sorted(
                (old for old in late if old.version < item.version), key=lambda old: old.version
            )
            self._older[item.id] = [old for old in late if old.version > item.version]
            ordered += [*earlier, item]
        return tuple(ordered)


def _check_status(item: Mapping[str, Any]) -> None:
    status = item.get("status")
    if status and str(status).lower() not in get_args(DecisionStatus):
        raise RequestError(
            f'decision status "{str(status)[:40]}" does not exist',
            "use one of: " + ", ".join(get_args(DecisionStatus)),
        )


def _new_decision(number: str, item: Mapping[str, Any], owner: str) -> Decision:
    return _decision(item, id=str(item.get("id") or number), owner=owner, version=_version(item, 1))


def _older_version(newest: Decision, item: Mapping[str, Any], owner: str) -> Decision:
    version = _version(item, newest.version)
    return _decision(
        {**item, "status": "superseded"},
        id=newest.id,
        owner=str(item.get("owner") or owner),
        version=version,
    )


def _next_version(old: Decision, item: Mapping[str, Any], owner: str) -> Decision:
    """The same decision with what is new about it; other words make a new version."""
    version = max(_version(item, old.version), old.version)
    if _plain(item["text"]) != _plain(old.text):
        version = max(version, old.version + 1)
    filled: dict[str, Any] = {
        "status": old.status if version == old.version else "active",
        **{k: v for k, v in item.items() if v},
    }
    if version == old.version:
        filled = {**old.model_dump(), **filled, "text": old.text}
    return _decision(filled, id=old.id, owner=filled.get("owner") or owner, version=version)


def _decision(item: Mapping[str, Any], *, id: str, owner: str, version: int) -> Decision:
    known = {key: value for key, value in item.items() if key in Decision.model_fields and value}
    known["status"] = str(known.get("status", "active")).lower()
    return Decision.model_validate(
        {**known, "id": id, "owner": known.get("owner") or owner, "version": version}
    )


def _version(item: Mapping[str, Any], default: int) -> int:
    digits = re.sub(r"\D", "", str(item.get("version") or ""))[:6]
    return int(digits) if digits else default


def merge_artifacts(
    before: Sequence[Artifact],
    given: Iterable[Mapping[str, Any]],
    facts: Callable[[str], tuple[str, int | None]],
) -> tuple[Artifact, ...]:
    """Artifacts by path; one that is named again is recorded as it is now."""
    found = {item.path: item for item in before}
    for item in given:
        path = item["path"]
        sha256, size = facts(path)
        old = found.get(path)
        found[path] = Artifact(
            path=path,
            kind=item.get("kind") or (old.kind if old else ""),
            version=str(item.get("version") or (old.version if old else "")),
            sha256=sha256,
            size=size,
        )
    return tuple(found.values())


def merge_questions(
    before: Sequence[OpenQuestion], given: Iterable[Mapping[str, Any]], state: Sequence[StateField]
) -> tuple[OpenQuestion, ...]:
    """Questions nobody has answered: those whose field now has a value, or was declined, are gone."""
    questions = list(before)
    asked = {_plain(old.text) for old in questions}
    used = {old.id for old in questions}
    numbers = (name for n in itertools.count(1) if (name := f"q{n}") not in used)
    for item in given:
        if _plain(item["text"]) in asked:
            continue
        wanted = str(item.get("id") or "")
        name = wanted if wanted and wanted not in used else next(numbers)
        questions.append(OpenQuestion(id=name, text=item["text"], field=item.get("field") or ""))
        asked.add(_plain(item["text"]))
        used.add(name)
    settled = {
        name_key(item.field)
        for item in state
        if item.status in ("answered", "declined", "volunteered")
    }
    return tuple(
        item
        for item in questions
        if name_key(item.field) not in settled and name_key(item.id) not in settled
    )


def _added(before: Sequence[T], new: Iterable[T], key: str) -> tuple[T, ...]:
    """The list with new items at its end; one that says the same again replaces the old one where it stands."""
    found = {_plain(getattr(item, key)): item for item in before}
    for item in new:
        name = _plain(getattr(item, key))
        if name not in found or item != type(item)(**{key: getattr(item, key)}):
            found[name] = item
    return tuple(found.values())


def told_once(turns: Sequence[Turn], summary: str) -> tuple[tuple[Turn, ...], tuple[str, ...]]:
    """The turns that the summary does not already tell word for word, each once; and a warning for each reason to leave out."""
    lines = {_plain(line) for line in summary.split("\n")}
    whole = _plain(summary)
    kept: list[Turn] = []
    in_summary = repeated = 0
    for turn in turns:
        words = _plain(turn.text)
        told = (
            words in lines
            or f"{turn.role}: {words}" in lines
            or (len(words) >= 20 and words in whole)
        )
        if told:
            in_summary += 1
        elif kept and kept[-1] == turn:
            repeated += 1
        else:
            kept.append(turn)
    told_in = f"{in_summary} of the recent turns {_verb(in_summary, 'stand')} word for word in the summary and travel once"
    repeating = f"{repeated} of the recent turns {_verb(repeated, 'repeat')} the turn before it and travel once"
    warnings = [words for words, count in ((told_in, in_summary), (repeating, repeated)) if count]
    return tuple(kept), tuple(warnings)


def _verb(count: int, plural: str) -> str:
    return plural if count != 1 else plural + "s"


def narrowed(
    giver: Authority | None, asked: Mapping[str, Sequence[str]] | None
) -> tuple[Authority, tuple[str, ...]]:
    """What the receiver may do, never more than its giver (None: unrestricted); and what was asked for in vain."""
    limit = giver or Authority()
    granted = tuple(dict.fromkeys(asked.get("granted", ()))) if asked else ()
    denied = _once((*limit.denied, *(asked.get("denied", ()) if asked else ())))
    allowed = granted or limit.granted
    if limit.granted:
        allowed = _among(granted, limit.granted) or limit.granted
    # An empty list would mean "everything", so what is denied stays listed when nothing else is left; denied always wins.
    kept = tuple(item for item in allowed if not _among((item,), denied)) or allowed
    refused = tuple(
        item for item in granted if not _among((item,), allowed) or _among((item,), limit.denied)
    )
    return Authority(granted=kept, denied=denied), refused


def bounded(authority: Authority, limit: Authority) -> Authority:
    """What both allow; where they have nothing in common everything listed is denied."""
    denied = _once((*authority.denied, *limit.denied))
    if not (authority.granted and limit.granted):
        return Authority(granted=authority.granted or limit.granted, denied=denied)
    common = _among(authority.granted, limit.granted)
    if common:
        return Authority(granted=common, denied=denied)
    return Authority(granted=authority.granted, denied=_once((*denied, *authority.granted)))


def _among(items: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    known = set(map(_plain, others))
    return tuple(item for item in items if _plain(item) in known)


def _once(items: Iterable[str]) -> tuple[str, ...]:
    return tuple({_plain(item): item for item in reversed(tuple(items))}.values())[::-1]


def news(packet: HandoverPacket, before: HandoverPacket) -> tuple[str, ...]:
    """What the packet holds that the earlier one to the same receiver did not, named; () when nothing is new."""
    found = []
    if {(d.id, d.version, d.status, _plain(d.text)) for d in packet.decisions} - {
        (d.id, d.version, d.status, _plain(d.text)) for d in before.decisions
    }:
        found.append("decisions")
    earlier = {old.field: _unhopped(old) for old in before.state}
    if any(earlier.get(field.field) != field for field in map(_unhopped, packet.state)):
        found.append("state")
    if {(a.path, a.sha256, a.size, a.version) for a in packet.artifacts} - {
        (a.path, a.sha256, a.size, a.version) for a in before.artifacts
    }:
        found.append("artifacts")
    if {q.text for q in packet.open_questions} - {q.text for q in before.open_questions}:
        found.append("open_questions")
    if {_plain(p.what) for p in packet.rejected_paths} - {
        _plain(p.what) for p in before.rejected_paths
    }:
        found.append("rejected_paths")
    if packet.summary.strip() and _plain(packet.summary) != _plain(before.summary):
        found.append("summary")
    return tuple(found)


def _unhopped(field: StateField) -> StateField:
    return field.model_copy(update={"hop": 0, "owner": ""})

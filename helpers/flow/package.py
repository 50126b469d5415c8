"""The text a specialist gets: a packet as a package within its limits, with its files as they are now."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ..arguments.handover import HandoverRequest
from ..chain import merge
from ..chain.chain import Chain, Handover
from ..records import resources
from ..records.artifacts import Facts, artifact_facts, check_artifact
from ..records.folder import HandoverFolder
from ..text import fitting as text_fitting
from ..text import package as text_package
from ..text.quote import on_one_line, one_line
from ..values.call import Ports
from ..values.errors import (
    RequestError,
)
from ..values.packet import HandoverPacket
from ..values.roster import Specialist

Look = Callable[[str], Facts]


@dataclass(frozen=True)
class Limits:
    """How much of a handover travels: at most so many tokens and turns; `overflow` "whole" lets a larger package through."""

    tokens: int
    overflow: Literal["fit", "whole"]
    turns: int

    def __str__(self) -> str:
        return f"max_context_tokens {self.tokens}, overflow {self.overflow}, include_recent_turns {self.turns}"


@dataclass(frozen=True)
class Plan:
    """A handover that may be recorded: its packet, and the package made from it."""

    request: HandoverRequest
    specialist: Specialist
    built: merge.Built
    package: text_fitting.Package
    estimated_tokens: int
    token_counter: str
    warnings: tuple[str, ...]
    supersedes: Handover | None = None

    @property
    def packet(self) -> HandoverPacket:
        return self.built.packet

    @property
    def limits(self) -> Limits:
        return limits_asked(self.request)


def packaged(
    request: HandoverRequest,
    specialist: Specialist,
    built: merge.Built,
    folder: HandoverFolder,
    ports: Ports,
    *,
    artifact_status: Mapping[str, str],
    notices: tuple[str, ...] = (),
    earlier: tuple[tuple[str, str], ...] = (),
    keeps_room: bool = False,
) -> Plan:
    """The text for the specialist: all that was asked to travel, fitted into the limit when it is larger.

    `artifact_status` is how each artifact is now; with `keeps_room` there must be room for one line on those that change.
    """
    packet, counter, limit = built.packet, ports.counter(), request.max_context_tokens
    path = briefing_path(folder, packet)

    def parts(title_chars: int, artifact_counts: str = "") -> tuple[text_fitting.Part, ...]:
        found = text_package.package_parts(
            packet,
            head=resources.text("package_head"),
            foot=f"briefing: {on_one_line(str(path))}\n{resources.text('package_foot')}",
            notices=notices,
            earlier=earlier,
            title_chars=title_chars,
            artifact_status=artifact_status,
            artifact_counts=artifact_counts,
        )
        return tuple(map(text_fitting.inert_part, found))

    package = text_fitting.whole(parts(0), counter.count, likely_tokens=limit)
    estimated = package.tokens
    if request.overflow == "fit":
        check_room(parts, len(packet.artifacts) if keeps_room else 0, limit, counter.count)
        if estimated > limit:
            package = fitted(
                parts, text_package.artifact_counts(artifact_status.values()), limit, counter.count
            )
    return Plan(request, specialist, built, package, estimated, counter.name, built.warnings)


Parts = Callable[[int, str], tuple[text_fitting.Part, ...]]


_SHORTER_TITLES = (text_package.TITLE_CHARS, 40, 24)


def fitted(
    parts: Parts, artifact_counts: str, limit_tokens: int, count: text_fitting.Count
) -> text_fitting.Package:
    """The package within the limit; where only that fits with shorter titles of decisions, then with counted artifacts."""
    where = {"Recent turns": "request_full_history gives them"}
    for counts in dict.fromkeys(("", artifact_counts)):
        for title_chars in _SHORTER_TITLES:
            try:
                fitting = parts(title_chars, counts)
                return text_fitting.fit(
                    fitting,
                    limit_tokens,
                    count,
                    lambda section: where.get(section, "the briefing has all of it"),
                )
            except RequestError as error:
                refusal = error
    raise refusal


def check_room(parts: Parts, artifacts: int, limit_tokens: int, count: text_fitting.Count) -> None:
    """Whatever becomes of its files, a handover can be delivered: there is room for the line that counts them.

    Raises RequestError (limit_not_positive).
    """
    if not artifacts:
        return
    worst = f"{artifacts} of the artifacts not as recorded: {artifacts} changed, {artifacts} gone, {artifacts} outside\n"
    if (needed := text_fitting.least(parts(_SHORTER_TITLES[-1], worst), count)) > limit_tokens:
        raise RequestError(
            f"max_context_tokens must be positive and large enough, got {limit_tokens}: what is never cut needs {needed} tokens,"
            " the line on artifacts that change before delivery included",
            f"set max_context_tokens to {needed} or more, or shorten what is never cut",
            "limit_not_positive",
        )


def limits_asked(request: HandoverRequest) -> Limits:
    return Limits(request.max_context_tokens, request.overflow, request.include_recent_turns)


def limits_of(handover: Handover) -> Limits:
    """The limits that a handover travels with: those of its last delivery, before one those it was prepared with."""
    prepared = handover.events[0].data
    data = next(
        (e.data for e in reversed(handover.events) if e.kind == "delivered" and "limit" in e.data),
        prepared,
    )
    turns = data.get("include_recent_turns", len(handover.packet.recent_turns))
    return Limits(int(data["limit"]), "whole" if data["overflow"] == "whole" else "fit", int(turns))


def limited(request: HandoverRequest, limits: Limits) -> HandoverRequest:
    return replace(
        request,
        max_context_tokens=limits.tokens,
        overflow=limits.overflow,
        include_recent_turns=limits.turns,
    )


def with_turns(packet: HandoverPacket, limits: Limits) -> HandoverPacket:
    """The packet with no more of its turns than travel; what was not recorded with it cannot."""
    if len(packet.recent_turns) <= limits.turns:
        return packet
    newest = packet.recent_turns[-limits.turns :] if limits.turns else ()
    return packet.model_copy(update={"recent_turns": newest})


def limit_warnings(asked: Limits, recorded: Limits, *, starts: bool, open: bool) -> tuple[str, ...]:
    """What a repeated call with other limits must know: which count."""
    if asked == recorded:
        return ()
    if not starts:
        how = (
            "it is under way"
            if open
            else "with start=true it is delivered with the limits of that call"
        )
        return (
            f"this handover travels with {recorded}; the limits of this call ({asked}) were not taken: {how}",
        )
    more = (
        "; turns that were not recorded with it do not travel"
        if asked.turns > recorded.turns
        else ""
    )
    return (
        f"delivered with the limits of this call ({asked}); it was prepared with {recorded}{more}",
    )


def earlier_work(chain: Chain, packet: HandoverPacket) -> tuple[tuple[str, str], ...]:
    """For a specialist that comes back to the topic: the note it left, and what is new since."""
    identity = packet.identity
    mine = [
        item
        for item in chain.handovers
        if item.receiver == identity.receiver and item.hop < identity.hop and item.note
    ]
    if not mine:
        return ()
    last = mine[-1]
    told = "\n".join(f"{name}: {text}" for name, text in last.note.items() if isinstance(text, str))
    return (
        (f"Your earlier hand-back (hop {last.hop}, {last.state})", told),
        ("New since then", ", ".join(merge.news(packet, last.known))),
    )


def notices(chain: Chain) -> tuple[str, ...]:
    """What the receiver must know about the record itself."""
    if not chain.foreign:
        return ()
    return (
        f"{chain.foreign} events in this chain's ledger are not this installation's; nothing of them was used.",
    )


def briefing_path(folder: HandoverFolder, packet: HandoverPacket) -> Path:
    name = folder.briefing_name(packet.identity.receiver, packet.topic, packet.identity.created_at)
    return folder.briefing_path(name)


def looking(folder: HandoverFolder) -> Look:
    """What each file of the project is, looked at once."""
    return functools.cache(lambda path: artifact_facts(folder.root, path))


def artifact_status(folder: HandoverFolder, packet: HandoverPacket, look: Look) -> dict[str, str]:
    """How each artifact is now, by path: unchanged, changed, gone, outside, unrecorded."""
    return {
        item.path: check_artifact(folder.root, item, look(item.path)) for item in packet.artifacts
    }


_ARTIFACT_TOLD = {
    "changed": "changed since it was recorded",
    "gone": "does not exist",
    "outside": "lies outside the project and is not compared",
    "unrecorded": "is no readable plain file and is not compared",
}


def artifact_warnings(
    folder: HandoverFolder, packet: HandoverPacket, look: Look
) -> tuple[str, ...]:
    """What the sender should know of the files it names, a line for each way in which they are not as it may think."""
    found: dict[str, list[str]] = {}
    for item in packet.artifacts:
        status = check_artifact(folder.root, item, look(item.path))
        told = (
            (look(item.path).missing if status == "unrecorded" else status)
            if "://" not in item.path
            else ""
        )
        found.setdefault(told, []).append(one_line(item.path, 80))
    return tuple(
        f"artifact {', '.join(names[:5])}{f' and {len(names) - 5} more' if len(names) > 5 else ''}: {told}"
        for word, told in _ARTIFACT_TOLD.items()
        if (names := found.get(word, ()))
    )


def facts(folder: HandoverFolder, path: str) -> tuple[str, int | None]:
    """sha256 and size of an artifact of the project, ("", None) where there is none."""
    found = artifact_facts(folder.root, path)
    return found.sha256, found.size

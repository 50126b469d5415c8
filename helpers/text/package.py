"""The stage-1 package: a packet as parts that travel whole, short, cut or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from ..values.packet import (
    Artifact,
    Authority,
    Decision,
    HandoverPacket,
    StateField,
    Turn,
)
from .fitting import Part
from .quote import one_line, plain_name, quote, visible

T = TypeVar("T")
TITLE_CHARS = 80
_NOT_ID = re.compile(r"[^\w.\-]")

# lines of the packet's items


def decision_title(decision: Decision, limit: int = TITLE_CHARS) -> str:
    return quote(one_line(decision.text, limit), f"{_id(decision.id)} v{decision.version}: ")


def decision_lines(decision: Decision) -> str:
    """Id, version and text, then what it rests on, each in a line of its own."""
    owner = f" ({one_line(decision.owner)})" if decision.owner else ""
    block = quote(decision.text, f"{_id(decision.id)} v{decision.version}{owner}: ")
    block += quote(decision.rationale, "  why: ") if decision.rationale else ""
    block += "".join(quote(one_line(item), "  evidence: ") for item in decision.evidence)
    return block


def state_line(field: StateField) -> str:
    value = json.dumps(field.value, ensure_ascii=False)
    status = "" if field.status == "answered" else f" [{field.status}]"
    words = (
        f" — {json.dumps(one_line(field.verbatim), ensure_ascii=False)}" if field.verbatim else ""
    )
    return quote(f"{one_line(field.field)} = {visible(value)}{status}{words}")


def decline_line(field: StateField) -> str:
    words = (
        f": {json.dumps(one_line(field.verbatim), ensure_ascii=False)}" if field.verbatim else ""
    )
    return quote(f"{one_line(field.field)} (declined, hop {field.hop}){words}")


def artifact_line(artifact: Artifact, status: str = "") -> str:
    facts = ", ".join(
        part
        for part in (
            one_line(artifact.kind),
            one_line(artifact.version),
            f"{artifact.size:,} bytes" if artifact.size is not None else "",
            f"sha256 {artifact.sha256[:12]}" if artifact.sha256 else "",
            status.upper() if status not in ("", "unchanged") else status,
        )
        if part
    )
    return quote(one_line(artifact.path) + (f" ({facts})" if facts else ""))


def turn_lines(role: str, text: str) -> str:
    """A turn: who, outside the quote where text cannot forge it, then the words."""
    return f"{plain_name(role) or 'someone'}:\n{quote(text.strip(chr(10)))}"


def authority_lines(authority: Authority) -> str:
    lines = [
        quote(", ".join(map(one_line, items)), f"{name}: ") for name, items in authority if items
    ]
    return "".join(lines)


def _id(identifier: str) -> str:
    return (
        identifier
        if identifier.isalnum() and len(identifier) <= 40
        else _NOT_ID.sub("", identifier)[:40] or "d"
    )


# the package


def package_parts(
    packet: HandoverPacket,
    *,
    head: str,
    foot: str,
    notices: Sequence[str] = (),
    earlier: Sequence[tuple[str, str]] = (),
    title_chars: int = TITLE_CHARS,
    artifact_status: Mapping[str, str] | None = None,
    artifact_counts: str = "",
) -> tuple[Part, ...]:
    """The packet as parts in the order in which they stand.

    `head`, `foot` and `notices` are trusted text, blocks of lines and single lines. `artifact_status` tells by path how a file
    is now compared with what was recorded; the lines of those that are not as recorded are never cut, unless the line
    `artifact_counts` stands for them. `title_chars` 0: decisions are not shortened. `earlier` are sections about
    the receiver's own earlier work, first to be cut.
    """
    status = artifact_status or {}
    frame = identity_lines(packet) + head + "".join(f"Notice: {line}\n" for line in notices)
    declined = tuple(field for field in packet.state if field.status == "declined")
    return (
        Part("", "identity", frame, frame),
        *_whole("Next action", packet.next_action),
        *_text("Goal", packet.goal, 1),
        *_list("Acceptance criteria", packet.acceptance_criteria, _bullet, keep=True),
        *_whole("Return when", packet.return_condition),
        *_list("Declined by the person: do not ask again", declined, decline_line, keep=True),
        *_decisions(packet.decisions, title_chars),
        *_list(
            "State",
            tuple(field for field in packet.state if field.status != "declined"),
            state_line,
            rank=2,
        ),
        *_list(
            "Rejected paths: do not try again",
            packet.rejected_paths,
            lambda path: _pair(path.what, path.why),
            rank=3,
        ),
        *_list(
            "Open questions",
            packet.open_questions,
            lambda item: quote(item.text, f"{_id(item.id)}: "),
            rank=2,
        ),
        *_artifacts(packet.artifacts, status, artifact_counts),
        *_list(
            "Flags", packet.flags, lambda flag: _pair(flag.text, ", ".join(flag.fields)), rank=2
        ),
        *_authority(packet.authority),
        *_text("Stopped at", packet.stopped_at, 3),
        *_list("Sections done", packet.sections_done, lambda name: quote(one_line(name)), rank=5),
        *_text("User state", packet.user_state, 3),
        *_text("Reason for the handover", packet.handover_reason, 6),
        *_text("Summary", packet.summary, 4),
        *_list("Notes", packet.notes, _bullet, rank=6),
        *_turns(packet.recent_turns),
        *(part for name, text in earlier for part in _text(name, text, 7)),
        Part("", "foot", foot, foot),
    )


def identity_lines(packet: HandoverPacket) -> str:
    identity = packet.identity
    parent = f", inside {identity.parent}" if identity.parent else ""
    return (
        f"# Handover {identity.handover_id}\n"
        f"{plain_name(identity.sender)} → {plain_name(identity.receiver)}, hop {identity.hop}, depth {identity.depth}{parent}\n"
        f"{quote(one_line(packet.topic), 'topic: ')}"
    )


def _whole(section: str, text: str) -> Iterable[Part]:
    if text:
        yield Part(section, section.lower(), quote(text), quote(text), 0)


def _text(section: str, text: str, rank: int) -> Iterable[Part]:
    if text:
        yield Part(section, section.lower(), quote(text), "", rank, (text, quote))


def _list(
    section: str, items: Sequence[T], line: Callable[[T], str], *, rank: int = 5, keep: bool = False
) -> Iterable[Part]:
    for number, item in enumerate(items, 1):
        block = line(item)
        yield Part(section, f"{section.lower()} {number}", block, block if keep else "", rank)


def _decisions(decisions: Sequence[Decision], title_chars: int) -> Iterable[Part]:
    for decision in decisions:
        if decision.status == "active":
            full = decision_lines(decision)
            short = decision_title(decision, title_chars) if title_chars else full
            yield Part("Decisions", f"decision {_id(decision.id)}", full, short, 2)
    for decision in decisions:
        if decision.status != "active":
            label = f"{_id(decision.id)} v{decision.version} {decision.status}: "
            line = quote(one_line(decision.text, TITLE_CHARS * 2), label)
            keep = decision.status == "declined"
            yield Part(
                "Decisions no longer active",
                f"decision {_id(decision.id)}",
                line,
                line if keep else "",
                5,
            )


NOT_AS_RECORDED = ("changed", "gone", "outside")


def artifact_counts(status: Iterable[str]) -> str:
    """One line on the files that are not as recorded, "" when all are.

    Such as `2 of the artifacts not as recorded: 1 changed, 1 gone`.
    """
    found = [word for word in status if word in NOT_AS_RECORDED]
    told = ", ".join(f"{found.count(word)} {word}" for word in NOT_AS_RECORDED if word in found)
    return f"{len(found)} of the artifacts not as recorded: {told}\n" if found else ""


def _artifacts(
    artifacts: Sequence[Artifact], status: Mapping[str, str], counts: str = ""
) -> Iterable[Part]:
    if counts:
        yield Part("Artifacts", "how many are not as recorded", counts, counts, 0)
    for artifact in artifacts:
        found = status.get(artifact.path, "")
        line = artifact_line(artifact, found)
        keep = found in NOT_AS_RECORDED and not counts
        yield Part(
            "Artifacts", f"artifact {one_line(artifact.path, 60)}", line, line if keep else "", 2
        )


def _authority(authority: Authority) -> Iterable[Part]:
    if lines := authority_lines(authority):
        yield Part("You may", "authority", lines, lines, 0)


def _turns(turns: Sequence[Turn]) -> Iterable[Part]:
    """Newest turns are worth more: they rank before older ones."""
    if not turns:
        yield Part("Recent turns", "no turns", "none\n", "none\n")
    for number, turn in enumerate(turns, 1):
        turns_after = len(turns) - number
        yield Part(
            "Recent turns",
            f"turn {number} of {len(turns)}",
            turn_lines(turn.role, turn.text),
            "",
            3 if turns_after == 0 else 4 if turns_after < 3 else 5,
            (turn.text, lambda rest, role=turn.role: turn_lines(role, rest)),  # type: ignore[misc]
        )


def _bullet(text: str) -> str:
    return quote(text, "- ")


def _pair(what: str, why: str) -> str:
    return _bullet(f"{what} — {why}" if why else what)

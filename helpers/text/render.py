"""Text from packets: the stage-1 package's parts and the briefing's entries.

Untrusted text is joined here and nowhere else, always behind "> ", so that it cannot forge a heading, a marker, a fence, a
rule or HTML. Characters that reorder, hide or break lines are shown escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..values.packet import (
    Artifact,
    Authority,
    Decision,
    HandoverPacket,
    StateField,
    Turn,
)

T = TypeVar("T")
TITLE_CHARS = 80
_NOT_ID = re.compile(r"[^\w.\-]")
# Controls, line and paragraph separators, what changes the direction of text (CVE-2021-42574), what is invisible and spells
# words (tag characters, but in the flags of England, Scotland and Wales), halves of characters; tab and line feed stay.
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,8}\U000e007f"
_UNSAFE = re.compile(
    f"{_FLAG}|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2061-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


@dataclass(frozen=True)
class Part:
    """A piece of a package that travels whole, short, cut or not at all.

    `full` and `short` are blocks of lines, each ending in "\\n"; `short` is what is never cut ("" where all of it may go).
    `rank` orders what goes in first (1 before 2), `item` names it for the person who reads what was left out.
    `cut` is the raw text of a part that may be cut at its end, and the function that frames the rest.
    """

    section: str
    item: str
    full: str
    short: str = ""
    rank: int = 5
    cut: tuple[str, Callable[[str], str]] | None = None


def visible(text: str) -> str:
    """The text with line ends as "\\n" and unsafe characters shown as escapes such as \\u202e."""
    if text.isprintable() or text.replace("\n", "").isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNSAFE.sub(lambda match: _escaped(match[0]), text)


def _escaped(character: str) -> str:
    if len(character) > 1:
        return character
    code = ord(character)
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )


def inert(text: str) -> str:
    """The text with every "{{" broken up as "{ {": the host expands what stands in double braces, files too (HOST fact 15)."""
    return re.sub(r"\{(?=\{)", "{ ", text) if "{{" in text else text


def inert_part(part: Part) -> Part:
    """The part with nothing in it that the host would expand, however it travels; its cut is counted as it is sent."""
    if "{{" not in part.full and "{{" not in part.short:
        return part
    cut = (inert(part.cut[0]), part.cut[1]) if part.cut else None
    return replace(part, full=inert(part.full), short=inert(part.short), cut=cut)


def quote(text: str, label: str = "") -> str:
    """A block of lines behind "> ", ending in a line feed.

    `label` is trusted and stands before the first line; the others then are indented, so that none can pass for a label.
    """
    shown = visible(text)
    if "\n" not in shown:
        return f"> {label}{shown}\n" if label or shown else ">\n"
    first, *more = shown.split("\n")
    rest = (f"    {line}" if label and line else line for line in more)
    return "".join(f"> {line}\n" if line else ">\n" for line in (label + first, *rest))


def unquote(block: str) -> str:
    """The text of a block made by `quote` without a label."""
    return "\n".join(
        line[2:] if line.startswith("> ") else line[1:]
        for line in block.removesuffix("\n").split("\n")
    )


def one_line(text: str, limit: int = 0) -> str:
    """The text in one line; longer than `limit` characters (where given) it ends in "…", at a whole character."""
    line = " ".join(visible(text).split())
    return (
        line if not limit or len(line) <= limit else graphemes_up_to(line, limit - 1).rstrip() + "…"
    )


def graphemes_up_to(text: str, limit: int) -> str:
    """The longest beginning of at most `limit` code points that does not split a character as a person sees it."""
    if len(text) <= limit:
        return text
    import regex  # tiktoken needs it too

    # Between two ASCII characters there always is a boundary; what stands before one need not be looked at.
    end = next(
        (at for at in range(limit, max(0, limit - 256), -1) if text[at - 1 : at + 1].isascii()), 0
    )
    for match in regex.finditer(r"\X", text, pos=end, endpos=min(len(text), limit + 64)):
        if match.end() > limit:
            break
        end = match.end()
    return text[:end]


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


def plain_name(name: str) -> str:
    """A name that may stand outside a quote: letters, digits, ".", "_" and inner "-" and spaces, at most 40."""
    return re.sub(r"[^\w .\-]", "", one_line(name))[:40].strip(" -.")


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


# the hand-back


def note_parts(
    packet: HandoverPacket,
    kind: str,
    outcome: str,
    note: Mapping[str, Any],
    warnings: Sequence[str],
    *,
    before: HandoverPacket,
    foot: str,
) -> tuple[Part, ...]:
    """The hand-back for the superior; of the packet only what changed since `before`."""
    identity = packet.identity
    who = one_line(identity.receiver)
    if kind in (
        "failed",
        "cancelled",
    ):  # no verdict of its specialist, which may never have started
        head = f"# {identity.handover_id} to {who} (hop {identity.hop}) was closed as {kind}"
    else:
        head = f"# {who} handed back {identity.handover_id} (hop {identity.hop}): {kind}"
    head += f", {outcome}\n" if outcome else "\n"
    lacking = note.get("incomplete", ())
    head += f"The note is incomplete: no {', '.join(map(one_line, lacking))}.\n" if lacking else ""
    new = tuple(item for item in packet.decisions if item not in before.decisions)
    changed = tuple(item for item in packet.state if item not in before.state)
    questions = tuple(item for item in packet.open_questions if item not in before.open_questions)
    return (
        Part("", "identity", head, head),
        *_list("Asked for", tuple(note.get("missing", ())), _bullet, rank=0),
        *_list(
            "Asked for, but the packet holds it",
            tuple(note.get("already_held", ())),
            _bullet,
            rank=5,
        ),
        *_text("Reason", str(note.get("reason", "")), 1),
        *_text("What happened", str(note.get("what_happened", "")), 1),
        *_text("Next", str(note.get("next", "")), 1),
        *_text("Observations", str(note.get("observations", "")), 2),
        *_text("User state", str(note.get("user_state", "")), 2),
        *_decisions(new, TITLE_CHARS),
        *_list(
            "State",
            changed,
            lambda item: decline_line(item) if item.status == "declined" else state_line(item),
            rank=3,
        ),
        *_list(
            "Open questions", questions, lambda item: quote(item.text, f"{_id(item.id)}: "), rank=3
        ),
        *_list("Warnings", tuple(warnings), _bullet, rank=4),
        *_artifacts(tuple(item for item in packet.artifacts if item not in before.artifacts), {}),
        Part("", "foot", foot, foot),
    )


# the briefing


def entry_body(packet: HandoverPacket, travelled: str, *, created: str) -> str:
    """The entry of a handover, from "##" to its last line; a pure function of packet and what travelled (trusted text).

    `created` is "2026-06-05 14:03 UTC". A briefing is no chat log: turns are counted, never held.
    """
    identity = packet.identity
    sections = (
        ("Topic", quote(one_line(packet.topic))),
        ("Goal", _quoted(packet.goal)),
        ("Summary", _quoted(packet.summary)),
        ("User state", _quoted(packet.user_state)),
        ("Decisions", "".join(map(_entry_decision, packet.decisions))),
        ("Rejected paths", "".join(_pair(path.what, path.why) for path in packet.rejected_paths)),
        ("State", "".join(map(_entry_state, packet.state))),
        ("Flags", "".join(_pair(flag.text, ", ".join(flag.fields)) for flag in packet.flags)),
        ("Sections done", _quoted(", ".join(packet.sections_done))),
        ("Stopped at", _quoted(packet.stopped_at)),
        ("Notes", "".join(map(_bullet, packet.notes))),
        ("Artifacts", "".join(map(artifact_line, packet.artifacts))),
        (
            "Open questions",
            "".join(quote(item.text, f"{_id(item.id)}: ") for item in packet.open_questions),
        ),
        ("Next action", _quoted(packet.next_action)),
        ("Acceptance", "".join(map(_bullet, packet.acceptance_criteria))),
        ("Authority", authority_lines(packet.authority)),
        ("Return condition", _quoted(packet.return_condition)),
        ("Reason", _quoted(packet.handover_reason)),
        ("Travelled", travelled),
    )
    return heading(
        created, identity.sender, identity.receiver, "handover", identity.handover_id
    ) + sections_text(sections)


def note_body(
    packet: HandoverPacket, verdict: str, note: Mapping[str, Any], *, created: str
) -> str:
    """The entry of a hand-back, of the same shape: the verdict in place of "handover", the note in place of the packet."""
    identity = packet.identity
    named = (
        (plain_name(str(name).replace("_", " ")).capitalize(), _note_value(value))
        for name, value in note.items()
    )
    return heading(
        created, identity.receiver, identity.sender, verdict, identity.handover_id
    ) + sections_text(named)


def heading(created: str, sender: str, receiver: str, what: str, handover_id: str) -> str:
    return (
        f"## {created} · {plain_name(sender)} → {plain_name(receiver)} · {what} · {handover_id}\n"
    )


def sections_text(sections: Iterable[tuple[str, str]]) -> str:
    return "".join(f"\n### {name}\n{block}" for name, block in sections if block)


def _note_value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "".join(map(_note_value, value))
    if isinstance(value, Mapping):
        return quote(json.dumps(value, ensure_ascii=False, sort_keys=True))
    return _quoted("" if value is None else str(value))


def _quoted(text: str) -> str:
    return quote(text) if text else ""


def _entry_decision(decision: Decision) -> str:
    return (
        decision_lines(decision)
        if decision.status == "active"
        else quote(decision.text, f"{_id(decision.id)} v{decision.version} {decision.status}: ")
    )


def _entry_state(field: StateField) -> str:
    return decline_line(field) if field.status == "declined" else state_line(field)

"""The text a specialist gets: a packet as a package within its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ..chain.chain import Chain
from ..chain.news import news
from ..records import resources
from ..records.book import Book, briefing_path
from ..records.folder import HandoverFolder
from ..text import damage, fitting
from ..text import package as text_package
from ..text.fitting import Package, Part
from ..text.masking import Mask
from ..text.quote import on_one_line, one_line
from ..text.tools import tools_told
from ..values.call import Call
from ..values.errors import RecordError, RequestError
from ..values.packet import HandoverPacket, Turn
from ..values.roster import Roster
from ..values.tools import Tools

SHARE_OF_PERSON = 5  # the person's own sentences get one part of so many of the limit
_NOBODY = "someone"
_ROLES = frozenset({"user", "assistant", "system", "tool", "summary"})
_SHORTER_TITLES = (text_package.TITLE_CHARS, 40, 24)


@dataclass(frozen=True)
class Limits:
    """How much of a handover travels: at most so many tokens and turns.

    `overflow` "whole" lets a larger package through.
    """

    tokens: int
    overflow: Literal["fit", "whole"]
    turns: int

    def __str__(self) -> str:
        return (
            f"max_context_tokens {self.tokens}, overflow {self.overflow}, include_recent_turns"
            f" {self.turns}"
        )


@dataclass(frozen=True)
class Packed:
    """The package that travels, and the tokens of all that was asked to; `counter` counted them."""

    package: Package
    estimated_tokens: int
    counter: str


@dataclass(frozen=True)
class _Drawing:
    """Everything that the parts of a package are drawn from."""

    packet: HandoverPacket
    foot: str
    artifacts: Mapping[str, str]
    notices: tuple[str, ...]
    earlier: tuple[tuple[str, str], ...]
    mask: Mask
    said_elsewhere: str = ""

    def parts(self, title_chars: int = 0, artifact_counts: str = "") -> tuple[Part, ...]:
        """`title_chars` 0: decisions are not shortened. `artifact_counts` is the line that stands
        for the files that are not as recorded."""
        parts = text_package.package_parts(
            self.packet,
            head=resources.text("package_head"),
            foot=self.foot,
            notices=self.notices,
            earlier=self.earlier,
            title_chars=title_chars,
            artifact_status=self.artifacts,
            artifact_counts=artifact_counts,
            said_elsewhere=self.said_elsewhere,
        )
        return tuple(map(fitting.inert_part, fitting.masked_parts(parts, self.mask)))


def package_of(
    packet: HandoverPacket,
    limits: Limits,
    folder: HandoverFolder,
    call: Call,
    *,
    artifacts: Mapping[str, str],
    notices: tuple[str, ...] = (),
    earlier: tuple[tuple[str, str], ...] = (),
    keeps_room: bool = False,
    reserve: int = 0,
    foot: str = "",
) -> Packed:
    """All that was asked to travel, fitted into the limit when it is larger.

    `artifacts` is how each file is now; with `keeps_room` there must be room for one line on those
    that change; `reserve` tokens of the limit are left free; `foot` stands in place of the briefing and of
    how to answer here. Raises RequestError
    (limit_not_positive) when even what is never cut does not fit.
    """
    counter, limit = call.ports.counter(), limits.tokens - reserve
    packet = with_known_speakers(packet, call.settings.roster)
    of_all = _Drawing(
        packet, foot or foot_here(folder, packet), artifacts, notices, earlier, call.ports.mask
    )
    drawing, elsewhere = with_persons_words(of_all, limit, counter.count, with_turns=True)
    package = fitting.whole(drawing.parts(), counter.count, likely_tokens=limit)
    estimated = package.tokens
    if limits.overflow == "fit" and estimated > limit:  # turns may have to go
        drawing, elsewhere = with_persons_words(of_all, limit, counter.count, with_turns=False)
    if limits.overflow == "fit":
        if keeps_room and packet.artifacts:
            check_room(drawing, limit, counter.count)
        if estimated > limit:
            package = fitted(drawing, limit, counter.count)
    if elsewhere:
        package = replace(package, omitted=(*package.omitted, elsewhere))
    return Packed(package, estimated, counter.name)


def foot_here(folder: HandoverFolder, packet: HandoverPacket) -> str:
    where = on_one_line(str(briefing_path(folder, packet)))
    return f"briefing: {where}\n{resources.text('package_foot')}"


def with_persons_words(
    drawing: _Drawing, limit_tokens: int, count: fitting.Count, *, with_turns: bool
) -> tuple[_Drawing, str]:
    """The drawing with as many of the person's sentences as a fifth of the limit holds, and a line
    for what is left out, "" for nothing."""
    room = limit_tokens // SHARE_OF_PERSON
    travel = text_package.travelling(drawing.packet, room, count, with_turns=with_turns)
    packet = drawing.packet.model_copy(update={"person_said": travel.said})
    told = f"The person said: turns {travel.turns} left out; request_full_history gives them"
    told = told if travel.turns else ""
    return replace(drawing, packet=packet, said_elsewhere=travel.line), told


def fitted(drawing: _Drawing, limit_tokens: int, count: fitting.Count) -> Package:
    """The package within the limit; where only that fits with shorter titles of decisions, then
    with counted artifacts."""
    counts = text_package.artifact_counts(drawing.artifacts.values())
    refusal: RequestError | None = None
    for artifact_counts in dict.fromkeys(("", counts)):
        for title_chars in _SHORTER_TITLES:
            parts = drawing.parts(title_chars, artifact_counts)
            try:
                return fitting.fit(parts, limit_tokens, count, _where_it_is)
            except RequestError as error:
                refusal = error
    assert refusal is not None
    raise refusal


def _where_it_is(section: str) -> str:
    if section == "Recent turns":
        return "request_full_history gives them"
    return "the briefing has all of it"


def check_room(drawing: _Drawing, limit_tokens: int, count: fitting.Count) -> None:
    """Whatever becomes of its files, a handover can be delivered: there is room for the line that
    counts them. Raises RequestError (limit_not_positive)."""
    number = len(drawing.packet.artifacts)
    worst = f"{number} of the artifacts not as recorded:"
    worst += f" {number} changed, {number} gone, {number} outside\n"
    needed = fitting.least(drawing.parts(_SHORTER_TITLES[-1], worst), count)
    if needed > limit_tokens:
        raise RequestError(
            f"max_context_tokens must be positive and large enough, got {limit_tokens}: what is"
            f" never cut needs {needed} tokens, the line on artifacts that change before delivery"
            " included",
            f"set max_context_tokens to {needed} or more, or shorten what is never cut",
            "limit_not_positive",
        )


def with_turns(packet: HandoverPacket, limits: Limits) -> HandoverPacket:
    """The packet with no more of its turns than travel; what was not recorded with it cannot."""
    if len(packet.recent_turns) <= limits.turns:
        return packet
    newest = packet.recent_turns[-limits.turns :] if limits.turns else ()
    return packet.model_copy(update={"recent_turns": newest})


def with_known_speakers(packet: HandoverPacket, roster: Roster) -> HandoverPacket:
    """The packet with each turn under a role or a roster's name, which stand outside its quote; any
    other speaker is words of the turn."""
    turns = []
    for turn in packet.recent_turns:
        specialist = roster.known(turn.role)
        if specialist is not None:
            turn = turn.model_copy(update={"role": specialist.profile})
        elif turn.role not in _ROLES:
            said_by = f"{one_line(turn.role)}: " if turn.role else ""
            turn = Turn(role=_NOBODY, text=said_by + turn.text)
        turns.append(turn)
    return packet.model_copy(update={"recent_turns": tuple(turns)})


def earlier_work(chain: Chain, packet: HandoverPacket) -> tuple[tuple[str, str], ...]:
    """For a specialist that comes back to the topic: the note it left, and what is new since."""
    identity = packet.identity
    for item in reversed(chain.handovers):
        if item.receiver == identity.receiver and item.hop < identity.hop and item.note:
            break
    else:
        return ()
    lines = [f"{name}: {words}" for name, words in item.note.said() if isinstance(words, str)]
    return (
        (f"Your earlier hand-back (hop {item.hop}, {item.state})", "\n".join(lines)),
        ("New since then", ", ".join(news(packet, item.known))),
    )


def record_notices(chain: Chain) -> tuple[str, ...]:
    """What sender and receiver must know about the record itself."""
    told = list(damage.notices(chain.damage))
    if chain.foreign:
        told.append(
            f"{chain.foreign} events in this chain's ledger are not this installation's; nothing of"
            " them was used."
        )
    return tuple(told)


def notices(chain: Chain, tools: Tools, *, enforced: bool = True) -> tuple[str, ...]:
    """What the receiver must know of the record itself, and which tools are its to use."""
    told = record_notices(chain)
    if not tools:
        return told
    how = ", enforced" if enforced else ""
    return (*told, f"tools{how}: {tools_told(tools)}.")


def briefing_notices(book: Book, packet: HandoverPacket) -> tuple[str, ...]:
    """What the receiver, who is sent to the briefing, must know of it."""
    try:
        return book.account(packet).lines()
    except RecordError:
        return ("the briefing cannot be read; this package is from the ledger.",)

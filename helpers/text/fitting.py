"""Fitting a package into its token limit: counted, by worth, and never silently."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..values.errors import RequestError
from .masking import Mask, masked_together
from .quote import inert, safe_end

Count = Callable[[str], int]
MARK = "[cut here]"
_MOST_CHARS = 6  # of a token, in a usual text
_SMALLEST_CUT = 24  # tokens; less of a text than this tells nothing
_NEWEST_FIRST = "Recent turns"


@dataclass(frozen=True)
class Part:
    """A piece of a package that travels whole, short, cut or not at all.

    `full` and `short` are blocks of lines, each ending in "\\n"; `short` is what is never cut (""
    where all of it may go). `rank` orders what goes in first (1 before 2), `item` names it for the
    person who reads what was left out. `cut` is the raw text of a part that may be cut at its end,
    and the function that frames the rest.
    """

    section: str
    item: str
    full: str
    short: str = ""
    rank: int = 5
    cut: tuple[str, Callable[[str], str]] | None = None


@dataclass(frozen=True)
class Package:
    """The text for the specialist, its counted tokens, and one line for each thing left out."""

    text: str
    tokens: int
    omitted: tuple[str, ...] = ()


def inert_part(part: Part) -> Part:
    """The part with nothing in it that the host would expand; its cut is counted as it is sent."""
    if "{{" not in part.full and "{{" not in part.short:
        return part
    cut = part.cut
    if cut:
        text, frame = cut
        cut = inert(text), frame
    return replace(part, full=inert(part.full), short=inert(part.short), cut=cut)


def masked_parts(parts: Sequence[Part], mask: Mask) -> tuple[Part, ...]:
    """The parts masked as the one text that they become; what stands in no section is ours."""
    fulls = _masked_blocks([part.full if part.section else "" for part in parts], mask)
    masked = []
    for part, full in zip(parts, fulls, strict=True):
        if part.section and full != part.full:
            part = _masked_part(part, full, mask)
        masked.append(part)
    return tuple(masked)


def _masked_blocks(blocks: Sequence[str], mask: Mask) -> list[str]:
    """Blocks of lines, which still end as lines where a secret went over several of them."""
    masked = []
    for block in masked_together(blocks, mask):
        masked.append(f"{block}\n" if block and not block.endswith("\n") else block)
    return masked


def _masked_part(part: Part, full: str, mask: Mask) -> Part:
    """The part with that `full`; what is short is masked alike, and nothing is cut any more."""
    short = full if part.short == part.full else _masked_blocks([part.short], mask)[0]
    return replace(part, full=full, short=short, cut=None)


# --- a package


def whole(parts: Sequence[Part], count: Count, *, likely_tokens: int = 0) -> Package:
    """Everything that was asked to travel, with the count of its text.

    A text of about `likely_tokens` is counted at once, which is the cheapest; a longer one as the
    sum over its blocks, which is the same and which fitting it needs anyway.
    """
    blocks = _with_headings(parts, [part.full for part in parts])
    text = "".join(blocks)
    if len(text) <= likely_tokens * _MOST_CHARS:
        return Package(text, count(text))
    return Package(text, sum(map(count, blocks)))


def fit(
    parts: Sequence[Part], limit_tokens: int, count: Count, where: Callable[[str], str]
) -> Package:
    """The most valuable parts within the limit; `where(section)` says where the rest can be read.

    What a part must not lose (`Part.short`) always travels. Raises RequestError when even that is
    over the limit.
    """
    everything = whole(parts, count)
    if everything.tokens <= limit_tokens:
        return everything
    fitting = _Fitting(parts, count)
    room = limit_tokens - fitting.tokens()
    if room < 0:
        raise _too_low(parts, limit_tokens, limit_tokens - room)
    # What went in makes the closing line shorter, which may leave room for more.
    for _ in range(2):
        fitting.fill(room)
        room = limit_tokens - fitting.tokens()
    while room < 0:  # the closing line grew
        fitting.take_out()
        room = limit_tokens - fitting.tokens()
    omitted = tuple(loss.line(where) for loss in fitting.losses())
    return Package("".join(fitting.blocks()), limit_tokens - room, omitted)


def least(parts: Sequence[Part], count: Count) -> int:
    """The tokens of what is never cut, with the line that names the rest: the lowest limit."""
    return _Fitting(parts, count).tokens()


def _too_low(parts: Sequence[Part], limit_tokens: int, needed: int) -> RequestError:
    kept = dict.fromkeys(part.section or part.item for part in parts if part.short)
    return RequestError(
        f"max_context_tokens must be positive and large enough, got {limit_tokens}: what is never"
        f" cut ({', '.join(kept)}) needs {needed} tokens",
        f"set max_context_tokens to {needed} or more, or shorten these",
        "limit_not_positive",
    )


class _Fitting:
    """What goes in of each part: all of it, its beginning, what is never cut of it, or nothing.

    It begins with what is never cut.
    """

    def __init__(self, parts: Sequence[Part], count: Count) -> None:
        self._parts = parts
        self._count = count
        self._chosen = [part.short for part in parts]
        self._order = sorted(range(len(parts)), key=self._worth)

    def _worth(self, index: int) -> tuple[int, int]:
        """Orders parts, the most worth first: by rank, of the turns the newest first."""
        part = self._parts[index]
        return part.rank, -index if part.section == _NEWEST_FIRST else index

    def blocks(self) -> list[str]:
        """The text so far, the line that says what is missing included."""
        blocks = _with_headings(self._parts, self._chosen)
        lost = "; ".join(f"{loss.section.lower()} {loss.amount()}" for loss in self.losses())
        if lost:
            blocks.append(
                f"Not here for space, read the briefing (turns: request_full_history): {lost}\n"
            )
        return blocks

    def tokens(self) -> int:
        """Counts add up: each block ends in a line feed, none begins with white space."""
        return sum(map(self._count, self.blocks()))

    def fill(self, room: int) -> None:
        """Put in what fits into `room` tokens, in the order of worth."""
        blocks = zip(self._parts, self._chosen, strict=True)
        opened = {part.section for part, block in blocks if block}
        for index in self._order:
            part, before = self._parts[index], self._chosen[index]
            if before == part.full or before != part.short:
                continue  # it is in
            heading = "" if part.section in opened else _heading(part.section)
            block = self._best(part, heading, room)
            if block:
                room -= self._count(heading) + self._count(block) - self._count(before)
                self._chosen[index] = block
                opened.add(part.section)

    def take_out(self) -> None:
        """Take out again what is worth least."""
        for index in reversed(self._order):
            short = self._parts[index].short
            if self._chosen[index] != short:
                self._chosen[index] = short
                return

    def _best(self, part: Part, heading: str, room: int) -> str:
        """The whole part where it fits, its beginning where it may be cut, else ""."""
        count = self._count
        room_for_text = room - count(heading)
        if count(part.full) - count(part.short) <= room_for_text:
            return part.full
        if part.cut is None or room < _SMALLEST_CUT:
            return ""
        text, frame = part.cut
        return frame_cut(text, frame, room_for_text, count)

    def losses(self) -> list[_Loss]:
        losses: dict[str, _Loss] = {}
        for part, block in zip(self._parts, self._chosen, strict=True):
            loss = losses.setdefault(part.section, _Loss(part.section))
            loss.members += 1
            if not block:
                loss.gone.append(part.item)
            elif block != part.full:
                loss.short.append(part.item)
        return [loss for loss in losses.values() if loss.gone or loss.short]


@dataclass
class _Loss:
    """What is missing of one section: the items left out, and those that are there in part."""

    section: str
    members: int = 0
    gone: list[str] = field(default_factory=list)
    short: list[str] = field(default_factory=list)

    def amount(self) -> str:
        """Such as "3 of 8 left out, 1 of 8 shortened"; of a section of one part without figures."""
        amounts = []
        for items, word in ((self.gone, "left out"), (self.short, "shortened")):
            if items and self.members > 1:
                amounts.append(f"{len(items)} of {self.members} {word}")
            elif items:
                amounts.append(word)
        return ", ".join(amounts)

    def line(self, where: Callable[[str], str]) -> str:
        """How much is missing, each thing by name, and where it can be read."""
        names = f" ({', '.join(_ranges((*self.gone, *self.short)))})" if self.members > 1 else ""
        return f"{self.section}: {self.amount()}{names}; {where(self.section)}"


_NUMBERED = re.compile(r"(?P<before>.*?)(?P<number>\d{1,9})(?P<after>(?: of \d+)?)")


def _ranges(items: Iterable[str]) -> list[str]:
    """`turn 1 of 9`, `turn 2 of 9` as `turn 1-2 of 9`; other names as they are."""
    names: list[str] = []
    run: tuple[str, int, str] | None = None  # the last item: words before, number, words behind
    first = 0
    for item in items:
        match = _NUMBERED.fullmatch(item)
        if match is None:
            names.append(item)
            run = None
            continue
        before, number, after = match["before"], int(match["number"]), match["after"]
        if run == (before, number - 1, after):
            names[-1] = f"{before}{first}-{number}{after}"
        else:
            first = number
            names.append(item)
        run = (before, number, after)
    return names


def _heading(section: str) -> str:
    return f"## {section}\n" if section else ""


def _with_headings(parts: Sequence[Part], blocks: Sequence[str]) -> list[str]:
    """The blocks that are not empty, the heading of a section before its first one."""
    text = []
    opened = {""}
    for part, block in zip(parts, blocks, strict=True):
        if block and part.section not in opened:
            opened.add(part.section)
            text.append(_heading(part.section))
        if block:
            text.append(block)
    return text


# --- texts


def cut_text(text: str, limit_tokens: int, cost: Count) -> str:
    """A beginning of the text with `cost` at most `limit_tokens`, in whole characters as seen.

    Steps from a guess by proportion: a handful of counts rather than one for each character.
    """
    length = min(len(text), limit_tokens * 8)
    for _ in range(12):
        beginning = text[: safe_end(text, length)]
        spent = cost(beginning)
        if spent <= limit_tokens:
            return beginning
        length = min(length - 1, int(length * limit_tokens / spent * 0.97))
        if length <= 0:
            break
    return ""


def frame_cut(text: str, frame: Callable[[str], str], limit_tokens: int, count: Count) -> str:
    """A beginning of the text, marked as cut and framed, in at most `limit_tokens`; "" for none."""

    def framed(beginning: str) -> str:
        return frame(f"{beginning.rstrip()} {MARK}")

    beginning = cut_text(text, limit_tokens, lambda rest: count(framed(rest)))
    return framed(beginning) if beginning else ""


def fit_texts(
    texts: Mapping[str, str], limit_tokens: int, count: Count
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Texts within a common limit, and the names of those that were cut.

    What is small stays whole; the long ones share the rest evenly and end in `MARK`.
    """
    sizes = {name: count(text) for name, text in texts.items() if text}
    room = limit_tokens
    kept = dict.fromkeys(sizes, "")
    cut: set[str] = set()
    for number, name in enumerate(sorted(sizes, key=sizes.__getitem__)):
        share = room // (len(sizes) - number)
        kept[name] = texts[name]
        if sizes[name] > share:
            cut.add(name)
            kept[name] = frame_cut(texts[name], str, share, count)
        room -= count(kept[name])
    whole_or_cut = {name: text for name, text in kept.items() if text}
    return whole_or_cut, tuple(name for name in kept if name in cut)


def fit_items(items: Sequence[str], limit_tokens: int, count: Count) -> tuple[str, ...]:
    """The first items that fit into the limit, each whole."""
    room = limit_tokens
    for number, item in enumerate(items):
        room -= count(item)
        if room < 0:
            return tuple(items[:number])
    return tuple(items)

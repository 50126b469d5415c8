"""Fitting a package into its token limit: counted, by worth, and never silently."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..values.errors import RequestError
from .quote import inert, safe_end

Count = Callable[[str], int]
MARK = "[cut here]"
_MOST_CHARS = 6  # of a token, in a usual text
_SMALLEST_CUT = 24  # tokens; less of a text than this tells nothing


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


def inert_part(part: Part) -> Part:
    """The part with nothing in it that the host would expand, however it travels; its cut is counted as it is sent."""
    if "{{" not in part.full and "{{" not in part.short:
        return part
    cut = (inert(part.cut[0]), part.cut[1]) if part.cut else None
    return replace(part, full=inert(part.full), short=inert(part.short), cut=cut)


@dataclass(frozen=True)
class Package:
    """The text for the specialist, its counted tokens, and one line for each thing left out."""

    text: str
    tokens: int
    omitted: tuple[str, ...] = ()


def whole(parts: Sequence[Part], count: Count, *, likely_tokens: int = 0) -> Package:
    """Everything that was asked to travel, with the count of its text.

    A text of about `likely_tokens` is counted at once, which is the cheapest; a longer one as the sum over its blocks, which
    is the same and which fitting it needs anyway.
    """
    blocks = [block for heading, part in _headed(parts) for block in (heading, part.full)]
    text = "".join(blocks)
    at_once = len(text) <= likely_tokens * _MOST_CHARS
    return Package(text, count(text) if at_once else _sum(blocks, count))


def fit(
    parts: Sequence[Part], limit_tokens: int, count: Count, where: Callable[[str], str]
) -> Package:
    """The most valuable parts within the limit; `where(section)` says where what was left out can be read.

    What a part must not lose (`Part.short`) always travels. Raises RequestError when even that is over the limit.
    """
    everything = whole(parts, count)
    if everything.tokens <= limit_tokens:
        return everything
    chosen = [part.short for part in parts]
    room = limit_tokens - _size(parts, chosen, count) - count(_closing(parts, chosen))
    if room < 0:
        raise RequestError(
            f"max_context_tokens must be positive and large enough, got {limit_tokens}: what is never cut"
            f" ({', '.join(dict.fromkeys(part.section or part.item for part in parts if part.short))})"
            f" needs {limit_tokens - room} tokens",
            f"set max_context_tokens to {limit_tokens - room} or more, or shorten these",
            "limit_not_positive",
        )
    order = _by_worth(parts)
    # What went in makes the closing list shorter, which may leave room for more: twice is enough in practice.
    for _ in range(2):
        _fill(parts, order, chosen, room, count)
        room = limit_tokens - _size(parts, chosen, count) - count(_closing(parts, chosen))
    while room < 0:  # the list of what is missing grew: the least worth goes out again
        last = next(index for index in reversed(order) if chosen[index] != parts[index].short)
        chosen[last] = parts[last].short
        room = limit_tokens - _size(parts, chosen, count) - count(_closing(parts, chosen))
    blocks = [*_blocks(parts, chosen), _closing(parts, chosen)]
    return Package("".join(blocks), _sum(blocks, count), _omitted(parts, chosen, where))


def least(parts: Sequence[Part], count: Count) -> int:
    """The tokens of what is never cut, with the line that names all the rest as missing: no limit below it can be kept."""
    chosen = [part.short for part in parts]
    return _size(parts, chosen, count) + count(_closing(parts, chosen))


def _by_worth(parts: Sequence[Part]) -> list[int]:
    """Indexes of the parts, the most worth first: by rank, of the turns the newest first."""
    return sorted(
        range(len(parts)),
        key=lambda i: (parts[i].rank, -i if parts[i].section == "Recent turns" else i),
    )


def _fill(
    parts: Sequence[Part], order: Sequence[int], chosen: list[str], room: int, count: Count
) -> None:
    """Put into `chosen` what fits into `room` tokens, in the order of worth."""
    opened = {part.section for part, block in zip(parts, chosen, strict=True) if block}
    for index in order:
        part, before = parts[index], chosen[index]
        if before not in ("", part.short) or before == part.full:
            continue
        heading = "" if part.section in opened else _heading(part.section)
        block = _best(part, room, count, heading)
        if block:
            room -= _sum((heading, block), count) - _sum((before,), count)
            chosen[index] = block
            opened.add(part.section)


def _best(part: Part, room: int, count: Count, heading: str) -> str:
    """The whole part where it fits, its beginning where it may be cut, else ""."""
    if _sum((heading, part.full), count) - _sum((part.short,), count) <= room:
        return part.full
    if part.cut is None or room < _SMALLEST_CUT:
        return ""
    text, frame = part.cut

    def framed(beginning: str) -> str:
        return frame(f"{beginning.rstrip()} {MARK}")

    beginning = cut_text(text, room - _sum((heading,), count), lambda rest: count(framed(rest)))
    return framed(beginning) if beginning else ""


def cut_text(text: str, limit_tokens: int, cost: Count) -> str:
    """A beginning of the text, in whole characters as a person sees them, with `cost` at most `limit_tokens`.

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


def fit_texts(
    texts: Mapping[str, str], limit_tokens: int, count: Count
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Texts within a common limit, and the names of those that were cut.

    What is small stays whole; the long ones share the rest evenly and end in `MARK`.
    """
    sizes = {name: count(text) for name, text in texts.items() if text}
    room, kept, cut = limit_tokens, {}, []
    for number, name in enumerate(sorted(sizes, key=lambda each: sizes[each])):
        share, text = room // (len(sizes) - number), texts[name]
        if sizes[name] > share:
            beginning = cut_text(text, share, lambda rest: count(f"{rest.rstrip()} {MARK}"))
            text = f"{beginning.rstrip()} {MARK}" if beginning else ""
            cut.append(name)
        if text:
            kept[name] = text
            room -= count(text)
    return {name: kept[name] for name in texts if name in kept}, tuple(
        name for name in texts if name in cut
    )


def fit_items(items: Sequence[str], limit_tokens: int, count: Count) -> tuple[str, ...]:
    """The first items that fit into the limit, each whole."""
    room, kept = limit_tokens, []
    for item in items:
        room -= count(item)
        if room < 0:
            break
        kept.append(item)
    return tuple(kept)


def _heading(section: str) -> str:
    return f"## {section}\n" if section else ""


def _headed(parts: Sequence[Part]) -> list[tuple[str, Part]]:
    """Each part with the heading that stands before it: the section's name before its first part."""
    seen: set[str] = set()
    found = []
    for part in parts:
        found.append(("" if part.section in seen else _heading(part.section), part))
        seen.add(part.section)
    return found


def _blocks(parts: Sequence[Part], chosen: Sequence[str]) -> list[str]:
    """The blocks that were chosen, with the headings that stand before them as blocks of their own."""
    present = [(part, block) for part, block in zip(parts, chosen, strict=True) if block]
    headings = [heading for heading, _ in _headed([part for part, _ in present])]
    return [
        text
        for heading, (_, block) in zip(headings, present, strict=True)
        for text in (heading, block)
    ]


def _size(parts: Sequence[Part], chosen: Sequence[str], count: Count) -> int:
    return _sum(_blocks(parts, chosen), count)


def _sum(blocks: Iterable[str], count: Count) -> int:
    """The tokens of blocks that follow each other: each ends in a line feed, none begins with white space."""
    return sum(count(block) for block in blocks if block)


@dataclass(frozen=True)
class _Lost:
    """What is missing of one section: the items left out, and those that are there in part."""

    section: str
    members: int
    gone: tuple[str, ...]
    short: tuple[str, ...]

    @property
    def amount(self) -> str:
        of = f" of {self.members}" if self.members > 1 else ""
        found = ((self.gone, "left out"), (self.short, "shortened"))
        return ", ".join(
            f"{len(items)}{of} {what}" if of else what for items, what in found if items
        )


def _lost(parts: Sequence[Part], chosen: Sequence[str]) -> list[_Lost]:
    found: dict[str, list[tuple[Part, str]]] = {}
    for part, block in zip(parts, chosen, strict=True):
        found.setdefault(part.section, []).append((part, block))
    lost = []
    for section, members in found.items():
        gone = tuple(part.item for part, block in members if not block)
        short = tuple(part.item for part, block in members if block and block != part.full)
        if gone or short:
            lost.append(_Lost(section, len(members), gone, short))
    return lost


def _omitted(
    parts: Sequence[Part], chosen: Sequence[str], where: Callable[[str], str]
) -> tuple[str, ...]:
    """A line for each section that is not whole: how much is missing, each thing by name, and where it can be read."""
    lines = []
    for lost in _lost(parts, chosen):
        names = f" ({', '.join(_ranges((*lost.gone, *lost.short)))})" if lost.members > 1 else ""
        lines.append(f"{lost.section}: {lost.amount}{names}; {where(lost.section)}")
    return tuple(lines)


_NUMBERED = re.compile(r"(?P<before>.*?)(?P<number>\d{1,9})(?P<after>(?: of \d+)?)")


def _ranges(items: Sequence[str]) -> list[str]:
    """`turn 1 of 9`, `turn 2 of 9` as `turn 1-2 of 9`; other names as they are."""
    found: list[tuple[str, int, int, str]] = []
    for item in items:
        match = _NUMBERED.fullmatch(item)
        if match is None:
            found.append((item, 0, -1, ""))
            continue
        before, number, after = match["before"], int(match["number"]), match["after"]
        if found and found[-1] == (before, found[-1][1], number - 1, after):
            found[-1] = (before, found[-1][1], number, after)
        else:
            found.append((before, number, number, after))
    return [
        before
        if last < 0
        else f"{before}{first}{after}"
        if first == last
        else f"{before}{first}-{last}{after}"
        for before, first, last, after in found
    ]


def _closing(parts: Sequence[Part], chosen: Sequence[str]) -> str:
    """The line at the end of a package that says what is missing; the foot before it says where the briefing is."""
    lost = "; ".join(f"{lost.section.lower()} {lost.amount}" for lost in _lost(parts, chosen))
    return (
        f"Not here for space, read the briefing (turns: request_full_history): {lost}\n"
        if lost
        else ""
    )

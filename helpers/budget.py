"""Fitting a package into its token limit: counted, by worth, and never silently."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from usr.plugins.software_orchestrator.helpers.errors import RequestError
from usr.plugins.software_orchestrator.helpers.render import Part, graphemes_up_to

Count = Callable[[str], int]
MARK = "[cut here]"
_SMALLEST_CUT = 24  # tokens; less of a text than this tells nothing


@dataclass(frozen=True)
class Package:
    """The text for the specialist, its counted tokens, and one line for each thing left out."""

    text: str
    tokens: int
    omitted: tuple[str, ...] = ()


def whole(parts: Sequence[Part], count: Count) -> Package:
    """Everything that was asked to travel; its tokens are the sum over blocks, which is the count of the joined text."""
    blocks = [heading + part.full for heading, part in _headed(parts)]
    return Package("".join(blocks), sum(map(count, blocks)))


def fit(parts: Sequence[Part], limit_tokens: int, count: Count, where: Callable[[str], str]) -> Package:
    """The most valuable parts within the limit; `where(section)` says where what was left out can be read.

    What a part must not lose (`Part.short`) always travels. Raises RequestError when even that is over the limit.
    """
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
    # What went in makes the closing list shorter, which may leave room for more: twice is enough in practice.
    for _ in range(2):
        _fill(parts, chosen, room, count)
        room = limit_tokens - _size(parts, chosen, count) - count(_closing(parts, chosen))
    blocks = [heading + block for heading, block in _headed_blocks(parts, chosen)] + [_closing(parts, chosen)]
    return Package("".join(blocks), sum(map(count, blocks)), _omitted(parts, chosen, where))


def _fill(parts: Sequence[Part], chosen: list[str], room: int, count: Count) -> None:
    """Put into `chosen` what fits into `room` tokens, by rank; of the turns the newest first."""
    opened = {part.section for part, block in zip(parts, chosen, strict=True) if block}
    for index in sorted(range(len(parts)), key=lambda i: (parts[i].rank, -i if parts[i].section == "Recent turns" else i)):
        part, before = parts[index], chosen[index]
        if before not in ("", part.short) or before == part.full:
            continue
        heading = "" if part.section in opened else _heading(part.section)
        block = _best(part, room, count, heading)
        if block:
            room -= count(heading + block) - (count(before) if before else 0)
            chosen[index] = block
            opened.add(part.section)


def _best(part: Part, room: int, count: Count, heading: str) -> str:
    """The whole part where it fits, its beginning where it may be cut, else ""."""
    used = count(part.short) if part.short else 0
    if count(heading + part.full) - used <= room:
        return part.full
    if part.cut is None or room < _SMALLEST_CUT:
        return ""
    text, frame = part.cut

    def framed(beginning: str) -> str:
        return frame(f"{beginning.rstrip()} {MARK}")

    beginning = cut_text(text, room, lambda rest: count(heading + framed(rest)))
    return framed(beginning) if beginning else ""


def cut_text(text: str, limit_tokens: int, cost: Count) -> str:
    """A beginning of the text, in whole characters as a person sees them, with `cost` at most `limit_tokens`.

    Steps from a guess by proportion: a handful of counts rather than one for each character.
    """
    length = min(len(text), limit_tokens * 8)
    for _ in range(12):
        beginning = graphemes_up_to(text, length)
        spent = cost(beginning)
        if spent <= limit_tokens:
            return beginning
        length = min(length - 1, int(length * limit_tokens / spent * 0.97))
        if length <= 0:
            break
    return ""


def fit_texts(texts: Mapping[str, str], limit_tokens: int, count: Count) -> tuple[dict[str, str], tuple[str, ...]]:
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
    return {name: kept[name] for name in texts if name in kept}, tuple(name for name in texts if name in cut)


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


def _headed_blocks(parts: Sequence[Part], chosen: Sequence[str]) -> list[tuple[str, str]]:
    present = [(part, block) for part, block in zip(parts, chosen, strict=True) if block]
    return [(heading, block) for (heading, _), (_, block) in zip(_headed([part for part, _ in present]), present, strict=True)]


def _size(parts: Sequence[Part], chosen: Sequence[str], count: Count) -> int:
    return sum(count(heading + block) for heading, block in _headed_blocks(parts, chosen))


def _lost(parts: Sequence[Part], chosen: Sequence[str]) -> list[tuple[str, str]]:
    """For each section that is not whole: its name, and how much of it is missing."""
    lost = []
    for section in dict.fromkeys(part.section for part in parts):
        members = [(part, block) for part, block in zip(parts, chosen, strict=True) if part.section == section]
        short = sum(1 for part, block in members if block and block != part.full)
        gone = sum(1 for part, block in members if not block)
        of = f" of {len(members)}" if len(members) > 1 else ""
        amounts = ([f"{gone}{of} left out"] if gone else []) + ([f"{short}{of} shortened"] if short else [])
        if amounts:
            lost.append((section, ", ".join(amounts)))
    return lost


def _omitted(parts: Sequence[Part], chosen: Sequence[str], where: Callable[[str], str]) -> tuple[str, ...]:
    return tuple(f"{section}: {amount}; {where(section)}" for section, amount in _lost(parts, chosen))


def _closing(parts: Sequence[Part], chosen: Sequence[str]) -> str:
    """The line at the end of a package that says what is missing; the foot before it says where the briefing is."""
    lost = "; ".join(f"{section.lower()} {amount}" for section, amount in _lost(parts, chosen))
    return f"Not here for space, read the briefing (turns: request_full_history): {lost}\n" if lost else ""

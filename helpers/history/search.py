"""Searching a transcript: which turns hold the words, the best first.

Case, accents, vowel marks, the width of letters and the form of apostrophes and hyphens do not
matter; words of scripts without spaces are found inside a run.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..text.embedded import without_blobs
from .message import USER, Message
from .transcript import Transcript

PHRASE_WEIGHT: Final = 2.0
PERSON_WEIGHT: Final = 1.2
_ALL_FOUND: Final = 100.0  # turns that hold everything come before all others
_MOST_COUNTED: Final = 6  # of one word in one turn


@dataclass(frozen=True, slots=True)
class Match:
    """A turn that matches; `place` is about where in its text (0 to 1)."""

    number: int
    score: float
    place: float


@dataclass(frozen=True, slots=True)
class _Hit:
    """How often each needle stands in a turn, and where the first of them."""

    number: int
    counts: tuple[int, ...]
    place: float


def search(
    transcript: Transcript,
    words: Sequence[str],
    phrases: Sequence[str],
    turns: tuple[int, int] | None = None,
) -> tuple[Match, ...]:
    """Turns that hold any of the words or phrases, best first, equals in order.

    Better is: all of them, more, rarer ones, phrases, the person's own words.
    """
    first, last = turns or (1, len(transcript))
    weights = _weights(words, phrases)
    hits = []
    for number in range(first, last + 1):
        hit = _hit(transcript[number - 1], tuple(weights))
        if hit is not None:
            hits.append(hit)
    rare = _rarity(hits, last - first + 1)
    worth = [weight * rarity for weight, rarity in zip(weights.values(), rare, strict=False)]
    kinds = transcript.at_a_glance.kinds
    matches = []
    for hit in hits:
        score = _score(hit.counts, worth, by_person=kinds[hit.number - 1] == USER)
        matches.append(Match(hit.number, score, hit.place))
    return tuple(sorted(matches, key=lambda match: (-match.score, match.number)))


def _weights(words: Sequence[str], phrases: Sequence[str]) -> dict[str, float]:
    """What is looked for, folded, and what it counts."""
    weights = {fold(phrase): PHRASE_WEIGHT for phrase in phrases}
    for word in words:
        weights.setdefault(fold(word), 1.0)
    weights.pop("", None)  # nothing but marks
    return weights


def _hit(message: Message, needles: tuple[str, ...]) -> _Hit | None:
    text = fold(searched_text(message))
    counts = tuple([text.count(needle) for needle in needles])
    if not any(counts):
        return None
    places = [text.find(needle) for needle in needles]
    place = min([place for place in places if place >= 0])
    return _Hit(message.number, counts, place / len(text))


def _rarity(hits: Sequence[_Hit], turns: int) -> list[float]:
    """For each needle, more the fewer turns hold it."""
    rarity = []
    for counts in zip(*[hit.counts for hit in hits], strict=True):
        holding = len(counts) - counts.count(0)
        rarity.append(math.log(1 + turns / max(1, holding)))
    return rarity


def _score(counts: Sequence[int], worth: Sequence[float], by_person: bool) -> float:
    score = 0.0
    for count, value in zip(counts, worth, strict=True):
        if count:
            score += value * (1 + 0.1 * (min(count, _MOST_COUNTED) - 1))
    if by_person:
        score *= PERSON_WEIGHT
    return round(score + (_ALL_FOUND if all(counts) else 0.0), 6)


def searched_text(message: Message) -> str:
    """What is searched: the words, without data that only looks like words."""
    parts = (message.tool, without_blobs(message.text), message.thoughts)
    return "\n".join([part for part in parts if part])


# --- comparing


# Accents; vowel and reading marks of Hebrew and Arabic, which most people leave out. Not those of
# Thai or Indic scripts, where they are letters.
_MARKS: Final = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
)
# What stands inside a word and is not seen: soft hyphen, zero-width characters, directions.
_UNSEEN: Final = (
    "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
)
_IGNORED: Final = re.compile(f"[{_MARKS}{_UNSEEN}]")
_ALIKE: Final = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02b9\u02bb\u02bc\u02bd\u02c8\u055a\ua78c",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u05be\u058a",
    '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb",
}


def fold(text: str) -> str:
    """The text for comparing: lower case, no accents, plain letters, one space for white space."""
    if text.isascii():
        return " ".join(text.lower().split())
    text = text.replace("\u00b4", "'")  # of which NFKD makes a blank with an accent
    text = unicodedata.normalize("NFKD", text).casefold()
    for plain, forms in _ALIKE.items():
        for form in forms:
            text = text.replace(form, plain)  # many times as fast as one `translate`
    return " ".join(unicodedata.normalize("NFC", _IGNORED.sub("", text)).split())

"""Does the person take a decline back? Plain rules; where they are in doubt, the decline stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from ..values.call import PersonMessage
from ..values.names import key, words
from . import patterns
from .extract import any_of, field_of
from .wording import UNSPACED, folded, found, has, leaves, matches, sentences, tokens

# Characters of a quote; a shorter one must be a whole message, or a whole part of one.
SHORTEST_PROOF = 8
_PART = re.compile(r"[,.!?…;:，。！？；：、\n]+")
_SHORT_QUESTION = 4  # words of one that points back at the sentence before


@dataclass(frozen=True)
class Declined:
    """A declined field, the words it was declined with, and the value that is said to stand now."""

    field: str
    verbatim: str = ""
    value: JsonValue = None

    @cached_property
    def evidence(self) -> tuple[re.Pattern[str], ...]:
        """What all must stand in words that hold the value; nothing for a mere yes or no."""
        return tuple(map(found, leaves(self.value)))

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """What it may be called: its field, and what its words are about."""
        topic = field_of(self.verbatim, self.verbatim)
        named = [tokens(key(name)) for name in (self.field.removeprefix("state."), topic)]
        return tuple(filter(None, named))


def takes_back(quote: str, said: Sequence[PersonMessage], declined: Declined) -> bool:
    """Whether the person, who wrote `said` since the decline, takes it back with the quoted words.

    Their message does not refuse, none later refuses, and it holds the value, names the field, or
    agrees to a question that names it (docs/packet.md, Declines).
    """
    for message in reversed(said):
        if refuses(message, declined):
            return False
        if quotes(quote, message.text) and _consents(message, declined):
            return True
    return False


def quotes(quote: str, text: str) -> bool:
    """Whether the words stand in the text: few of them only as a whole part of it."""
    wanted, message = words(quote), words(text)
    if not wanted:
        return False
    if len(wanted) >= SHORTEST_PROOF:
        return wanted in message
    return wanted == message or wanted in [part.strip() for part in _PART.split(message)]


def refuses(message: PersonMessage, declined: Declined) -> bool:
    """Whether the message says no to the field, or no to nothing that it tells.

    A bare no to a question about something else is none.
    """
    other_question = bool(message.asked) and not _is_named(folded(message.asked), declined)
    for sentence in sentences(message.text):
        if _says_no(sentence, declined, other_question):
            return True
    return False


def _says_no(sentence: str, declined: Declined, other_question: bool) -> bool:
    plain = any_of(patterns.NO_HARM).sub("", sentence)
    if _holds(plain, declined):
        return matches(patterns.REFUSAL, plain) or _denies_value(plain, declined)
    if _is_named(plain, declined):
        return matches((*patterns.NEGATION, *patterns.HIDING), plain)
    topic = tokens(key(field_of(sentence, sentence)))
    if topic:
        about_it = any(has(topic, token) for name in declined.names for token in name)
        return about_it and matches((*patterns.NEGATION, *patterns.HIDING), plain)
    return not other_question and matches(patterns.REFUSAL, plain)


def _consents(message: PersonMessage, declined: Declined) -> bool:
    if _holds(folded(message.text), declined):
        return True
    for sentence in sentences(message.text):
        if _is_named(sentence, declined) and not matches(patterns.ASKS, sentence):
            return True
    return _agrees(message.text) and _asks_for(message.asked, declined)


def _agrees(text: str) -> bool:
    """A yes that takes nothing back in the same breath."""
    plain = any_of(patterns.NO_HARM).sub("", folded(text))
    no = (*patterns.NEGATION, *patterns.HIDING)
    return matches(patterns.AGREEMENT, folded(text)) and not matches(no, plain)


def _asks_for(asked: str, declined: Declined) -> bool:
    """Whether an agent asked for the field, not whether to leave it out."""
    told = list(sentences(asked))
    for place, sentence in enumerate(told):
        if not _is_named(sentence, declined):
            continue
        after = told[place + 1] if place + 1 < len(told) else ""
        points_back = len(after.split()) <= _SHORT_QUESTION and matches(patterns.ASKS, after)
        is_question = matches(patterns.ASKS, sentence) or points_back
        if is_question and not matches((*patterns.NEGATION, *patterns.HIDING), sentence):
            return True
    return False


# --- words


def _is_named(sentence: str, declined: Declined) -> bool:
    spoken = tokens(sentence)
    run = "".join(spoken)
    for name in declined.names:
        whole = "".join(name)
        if UNSPACED.search(whole):
            if whole in run:
                return True
        elif all(has(spoken, token) for token in name):
            return True
    return False


def _holds(text: str, declined: Declined) -> bool:
    places = [pattern.search(text) for pattern in declined.evidence]
    return bool(places) and all(places)


def _denies_value(sentence: str, declined: Declined) -> bool:
    for pattern in declined.evidence:
        before = pattern.split(sentence)[0]
        if matches(patterns.NEGATION, before[-8:]):
            return True
    return False

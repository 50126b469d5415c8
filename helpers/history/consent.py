"""Does the person take a decline back? Plain rules; where they are in doubt, the decline stays."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from ..values.call import PersonMessage
from ..values.names import key, words
from . import patterns
from .extract import MAX_QUOTE_CHARS, any_of, field_of

# Characters of a quote; a shorter one must be a whole message, or a whole part of one.
SHORTEST_PROOF = 8
_SENTENCE = re.compile(r"(?<=[.!?…;])\s+|(?<=[。！？；؟])|\n+")
_PART = re.compile(r"[,.!?…;:，。！？；：、\n]+")
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
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
        return tuple(map(_found, _leaves(self.value)))

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """What it may be called: its field, and what its words are about."""
        topic = field_of(self.verbatim, self.verbatim)
        named = [_tokens(key(name)) for name in (self.field.removeprefix("state."), topic)]
        return tuple(tokens for tokens in named if tokens)


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
    other_question = bool(message.asked) and not _is_named(_folded(message.asked), declined)
    for sentence in _sentences(message.text):
        if _says_no(sentence, declined, other_question):
            return True
    return False


def _says_no(sentence: str, declined: Declined, other_question: bool) -> bool:
    plain = any_of(patterns.NO_HARM).sub("", sentence)
    if _holds(plain, declined):
        return _matches(patterns.REFUSAL, plain) or _denies_value(plain, declined)
    if _is_named(plain, declined):
        return _matches((*patterns.NEGATION, *patterns.HIDING), plain)
    topic = _tokens(key(field_of(sentence, sentence)))
    if topic:
        about_it = any(_has(topic, token) for tokens in declined.names for token in tokens)
        return about_it and _matches((*patterns.NEGATION, *patterns.HIDING), plain)
    return not other_question and _matches(patterns.REFUSAL, plain)


def _consents(message: PersonMessage, declined: Declined) -> bool:
    if _holds(_folded(message.text), declined):
        return True
    for sentence in _sentences(message.text):
        if _is_named(sentence, declined) and not _matches(patterns.ASKS, sentence):
            return True
    return _agrees(message.text) and _asks_for(message.asked, declined)


def _agrees(text: str) -> bool:
    """A yes that takes nothing back in the same breath."""
    plain = any_of(patterns.NO_HARM).sub("", _folded(text))
    no = (*patterns.NEGATION, *patterns.HIDING)
    return _matches(patterns.AGREEMENT, _folded(text)) and not _matches(no, plain)


def _asks_for(asked: str, declined: Declined) -> bool:
    """Whether an agent asked for the field, not whether to leave it out."""
    sentences = list(_sentences(asked))
    for place, sentence in enumerate(sentences):
        if not _is_named(sentence, declined):
            continue
        after = sentences[place + 1] if place + 1 < len(sentences) else ""
        points_back = len(after.split()) <= _SHORT_QUESTION and _matches(patterns.ASKS, after)
        is_question = _matches(patterns.ASKS, sentence) or points_back
        if is_question and not _matches((*patterns.NEGATION, *patterns.HIDING), sentence):
            return True
    return False


# --- words


def _matches(alternatives: tuple[str, ...], text: str) -> bool:
    return any_of(alternatives).search(text) is not None


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(_folded(text)):
        for start in range(0, len(sentence), MAX_QUOTE_CHARS):
            if part := sentence[start : start + MAX_QUOTE_CHARS].strip():
                yield part


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(_folded(text).replace("_", " ")))


def _is_named(sentence: str, declined: Declined) -> bool:
    spoken = _tokens(sentence)
    run = "".join(spoken)
    for name in declined.names:
        whole = "".join(name)
        if _UNSPACED.search(whole):
            if whole in run:
                return True
        elif all(_has(spoken, token) for token in name):
            return True
    return False


def _has(spoken: Iterable[str], token: str) -> bool:
    return any(_same_word(word, token) for word in spoken)


def _same_word(word: str, other: str) -> bool:
    """Equal but for an ending: price and prices, цены and цену."""
    if word == other:
        return True
    short, long = sorted((word, other), key=len)
    if len(short) < 4 or len(long) - len(short) > 3:
        return False
    inflected = not short.isascii() or len(short) >= 6
    return long.startswith(short[:-1] if inflected else short)


def _leaves(value: JsonValue) -> Iterator[tuple[str, ...]]:
    """The texts of a value, each in all its spellings."""
    match value:
        case bool() | None:
            return
        case int() | float():
            yield str(value), f"{value:,}", f"{value:g}"
        case str():
            if any(word not in patterns.NO_VALUE for word in _tokens(value)):
                yield (words(value),)
        case list():
            for item in value:
                yield from _leaves(item)
        case dict():
            for item in value.values():
                yield from _leaves(item)


def _found(spellings: Iterable[str]) -> re.Pattern[str]:
    """Finds any of them; one of letters and digits as a word of its own."""
    alternatives = []
    for text in spellings:
        plain = r"\s+".join(map(re.escape, _folded(text).split()))
        alternatives.append(rf"(?<!\w){plain}(?!\w)" if text.isascii() else plain)
    return re.compile("|".join(alternatives))


def _holds(text: str, declined: Declined) -> bool:
    found = [pattern.search(text) for pattern in declined.evidence]
    return bool(found) and all(found)


def _denies_value(sentence: str, declined: Declined) -> bool:
    for pattern in declined.evidence:
        before = pattern.split(sentence)[0]
        if _matches(patterns.NEGATION, before[-8:]):
            return True
    return False

"""Is what a call claims of the person found in what the person wrote? Plain rules, no model.

A real decline that is doubted is worse than a false one that is told: in doubt it is founded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ..values.names import key
from ..values.packet import Decision, StateField
from . import patterns
from .extract import any_of
from .heard import Heard, Spoken, refuses
from .languages import NO_REFUSAL, SMALL_WORDS, languages_of
from .wording import UNSPACED, folded, found, has_ending_of, leaves, pieces, sentences

# Words of a field's name that name nothing by themselves.
GENERIC: Final = frozenset(
    (
        *("id", "name", "number", "no", "nr", "status", "type", "value", "data", "info", "details"),
        *(
            "field",
            "state",
            "show",
            "hide",
            "display",
            "include",
            "use",
            "user",
            "person",
            "client",
        ),
        *("customer", "page", "the", "of", "for", "is", "has", "on", "in", "and", "or", "to", "a"),
    )
)
_LIST: Final = re.compile(
    r"(?<!\w)(?:and|or|nor|und|oder|noch|et|ou|ni|y|o|u|e|ed|né|en|of|i|lub|ani|oraz|и|или|ни)(?!\w)"
    r"|[、，和或与及]|と|や|및|และ|หรือ|(?<!\w)و|,[^,]*,"
)
_ENOUGH_SHARE: Final = 0.6  # of the telling words of a quotation, or of a decision
_ENOUGH_WORDS: Final = 3


# --- declines


def is_founded(item: StateField, others: Sequence[StateField], heard: Heard) -> bool:
    """Whether the person spoke of a declined field at all: by name, value or words, or in a refusal
    that no other field accounts for."""
    if any(heard.holds(word) for word in name_words(item)):
        return True
    if _is_quoted(item, heard):
        return True
    for message in heard.messages:
        for sentence in message.refusals:
            if not any(_accounts(other, sentence) for other in others):
                return True
    return False


def name_words(item: StateField) -> list[str]:
    """The telling words of a field's name; all of them where none is."""
    spoken = pieces(folded(key(item.field.removeprefix("state."))))
    return [word for word in spoken if word not in GENERIC] or spoken


def _is_quoted(item: StateField, heard: Heard) -> bool:
    quoted = [found((item.verbatim,))] if item.verbatim.strip() else []
    values = [found(spellings) for spellings in leaves(item.value)]
    telling = frozenset(pieces(folded(item.verbatim))) - SMALL_WORDS
    if not (quoted or values):
        return False
    for message in heard.messages:
        for patterns_of in (quoted, values):
            if patterns_of and all(one.search(message.heard_with) for one in patterns_of):
                return True
        shared = len(telling & message.vocabulary)
        if shared >= _ENOUGH_WORDS and shared >= _ENOUGH_SHARE * len(telling):
            return True
    return False


def _accounts(other: StateField, sentence: str) -> bool:
    """Whether a refusing sentence is about that field and, as far as it can be told, nothing else."""
    if _LIST.search(sentence):
        return False
    spoken = pieces(sentence)
    if any(_among(word, spoken, sentence) for word in name_words(other)):
        return True
    quoted = folded(other.verbatim).strip()
    if quoted and (sentence in quoted or quoted in sentence):
        return True
    values = [found(spellings) for spellings in leaves(other.value)]
    return bool(values) and all(one.search(sentence) for one in values)


def _among(word: str, spoken: Iterable[str], text: str) -> bool:
    if UNSPACED.match(word):
        return word in text
    return any(has_ending_of(other, word) for other in spoken)


def refuses_field(sentence: str, item: StateField) -> bool:
    """Whether a sentence says no and names the field."""
    plain = folded(sentence)
    named = any(_among(word, pieces(plain), plain) for word in name_words(item))
    return named and refuses(plain, languages_of(plain) or frozenset())


# --- decisions


class Clause(NamedTuple):
    """A part of a sentence: what it is about, and whether it says no to that."""

    words: tuple[str, ...]
    is_denied: bool


class Contradiction(NamedTuple):
    """A sentence of the person that says the opposite, and the line of the log it stands in."""

    sentence: str
    line: int


_CLAUSE: Final = re.compile(
    r"[,;:()—–]|(?=\b(?:instead of|rather than|anstelle|statt|au lieu|en lugar|invece)\b)"
    r"|\b(?:but|because|so|sondern|aber|weil|mais|sino|pero|mas|ma|maar|ale)\b|(?<!\w)(?:но|а)(?!\w)"
)
_DENIES: Final = (
    *patterns.NEGATION,
    r"\b(?:avoid\w*|instead of|rather than|drop|skip|remov\w+|statt|anstelle|vermeid\w+|évit\w+|evit\w+)\b",
    r"никак\w+|\b(?:au lieu|en lugar|invece|vermijd\w*|unika\w*)\b|избега\w+|避免|禁止",
)
# What stands between words where no space does.
_SMALL_RUNS: Final = re.compile(
    "使用|不要|请|要|用|把|在|会|的|了|和|里|上|を|は|が|に|で|の|と|使[いうわっ]て?|ください|ない|します"
)
# What is done with a thing says nothing about which thing it is.
_DOING: Final = frozenset(
    (
        *("use", "uses", "used", "using", "add", "keep", "put", "make", "makes", "take", "want"),
        *("need", "must", "shall", "would", "could", "may", "might", "let", "lets", "go", "going"),
        *("store", "stored", "stay", "stays", "any", "some", "please", "never", "not", "no", "yes"),
        *("avoid", "instead", "than", "rather", "without", "t", "s", "ll", "re", "ve", "d", "don"),
        *("decided", "decision", "agreed", "verwenden", "nutzen", "benutzen", "nehmen", "bitte"),
        *(
            "utiliser",
            "usar",
            "usare",
            "gebruiken",
            "używać",
            "использовать",
            "there",
            "here",
            "up",
        ),
        *("will", "page", "soll", "muss", "doit", "debe", "deve", "moet", "just", "also", "into"),
    )
)


@lru_cache(maxsize=4096)
def clauses(sentence: str) -> tuple[Clause, ...]:
    """The parts of a sentence that are about something."""
    return tuple(_clauses(sentence))


def _clauses(sentence: str) -> Iterator[Clause]:
    plain = any_of((*patterns.NO_HARM, *NO_REFUSAL)).sub(" ", folded(sentence))
    for part in _CLAUSE.split(plain):
        denial = any_of(_DENIES).search(part)
        after = about(part[denial.end() :]) if denial else ()
        about_it = after or about(any_of(_DENIES).sub(" ", part))
        if about_it:
            yield Clause(about_it, denial is not None)


def about(text: str) -> tuple[str, ...]:
    """What a folded text is about: its words without the small ones."""
    telling = []
    for word in pieces(_SMALL_RUNS.sub(" ", text)):
        is_short = len(word) < 2
        if not (is_short or word in SMALL_WORDS or word in _DOING):
            telling.append(word)
    return tuple(dict.fromkeys(telling))


def contradicts(decision: Decision, heard: Heard) -> Contradiction | None:
    """The newest sentence of the person that says no to what the decision says, or the other way
    round, where they took it back in no later one."""
    said = clauses(decision.text)
    newer: list[str] = []
    for message in heard.by_hand():
        for sentence in reversed(message.decides):
            if _says_the_opposite(said, sentence, newer):
                return Contradiction(sentence, message.line)
            newer.append(sentence)
        newer.append(message.text)
    return None


def _says_the_opposite(said: Sequence[Clause], sentence: str, newer: Sequence[str]) -> bool:
    spoken = clauses(sentence)
    for ours in said:
        for theirs in spoken:
            denied, affirmed = (ours, theirs) if ours.is_denied else (theirs, ours)
            if ours.is_denied == theirs.is_denied or not _covers(affirmed.words, denied.words):
                continue
            if any(clause.is_denied == ours.is_denied for clause in _about_same(spoken, denied)):
                continue
            if not any(_agrees(ours, denied, later) for later in newer):
                return True
    return False


def _about_same(spoken: Iterable[Clause], denied: Clause) -> Iterator[Clause]:
    for clause in spoken:
        if _covers(clause.words, denied.words):
            yield clause


def _agrees(ours: Clause, denied: Clause, later: str) -> bool:
    for sentence in sentences(later):
        if any(
            clause.is_denied == ours.is_denied for clause in _about_same(clauses(sentence), denied)
        ):
            return True
    return False


def _covers(words: Sequence[str], wanted: Sequence[str]) -> bool:
    whole = " ".join(words)
    return bool(wanted) and all(_among(word, words, whole) for word in wanted)


def is_said(decision: Decision, heard: Heard) -> bool:
    """Whether most words of a decision stand in a message of the person, or in what they agreed to.

    In another language than the person's nothing can be told: then it is taken for said.
    """
    telling = about(folded(decision.text))
    languages = languages_of(folded(decision.text))
    if not telling or languages is None or (languages and languages.isdisjoint(heard.languages)):
        return True
    return any(_tells(message, telling) for message in heard.messages)


def _tells(message: Spoken, telling: Sequence[str]) -> bool:
    known = [word for word in telling if _among(word, message.vocabulary, message.heard_with)]
    return len(known) >= _ENOUGH_SHARE * len(telling)

"""The plain extract of a chat: first request, what was decided, declined, ruled out, acceptance.

No model is asked. The rules look for the sentences in which people state such things, and rather
miss one than invent one: everything returned is a quotation. The words are in `patterns`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from . import patterns
from .message import ASSISTANT, USER, Message
from .patterns import Kind, Rules
from .transcript import Transcript

MAX_QUOTE_CHARS: Final = 400
# Quotations are compared with so many of the newest: all with all would be quadratic.
_COMPARED: Final = 64
_TOPIC_CHARS: Final = 80  # of a message, where its topic may stand


@dataclass(frozen=True, slots=True)
class Finding:
    """A verbatim quotation and what it is."""

    kind: Kind
    quote: str


@dataclass(frozen=True, slots=True)
class Decline:
    """What the person does not want to give, see or be asked. `field`: its name (`prices`)."""

    field: str
    verbatim: str
    turn: int


@dataclass(frozen=True, slots=True)
class Extract:
    """What a chat says by itself; every text is verbatim, in the order of the chat.

    `rejected` are ways that were tried or ruled out; `person_messages` the turn numbers of all
    messages of the person.
    """

    first_request: str = ""
    decisions: tuple[str, ...] = ()
    declines: tuple[Decline, ...] = ()
    rejected: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    person_messages: tuple[int, ...] = ()


def extract(transcript: Transcript) -> Extract:
    """The person's words are searched for all, agents' words only for stated decisions."""
    spoken: list[Message] = []
    quotes: dict[Kind, list[str]] = {"decision": [], "rejected": [], "acceptance": []}
    declines: list[Decline] = []
    for message in _telling(transcript):
        if message.role == "user" and not message.is_empty:
            spoken.append(message)
        for finding in findings(message):
            if finding.kind == "decline":
                field = field_of(finding.quote, message.text) or f"declined_{len(declines) + 1}"
                declines.append(Decline(field, finding.quote, message.number))
            else:
                quotes[finding.kind].append(_without_label(finding))
    return Extract(
        first_request=_first_request(spoken),
        decisions=_distinct(quotes["decision"]),
        declines=_one_per_field(declines),
        rejected=_distinct(quotes["rejected"]),
        acceptance=_distinct(quotes["acceptance"]),
        person_messages=tuple([message.number for message in spoken]),
    )


def _telling(transcript: Transcript) -> Iterator[Message]:
    """The person's messages, and agents' that hold a word of deciding at all."""
    index = transcript.at_a_glance
    for at, kind in enumerate(index.kinds):
        if kind == USER or (kind == ASSISTANT and index.tells[at]):
            yield transcript[at]


def _first_request(spoken: Iterable[Message]) -> str:
    for message in spoken:
        if not any_of(patterns.GREETING).match(message.text):
            return message.text.strip()
    return ""


# --- sentences


_BREAK: Final = re.compile(
    r"(?<!\s\d\.)(?<=[.!?…])\s+|(?<=[.!?…]['\"’”)])\s+|(?<=[。！？])(?!['\"’”」』)])|\n+"
)
_ITEM: Final = re.compile(r"(?:\d+[.)]|[-*•])\s+(\S.*)")
_LABELS: Final = {"acceptance": patterns.ACCEPTANCE, "rejected": patterns.REJECTED_LABEL}
_WHY: Final = (*patterns.WHY_LABEL, *patterns.WHY_WORD)
_LABELLED: Final = (*patterns.WHY_LABEL, *patterns.OWNER_LABEL)
_NAME: Final = re.compile(r"[\w\u0e00-\u0e7f]+")  # the vowels of Thai are no letters
_WORD: Final = re.compile(r"\w+")


@cache
def any_of(alternatives: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all; made when it is first needed."""
    return re.compile("|".join(alternatives), re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """Sentences of at most 400 characters; longer runs (pasted logs, data) are passed over."""
    parts = []
    for part in _BREAK.split(text):
        if 0 < len(part) <= MAX_QUOTE_CHARS and not part.isspace():
            parts.append(part.strip())
    return parts


def findings(message: Message) -> list[Finding]:
    """What one message states, in its order."""
    if message.is_call:
        return list(_in_decision_file(message))
    rules = patterns.RULES_OF.get(message.role)
    return _stated(sentences(message.text), rules) if rules else []


def told_sentences(text: str, also: Callable[[str], bool]) -> list[str]:
    """The person's sentences that state something, and those that `also` finds."""
    rules = patterns.RULES_OF["user"]
    return [finding.quote for finding in _stated(sentences(text), rules, also)]


def _stated(
    said: Iterable[str], rules: Rules, also: Callable[[str], bool] = lambda sentence: False
) -> list[Finding]:
    stated: list[Finding] = []
    before = ""
    goes_on = False  # the sentence before was a decision: its reason or owner may follow
    for sentence in said:
        if goes_on and any_of(_LABELLED).match(sentence):
            stated[-1] = Finding("decision", f"{stated[-1].quote} {sentence}")
            continue
        kind = _kind_of(sentence, rules) or ("decision" if also(sentence) else None)
        goes_on = kind == "decision"
        if kind == "decision" and any_of(patterns.BACKWARD).search(sentence):
            if stated and stated[-1].quote == before:
                stated.pop()
            stated.append(Finding(kind, f"{before} {sentence}".strip()))
        elif kind:
            stated.append(Finding(kind, sentence))
        before = sentence
    return stated


def _kind_of(sentence: str, rules: Rules) -> Kind | None:
    for kind, alternatives in rules:
        if any_of(alternatives).search(sentence):
            return kind
    return None


def _in_decision_file(message: Message) -> Iterator[Finding]:
    """List items of a file of decisions that an agent wrote (`decisions.md`, an ADR)."""
    if not ("write" in message.tool or "patch" in message.tool):
        return
    head, _, body = message.text.partition("content:")
    if not any_of(patterns.DECISION_FILE).search(head):
        return
    for line in body.splitlines():
        item = _ITEM.match(line.strip())
        if item:
            yield Finding("decision", item[1][:MAX_QUOTE_CHARS])


def _without_label(finding: Finding) -> str:
    """The quotation without the label that names its kind, since it is listed under that."""
    if finding.kind not in _LABELS:
        return finding.quote
    return any_of(_LABELS[finding.kind]).sub("", finding.quote).strip(" *_")


# --- decisions


@dataclass(frozen=True, slots=True)
class Stated:
    """A decision with the reason and the owner that its words name ("" for none)."""

    text: str
    rationale: str = ""
    owner: str = ""


def stated(quote: str) -> Stated:
    """What a quotation decides, why, and who: `CSS grid. Why: light. Owner: user.`"""
    marks = sorted(
        [(mark, "rationale") for mark in any_of(_WHY).finditer(quote)]
        + [(mark, "owner") for mark in any_of(patterns.OWNER_LABEL).finditer(quote)],
        key=lambda found: found[0].start(),
    )
    text = _bare(quote[: marks[0][0].start()]) if marks else ""
    if not text:
        return Stated(quote)
    told = {"rationale": "", "owner": ""}
    for (mark, name), end in zip(marks, [*(m.start() for m, _ in marks[1:]), None], strict=True):
        told[name] = told[name] or _bare(quote[mark.end() : end])
    owner = "user" if told["owner"].casefold() in patterns.THE_PERSON else told["owner"]
    return Stated(text, told["rationale"], owner)


def _bare(text: str) -> str:
    return text.strip(" \t\n.,;:：，。、(—–-")


# --- declines


def field_of(quote: str, text: str) -> str:
    """What a decline is about, from its words or the beginning of its message; "" if unsaid."""
    for pattern in patterns.FIELD:
        name = _name_by(pattern, quote)
        if name:
            return name
    topic = patterns.TOPIC_OF_MESSAGE
    return _name_by(topic, quote) or _name_by(topic, text[:_TOPIC_CHARS])


def _name_by(pattern: str, text: str) -> str:
    match = any_of((pattern,)).search(text)
    if match is None:
        return ""
    named: list[str] = []
    for word in map(str.lower, _NAME.findall(match["it"])):
        if named and word in patterns.NAME_ENDS:
            break
        if word not in patterns.FILLER:
            named.append(word)
    return "_".join(named[:3])


def _one_per_field(declines: Iterable[Decline]) -> tuple[Decline, ...]:
    """Sentences about one thing become one decline with all the words."""
    first: dict[str, Decline] = {}
    sentences_of: dict[str, dict[str, None]] = {}  # in order, each once
    for decline in declines:
        first.setdefault(decline.field, decline)
        sentences_of.setdefault(decline.field, {})[decline.verbatim] = None
    merged = []
    for field, decline in first.items():
        merged.append(replace(decline, verbatim=" ".join(sentences_of[field])))
    return tuple(merged)


# --- each thing once


def _distinct(quotes: Iterable[str]) -> tuple[str, ...]:
    """Each thing once: of two quotations where one says all the words of the other, the longer.

    It stands at the place of the first.
    """
    kept: list[str] = []
    weighty: list[frozenset[str]] = []  # the words of each kept quotation
    seen: set[frozenset[str]] = set()
    for quote in quotes:
        words = frozenset(_WORD.findall(quote.casefold())) - patterns.OF_NO_WEIGHT
        if not quote or words in seen:
            continue
        seen.add(words)
        same = _place_of(words, weighty)
        if same is None:
            kept.append(quote)
            weighty.append(words)
        elif len(words) > len(weighty[same]):
            kept[same], weighty[same] = quote, words
    return tuple(kept)


def _place_of(words: frozenset[str], weighty: list[frozenset[str]]) -> int | None:
    """The first of the newest quotations that says all of these words, or only such."""
    for at in range(max(0, len(weighty) - _COMPARED), len(weighty)):
        if words <= weighty[at] or weighty[at] <= words:
            return at
    return None

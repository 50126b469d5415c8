"""What of a chat arrived, what arrived that nobody said, and which answers are right."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .chats import Chat, Question, holds
from .desk import Handed

_WORDS_OF_THE_CHAT = ("recent_turns", "person_said", "identity", "topic")
_NEGATED = re.compile(
    r"\b(?:no|not|never|without|don't|kein\w*|nicht|ohne|sans|pas|ne|sin|non|senza|não|sem|avoid)\b"
)
_ANSWER = re.compile(r"^\W*(\d{1,2})\W+(\S.*)$", re.MULTILINE)
LETTERS = "ABCD"


@dataclass(frozen=True)
class Key:
    """A question with its answers in the order in which they were offered."""

    question: Question
    answers: tuple[str, ...]


def arrived(chat: Chat, handed: Handed) -> dict[str, Any]:
    """How many facts a package holds, by its fields and in all, and what in it is false."""
    packet = handed.packet
    fields = str({name: value for name, value in packet.items() if name not in _WORDS_OF_THE_CHAT})
    said = str(packet.get("person_said", ""))
    declined = [item for item in packet["state"] if item["status"] == "declined"]
    claimed = [item for item in packet["state"] if item["status"] == "claimed"]
    invented = [item for item in declined if not _was_declined(chat, item)]
    false = [item for item in packet["decisions"] if _is_false(chat, item)]
    asked = {name: _limit(packet, name) for name in chat.arguments}
    return {
        "facts": len(chat.facts),
        "by_fields": sum(fact.stands_in(fields) for fact in chat.facts),
        "by_person_said": sum(fact.stands_in(said) for fact in chat.facts),
        "in_package": sum(fact.stands_in(handed.text) for fact in chat.facts),
        "declines": sum(fact.kind == "decline" for fact in chat.facts),
        "declines_as_such": sum(
            fact.kind == "decline" and fact.stands_in(str(declined)) for fact in chat.facts
        ),
        "declines_invented": len(invented),
        "declines_claimed": len(claimed),
        "false": len(false),
        "false_as_the_persons": sum(item["owner"] == "user" for item in false),
        "missed": [fact.ways[0] for fact in chat.facts if not fact.stands_in(handed.text)],
        "invented": [str(item) for item in (*invented, *false)],
        **({"limits_asked": asked} if asked else {}),
    }


def _was_declined(chat: Chat, item: dict[str, Any]) -> bool:
    words = f"{item['field']} {item['verbatim']}".replace("_", " ")
    return any(fact.stands_in(words) or fact.stands_in(item["field"]) for fact in chat.declines())


def _is_false(chat: Chat, decision: dict[str, Any]) -> bool:
    """Whether an active decision says what the person ruled out; a negated one does not."""
    words = decision["text"].casefold()
    if decision["status"] != "active" or _NEGATED.search(words):
        return False
    return any(all(holds(words, word) for word in way) for way in chat.untrue)


def _limit(packet: dict[str, Any], name: str) -> int:
    return len(packet["recent_turns"]) if name == "include_recent_turns" else 0


def form(questions: Sequence[Question], dice: random.Random) -> tuple[str, list[Key]]:
    """The questions as they are asked, and for each its kind and its answers as they are offered.

    The first answer of a question is right, the last one asks the person.
    """
    lines, keys = [], []
    for number, question in enumerate(questions, 1):
        answers = [*question.answers]
        dice.shuffle(answers)
        offered = " ".join(f"{LETTERS[n]}) {answer}." for n, answer in enumerate(answers))
        lines.append(f"{number}. {question.text} {offered}")
        keys.append(Key(question, tuple(answers)))
    return "\n".join(lines), keys


def meant(words: str, answers: Sequence[str]) -> str:
    """The answer that a line of a reply means, by its letter or its words; "" for none."""
    plain = words.casefold().strip(" .*\"'")
    by_words = {answer.casefold(): answer for answer in answers}
    if plain in by_words:
        return by_words[plain]
    letter = re.match(r"\(?([A-D])(?:\W|$)", words.strip(" *\"'"))
    if letter:
        return answers[LETTERS.index(letter[1])]
    held = [answer for answer in by_words if answer in plain]
    begun = [answer for answer in by_words if plain and answer.startswith(plain)]
    return by_words[max(held or begun[:1], key=len, default=plain)] if held or begun else ""


def marked(reply: str, keys: Sequence[Key]) -> dict[str, Any]:
    """Right answers, and what was answered already and would be asked again."""
    lines = {int(number): words for number, words in _ANSWER.findall(reply)}
    given = [meant(lines.get(number, ""), key.answers) for number, key in enumerate(keys, 1)]
    pairs = [(answer, key.question) for answer, key in zip(given, keys, strict=True)]
    asked = [question for answer, question in pairs if answer == question.answers[-1]]
    wrong = [question.kind for answer, question in pairs if answer != question.answers[0]]
    return {
        "questions": len(keys),
        "right": len(keys) - len(wrong),
        "unread": given.count(""),
        "asked_again": len(asked),
        "declines_asked_again": sum(question.kind == "decline" for question in asked),
        "wrong_kinds": wrong,
    }

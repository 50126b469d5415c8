"""What of a chat arrived, what arrived that nobody said, and which answers are right."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from .chats import Chat, Question, holds
from .desk import Handed

_WORDS_OF_THE_CHAT = ("recent_turns", "person_said", "identity", "topic")
_NEGATED = re.compile(
    r"\b(?:no|not|never|without|don't|kein\w*|nicht|ohne|sans|pas|ne|sin|non|senza|não|sem|avoid)\b"
)
_ANSWER = re.compile(r"^\W*(\d{1,2})\W+([A-E])\b", re.MULTILINE)


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


def lettered(question: Question, dice: random.Random) -> tuple[list[str], str]:
    """The answers in a shuffled order, and the letter of the right one."""
    answers = [*question.answers]
    dice.shuffle(answers)
    return answers, chr(ord("A") + answers.index(question.answers[0]))


def form(questions: Sequence[Question], dice: random.Random) -> tuple[str, list[dict[str, str]]]:
    """The questions as they are asked, and for each its kind and the letters that count."""
    lines, keys = [], []
    for number, question in enumerate(questions, 1):
        answers, right = lettered(question, dice)
        ask = chr(ord("A") + answers.index(question.answers[-1]))
        offered = " ".join(f"{chr(ord('A') + n)}) {answer}." for n, answer in enumerate(answers))
        lines.append(f"{number}. {question.text} {offered}")
        keys.append({"kind": question.kind, "right": right, "ask": ask})
    return "\n".join(lines), keys


def marked(reply: str, keys: Sequence[dict[str, str]]) -> dict[str, Any]:
    """Right answers, and what was answered already and would be asked again."""
    given = {int(number): letter for number, letter in _ANSWER.findall(reply)}
    answers = [(given.get(number, ""), key) for number, key in enumerate(keys, 1)]
    asked = [key for letter, key in answers if letter == key["ask"]]
    return {
        "questions": len(keys),
        "right": sum(letter == key["right"] for letter, key in answers),
        "unread": sum(not letter for letter, _ in answers),
        "asked_again": len(asked),
        "declines_asked_again": sum(key["kind"] == "decline" for key in asked),
        "wrong_kinds": [key["kind"] for letter, key in answers if letter != key["right"]],
    }

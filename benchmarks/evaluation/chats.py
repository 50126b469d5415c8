"""The chats of the evaluation: what was said, what must arrive, and what a receiver is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
SAVED = HERE.parents[1] / "tests/data/chats"
SHORT_WORD = 4  # letters
ASK = "not told here: ask the person"


@dataclass(frozen=True)
class Fact:
    """Something the person said; `ways` are lists of words, one of which must all be found."""

    kind: str
    ways: tuple[tuple[str, ...], ...]

    def stands_in(self, text: str) -> bool:
        plain = text.casefold().replace("_", " ")
        return any(all(holds(plain, word) for word in way) for way in self.ways)


def holds(plain: str, word: str) -> bool:
    """Whether a word, or one that begins with it, stands in a text; a short one stands alone."""
    if not word.isascii():
        return word in plain
    end = r"(?!\w)" if len(word) <= SHORT_WORD else ""
    return re.search(rf"(?<!\w){re.escape(word)}{end}", plain) is not None


@dataclass(frozen=True)
class Question:
    """A closed question; the first of `answers` is right, the last one asks the person."""

    kind: str
    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Chat:
    """`turns` are (`person` or `agent`, words), the last one asks for the handover."""

    id: str
    want: str
    topic: str
    turns: tuple[tuple[str, str], ...]
    facts: tuple[Fact, ...]
    untrue: tuple[tuple[str, ...], ...] = ()
    questions: tuple[Question, ...] = ()
    arguments: dict[str, int] = field(default_factory=dict)

    @property
    def person(self) -> tuple[str, ...]:
        return tuple(words for who, words in self.turns if who == "person")

    def declines(self) -> tuple[Fact, ...]:
        """What may rightly be recorded as declined."""
        return tuple(fact for fact in self.facts if fact.kind in ("decline", "refusal", "rejected"))


def load() -> tuple[Chat, ...]:
    """All chats, in the order of the file."""
    return tuple(map(_chat, yaml.safe_load((HERE / "chats.yaml").read_text(encoding="utf-8"))))


def _chat(raw: dict[str, Any]) -> Chat:
    turns = [_turn(line) for line in raw.get("chat", "").splitlines()]
    if "saved" in raw:
        turns = [*_saved(raw["saved"]), ("person", raw["ask"])]
    return Chat(
        id=raw["id"],
        want=raw["want"],
        topic=raw["topic"],
        turns=tuple(turns),
        facts=tuple(map(_fact, raw["facts"])),
        untrue=tuple(tuple(str(words).casefold().split()) for words in raw.get("untrue", ())),
        questions=tuple(map(_question, raw.get("questions", ()))),
        arguments=raw.get("arguments", {}),
    )


def _turn(line: str) -> tuple[str, str]:
    who, words = line.split(": ", 1)
    return who, words


def _fact(line: str) -> Fact:
    kind, words = line.split(" | ", 1)
    ways = tuple(tuple(way.casefold().replace("_", " ").split()) for way in words.split(" / "))
    return Fact(kind, ways)


def _question(line: str) -> Question:
    kind, text, *answers = line.split(" | ")
    return Question(kind, text, (*answers, ASK))


def _saved(name: str) -> list[tuple[str, str]]:
    """What person and agent wrote in a saved chat; tool results are left out, data URIs cut."""
    saved = json.loads((SAVED / f"{name}.json").read_text(encoding="utf-8"))
    history = json.loads(saved["agents"][0]["history"])
    messages = [
        message
        for topic in [*history["topics"], history["current"]]
        for message in topic["messages"]
    ]
    found = []
    for message in messages:
        content = message["content"]
        if isinstance(content, dict) and "user_message" in content:
            found.append(("person", content["user_message"].split("data:image", 1)[0]))
        elif isinstance(content, str) and message["ai"]:
            words = json.loads(content)["tool_args"].get("text")
            found += [("agent", words)] if words else []
    return found


def told(turns: Sequence[tuple[str, str]]) -> str:
    """A conversation as one text."""
    return "\n".join(f"{who}: {words}" for who, words in turns)

"""What the person wrote in a chat and its child chats, from the log: an index that grows with it.

Only bytes that were appended since are read again. What a message means is judged when it is asked
for, and kept.
"""

from __future__ import annotations

import os
import threading
from array import array
from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import JsonValue

from ..records.files import open_read
from ..records.kept import Kept
from ..values.errors import RecordError
from . import patterns
from .extract import any_of, told_sentences
from .languages import (
    DECIDES_ABROAD,
    ENGLISH,
    FORBIDS_ONLY,
    NO_REFUSAL,
    REFUSES_ABROAD,
    REFUSES_IN_ENGLISH,
    languages_of,
)
from .lines import Head, line_head, record_of_line
from .message import ASSISTANT, GAP, USER, Record, message_of
from .wording import UNSPACED, folded, has_ending_of, matches, pieces, sentences

CHAT, CHILD, TASK = "chat", "child", "task"
_RULES: Final = 1  # raised when a message may be judged otherwise than before
_MOST_CHATS: Final = 8
_BEGINNING: Final = 100  # bytes by which a file is known again; a line is longer
_MOST_CHARS: Final = 8_000_000  # of what the person wrote in one chat
_LANGUAGE_CHARS: Final = 4_000
_SHORT_ANSWER: Final = 12  # words of one that needs the question to be understood
_HEAD_LETTERS: Final = 3
_KEPT_OUT: Final = frozenset({TASK})  # the person's words, but not of this conversation


_ABROAD: Final = (*patterns.NEGATION, *patterns.HIDING, *REFUSES_ABROAD)


class Glance(NamedTuple):
    """What is found out of a message once, when it is logged: its languages (None: not all known),
    and whether it has sentences that decide or refuse."""

    languages: frozenset[str] | None
    decides: bool
    refuses: bool


def glance_at(text: str) -> list[JsonValue]:
    """The glance as it stands in a line of the log, after the version of these rules."""
    message = Spoken(text, "", 0, CHAT)
    languages: list[JsonValue] | None = None
    if message.languages is not None:
        languages = [*sorted(message.languages)]
    return [_RULES, languages, bool(message.decides), bool(message.refusals)]


def _glance_in(record: Record) -> Glance | None:
    """None where other rules judged it, or nobody did."""
    match record.get("glance"):
        case [rules, None | list() as languages, bool() as decides, bool() as refuses]:
            if rules == _RULES:
                known = None if languages is None else frozenset(map(str, languages))
                return Glance(known, decides, refuses)
    return None


@dataclass
class Spoken:
    """A message of the person.

    `asked` is what an agent had told before, where the message is short; `line` its place in the
    log, counted from 0. Words are folded, `text` is as it was logged; `glance` is what was known of
    it when it was.
    """

    text: str
    asked: str
    line: int
    whose: str
    glance: Glance | None = None

    @cached_property
    def words(self) -> str:
        return folded(self.text)

    @cached_property
    def languages(self) -> frozenset[str] | None:
        if self.glance:
            return self.glance.languages
        return languages_of(self.words[:_LANGUAGE_CHARS])

    @cached_property
    def heard_with(self) -> str:
        """The words, with the question that they answer."""
        return f"{folded(self.asked)}\n{self.words}" if self.asked else self.words

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        return frozenset(pieces(self.heard_with))

    @cached_property
    def refusals(self) -> tuple[str, ...]:
        """The sentences in which it says no to something, or yes to a no; a bare one with its
        question."""
        found = []
        if self.asked and matches(patterns.AGREEMENT, self.words):
            languages = languages_of(folded(self.asked)) or frozenset()
            found += [asked for asked in sentences(self.asked) if refuses(asked, languages)]
        if self.glance and not self.glance.refuses:
            return tuple(found)
        for sentence in sentences(self.text):
            if refuses(sentence, self.languages or frozenset()):
                found.append(f"{folded(self.asked)} {sentence}".strip())
        return tuple(found)

    @cached_property
    def decides(self) -> tuple[str, ...]:
        """The sentences that decide, refuse, forbid, set a limit or reject a way, word for word."""
        if self.glance and not self.glance.decides:
            return ()
        languages = self.languages or frozenset()

        def also(sentence: str) -> bool:
            plain = folded(sentence)
            if matches(patterns.ASKS, plain):
                return False
            return matches(DECIDES_ABROAD, plain) or refuses(plain, languages)

        return tuple(told_sentences(self.text, also))


def refuses(sentence: str, languages: Set[str]) -> bool:
    """Whether a folded sentence says no. Outside English nearly any negation counts, because fields
    have English names."""
    plain = any_of((*patterns.NO_HARM, *NO_REFUSAL, *FORBIDS_ONLY)).sub(" ", sentence)
    if matches((*patterns.REFUSAL, *REFUSES_IN_ENGLISH), plain):
        return True
    return languages != {ENGLISH} and matches(_ABROAD, plain)


@dataclass
class Heard:
    """All that the person wrote, message by message; `turns` are needed to number what a receiver
    can ask for."""

    messages: list[Spoken] = field(default_factory=list)
    is_broken: bool = False
    _agents: array[int] = field(default_factory=lambda: array("h"))
    _handovers: list[str] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=lambda: {CHAT: 0, CHILD: 0, TASK: 0})
    _chars: int = 0
    _by_head: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _told: dict[tuple[int, str], bytes] = field(default_factory=dict)

    def add(self, line: bytes) -> None:
        """One more line of the log; a damaged one, or a gap, breaks what is known."""
        head = line_head(line)
        gap = head is None or head.kind == GAP
        self._agents.append(-1 if head is None or gap else head.agent)
        self._handovers.append("" if head is None else head.handover)
        if head is None or gap:
            self.is_broken = True
        elif head.kind == ASSISTANT:
            self._told[head.agent, head.handover] = line
        elif head.kind == USER:
            self._add_message(head, line)

    def _add_message(self, head: Head, line: bytes) -> None:
        record = record_of_line(line)
        whose = record.get("person", "")
        told = self._told.pop((head.agent, head.handover), b"")
        if whose not in self._counts:
            return
        text = message_of(record, 1).text
        asked = _speech(told) if told and len(text.split()) <= _SHORT_ANSWER else ""
        message = Spoken(text, asked, len(self._agents) - 1, whose, _glance_in(record))
        self._counts[whose] += 1
        self._chars += len(text) + len(asked)
        self.messages.append(message)
        for word in message.vocabulary:
            self._by_head[word[:_HEAD_LETTERS]].add(word)

    def is_whole(self, in_chat: int, in_children: int) -> bool:
        """Whether all that the person wrote is here, so many messages, and can be understood."""
        if self.is_broken or not in_chat or self._chars > _MOST_CHARS:
            return False
        if (self._counts[CHAT], self._counts[CHILD]) != (in_chat, in_children):
            return False
        return all(message.languages is not None for message in self.messages)

    @property
    def languages(self) -> frozenset[str]:
        spoken = [message.languages or frozenset() for message in self.messages]
        return frozenset[str]().union(*spoken)

    def holds(self, word: str) -> bool:
        """Whether the person used the word, whatever its ending."""
        if UNSPACED.match(word):
            return any(word in message.heard_with for message in self.messages)
        known = self._by_head.get(word[:_HEAD_LETTERS], ())
        return any(has_ending_of(other, word) for other in known)

    def by_hand(self) -> Iterator[Spoken]:
        """What was written in this conversation, the newest first."""
        for message in reversed(self.messages):
            if message.whose not in _KEPT_OUT:
                yield message

    def turn_numbers(self, receiver: int, legs: Set[str]) -> list[int]:
        """For each line the number under which an agent with that number can ask for it."""
        held = []
        for agent, handover in zip(self._agents, self._handovers, strict=True):
            held.append(agent < receiver or handover in legs)
        return list(accumulate(held))


def _speech(line: bytes) -> str:
    """What an agent said; "" for a call of a tool."""
    told = message_of(record_of_line(line), 1)
    return "" if told.is_call else told.text


# --- the log, read once


@dataclass
class _Reading:
    """How far a file was read; a file that is another or shorter is read anew."""

    identity: tuple[int, int, bytes]
    offset: int = 0
    heard: Heard = field(default_factory=Heard)


_readings: Kept[str, _Reading] = Kept(_MOST_CHATS)
_guard = threading.Lock()


def heard(path: str) -> Heard | None:
    """What the person wrote, from the log of their chat; None where there is none to be read."""
    if not path:
        return None
    with _guard:
        try:
            return _read(path)
        except (OSError, RecordError):
            return None


def _read(path: str) -> Heard:
    with open_read(Path(path)) as file:
        now = os.fstat(file.fileno())
        identity = now.st_dev, now.st_ino, os.pread(file.fileno(), _BEGINNING, 0)
        reading = _readings.get(path)
        if reading is None or reading.identity != identity or now.st_size < reading.offset:
            reading = _Reading(identity)
            _readings.put(path, reading)
        with open(file.fileno(), "rb", closefd=False) as lines:
            lines.seek(reading.offset)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                reading.offset += len(line)
                if not line.isspace():
                    reading.heard.add(line)
    return reading.heard

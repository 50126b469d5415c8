"""A conversation as numbered messages, read lazily from the records of the host or our log.

A `Transcript` holds references to the host's own records and reads one only when it is looked at,
so that 100,000 messages cost a few megabytes beside the input. Nothing here changes a record.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, overload

from ..text.masking import Mask
from ..values.errors import RequestError
from ..values.packet import Turn
from .lines import Resolve, record_of_line, unresolved, weighed
from .message import (
    ASSISTANT,
    GAP,
    USER,
    Message,
    Record,
    kind_and_words,
    masked_content,
    message_of,
    record_of,
)
from .patterns import AGENT_TELLS, AGENT_TELLS_ABROAD, PERSON_TELLS, PERSON_TELLS_ABROAD

SHORT_RESULT_CHARS: Final = 200
_TELLING_CHARS: Final = 4_000  # of a person's message that are looked at


@dataclass(frozen=True, slots=True)
class Index:
    """What compaction needs to know of every message without reading it, position by position.

    `kinds`: place in `ROLES`. `sizes`: characters as stored, an upper bound of what is said.
    `tells`: 1 where the words look like a decision or a decline.
    """

    kinds: bytes
    sizes: array[int]
    tells: bytes


class Transcript(Sequence[Message]):
    """Messages of one conversation in order; `transcript[0].number == 1`.

    `records` are the host's own objects (referred to, never changed) or lines of our log as bytes;
    `resolve` gives the text of a big result that a line only refers to.
    """

    __slots__ = ("_index", "records", "resolve")

    def __init__(
        self, records: Iterable[Record | bytes] = (), resolve: Resolve = unresolved
    ) -> None:
        self.records: tuple[Record | bytes, ...] = tuple(records)
        self.resolve = resolve
        self._index: Index | None = None

    def __len__(self) -> int:
        return len(self.records)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            return tuple([self[at] for at in range(*index.indices(len(self)))])
        at = index if index >= 0 else len(self) + index
        record = self.records[at]
        if isinstance(record, bytes):
            record = record_of_line(record, self.resolve)
        return message_of(record, at + 1)

    @property
    def at_a_glance(self) -> Index:
        """Kinds, sizes and tell-tale words of all messages; made at the first look, once."""
        if self._index is None:
            self._index = index_of(self.records)
        return self._index

    def has_gap(self, first: int = 1, last: int = 0) -> bool:
        """Whether messages are missing among these turns (default: all)."""
        return self.at_a_glance.kinds.find(GAP, first - 1, last or len(self)) >= 0


# --- the index


def index_of(records: Sequence[Record | bytes]) -> Index:
    """One quick pass over all records; lines of our log bring theirs in their head."""
    count = len(records)
    kinds, sizes, tells = bytearray(count), array("I", bytes(4 * count)), bytearray(count)
    for at, record in enumerate(records):
        if isinstance(record, bytes):
            kinds[at], sizes[at], tells[at] = weighed(record)
            continue
        kind, text = kind_and_words(record)
        kinds[at], sizes[at] = kind, len(text)
        if kind == ASSISTANT:
            tells[at] = agent_tells(text)
        elif kind == USER:
            tells[at] = person_tells(text)
    return Index(bytes(kinds), sizes, bytes(tells))


def agent_tells(raw: str) -> bool:
    """Whether an agent's answer may state a decision; the words decide in `extract`."""
    if _holds_a_sign(raw, AGENT_TELLS):
        return True
    return not raw.isascii() and _holds_a_sign(raw, AGENT_TELLS_ABROAD)


def _holds_a_sign(text: str, signs: Mapping[str, tuple[str, ...]]) -> bool:
    for common, words in signs.items():
        if common in text and _holds_one(text, words):
            return True
    return False


def person_tells(text: str) -> bool:
    """The same for a person's message, which may also decline."""
    lowered = text[:_TELLING_CHARS].lower()
    if _holds_one(lowered, PERSON_TELLS):
        return True
    return not lowered.isascii() and _holds_one(lowered, PERSON_TELLS_ABROAD)


def _holds_one(text: str, words: tuple[str, ...]) -> bool:
    for word in words:
        if word in text:
            return True
    return False


# --- the host's history


def from_history(
    history: object,
    *,
    agent: int | None = None,
    mask: Mask | None = None,
    placeholder: str = "",
) -> Transcript:
    """One agent's history as the host serialises it, masked by `mask`, without the host's opening.

    See `history_records` and `without_opening`.
    """
    records = without_opening(history_records(history, agent), placeholder)
    if mask is not None:
        for record in records:  # ours: only the content is the host's, and it is replaced
            record["content"] = masked_content(record, mask)
    return Transcript(records)


def history_records(history: object, agent: int | None = None) -> list[Record]:
    """The records of bulks, topics and the current topic; a summary where the host keeps no more.

    Raises RequestError (bad_value) for what is no history.
    """
    if not isinstance(history, Mapping) or not isinstance(history.get("current"), Mapping):
        raise not_a_chat("history has no current topic")
    parts = [*_list(history, "bulks"), *_list(history, "topics"), history["current"]]
    records: list[Record] = []
    try:
        for part in parts:
            records += _records_in(part)
    except RecursionError as error:
        raise not_a_chat("its history is nested too deeply") from error
    if agent:
        for record in records:
            record["agent"] = agent
    return records


def _records_in(part: object) -> Iterator[Record]:
    if not isinstance(part, Mapping):
        raise not_a_chat("a topic of the history is not an object")
    if "content" in part:
        yield record_of(part)
        return
    inner = [*_list(part, "records"), *_list(part, "messages")]
    if not inner and part.get("summary"):
        yield {"ai": False, "content": {"messages_summary": part["summary"]}, "id": ""}
    for item in inner:
        yield from _records_in(item)


def _list(holder: Mapping[str, object], key: str) -> list[object]:
    value = holder.get(key, [])
    if not isinstance(value, list):
        raise not_a_chat(f"{key} of the history is not a list")
    return list(value)  # the host's compression changes lists in another thread


def without_opening(records: list[Record], placeholder: str = "") -> list[Record]:
    """What was really said: not the greeting with which the host begins, which nobody asked for.

    Later hosts put a line of a person before it, as if one had asked: `placeholder`, "" for none.
    """
    at = 0
    if records and placeholder and _said(records[0]) == ("user", placeholder.strip()):
        at = 1
    if records[at:] and _said(records[at])[0] == "assistant":
        return records[at + 1 :]
    return records


def _said(record: Record) -> tuple[str, str]:
    """Whose words these are, and the words; ("", "") where it is no speech."""
    message = message_of(record, 1)
    if message.is_call:
        return "", ""
    return message.role, message.text.strip()


def not_a_chat(why: str) -> RequestError:
    """The one error for what is not a chat; names what is allowed."""
    return RequestError(
        f"this is not a saved Agent Zero chat: {why}",
        "give a whole chat.json as Agent Zero saves or exports it (an object with `agents`, each "
        "with its `history`)",
        "bad_value",
    )


# --- what a person would read


def recent_turns(transcript: Transcript, count: int, mask: Mask = str) -> tuple[Turn, ...]:
    """The last `count` turns as a person reads them: what was said, tool results in a few words.

    Empty messages, tool calls (their result tells them) and notes are not turns; 0 gives (). Texts
    are masked before they are cut, so that no half of a secret stays.
    """
    turns: list[Turn] = []
    for at in range(len(transcript) - 1, -1, -1):
        if len(turns) >= count:
            break
        turn = _turn(transcript[at], mask)
        if turn is not None:
            turns.append(turn)
    return tuple(reversed(turns))


def told_before(transcript: Transcript, number: int) -> str:
    """What an agent said directly before a message; "" where something else stands there."""
    for at in range(number - 2, -1, -1):
        message = transcript[at]
        if message.is_empty or message.role == "note":
            continue
        is_said = message.role == "assistant" and not message.is_call
        return message.text if is_said else ""
    return ""


def _turn(message: Message, mask: Mask) -> Turn | None:
    if message.is_empty or message.is_call or message.role in ("note", "gap"):
        return None
    text = mask(message.text).strip()
    if message.role == "tool":
        text = _few_words(message.tool, text)
    return Turn(role=message.role, text=text)


def _few_words(tool: str, result: str) -> str:
    """A tool result in short: the tool, its first line, and how much more there was."""
    first = result.partition("\n")[0][:SHORT_RESULT_CHARS]
    rest = len(result) - len(first)
    more = f" [+{rest:,} characters left out]" if rest else ""
    return f"{tool}: {first}{more}" if tool else first + more

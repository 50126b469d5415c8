"""A conversation as a sequence of numbered messages, read lazily from what the host or our own log keeps.

A `Transcript` holds references to the host's own message records and reads one only when it is looked at, so that
100,000 messages cost a few megabytes beside the input. Nothing here changes a record.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, overload

from ..values.errors import RequestError
from ..values.packet import Turn

Role = Literal["user", "assistant", "tool", "summary", "note"]
Kept = Literal["verbatim", "summary", "shortened"]
Record = Mapping[str, Any]
"""One message as the host stores it: `{"id", "ai", "content"}`; content as in HOST fact 23.

Our own log adds `kept`, `agent`, `profile`, `handover`, `time` and `file`; all optional.
"""

Resolve = Callable[[Mapping[str, Any]], str]
"""Gives the text of a big tool result from its reference `{"file", "chars", "sha256", "head"}`, or words that say it is gone."""

ROLES: Final[tuple[Role, ...]] = ("user", "assistant", "tool", "summary", "note")
USER, ASSISTANT, TOOL, SUMMARY, NOTE = range(5)
SHORT_RESULT_CHARS: Final = 200


class Message(NamedTuple):
    """One message. `number` counts from 1 in its transcript.

    `text` is what was said, a tool's result, or a tool call told in words (then `tool` names the tool). `thoughts` is what the
    agent thought beside it. `kept` says whether the words are the original ones. `file` is where the host saved a big result.
    """

    number: int
    role: Role
    text: str
    speaker: str = ""
    tool: str = ""
    thoughts: str = ""
    kept: Kept = "verbatim"
    id: str = ""
    file: str = ""

    @property
    def is_call(self) -> bool:
        return self.role == "assistant" and bool(self.tool)

    @property
    def is_empty(self) -> bool:
        return not self.text.strip() and not self.tool


@dataclass(frozen=True, slots=True)
class Index:
    """What compaction needs to know of every message without reading it, position by position.

    `kinds`: place in `ROLES`. `sizes`: characters as stored, an upper bound of what is said. `tells`: 1 where the words look
    like a decision or a decline.
    """

    kinds: bytes
    sizes: array[int]
    tells: bytes


class Transcript(Sequence[Message]):
    """Messages of one conversation in order; `transcript[0].number == 1`. A message is decoded when it is looked at.

    `records` are the host's own objects (referred to, never changed) or lines of our log as bytes; `resolve` gives the text of
    a big result that a line only refers to.
    """

    __slots__ = ("_index", "records", "resolve", "source")

    def __init__(
        self,
        records: Iterable[Record | bytes],
        source: str = "",
        index: Index | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self.records: tuple[Record | bytes, ...] = tuple(records)
        self.source = source
        self.resolve = resolve
        self._index = index

    def __len__(self) -> int:
        return len(self.records)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            return tuple(self[at] for at in range(*index.indices(len(self.records))))
        at = index if index >= 0 else len(self.records) + index
        return read(self.records[at], at + 1, self.resolve)

    def __iter__(self) -> Iterator[Message]:
        return (read(record, number, self.resolve) for number, record in enumerate(self.records, 1))

    @property
    def at_a_glance(self) -> Index:
        """Kinds, sizes and tell-tale words of all messages; made at the first look, once."""
        if self._index is None:
            self._index = index_of(self.records)
        return self._index


def index_of(records: Sequence[Record | bytes]) -> Index:
    """One quick pass over all records; lines of our log bring theirs in their first bytes."""
    kinds, sizes, tells = (
        bytearray(len(records)),
        array("I", bytes(4 * len(records))),
        bytearray(len(records)),
    )
    for at, record in enumerate(records):
        if isinstance(record, bytes):
            kinds[at], sizes[at], tells[at] = _head_index(record)
            continue
        content = record["content"]
        if type(content) is str and record["ai"]:
            kinds[at], sizes[at] = ASSISTANT, len(content)
            tells[at] = agent_tells(content)
        elif (
            type(content) is dict
            and type(result := content.get("tool_result")) is str
            and "user_message" not in content
        ):
            kinds[at], sizes[at] = TOOL, len(result)
        else:
            kinds[at], text = _kind_and_text(record)
            sizes[at] = len(text)
            if kinds[at] == USER:
                tells[at] = person_tells(text)
    return Index(bytes(kinds), sizes, bytes(tells))


def agent_tells(raw: str) -> bool:
    """Whether an agent's answer may state a decision; a quick look at every message, the words decide in `extract`."""
    if (
        ("eci" in raw and ("ecision" in raw or "ecided" in raw))
        or "ejected:" in raw
        or "uled out" in raw
    ):
        return True
    if raw.isascii():
        return False
    # One letter is found, or not, in a fraction of the time of a word.
    return (
        ("ntsch" in raw and ("ntschied" in raw or "ntscheid" in raw))
        or ("é" in raw and ("écidé" in raw or "écision" in raw))
        or ("定" in raw and ("决定" in raw or "決定" in raw))
    )


def person_tells(text: str) -> bool:
    """The same for a person's message, which may also decline."""
    lowered = text[:4000].lower()
    for word in _PERSON_TELLS:  # a plain loop: twice as fast here as any()
        if word in lowered:
            return True
    if not text.isascii():
        for word in _PERSON_TELLS_ABROAD:
            if word in lowered:
                return True
    return False


_PERSON_TELLS: Final = (
    "decid", "decision", "t ask", "rather not", "must", "never", "approved", "t change", "t touch", "legal no", "t stand",
    "the table", "acceptance", "at least", "at most", "deadline", "agreed", "entsch", "nicht", "jamais", "il faut", "nunca",
)  # fmt: skip
_PERSON_TELLS_ABROAD: Final = (
    "décid", "müss", "não", "нельзя", "решили", "только", "не ", "决定", "決定", "必须", "必須", "不要", "禁止", "别再",
    "ต้อง", "ห้าม", "อย่า", "เท่านั้น", "だけ", "ないで", "마세요",
)  # fmt: skip


# --- lines of our own log

HEAD_LENGTH: Final = 61
_OPENING: Final = b'{"head":"'
_KIND_LETTERS: Final = "UATSN"
_MOST_CHARS: Final = 4_000_000_000  # that an index can tell


def head_of(role: Role, tells: bool, agent: int, size: int, handover: str, time: str) -> str:
    """The fixed first field of a line: kind, tells, agent (3 digits), size (10), handover (19), time (27): 61 characters.

    It lets a reader choose lines and weigh them without decoding JSON.
    """
    kind = _KIND_LETTERS[ROLES.index(role)]
    return f"{kind}{int(tells)}{min(agent, 999):03d}{min(size, _MOST_CHARS):010d}{handover or '-':-<19.19}{time:Z<27.27}"


_LOOKED_AT: Final = slice(9, 24)  # kind, tells, agent and size in a line
_LOOKED_AT_LENGTH: Final = 15
_SIZE_AT: Final = 5
_KIND_OF: Final = bytes(max(0, _KIND_LETTERS.find(chr(code))) for code in range(256))
_DIGIT_OF: Final = bytes((code - ord("0")) % 256 for code in range(256))
_TELLS_OF: Final = bytes(code == ord("1") for code in range(256))


def _index_of_heads(heads: bytes, lines: Sequence[bytes]) -> Index:
    """The index of `lines` from their `_LOOKED_AT` parts, all at once; one by one where a line is damaged."""
    letters, tells = heads[::_LOOKED_AT_LENGTH], heads[1::_LOOKED_AT_LENGTH]
    if len(heads) == _LOOKED_AT_LENGTH * len(lines) and not letters.translate(
        None, _KIND_LETTERS.encode()
    ):
        with suppress(ValueError):
            return Index(letters.translate(_KIND_OF), _sizes(heads), tells.translate(_TELLS_OF))
    return index_of(lines)


def _sizes(heads: bytes) -> array[int]:
    """The ten digits of each head as a number. Raises ValueError where they are none, or too many for an index.

    Added up digit by digit for all heads at once, in the lanes of one large number: `int` of each would cost as much as all
    the rest of reading the heads.
    """
    lane = array("I").itemsize
    lanes, total = bytearray(lane * (len(heads) // _LOOKED_AT_LENGTH)), 0
    for place in range(_SIZE_AT, _LOOKED_AT_LENGTH):
        digits = heads[place::_LOOKED_AT_LENGTH]
        if digits.translate(None, b"0" if place == _SIZE_AT else b"0123456789"):
            raise ValueError("not a size")
        lanes[::lane] = digits.translate(_DIGIT_OF)
        total = 10 * total + int.from_bytes(lanes, "little")
    sizes = array("I", total.to_bytes(len(lanes), "little"))
    if sys.byteorder == "big":
        sizes.byteswap()
    return sizes


def _head_index(line: bytes) -> tuple[int, int, int]:
    try:
        kind, size = _KIND_LETTERS.index(chr(line[9])), int(line[14:24])
    except (ValueError, IndexError):
        return NOTE, len(line), 0
    return (
        (kind, size, int(line[10] == ord("1")))
        if 0 <= size <= _MOST_CHARS
        else (NOTE, len(line), 0)
    )


class Head(NamedTuple):
    """Whose message a line is: `agent` number, `handover` it worked in or "", `time` in UTC."""

    kind: int
    agent: int
    handover: str
    time: str


def line_head(line: bytes) -> Head | None:
    """The head of one line, or None where the line is torn or foreign."""
    if not line.startswith(_OPENING) or len(line) < 9 + HEAD_LENGTH:
        return None
    try:
        kind, agent = _KIND_LETTERS.index(chr(line[9])), int(line[11:14])
        return Head(
            kind, agent, line[24:43].decode("ascii").strip("-"), line[43:70].decode("ascii")
        )
    except ValueError:
        return None


_DAMAGED: Final[Record] = {
    "ai": False,
    "content": {"system_warning": "[one damaged line of the transcript log]"},
    "id": "",
}


def record_of_line(line: bytes) -> Record:
    """One line as a record; a torn or foreign line as a note that says so."""
    head = line_head(line)
    try:
        record = (
            json.loads(line.decode("utf-8", "surrogatepass")) if head else None
        )  # half the time of a load from bytes
    except ValueError:
        record = None
    if (
        head is None
        or not isinstance(record, dict)
        or "content" not in record
        or "ai" not in record
    ):
        return _DAMAGED
    record["agent"], record["handover"], record["time"] = head.agent, head.handover, head.time
    return record


def from_lines(
    lines: Iterable[bytes],
    source: str = "",
    *,
    keep: Callable[[bytes], bool] | None = None,
    resolve: Resolve | None = None,
) -> Transcript:
    """Lines of our own log; `keep` chooses by a line's head. Nothing is decoded yet; a torn line becomes a note at its place.

    The index is made from the heads in passing, while each line is at hand.
    """
    kept: list[bytes] = []
    heads = bytearray()
    for line in lines:
        if line and not line.isspace() and (keep is None or keep(line)):
            kept.append(line)
            heads += line[_LOOKED_AT]
    return Transcript(kept, source, _index_of_heads(bytes(heads), kept), resolve)


# --- one record -> one message


def read(stored: Record | bytes, number: int, resolve: Resolve | None = None) -> Message:
    """One stored record as a message; an unknown shape is told as its JSON, never dropped."""
    record = record_of_line(stored) if isinstance(stored, bytes) else stored
    if record["ai"]:
        return _read_agent(record, number)
    content = record["content"]
    if (
        type(content) is dict and type(result := content.get("tool_result")) is str
    ):  # the two usual cases, kept short
        tool, file = _words(content.get("tool_name", "")), _words(content.get("file", ""))
        kept: Kept = record.get("kept", "verbatim")
        return Message(
            number, "tool", result, speaker_of(record), tool, "", kept, record.get("id", ""), file
        )
    if (
        type(content) is dict
        and len(content) == 1
        and type(words := content.get("user_message")) is str
    ):
        return Message(
            number, "user", words, "", "", "", record.get("kept", "verbatim"), record.get("id", "")
        )
    kind, text = _kind_and_text(record)
    if kind == USER:
        return Message(
            number, "user", text, kept=record.get("kept", "verbatim"), id=record.get("id", "")
        )
    tool = file = ""
    if kind == TOOL:
        tool, file = _words(content.get("tool_name", "")), _words(content.get("file", ""))
        if isinstance(content["tool_result"], Mapping) and "sha256" in content["tool_result"]:
            text = (resolve or _unresolved)(content["tool_result"])
    kept = "summary" if kind == SUMMARY else record.get("kept", "verbatim")
    return Message(
        number, ROLES[kind], text, speaker_of(record), tool, "", kept, record.get("id", ""), file
    )


def _unresolved(reference: Mapping[str, Any]) -> str:
    chars = reference.get("chars", 0)
    told = f"{chars:,}" if isinstance(chars, int) else _words(chars)
    return f"{_words(reference.get('head', ''))}\n[{told} characters, kept in {_words(reference.get('file', ''))}]"


def speaker_of(record: Record) -> str:
    """The agent whose message this is: `profile (A1)`, `A0`; "" when nobody recorded it."""
    if "agent" not in record:
        return ""
    profile = str(record.get("profile", ""))
    return f"{profile} (A{record['agent']})" if profile else f"A{record['agent']}"


def _kind_and_text(record: Record) -> tuple[int, str]:
    content = record["content"]
    if record["ai"]:
        return ASSISTANT, content if isinstance(content, str) else as_json(content)
    if type(content) is dict or isinstance(content, Mapping):
        for key, kind in _KEYS:
            if key in content:
                return kind, _content_text(content, key)
    if isinstance(content, str):
        return (SUMMARY if record.get("kept") == "summary" else USER), content
    return NOTE, as_json(content)


_KEYS: Final = (
    ("user_message", USER),
    ("tool_result", TOOL),
    ("user_intervention", USER),
    ("messages_summary", SUMMARY),
    ("raw_content", NOTE),
    ("system_warning", NOTE),
    ("system_error", NOTE),
    ("system_message", NOTE),
)


def _content_text(content: Mapping[str, Any], key: str) -> str:
    value = content[key]
    if key == "raw_content":
        return raw_text(content)
    text = value if isinstance(value, str) else as_json(value)
    attachments = (
        content.get("attachments") if key in ("user_message", "user_intervention") else None
    )
    if attachments:
        attachments = attachments if isinstance(attachments, list) else [attachments]
        text += "".join(f"\n[attached: {name}]" for name in attachments)
    return text


def raw_text(content: Mapping[str, Any]) -> str:
    """A raw (image) message in words: its preview, its text parts, and each embedded image as its data URI."""
    parts = content["raw_content"]
    told = [str(content["preview"])] if content.get("preview") else []
    for part in parts if isinstance(parts, list) else [parts]:
        if isinstance(part, Mapping) and part.get("type") == "text":
            told.append(str(part.get("text", "")))
        elif isinstance(part, Mapping) and "image_url" in part:
            image = part["image_url"]
            told.append(str(image.get("url", "")) if isinstance(image, Mapping) else str(image))
        else:
            told.append(part if isinstance(part, str) else as_json(part))
    return "\n".join(told)


def _read_agent(record: Record, number: int) -> Message:
    content = record["content"]
    raw = content if type(content) is str else as_json(content)
    said, tool, thoughts = decode_agent(raw)
    return Message(
        number,
        "assistant",
        said,
        speaker_of(record),
        tool,
        thoughts,
        record.get("kept", "verbatim"),
        record.get("id", ""),
    )


def decode_agent(raw: str) -> tuple[str, str, str]:
    """An agent's raw answer as (what it said or its call in words, tool or "", thoughts).

    A `response` call is speech. What is not the agreed JSON is speech as it stands: a model's slip is not lost.
    """
    call = _json_object(raw)
    if call is None or not ("tool_name" in call or "tool_args" in call or "thoughts" in call):
        return raw, "", ""
    try:
        thoughts = _words(call.get("thoughts", ""))
        tool, args = str(call.get("tool_name", "") or ""), call.get("tool_args")
        if tool in ("response", ""):
            return _speech(args, call), "", thoughts
        return call_in_words(args), tool, thoughts
    except RecursionError:  # lists in lists without end
        return raw, "", ""


def _json_object(raw: str) -> dict[str, Any] | None:
    text = raw.strip()
    if not text.startswith("{"):
        start, end = text.find("{"), text.rfind("}")
        if start < 0 or '"tool_name"' not in text:
            return None
        text = text[start : end + 1]
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and end == len(text) else None


_DECODER: Final = json.JSONDecoder(strict=False)


def _speech(args: Any, call: Mapping[str, Any]) -> str:
    if type(args) is dict:
        for key in ("text", "message"):
            if key in args:
                return _words(args[key])
        return call_in_words(args) if args else str(call.get("headline", ""))
    return _words(args) if args else str(call.get("headline", ""))


def _words(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_words(item) for item in value)
    return "" if value is None else as_json(value)


def as_json(value: Any) -> str:
    """As one line of JSON; what is nested too deeply says so."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "[data nested too deeply to be shown]"


def call_in_words(args: Any) -> str:
    """Arguments of a tool call, one `name: value` a line; a value of several lines stands below its name."""
    if type(args) is not dict:
        return _words(args)
    lines = []
    for name, value in args.items():
        text = _words(value)
        lines.append(f"{name}:\n{text}" if "\n" in text else f"{name}: {text}")
    return "\n".join(lines)


# --- parsers


def history_records(history: Mapping[str, Any], agent: int | None = None) -> list[Record]:
    """One agent's history as the host serialises it: bulks, topics, the current topic; what it replaced is marked `summary`."""
    if not isinstance(history, Mapping) or not isinstance(history.get("current"), Mapping):
        raise not_a_chat("history has no current topic")
    parts = [*_list(history, "bulks"), *_list(history, "topics"), history["current"]]
    try:
        records = [record for part in parts for record in _walk(part)]
    except RecursionError as error:
        raise not_a_chat("its history is nested too deeply") from error
    return [{**record, "agent": agent} for record in records] if agent else records


def from_history(
    history: Mapping[str, Any], source: str = "", *, agent: int | None = None
) -> Transcript:
    """One agent's history as a transcript; see `history_records`."""
    return Transcript(history_records(history, agent), source)


def _walk(part: Any) -> Iterator[Record]:
    if not isinstance(part, Mapping):
        raise not_a_chat("a topic of the history is not an object")
    if "content" in part:
        yield part if _is_usual(part) else _made_usual(part)
        return
    inner = [*_list(part, "records"), *_list(part, "messages")]
    if not inner and part.get("summary"):
        yield {"ai": False, "content": {"messages_summary": part["summary"]}, "id": ""}
    for each in inner:
        yield from _walk(each)


_KEPT: Final = frozenset({"verbatim", "summary", "shortened"})


def _is_usual(record: Record) -> bool:
    return (
        type(record.get("ai")) is bool
        and type(record.get("id", "")) is str
        and "kept" not in record
        and "agent" not in record
    )


def _made_usual(record: Record) -> Record:
    """A message with a field of another kind than the host writes: the content stays as it is, the rest is put right."""
    kept = record.get("kept")
    return {
        "ai": record.get("ai") is True,
        "content": record["content"],
        "id": _words(record.get("id")),
        "kept": kept if isinstance(kept, str) and kept in _KEPT else "verbatim",
    }


def _list(holder: Mapping[str, Any], key: str) -> list[Any]:
    value = holder.get(key, [])
    if not isinstance(value, list):
        raise not_a_chat(f"{key} of the history is not a list")
    return list(value)  # the host's compression changes lists in another thread


def from_chat(chat: Any, agent: int = 0) -> Transcript:
    """A saved chat file (`chat.json`, already decoded): the history of one agent, completed from the chat's log.

    Where the history holds only a summary the log often still has the messages (capped by the host at 15,000 characters
    each); they are put behind the summary and marked `shortened` when the host cut them.
    Raises RequestError when this is not a chat or has no such agent.
    """
    if not isinstance(chat, Mapping) or not isinstance(chat.get("agents"), list):
        raise not_a_chat("no list of agents in it")
    found = next(
        (
            each
            for each in chat["agents"]
            if isinstance(each, Mapping) and each.get("number") == agent
        ),
        None,
    )
    if found is None:
        numbers = ", ".join(
            str(each.get("number")) for each in chat["agents"] if isinstance(each, Mapping)
        )
        raise not_a_chat(f"no agent {agent}; agents: {numbers or 'none'}")
    records = history_records(_history_of(found), agent or None)
    return Transcript(
        _complete(records, log_records(chat.get("log"), agent)), str(chat.get("id", ""))
    )


def _history_of(agent: Mapping[str, Any]) -> Mapping[str, Any]:
    history = agent.get("history", "")
    if isinstance(history, str):
        try:
            history = json.loads(history) if history else {"current": {"messages": []}}
        except (ValueError, RecursionError) as problem:
            why = "nested too deeply" if isinstance(problem, RecursionError) else problem
            raise not_a_chat(f"its history is cut off or damaged ({why})") from problem
    if not isinstance(history, Mapping):
        raise not_a_chat("its history is not an object")
    return history


_HIDDEN: Final = " Characters hidden >>"
_SPOKEN_ROWS: Final = ("agent", "user")
_TOOL_ROWS: Final = ("tool", "code_exe", "mcp", "browser", "subagent")


def log_records(log: Any, agent: int = 0) -> tuple[Record, ...]:
    """The messages a chat's log still holds, as records in order: agents' answers, tool results, the person's words."""
    rows = log.get("logs") if isinstance(log, Mapping) else None
    return tuple(
        record
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, Mapping) and row.get("agentno", 0) == agent
        for record in _log_record(row)
    )


def _log_record(row: Mapping[str, Any]) -> Iterator[Record]:
    kind, text, key = row.get("type"), _words(row.get("content") or ""), _words(row.get("id") or "")
    if not key or not text:
        return
    base = {"id": key, "kept": "shortened" if _HIDDEN in text else "verbatim", "from": "log"}
    if kind == "agent":
        yield {**base, "ai": True, "content": text}
    elif kind == "user":
        yield {**base, "ai": False, "content": {"user_message": text}}
    elif kind in _TOOL_ROWS:
        kvps = row.get("kvps")
        name = _words(kvps.get("_tool_name", kind)) if isinstance(kvps, Mapping) else str(kind)
        yield {**base, "ai": False, "content": {"tool_name": name, "tool_result": text}}


def _complete(records: Sequence[Record], logged: Sequence[Record]) -> list[Record]:
    """Logged messages the history no longer has, each put behind the history message that the log has before it."""
    known = {str(record.get("id")) for record in records}
    behind: dict[str, list[Record]] = {}
    anchor = ""
    for record in logged:
        if record["id"] in known:
            anchor = record["id"]
        else:
            behind.setdefault(anchor, []).append(record)
    if not behind:
        return list(records)
    out = behind.pop("", [])
    waiting: list[Record] = []
    for record in records:
        is_summary = _kind_and_text(record)[0] == SUMMARY
        if waiting and not is_summary and record.get("ai"):
            out, waiting = [*out, *waiting], []
        out.append(record)
        if is_summary and waiting:
            out, waiting = [*out, *waiting], []
        waiting = behind.pop(str(record.get("id")), waiting)
    return [*out, *waiting, *(each for rest in behind.values() for each in rest)]


def not_a_chat(why: str) -> RequestError:
    """The one error for a file that is not a chat; names what is allowed."""
    return RequestError(
        f"this is not a saved Agent Zero chat: {why}",
        "give a whole chat.json as Agent Zero saves or exports it (an object with `agents`, each with its `history`)",
        "bad_value",
    )


# --- what a person would read


def recent_turns(transcript: Transcript, count: int) -> tuple[Turn, ...]:
    """The last `count` turns as a person reads them: what people and agents said, tool results in a few words.

    Empty messages, tool calls (their result tells them) and notes are not turns; 0 gives ().
    """
    found: list[Turn] = []
    for at in range(len(transcript) - 1, -1, -1):
        if len(found) >= count:
            break
        turn = _turn(transcript[at])
        if turn is not None:
            found.append(turn)
    return tuple(reversed(found))


def _turn(message: Message) -> Turn | None:
    if message.is_empty or message.is_call or message.role == "note":
        return None
    if message.role == "tool":
        return Turn(role="tool", text=short_result(message))
    if message.role == "summary":
        return Turn(role="summary", text=message.text.strip())
    return Turn(role="user" if message.role == "user" else "assistant", text=message.text.strip())


def short_result(message: Message) -> str:
    """A tool result in a few words: the tool, its first line, and how much more there was."""
    text = message.text.strip()
    first = text.split("\n", 1)[0][:SHORT_RESULT_CHARS]
    rest = len(text) - len(first)
    more = f" [+{rest:,} characters left out]" if rest else ""
    return f"{message.tool}: {first}{more}" if message.tool else first + more

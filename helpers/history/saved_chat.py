"""Reading a chat that Agent Zero saved. It is never written.

Whatever is in a file that a person names, an error is one that says so.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..values.call import PLUGIN
from ..values.errors import RequestError
from .message import SUMMARY, USER, Kept, Record, kind_and_words, words
from .transcript import Transcript, history_records, not_a_chat, without_opening

# --- files


def text_in(file: str, what: str, hint: str) -> str:
    """The text of a file, or of standard input for "-". Raises RequestError naming `what` it is.

    A byte order mark is no part of it; UTF-16, which some shells write, is understood for JSON.
    """
    try:
        data = _standard_input() if file == "-" else Path(file).read_bytes()
        return data.decode(json.detect_encoding(data))
    except OSError as error:
        raise RequestError(f"{what} cannot be read: {error.strerror}: {file}", hint) from error
    except ValueError as error:  # not UTF-8, or a path with NUL
        raise RequestError(f"{what} cannot be read: {error}", hint) from error


def _standard_input() -> bytes:
    """As bytes: what they mean does not depend on the locale."""
    if sys.stdin is None:
        hint = "pipe the arguments in, or name a file"
        raise RequestError("standard input is closed", hint, "missing")
    return sys.stdin.buffer.read()


def json_of(text: str) -> Any:
    """Raises ValueError, also for what is nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def load_chat(path: Path) -> dict[str, Any]:
    """The chat in a chat.json. Raises RequestError (bad_value): unreadable, cut off or no chat."""
    text = text_in(str(path), "the chat file", "give the path of a chat.json")
    try:
        chat = json_of(text)
    except ValueError as error:
        raise not_a_chat(f"{path.name} is not whole JSON ({error})") from error
    if not isinstance(chat, dict):
        raise not_a_chat(f"{path.name} holds no object")
    return chat


# --- a chat as a transcript


def person_count(chat: Mapping[str, object]) -> int | None:
    """How many messages the plugin counted as the person's in this chat; None where it did not."""
    value: object = chat
    for name in ("data", PLUGIN, "person", "count"):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if type(value) is int and value >= 0 else None


def from_chat(chat: object, agent: int = 0) -> Transcript:
    """A saved chat file (`chat.json`, decoded): an agent's history, completed from the chat's log.

    Where the history holds only a summary the log often still has the messages (capped by the host
    at 15,000 characters each); they are put behind the summary and marked `shortened` where the
    host cut them. Raises RequestError when this is not a chat or has no such agent.
    """
    if not isinstance(chat, Mapping) or not isinstance(chat.get("agents"), list):
        raise not_a_chat("no list of agents in it")
    history = _history_of(chat["agents"], agent)
    logged = list(_log_records(chat.get("log"), agent))
    records = history_records(history, agent)
    return Transcript(_completed(without_opening(records, _unseen(records, logged)), logged))


def _unseen(records: Sequence[Record], logged: Sequence[Record]) -> str:
    """The first message of a person when no row of the chat shows its words: nobody said it."""
    shown = [words for kind, words in map(kind_and_words, logged) if kind == USER]
    kind, first = kind_and_words(records[0]) if records else (SUMMARY, "")
    return first if kind == USER and shown and first not in shown else ""


def _history_of(agents: Sequence[object], number: int) -> object:
    numbers = []
    for agent in agents:
        if isinstance(agent, Mapping):
            numbers.append(str(agent.get("number")))
            if agent.get("number") == number:
                return _decoded(agent.get("history", ""))
    raise not_a_chat(f"no agent {number}; agents: {', '.join(numbers) or 'none'}")


def _decoded(history: object) -> object:
    """The host saves a history as JSON within JSON."""
    if not isinstance(history, str):
        return history
    if not history:
        return {"current": {"messages": []}}
    try:
        return json_of(history)
    except ValueError as problem:
        raise not_a_chat(f"its history is cut off or damaged ({problem})") from problem


_HIDDEN: Final = " Characters hidden >>"
_TOOL_ROWS: Final = ("tool", "code_exe", "mcp", "browser", "subagent")


def _log_records(log: object, agent: int) -> Iterator[Record]:
    """The messages a chat's log still holds: agents' answers, tool results, the person's words."""
    rows = log.get("logs") if isinstance(log, Mapping) else None
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping) and row.get("agentno", 0) == agent:
            record = _log_record(row)
            if record is not None:
                yield record


def _log_record(row: Mapping[str, object]) -> Record | None:
    kind, text, name = row.get("type"), words(row.get("content")), words(row.get("id"))
    if not name or not text:
        return None
    kept: Kept = "shortened" if _HIDDEN in text else "verbatim"
    if kind == "agent":
        return {"id": name, "kept": kept, "ai": True, "content": text}
    if kind == "user":
        content = {"user_message": text}
    elif kind in _TOOL_ROWS:
        fields = row.get("kvps")
        tool = fields.get("_tool_name", kind) if isinstance(fields, Mapping) else kind
        content = {"tool_name": words(tool), "tool_result": text}
    else:
        return None
    return {"id": name, "kept": kept, "ai": False, "content": content}


def _completed(records: Sequence[Record], logged: Sequence[Record]) -> Iterator[Record]:
    """Logged messages the history no longer has, behind the one the log has before them.

    Where a summary follows that one, they stand behind the summary.
    """
    before, behind = _forgotten({_id(record) for record in records}, logged)
    yield from before
    waiting: list[Record] = []
    for record in records:
        if record["ai"]:  # no summary came
            yield from waiting
            waiting = []
        yield record
        following = behind.pop(_id(record), [])
        if following or kind_and_words(record)[0] == SUMMARY:
            yield from waiting
            waiting = following
    yield from waiting


def _forgotten(
    known: set[str], logged: Sequence[Record]
) -> tuple[list[Record], dict[str, list[Record]]]:
    """Messages not `known`: those before any known one, and those behind each, by its id."""
    behind: dict[str, list[Record]] = {"": []}
    anchor = ""
    for record in logged:
        if _id(record) in known:
            anchor = _id(record)
        else:
            behind.setdefault(anchor, []).append(record)
    return behind.pop(""), behind


def _id(record: Record) -> str:
    return record.get("id", "")

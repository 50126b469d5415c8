"""Every message of a chat as a JSON line beside the saved chat, because the host forgets (HOST fact 24).

One file a chat, so that deleting the chat deletes it. A line begins with a head of fixed length (`transcript.head_of`), which
lets a reader choose and weigh lines without decoding them. Nothing is rewritten; big tool results, which the host saves as
files, are referred to and verified by their hash when they are read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from ..records.files import open_append, open_read
from ..text.masking import Mask, clean, map_text
from ..values.errors import RecordError
from .extract import findings
from .transcript import (
    Record,
    Resolve,
    Transcript,
    from_lines,
    head_of,
    history_records,
    read,
)

NAME: Final = "software_orchestrator_history.jsonl"
BIG_RESULT_CHARS: Final = 500
BEFORE_THE_LOG: Final = "0001-01-01T00:00:00.000000Z"
_HEAD_CHARS: Final = 200
_FULL: Final = "[this log reached its size limit; later messages are missing here]"
_FULL_LINE_BYTES: Final = 600

State = Literal["written", "full"]


@dataclass(frozen=True, slots=True)
class Source:
    """Whose message it is: the agent's `number` and `profile`, the `handover` it works in or ""; `messages`: the folder where
    the host keeps big tool results, or None."""

    number: int = 0
    profile: str = ""
    handover: str = ""
    messages: Path | None = None


def line_of(record: Record, source: Source, time: str, mask: Mask) -> bytes:
    """One message as a line, masked. `record` is `{"id", "ai", "content"}` as the host has it; `time` UTC.

    What the mask raises passes through: nothing is written unmasked.
    """
    content = _referring(record, source)
    stored: dict[str, Any] = {
        "id": str(record.get("id", "")),
        "ai": bool(record["ai"]),
        "content": map_text(content, lambda text: mask(clean(text)[0])),
    }
    if record.get("kept", "verbatim") != "verbatim":
        stored["kept"] = record["kept"]
    if source.profile:
        stored["profile"] = source.profile
    message = read(stored, 1)
    size = (
        content["tool_result"]["chars"]
        if _is_reference(content)
        else len(message.text) + len(message.thoughts)
    )
    head = head_of(
        message.role, bool(findings(message)), source.number, size, source.handover, time
    )
    return (
        json.dumps({"head": head, **stored}, ensure_ascii=False, separators=(",", ":")).encode()
        + b"\n"
    )


def _is_reference(content: Any) -> bool:
    return (
        isinstance(content, Mapping)
        and isinstance(content.get("tool_result"), Mapping)
        and "sha256" in content["tool_result"]
    )


def _referring(record: Record, source: Source) -> Any:
    """The content, a big tool result that the host saved replaced by a reference to its file."""
    content = record["content"]
    if not isinstance(content, Mapping) or source.messages is None:
        return content
    result, saved = content.get("tool_result"), content.get("file")
    if not (isinstance(result, str) and isinstance(saved, str) and len(result) >= BIG_RESULT_CHARS):
        return content
    data = _file_bytes(source.messages / Path(saved.replace("\\", "/")).name)
    if data is None:
        return content
    reference = {
        "file": Path(saved.replace("\\", "/")).name,
        "chars": len(result),
        "sha256": hashlib.sha256(data).hexdigest(),
        "head": result[:_HEAD_CHARS],
    }
    return {**content, "tool_result": reference, "file": reference["file"]}


def _file_bytes(path: Path) -> bytes | None:
    """A regular file's bytes; None where it is gone or not to be trusted (a link, a device)."""
    try:
        with open_read(path) as file:
            return file.read()
    except (OSError, RecordError):
        return None


# --- writing


def append(path: Path, line: bytes, limit_bytes: int) -> State:
    """Adds one line in one write, whatever the file's size; "full" where the limit is reached, which the file says once.

    Raises OSError, and RecordError (path_unsafe) for what is no regular file.
    """
    with open_append(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            os.fchmod(file.fileno(), 0o600)
        torn = b"" if size == 0 or os.pread(file.fileno(), 1, size - 1) == b"\n" else b"\n"
        if size + len(line) <= limit_bytes:
            file.write(torn + line)
            return "written"
        if _FULL.encode() not in os.pread(
            file.fileno(), _FULL_LINE_BYTES, max(0, size - _FULL_LINE_BYTES)
        ):
            file.write(torn + _note(_FULL))
        return "full"


def keep(
    path: Path, line: Callable[[], bytes], seed: Callable[[], Iterable[bytes]], limit_bytes: int
) -> State:
    """Adds a message to the log of a chat; where there is none yet, all that the host still holds (it holds the message)."""
    if path.exists():
        return append(path, line(), limit_bytes)
    state: State = "written"
    for each in seed():
        state = append(path, each, limit_bytes)
        if state == "full":
            break
    return state


def seed_lines(
    histories: Iterable[tuple[Mapping[str, Any], Source]], mask: Mask
) -> Iterator[bytes]:
    """The lines of all that the agents' histories still hold, superiors first; what the host summarised is marked so."""
    records = [
        (record, source) for history, source in histories for record in history_records(history)
    ]
    if any(_is_summary(record) for record, _ in records):
        yield _note(
            "[the log was begun when the host had forgotten parts of this chat; summaries stand in their places]"
        )
    for record, source in records:
        yield line_of(record, source, BEFORE_THE_LOG, mask)


def _is_summary(record: Record) -> bool:
    return isinstance(record["content"], Mapping) and "messages_summary" in record["content"]


def _note(words: str) -> bytes:
    head = head_of("note", False, 0, len(words), "", BEFORE_THE_LOG)
    record = {"head": head, "id": "", "ai": False, "content": {"system_warning": words}}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def forget(path: Path) -> None:
    """Removes the log, when the person resets the chat; nothing there is fine."""
    path.unlink(missing_ok=True)


# --- reading


def open_log(
    path: Path,
    *,
    keep: Callable[[bytes], bool] | None = None,
    messages: Path | None = None,
    mask: Mask = str,
    source: str = "",
) -> Transcript | None:
    """The log as a transcript whose lines are decoded when they are looked at; None where there is no log.

    `keep` chooses lines by their head. A big result is read from `messages` and masked; where its file is gone or was
    replaced, the text says so. Raises OSError, and RecordError (path_unsafe).
    """
    try:
        with open_read(path) as file, open(file.fileno(), "rb", closefd=False) as lines:
            return from_lines(lines, source, keep=keep, resolve=_resolver(messages, mask))
    except FileNotFoundError:
        return None


def _resolver(messages: Path | None, mask: Mask) -> Resolve:
    def resolve(reference: Mapping[str, Any]) -> str:
        name = str(reference.get("file", ""))
        data = _file_bytes(messages / Path(name).name) if messages is not None and name else None
        if data is not None and hashlib.sha256(data).hexdigest() == reference.get("sha256"):
            return mask(data.decode("utf-8", "replace"))
        why = "its file is gone" if data is None else "its file was replaced by another result"
        return f"{reference.get('head', '')}\n[{reference.get('chars', 0):,} characters were kept in messages/{name}; {why}]"

    return resolve

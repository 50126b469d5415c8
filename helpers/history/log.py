"""Every message of a chat as a JSON line beside the saved chat, because the host forgets.

One file a chat, so that deleting the chat deletes it; the form of a line is in `lines`. Nothing is
rewritten. Big tool results, which the host saves as files, are referred to and verified by their
hash when they are read. What could not be written leaves a gap that says so.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from ..records.files import open_append, open_read
from ..text.masking import Mask, clean, map_text
from ..values.errors import RecordError
from .extract import findings
from .heard import glance_at
from .lines import Reference, Resolve, head_of, line_with
from .message import (
    SUMMARY,
    Record,
    kind_and_words,
    masked_content,
    message_of,
    record_of,
    typed_words,
)
from .transcript import Transcript, history_records, without_opening

NAME: Final = "software_orchestrator_history.jsonl"
BIG_RESULT_CHARS: Final = 500
BEFORE_THE_LOG: Final = "0001-01-01T00:00:00.000000Z"
_HEAD_CHARS: Final = 200
_BEGUN_LATE: Final = (
    "[the log was begun when the host had forgotten parts of this chat; "
    "summaries stand in their places]"
)
_FULL: Final = "[this log reached its size limit; later messages are missing here]"
_FULL_LINE_BYTES: Final = 600


@dataclass(frozen=True, slots=True)
class Source:
    """Whose message it is: the agent's `number` and `profile`, the `handover` it works in or "".

    `messages` is the folder where the host keeps big tool results, or None. `person` tells, of the
    masked words of a message for an agent, where a person wrote it ("" where none did).
    """

    number: int = 0
    profile: str = ""
    handover: str = ""
    messages: Path | None = None
    person: Callable[[str], str] = lambda words: ""


# --- a message as a line


def line_of(message: Mapping[str, object], source: Source, time: str, mask: Mask) -> bytes:
    """One message of the host (`{"id", "ai", "content"}`) as a line, masked; `time` is UTC.

    What the mask raises passes through: nothing is written unmasked.
    """
    record = record_of(message)

    def whole(text: str) -> str:
        return mask(clean(text)[0])

    reference = _reference(record["content"], source, whole)
    record["content"] = _masked_content(record, reference, whole)
    if source.profile:
        record["profile"] = source.profile
    said = message_of(record, 1)
    if said.role == "user" and (whose := source.person(typed_words(record["content"]))):
        record["person"] = whose
        record["glance"] = glance_at(said.text)
    size = reference.chars if reference else len(said.text) + len(said.thoughts)
    tells = bool(findings(said))
    head = head_of(said.role, tells, source.number, size, source.handover, time)
    return line_with(head, record)


def _masked_content(record: Record, reference: Reference | None, mask: Mask) -> object:
    content = record["content"]
    if reference is not None and isinstance(content, dict):
        others = {**content, "tool_result": "", "file": reference.file}
        return {**map_text(others, mask), "tool_result": asdict(reference)}
    return masked_content(record, mask)


def _reference(content: object, source: Source, mask: Mask) -> Reference | None:
    """What stands in the line in place of a big tool result that the host saved, or None."""
    if not isinstance(content, dict) or source.messages is None:
        return None
    result, saved = content.get("tool_result"), content.get("file")
    if not isinstance(result, str) or not isinstance(saved, str):
        return None
    name = Path(saved.replace("\\", "/")).name
    data = _file_bytes(source.messages / name) if len(result) >= BIG_RESULT_CHARS else None
    if data is None:
        return None
    head = mask(result)[:_HEAD_CHARS]  # masked first: half of a secret has no shape
    return Reference(name, len(result), hashlib.sha256(data).hexdigest(), head)


def _file_bytes(path: Path) -> bytes | None:
    """A regular file's bytes; None where it is gone or not to be trusted (a link, a device)."""
    try:
        with open_read(path) as file:
            return file.read()
    except (OSError, RecordError):
        return None


def _gap_line(words: str) -> bytes:
    head = head_of("gap", False, 0, len(words), "", BEFORE_THE_LOG)
    return line_with(head, {"id": "", "ai": False, "content": {"gap": words}})


# --- writing


def keep(
    path: Path,
    line: Callable[[], bytes],
    seed: Callable[[], Iterable[bytes]],
    limit_bytes: int,
    missing: int = 0,
) -> bool:
    """Adds a message to the log of a chat; `missing` before it could not be written: a gap.

    Where there is no log yet, it begins with all that the host still holds, which has the message.
    Raises as `append`; then the message is missing too.
    """
    if path.exists():
        gap = _gap_line(_missing(missing)) if missing else b""
        return append(path, gap + line(), limit_bytes)
    return all(append(path, seed_line, limit_bytes) for seed_line in seed())


def _missing(count: int) -> str:
    messages = "1 message is" if count == 1 else f"{count:,} messages are"
    return f"[{messages} missing here: the log could not be written]"


def append(path: Path, line: bytes, limit_bytes: int) -> bool:
    """Adds a line in one write, whatever the file's size. False: the limit is reached.

    The file says once that it is full. Raises OSError, also where only a part could be written,
    and RecordError (path_unsafe) for what is no regular file.
    """
    with open_append(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            os.fchmod(file.fileno(), 0o600)
        torn = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
        start = b"\n" if torn else b""
        if size + len(line) <= limit_bytes:
            _write(file, start + line)
            return True
        end = os.pread(file.fileno(), _FULL_LINE_BYTES, max(0, size - _FULL_LINE_BYTES))
        if _FULL.encode() not in end:
            _write(file, start + _gap_line(_FULL))
        return False


def _write(file: io.FileIO, data: bytes) -> None:
    """One write(2). What a short one leaves is ended by the next append and read as damaged."""
    written = file.write(data) or 0
    if written != len(data):
        why = f"only {written:,} of {len(data):,} bytes could be written, the disk may be full"
        raise OSError(errno.ENOSPC, why)


def seed_lines(
    histories: Iterable[tuple[object, Source]], mask: Mask, placeholder: str = ""
) -> Iterator[bytes]:
    """The lines of all that the agents' histories still hold, superiors first, without an opening.

    What the host summarised is marked so, and a gap stands before all.
    """
    records = []
    for history, source in histories:
        for record in without_opening(history_records(history), placeholder):
            records.append((record, source))
    if any(kind_and_words(record)[0] == SUMMARY for record, _ in records):
        yield _gap_line(_BEGUN_LATE)
    for record, source in records:
        yield line_of(record, source, BEFORE_THE_LOG, mask)


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
) -> Transcript | None:
    """The log as a transcript whose lines are decoded when they are looked at; None where none is.

    `keep` chooses lines by their head. A big result is read from `messages` and masked; where its
    file is gone or was replaced, the text says so. Raises OSError, and RecordError (path_unsafe).
    """
    try:
        with open_read(path) as file, open(file.fileno(), "rb", closefd=False) as lines:
            kept = [line for line in lines if not line.isspace() and (keep is None or keep(line))]
    except FileNotFoundError:
        return None
    return Transcript(kept, _resolver(messages, mask))


def _resolver(messages: Path | None, mask: Mask) -> Resolve:
    def resolve(reference: Reference) -> str:
        if messages is None or not reference.file:
            return reference.gone("its file is gone")
        data = _file_bytes(messages / Path(reference.file).name)
        if data is None:
            return reference.gone("its file is gone")
        if hashlib.sha256(data).hexdigest() != reference.sha256:
            return reference.gone("its file was replaced by another result")
        return mask(data.decode("utf-8", "replace"))

    return resolve

"""What goes over the wire to another machine and what comes back: A2A's JSON, nothing of it trusted.

A2A 0.2 and 0.3 are one `Dialect`, 1.0 is another. Answers are read in the forms of all: states as
`input-required` or `TASK_STATE_INPUT_REQUIRED`, a task or message bare or under its name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from ..text.quote import one_line
from ..values.errors import RemoteError
from ..values.remote import Remote, origin

MOST_BYTES = 1_000_000
WORKING = frozenset({"submitted", "working", "unknown", ""})
CARDS = (".well-known/agent-card.json", ".well-known/agent.json")
# What fasta2a, and with it Agent Zero, writes into the card of an agent that was given no address.
_NO_ADDRESS = "http://localhost:8000"
_TASK_NOT_FOUND = -32001
_MOST_ID_CHARS = 200
_MOST_TOLD_CHARS = 300


@dataclass(frozen=True)
class Task:
    """What another machine says of the work; `id` is "" where it answered without a task.

    `state` is a word of A2A 0.3 ("completed", "input-required"), `status` the words beside it, `said`
    all words of the answer in their order, `status` included.
    """

    id: str
    context: str
    state: str
    status: str
    said: str

    @property
    def works(self) -> bool:
        return self.state in WORKING


@dataclass(frozen=True)
class Dialect:
    """How a version of A2A names what is asked of it."""

    version: str
    send: str
    look: str
    cancel: str
    role: str
    kinds: bool  # messages and parts say what kind they are
    at_once: tuple[str, bool]  # the option that asks for an answer before the work is done


A2A_0 = Dialect(
    "0.3", "message/send", "tasks/get", "tasks/cancel", "user", True, ("blocking", False)
)
A2A_1 = Dialect(
    "1.0", "SendMessage", "GetTask", "CancelTask", "ROLE_USER", False, ("returnImmediately", True)
)


@dataclass(frozen=True)
class Endpoint:
    """Where an agent takes JSON-RPC, and in which dialect."""

    url: str
    dialect: Dialect = A2A_0


def request(method: str, params: Mapping[str, Any]) -> bytes:
    """A JSON-RPC request."""
    call = {"jsonrpc": "2.0", "id": uuid4().hex, "method": method, "params": params}
    return json.dumps(call, ensure_ascii=False).encode()


def message(text: str, dialect: Dialect, *, task: str = "", context: str = "") -> dict[str, Any]:
    """The parameters that send a text; with `task` and `context` it goes on with those."""
    part = {"text": text}
    sent: dict[str, Any] = {"role": dialect.role, "messageId": uuid4().hex, "parts": [part]}
    if dialect.kinds:
        sent["kind"], part["kind"] = "message", "text"
    if context:
        sent["contextId"] = context
    if task:
        sent["taskId"] = task
    name, value = dialect.at_once
    modes = ["text/plain", "application/json"]
    return {"message": sent, "configuration": {name: value, "acceptedOutputModes": modes}}


def object_in(body: bytes) -> dict[str, Any]:
    """The JSON object of an answer. Raises RemoteError for anything else."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RemoteError("the answer is no JSON") from error
    if not isinstance(found, dict):
        raise RemoteError("the answer is no JSON object")
    return found


def task_in(body: bytes) -> Task:
    """The task or message that a JSON-RPC answer holds. Raises RemoteError."""
    answer = object_in(body)
    if answer.get("error"):
        raise _error(answer["error"])
    result = answer.get("result")
    for name in ("task", "message"):
        if isinstance(result, dict) and isinstance(result.get(name), dict):
            result = result[name]
    if not isinstance(result, dict):
        raise RemoteError("the answer holds no task and no message")
    if isinstance(result.get("status"), dict):
        return _task(result)
    if isinstance(result.get("parts"), list):
        said = "\n\n".join(texts(result))
        return Task("", _id(result, "contextId"), "completed", "", said)
    raise RemoteError("the answer holds no task and no message")


def _error(error: object) -> RemoteError:
    code = error.get("code") if isinstance(error, dict) else None
    words = error.get("message") if isinstance(error, dict) else error
    told = one_line(f"{words} ({code})", _MOST_TOLD_CHARS)
    return RemoteError(f"it answered with an error: {told}", gone=code == _TASK_NOT_FOUND)


def _task(result: Mapping[str, Any]) -> Task:
    status = result["status"]
    words = "\n\n".join(texts(status.get("message")))
    blocks = [*_newest_words(result.get("history")), words]
    for artifact in _objects(result.get("artifacts")):
        blocks.extend(texts(artifact))
    state = status.get("state")
    if not isinstance(state, str):
        raise RemoteError("the task has no state")
    return Task(
        _id(result, "id"),
        _id(result, "contextId"),
        _state(state),
        words,
        "\n\n".join(dict.fromkeys(filter(None, blocks))),
    )


def _state(word: str) -> str:
    state = word[:100].lower().removeprefix("task_state_").replace("_", "-")
    return "canceled" if state == "cancelled" else state


def _newest_words(history: object) -> list[str]:
    """What the agent said after the last message to it."""
    words: list[str] = []
    for said in _objects(history):
        if "agent" in str(said.get("role")).lower():
            words.extend(texts(said))
        else:
            words = []
    return words


def texts(holder: object) -> Iterator[str]:
    """The texts of a message or artifact; what is said as data is told as JSON."""
    if not isinstance(holder, dict):
        return
    for part in _objects(holder.get("parts")):
        if isinstance(part.get("text"), str):
            yield part["text"]
        elif isinstance(part.get("data"), dict | list):
            yield json.dumps(part["data"], ensure_ascii=False)


def _objects(items: object) -> Iterator[dict[str, Any]]:
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, dict))


def _id(holder: Mapping[str, Any], name: str) -> str:
    value = holder.get(name, holder.get("context_id") if name == "contextId" else "")
    if value in (None, ""):
        return ""
    if not isinstance(value, str) or len(value) > _MOST_ID_CHARS or not value.isprintable():
        raise RemoteError(f"the {name} of the answer is no id")
    return value


def endpoint_in(card: Mapping[str, Any], remote: Remote, otherwise: str) -> Endpoint:
    """Where the agent of a card takes JSON-RPC; at `otherwise` where the card does not say.

    Raises RemoteError for an address of another origin: the token and the package go nowhere but to
    the machine that the settings name.
    """
    for address, version in _addresses(card):
        if address.rstrip("/") == _NO_ADDRESS:
            break
        try:
            there = origin(address)
        except ValueError:
            raise RemoteError("the address in its agent card is none") from None
        if there != remote.origin:
            raise RemoteError(
                f"its agent card names an address of another origin, {one_line(there, 200)}",
                "let the card there name the address that the roster names",
            )
        return Endpoint(address, A2A_1 if version.startswith("1.") else A2A_0)
    return Endpoint(otherwise)


def _addresses(card: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each with the version of A2A spoken there, the oldest way to say it first."""
    if isinstance(card.get("url"), str) and card.get("preferredTransport", "JSONRPC") == "JSONRPC":
        yield card["url"], "0.3"
    for name in ("supportedInterfaces", "additionalInterfaces"):
        for interface in _objects(card.get(name)):
            way = interface.get("protocolBinding", interface.get("transport"))
            if way == "JSONRPC" and isinstance(interface.get("url"), str):
                yield interface["url"], str(interface.get("protocolVersion", "0.3"))

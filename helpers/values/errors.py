"""Everything the plugin refuses, as one tree.

    HandoverError               carries message, hint and code; its text is what the model reads
    ├── RequestError            the call itself: missing or bad arguments
    ├── RefusedError            the call is well-formed, the rules say no
    ├── RecordError             the record could not be written, read or trusted
    │   └── NewerRecordError    a newer version of the plugin wrote it
    ├── SettingsError           settings or roster are wrong; names the entry
    └── RemoteError             a specialist on another machine: not reached, or no answer to use

A bug is none of these and is never dressed up as one. The host's own exceptions pass through.
"""

from __future__ import annotations

from typing import Literal

Code = Literal[
    "missing",
    "unknown_specialist",
    "bad_value",
    "root_not_absolute",
    "limit_not_positive",
    "path_unsafe",
    "self",
    "graph",
    "depth",
    "hops",
    "receiver_open",
    "nothing_new",
    "incomplete",
    "authority",
    "stopped",
    "append_failed",
    "start_failed",
    "nothing_open",
    "unknown_reference",
    "parallel",
]


class HandoverError(Exception):
    """A refusal in words a model can act on.

    `message` says what is wrong and what came, `hint` what to do instead, `code` is one of `Code`
    (docs/architecture.md, Errors). `recorded`: the chain's ledger tells of it, or there is none.
    """

    def __init__(self, message: str, hint: str = "", code: Code = "bad_value") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code: Code = code
        self.recorded = False

    def __str__(self) -> str:
        """`ERROR: <message>; <hint>` on one line; untrusted parts were escaped by whoever raised it."""
        text = f"ERROR: {self.message}"
        return f"{text}; {self.hint}" if self.hint else text


class RequestError(HandoverError):
    """The arguments are missing or cannot be understood.

    `topic`, `project_root` and `receiver` are what could be understood of them, else "": where the
    refusal can be recorded.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        code: Code = "bad_value",
        *,
        topic: str = "",
        project_root: str = "",
        receiver: str = "",
    ) -> None:
        super().__init__(message, hint, code)
        self.topic = topic
        self.project_root = project_root
        self.receiver = receiver


class RefusedError(HandoverError):
    """The loop guard, the graph or another rule says no.

    `stops` is the reason when this refusal stops the chain until the person writes, else "";
    `whole_chat`: all handovers of the chat.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        code: Code = "graph",
        *,
        stops: str = "",
        whole_chat: bool = False,
    ) -> None:
        super().__init__(message, hint, code)
        self.stops = stops
        self.whole_chat = whole_chat


class RecordError(HandoverError):
    """A briefing or ledger could not be written, read or trusted."""

    def __init__(self, message: str, hint: str = "", code: Code = "append_failed") -> None:
        super().__init__(message, hint, code)


class NewerRecordError(RecordError):
    """A newer version of the plugin wrote here."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "update the plugin")


class SettingsError(HandoverError):
    """Settings or roster are wrong; the message names the entry and the field."""


class RemoteError(HandoverError):
    """Another machine could not be reached, refused, or answered what cannot be used.

    `gone`: it knows nothing of the task.
    """

    def __init__(self, message: str, hint: str = "", *, gone: bool = False) -> None:
        super().__init__(message, hint, "start_failed")
        self.gone = gone


class MemoryRuleError(AssertionError):
    """One of the three memory-protection rules was broken: a bug, never a refusal."""

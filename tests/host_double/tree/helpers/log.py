"""The rows that the web page shows. Texts are masked; the host also cuts long ones."""

import time
import uuid
from dataclasses import dataclass, field
from typing import Any, Literal

Type = Literal[
    "agent", "browser", "code_exe", "subagent", "error", "hint", "info", "progress", "response", "tool", "mcp",
    "input", "user", "util", "warning",
]  # fmt: skip
ProgressUpdate = Literal["persistent", "temporary", "none"]


@dataclass
class LogItem:
    """One row. `kvps` holds everything else that it shows."""

    log: "Log"
    no: int
    type: Type
    heading: str = ""
    content: str = ""
    update_progress: ProgressUpdate | None = "persistent"
    kvps: dict | None = None
    id: str | None = None
    guid: str = ""
    timestamp: float = field(default_factory=time.time)
    agentno: int = 0

    def update(
        self,
        type: Type | None = None,
        heading: str | None = None,
        content: str | None = None,
        kvps: dict | None = None,
        update_progress: ProgressUpdate | None = None,
        **kwargs,
    ):
        self.type = type or self.type
        self.heading = self.heading if heading is None else self.log.double_masked(heading)
        self.content = self.content if content is None else self.log.double_masked(content)
        self.kvps = {**(self.kvps or {}), **self.log.double_masked({**(kvps or {}), **kwargs})}

    def output(self):
        shown = ("no", "id", "type", "heading", "content", "kvps", "timestamp", "agentno")
        return {name: getattr(self, name) for name in shown}


class Log:
    def __init__(self):
        self.context: Any = None
        self.reset()

    def log(
        self,
        type: Type,
        heading: str | None = None,
        content: str | None = None,
        kvps: dict | None = None,
        update_progress: ProgressUpdate | None = None,
        id: str | None = None,
        **kwargs,
    ) -> LogItem:
        speaker = self.context.streaming_agent if self.context else None
        agentno = speaker.number if speaker else 0
        item = LogItem(self, len(self.logs), type, id=id, agentno=agentno)
        self.logs.append(item)
        item.update(None, heading, content, kvps, update_progress, **kwargs)
        return item

    def reset(self):
        self.guid, self.logs = str(uuid.uuid4()), []

    def double_masked(self, value: Any) -> Any:
        from helpers.secrets import get_secrets_manager

        return get_secrets_manager(self.context).double_masked(value)

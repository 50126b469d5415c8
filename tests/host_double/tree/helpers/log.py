"""The rows that the web page shows. Texts are masked and cut to the host's caps."""

import copy
import json
import threading
import time
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Literal

from helpers.state_monitor_integration import mark_dirty_all, mark_dirty_for_context
from helpers.strings import truncate_text_by_ratio

Type = Literal[
    "agent", "browser", "code_exe", "subagent", "error", "hint", "info", "progress", "response", "tool", "mcp",
    "input", "user", "util", "warning",
]  # fmt: skip
ProgressUpdate = Literal["persistent", "temporary", "none"]

HEADING_MAX_LEN: int = 120
CONTENT_MAX_LEN: int = 15_000
RESPONSE_CONTENT_MAX_LEN: int = 250_000
KEY_MAX_LEN: int = 60
VALUE_MAX_LEN: int = 5000
PROGRESS_MAX_LEN: int = 120


def _cut(text: str, limit: int) -> str:
    return truncate_text_by_ratio(text, limit, "...", ratio=1.0)


def _cut_middle(text: str, limit: int) -> str:
    hidden = f"\n\n<< {len(text) - limit} Characters hidden >>\n\n"
    return truncate_text_by_ratio(text, limit, hidden, ratio=0.3)


def _cut_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {_cut(f"{key}", KEY_MAX_LEN): _cut_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_cut_value(one) for one in value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return value if len(text) <= VALUE_MAX_LEN else _cut_middle(text, VALUE_MAX_LEN)


@dataclass
class LogItem:
    log: "Log"
    no: int
    type: Type
    heading: str = ""
    content: str = ""
    update_progress: ProgressUpdate | None = "persistent"
    kvps: OrderedDict | None = None
    id: str | None = None
    guid: str = ""
    timestamp: float = 0.0
    agentno: int = 0

    def __post_init__(self):
        self.guid, self.timestamp = self.log.guid, self.timestamp or time.time()

    def update(
        self,
        type: Type | None = None,
        heading: str | None = None,
        content: str | None = None,
        kvps: dict | None = None,
        update_progress: ProgressUpdate | None = None,
        **kwargs,
    ):
        if self.guid == self.log.guid:  # a row of a log that was reset since is dead
            given = {"type": type, "heading": heading, "content": content, "kvps": kvps}
            self.log._update_item(self.no, update_progress=update_progress, **given, **kwargs)

    def stream(self, heading: str | None = None, content: str | None = None, **kwargs):
        if heading is not None:
            self.update(heading=f"{self.heading}{heading}")
        if content is not None:
            self.update(content=f"{self.content}{content}")
        for key, value in kwargs.items():
            self.update(**{key: (self.kvps or {}).get(key, "") + value})

    def output(self):
        shown = ("no", "id", "type", "heading", "content", "kvps", "timestamp", "agentno")
        return {name: getattr(self, name) for name in shown}


@dataclass(frozen=True)
class LogOutput:
    items: list[dict[str, Any]]
    start: int
    end: int


class Log:
    def __init__(self):
        self._lock = threading.RLock()
        self.context: Any = None
        self.guid = str(uuid.uuid4())
        self.updates: list[int] = []
        self.logs: list[LogItem] = []
        self.progress, self.progress_no, self.progress_active = "", 0, False
        self.set_initial_progress()

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
        with self._lock:
            speaker = self.context.streaming_agent if self.context else None
            item = LogItem(
                log=self, no=len(self.logs), type=type, agentno=speaker.number if speaker else 0
            )
            self.logs.append(item)
        self._update_item(item.no, type, heading, content, kvps, update_progress, id, **kwargs)
        if self.context:
            mark_dirty_all(reason="log")
        return item

    def _update_item(
        self,
        no: int,
        type: Type | None = None,
        heading: str | None = None,
        content: str | None = None,
        kvps: dict | None = None,
        update_progress: ProgressUpdate | None = None,
        id: str | None = None,
        **kwargs,
    ):
        item = self.logs[no]
        item.id, item.type = (id if id is not None else item.id), (type or item.type)
        item.update_progress = update_progress or item.update_progress
        if heading is not None:
            item.heading = _cut(f"{self._masked(heading)}", HEADING_MAX_LEN)
        if content is not None:
            limit = RESPONSE_CONTENT_MAX_LEN if item.type == "response" else CONTENT_MAX_LEN
            text = f"{self._masked(content)}"
            item.content = text if len(text) <= limit else _cut_middle(text, limit)
        if kvps is not None:
            item.kvps = OrderedDict(_cut_value(self._masked(copy.deepcopy(dict(kvps)))))
        item.kvps = item.kvps if item.kvps is not None else OrderedDict()
        item.kvps.update(self._masked(copy.deepcopy(kwargs)))
        with self._lock:
            self.updates.append(no)
            if item.heading and item.update_progress != "none" and no >= self.progress_no:
                lasting = item.update_progress == "persistent"
                self.progress, self.progress_no, self.progress_active = (
                    item.heading,
                    no if lasting else -1,
                    True,
                )
        if self.context:
            mark_dirty_for_context(self.context.id, reason="log")

    def set_progress(self, progress: str, no: int = 0, active: bool = True):
        with self._lock:
            self.progress = _cut(self._masked(progress), PROGRESS_MAX_LEN)
            self.progress_no, self.progress_active = no or len(self.logs), active

    def set_initial_progress(self):
        self.set_progress("Waiting for input", active=False)

    def output(self, start=None, end=None):
        first, last = start or 0, len(self.updates) if end is None else end
        numbers = dict.fromkeys(self.updates[first:last])
        items = [self.logs[no].output() for no in numbers if no < len(self.logs)]
        return LogOutput(items=items, start=first, end=last)

    def reset(self):
        with self._lock:
            self.guid, self.updates, self.logs = str(uuid.uuid4()), [], []
        self.set_initial_progress()

    def _masked(self, value: Any) -> Any:
        from agent import AgentContext
        from helpers.secrets import get_secrets_manager

        manager = get_secrets_manager(self.context or AgentContext.current())

        def walk(one: Any) -> Any:
            if isinstance(one, str):
                return manager.mask_values(one)
            if isinstance(one, dict):
                return {key: walk(inner) for key, inner in one.items()}
            return [walk(inner) for inner in one] if isinstance(one, list) else one

        return walk(value)

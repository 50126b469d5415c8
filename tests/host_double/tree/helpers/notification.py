"""Toasts and the bell of the web page."""

import threading
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any


class NotificationType(Enum):
    INFO = "info"
    SUCCESS = "success"
    WARNING = "warning"
    ERROR = "error"
    PROGRESS = "progress"


class NotificationPriority(Enum):
    NORMAL = 10
    HIGH = 20


@dataclass
class NotificationItem:
    manager: Any
    no: int
    type: NotificationType
    priority: NotificationPriority
    title: str
    message: str
    detail: str
    timestamp: datetime
    display_time: int = 3
    read: bool = False
    id: str = ""
    group: str = ""

    def __post_init__(self):
        self.id, self.type = self.id or str(uuid.uuid4()), NotificationType(self.type)

    def mark_read(self):
        self.read = True

    def output(self):
        shown = {name: value for name, value in vars(self).items() if name != "manager"}
        plain = {"type": self.type.value, "timestamp": self.timestamp.isoformat()}
        return shown | plain | {"priority": NotificationPriority(self.priority).value}


class NotificationManager:
    def __init__(self, max_notifications: int = 100):
        self._lock = threading.RLock()
        self.guid, self.updates = str(uuid.uuid4()), []
        self.notifications: list[NotificationItem] = []
        self.max_notifications = max_notifications

    @staticmethod
    def send_notification(
        type: NotificationType,
        priority: NotificationPriority,
        message: str,
        title: str = "",
        detail: str = "",
        display_time: int = 3,
        group: str = "",
        id: str = "",
    ) -> NotificationItem:
        from agent import AgentContext

        rest = (title, detail, display_time, group, id)
        return AgentContext.get_notification_manager().add_notification(
            type, priority, message, *rest
        )

    def add_notification(
        self,
        type: NotificationType,
        priority: NotificationPriority,
        message: str,
        title: str = "",
        detail: str = "",
        display_time: int = 3,
        group: str = "",
        id: str = "",
    ) -> NotificationItem:
        """One with a known id replaces it."""
        with self._lock:
            known = next((one for one in self.notifications if id and one.id == id), None)
            item = NotificationItem(
                self, known.no if known else len(self.notifications), NotificationType(type),
                NotificationPriority(priority), title, message, detail, datetime.now(UTC), display_time, id=id,
                group=group if known else "",  # the host forgets the group of a new one
            )  # fmt: skip
            if known:
                self.notifications[known.no] = item
            else:
                self.notifications.append(item)
            self.notifications = self.notifications[-self.max_notifications :]
            self.updates.append(item.no)
            return item

    def output_all(self) -> list[dict]:
        return [item.output() for item in self.notifications]

    def mark_all_read(self):
        for item in self.notifications:
            item.mark_read()

    def clear_all(self):
        self.guid, self.updates, self.notifications = str(uuid.uuid4()), [], []

    def get_notifications_by_type(self, type: NotificationType) -> list[NotificationItem]:
        return [item for item in self.notifications if item.type == type]

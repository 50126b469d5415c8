"""Toasts and the bell of the web page."""

from dataclasses import dataclass
from enum import Enum


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
class _Notification:
    type: str
    priority: int
    message: str
    title: str
    id: str


class NotificationManager:
    def __init__(self, max_notifications: int = 100):
        self.max_notifications = max_notifications
        self.notifications: list[_Notification] = []

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
    ):
        """One with a known id replaces it."""
        from agent import AgentContext

        manager = AgentContext.get_notification_manager()
        kept = [one for one in manager.notifications if not id or one.id != id]
        sent = _Notification(type.value, priority.value, message, title, id)
        manager.notifications = [*kept, sent][-manager.max_notifications :]
        return sent

    def output_all(self) -> list[dict]:
        return [vars(one) for one in self.notifications]

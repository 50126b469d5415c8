"""The person's messages as rows; the host also queues them while a chat is busy."""

from typing import Any


def log_user_message(
    context: Any,
    message: str,
    attachment_paths: list[str],
    message_id: str | None = None,
    source: str = "",
):
    context.log.log(type="user", heading="", content=message, id=message_id)

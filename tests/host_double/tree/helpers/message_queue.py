"""The person's messages: shown as rows, and queued while the chat is busy."""

import os
import uuid
from typing import Any

from helpers import guids

QUEUE_KEY = "message_queue"
QUEUE_SEQ_KEY = "message_queue_seq"
UPLOAD_FOLDER = "/a0/usr/uploads"


def get_queue(context: Any) -> list:
    return context.get_data(QUEUE_KEY) or []


def has_queue(context: Any) -> bool:
    return bool(get_queue(context))


def add(
    context: Any, text: str, attachments: list[str] | None = None, item_id: str | None = None
) -> dict:
    number = (context.get_data(QUEUE_SEQ_KEY) or 0) + 1
    context.set_data(QUEUE_SEQ_KEY, number)
    paths = [
        path if path.startswith("/") else f"{UPLOAD_FOLDER}/{path}" for path in attachments or []
    ]
    item = {"id": item_id or guids.generate_id(), "seq": number, "text": text, "attachments": paths}
    context.set_data(QUEUE_KEY, [*get_queue(context), item])
    return item


def pop_first(context: Any) -> dict | None:
    queue = get_queue(context)
    context.set_data(QUEUE_KEY, queue[1:])
    return queue[0] if queue else None


def log_user_message(
    context: Any,
    message: str,
    attachment_paths: list[str],
    message_id: str | None = None,
    source: str = "",
):
    names = [os.path.basename(path) for path in attachment_paths or []]
    context.log.log(
        type="user", heading="", content=message, kvps={"attachments": names}, id=message_id
    )


def send_message(context: Any, item: dict, source: str = " (from queue)"):
    from agent import UserMessage

    text, paths, row = item.get("text", ""), item.get("attachments", []), str(uuid.uuid4())
    log_user_message(context, text, paths, message_id=row, source=source)
    context.communicate(UserMessage(text, paths, id=row))


def send_next(context: Any) -> bool:
    item = pop_first(context) if has_queue(context) else None
    if item is not None:
        send_message(context, item)
    return item is not None

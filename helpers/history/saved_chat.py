"""Reading a chat that Agent Zero saved. It is never written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .given_file import json_of, text_in
from .transcript import not_a_chat


def load_chat(path: Path) -> dict[str, Any]:
    """The chat in a chat.json. Raises RequestError (bad_value) when it cannot be read, is cut off or is no chat."""
    text = text_in(str(path), "the chat file", "give the path of a chat.json")
    try:
        found = json_of(text)
    except ValueError as error:
        raise not_a_chat(f"{path.name} is not whole JSON ({error})") from error
    if not isinstance(found, dict):
        raise not_a_chat(f"{path.name} holds no object")
    return found

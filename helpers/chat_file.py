"""Reading a chat that Agent Zero saved. It is never written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from usr.plugins.software_orchestrator.helpers.errors import RequestError
from usr.plugins.software_orchestrator.helpers.transcript import not_a_chat


def load_chat(path: Path) -> dict[str, Any]:
    """The chat in a chat.json. Raises RequestError (bad_value) when it cannot be read, is cut off or is no chat."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RequestError(f"the chat file {path} cannot be read: {error.strerror}", "give the path of a chat.json") from error
    except ValueError as error:
        raise not_a_chat(f"{path.name} is not whole JSON ({error})") from error
    if not isinstance(found, dict):
        raise not_a_chat(f"{path.name} holds no object")
    return found

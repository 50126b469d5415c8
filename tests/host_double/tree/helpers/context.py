"""Data that belongs to the running task, not to the process."""

from contextvars import ContextVar
from typing import Any

_held: ContextVar[dict[str, Any] | None] = ContextVar("double_context_data", default=None)


def set_context_data(key: str, value: Any):
    _held.set({**(_held.get() or {}), key: value})


def delete_context_data(key: str):
    _held.set({name: value for name, value in (_held.get() or {}).items() if name != key})


def get_context_data(key: str | None = None, default: Any = None):
    held = _held.get() or {}
    return held if key is None else held.get(key, default)


def clear_context_data():
    _held.set({})

"""Named areas of cached values."""

import fnmatch
import time
from typing import Any

_areas: dict[str, dict[Any, tuple[Any, float]]] = {}
_off: set[str] = set()
_all_off = False


def toggle_global(enabled: bool) -> None:
    global _all_off
    _all_off = not enabled


def toggle_area(area: str, enabled: bool) -> None:
    (_off.discard if enabled else _off.add)(area)


def has(area: str, key: Any) -> bool:
    return _usable(area) and key in _areas.get(area, {})


def add(area: str, key: Any, data: Any) -> None:
    if _usable(area):
        _areas.setdefault(area, {})[key] = (data, time.time())


def get(area: str, key: Any, default: Any = None) -> Any:
    if not has(area, key):
        return default
    value = _areas[area][key][0]
    add(area, key, value)
    return value


def remove(area: str, key: Any) -> None:
    if _usable(area):
        _areas.get(area, {}).pop(key, None)


def clear(area: str) -> None:
    for name in fnmatch.filter(list(_areas), area) if set(area) & set("*?[") else [area]:
        _areas.pop(name, None)


def trim_cache(area: str, seconds: float = 300) -> None:
    oldest = time.time() - seconds
    for name in fnmatch.filter(list(_areas), area):
        _areas[name] = {key: entry for key, entry in _areas[name].items() if entry[1] >= oldest}


def clear_all() -> None:
    _areas.clear()


def determine_cache_key(agent, *additional):
    profile = agent.config.profile if agent else ""
    project = agent.context.get_data("project") if agent else ""
    return (profile or "none", project or "none", *additional)


def _usable(area: str) -> bool:
    return not _all_off and area not in _off

"""Finds the tool request in a model's answer."""

from typing import Any

from helpers.dirty_json import DirtyJson
from helpers.modules import load_classes_from_file, load_classes_from_folder  # noqa: F401 (names of the host)


def json_parse_dirty(json: str) -> dict[str, Any] | None:
    if not isinstance(json, str) or not json:
        return None
    text = extract_json_object_string(json.strip())
    try:
        found = DirtyJson.parse_string(text) if text else None
    except Exception:  # not readable counts as no request, in the host too
        return None
    return found if isinstance(found, dict) else None


def extract_json_root_string(content: str) -> str | None:
    """The first whole object, as soon as its last brace is there; None before, and None when a list comes first."""
    if not isinstance(content, str) or "{" not in content:
        return None
    start = content.index("{")
    if "[" in content[:start]:
        return None
    parser, rest = DirtyJson(), content[start:]
    try:
        parser.parse(rest)
    except Exception:  # as above
        return None
    return rest[: parser.index] if parser.completed else None


def extract_json_object_string(content):
    start, end = content.find("{"), content.rfind("}")
    if start < 0:
        return ""
    return content[start:] if end < 0 else content[start : end + 1]

"""Files that a person names on the command line, as JSON or YAML; whatever is in them, an error is one that says so.

A byte order mark is no part of the text; UTF-16, which some shells write, is understood for JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..values.errors import RequestError


def text_in(file: str, what: str, hint: str) -> str:
    """The text of a file, or of standard input for "-". Raises RequestError naming `what` it was to hold."""
    try:
        found = _standard_input() if file == "-" else Path(file).read_bytes()
        return found.decode(json.detect_encoding(found))
    except OSError as error:
        raise RequestError(f"{what} cannot be read: {error.strerror}: {file}", hint) from error
    except ValueError as error:  # not UTF-8, or a path with NUL
        raise RequestError(f"{what} cannot be read: {error}", hint) from error


def _standard_input() -> bytes:
    """As bytes: what they mean does not depend on the locale."""
    if sys.stdin is None:
        raise RequestError(
            "standard input is closed", "pipe the arguments in, or name a file", "missing"
        )
    return sys.stdin.buffer.read()


def json_of(text: str) -> Any:
    """Raises ValueError, also for what is nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def settings_in(path: Path) -> Mapping[str, Any]:
    """The mapping in a JSON or YAML file. Raises RequestError; of two values for one setting neither is chosen."""
    import yaml

    text = text_in(str(path), "the settings", "give a JSON or YAML mapping")
    try:
        found = yaml.load(text, Loader=_one_value_each(yaml))  # a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise RequestError(
            f"the settings in {path} cannot be read: {why}", "give a JSON or YAML mapping"
        ) from error
    if not isinstance(found, dict):
        raise RequestError(f"the settings in {path} are no mapping", "see default_config.yaml")
    return found


def _one_value_each(yaml: Any) -> Any:
    """A SafeLoader that refuses a key given twice."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys: list[Any] = []
            for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
                if key_node.tag == "tag:yaml.org,2002:merge":
                    continue
                key = self.construct_object(key_node, deep=True)
                if key in keys:
                    raise ValueError(f"{key!r} is given twice, line {key_node.start_mark.line + 1}")
                keys.append(key)
            return super().construct_mapping(node, deep)

    return Loader

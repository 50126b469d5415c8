"""A file of settings that a person names on the command line, as JSON or YAML."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..history.saved_chat import text_in
from ..values import plain_yaml
from ..values.errors import RequestError


def settings_in(path: Path) -> Mapping[str, Any]:
    """The mapping in a JSON or YAML file; of two values for one setting neither is chosen.

    Raises RequestError.
    """
    hint = "give a JSON or YAML mapping"
    text = text_in(str(path), "the settings", hint)
    try:
        settings = plain_yaml.load(text)
    except ValueError as error:
        raise RequestError(f"the settings in {path} cannot be read: {error}", hint) from error
    if not isinstance(settings, dict):
        raise RequestError(f"the settings in {path} are no mapping", "see default_config.yaml")
    return settings

"""A file of settings that a person names on the command line, as JSON or YAML."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from ..history.saved_chat import text_in
from ..values.errors import RequestError


def settings_in(path: Path) -> Mapping[str, Any]:
    """The mapping in a JSON or YAML file; of two values for one setting neither is chosen.

    Raises RequestError.
    """
    import yaml

    hint = "give a JSON or YAML mapping"
    text = text_in(str(path), "the settings", hint)
    try:
        settings = yaml.load(text, Loader=_one_value_each(yaml))  # a SafeLoader
    except RecursionError as error:
        raise RequestError(f"the settings in {path} are nested too deeply", hint) from error
    except (yaml.YAMLError, ValueError) as error:
        raise RequestError(f"the settings in {path} cannot be read: {error}", hint) from error
    if not isinstance(settings, dict):
        raise RequestError(f"the settings in {path} are no mapping", "see default_config.yaml")
    return settings


def _one_value_each(yaml: Any) -> Any:
    """A SafeLoader that refuses a key given twice."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys: set[Hashable] = set()
            for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
                if key_node.tag == "tag:yaml.org,2002:merge":
                    continue
                key = self.construct_object(key_node, deep=True)
                if not isinstance(key, Hashable):
                    continue  # refused by the loader itself
                if key in keys:
                    raise ValueError(f"{key!r} is given twice, line {key_node.start_mark.line + 1}")
                keys.add(key)
            return super().construct_mapping(node, deep)

    return Loader

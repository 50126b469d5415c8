"""YAML that somebody wrote by hand: no aliases, no key twice."""

from __future__ import annotations

from typing import Any

import yaml

from .names import short


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases, which a hostile file can make grow without end, and no key twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="aliases (*name) are not allowed", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[str] = set()
        for name, _ in node.value:
            text = str(name.value)
            if text in seen:
                problem = f'"{short(text)}" is given twice'
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=name.start_mark)
            seen.add(text)
        return super().construct_mapping(node, deep)


def load(text: str) -> Any:
    """What the text holds. Raises ValueError that names line and column where it can."""
    try:
        return yaml.load(text, Loader=_PlainLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "somewhere"
        raise ValueError(f"{where}: {short(str(error.problem))}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ValueError(short(str(error))) from error

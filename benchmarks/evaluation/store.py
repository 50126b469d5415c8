"""What was made so far, one JSON line each, so that a run goes on where it was stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Key = list[Any]


class Store:
    """Results by key. A line that a stop cut short is left out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    row = json.loads(line)
                except ValueError:
                    continue
                self.rows[json.dumps(row["key"])] = row["row"]

    def get(self, key: Key) -> dict[str, Any] | None:
        return self.rows.get(json.dumps(key))

    def put(self, key: Key, row: dict[str, Any]) -> None:
        self.rows[json.dumps(key)] = row
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "row": row}, ensure_ascii=False) + "\n")

    def of(self, kind: str) -> list[tuple[Key, dict[str, Any]]]:
        """All rows whose key begins with `kind`."""
        keyed = [(json.loads(key), row) for key, row in self.rows.items()]
        return [(key, row) for key, row in keyed if key[0] == kind]

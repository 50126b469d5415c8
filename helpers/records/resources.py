"""What ships with the plugin and is read at run time: default settings and the sentences models read."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@lru_cache(maxsize=1)
def default_settings() -> dict[str, Any]:
    """The mapping in `default_config.yaml`; callers do not change it."""
    import yaml

    loaded: dict[str, Any] = yaml.safe_load(default_settings_text())
    return loaded


@lru_cache(maxsize=1)
def default_settings_text() -> str:
    """`default_config.yaml` as it stands, with the comments that explain each setting."""
    return (ROOT / "default_config.yaml").read_text(encoding="utf-8")


@lru_cache(maxsize=32)
def text(name: str) -> str:
    """The text of `prompts/fw.software_orchestrator.<name>.md`, ending in one line feed."""
    path = ROOT / "prompts" / f"fw.software_orchestrator.{name}.md"
    return path.read_text(encoding="utf-8").strip() + "\n"

"""Makes the plugin importable by the name it has inside Agent Zero, and sets how hypothesis runs."""

import importlib.util
import types
from pathlib import Path

from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]


def _load(file: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("execute", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_load(ROOT / "execute.py").make_importable(ROOT)

settings.register_profile(
    "repository",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repository")

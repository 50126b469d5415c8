"""Makes the plugin importable by the name it has inside Agent Zero, and sets how hypothesis runs."""

import sys
import types
from pathlib import Path

from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]


def make_importable(root: Path) -> None:
    """Let `usr.plugins.software_orchestrator.x` import `<root>/x` from a checkout in any folder; again does nothing."""
    parent = None
    for name, path in (("usr", []), ("usr.plugins", []), ("usr.plugins.software_orchestrator", [str(root)])):
        module = sys.modules.get(name)
        if module is None:
            module = sys.modules[name] = types.ModuleType(name)
            module.__path__ = path
        if parent is not None:
            setattr(parent, name.rpartition(".")[2], module)
        parent = module


make_importable(ROOT)

settings.register_profile(
    "repository",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repository")

"""Makes the plugin importable by the name it has inside Agent Zero, and sets how hypothesis runs."""

import importlib.util
import os
import tempfile
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


def _keys_of_their_own() -> None:
    """Tests sign with keys of a folder that goes away; a key of this checkout's own stays."""
    from usr.plugins.software_orchestrator.helpers.records.key import installation_key

    if (ROOT / "data").exists():
        installation_key(ROOT)  # moved to where it belongs, not into the tests' folder
    os.environ["XDG_STATE_HOME"] = _STATE.name


_STATE = tempfile.TemporaryDirectory(prefix="software-orchestrator-state-")
_keys_of_their_own()

settings.register_profile(
    "repository",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repository")

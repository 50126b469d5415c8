"""Makes `host_double` importable, and starts hosts for tests."""

import sys
import types
from pathlib import Path

import pytest

DOUBLE = Path(__file__).resolve().parents[1] / "host_double"

if "host_double" not in sys.modules:
    sys.modules["host_double"] = types.ModuleType("host_double")
    sys.modules["host_double"].__path__ = [str(DOUBLE)]

from host_double.assemble import NATIVE, SHAPES, assemble  # noqa: E402 (importable from here on)


@pytest.fixture
def host_tree(tmp_path):
    """A linear host with the plugin, not started."""
    return assemble(tmp_path / "a0")


@pytest.fixture
def host(host_tree):
    """A linear host with the plugin, started."""
    with host_tree.enter() as entered:
        yield entered


@pytest.fixture
def children(tmp_path):
    """A 2.x host, where every subordinate has a chat of its own, with the plugin, started."""
    with assemble(tmp_path / "a0", shape="children").enter() as entered:
        yield entered


@pytest.fixture
def native_host(tmp_path):
    """A linear host whose models are offered functions, with the plugin, started."""
    with assemble(tmp_path / "a0", shape=NATIVE).enter() as entered:
        yield entered


@pytest.fixture(params=SHAPES)
def any_tree(request, tmp_path):
    """Both shapes of the host with the plugin, not started."""
    return assemble(tmp_path / "a0", shape=request.param)


@pytest.fixture
def any_host(any_tree):
    """Both shapes of the host with the plugin, started."""
    with any_tree.enter() as entered:
        yield entered

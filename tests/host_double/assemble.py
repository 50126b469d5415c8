"""A small stand-in for Agent Zero that tests assemble in a temporary folder, and how to use it.

    from host_double.assemble import assemble, call, respond

    def test_something(tmp_path):
        tree = assemble(tmp_path / "a0", shape="linear")      # or "children": the 2.x host, or "native": function calls
        with tree.enter() as host:                            # `import helpers` is the host's from here on
            folder = host.project("shop")
            host.script({
                "agent0": [call("handover_to_specialist", specialist_profile="hacker", topic="Hero"), respond("done")],
                "hacker": [lambda: host.interrupt("make it blue"), respond("blue now")],
            })
            assert host.say("Please build the hero") == "done"
            assert host.tool_results("handover_to_specialist")
        with tree.enter() as host:                            # a restart: only the disk is left
            host.load_chats()
            ...

The fixtures `host` (linear, started), `host_tree` (linear, not started), `any_host` and `any_tree` (both shapes) in
`tests/host/conftest.py` do the first lines. Methods of `HostTree` (here) and `Host` (`tree/double_driver.py`) say what
a test can do.

What it is: names, signatures, order of events and odd behaviours of agent0ai/agent-zero, as far as the plugin meets
them. `tests/host/test_double.py` says which, `tests/host/test_real_host.py` compares with a real checkout. Our own code
throughout. What it is not: of MCP the names alone, no images, no attachments; a model's answer comes in one piece and is plain JSON;
history is never compressed; the retry after an error does not wait; the 2.x shape has 2.x's subordinates, requests,
nudges and profiles. The native shape is the linear one that offers functions; its model still answers with JSON.
Names that begin with `double_` and `helpers/shape.py` do not exist in the host: only tests may use them.

A script is strict: an agent that asks and has no answer left fails the test at once, and so does an `assert` in a
scripted function. The same answer twice in a row is refused by the host, so vary the texts.
"""

import atexit
import compileall
import importlib
import importlib.machinery
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from host_double.tree.double_script import call, respond

__all__ = ["SHAPES", "HostTree", "assemble", "call", "respond"]

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
PLUGIN = "software_orchestrator"
SHAPES = ("linear", "children")  # those in which the loop is tried
NATIVE = "native"

HOST_NAMES = frozenset(
    {
        "agent", "initialize", "models", "helpers", "tools", "extensions", "plugins", "usr", "api", "prompts",
        "double_driver", "double_script",
    }
)  # fmt: skip
NOT_INSTALLED = shutil.ignore_patterns(
    ".*", "tests", "docs", "benchmarks", "__pycache__", "build", "data", "webui"
)
# Holds no state but the vocabulary it counts with, which takes half a second to load.
KEPT_MODULE = f"usr.plugins.{PLUGIN}.helpers.text.tokens"
_kept: dict[str, ModuleType] = {}


def assemble(target: Path, shape: str = "linear", plugin: bool = True) -> "HostTree":
    """Make a host in `target`, which must not exist, with or without our plugin installed."""
    known = (*SHAPES, NATIVE)
    if shape not in known:
        raise ValueError(f"shape is one of {', '.join(known)}, not {shape!r}")
    return _copied(_master(shape, plugin), Path(target))


def _copied(source: Path, target: Path) -> "HostTree":
    """Copies what is below `usr`, and links the host's own files, which nothing changes (`HostTree.write` replaces)."""

    def take(one: str, other: str) -> str:
        if Path(one).relative_to(source).parts[0] == "usr":
            return shutil.copy2(one, other)
        os.link(one, other)
        return other

    shutil.copytree(source, target, symlinks=True, copy_function=take)
    return HostTree(target.resolve())


@cache
def _master(shape: str, plugin: bool) -> Path:
    """A compiled tree to copy from, made once in a process."""
    top = Path(tempfile.mkdtemp(prefix="host-double-"))
    atexit.register(shutil.rmtree, top, ignore_errors=True)
    root = top / "a0"
    for source in (HERE / "tree", HERE / "shapes" / shape):
        if source.exists():  # the linear shape has no overlay
            shutil.copytree(source, root, dirs_exist_ok=True)
    if plugin:
        shutil.copytree(REPOSITORY, root / "usr/plugins" / PLUGIN, ignore=NOT_INSTALLED)
    compileall.compile_dir(root, quiet=2)
    return root


@dataclass(frozen=True)
class HostTree:
    """A host's folder. Values on the disk only; `enter()` starts it."""

    root: Path

    @property
    def plugin(self) -> Path:
        return self.root / "usr/plugins" / PLUGIN

    def write(self, path: str, text: str) -> Path:
        """Write a file below the root, its folders included."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.write_text(text, "utf-8")
        return file

    def add_profile(self, name: str) -> None:
        """An agent profile of the user."""
        folder = f"usr/agents/{name}"
        self.write(f"{folder}/agent.yaml", f"title: {name}\n")
        self.write(f"{folder}/prompts/agent.system.main.specifics.md", f"You are {name}.")

    def add_plugin(self, name: str, files: dict[str, str]) -> None:
        """Another plugin."""
        for path, text in ({"plugin.yaml": f"name: {name}\n"} | files).items():
            self.write(f"usr/plugins/{name}/{path}", text)

    def snapshot(self, target: Path) -> "HostTree":
        """Copy the disk as it is now: what is left when the process is killed here."""
        return _copied(self.root, Path(target))

    @contextmanager
    def enter(self, without: tuple[str, ...] = ()) -> Iterator[Any]:
        """Start the host in this process: a `Host`. On leaving, its tasks, threads and modules are gone.

        `without` names packages that this host's Python lacks, such as "slugify".
        """
        with _only_this_host(self.root, frozenset(without)):
            host = importlib.import_module("double_driver").Host(self.root)
            try:
                yield host
            finally:
                host.close()

    def run(self, code: str) -> str:
        """Run code in a process of its own, started in the host's folder, with `host` there; returns what it printed."""
        start = f"from double_driver import Host\nhost = Host({str(self.root)!r})"
        env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        done = subprocess.run(
            [sys.executable, "-c", f"{start}\n{code}\nhost.close()\n"],
            cwd=self.root, env=env, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout


class _HostFinder:
    """Finds the host's top-level names in one tree only, before every other finder, and folders as single folders.

    Without it a namespace package `helpers` would be put together from every `helpers` folder on `sys.path`: the
    host's, and the plugin's where the repository is on the path.
    """

    def __init__(self, root: Path, without: frozenset[str]):
        self.root, self.without = root, without

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        first, _, rest = name.partition(".")
        if first in self.without:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if first not in HOST_NAMES:
            return None
        folders = [str(one) for one in path] if rest and path else [str(self.root)]
        spec = importlib.machinery.PathFinder.find_spec(name, folders)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {name!r} in the host's folder", name=name)
        if spec.origin is None and spec.submodule_search_locations is not None:
            single = importlib.machinery.ModuleSpec(name, None, is_package=True)
            single.submodule_search_locations = list(spec.submodule_search_locations)
            return single
        return spec


@contextmanager
def _only_this_host(root: Path, without: frozenset[str]) -> Iterator[None]:
    """Put this tree's modules in place of everything of the same top-level names, and put those back afterwards."""

    def ours() -> dict[str, Any]:
        names = HOST_NAMES | without
        return {
            name: module for name, module in sys.modules.items() if name.partition(".")[0] in names
        }

    before, finder = ours(), _HostFinder(root, without)
    for name in before:
        del sys.modules[name]
    if not without:
        sys.modules.update(_kept)
    sys.meta_path.insert(0, finder)
    sys.path.insert(0, str(root))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        if not without and KEPT_MODULE in sys.modules:
            _kept[KEPT_MODULE] = sys.modules[KEPT_MODULE]
        for name in ours():
            del sys.modules[name]
        sys.modules.update(before)
        sys.meta_path.remove(finder)
        sys.path.remove(str(root))

"""A small stand-in for Agent Zero that tests assemble in a temporary folder, and how to use it.

    from host_double.assemble import assemble, call, respond

    def test_something(tmp_path):
        tree = assemble(tmp_path / "a0", shape="linear")          # or "children": the 2.x host
        with tree.enter() as host:                                # `import helpers` is the host's from here on
            folder = host.project("shop")
            host.script({
                "agent0": [call("handover_to_specialist", specialist_profile="frontend_designer", topic="Hero"),
                           respond("done")],
                "frontend_designer": [lambda: host.interrupt("make it blue"), respond("blue now")],
            })
            assert host.say("Please build the hero") == "done"
            assert host.tool_results("handover_to_specialist")
        with tree.enter() as host:                                # a restart: only the disk is left
            host.load_chats()
            ...

The fixtures `host_tree` (linear, not started), `host` (linear, started), `any_tree` and `any_host` (both shapes) in
`tests/host/conftest.py` do the first lines.

What a test gets
- `tree.root`, `tree.plugin` (the copied plugin), `tree.write("agents/x/agent.yaml", text)`, `tree.read(...)`,
  `tree.add_plugin("probe", {"tools/probe.py": source})`, `tree.add_profile(name)`, `tree.snapshot(path)`: a second tree
  with the same disk, which is what a kill at this moment would leave; `tree.run(code)`: the code in its own process;
  `tree.enter(without=("slugify",))`: a host whose Python lacks a package.
- `host.script`, `say`, `interrupt`, `cancel`, `nudge`, `reset`, `remove`, `save_settings`: the model and the person.
- `host.tool("name", **args)` runs one tool without a model, `host.tool("name", agent, **args)` for another agent.
- `host.at("tool_execute_after", run, tool_name="x", times=1)` calls `run(agent, **kwargs)` at any extension point,
  before the extensions there; `host.trace()` lists the points as they are reached.
- `host.messages`, `contents`, `tool_results`, `warnings`, `rows`, `saved`, `system_prompt`, `notifications`: looking.
- `host.swallowed`: what the host hides, such as a tool that does not import. Look at it when "there is no tool".
- `host.run(coroutine)` on its loop, `host.api("handler", {...})`, `host.hook("install")`, `host.forget_caches()`.

What it is: names, signatures, order of events and odd behaviours of agent0ai/agent-zero. `tests/host/test_double.py`
says which, `tests/host/test_real_host.py` compares with a real checkout. Our own code throughout. What it is not: no
MCP, no images sent to a model, token counts are estimates, the retry after an error does not wait, a model's answer
comes in one piece, history is compressed only when it is over its limit, and the 2.x shape has 2.x's subordinates,
requests, nudges and profiles, but not its native function calls. Names that begin with `double_` and
`helpers/shape.py` do not exist in the host: only tests may use them.

A script is strict: an agent that asks and has no answer left fails the test at once, and so does an `assert` in a
scripted function. The same answer twice in a row is refused by the host, so vary the texts.
"""

import atexit
import compileall
import importlib
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host_double.tree.double_answers import call, respond

__all__ = ["SHAPES", "HostTree", "assemble", "call", "respond"]

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
PLUGIN = "software_orchestrator"
SHAPES = ("linear", "children")

HOST_NAMES = frozenset(
    {
        "agent",
        "initialize",
        "models",
        "helpers",
        "tools",
        "extensions",
        "plugins",
        "usr",
        "api",
        "prompts",
    }
    | {"double_answers", "double_driver", "double_script"}
)
NOT_INSTALLED = shutil.ignore_patterns(
    ".*",
    "tests",
    "docs",
    "benchmarks",
    "node_modules",
    "__pycache__",
    "*.egg-info",
    "dist",
    "build",
)
_masters: dict[tuple[Any, ...], Path] = {}


def assemble(
    target: Path, shape: str = "linear", plugin_root: Path | None = REPOSITORY
) -> "HostTree":
    """Make a host in `target`, which must not exist, with the plugin's files installed (None: without the plugin)."""
    if shape not in SHAPES:
        raise ValueError(f"shape is one of {', '.join(SHAPES)}, not {shape!r}")
    return _copied(_master(shape, plugin_root), Path(target))


def _copied(source: Path, target: Path) -> "HostTree":
    """Copies what is below `usr`, and links the host's own files, which nothing changes (`HostTree.write` replaces)."""

    def take(one: str, other: str) -> str:
        if Path(one).relative_to(source).parts[0] == "usr":
            return shutil.copy2(one, other)
        try:
            os.link(one, other)
        except OSError:  # another file system, or one without hard links
            shutil.copy2(one, other)
        return other

    shutil.copytree(source, target, symlinks=True, copy_function=take)
    return HostTree(target.resolve())


def _master(shape: str, plugin_root: Path | None) -> Path:
    """A compiled tree to copy from, made once for each state of the sources."""
    sources = [HERE / "tree", HERE / "shapes" / shape, *([plugin_root] if plugin_root else [])]
    key = (shape, plugin_root, *(_state(source) for source in sources))
    if key not in _masters:
        top = Path(tempfile.mkdtemp(prefix="host-double-"))
        atexit.register(shutil.rmtree, top, ignore_errors=True)
        root = top / "a0"
        for source in sources[:2]:
            if source.exists():  # the linear shape has no overlay
                shutil.copytree(
                    source, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
                )
        if plugin_root:
            shutil.copytree(plugin_root, root / "usr/plugins" / PLUGIN, ignore=NOT_INSTALLED)
        compileall.compile_dir(root, quiet=2)
        _masters[key] = root
    return _masters[key]


def _state(source: Path) -> tuple[Any, ...]:
    """Names, sizes and times of what would be copied."""
    found = []
    for folder, folders, names in os.walk(source):
        unwanted = NOT_INSTALLED(folder, [*folders, *names])
        folders[:] = [name for name in folders if name not in unwanted]
        for name in sorted(set(names) - unwanted):
            stat = (Path(folder) / name).lstat()
            found.append((str(Path(folder) / name), stat.st_size, stat.st_mtime_ns))
    return tuple(found)


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

    def read(self, path: str) -> str:
        return (self.root / path).read_text("utf-8")

    def add_profile(self, name: str, title: str = "", specifics: str = "") -> None:
        """An agent profile of the user."""
        self.write(
            f"usr/agents/{name}/agent.yaml",
            f"title: {title or name}\ndescription: ''\ncontext: ''\n",
        )
        self.write(
            f"usr/agents/{name}/prompts/agent.system.main.specifics.md",
            specifics or f"You are {name}.",
        )

    def add_plugin(self, name: str, files: dict[str, str]) -> Path:
        """Another plugin, with a minimal plugin.yaml when `files` has none."""
        folder = f"usr/plugins/{name}"
        for path, text in ({"plugin.yaml": f"name: {name}\ntitle: {name}\n"} | files).items():
            self.write(f"{folder}/{path}", text)
        return self.root / folder

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

    def run(
        self,
        code: str,
        timeout_s: float = 60,
        env: dict[str, str] | None = None,
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run code in a process of its own, started in the host's folder, with `host`, `call` and `respond` there."""
        given = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("PYTHON", "COV_"))
        }
        start = f"from double_answers import call, respond\nfrom double_driver import Host\nhost = Host({str(self.root)!r})"
        source = f"{start}\n{code}\nhost.close()\n"
        done = subprocess.run(
            [sys.executable, "-c", source],
            cwd=self.root,
            env=given | (env or {}),
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done


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
        return {
            name: module
            for name, module in sys.modules.items()
            if name.partition(".")[0] in HOST_NAMES | without
        }

    kept, finder = ours(), _HostFinder(root, without)
    for name in kept:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)
    sys.path.insert(0, str(root))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        for name in ours():
            del sys.modules[name]
        sys.modules.update(kept)
        sys.meta_path.remove(finder)
        sys.path.remove(str(root))

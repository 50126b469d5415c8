"""The layers of docs/architecture.md, read from its table and checked against every import in the code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = "usr.plugins.software_orchestrator"

# What a layer may import beside itself. Records may use the pure rules; not the other way.
MAY_IMPORT = {
    "values": set(),
    "rules": {"values"},
    "records": {"values", "rules"},
    "flow": {"values", "rules", "records"},
    "edge": {"values", "rules", "records", "flow"},
}
PURE = ("values", "rules")
EFFECTS = {
    "asyncio", "filelock", "io", "logging", "os", "random", "secrets", "shutil", "socket", "subprocess", "tempfile",
    "threading", "time", "urllib",
}  # fmt: skip
EFFECTFUL_CALLS = {
    "input", "now", "open", "print", "read_bytes", "read_text", "today", "utcnow", "write_bytes", "write_text",
}  # fmt: skip

# Files that Agent Zero loads by their path; these and host.py are the edge that may import it.
HOST_LOADED = ("tools", "extensions", "api", "prompts", "hooks.py")
HOST_MODULES = {
    "agent",
    "api",
    "extensions",
    "helpers",
    "initialize",
    "models",
    "plugins",
    "python",
    "run_ui",
    "tools",
}


def layers() -> dict[str, str]:
    """Module name -> layer, from the table in docs/architecture.md."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (.*?) \|", page, re.MULTILINE)
    return {
        module: layer
        for layer, cell in rows
        if layer in MAY_IMPORT
        for module in re.findall(r"`(\w+)`", cell)
    }


def core() -> list[Path]:
    return sorted((ROOT / "helpers").glob("*.py"))


def host_loaded() -> list[Path]:
    return sorted(file for name in HOST_LOADED for file in python_files(ROOT / name))


def python_files(path: Path) -> list[Path]:
    return [path] if path.is_file() else list(path.rglob("*.py"))


def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def imported(tree: ast.AST) -> Iterator[str]:
    """Dotted names of all imports, wherever they hide: in functions, under TYPE_CHECKING, in import_module calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif (
            isinstance(node, ast.Call)
            and called(node) in {"import_module", "__import__"}
            and node.args
        ):
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield name.value


def called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def own(names: Iterator[str]) -> set[str]:
    """Modules of helpers/ among dotted names."""
    prefix = f"{OURS}.helpers."
    return {
        name.removeprefix(prefix).partition(".")[0] for name in names if name.startswith(prefix)
    }


def of_host(names: Iterator[str]) -> set[str]:
    return {name for name in names if name.partition(".")[0] in HOST_MODULES}


def named(files: list[Path]) -> object:
    return pytest.mark.parametrize(
        "file", files, ids=[str(file.relative_to(ROOT)) for file in files]
    )


def test_every_module_of_helpers_stands_in_the_table_of_layers():
    without = {file.stem for file in core()} - set(layers())
    assert not without, "give these a layer in docs/architecture.md"


@named(core())
def test_imports_point_inward_only(file):
    table = layers()
    layer = table[file.stem]
    allowed = {layer} | MAY_IMPORT[layer]
    outward = {module for module in own(imported(parse(file))) if table[module] not in allowed}
    assert not outward, f"{file.stem} ({layer}) may not import {outward}"


@named(core())
def test_only_the_edge_imports_agent_zero(file):
    assert layers()[file.stem] == "edge" or not of_host(imported(parse(file)))


@named(core())
def test_the_core_imports_nothing_from_outside_helpers(file):
    inside = tuple(f"{OURS}.{part}" for part in ("tools", "extensions", "api", "hooks", "execute"))
    assert not [name for name in imported(parse(file)) if name.startswith(inside)]


@named([file for file in core() if layers().get(file.stem) in PURE])
def test_values_and_rules_touch_no_disk_clock_or_log(file):
    tree = parse(file)
    calls = {called(node) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert not {name for name in imported(tree) if name.partition(".")[0] in EFFECTS}
    assert not calls & EFFECTFUL_CALLS


@named([*core(), *host_loaded(), *python_files(ROOT / "execute.py")])
def test_our_modules_are_imported_by_their_full_name(file):
    relative = [name for name in imported(parse(file)) if name.startswith(".")]
    short = [
        name for name in imported(parse(file)) if name.startswith("plugins.software_orchestrator")
    ]
    assert not relative + short


def test_helpers_is_a_namespace_package():
    assert not (ROOT / "helpers/__init__.py").exists()


@named(host_loaded())
def test_a_file_that_the_host_loads_by_path_joins_no_dataclass_with_postponed_annotations(file):
    names = set(imported(parse(file)))
    assert not (
        {"__future__.annotations"} & names and any(name.startswith("dataclasses") for name in names)
    )

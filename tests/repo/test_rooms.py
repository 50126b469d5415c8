"""The rooms of helpers/: import-linter's contracts (pyproject.toml), and what an import alone does not show."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HELPERS = ROOT / "helpers"
PACKAGE = "usr/plugins/software_orchestrator"

PURE = ("arguments", "chain", "text", "values")
EFFECTS = {
    "input", "open", "print", ".now", ".read_bytes", ".read_text", ".today", ".utcnow", ".write_bytes", ".write_text",
}  # fmt: skip
MAY_CALL = {"text/tokens.py": {".read_bytes"}}  # the vocabulary is a file

# Agent Zero loads these by their path, afresh on every call.
HOST_LOADED = sorted(
    file
    for pattern in ("tools/*.py", "extensions/**/*.py", "api/*.py", "prompts/*.py", "hooks.py")
    for file in ROOT.glob(pattern)
)
ALL_HELPERS = sorted(HELPERS.rglob("*.py"))


def lint_imports(helpers, folder):
    """Run import-linter on that copy of helpers/, under the name that the plugin is imported by."""
    package = folder / PACKAGE
    package.mkdir(parents=True)
    (package / "helpers").symlink_to(helpers, target_is_directory=True)
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def tree(file):
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def imports(file):
    """Dotted names of a file's imports, with the dots of relative ones."""
    names = []
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names += [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
    return names


def called(file):
    """What a file calls: names of functions, and of methods with a dot."""
    names = set()
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            names.add(node.func.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            names.add(f".{node.func.attr}")
    return names


def test_every_import_of_every_room_points_down(tmp_path):
    result = lint_imports(HELPERS, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("room", "line", "contract"),
    [
        ("values", "from ..flow import prepare", "Rooms import downwards only"),
        ("views", "def late():\n    from ..history import log", "Rooms import downwards only"),
        ("attic", "", "Rooms import downwards only"),
        ("cli", "import helpers.files", "Only host/ knows Agent Zero"),
        ("chain", "from time import sleep", "touch no disk, clock or log"),
    ],
)
def test_an_import_that_does_not_is_seen(tmp_path, room, line, contract):
    copy = tmp_path / "helpers"
    shutil.copytree(HELPERS, copy)
    (copy / room).mkdir(exist_ok=True)
    (copy / room / "wrong.py").write_text(f"{line}\n", encoding="utf-8")
    result = lint_imports(copy, tmp_path)
    assert result.returncode == 1
    told = " ".join(result.stdout.split())
    assert contract in told.partition("Broken contracts")[2]


def test_helpers_import_each_other_relatively_and_nothing_else_of_the_plugin():
    names = {(name, file.name) for file in ALL_HELPERS for name in imports(file)}
    assert ALL_HELPERS
    assert not [one for one in names if one[0].startswith(("usr.", "..."))]


def test_values_text_chain_and_arguments_read_no_file_and_no_clock():
    effects = {}
    for room in PURE:
        for file in sorted((HELPERS / room).glob("*.py")):
            effects[f"{room}/{file.name}"] = called(file) & EFFECTS
    assert {name: calls for name, calls in effects.items() if calls} == MAY_CALL


def test_helpers_are_namespace_packages():
    """The host purges and reloads them as such."""
    assert not list(HELPERS.rglob("__init__.py"))


def test_files_that_the_host_loads_by_path_import_by_full_names():
    assert HOST_LOADED
    for file in HOST_LOADED:
        names = imports(file)
        assert not [name for name in names if name.startswith((".", "plugins."))], file


def test_files_that_the_host_loads_by_path_join_no_dataclass_with_postponed_annotations():
    """They are in no `sys.modules`, where a dataclass looks its annotations up."""
    for file in HOST_LOADED:
        names = set(imports(file))
        assert not {"__future__.annotations", "dataclasses.dataclass"} <= names, file

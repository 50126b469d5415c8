"""Loads files by path: nothing gets into `sys.modules`, each call runs the file again."""

import importlib.util
import inspect
import os
import sys
from fnmatch import fnmatch
from types import ModuleType
from typing import Any

from helpers.files import get_abs_path


def import_module(file_path: str) -> ModuleType:
    path = get_abs_path(file_path)
    spec = importlib.util.spec_from_file_location(os.path.basename(path).replace(".py", ""), path)
    if spec is None or spec.loader is None:
        raise ImportError(f"no loader for {path}")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def load_classes_from_folder(
    folder: str, name_pattern: str, base_class: type[Any], one_per_file: bool = True
):
    root = get_abs_path(folder)
    names = sorted(
        name for name in os.listdir(root) if name.endswith(".py") and fnmatch(name, name_pattern)
    )
    return [
        cls
        for name in names
        for cls in load_classes_from_file(os.path.join(root, name), base_class, one_per_file)
    ]


def load_classes_from_file(file: str, base_class: type[Any], one_per_file: bool = True):
    """Subclasses of `base_class` visible in the file, imported ones too, from the end of the alphabet."""
    members = inspect.getmembers(import_module(file), inspect.isclass)
    found = [
        cls for _, cls in reversed(members) if issubclass(cls, base_class) and cls is not base_class
    ]
    return found[:1] if one_per_file else found


def purge_namespace(namespace: str):
    gone = [name for name in sys.modules if f"{name}.".startswith(f"{namespace}.")]
    gone.sort(key=lambda name: -name.count("."))
    for name in gone:
        sys.modules.pop(name)
    importlib.invalidate_caches()
    return gone

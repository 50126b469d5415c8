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
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def load_classes_from_folder(
    folder: str, name_pattern: str, base_class: type[Any], one_per_file: bool = True
):
    found = []
    for name in sorted(os.listdir(get_abs_path(folder))):
        if name.endswith(".py") and fnmatch(name, name_pattern):
            path = os.path.join(folder, name)
            found += load_classes_from_file(path, base_class, one_per_file)
    return found


def load_classes_from_file(file: str, base_class: type[Any], one_per_file: bool = True):
    """Subclasses of `base_class` visible in the file, imported ones too, last name first."""
    members = inspect.getmembers(import_module(file), inspect.isclass)
    classes = [cls for _, cls in reversed(members) if issubclass(cls, base_class)]
    found = [cls for cls in classes if cls is not base_class]
    return found[:1] if one_per_file else found


def purge_namespace(namespace: str):
    gone = [name for name in sys.modules if f"{name}.".startswith(f"{namespace}.")]
    for name in gone:
        del sys.modules[name]
    importlib.invalidate_caches()
    return gone

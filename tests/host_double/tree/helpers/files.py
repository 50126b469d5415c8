"""Paths, and prompt files with their placeholders."""

import json
import os
import re
import shutil
from abc import ABC, abstractmethod
from typing import Any

USER_DIR = "usr"
AGENTS_DIR = "agents"
PLUGINS_DIR = "plugins"
_root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class VariablesPlugin(ABC):
    """In a `.py` beside a prompt `.md`: gives the values of its placeholders, at each reading."""

    @abstractmethod
    def get_variables(
        self, file: str, backup_dirs: list[str] | None = None, **kwargs
    ) -> dict[str, Any]:
        raise NotImplementedError


def load_plugin_variables(
    file: str, backup_dirs: list[str] | None = None, **kwargs
) -> dict[str, Any]:
    from helpers import modules

    try:
        path = find_file_in_dirs(os.path.basename(file)[:-3] + ".py", backup_dirs or [])
    except FileNotFoundError:
        return {}
    (cls,) = modules.load_classes_from_file(path, VariablesPlugin)
    return cls().get_variables(file, backup_dirs or [], **kwargs)


def parse_file(_filename: str, _directories: list[str] | None = None, _encoding="utf-8", **kwargs):
    """A prompt as an object when it is one fenced JSON, else as text.

    Values are put in one after the other over the whole text, in JSON too: a later name is
    replaced inside an earlier value.
    """
    raw = read_file(find_file_in_dirs(_filename, _directories or []), _encoding)
    fenced = re.fullmatch(r"(```|~~~)json\n(.*?)\n\1", raw.strip(), re.S)
    if not fenced:
        return read_prompt_file(_filename, _directories, _encoding, **kwargs)
    return json.loads(_filled(fenced[2], json.dumps, kwargs))


def read_prompt_file(
    _file: str, _directories: list[str] | None = None, _encoding="utf-8", **kwargs
):
    """A prompt as text: values first, then includes, which are so looked for in values too."""
    folders = [os.path.dirname(_file), *(_directories or [])]
    _file = os.path.basename(_file)
    values = load_plugin_variables(_file, folders, **kwargs) | kwargs
    text = _filled(read_file(find_file_in_dirs(_file, folders), _encoding), str, values)

    def included(match: re.Match) -> str:
        try:
            return read_prompt_file(match[1], folders, _encoding, **kwargs)
        except FileNotFoundError:
            return match[0]

    return re.sub(r"\{\{\s*include\s*['\"](.*?)['\"]\s*\}\}", included, text)


def _filled(text: str, written: Any, values: dict[str, Any]) -> str:
    for name, value in values.items():
        mark = "{{" + name + "}}"
        text = text.replace(mark, written(value)) if mark in text else text
    return text


def find_file_in_dirs(_filename: str, _directories: list[str]):
    for folder in _directories:
        path = get_abs_path(folder, _filename)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"{_filename} is in none of {len(_directories)} folders")


def read_file(relative_path: str, encoding="utf-8"):
    with open(get_abs_path(relative_path), encoding=encoding) as stream:
        return stream.read()


def write_file(relative_path: str, content: str, encoding: str = "utf-8"):
    """Lone surrogates become "?"."""
    path = get_abs_path(relative_path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding=encoding, errors="replace") as stream:
        stream.write(content)


def delete_dir(relative_path: str):
    shutil.rmtree(get_abs_path(relative_path), ignore_errors=True)


def exists(*relative_paths):
    return os.path.exists(get_abs_path(*relative_paths))


def get_abs_path(*relative_paths):
    """An absolute path stays; the others are below the host's root."""
    return os.path.join(_root, *relative_paths)


def fix_dev_path(path: str):
    """`/a0/x` is below the root when the host does not run in its container."""
    return get_abs_path(path[len("/a0/") :]) if path.startswith("/a0/") else get_abs_path(path)


def normalize_a0_path(path: str):
    inside = path.startswith(_root + os.sep)
    return "/a0/" + os.path.relpath(path, _root) if inside else path

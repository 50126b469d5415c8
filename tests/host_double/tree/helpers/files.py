"""Paths, prompt files and their placeholders."""

import base64
import glob
import json
import mimetypes
import os
import re
import shutil
from abc import ABC, abstractmethod
from fnmatch import fnmatch
from typing import Any, Literal

from helpers import yaml

AGENTS_DIR = "agents"
PLUGINS_DIR = "plugins"
PROJECTS_DIR = "projects"
EXTENSIONS_DIR = "extensions"
USER_DIR = "usr"
TEMP_DIR = "tmp"
API_DIR = "api"
_root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class VariablesPlugin(ABC):
    """In a `.py` beside a prompt `.md`: gives the values of its placeholders, each time it is read."""

    @abstractmethod
    def get_variables(
        self, file: str, backup_dirs: list[str] | None = None, **kwargs
    ) -> dict[str, Any]:
        raise NotImplementedError


def load_plugin_variables(
    file: str, backup_dirs: list[str] | None = None, **kwargs
) -> dict[str, Any]:
    from helpers import modules

    if not file.endswith(".md"):
        return {}
    folders = [dirname(file), *(backup_dirs or [])]
    try:
        path = find_file_in_dirs(basename(file, ".md") + ".py", folders)
    except FileNotFoundError:
        return {}
    for cls in modules.load_classes_from_file(path, VariablesPlugin, one_per_file=False):
        return cls().get_variables(file, backup_dirs or [], **kwargs)
    return {}


def parse_file(_filename: str, _directories: list[str] | None = None, _encoding="utf-8", **kwargs):
    """A prompt as an object when it is one fenced JSON, else as text."""
    folders = _directories or []
    path = find_file_in_dirs(_filename, folders)
    raw = read_file(path, _encoding)
    values = (load_plugin_variables(path, folders, **kwargs) or {}) | kwargs
    body = remove_code_fences(raw)
    if is_full_json_template(raw):
        return json.loads(replace_placeholders_json(body, **values))
    return process_includes(replace_placeholders_text(body, **values), folders, **kwargs)


def read_prompt_file(
    _file: str, _directories: list[str] | None = None, _encoding="utf-8", **kwargs
):
    """A prompt as text: conditions, then values, then includes, so that values are searched for includes too."""
    folders = _directories or []
    if os.path.dirname(_file):
        folders, _file = [os.path.dirname(_file), *folders], os.path.basename(_file)
    path = find_file_in_dirs(_file, folders)
    values = (load_plugin_variables(_file, folders, **kwargs) or {}) | kwargs
    text = evaluate_text_conditions(read_file(path, _encoding), **values)
    text = replace_placeholders_text(text, **values)
    return process_includes(
        text, folders, _source_file=_file, _source_dir=os.path.dirname(path), **kwargs
    )


def evaluate_text_conditions(_content: str, **kwargs):
    """`{{if name}} ... {{endif}}`, nested. The double knows names, `not`, `and`, `or` and `==`, the host more."""
    opening = re.search(r"\{\{\s*if\s+(.*?)\}\}", _content, re.S)
    if opening is None:
        return _content
    depth = 1
    for mark in re.finditer(r"\{\{\s*(?:(if)\b.*?|endif)\s*\}\}", _content[opening.end() :], re.S):
        depth += 1 if mark[1] else -1
        if depth == 0:
            break
    else:
        return _content
    inner = _content[opening.end() :][: mark.start()]
    rest = _content[opening.end() + mark.end() :]
    try:
        holds = _condition(opening[1].strip(), kwargs)
    except Exception:  # an unknown name leaves the whole text from here on as it is
        return _content
    kept = evaluate_text_conditions(inner, **kwargs) if holds else ""
    return _content[: opening.start()] + kept + evaluate_text_conditions(rest, **kwargs)


def _condition(text: str, names: dict[str, Any]) -> Any:
    import ast

    def value(node: ast.AST) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return names[node.id]
            case ast.UnaryOp(op=ast.Not()):
                return not value(node.operand)
            case ast.BoolOp():
                results = [value(one) for one in node.values]
                return all(results) if isinstance(node.op, ast.And) else any(results)
            case ast.Compare(ops=[ast.Eq()]):
                return value(node.left) == value(node.comparators[0])
        raise ValueError(text)

    return value(ast.parse(text, mode="eval").body)


def _mark(name: str) -> str:
    return "{{" + name + "}}"


def replace_placeholders_text(_content: str, **kwargs):
    for name, value in kwargs.items():
        _content = _content.replace(_mark(name), f"{value}")
    return _content


def replace_placeholders_json(_content: str, **kwargs):
    """One after the other over the whole text: a later name is replaced inside an earlier value too."""
    for name, value in kwargs.items():
        mark = _mark(name)
        _content = _content.replace(mark, json.dumps(value)) if mark in _content else _content
    return _content


def process_includes(
    _content: str, _directories: list[str], _source_file: str = "", _source_dir: str = "", **kwargs
):
    def from_below(match: re.Match) -> str:
        if not (_source_file and _source_dir):
            return match[0]
        here = os.path.normpath(_source_dir)
        known = [os.path.normpath(get_abs_path(folder)) for folder in _directories]
        below = _directories[known.index(here) + 1 :] if here in known else []
        try:
            return read_prompt_file(_source_file, below, **kwargs) if below else ""
        except FileNotFoundError:
            return ""

    def other(match: re.Match) -> str:
        try:
            return (
                match[0]
                if os.path.isabs(match[1])
                else read_prompt_file(match[1], _directories, **kwargs)
            )
        except FileNotFoundError:
            return match[0]

    text = re.sub(r"\{\{\s*include\s+original\s*\}\}", from_below, _content)
    return re.sub(r"\{\{\s*include\s*['\"](.*?)['\"]\s*\}\}", other, text)


def remove_code_fences(text):
    return re.sub(r"(```|~~~)[^\n]*\n(.*?)\1", r"\2", text, flags=re.S)


def is_full_json_template(text):
    return re.fullmatch(r"(```|~~~)\s*json\s*\n.*?\n\1", text.strip(), re.S) is not None


# ---------------------------------------------------------------------- finding


def find_file_in_dirs(_filename: str, _directories: list[str]):
    for folder in _directories:
        path = get_abs_path(folder, _filename)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"{_filename} is in none of {len(_directories)} folders")


def get_unique_filenames_in_dirs(
    dir_paths: list[str], pattern: str = "*", type: Literal["file", "dir", "any"] = "file"
):
    """The first folder wins for a name; sorted by name."""
    wanted = {"file": os.path.isfile, "dir": os.path.isdir, "any": os.path.exists}[type]
    found: dict[str, str] = {}
    for folder in dir_paths:
        for path in glob.glob(os.path.join(get_abs_path(folder), pattern)):
            if wanted(path):
                found.setdefault(os.path.basename(path), path)
    return [found[name] for name in sorted(found)]


def find_existing_paths_by_pattern(pattern: str):
    return sorted(glob.glob(get_abs_path(pattern), recursive=True)) if pattern else []


def list_files(relative_path: str, filter: str = "*"):
    path = get_abs_path(relative_path)
    return (
        [name for name in os.listdir(path) if fnmatch(name, filter)] if os.path.exists(path) else []
    )


def list_files_in_dir_recursively(relative_path: str) -> list[str]:
    top = get_abs_path(relative_path)
    return [
        os.path.relpath(os.path.join(at, name), top)
        for at, _, names in os.walk(top)
        for name in names
    ]


def get_subdirectories(
    relative_path: str, include: str | list[str] = "*", exclude: str | list[str] | None = None
):
    top = get_abs_path(relative_path)
    wanted = [include] if isinstance(include, str) else include
    unwanted = [exclude] if isinstance(exclude, str) else exclude or []
    names = os.listdir(top) if os.path.exists(top) else []
    return [
        name
        for name in names
        if os.path.isdir(os.path.join(top, name))
        and any(fnmatch(name, one) for one in wanted)
        and not any(fnmatch(name, one) for one in unwanted)
    ]


def read_text_files_in_dir(
    dir_path: str, max_size: int = 1024 * 1024, pattern: str = "*"
) -> dict[str, str]:
    found = {}
    for name in list_files(dir_path, pattern):
        path = get_abs_path(dir_path, name)
        kind = mimetypes.guess_type(path)[0] or "text/plain"
        if (
            os.path.isfile(path)
            and kind.startswith("text")
            and not 0 < max_size < os.path.getsize(path)
        ):
            found[name] = read_file(path)
    return found


# ---------------------------------------------------------------------- reading and writing


def read_file(relative_path: str, encoding="utf-8"):
    with open(get_abs_path(relative_path), encoding=encoding) as stream:
        return stream.read()


def read_file_json(relative_path: str, encoding="utf-8"):
    return json.loads(read_file(relative_path, encoding))


def read_file_yaml(relative_path: str, encoding="utf-8"):
    return yaml.loads(read_file(relative_path, encoding))


def read_file_bin(relative_path: str):
    with open(get_abs_path(relative_path), "rb") as stream:
        return stream.read()


def read_file_base64(relative_path):
    return base64.b64encode(read_file_bin(relative_path)).decode("ascii")


def write_file(relative_path: str, content: str, encoding: str = "utf-8"):
    from helpers.strings import sanitize_string

    make_dirs(relative_path)
    with open(get_abs_path(relative_path), "w", encoding=encoding) as stream:
        stream.write(sanitize_string(content, encoding))


def write_file_bin(relative_path: str, content: bytes):
    make_dirs(relative_path)
    with open(get_abs_path(relative_path), "wb") as stream:
        stream.write(content)


def delete_file(relative_path: str):
    if exists(relative_path):
        os.remove(get_abs_path(relative_path))


def delete_dir(relative_path: str):
    shutil.rmtree(get_abs_path(relative_path), ignore_errors=True)


def create_dir(relative_path: str):
    os.makedirs(get_abs_path(relative_path), exist_ok=True)


def create_dir_safe(dst, rename_format="{name}_{number}"):
    name, number = dst, 2
    while exists(name):
        name, number = rename_format.format(name=dst, number=number), number + 1
    create_dir(name)
    return name


def make_dirs(relative_path: str):
    create_dir(os.path.dirname(get_abs_path(relative_path)))


def move_file(relative_path: str, new_path: str):
    make_dirs(new_path)
    shutil.move(get_abs_path(relative_path), get_abs_path(new_path))


# ---------------------------------------------------------------------- paths


def get_abs_path(*relative_paths):
    """One absolute path stays; parts are joined below the host's root."""
    return os.path.join(_root, *relative_paths)


def get_abs_path_dockerized(*relative_paths):
    from helpers import runtime

    path = get_abs_path(*relative_paths)
    return path if runtime.is_dockerized() else normalize_a0_path(path)


def get_abs_path_development(*relative_paths):
    return fix_dev_path(get_abs_path(*relative_paths))


def deabsolute_path(path: str):
    return os.path.relpath(path, _root)


def fix_dev_path(path: str):
    """`/a0/x` is below the root when the host does not run in its container."""
    from helpers.runtime import is_development

    inside = path.startswith("/a0/") and is_development()
    return get_abs_path(path.replace("/a0/", "") if inside else path)


def normalize_a0_path(path: str):
    return "/a0/" + deabsolute_path(path) if is_in_base_dir(path) else path


def exists(*relative_paths):
    return os.path.exists(get_abs_path(*relative_paths))


def is_file(*relative_paths):
    return os.path.isfile(get_abs_path(*relative_paths))


def is_dir(*relative_paths):
    return os.path.isdir(get_abs_path(*relative_paths))


def get_base_dir():
    return _root


def basename(path: str, suffix: str | None = None):
    return os.path.basename(path).removesuffix(suffix or "")


def dirname(path: str):
    return os.path.dirname(path)


def is_in_base_dir(path: str):
    return is_in_dir(path, _root)


def is_in_dir(path: str, dir: str):
    outer = os.path.abspath(dir)
    return os.path.commonpath([outer, os.path.abspath(path)]) == outer


def safe_file_name(filename: str) -> str:
    return re.sub(r"[^\w.-]", "_", filename, flags=re.A)

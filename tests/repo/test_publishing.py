"""Ready for the Plugin Index: its rules for index.yaml and pictures, and the mechanical part of Agent Zero's validator."""

import ast
import hashlib
import os
import re
import struct
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
NAME = "software_orchestrator"
PAGE = (ROOT / "docs/publishing.md").read_text(encoding="utf-8")
INDEX_TEXT = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL).group(1)
INDEX = yaml.safe_load(INDEX_TEXT)
# The index's list of recommended tags (TAGS.md there, July 2026), those that could fit.
TAGS = {
    "agents",
    "workflow",
    "automation",
    "tools",
    "development",
    "monitoring",
    "ui",
    "memory",
    "storage",
    "files",
    "framework",
}
PICTURES = (".png", ".jpg", ".jpeg", ".webp")
OURS_IN_BROWSER = [
    path
    for folder in ("webui", "extensions/webui")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".js", ".html", ".css") and "vendor" not in path.parts
]


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def png_size(path: Path) -> tuple[int, int]:
    """Width and height, from the first chunk."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


# --- the index ---------------------------------------------------------------------------------------------------------


def test_index_yaml_has_the_fields_of_the_index_and_no_other():
    assert set(INDEX) <= {"title", "description", "github", "tags", "screenshots"}
    assert all(
        isinstance(INDEX[key], str) and INDEX[key].strip()
        for key in ("title", "description", "github")
    )


def test_title_description_and_the_whole_are_short_enough():
    assert len(INDEX["title"]) <= 50
    assert len(INDEX["description"]) <= 500
    assert len(INDEX_TEXT) <= 2000


def test_it_points_to_a_repository_on_github():
    assert re.fullmatch(r"https://github\.com/[^/]+/[^/]+", INDEX["github"])


def test_there_are_at_most_five_tags_and_the_index_knows_them():
    assert 0 < len(INDEX["tags"]) <= 5
    assert set(INDEX["tags"]) <= TAGS


def test_there_are_at_most_five_screenshots_and_each_is_a_committed_picture_of_at_most_2_mb():
    assert 0 < len(INDEX["screenshots"]) <= 5
    for address in INDEX["screenshots"]:
        raw = (
            INDEX["github"].replace("https://github.com/", "https://raw.githubusercontent.com/")
            + "/main/"
        )
        assert address.startswith(raw)
        picture = ROOT / address.removeprefix(raw)
        assert picture.suffix in PICTURES
        assert 10_000 < picture.stat().st_size <= 2 * 1024 * 1024
        assert png_size(picture) >= (1000, 600)


def test_the_thumbnail_is_square_small_and_where_the_host_looks_for_it():
    thumbnails = [path for path in (ROOT / "webui").glob("thumbnail.*") if path.suffix in PICTURES]
    assert [path.name for path in thumbnails] == ["thumbnail.png"]
    width, height = png_size(thumbnails[0])
    assert width == height >= 128
    assert thumbnails[0].stat().st_size <= 20 * 1024


def test_title_and_name_are_those_of_the_manifest():
    manifest = yaml.safe_load(text(ROOT / "plugin.yaml"))
    assert INDEX["title"] == manifest["title"]
    assert manifest["name"] == NAME
    assert f"plugins/{NAME}/" in PAGE


# --- what the validator looks at ---------------------------------------------------------------------------------------


def test_the_root_holds_what_a_plugin_may_hold():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    folders = {name.split("/")[0] for name in listed.stdout.decode().split("\0") if "/" in name}
    known = {"agents", "api", "commands", "extensions", "helpers", "prompts", "tools", "webui"}
    development = {".ci", "benchmarks", "docs", "tests"}
    assert folders <= known | development
    assert (ROOT / "LICENSE").is_file()


@pytest.mark.parametrize(("folder", "base"), [("api", "ApiHandler"), ("tools", "Tool")])
def test_each_handler_and_tool_file_holds_one_class_of_the_hosts_kind(folder, base):
    files = list((ROOT / folder).glob("*"))
    assert files
    for file in (file for file in files if file.name != "__pycache__"):
        assert file.suffix == ".py"
        classes = [
            node for node in ast.walk(ast.parse(text(file))) if isinstance(node, ast.ClassDef)
        ]
        assert [[ast.unparse(name) for name in node.bases] for node in classes] == [[base]]


def test_extensions_stand_in_folders_of_the_present_layout():
    for file in (ROOT / "extensions/python").rglob("*.py"):
        parts = file.relative_to(ROOT / "extensions/python").parts
        assert len(parts) == 2 or (parts[0] == "_functions" and parts[-2] in ("start", "end")), file
    for file in (path for path in (ROOT / "extensions/webui").rglob("*") if path.is_file()):
        assert len(file.relative_to(ROOT / "extensions/webui").parts) == 2
        assert file.stem.startswith("software-orchestrator-")


@pytest.mark.skipif("A0_ROOT" not in os.environ, reason="A0_ROOT names no Agent Zero checkout")
def test_the_host_has_each_place_that_we_extend_in_its_page():
    host = Path(os.environ["A0_ROOT"]) / "webui"
    files = (
        path
        for suffix in ("html", "js")
        for path in host.rglob(f"*.{suffix}")
        if "vendor" not in path.parts
    )
    source = "\n".join(map(text, files))
    newer = {
        "right_canvas_register_surfaces",
        "right-canvas-panels",
    }  # absent without a word before
    if "right-canvas" not in source:
        source += "".join(f'<x-extension id="{place}">' for place in newer)
    for place in (path.name for path in (ROOT / "extensions/webui").iterdir()):
        assert f'<x-extension id="{place}">' in source or f'callJsExtensions("{place}"' in source, (
            place
        )


def test_the_hooks_are_there_and_plain_functions():
    functions = {
        node.name: node
        for node in ast.parse(text(ROOT / "hooks.py")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert {"install", "uninstall", "save_plugin_config"} <= set(functions)
    assert "async def" not in text(ROOT / "hooks.py")


def test_hooks_install_into_the_python_that_runs_them_and_leave_the_system_alone():
    source = text(ROOT / "hooks.py")
    assert re.search(r"""sys.executable,\s+"-m",\s+"pip\"""", source)
    assert not re.search(r"apt-get|/opt/venv|shell=True|os\.system|symlink", source)


def test_execute_py_has_the_shape_that_the_host_starts():
    source = text(ROOT / "execute.py")
    assert re.search(r"^def main\(", source, re.MULTILINE)
    assert re.search(r'^if __name__ == "__main__":\n +sys\.exit\(main\(', source, re.MULTILINE)


def test_pages_wait_for_their_store_and_take_it_from_a_module():
    for name in ["main.html", "config.html"]:
        page = text(ROOT / "webui" / name)
        assert re.search(r'<template x-if="[^"]*\$store\.softwareOrchestrator\w+">', page)
        assert re.search(
            r'import \{ store \} from "/plugins/software_orchestrator/webui/\w+-store\.js"', page
        )
        assert "x-destroy=" in page


def test_stores_are_made_the_hosts_way():
    for path in [path for path in OURS_IN_BROWSER if path.name.endswith("-store.js")]:
        assert 'import { createStore } from "/js/AlpineStore.js"' in text(path)
        assert "alpine:init" not in text(path)
        assert not re.search(r"Alpine\.store\(", text(path))


def test_no_page_makes_html_or_code_of_text():
    for path in OURS_IN_BROWSER:
        html = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|x-html|\.html\(|createContextualFragment|srcdoc"
        assert not re.findall(rf"{html}|\beval\(|new Function", text(path)), path


def test_no_page_loads_anything_from_elsewhere():
    for path in OURS_IN_BROWSER:
        assert not re.findall(r"""(?:https?:)?//[\w-]+\.[\w./-]+""", text(path)), path


def test_the_vendored_library_is_the_released_file_with_its_licence():
    folder = ROOT / "webui/vendor/d3"
    told = re.search(r"sha256: ([0-9a-f]{64})", text(folder / "README.md")).group(1)
    assert hashlib.sha256((folder / "d3.min.js").read_bytes()).hexdigest() == told
    assert "Mike Bostock" in text(folder / "LICENSE")
    assert re.search(r"\| d3 \| ISC \| 7\.9\.0 \|", text(ROOT / "CONTRIBUTING.md"))

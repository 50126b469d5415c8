"""What code and docs name as the source of a choice is told in docs/sources.md."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/sources.md").read_text(encoding="utf-8")


def named(pattern):
    files = subprocess.run(
        ["git", "ls-files", "*.py", "*.md", "*.js"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    texts = (
        (ROOT / name).read_text(encoding="utf-8")
        for name in files.split()
        if name != "docs/sources.md"
    )
    return {found for text in texts for found in re.findall(pattern, text)}


def test_every_fact_about_the_host_that_is_named_stands_on_the_page():
    numbers = named(r"HOST facts? (\d+)")
    assert numbers and {number for number in numbers if f"| {number} |" not in PAGE} == set()


def test_every_seed_document_that_is_named_stands_on_the_page():
    numbers = named(r"[Ss]eed (00\d)")
    assert numbers and {number for number in numbers if f"| seed {number} |" not in PAGE} == set()

"""Our folder takes one line of the host's picture of a project."""

import pytest

from usr.plugins.software_orchestrator.helpers.text.file_tree import without_records

PICTURE = """\
# File structure of working directory /a0/usr/projects/shop

## file tree
/a0/usr/projects/shop/
├── src/
│   └── handover/
│       └── index.html
├── .a0proj/
│   ├── handover/
│   │   ├── chains/
│   │   │   ├── hero-chat1.0a1b2c3d.jsonl
│   │   │   └── # 5 more files
│   │   ├── .lock
│   │   └── frontend-designer-hero-2026-06-05.md
│   ├── handover.md
│   └── project.json
└── README.md
"""


def test_what_is_in_our_folder_goes_and_everything_else_stays():
    told = without_records(PICTURE)
    gone = [line for line in PICTURE.split("\n") if line not in told.split("\n")]
    assert [line[:8] for line in gone] == ["│   │   "] * 5
    assert "│   ├── handover/\n│   ├── handover.md\n" in told
    assert "│   └── handover/\n│       └── index.html\n" in told


@pytest.mark.parametrize("nested", [True, False])
def test_wherever_the_project_stands(nested):
    lines = [".a0proj/", "    handover/", "        chains/", "            a.jsonl"]
    tree = [line.replace(line.strip(), f"└── {line.strip()}") for line in lines]
    if nested:
        tree = ["└── shop/", *("    " + line for line in tree)]
    assert without_records("\n".join(tree)).split("\n") == tree[:-2]


@pytest.mark.parametrize(
    "other", ["", "no tree\n", "├── handover/\n│   └── a.jsonl\n", "└── .a0proj/\n    └── x/"]
)
def test_what_is_not_ours_is_left_as_it_is(other):
    assert without_records(other) == other

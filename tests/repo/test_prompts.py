"""Sentences that models read: nothing in them could be sent back as a fact."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = sorted((ROOT / "prompts").glob("*.md"))


@pytest.mark.parametrize("path", PROMPTS, ids=lambda path: path.name)
def test_no_prompt_holds_an_example_that_could_be_copied(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"~~~|```|\"tool_args\"|<[a-z_ ]+>", text)
    told = re.findall(r"\{[^{}]*\{?[^{}]*\}?[^{}]*\}", text.replace("{{specialists}}", ""))
    filled = [form for form in told if re.search(r':\s*"(?!declined|done)[^"]', form)]
    assert not filled
    assert not re.search(
        r"\d+ ?(?:kB|ms|px|%)|#[0-9a-f]{3,6}\b|\b\w+\.(?:html|py|css|json)\b", text
    )


def test_the_tool_says_when_to_hand_over_and_that_a_response_hands_nothing_over():
    text = (ROOT / "prompts/agent.system.tool.handover_to_specialist.md").read_text("utf-8")
    line = text.splitlines()[1]
    assert "`response`" in line
    for name in (
        "decisions", "rejected_paths", "state", "artifacts", "open_questions",
        "max_context_tokens", "include_recent_turns",
    ):  # fmt: skip
        assert f"`{name}`" in text
    assert text.index("`decisions`") < text.index("`summary`")

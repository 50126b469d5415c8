"""A specialist in another real Agent Zero, asked over A2A: two hosts on 127.0.0.1, each with a scripted model."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from usr.plugins.software_orchestrator.helpers.records.identity import signer_of
from usr.plugins.software_orchestrator.tests.e2e import live
from usr.plugins.software_orchestrator.tests.e2e.scripted_model import response, tool_call

pytestmark = pytest.mark.skipif(bool(live.why_not()), reason=live.why_not() or "-")

PLUGIN = "usr/plugins/software_orchestrator"
NOTE = "## What happened\nHero drafted there.\n## Observations\nFits.\n## User state\nnot spoken to\n## Next\nShow it."
PARTS = {
    "what_happened": "Hero drafted in the workshop.",
    "observations": "Fits.",
    "user_state": "not spoken to",
    "next": "Show it.",
}
KEY, THERE_KEY = b"h" * 32, b"t" * 32
KEY_FILE = "usr/software_orchestrator/installation.key"
FILES = {
    "enabled": False,
    "max_depth": 1,
    "max_files": 1,
    "max_folders": 1,
    "max_lines": 1,
    "gitignore": "",
}
GIVE = {
    "specialist_profile": "frontend_designer",
    "topic": "landing page hero",
    "goal": "First draft of the hero",
    "decisions": ["CSS grid, no framework"],
    "start": "true",
}


@pytest.fixture(params=["plain", "with the plugin"])
def there(request: pytest.FixtureRequest) -> Iterator[live.WebUi]:
    """Another Agent Zero that serves A2A, without the plugin and with it."""
    script = {"agent0": [response(NOTE)]}
    plugin = None if request.param == "plain" else live.REPOSITORY
    with live.start_web_ui(script, plugin=plugin, settings={"a2a_server_enabled": True}) as running:
        yield running


@pytest.fixture
def workshop() -> Iterator[live.WebUi]:
    """Another Agent Zero with the plugin that works for the installation of `KEY` in its project."""
    trusted = {
        "name": "office",
        "key": signer_of(KEY).public,
        "work": True,
        "project": "hall",
        "profiles": ["frontend_designer"],
    }
    script = {
        "frontend_designer": [
            tool_call("handover_reply", verdict="accept"),
            tool_call("handover_reply", verdict="done", decisions=["AVIF for pictures"], **PARTS),
        ]
    }
    files = {
        KEY_FILE: THERE_KEY,
        f"{PLUGIN}/config.json": json.dumps({"trusted": [trusted]}),
    }
    settings = {"a2a_server_enabled": True}
    with live.start_web_ui(script, files=files, settings=settings) as running:
        names = ("title", "description", "instructions", "color", "git_url")
        project = {"name": "hall", **dict.fromkeys(names, ""), "file_structure": FILES}
        assert running.api("projects", {"action": "create", "project": project})["ok"]
        yield running


def token_of(there: live.WebUi) -> str:
    """The token that its page shows for A2A."""
    token: str = there.api("settings_get", {})["settings"]["mcp_server_token"]
    assert len(token) > 8
    return token


def here(there: live.WebUi, script: Any, token: str, **more: Any) -> live.LiveRun:
    remote = {
        "url": f"{there.url}/a2a",
        "token": "§§secret(THERE)",
        "timeout_minutes": 1,
        **more,
    }
    roster = {
        "a0_software_orchestrator": {"can_handoff_to": ["frontend_designer"]},
        "frontend_designer": {"remote": remote},
    }
    files = {
        KEY_FILE: KEY,
        f"{PLUGIN}/config.json": json.dumps({"roster": roster}),
        "usr/secrets.env": f'THERE="{token}"\n',
    }
    return live.start(script, files=files, project="shop")


def events(run: live.LiveRun) -> list[dict[str, Any]]:
    return events_in(run.project_folder("shop"))


def events_in(project: Path) -> list[dict[str, Any]]:
    folder = project / ".a0proj/handover/chains"
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]


def test_the_work_runs_in_the_other_agent_zero_and_its_note_comes_back(there):
    token = token_of(there)
    script = {
        "agent0": [tool_call("handover_to_specialist", **GIVE), response("The hero is ready.")]
    }
    with here(there, script, token) as run:
        assert run.say("Please build the hero") == "The hero is ready."
        told = events(run)
        delivered = next(event["data"] for event in told if event["kind"] == "delivered")
        assert delivered["remote"] == there.url
        assert delivered["task"]
        done = next(event["data"] for event in told if event["kind"] == "done")
        assert done["note"]["what_happened"] == "Hero drafted there."
        assert token not in run.chat_file.read_text("utf-8")
        assert token not in json.dumps(told)
    asked = json.dumps([request.messages for request in there.model.requests])
    assert "CSS grid, no framework" in asked
    assert not there.model.faults


def test_a_wrong_token_is_told_and_the_orchestrator_goes_on(there):
    script = {"agent0": [tool_call("handover_to_specialist", **GIVE), response("It refused us.")]}
    with here(there, script, "wrong-token-wrong-token") as run:
        began = time.monotonic()
        assert run.say("Please build the hero") == "It refused us."
        assert time.monotonic() - began < 30
        assert events(run)[-2]["kind"] == "failed"


def test_with_the_plugin_there_the_named_specialist_works_and_its_decision_comes_back(workshop):
    script = {
        "agent0": [tool_call("handover_to_specialist", **GIVE), response("The hero is ready.")]
    }
    key = signer_of(THERE_KEY).public
    with here(workshop, script, token_of(workshop), key=key) as run:
        assert run.say("Please build the hero") == "The hero is ready."
        done = next(event["data"] for event in events(run) if event["kind"] == "done")
        decisions = [item["text"] for item in done["packet"]["decisions"]]
        given = next(event for event in events(run) if event["kind"] == "prepared")
    assert done["note"]["what_happened"] == "Hero drafted in the workshop."
    assert not done["implicit"]
    assert decisions == ["CSS grid, no framework", "AVIF for pictures"]
    told = events_in(workshop.root / "usr/projects/hall")
    assert [event["kind"] for event in told if event["kind"] != "briefed"] == [
        "prepared",
        "delivered",
        "accepted",
        "done",
    ]
    assert told[0]["from"] == f"{given['from']}@office"
    assert given["handover"] in told[0]["data"]["came"]
    assert not workshop.model.faults

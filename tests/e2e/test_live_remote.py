"""A specialist in another real Agent Zero, asked over A2A: two hosts on 127.0.0.1, each with a scripted model."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from usr.plugins.software_orchestrator.tests.e2e import live
from usr.plugins.software_orchestrator.tests.e2e.scripted_model import response, tool_call

pytestmark = pytest.mark.skipif(bool(live.why_not()), reason=live.why_not() or "-")

PLUGIN = "usr/plugins/software_orchestrator"
NOTE = "## What happened\nHero drafted there.\n## Observations\nFits.\n## User state\nnot spoken to\n## Next\nShow it."
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


def token_of(there: live.WebUi) -> str:
    """The token that its page shows for A2A."""
    token: str = there.api("settings_get", {})["settings"]["mcp_server_token"]
    assert len(token) > 8
    return token


def here(there: live.WebUi, script: Any, token: str) -> live.LiveRun:
    remote = {
        "url": f"{there.url}/a2a",
        "token": "§§secret(THERE)",
        "timeout_minutes": 1,
    }
    roster = {
        "a0_software_orchestrator": {"can_handoff_to": ["frontend_designer"]},
        "frontend_designer": {"remote": remote},
    }
    files = {
        f"{PLUGIN}/config.json": json.dumps({"roster": roster}),
        "usr/secrets.env": f'THERE="{token}"\n',
    }
    return live.start(script, files=files, project="shop")


def events(run: live.LiveRun) -> list[dict[str, Any]]:
    folder = run.project_folder("shop") / ".a0proj/handover/chains"
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

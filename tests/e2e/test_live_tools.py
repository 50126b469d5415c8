"""Tools by role in the real Agent Zero: refused in words, as text and as native calls, MCP tools included."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from usr.plugins.software_orchestrator.tests.e2e import live
from usr.plugins.software_orchestrator.tests.e2e.scripted_model import (
    ChatRequest,
    response,
    saying,
    tool_call,
)

pytestmark = pytest.mark.skipif(bool(live.why_not()), reason=live.why_not())

REVIEWER = "quality_reviewer"
NOTE = {
    "what_happened": "Read it all.",
    "observations": "Could not write.",
    "user_state": "not spoken to",
    "next": "Fix the title.",
}
# A real MCP server that writes what it is told to a file beside it.
SERVER = """
import pathlib
from fastmcp import FastMCP

server = FastMCP("notes")


@server.tool
def write_note(text: str) -> str:
    with pathlib.Path(__file__).resolve().with_name("notes.txt").open("a") as file:
        file.write(text + "\\n")
    return "noted " + text


server.run(show_banner=False)
"""
MCP = {
    "mcpServers": {
        "notes": {"command": os.environ.get("A0_PYTHON", ""), "args": ["usr/notes_server.py"]}
    }
}
CONNECT = """
from helpers import settings
from helpers.mcp_handler import MCPConfig

MCPConfig.update(settings.get_settings()["mcp_servers"])
result = [name for tool in MCPConfig.get_instance().get_tools() for name in tool]
"""


def hand_over(**more: Any) -> dict[str, Any]:
    args = {"specialist_profile": REVIEWER, "topic": "hero", "goal": "Review it", "start": True}
    return tool_call("handover_to_specialist", **args, **more)


def refused_in(folder: Path) -> list[str]:
    """The tools that the ledger says were refused."""
    (chain,) = (folder / ".a0proj/handover/chains").glob("*.jsonl")
    events = map(json.loads, chain.read_text("utf-8").splitlines())
    return [event["data"]["tool"] for event in events if event["kind"] == "refused"]


def played(run_native: bool) -> None:
    def note(request: ChatRequest) -> dict[str, Any]:
        """The orchestrator's own, by the name that the host offers."""
        names = (name for name in request.offered if name.startswith("notes_write_note"))
        return tool_call(next(names, "notes.write_note"), text="mine")

    def write(request: ChatRequest) -> Any:
        call = tool_call("text_editor:write", path=str(target), content="x")
        if run_native:
            call = tool_call("text_editor", action="write", path=str(target), content="x")
            return saying("I mend the title.", call)
        return call

    forbidden = json.dumps(tool_call("notes.write_note", text="not mine"))
    script = {
        "agent0": [
            note,
            hand_over(authority={"denied": ["notes.*", "rush"]}),
            response("Reviewed."),
        ],
        REVIEWER: [
            write,
            forbidden,
            tool_call("code_execution_tool", runtime="terminal", session=0, code="echo read it"),
            tool_call("handover_reply", verdict="done", **NOTE),
        ],
    }
    files, settings = {"usr/notes_server.py": SERVER}, {"mcp_servers": json.dumps(MCP)}
    with live.start(
        script, project="demo", files=files, settings=settings, native=run_native
    ) as run:
        target = run.project_folder("demo") / "hero.html"
        server = run.root / "usr/notes_server.py"
        assert run.inside(CONNECT) == ["notes.write_note"]

        assert run.say("Please have it reviewed") == "Reviewed."

        first, second, third, _ = run.model.requests_of(REVIEWER)
        assert not target.exists()
        assert "not yours to use" in second.text() and "text_editor*:write" in second.text()
        assert "not yours to use" in third.last
        assert server.with_name("notes.txt").read_text("utf-8") == "mine\n"
        assert "enforced" in first.system and "notes.*" in first.text()
        assert not [name for name in first.offered if name.startswith("notes_")]
        assert "text_editor" in first.offered or not run_native
        told = refused_in(run.project_folder("demo"))
        assert told == ["text_editor:write", "notes.write_note"]
        assert "Fix the title." in run.requests[-1].text()


def test_a_reviewer_that_writes_and_calls_a_denied_mcp_tool_is_refused_and_goes_on() -> None:
    played(False)


@pytest.mark.skipif(bool(live.why_not_native()), reason=live.why_not_native())
def test_native_a_reviewer_that_writes_and_calls_a_denied_mcp_tool_is_refused_and_goes_on() -> None:
    played(True)


def test_a_plain_helper_of_a_reviewer_has_no_more_tools_than_the_reviewer() -> None:
    helper = tool_call(
        "call_subordinate", profile="developer", message="Write it for me", reset="true"
    )
    script = {
        "agent0": [hand_over(), response("Reviewed.")],
        REVIEWER: [helper, tool_call("handover_reply", verdict="done", **NOTE)],
        "developer": [
            tool_call("text_editor:patch", path="/tmp/none", edits=[{"from": 1, "content": "x"}]),
            response("I may not."),
        ],
    }
    with live.start(script, project="demo", native=False) as run:
        assert run.say("Please have it reviewed") == "Reviewed."

        assert "not yours to use" in run.model.requests_of("developer")[-1].last
        assert refused_in(run.project_folder("demo")) == ["text_editor:patch"]

"""The command line as a person uses it: output, errors, exit codes, and nothing written that was not asked for."""

import hashlib
import io
import json
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from usr.plugins.software_orchestrator.helpers.cli.main import COMMANDS, main

ROOT = Path(__file__).resolve().parents[2]
CHAT = ROOT / "tests/data/chats/landing-page.json"


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def run(*arguments, text=""):
    """The command in this process; `test_the_check_up...` starts the real one."""
    out, err = io.StringIO(), io.StringIO()
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()))),
    ):
        code = main([str(argument) for argument in arguments])
    return Done(code, out.getvalue(), err.getvalue())


def handover(project, /, *options, **args):
    given = {
        "specialist_profile": "frontend_designer",
        "topic": "hero",
        "summary": "one",
        "project_root": str(project),
        **args,
    }
    return run("handover", "--args", "-", *options, text=json.dumps(given))


def answer(done):
    return json.JSONDecoder().raw_decode(done.stdout)[0]


def chat_handover(project, *more):
    return run(
        "handover",
        "--chat",
        CHAT,
        "--project",
        project,
        "--to",
        "frontend designer",
        "--topic",
        "hero",
        *more,
    )


def test_the_check_up_finds_everything_and_writes_nothing():
    command = [sys.executable, str(ROOT / "execute.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All is well" in done.stdout and "MISSING" not in done.stdout


@pytest.mark.parametrize("package", ["pydantic", "click", "yaml"])
@pytest.mark.parametrize("words", [[], ["verify", "."]], ids=["check-up", "command"])
def test_a_package_that_is_missing_is_named_with_what_mends_it(package, words):
    code = (
        f"import sys, runpy; sys.modules[{package!r}] = None;"
        f"sys.argv = ['execute.py', *{words!r}]; sys.path.insert(0, {str(ROOT)!r});"
        f"runpy.run_path({str(ROOT / 'execute.py')!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert re.fullmatch(rf"ERROR: the package {package} [^\n]* pip install [^\n]*\n", done.stderr)
    assert ("ok      tiktoken" in done.stdout) is (not words)


def test_a_saved_chat_is_handed_over_with_its_declines_and_is_not_touched(tmp_path):
    before = hashlib.sha256(CHAT.read_bytes()).hexdigest()
    done = chat_handover(tmp_path, "--turns", "3", "--max-tokens", "2k")
    package = answer(done)["package"]
    assert done.returncode == 0 and package["max_context_tokens"] == 2000
    packet = json.loads(
        run("show", package["handover_id"], "--packet", "--project", tmp_path).stdout
    )
    assert {item["field"] for item in packet["state"] if item["status"] == "declined"} >= {"prices"}
    assert len(packet["recent_turns"]) == 3
    assert packet["goal"].startswith("We need a landing page")
    assert hashlib.sha256(CHAT.read_bytes()).hexdigest() == before


def test_what_the_person_gives_wins_over_the_extract(tmp_path):
    done = chat_handover(
        tmp_path,
        "--goal",
        "Only the hero",
        "--decision",
        "Use grid",
        "--decision",
        "No carousel",
        "--state",
        "budget=500",
    )
    packet = json.loads(
        run(
            "show", answer(done)["package"]["handover_id"], "--packet", "--project", tmp_path
        ).stdout
    )
    assert packet["goal"] == "Only the hero"
    assert [item["text"] for item in packet["decisions"]] == ["Use grid", "No carousel"]
    assert {item["field"]: item["value"] for item in packet["state"]}["budget"] == "500"


def test_a_dry_run_answers_the_same_and_writes_nothing(tmp_path):
    done = handover(tmp_path, "--dry-run")
    assert done.returncode == 0 and answer(done)["status"] == "ok"
    assert list(tmp_path.iterdir()) == []


def test_show_tells_the_text_the_packet_and_the_story(tmp_path):
    identifier = answer(handover(tmp_path))["package"]["handover_id"]
    text = run("show", identifier, "--text", "--project", tmp_path).stdout
    story = run("show", identifier, "--project", tmp_path).stdout
    assert text.startswith(f"# Handover {identifier}\n")
    assert "a0_software_orchestrator → frontend_designer, prepared" in story


def test_close_records_the_reason_and_lets_the_chain_go_on(tmp_path):
    identifier = answer(handover(tmp_path))["package"]["handover_id"]
    done = run("close", identifier, "--reason", "nobody is there", "--project", tmp_path)
    assert done.returncode == 0 and "cancelled" in done.stdout
    assert "nobody is there" in next((tmp_path / ".a0proj/handover").glob("*.md")).read_text(
        encoding="utf-8"
    )
    again = answer(handover(tmp_path))
    assert again["package"]["hop"] == 2


def test_nesting_by_parent_stops_at_the_depth(tmp_path):
    inside, sender = (), ""
    for receiver in ("solution_architect", "implementation_engineer", "test_debug_engineer"):
        done = handover(tmp_path, *inside, specialist_profile=receiver, summary=receiver)
        assert done.returncode == 0, done.stderr
        parent, sender = answer(done)["package"]["handover_id"], receiver
        inside = ("--from", sender, "--parent", parent)
    assert answer(done)["package"]["depth"] == 2
    deeper = handover(tmp_path, *inside, specialist_profile="quality_reviewer", summary="deeper")
    assert deeper.returncode == 1 and "max_handover_depth 3" in deeper.stderr


def test_a_stopped_chain_goes_on_with_resume(tmp_path):
    settings = tmp_path / "settings.json"
    settings.write_text('{"max_handovers_per_chain": 1}', encoding="utf-8")
    assert handover(tmp_path, "--settings", settings).returncode == 0
    other = {"specialist_profile": "solution_architect", "summary": "another part"}
    for _ in range(2):
        stopped = handover(tmp_path, "--settings", settings, **other)
        assert stopped.returncode == 1 and stopped.stdout == ""
    assert handover(tmp_path, "--settings", settings, "--resume", **other).returncode == 0


def test_a_decline_is_lifted_by_the_person_at_the_command_line_only(tmp_path):
    handover(tmp_path, state={"vat_id": {"status": "declined"}})
    claimed = handover(
        tmp_path,
        summary="two",
        state={"vat_id": {"status": "answered", "value": "DE1", "verbatim": "it is DE1, really"}},
    )
    assert "vat_id stays declined" in " ".join(answer(claimed)["package"]["warnings"])
    lifted = handover(tmp_path, "--lift", "vat_id", summary="three", state={"vat_id": "DE1"})
    packet = json.loads(
        run(
            "show", answer(lifted)["package"]["handover_id"], "--packet", "--project", tmp_path
        ).stdout
    )
    assert [(item["value"], item["status"]) for item in packet["state"]] == [("DE1", "answered")]
    assert "decline_lifted" in next(
        (tmp_path / ".a0proj/handover/chains").glob("*.jsonl")
    ).read_text(encoding="utf-8")


def test_specialists_are_added_in_the_settings_without_code(tmp_path):
    settings = tmp_path / "settings.yaml"
    settings.write_text("roster:\n  poet:\n    purpose: verses\n", encoding="utf-8")
    done = handover(tmp_path, "--settings", settings, specialist_profile="Poet")
    assert done.returncode == 0 and answer(done)["persona_marker"] == "[poet]"
    assert "unknown specialist profile" in handover(tmp_path, "--settings", settings).stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read"),
        ("[1]", "no JSON object"),
        ("", "cannot be read"),
        ('{"topic": "x"}', "specialist_profile is required"),
    ],
)
def test_arguments_that_are_none_are_one_clear_line(text, said):
    done = run("handover", "--args", "-", text=text)
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(r"ERROR: .*\n", done.stderr) and said in done.stderr


@pytest.mark.parametrize("content", ["", "{", '{"agents": 3}', "[]", '{"id": "x"}'])
def test_a_file_that_is_no_chat_is_one_clear_line(tmp_path, content):
    file = tmp_path / "chat.json"
    file.write_text(content, encoding="utf-8")
    done = run("handover", "--chat", file, "--project", tmp_path, "--to", "hacker", "--topic", "t")
    assert (
        done.returncode == 1
        and "not a saved Agent Zero chat" in done.stderr
        and "Traceback" not in done.stderr
    )


@pytest.mark.parametrize(
    "words",
    [
        ("handover", "--nonsense"),
        ("dance",),
        ("show",),
        ("close", "ho-0123456789abcdef", "--project", "."),
        ("audit", "one", "two"),
        ("history", "--chat"),
        ("verify", ".", "--json=yes"),
        ("show", "ho-0123456789abcdef", "--project", ".", "--packet", "--text"),
    ],
    ids=" ".join,
)
def test_what_is_no_option_or_operand_is_one_line_and_exit_code_two(words):
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"ERROR: [^\n]*; see execute\.py[^\n]* -h\n", done.stderr)


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize("command", [None, *COMMANDS], ids=lambda item: item and item.name)
def test_every_command_has_help_that_names_its_options(command, option):
    done = run(*([command.name] if command else []), option)
    assert done.returncode == 0 and done.stdout.startswith("Usage: ") and not done.stderr
    for item in command.params if command else ():
        assert (item.opts[0] if item.opts[0].startswith("--") else item.metavar) in done.stdout


def test_the_demo_shows_package_briefing_and_next_step(tmp_path):
    done = run("demo", tmp_path / "project")
    assert done.returncode == 0, done.stderr
    for title in (
        "The chat",
        "Stage 1",
        "Stage 3",
        "What the orchestrator's tool call returns",
        "Next",
    ):
        assert f"=== {title}" in done.stdout
    assert "prices (declined, hop 1)" in done.stdout

"""What the README shows is what the code does: its commands run, its calls are understood, its tables are complete."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DEFAULTS = yaml.safe_load((ROOT / "default_config.yaml").read_text(encoding="utf-8"))
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
]
CALLS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", README, re.DOTALL)]


def run(*arguments, folder, **options):
    return subprocess.run(
        [sys.executable, "execute.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )


def test_every_command_runs_as_it_stands_and_in_order(tmp_path):
    commands = [line for line in COMMANDS if not line.startswith("make ")]
    assert len(commands) >= 7
    for line in commands:
        words = line.replace(".venv/bin/python", shlex.quote(sys.executable)).replace(
            "build/readme", str(tmp_path / "project")
        )
        done = subprocess.run(
            ["sh", "-c", words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr


def test_the_other_commands_are_targets_of_the_makefile():
    targets = set(
        re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    others = [line for line in COMMANDS if line.startswith("make ")]
    assert others == ["make demo", "make test"]
    assert {line.split()[1] for line in others} <= targets


def test_the_documented_handover_gives_the_documented_answer(tmp_path):
    call, answer = CALLS[0], CALLS[1]
    for name in call["tool_args"]["artifacts"]:
        (tmp_path / name).write_text("there", encoding="utf-8")
    args = {**call["tool_args"], "project_root": str(tmp_path)}
    done = run("handover", "--args", "-", folder=tmp_path, input=json.dumps(args))
    found = json.loads(done.stdout)

    def shape(value):
        return (
            {key: shape(item) for key, item in value.items()}
            if isinstance(value, dict)
            else type(value)
        )

    assert shape(found) == shape(answer)
    assert list(found) == list(answer) and list(found["package"]) == list(answer["package"])
    assert found["package"]["warnings"] == []


def test_the_documented_reply_is_understood():
    from usr.plugins.software_orchestrator.helpers.arguments.reply import parse_reply
    from usr.plugins.software_orchestrator.tests.core.calls import CALL

    reply = parse_reply(CALLS[2]["tool_args"], CALL)
    assert reply.lacking == () and reply.hand_to == "quality_reviewer" and reply.warnings == ()


def test_every_setting_stands_in_the_table_with_its_default():
    for name in DEFAULTS:
        default = DEFAULTS[name]
        shown = (
            f"{len(default)} specialists"
            if name == "roster"
            else str(default).lower()
            if isinstance(default, bool)
            else str(default)
        )
        assert f"| `{name}` | {shown} |" in README


def test_every_link_leads_to_a_file():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", README):
        assert (ROOT / target).exists(), target

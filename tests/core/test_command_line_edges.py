"""The command line where its surroundings are odd: locale, files, outputs, options that do not fit, records of others."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.cli import call, check_up, terminal
from usr.plugins.software_orchestrator.helpers.cli import handover as cli_handover
from usr.plugins.software_orchestrator.helpers.history import log
from usr.plugins.software_orchestrator.helpers.values.call import Caller
from usr.plugins.software_orchestrator.tests.core.test_command_line import (
    CHAT,
    ROOT,
    answer,
    chat_handover,
    handover,
    run,
)

COMMAND = [sys.executable, str(ROOT / "execute.py")]
C_LOCALE = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
}


def process(*arguments, data=b"", env=None, **options):
    options = {"stdout": subprocess.PIPE, **options}
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(
        command, input=data, stderr=subprocess.PIPE, env=env, timeout=60, check=False, **options
    )


def arguments(project, **more):
    return {
        "specialist_profile": "frontend_designer",
        "topic": "hero",
        "summary": "one",
        "project_root": str(project),
        **more,
    }


def is_one_error(done):
    stderr = done.stderr if isinstance(done.stderr, str) else done.stderr.decode()
    return done.returncode == 1 and re.fullmatch(r"ERROR: [^\n]+\n", stderr) is not None


# --- encodings


@pytest.mark.parametrize(
    "env", [C_LOCALE, {**os.environ, "PYTHONIOENCODING": "latin-1"}], ids=["C", "latin-1"]
)
def test_words_in_any_script_go_in_and_come_out_whatever_the_locale(tmp_path, env):
    words = "Größe 数据库 🚀 “x”"
    data = json.dumps(arguments(tmp_path, topic=words), ensure_ascii=False).encode()
    done = process("handover", "--args", "-", data=data, env=env)
    assert done.returncode == 0, done.stderr
    package = json.JSONDecoder().raw_decode(done.stdout.decode("utf-8"))[0]["package"]
    assert package["topic"] == words and package["marker"] in done.stdout.decode("utf-8")


def test_options_and_folders_are_read_as_utf_8_in_the_c_locale(tmp_path):
    project = tmp_path / "Büro"
    project.mkdir()
    done = process(
        "handover",
        "--chat",
        CHAT,
        "--project",
        project,
        "--to",
        "frontend_designer",
        "--topic",
        "Größe",
        env=C_LOCALE,
    )
    assert done.returncode == 0, done.stderr
    assert json.JSONDecoder().raw_decode(done.stdout.decode())[0]["package"]["topic"] == "Größe"
    assert (project / ".a0proj").is_dir()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_the_arguments(tmp_path, encoding):
    file = tmp_path / "call.json"
    file.write_bytes(
        json.dumps(arguments(tmp_path, topic="Größe"), ensure_ascii=False).encode(encoding)
    )
    assert answer(run("handover", "--args", file))["package"]["topic"] == "Größe"


def test_a_whole_tool_call_in_a_fence_is_understood(tmp_path):
    call = json.dumps(
        {
            "tool_name": "handover_to_specialist",
            "tool_args": json.dumps(arguments(tmp_path, topic="fenced")),
        }
    )
    assert (
        answer(run("handover", "--args", "-", text=f"```json\n{call}\n```\n"))["package"]["topic"]
        == "fenced"
    )


def test_what_utf_8_cannot_tell_is_shown_as_an_escape():
    with mock.patch.object(sys, "stdout", io.TextIOWrapper(raw := io.BytesIO(), encoding="ascii")):
        terminal.speak_utf8()
        terminal.say("half \ud83d, ü")
        assert raw.getvalue() == b"half \\ud83d, \xc3\xbc\n"


# --- an error is one line, never a traceback

DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "command",
    [
        ("handover", "--args", "{deep}"),
        (
            "handover",
            "--chat",
            "{deep}",
            "--to",
            "frontend_designer",
            "--topic",
            "t",
            "--project",
            "{folder}",
        ),
        ("handover", "--args", "{good}", "--settings", "{deep}"),
        ("history", "--chat", "{deep}"),
        ("history", "--chat", "{deep_history}"),
        ("history", "--chat", "{folder}"),
        ("demo", "{good}"),
        ("demo", ""),
        ("audit", ""),
        ("verify", "x\0y"),
        ("handover", "--args", "{bytes}"),
        ("handover", "--args", "x\0y"),
        ("handover", "--args", "{good}", "--settings", "{broken_yaml}"),
        ("handover", "--args", "{good}", "--settings", "{folder}/config.json"),
        ("handover", "--args", "{good}", "--settings", ""),
        ("handover", "--args", "{good}", "--settings", "{twice}"),
        ("handover", "--args", "{good}", "--chat", str(CHAT)),
        ("handover", "--args", "{good}", "--project", ""),
        ("show", "ho-0123456789abcdef", "--project", ""),
        ("close", "ho-0123456789abcdef", "--project", "", "--reason", "x"),
        ("close", "ho-0123456789abcdef", "--project", "{folder}", "--reason", " "),
        ("audit", "{folder}/a\nb"),
    ],
    ids=lambda command: " ".join(command)[:60].replace("\0", "NUL").replace("\n", "LF"),
)
def test_every_odd_file_and_folder_is_one_line_of_error(tmp_path, command):
    files = {
        "deep": DEEP.encode(),
        "deep_history": json.dumps({"agents": [{"number": 0, "history": DEEP}]}).encode(),
        "good": json.dumps(arguments(tmp_path)).encode(),
        "bytes": b"\xff\xfe\x00\xd8",
        "broken_yaml": b"a: [1,\nb: {\n",
        "twice": b'{"git_ignore": "all", "git_ignore": "none"}',
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    names = {name: str(tmp_path / name) for name in files} | {"folder": str(tmp_path)}
    done = run(*(word.format(**names) for word in command))
    assert is_one_error(done), done.stderr
    assert not (tmp_path / ".a0proj").exists()


def test_both_sources_and_a_key_given_twice_are_named(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text("git_ignore: all\nroster: {}\ngit_ignore: none\n")
    said = handover(tmp_path, "--settings", file).stderr
    assert 'line 3, column 1: "git_ignore" is given twice' in said
    assert "both given" in handover(tmp_path, "--chat", CHAT).stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_output_that_fails_after_recording_names_the_handover(tmp_path):
    with Path("/dev/full").open("wb") as full:
        done = process(
            "handover", "--args", "-", data=json.dumps(arguments(tmp_path)).encode(), stdout=full
        )
    assert is_one_error(done), done.stderr
    identifier = re.search(r"ho-[0-9a-f]{16}", done.stderr.decode())[0]
    assert run("show", identifier, "--project", tmp_path).returncode == 0


def test_a_closed_standard_output_is_an_error_and_no_traceback(tmp_path):
    handover(tmp_path)
    for command in (("audit", tmp_path), ("verify", tmp_path), ("history", "--chat", CHAT)):
        line = " ".join(shlex.quote(str(word)) for word in [*COMMAND, *command])
        done = subprocess.run(
            ["sh", "-c", f"{line} >&-"], capture_output=True, text=True, timeout=60, check=False
        )
        assert is_one_error(done), done.stderr


# --- options


def test_options_of_a_chat_are_refused_with_arguments(tmp_path):
    done = handover(tmp_path, "--goal", "foo", "--turns", "0")
    assert is_one_error(done) and "--goal, --turns: only with --chat" in done.stderr


def test_a_project_beside_the_arguments_counts_unless_they_name_another(tmp_path):
    (tmp_path / "other").mkdir()
    text = json.dumps(
        {"specialist_profile": "frontend_designer", "topic": "hero", "summary": "one"}
    )
    assert run("handover", "--args", "-", "--project", tmp_path, text=text).returncode == 0
    assert "two folders" in handover(tmp_path, "--project", tmp_path / "other").stderr


def test_start_at_the_command_line_warns_that_nothing_is_started(tmp_path):
    assert "nothing is started" in " ".join(
        answer(handover(tmp_path, start="yes"))["package"]["warnings"]
    )
    assert "nothing is started" not in handover(tmp_path, summary="two").stdout


def test_a_dry_run_says_that_nothing_was_recorded(tmp_path):
    dry = answer(handover(tmp_path, "--dry-run"))
    assert dry["package"]["dry_run"] is True and dry["briefing"]["newly_created"] is False
    assert "nothing was recorded" in dry["next_step"] and "call_subordinate" not in dry["next_step"]
    real = answer(handover(tmp_path))
    assert set(real["package"]) == set(dry["package"]) - {"dry_run"} and set(real) == set(dry)


def test_a_lift_that_lifts_nothing_is_refused(tmp_path):
    handover(tmp_path, state={"vat_id": {"status": "declined"}})
    unknown = handover(tmp_path, "--lift", "nothere", summary="two")
    assert is_one_error(unknown) and "nobody declined it; declined here: vat_id" in unknown.stderr
    bare = handover(tmp_path, "--lift", "vat_id", "--dry-run", summary="two")
    assert is_one_error(bare) and "its new value is missing" in bare.stderr
    first = handover(tmp_path, "--lift", "vat_id", summary="two", state={"vat_id": "DE1"})
    again = handover(tmp_path, "--lift", "vat_id", summary="two", state={"vat_id": "DE1"})
    assert first.returncode == 0 and answer(again)["package"]["repeated"]


def test_a_lift_beside_a_chat_is_not_declined_again_by_the_chat(tmp_path):
    assert chat_handover(tmp_path).returncode == 0
    kept = chat_handover(tmp_path, "--state", "prices=10 EUR", "--summary", "two")
    assert "--lift prices" in " ".join(answer(kept)["package"]["warnings"])
    lifted = chat_handover(
        tmp_path, "--lift", "prices", "--state", "prices=10 EUR", "--summary", "three"
    )
    packet = json.loads(
        run(
            "show", answer(lifted)["package"]["handover_id"], "--packet", "--project", tmp_path
        ).stdout
    )
    assert ("prices", "10 EUR", "answered") in [
        (item["field"], item["value"], item["status"]) for item in packet["state"]
    ]
    assert is_one_error(chat_handover(tmp_path / "fresh", "--lift", "prices"))


def test_an_error_names_the_options_that_bear_another_name(tmp_path):
    done = chat_handover(tmp_path, "--max-tokens", "none at all")
    assert is_one_error(done) and "--max-tokens (max_context_tokens)" in done.stderr
    lacking = run("handover", "--chat", CHAT, "--project", tmp_path)
    assert "specialist_profile is required" in lacking.stderr
    assert "--to (specialist_profile)" in lacking.stderr
    assert "(specialist_profile)" not in run("handover", "--args", "-", text="{}").stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('"topic": "other"', '"topic" twice'),
        ('"state": {"a": 1, "b": {"c": 1, "c": 1}}', '"c" twice'),
        ('"state": {"n": 1' + "0" * 400 + "}", "no number of JSON"),
        ('"state": {"n": -1e999}', "no number of JSON"),
        ('"state": {"n": NaN}', "no number of JSON"),
        ('"include_recent_turns": ' + "[" * 900 + "]" * 900, "is nested more than"),
        ('"unheard_of": ' + '{"a": ' * 900 + "1" + "}" * 900, "is nested more than"),
    ],
    ids=lambda text: text[:24],
)
def test_arguments_in_which_something_would_be_chosen_or_changed_are_refused(tmp_path, more, said):
    text = json.dumps(arguments(tmp_path))[:-1] + f", {more}}}"
    done = run("handover", "--args", "-", text=text)
    assert is_one_error(done) and said in done.stderr
    assert list(tmp_path.iterdir()) == []


# --- show and close


def test_only_what_is_open_or_prepared_is_closed(tmp_path):
    first = answer(handover(tmp_path))["package"]["handover_id"]
    second = answer(handover(tmp_path, summary="two"))["package"]["handover_id"]
    superseded = run("close", first, "--project", tmp_path, "--reason", "x")
    assert is_one_error(superseded) and "superseded" in superseded.stderr
    closed = run("close", second, "--project", tmp_path, "--reason", "no longer needed")
    assert (
        closed.returncode == 0
        and "handed back" not in closed.stdout
        and "no longer needed" in closed.stdout
    )
    again = run("close", second, "--project", tmp_path, "--reason", "y")
    assert is_one_error(again) and "cancelled" in again.stderr
    assert is_one_error(run("close", "ho-0123456789abcdef", "--project", tmp_path, "--reason", "x"))


def test_another_installations_handover_is_shown_as_such_and_cannot_be_closed(tmp_path):
    identifier = answer(handover(tmp_path))["package"]["handover_id"]
    other = replace(call.ports(), key=lambda: b"k" * 32)
    with mock.patch.object(call, "local_ports", return_value=other):
        for options in ((), ("--packet",), ("--text",)):
            shown = run("show", identifier, "--project", tmp_path, *options)
            assert shown.returncode == 0 and identifier in shown.stdout
            assert re.fullmatch(r"NOTE: [^\n]*another installation[^\n]*\n", shown.stderr)
        assert is_one_error(run("close", identifier, "--project", tmp_path, "--reason", "x"))
    assert run("show", identifier, "--project", tmp_path).stderr == ""


def test_on_a_terminal_the_next_commands_are_told_beside_the_answer(tmp_path):
    with mock.patch.object(cli_handover, "is_terminal", lambda stream: stream is sys.stderr):
        done = handover(tmp_path)
    identifier = answer(done)["package"]["handover_id"]
    assert all(f"{word} {identifier} --project" in done.stderr for word in ("show", "close"))
    assert answer(done)["status"] == "ok" and handover(tmp_path, summary="two").stderr == ""


def test_the_demos_next_commands_can_be_pasted(tmp_path):
    done = run("demo", tmp_path / "my project's")
    line = next(line for line in done.stdout.splitlines() if "execute.py verify" in line)
    assert shlex.split(line)[-1] == str((tmp_path / "my project's").resolve())


def test_version_and_check_up_tell_the_truth(tmp_path):
    assert re.fullmatch(r"Software Orchestrator \d+\.\d+\.\d+\n", run("--version").stdout)
    (tmp_path / "data").touch()
    assert not check_up.installation_key(tmp_path / "data").good
    assert check_up.installation_key(tmp_path / "none").good
    with mock.patch.object(check_up.os, "access", return_value=False):
        key = check_up.installation_key(tmp_path / "none")
    assert not key.good and "cannot be written" in key.words


# --- odd chats

SMALL = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.text(max_size=6),
    st.just("\ud800"),
    st.just({"a": [1, {}]}),
)
KEYS = st.sampled_from(
    ["user_message", "tool_result", "tool_name", "file", "raw_content", "preview", "attachments", "messages_summary",
     "system_error", "sha256", "chars", "x"]
)  # fmt: skip
CONTENT = st.recursive(  # as sloppy as JSON can be
    SMALL,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
MESSAGE = st.dictionaries(
    st.sampled_from(["ai", "content", "id", "kept", "agent", "profile", "summary", "tokens"]),
    CONTENT,
)
ROW = st.dictionaries(
    st.sampled_from(["type", "content", "id", "kvps", "agentno"]),
    SMALL | st.sampled_from(["agent", "tool", "user"]),
)


OPTIONS = st.sampled_from([(), ("--query", "a"), ("--part", "1")])


@given(st.lists(MESSAGE, min_size=1, max_size=4), st.lists(ROW, max_size=3), OPTIONS)
def test_a_chat_with_odd_messages_is_read_or_refused_in_one_line(
    tmp_path_factory, messages, rows, options
):
    file = tmp_path_factory.getbasetemp() / "odd.json"
    history = {"bulks": [], "topics": [], "current": {"messages": messages}}
    file.write_text(
        json.dumps(
            {"id": "c", "agents": [{"number": 0, "history": history}], "log": {"logs": rows}}
        )
    )
    handed = (
        "handover",
        "--to",
        "frontend_designer",
        "--topic",
        "t",
        "--project",
        file.parent,
        "--dry-run",
    )
    for command in (("history", *options), handed):
        done = run(*command, "--chat", file)
        assert is_one_error(done) or (done.returncode == 0 and done.stdout), done.stderr


def test_a_message_without_a_usual_content_is_told_as_its_json(tmp_path):
    file = tmp_path / "chat.json"
    history = {
        "bulks": [],
        "topics": [],
        "current": {"messages": [{"ai": False, "content": 5}, {"content": ["seven"]}]},
    }
    file.write_text(
        json.dumps({"id": "c", "agents": [{"number": 0, "history": json.dumps(history)}]})
    )
    done = run("history", "--chat", file)
    assert done.returncode == 0 and "> 5" in done.stdout and "seven" in done.stdout


def test_the_log_that_is_left_after_a_crash_is_read(tmp_path):
    file = tmp_path / "software_orchestrator_history.jsonl"
    for words in ("Keep the EU region.", "Which budget?"):
        record = {"id": "m", "ai": False, "content": {"user_message": words}}
        file.write_bytes(
            (file.read_bytes() if file.exists() else b"")
            + log.line_of(record, log.Source(), "2026-06-05T14:03:07.123456Z", str)
        )
    with file.open("ab") as torn:
        torn.write(b'{"head":"u00000000')
    before = file.read_bytes()
    done = run("history", "--chat", file)
    assert done.returncode == 0 and "Keep the EU region." in done.stdout, done.stderr
    searched = run("history", "--chat", file, "--query", "budget", "--json")
    assert json.loads(searched.stdout)["matches"] == [2]
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\xff\n", None], ids=str)
def test_a_file_that_is_no_log_is_one_line_of_error(tmp_path, content):
    file = tmp_path / "x.jsonl"
    if content is not None:
        file.write_bytes(content)
    assert is_one_error(run("history", "--chat", file))


def test_none_of_a_range_names_the_range():
    done = run("history", "--chat", CHAT, "--query", "nosuchword", "--turns", "3-5")
    assert "none of turns 3-5" in done.stdout
    assert (
        "none of turn 3 "
        in run("history", "--chat", CHAT, "--query", "nosuchword", "--turns", "3").stdout
    )


@pytest.mark.parametrize("counted", [3, None, -1, "x", True])
def test_a_stop_of_the_command_line_counts_the_persons_messages_as_the_chat_does(tmp_path, counted):
    chat = json.loads(CHAT.read_text("utf-8"))
    spoken = len(call_of_chat(CHAT).person_messages)
    if counted is not None:
        chat.setdefault("data", {})["software_orchestrator"] = {"person": {"count": counted}}
    saved = tmp_path / "chat.json"
    saved.write_text(json.dumps(chat), "utf-8")
    assert call_of_chat(saved).person_count == (3 if counted == 3 else spoken)


def call_of_chat(file):
    return cli_handover.from_saved_chat(file, Caller(project_root="/x"), {}, {})[0]

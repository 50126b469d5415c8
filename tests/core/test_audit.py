"""What people and programs are shown of the records: chains, timelines, packets, briefings and the three commands."""

import hashlib
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from usr.plugins.software_orchestrator.helpers.flow.prepare import prepare
from usr.plugins.software_orchestrator.helpers.records import briefing
from usr.plugins.software_orchestrator.helpers.records.folder import HandoverFolder
from usr.plugins.software_orchestrator.helpers.records.identity import writer_of
from usr.plugins.software_orchestrator.helpers.records.ledger import Ledger
from usr.plugins.software_orchestrator.helpers.records.local import local_ports
from usr.plugins.software_orchestrator.helpers.records.resources import default_settings
from usr.plugins.software_orchestrator.helpers.values.call import Call, Caller
from usr.plugins.software_orchestrator.helpers.values.errors import (
    HandoverError,
    RecordError,
    RequestError,
)
from usr.plugins.software_orchestrator.helpers.values.events import Draft
from usr.plugins.software_orchestrator.helpers.values.settings import settings
from usr.plugins.software_orchestrator.helpers.views import audit, page, report
from usr.plugins.software_orchestrator.helpers.views.metrics import sla_of
from usr.plugins.software_orchestrator.helpers.views.report import (
    audit_text,
    metrics_text,
    since_time,
    verify_text,
)
from usr.plugins.software_orchestrator.tests.core.chain_maker import (
    KEY,
    OTHER_KEY,
    SETTINGS,
    ChainMaker,
    hero_chain,
)

ROOT = Path(__file__).resolve().parents[2]
CHAIN = "landing-page-hero-chat1"
DESIGNER = "frontend-designer-landing-page-hero-2026-06-05.md"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return hero_chain(tmp_path_factory.mktemp("made") / "project")


@pytest.fixture(scope="module")
def summary(made):
    return next(audit.chains(made.folder, KEY))


@pytest.fixture(scope="module")
def picture(made):
    return audit.timeline(audit.read_story(made.folder, CHAIN, KEY))


def run(command, *args, **options):
    """Exit code and lines of a command."""
    lines = []
    return command(*args, lines.append, **options), lines


def terminal(width=160):
    return Console(file=io.StringIO(), force_terminal=True, width=width)


# --- chains ---


def test_a_chain_tells_hops_verdicts_sizes_durations_reads_and_refusals(summary):
    assert {
        name: summary[name]
        for name in (
            "chain",
            "topic",
            "state",
            "holder",
            "hops",
            "history_reads",
            "refusals",
            "own",
        )
    } == {
        "chain": CHAIN,
        "topic": "Landing page hero",
        "state": "open",
        "holder": "frontend_designer",
        "hops": 3,
        "history_reads": 1,
        "refusals": 1,
        "own": True,
    }
    assert summary["verdicts"] == {"done": 1, "clarify": 1, "accepted": 1}
    assert (summary["started"], summary["updated"]) == (
        "2026-06-05T14:03:00.000000Z",
        "2026-06-05T15:07:00.000000Z",
    )
    assert (
        summary["tokens"]["asked"]
        == sum(item["tokens"]["asked"] for item in summary["handovers"])
        > 0
    )


def test_a_handover_tells_its_times_and_where_its_entries_are(summary, made):
    first, review, again = summary["handovers"]
    assert (first["latency_s"], first["queue_s"], first["work_s"]) == (60, 120, 1800)
    assert (review["state"], review["history_reads"][0]["tokens"]) == ("clarify", 1500)
    assert (again["open"], again["work_s"], again["answers"]) == (True, None, "")
    content = made.folder.briefing_path(DESIGNER).read_bytes()
    for entry, word in zip(first["briefing"], ("handover", "done"), strict=True):
        assert (
            f" · {word} · {first['handover']}".encode()
            in content[entry["offset"] : entry["offset"] + entry["length"]].split(b"\n")[0]
        )


@pytest.mark.parametrize(
    ("happens", "state"),
    [
        (lambda m, p: None, "prepared"),
        (lambda m, p: m.deliver(p), "open"),
        (lambda m, p: (m.deliver(p), m.hand_back(p)), "closed"),
        (lambda m, p: (m.deliver(p), m.hand_back(p), m.stop("12 is reached")), "stopped"),
    ],
    ids=["prepared", "open", "closed", "stopped"],
)
def test_one_word_says_where_a_chain_stands(tmp_path, happens, state):
    chain = ChainMaker(tmp_path / "project")
    happens(chain, chain.hand_over())
    assert next(audit.chains(chain.folder, KEY))["state"] == state


def test_a_closed_chain_has_a_duration_and_an_open_one_has_none(tmp_path, summary):
    chain = ChainMaker(tmp_path / "project")
    packet = chain.hand_over()
    chain.deliver(packet, queue=5)
    chain.wait(20)
    chain.hand_back(packet)
    assert next(audit.chains(chain.folder, KEY))["seconds"] == 25 * 60
    assert summary["seconds"] is None


def test_another_installations_chain_is_shown_and_marked(made):
    found = next(audit.chains(made.folder, OTHER_KEY))
    assert (found["state"], found["own"], found["foreign"], found["hops"]) == (
        "foreign",
        False,
        18,
        3,
    )


def test_chains_since_a_date_are_those_with_a_later_event(made):
    since = since_time("2026-06-05T15:07")
    assert [item["chain"] for item in audit.chains(made.folder, KEY, since)] == [CHAIN]
    assert list(audit.chains(made.folder, KEY, since_time("2026-06-05T15:08"))) == []


def test_a_chain_that_cannot_be_read_says_why_and_stops_no_other(made, tmp_path):
    shutil.copytree(made.folder.root, tmp_path / "project")
    folder = HandoverFolder.open(str(tmp_path / "project"))
    (folder.chains / "aaa-chat.jsonl").symlink_to("/etc/hostname")
    (folder.chains / "bbb-chat.jsonl").write_bytes(b"\xff\x00 not a ledger\n" * 50)
    unreadable, damaged, whole = audit.chains(folder, KEY)
    assert (unreadable["state"], damaged["faults"], whole["hops"]) == ("unreadable", 50, 3)
    assert "not a plain file" in unreadable["error"]


def test_shapes_are_plain_json(made, summary, picture):
    packet = audit.packet_of(
        audit.read_story(made.folder, CHAIN, KEY), summary["handovers"][0]["handover"]
    )
    for shape in (summary, picture, packet):
        assert json.loads(json.dumps(shape)) == shape


# --- one chain ---


def test_a_timeline_has_lanes_arrows_bars_and_marks_in_the_order_of_the_ledger(picture):
    assert [lane["agent"] for lane in picture["lanes"]] == [
        "a0_software_orchestrator",
        "frontend_designer",
        "quality_reviewer",
    ]
    assert [(a["kind"], a["from"], a["to"], a["state"], a["open"]) for a in picture["arrows"]] == [
        ("handover", "a0_software_orchestrator", "frontend_designer", "done", False),
        ("on", "frontend_designer", "a0_software_orchestrator", "done", False),
        ("handover", "a0_software_orchestrator", "quality_reviewer", "clarify", False),
        ("return", "quality_reviewer", "a0_software_orchestrator", "clarify", False),
        ("handover", "a0_software_orchestrator", "frontend_designer", "accepted", True),
    ]
    assert [(bar["agent"], bool(bar["end"])) for bar in picture["bars"]] == [
        ("frontend_designer", True),
        ("quality_reviewer", True),
        ("frontend_designer", False),
    ]
    assert [mark["kind"] for mark in picture["marks"]] == ["history_read", "refused"]
    assert picture["arrows"][1]["second"] == 33 * 60
    orders = [item["order"] for item in picture["arrows"]]
    assert orders == sorted(orders)


def test_a_packet_shows_what_travelled_came_back_and_changed(made, summary):
    told = audit.read_story(made.folder, CHAIN, KEY)
    found = audit.packet_of(told, summary["handovers"][0]["handover"])
    assert [decision["id"] for decision in found["packet"]["decisions"]] == ["d1", "d2"]
    assert [decision["id"] for decision in found["returned"]["decisions"]] == ["d1", "d2", "d3"]
    assert (found["news"], found["note"]["what_happened"], found["artifacts"]) == (
        ["decisions"],
        "Hero built",
        {"hero.css": "unchanged"},
    )
    assert audit.packet_of(told, "ho-unknown") is None


def test_an_unknown_chain_and_a_hostile_id_are_refused(made):
    for chain in ("nothing-chat1", "../../etc/passwd", "", "a/b", "x" * 500):
        with pytest.raises(RecordError):
            audit.read_story(made.folder, chain, KEY)


def test_a_briefing_is_given_as_text_and_nothing_else_is(made):
    assert audit.briefing_text(made.folder, DESIGNER).startswith(
        "## 2026-06-05 14:03 UTC · a0_software_orchestrator → frontend_designer"
    )
    for name in (
        "../../../secret.md",
        f"chains/{CHAIN}.{writer_of(KEY)}.jsonl",
        f"{CHAIN}.{writer_of(KEY)}.jsonl",
        "absent-2026-06-05.md",
        ".gitignore",
    ):
        with pytest.raises(RecordError):
            audit.briefing_text(made.folder, name)


def test_a_huge_briefing_is_cut_and_says_so(made, tmp_path):
    shutil.copytree(made.folder.root, tmp_path / "project")
    folder = HandoverFolder.open(str(tmp_path / "project"))
    folder.briefing_path(DESIGNER).write_bytes("ä".encode() * 3_000_000)
    text = audit.briefing_text(folder, DESIGNER)
    assert "cut here" in text[-100:]
    assert "\ufffd" not in text


# --- projects ---


def test_a_folder_of_projects_is_all_of_its_projects(tmp_path):
    for number, name in enumerate(("beta", "alpha")):
        ChainMaker(tmp_path / name, seed=number * 100).hand_over()
    (tmp_path / "empty").mkdir()
    assert [folder.root.name for folder in audit.projects(tmp_path)] == ["alpha", "beta"]
    code, lines = run(audit_text, tmp_path, KEY)
    assert code == 0
    assert [line.split("  ")[0] for line in lines] == [
        f"alpha/{CHAIN}",
        f"beta/{CHAIN}",
        "2 chains in 2 projects",
    ]


def test_a_hostile_project_stops_no_other_command_for_the_rest(made, tmp_path):
    shutil.copytree(made.folder.root, tmp_path / "whole")
    (tmp_path / "hostile/.a0proj/handover").mkdir(parents=True)
    (tmp_path / "hostile/.a0proj/handover/chains").symlink_to("/tmp")
    code, lines = run(audit_text, tmp_path, KEY)
    assert (
        code,
        lines[0].startswith("hostile/  unreadable"),
        lines[1].startswith(f"whole/{CHAIN}  open"),
    ) == (1, True, True)
    code, lines = run(verify_text, tmp_path, KEY)
    assert (
        code,
        lines[0].startswith("fault unreadable: hostile/"),
        lines[-1].startswith("verified 5 entries and 18 events"),
    ) == (1, True, True)
    code, lines = run(metrics_text, tmp_path, KEY, sla_of(SETTINGS))
    assert (code, lines[-1]) == (1, "3 handovers in 1 chain, 1 chain not read whole")


@pytest.mark.parametrize(
    "more",
    [
        {"packet": {"identity": "x"}},
        {"packet": {"identity": {"schema": 99}}},
        {"packet": []},
        {"estimated": int("9" * 4300), "delivered": int("8" * 4300)},
        {"omitted": [f"Decisions: {'9' * 5000} shortened"]},
    ],
    ids=["identity", "newer", "no-packet", "numbers", "digits-in-words"],
)
def test_a_hostile_ledger_of_ones_own_stops_no_command_and_no_other_chain(tmp_path, more):
    made = hero_chain(tmp_path / "whole")
    hostile = ChainMaker(tmp_path / "hostile", seed=500)
    hostile.hand_over()
    first = Ledger(hostile.ledger, KEY).read().events[0]
    draft = Draft("prepared", first.chain, "ho-hostile", data={**first.data, **more})
    with hostile.folder.lock(1):
        Ledger(hostile.ledger, KEY).append([draft] * 12)
    for options in ({}, {"as_json": True}, {"console": terminal()}):
        _, lines = run(audit_text, tmp_path, KEY, **options)
        _, numbers = run(metrics_text, tmp_path, KEY, sla_of(SETTINGS), **options)
        assert lines and numbers
    _, lines = run(audit_text, tmp_path, KEY)
    assert [line.split("/")[0] for line in lines[:2]] == ["hostile", "whole"]
    known = [page.Project(name, name, tmp_path / name) for name in ("hostile", "whole")]
    records = page.Records(known, KEY, lambda name: SETTINGS)
    for action in ("chains", "metrics", "verify"):
        json.dumps(page.answer({"action": action}, records))
    one = {"action": "chain", "project": "hostile", "chain": first.chain}
    assert json.dumps(page.answer(one, records))
    assert next(audit.chains(made.folder, KEY))["hops"] == 3


def test_a_folder_without_records_is_refused_with_what_to_name(tmp_path):
    with pytest.raises(HandoverError, match="no handover is recorded"):
        audit.projects(tmp_path)
    with pytest.raises(HandoverError, match="not a folder"):
        audit.projects(tmp_path / "absent")


# --- the commands ---


def test_audit_writes_a_line_for_every_chain(made):
    code, lines = run(audit_text, made.folder.root, KEY)
    assert code == 0
    assert lines[0].startswith(
        f"{CHAIN}  open (frontend_designer)  3 hops  done 1, clarify 1, accepted 1  "
    )
    assert lines[0].endswith("history reads 1, refused calls 1")
    assert lines[1:] == ["1 chain in 1 project"]


def test_audit_of_one_chain_is_its_timeline(made):
    code, lines = run(audit_text, made.folder.root, KEY, chain=CHAIN)
    assert code == 0
    assert lines[2].startswith(
        "2026-06-05 14:36:00 frontend_designer → a0_software_orchestrator hop 1 done ho-"
    )
    assert [line.split()[2] for line in lines[6:8]] == ["a0_software_orchestrator"] * 2
    assert "refused" in lines[6]  # before the handover of the same minute, as in the ledger
    with pytest.raises(RecordError, match="no chain other-chat1"):
        run(audit_text, made.folder.root, KEY, chain="other-chat1")


def test_audit_as_json_is_the_same_summaries(made, summary):
    _, lines = run(audit_text, made.folder.root, KEY, as_json=True)
    assert json.loads("\n".join(lines)) == {"chains": [summary]}
    _, lines = run(audit_text, made.folder.root, KEY, as_json=True, since="2030-01-01")
    assert json.loads("\n".join(lines)) == {"chains": []}
    _, lines = run(audit_text, made.folder.root, KEY, as_json=True, chain=CHAIN)
    one = json.loads("\n".join(lines))
    assert one.keys() == {"summary", "timeline"}
    assert one["summary"] == summary


def test_a_date_that_is_none_is_refused_and_zones_are_understood():
    assert since_time("2026-06-05T16:03+02:00") == "2026-06-05T14:03:00.000000Z"
    with pytest.raises(RequestError, match="not a date"):
        since_time("yesterday")


def test_verify_of_a_healthy_folder_says_how_much_was_checked(made):
    code, lines = run(verify_text, made.folder.root, KEY)
    assert code == 0
    assert len(lines) == 1
    assert lines[0].startswith("verified 5 entries and 18 events in 3 files, ")
    assert lines[0].endswith(" bytes: 0 faults, 0 notes")


def test_verify_of_a_faulty_folder_exits_1_with_a_line_for_every_fault(made, tmp_path):
    shutil.copytree(made.folder.root, tmp_path / "project")
    path = tmp_path / "project/.a0proj/handover" / DESIGNER
    path.write_bytes(
        path.read_bytes().replace(b"Hero built", b"Hero burnt") + b"\nLooks good, Ada\n"
    )
    code, lines = run(verify_text, tmp_path / "project", KEY)
    assert code == 1
    assert [line.split(":")[0] for line in lines[:-1]] == ["fault changed", "note person"]
    assert lines[-1].endswith("1 fault, 1 note")

    code, lines = run(verify_text, tmp_path / "project", KEY, as_json=True)
    found = json.loads("\n".join(lines))
    assert (code, [item["kind"] for item in found["findings"]]) == (1, ["changed", "person"])
    assert found["checked"]["faults"] == 1


def test_metrics_are_lines_with_their_n_and_no_rate_where_n_is_0(made):
    code, lines = run(metrics_text, made.folder.root, KEY, sla_of(SETTINGS))
    assert code == 0
    assert "Questions the packet already answered:  50% (1 of 2)  clarifications 1" in lines
    assert (
        lines[0]
        == "Chain length in hops, superseded ones not counted:  3.0 (n = 1)  max 3; 1 chain of 3 hops"
    )
    assert lines[-2].startswith("Nothing to count yet (n = 0): ")
    assert "Chains finished within the chain's time (unfinished 1)" in lines[-2]
    assert sum("n = 0" in line for line in lines) == 1
    assert lines[-1] == "3 handovers in 1 chain"
    _, lines = run(metrics_text, made.folder.root, KEY, sla_of(SETTINGS), as_json=True)
    assert json.loads("\n".join(lines))["handovers"] == 3


def test_a_terminal_gets_tables_and_a_bar(made):
    console = terminal()
    for command, more in ((audit_text, ()), (verify_text, ()), (metrics_text, (sla_of(SETTINGS),))):
        run(command, made.folder.root, KEY, *more, console=console)
    shown = console.file.getvalue()
    assert CHAIN in shown
    assert "verifying" in shown
    assert "50% (1 of 2)" in shown


@pytest.mark.parametrize("width", [40, 80, 160])
def test_no_id_is_broken_and_no_empty_column_stands_at_any_width(tmp_path, width):
    for number, name in enumerate(("beta", "alpha")):
        chain = ChainMaker(tmp_path / name, seed=number * 100)
        chain.hand_over()
    console = terminal(width)
    run(audit_text, tmp_path, KEY, console=console)
    shown = console.file.getvalue()
    assert shown.count(CHAIN) == 2 and "alpha" in shown and "beta" in shown
    assert "Time" not in shown and "Also" not in shown
    metrics = terminal(width)
    _, lines = run(metrics_text, tmp_path, KEY, sla_of(SETTINGS), console=metrics)
    assert "2 chains of 1 hop" in " ".join(metrics.file.getvalue().replace("│", " ").split())
    assert "nothing to count (n" not in metrics.file.getvalue() + "".join(lines)


def test_superseded_handovers_are_counted_apart_in_audit_and_metrics_alike(tmp_path):
    for summary in ("one", "two"):
        args = {
            "specialist_profile": "frontend_designer",
            "topic": "t",
            "summary": summary,
            "project_root": str(tmp_path),
        }
        prepare(args, Call(Caller(), settings(default_settings()), local_ports()))
    key = local_ports().key()
    _, lines = run(audit_text, tmp_path, key)
    assert "  1 hop + 1 superseded  prepared 1  " in lines[0]
    _, lines = run(metrics_text, tmp_path, key, sla_of(SETTINGS))
    assert (
        "1.0 (n = 1)  max 1; 1 chain of 1 hop" in lines[0]
        and "superseded ones not counted" in lines[0]
    )


def test_a_timeline_names_the_handover_in_every_line_that_is_about_one(made):
    _, lines = run(audit_text, made.folder.root, KEY, chain=CHAIN)
    about = [line for line in lines[1:] if "refused" not in line]
    assert all(re.search(r"ho-\w+", line) for line in about), about


def test_another_installations_records_are_one_note_with_what_was_checked(made):
    code, lines = run(verify_text, made.folder.root, OTHER_KEY)
    assert code == 0 and len(lines) == 3
    assert lines[0].startswith(
        "note other: 5 entries and 18 events in 3 files were written by another installation"
    )
    assert lines[1].startswith("signed by not trusted (")
    assert lines[2].startswith("verified 0 entries and 0 events")
    _, lines = run(verify_text, made.folder.root, OTHER_KEY, as_json=True)
    found = json.loads("\n".join(lines))
    assert (
        found["checked"]["others"] == {"entries": 5, "events": 18, "files": 3}
        and len(found["findings"]) == 3
    )


def test_a_chain_name_that_none_can_have_is_a_chain_that_is_not_there(made):
    with pytest.raises(RecordError, match="no chain") as error:
        run(audit_text, made.folder.root, KEY, chain="../../x")
    assert "remove" not in error.value.hint


def test_a_project_folder_with_a_line_feed_is_one_line(tmp_path):
    for name in ("a\nb", "c"):
        ChainMaker(tmp_path / name).hand_over()
    _, lines = run(audit_text, tmp_path, KEY)
    assert len(lines) == 3 and not any("\n" in line for line in lines)


def test_text_from_the_records_cannot_move_the_cursor_forge_a_line_or_be_markup(tmp_path):
    evil = "x\x1b[2J\n0 faults [bold]\u202e"
    chain = ChainMaker(tmp_path / "project")
    packet = chain.hand_over(handover_reason=evil)
    chain.tell(packet, "interrupted", why=evil)
    chain.stop(evil)
    console = terminal()
    _, lines = run(audit_text, tmp_path / "project", KEY)
    _, story = run(audit_text, tmp_path / "project", KEY, chain=CHAIN)
    run(audit_text, tmp_path / "project", KEY, console=console)
    for line in (*lines, *story):
        assert not {"\x1b", "\n", "\u202e"} & set(line)
    assert any("\\x1b[2J 0 faults [bold]\\u202e" in line for line in story)
    assert "\x1b[2J" not in console.file.getvalue()
    assert "[bold]" in console.file.getvalue().replace("\n", "")


def test_durations_are_readable():
    assert [report.duration(s) for s in (None, 0, 59.6, 3725, 90061)] == [
        "",
        "0:00:00",
        "0:01:00",
        "1:02:05",
        "1 d 01:01:01",
    ]


# --- docs/briefing-format.md ---


def format_page():
    return (ROOT / "docs/briefing-format.md").read_text(encoding="utf-8")


def shell(number, **variables):
    """What the page's command prints, run as a person would."""
    command = re.findall(r"```sh\n(.*?)```", format_page(), re.DOTALL)[number]
    return subprocess.run(
        ["sh", "-c", command],
        env={"PATH": "/usr/bin:/bin", **variables},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()[0]


def example():
    return re.search(r"````markdown\n(.*?)````", format_page(), re.DOTALL)[1], re.search(
        r"```json\n(.*?)```", format_page(), re.DOTALL
    )[1]


def without_sizes(text):
    """Without what depends on where the project lies: the package names its briefing, which costs tokens."""
    return re.sub(r"\b(?:\d+ of \d+(?= tokens)|(?<=\"length\":)\d+|[0-9a-f]{64}|[0-9a-f]{128})\b", "…", text)


def test_the_entries_and_the_line_in_the_documentation_are_what_the_code_writes(made):
    entries, line = map(without_sizes, example())
    assert without_sizes(audit.briefing_text(made.folder, DESIGNER)).startswith(entries)
    assert line in without_sizes(made.ledger.read_text(encoding="utf-8"))


def test_the_hashes_in_the_documentation_are_right(tmp_path):
    entries, line = example()
    (tmp_path / "entries.md").write_text(entries, encoding="utf-8")
    (tmp_path / "line.jsonl").write_text(line, encoding="utf-8")
    first, second = briefing.scan(tmp_path / "entries.md")
    place = json.loads(line)["data"]
    assert first.sha_ok
    assert second.sha_ok
    assert (place["offset"], place["length"]) == (first.offset, first.length)
    assert hashlib.sha256(entries.encode()[: first.length]).hexdigest() == place["sha256"]
    assert shell(1, LEDGER=str(tmp_path / "line.jsonl"), N="1") == json.loads(line)["sha"]


def test_the_commands_in_the_documentation_check_an_entry_a_line_and_a_place_by_hand(made):
    file, text = (
        str(made.folder.briefing_path(DESIGNER)),
        audit.briefing_text(made.folder, DESIGNER),
    )
    events = [json.loads(line) for line in made.ledger.read_text(encoding="utf-8").splitlines()]
    for number, sha in enumerate(re.findall(r"sha256=([0-9a-f]{64}) -->", text), 1):
        assert shell(0, FILE=file, N=str(number)) == sha
    for number in (1, 4):
        assert shell(1, LEDGER=str(made.ledger), N=str(number)) == events[number - 1]["sha"]
    for event in events:
        if event["kind"] == "briefed" and event["data"]["path"] == DESIGNER:
            data = event["data"]
            assert (
                shell(2, FILE=file, OFFSET=str(data["offset"]), LENGTH=str(data["length"]))
                == data["sha256"]
            )

"""Whatever dies in a handover: nothing acknowledged is lost, nothing stands twice, the next call heals."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from usr.plugins.software_orchestrator.helpers.records import briefing, files

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "bench_append.py"


def load_benchmark():
    spec = importlib.util.spec_from_file_location("append_benchmark", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bench = load_benchmark()


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the code catches it."""


def die_in(monkeypatch, project, write, wanted_bytes):
    """Hand over `ho-1`; the call's `write`-th write puts only its first bytes into the file, and all ends there."""
    calls = []

    def write_whole(file, content, path):
        calls.append(path)
        if len(calls) < write:
            return real(file, content, path)
        file.write(
            content[:wanted_bytes]
            if wanted_bytes >= 0
            else content[: len(content) + 1 + wanted_bytes]
        )
        raise Killed

    real = files.write_whole
    with monkeypatch.context() as patched:
        patched.setattr(files, "write_whole", write_whole)
        with pytest.raises(Killed):
            bench.Records(project).hand_over("ho-1")


# The snapshot, the plan, the entry; bytes from the start of the write, or from its end (-1 is all of it).
@pytest.mark.parametrize("write", [1, 2, 3])
@pytest.mark.parametrize(
    "wanted_bytes", [0, 1, 2, 3, 50, 88, 89, 90, 120, 200, -120, -90, -70, -5, -4, -3, -2, -1]
)
def test_a_call_that_died_in_any_of_its_writes_is_finished_by_the_same_call(
    tmp_path, monkeypatch, write, wanted_bytes
):
    bench.Records(tmp_path).hand_over("ho-0")
    die_in(monkeypatch, tmp_path, write, wanted_bytes)
    for handover in ("ho-1", "ho-1", "ho-2"):
        bench.Records(tmp_path).hand_over(handover)
    result = bench.counted(
        bench.Records(tmp_path), {"ho-0", "ho-1", "ho-2"}, {"ho-0", "ho-1", "ho-2"}
    )
    assert bench.healthy(result), result
    assert result["entries"] == 3
    assert result["torn_pieces"] <= 1


def test_a_call_that_dies_again_and_again_is_still_one_entry(tmp_path, monkeypatch):
    for write, wanted_bytes in [(1, 40), (1, -1), (1, 30), (2, 0), (2, 60), (2, 100), (1, -2)]:
        die_in(monkeypatch, tmp_path, write, wanted_bytes)
    bench.Records(tmp_path).hand_over("ho-1")
    result = bench.counted(bench.Records(tmp_path), {"ho-1"}, {"ho-1"})
    assert bench.healthy(result), result
    assert result["entries"] == 1


def test_a_check_that_counts_would_see_a_lost_a_doubled_and_a_changed_entry(tmp_path):
    records = bench.Records(tmp_path)
    for handover in ("ho-0", "ho-1"):
        records.hand_over(handover)
    good = records.briefing.read_bytes()
    everything = {"ho-0", "ho-1"}
    for damage, named in (
        (good[: len(good) // 2], "lost"),
        (good + bench.entry_of("ho-1"), "twice"),
        (good.replace(b"work of ho-1", b"work of ho-2"), "not_verified"),
        (good + b"a note\n", "unaccounted_bytes"),
        (good + bench.entry_of("ho-9"), "unknown"),
    ):
        records.briefing.write_bytes(damage)
        result = bench.counted(records, everything, everything)
        assert result[named] > 0
        assert not bench.healthy(result)


@pytest.fixture(scope="module")
def short_run():
    """A short run; the long one (8 x 200 entries, 200 kills) is `python benchmarks/bench_append.py`."""
    command = [
        sys.executable,
        str(BENCHMARK),
        "--processes",
        "8",
        "--entries",
        "25",
        "--kills",
        "25",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_entries_of_eight_processes_at_once_are_all_intact_and_unique(short_run):
    code, results = short_run
    assert (code, results["at_once"]["failed"]) == (0, 0)
    assert bench.healthy(results["at_once"])
    assert results["at_once"]["entries"] == 8 * 25
    assert results["at_once"]["torn_pieces"] == 0


def test_kills_at_random_moments_lose_nothing_that_was_acknowledged(short_run):
    code, results = short_run
    assert code == 0
    assert bench.healthy(results["killed"])
    assert results["killed"]["kills"] == 25
    assert results["killed"]["acknowledged"] > 0


def test_the_same_entry_has_the_same_bytes_every_time():
    assert bench.entry_of("ho-3") == bench.entry_of("ho-3")
    assert briefing.seal("ho-1", "## x\n") == briefing.seal("ho-1", "## x\n")

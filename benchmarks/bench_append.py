"""Appends under load and under kill -9, in a fresh temporary folder, and counts what then stands in the record.

    python benchmarks/bench_append.py                                8 processes of 200 entries, then 200 kills
    python benchmarks/bench_append.py --processes 2 --entries 10 --kills 5

Prints one JSON object; exit 1 when an entry is lost, stands twice or does not verify. SIGKILL is what it tries; the
power going out is not. The steps are those of a handover, all under the lock: snapshot, plan in the ledger, entry in
the briefing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
import types
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

for _name, _path in (
    ("usr", []),
    ("usr.plugins", []),
    ("usr.plugins.software_orchestrator", [str(ROOT)]),
):
    if _name not in sys.modules:
        sys.modules[_name] = types.ModuleType(_name)
        sys.modules[_name].__path__ = _path

from usr.plugins.software_orchestrator.helpers.records import briefing
from usr.plugins.software_orchestrator.helpers.records.folder import HandoverFolder
from usr.plugins.software_orchestrator.helpers.records.identity import writer_of
from usr.plugins.software_orchestrator.helpers.records.key import installation_key
from usr.plugins.software_orchestrator.helpers.records.ledger import Ledger, snapshot
from usr.plugins.software_orchestrator.helpers.values.events import Draft, Event

DAY, TOPIC, SPECIALIST, CHAT = "2026-06-05", "append", "frontend_designer", "cli"
LOCK_S = 300.0
SEED = 20260605
# Long entries as well: a write of many pages can be cut by a kill, one of a few bytes hardly ever.
ENTRY_LINES = (3, 3, 3, 20_000)


# --- one handover, as the records see it -----------------------------------------------------------------------------


def entry_of(handover: str) -> bytes:
    """The bytes of an entry depend on nothing but the handover's id."""
    lines = ENTRY_LINES[int(handover.removeprefix("ho-"), 16) % len(ENTRY_LINES)]
    head = f"## {DAY} 14:03 UTC · a0_software_orchestrator → {SPECIALIST} · handover · {handover}\n"
    return briefing.seal(handover, head + f"> the work of {handover}\n" * lines)


class Records:
    """The folder, ledger and briefing of one project."""

    def __init__(self, project: Path) -> None:
        self.folder = HandoverFolder.open(str(project), create=True)
        self.chain = self.folder.chain_id(TOPIC, CHAT)
        key = installation_key(project)
        self.ledger = Ledger(self.folder.ledger_path(self.chain, writer_of(key)), key)
        self.briefing = self.folder.briefing_path(self.folder.briefing_name(SPECIALIST, TOPIC, DAY))

    def hand_over(self, handover: str) -> None:
        """What a tool call does: heal what the last one left, then once and only once snapshot and entry."""
        with self.folder.lock(LOCK_S):
            events = self.ledger.read().events
            self._heal(events)
            if not any(event.kind == "prepared" and event.handover == handover for event in events):
                snapshot(self.ledger, Draft("prepared", self.chain, handover))
                self._brief(handover)

    def append_only(self, handover: str) -> None:
        """The same without looking at the ledger first."""
        with self.folder.lock(LOCK_S):
            snapshot(self.ledger, Draft("prepared", self.chain, handover))
            self._brief(handover)

    def _heal(self, events: tuple[Event, ...]) -> None:
        """Only the last event can lack its entry: everybody heals before writing."""
        if not events:
            return
        last, stands = events[-1], False
        if last.kind == "briefed":
            planned = briefing.plan_from_data(self.folder, last.data)
            stands = briefing.stands(planned.path, [planned])
        if not stands:
            self._brief(last.handover)

    def _brief(self, handover: str) -> None:
        entry = entry_of(handover)
        plan = briefing.plan(self.folder, self.briefing.name, entry)
        self.ledger.append([Draft("briefed", self.chain, handover, data=plan.to_data())])
        briefing.append(self.folder, plan, entry)


def counted(records: Records, expected: set[str], at_most: set[str]) -> dict[str, object]:
    """What stands in ledger and briefing against what was acknowledged (`expected`) and begun (`at_most`)."""
    reading = records.ledger.read()
    pieces = list(briefing.scan(records.briefing))
    entries = Counter(piece.id for piece in pieces if piece.kind == "entry")
    prepared = Counter(event.handover for event in reading.events if event.kind == "prepared")
    plans = [
        briefing.plan_from_data(records.folder, e.data)
        for e in reading.events
        if e.kind == "briefed"
    ]
    return {
        "entries": len(entries),
        "lost": len(expected - entries.keys()) + len(expected - prepared.keys()),
        "twice": sum(n > 1 for n in entries.values()) + sum(n > 1 for n in prepared.values()),
        "unknown": len(entries.keys() - at_most),
        "not_verified": sum(piece.kind == "entry" and not piece.sha_ok for piece in pieces),
        "torn_pieces": sum(piece.kind != "entry" for piece in pieces),
        "unaccounted_bytes": unaccounted(records.briefing.stat().st_size, plans),
        "events": len(reading.events),
        "event_ids": len({event.id for event in reading.events}),
        "ledger_faults": sorted({fault.kind for fault in reading.faults}),
    }


def unaccounted(size: int, plans: list[briefing.Plan]) -> int:
    """Bytes of a briefing that no `briefed` event covers."""
    covered = loose = 0
    for offset, length in sorted((plan.offset, plan.length) for plan in plans):
        loose += max(0, min(offset, size) - covered)
        covered = max(covered, offset + length)
    return loose + max(0, size - covered)


def healthy(result: dict[str, object]) -> bool:
    wrong = ("lost", "twice", "unknown", "not_verified", "unaccounted_bytes")
    only_healed = set(result["ledger_faults"]) <= {"healed", "torn"}  # type: ignore[call-overload]
    return (
        not any(result[name] for name in wrong)
        and only_healed
        and result["events"] == result["event_ids"]
    )


# --- processes -------------------------------------------------------------------------------------------------------


def forked(work: Callable[[], None]) -> int:
    """Run `work` in a child that has everything imported already; its process id."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        work()
        code = 0
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def at_once(project: Path, processes: int, entries: int) -> dict[str, object]:
    """`processes` children append `entries` each to one briefing and one ledger."""
    ids = [
        [f"ho-{process:08x}{n * len(ENTRY_LINES):08x}" for n in range(entries)]
        for process in range(processes)
    ]

    def work(mine: list[str]) -> None:
        records = Records(project)
        for handover in mine:
            records.append_only(handover)

    started = time.monotonic()
    children = [forked(lambda mine=mine: work(mine)) for mine in ids]  # type: ignore[misc]
    failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
    everything = {handover for mine in ids for handover in mine}
    result = counted(Records(project), everything, everything)
    return {
        "processes": processes,
        "each": entries,
        "failed": failed,
        **result,
        "seconds": elapsed(started),
    }


def killed(project: Path, kills: int) -> dict[str, object]:
    """A child hands over one after the other and says so; it is killed at random moments, and the next begins again."""
    rng = random.Random(SEED)
    acknowledged, begun, landed = 0, 0, 0
    started = time.monotonic()
    for turn in range(kills + 1):
        last_turn = turn == kills
        receive, send = os.pipe()

        def work(first: int = acknowledged, one: bool = last_turn, send: int = send) -> None:
            records = Records(project)
            for n in range(first, first + 1 if one else 1 << 30):
                records.hand_over(f"ho-{n:016x}")
                os.write(send, b".")

        child = forked(work)
        os.close(send)
        if not last_turn:
            time.sleep(rng.uniform(0.0, 0.1))
            os.kill(child, signal.SIGKILL)
        landed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        with os.fdopen(receive, "rb") as acks:
            acknowledged += len(acks.read())
        begun = acknowledged + 1
    ids = [f"ho-{n:016x}" for n in range(begun)]
    result = counted(Records(project), set(ids[:acknowledged]), set(ids))
    return {"kills": landed, "acknowledged": acknowledged, **result, "seconds": elapsed(started)}


def elapsed(started: float) -> float:
    return round(time.monotonic() - started, 2)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--entries", type=int, default=200, help="of each process")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument(
        "--dir", type=Path, help="where to make the temporary folder (to try another file system)"
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.dir) as place:
        projects = [Path(place, name) for name in ("at-once", "killed")]
        for project in projects:
            project.mkdir()
        results = {
            "at_once": at_once(projects[0], chosen.processes, chosen.entries),
            "killed": killed(projects[1], chosen.kills),
        }
    print(json.dumps(results, indent=2))
    return (
        0 if all(healthy(result) and not result.get("failed") for result in results.values()) else 1
    )


if __name__ == "__main__":
    sys.exit(main())

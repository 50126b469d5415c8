"""What one handover costs: how much of the core runs, how often the record is read, and whether it grows with the project.

    python benchmarks/bench_handover.py [--full]     prints tables; exit 1 where an aim is missed

Counts are of one handover with `start=true` in the stand-in of the host (linear): prepare, deliver, accept, done. "functions" are
distinct functions of helpers/ outside text/, arguments/, host/ and the settings; "ledger read" is a whole reading of a
ledger file, "folded" a fold from nothing. CPU is the least of several runs, as a ratio to the same step in an empty project, or
to encoding the finished package once with tiktoken's own encoder. `--full` adds projects of 10,000 chains.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
import execute

execute.make_importable()
sys.path.remove(str(ROOT))

from usr.plugins.software_orchestrator.helpers.flow import (
    close,
    deliver,
    prepare,
    receive,
    standing,
)
from usr.plugins.software_orchestrator.helpers.records import (
    ledger,
    listing,
    lock,
    resources,
    shelf,
)
from usr.plugins.software_orchestrator.helpers.records.folder import HandoverFolder
from usr.plugins.software_orchestrator.helpers.records.local import local_ports
from usr.plugins.software_orchestrator.helpers.text import note, tokens
from usr.plugins.software_orchestrator.helpers.values.call import Call, Caller
from usr.plugins.software_orchestrator.helpers.values.settings import settings

SETTINGS = settings(resources.default_settings(), {"max_handovers_per_chain": 1000})
PORTS = replace(local_ports(), key=lambda: b"k" * 32)
NOTE = {"what_happened": "Drafted.", "observations": "Fits.", "user_state": "calm", "next": "Show."}
TURNS = ["user: please keep the page under 150 kB", "assistant: noted", "user: no video, please"]
RUNS = 30


def call_in(root: Path, chat: str = "bench", **more: Any) -> Call:
    return Call(Caller(chat_id=chat, project_root=str(root), **more), SETTINGS, PORTS)


def arguments(topic: str, number: int) -> dict[str, Any]:
    return {
        "specialist_profile": "frontend_designer",
        "topic": topic,
        "goal": "A first draft of the hero",
        "summary": f"The page is for a shop; this is state {number}. " + "It must be fast. " * 40,
        "rejected_paths": [{"what": f"Way {n}", "why": "the bundle was too big"} for n in range(8)],
        "acceptance_criteria": [f"Criterion {n} is measured on a phone" for n in range(8)],
        "decisions": [f"Decision {n}: CSS grid, no framework, and system fonts" for n in range(20)],
        "state": {"brand_colour": "#0B5FFF", "prices": {"status": "declined"}},
        "recent_turns": TURNS,
        "next_action": "Draft the hero",
    }


def whole(root: Path, topic: str, number: int, chat: str = "bench") -> dict[str, float]:
    """One handover there and back; CPU seconds of each step."""
    outside = call_in(root, chat)
    spent: dict[str, float] = {}

    def step(name: str, run: Callable[[], Any]) -> Any:
        started = time.process_time()
        answer = run()
        spent[name] = time.process_time() - started
        return answer

    prepared = step("prepare", lambda: prepare.prepare(arguments(topic, number), outside))
    handover = prepared.packet.identity.handover_id
    step("deliver", lambda: deliver.deliver(handover, outside, way="start"))
    inside = call_in(root, chat, inside=handover, sender="frontend_designer")
    step("touch", lambda: receive.touch(handover, inside))
    step("asked before a prompt", lambda: standing.held_by(handover, inside))
    step("offered", lambda: standing.standing(outside))
    step("reply", lambda: receive.reply({"verdict": "done", **NOTE}, inside))
    step("outcome", lambda: close.outcome_of(handover, inside))
    return spent


def least(root: Path, topic: str, chat: str = "bench") -> dict[str, float]:
    best: dict[str, float] = {}
    for number in range(RUNS):
        for name, seconds in whole(root, f"{topic} {number}", number, chat).items():
            best[name] = min(seconds, best.get(name, seconds))
    return best


def filled(root: Path, chains: int, *, same_topic: bool = False) -> Path:
    """A project with so many chains of other chats; each has one handover, prepared."""
    root.mkdir(parents=True)
    for number in range(chains):
        topic = "bench 0" if same_topic else f"other work {number}"
        prepare.prepare(arguments(topic, number), call_in(root, f"chat{number}"))
    return root


def counts(folder: Path) -> dict[str, int]:
    """What one handover does, counted."""
    seen: set[tuple[str, str]] = set()
    rooms = str(ROOT / "helpers")
    tally = {"ledger read": 0, "folded": 0, "locks": 0, "entries drawn": 0}

    def counting(name: str, honest: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **named: Any) -> Any:
            tally[name] += 1
            return honest(*args, **named)

        return run

    def profile(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(rooms):
            seen.add((code.co_filename.removeprefix(rooms + "/"), code.co_qualname))

    whole(folder, "warm", 0)
    patched = [
        (ledger.Ledger, "read", "ledger read"),
        (shelf, "fold", "folded"),
        (lock, "_acquired", "locks"),
        (note, "entry_body", "entries drawn"),
        (note, "note_body", "entries drawn"),
    ]
    honest = [getattr(owner, name) for owner, name, _ in patched]
    for (owner, name, label), function in zip(patched, honest, strict=True):
        setattr(owner, name, counting(label, function))
    sys.setprofile(profile)
    try:
        whole(folder, "counted", 1)
    finally:
        sys.setprofile(None)
        for (owner, name, _), function in zip(patched, honest, strict=True):
            setattr(owner, name, function)
    left_out = ("text/", "arguments/", "host/")
    core = {
        (file, name)
        for file, name in seen
        if not file.startswith(left_out) and "<" not in name.rpartition(".")[2]
    }
    return {
        "functions": len(core),
        "modules": len({file for file, _ in core}),
        **tally,
    }


def cold(root: Path, topic: str) -> float:
    """CPU of prepare when nothing of the folder has been seen by this process yet."""
    shelf._copies.clear()
    listing._listings.clear()
    shelf._places.clear()
    started = time.process_time()
    prepare.prepare(arguments(topic, 7), call_in(root, "cold"))
    return time.process_time() - started


def long_chain(root: Path, hops: int) -> list[float]:
    """CPU of each hop there and back in one chain."""
    root.mkdir(parents=True)
    costs = []
    for number in range(hops):
        costs.append(sum(whole(root, "one topic", number).values()))
    return costs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true")
    full = parser.parse_args().full
    missed = []
    with tempfile.TemporaryDirectory() as made:
        base = Path(made)
        folder = filled(base / "counted", 0)
        aims = {"functions": 150, "modules": 25, "ledger read": 3, "folded": 3, "locks": 4}
        aims["entries drawn"] = 2
        print("One handover, there and back")
        for name, number in counts(folder).items():
            aim = aims[name]
            missed += [name] if number > aim else []
            print(f"  {name:<22} {number:>5}   aim at most {aim}")

        empty = least(filled(base / "empty", 0), "bench")
        HandoverFolder.open(str(base / "empty"))
        encode = tokens.encoder()
        package = prepare.prepare(
            arguments("weighed", 3), call_in(filled(base / "weighed", 0))
        ).packed.package.text
        if encode is not None:
            encoded = min(_timed(lambda: encode(package)) for _ in range(200))
            ratio = empty["prepare"] / encoded
            print(
                f"prepare / encoding its package ({len(encode(package)):,} tokens) once: {ratio:.1f}"
                "   aim at most 12"
            )
            missed += ["prepare against encoding"] if ratio > 12 else []

        print("CPU as a multiple of the empty project's; aim at most 1.2")
        sizes = (1_000, 10_000) if full else (1_000,)
        projects = [(f"{size:,} chains", filled(base / str(size), size)) for size in sizes]
        projects.append(("1,000 chats, one topic", filled(base / "same", 1_000, same_topic=True)))
        for label, root in projects:
            first = cold(root, "bench 0")
            spent = least(root, "bench")
            ratios = {name: spent[name] / empty[name] for name in spent}
            shown = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
            print(f"  {label}: {shown}; first call of a process {first / empty['prepare']:.1f}")
            missed += [f"{label}: {name}" for name, ratio in ratios.items() if ratio > 1.2]

        costs = long_chain(base / "long", 200)
        early, late = sum(costs[20:40]), sum(costs[180:200])
        print(
            f"a chain of 200 hops: hops 181-200 cost {late / early:.1f} times hops 21-40 (9 is linear)"
        )
        missed += ["chain of 200 hops"] if late / early > 12 else []
    if missed:
        print("MISSED: " + "; ".join(missed))
    return 1 if missed else 0


def _timed(run: Callable[[], object]) -> float:
    started = time.process_time()
    run()
    return time.process_time() - started


if __name__ == "__main__":
    sys.exit(main())

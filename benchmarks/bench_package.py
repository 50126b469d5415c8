"""CPU of making a package from a chat of 2,000 turns, as a multiple of encoding the finished package once.

    python benchmarks/bench_package.py           prints a table; exit 1 when making a package costs more than 1.5 times

"package" is what makes the text: rendering the packet, counting it, fitting it. "call" is everything that a call does before
it writes: reading the arguments with all 2,000 turns in them, masking, merging, hashing, packaging. Each figure is the least
of many runs with empty caches; encoding is tiktoken's own. A package that has to be fitted needs an exact count of all that
was asked to travel: its figure is the multiple of encoding that once, and not held to the bound.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
import execute

execute.make_importable()
sys.path.remove(str(ROOT))

from usr.plugins.software_orchestrator.helpers.flow import package, prepare
from usr.plugins.software_orchestrator.helpers.records import resources
from usr.plugins.software_orchestrator.helpers.records.local import local_ports
from usr.plugins.software_orchestrator.helpers.text import tokens
from usr.plugins.software_orchestrator.helpers.values.call import Caller, Ports
from usr.plugins.software_orchestrator.helpers.values.settings import settings

TURNS, SEED, RUNS, MOST = 2_000, 20260605, 60, 1.5
WORDS = re.findall(
    r"\S+",
    "the client wants a quote form with three fields and one button that sends it to the office by mail; the address "
    "stays in the footer, prices are not shown, and a visitor on a phone must be able to fill it in within a minute",
)
CASES = (
    ("the newest 5 turns", 5, 3_000),
    ("the newest 20 turns", 20, 3_000),
    ("1,000 turns, all of them", 1_000, 200_000),
)
FITTED = ("1,000 turns, fitted", 1_000, 3_000)


def chat() -> list[str]:
    dice = random.Random(SEED)
    return [
        f"{'assistant' if n % 2 else 'user'}: {' '.join(dice.choices(WORDS, k=90 if n % 2 else 30))}."
        for n in range(TURNS)
    ]


def arguments(root: Path, count: int, limit: int) -> dict[str, object]:
    dice = random.Random(SEED + 1)

    def sentence(words: int) -> str:
        return " ".join(dice.choices(WORDS, k=words))

    return {
        "specialist_profile": "frontend_designer",
        "topic": "Quote form",
        "project_root": str(root),
        "goal": sentence(15),
        "summary": sentence(180),
        "decisions": [sentence(18) for _ in range(8)],
        "state": {f"field_{n}": sentence(4) for n in range(6)},
        "next_action": sentence(12),
        "recent_turns": chat(),
        "include_recent_turns": count,
        "max_context_tokens": limit,
    }


def cpu_ms(work: Callable[[], object]) -> float:
    """The least CPU time of several runs, in milliseconds."""
    least = float("inf")
    for _ in range(RUNS):
        tokens.counter().forget()
        begun = time.process_time()
        work()
        least = min(least, time.process_time() - begun)
    return least * 1000


def measure(name: str, count: int, limit: int, ports: Ports, of_asked: bool = False) -> float:
    """Print a row; the package's CPU over that of encoding it (or, `of_asked`, all that was asked to travel) once."""
    chosen = settings(resources.default_settings())
    encode = tokens.encoder()
    with tempfile.TemporaryDirectory() as folder:
        caller, given = Caller(), arguments(Path(folder), count, limit)
        plan = prepare.preview(given, caller, chosen, ports).plan
        where = prepare.HandoverFolder.open(folder)
        whole = plan.package.text
        if of_asked:
            given_whole = {**given, "overflow": "whole"}
            whole = prepare.preview(given_whole, caller, chosen, ports).packed.package.text
        once = cpu_ms(lambda: encode(whole))
        given_to = (plan.request, plan.specialist, plan.built, where, ports)
        made = cpu_ms(lambda: package.packaged(*given_to, artifact_status={}))
        call = cpu_ms(lambda: prepare.preview(given, caller, chosen, ports))
    print(
        f"{name:28} {plan.package.tokens:>8,} {once:>9.2f} {made:>9.2f} {made / once:>7.2f} {call:>9.2f}"
    )
    return made / once


def main() -> int:
    if tokens.counter().name == "estimate":
        print("tiktoken or its vocabulary is not installed", file=sys.stderr)
        return 1
    ports = local_ports()
    print(
        f"{'from a chat of 2,000 turns':28} {'tokens':>8} {'encode ms':>9} {'package':>9} {'times':>7} {'call ms':>9}"
    )
    ratios = [measure(*case, ports) for case in CASES]
    measure(*FITTED, ports, of_asked=True)
    return 0 if max(ratios) <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())

"""Every byte and line of a ledger and its briefings changed, dropped, doubled, moved: is it told, or did nothing change?

    python benchmarks/attack_records.py [--seconds 600] [--json]

An attack is missed where what counts of the record is another one afterwards (states, packets, declines, a stop; the
bytes of an entry) and `verify` does not name it, or who hands over on the chain is not told. Exit code 1 when one was
missed. The places are taken in an even order, so that a run that ends at its time has looked everywhere a little.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import conftest  # noqa: F401 - makes the plugin importable by its name

from usr.plugins.software_orchestrator.helpers.chain.chain import Chain, fold
from usr.plugins.software_orchestrator.helpers.records import accounts
from usr.plugins.software_orchestrator.helpers.records.ledger import Ledger
from usr.plugins.software_orchestrator.helpers.records.verify import verify
from usr.plugins.software_orchestrator.tests.core.chain_maker import KEY, ChainMaker, hero_chain

Attack = Callable[[bytes, int], bytes]


# --- attacks: the content and a place in it -> another content


def changed(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def dropped(content: bytes, place: int) -> bytes:
    return content[:place] + content[place + 1 :]


def doubled(content: bytes, place: int) -> bytes:
    return content[: place + 1] + content[place:]


def moved(content: bytes, place: int) -> bytes:
    """To a place a third of the file away."""
    rest = dropped(content, place)
    target = (place + len(content) // 3) % len(content)
    return rest[:target] + content[place : place + 1] + rest[target:]


def cut(content: bytes, place: int) -> bytes:
    return content[:place]


def _lines(attack: Callable[[list[bytes], int], list[bytes]]) -> Attack:
    return lambda content, line: b"".join(attack(content.splitlines(keepends=True), line))


def zeroed(lines: list[bytes], at: int) -> list[bytes]:
    return [*lines[:at], b"\0" * len(lines[at]), *lines[at + 1 :]]


def removed(lines: list[bytes], at: int) -> list[bytes]:
    return [*lines[:at], *lines[at + 1 :]]


def repeated(lines: list[bytes], at: int) -> list[bytes]:
    return [*lines[: at + 1], *lines[at:]]


def swapped(lines: list[bytes], at: int) -> list[bytes]:
    """With the next one, the last with the first."""
    other = (at + 1) % len(lines)
    swapped = list(lines)
    swapped[at], swapped[other] = lines[other], lines[at]
    return swapped


def with_cr_lf(lines: list[bytes], at: int) -> list[bytes]:
    return [line[:-1] + b"\r\n" if number >= at else line for number, line in enumerate(lines)]


BYTES: dict[str, Attack] = {
    "byte changed": changed,
    "byte dropped": dropped,
    "byte doubled": doubled,
    "byte moved": moved,
    "cut off behind": cut,
}
LINES: dict[str, Attack] = {
    "line zeroed": _lines(zeroed),
    "line taken out": _lines(removed),
    "line doubled": _lines(repeated),
    "two lines swapped": _lines(swapped),
    "CR LF from a line on": _lines(with_cr_lf),
}


# --- a record, and what is said of it


class Target:
    """A file of a record that can be attacked; `path` stands again as it was after each attack."""

    def __init__(self, made: ChainMaker, path: Path) -> None:
        self.made, self.path = made, path
        self.content = path.read_bytes()

    def look(self) -> tuple[Any, bool]:
        """What counts, and whether who hands over is told that something is wrong."""
        raise NotImplementedError

    def named(self) -> bool:
        return any(result.faults for result in verify([self.made.folder], KEY))

    def _chain(self) -> tuple[Ledger, Chain, tuple[Any, ...]]:
        ledger = Ledger(self.made.ledger, KEY)
        reading = ledger.read()
        return ledger, fold(self.made.chain_id, reading.events, reading.gaps), reading.events


class LedgerTarget(Target):
    def look(self) -> tuple[Any, bool]:
        _, chain, _ = self._chain()
        counts = [(item.id, item.state, item.latest) for item in chain.handovers]
        told = bool(chain.damage or chain.foreign)
        return (counts, chain.stop, dict(chain.declined), chain.newest), told


class BriefingTarget(Target):
    """What counts are the bytes between the first and the last entry; a person may add behind."""

    def look(self) -> tuple[Any, bool]:
        accounts._known.clear()
        ledger, _, events = self._chain()
        account = accounts.account(self.made.folder, self.path, self.made.topic, ledger, events)
        return self.path.read_bytes()[: len(self.content)], bool(account.lines())


def targets(root: Path) -> tuple[LedgerTarget, BriefingTarget]:
    """A chain with three handovers, a question, a refusal, declines and a stop at its end."""
    made = hero_chain(root)
    made.stop("max_handovers_per_chain 12 is reached")
    (briefing,) = [path for path in made.folder.briefings() if path.name.startswith("frontend")]
    return LedgerTarget(made, made.ledger), BriefingTarget(made, briefing)


def judge(target: Target, attacked: bytes, before: Any) -> str:
    """`told`, `unchanged` or `missed`."""
    target.path.write_bytes(attacked)
    try:
        counts, told = target.look()
        if counts == before:
            return "unchanged"
        return "told" if told and target.named() else "missed"
    finally:
        target.path.write_bytes(target.content)


# --- the run


def places(count: int) -> Iterator[int]:
    """All numbers below `count`, those far from each other first."""
    step = max(1, round(count * 0.6180339887))
    while _gcd(step, count) != 1:
        step += 1
    for number in range(count):
        yield number * step % count


def _gcd(one: int, other: int) -> int:
    while other:
        one, other = other, one % other
    return one


def run(seconds: float) -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        both = targets(Path(folder) / "project")[::-1]  # the smaller first: its time is left over
        kinds = len(BYTES) + len(LINES)
        ends = time.monotonic()
        for target in both:
            before, told = target.look()
            assert not told, "the record must be whole before it is attacked"
            what = "ledger" if isinstance(target, LedgerTarget) else "briefing"
            for how, attack in {**BYTES, **LINES}.items():
                ends += seconds / kinds / len(both)
                by_line = how in LINES
                most = target.content.count(b"\n") if by_line else len(target.content)
                found: Counter[str] = Counter()
                missed = []
                for place in places(most):
                    if time.monotonic() > ends:
                        break
                    attacked = attack(target.content, place)
                    if attacked == target.content:
                        continue
                    verdict = judge(target, attacked, before)
                    found[verdict] += 1
                    if verdict == "missed":
                        missed.append(place)
                rows.append({"what": what, "how": how, "places": most, **found, "at": missed[:10]})
                print(_line(rows[-1]), file=sys.stderr, flush=True)
    return rows


def _line(row: dict[str, Any]) -> str:
    counts = [row.get(name, 0) for name in ("told", "unchanged", "missed")]
    cells = [row["what"], row["how"], f"{sum(counts):,} of {row['places']:,}"]
    return "| " + " | ".join([*cells, *(f"{count:,}" for count in counts)]) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600, help="at most (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="the rows as JSON")
    asked = parser.parse_args()
    rows = run(asked.seconds)
    if asked.json:
        print(json.dumps(rows, indent=2))
    else:
        print("| attacked | how | times | named and told | nothing that counts changed | missed |")
        print("|---|---|---|---|---|---|")
        print("\n".join(map(_line, rows)))
    return int(any(row.get("missed") for row in rows))


if __name__ == "__main__":
    sys.exit(main())

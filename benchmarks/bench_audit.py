"""Verifying a large record: 10,000 briefings with 50,000 entries (100 MB) and their ledgers, in a temporary folder.

    python benchmarks/bench_audit.py [--briefings 10000] [--keep FOLDER]

Beside our own: the floor (every byte read and hashed once), and the peer (python-frontmatter reads the briefings, and a plain
loop follows the chain of hashes in the ledgers). CPU time of one process each, in a process of its own; peak memory is
measured with tracemalloc in a second run. Generating takes about a minute and is not measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import conftest  # noqa: F401 - makes the plugin importable by its name

from usr.plugins.software_orchestrator.helpers.records import briefing, verify
from usr.plugins.software_orchestrator.helpers.records.book import entry_of
from usr.plugins.software_orchestrator.helpers.records.folder import HandoverFolder
from usr.plugins.software_orchestrator.helpers.records.identity import signer_of, writer_of
from usr.plugins.software_orchestrator.helpers.records.ledger import Ledger
from usr.plugins.software_orchestrator.helpers.values.events import KINDS, about
from usr.plugins.software_orchestrator.helpers.values.packet import (
    Decision,
    HandoverPacket,
    Identity,
    StateField,
)
from usr.plugins.software_orchestrator.helpers.values.trust import Trust, Trusted

KEY, OTHER_KEY = b"b" * 32, b"o" * 32
SEALS = ("sha", "mac", "sig")
ENTRIES_EACH = 5
TARGET, TARGET_SHARED = 3.0, 4.0
SPECIALISTS = ("frontend_designer", "quality_reviewer")
SENTENCE = (
    "The old hero loads a video of eight megabytes on every phone, which the person does not want. "
)


# --- the record ------------------------------------------------------------------------------------------------------


def generate(root: Path, briefings: int, shared: bool = False) -> None:
    """Half as many chains as briefings; each chain hands over to two specialists in turn until both files have 5 entries.

    `shared`: another installation, which is trusted, wrote every second chain.
    """
    folder = HandoverFolder.open(str(root), create=True)
    syncs, os.fsync = os.fsync, lambda fd: None
    try:
        for number in range(briefings // len(SPECIALISTS)):
            key = OTHER_KEY if shared and number % 2 else KEY
            _chain(folder, f"Topic {number}", number, key)
    finally:
        os.fsync = syncs


def _chain(folder: HandoverFolder, topic: str, number: int, key: bytes) -> None:
    now, made = datetime(2026, 6, 5, 8, tzinfo=UTC), [number * 1000]

    def new_id(prefix: str) -> str:
        made[0] += 1
        return f"{prefix}-{made[0]:016x}"

    chain_id = folder.chain_id(topic, "bench")
    ledger = Ledger(
        folder.ledger_path(chain_id, writer_of(key)), key, clock=lambda: now, new_id=new_id
    )
    for hop in range(1, ENTRIES_EACH + 1):
        receiver = SPECIALISTS[hop % 2]
        packet = _packet(
            topic,
            Identity(
                handover_id=new_id("ho"),
                chain_id=chain_id,
                hop=hop,
                depth=0,
                sender="a0_software_orchestrator",
                receiver=receiver,
                created_at="",
            ),
        )
        _write(
            folder,
            ledger,
            packet,
            "prepared",
            limit=3000,
            estimated=700,
            delivered=700,
            omitted=[],
            turns=0,
            token_counter="cl100k_base",
        )
        _plain(ledger, packet, "delivered", tokens=700)
        now += timedelta(minutes=1)
        _plain(ledger, packet, "accepted", implicit=False)
        now += timedelta(minutes=20)
        # The other file gets the verdict, so that both have as many entries.
        note = {"what_happened": SENTENCE * 14, "next": "Review"}
        other = packet.model_copy(
            update={
                "identity": packet.identity.model_copy(
                    update={"receiver": SPECIALISTS[(hop + 1) % 2]}
                )
            }
        )
        _write(
            folder,
            ledger,
            other,
            "done",
            note=note,
            outcome="completed",
            implicit=False,
            hand_to="",
        )


def _packet(topic: str, identity: Identity) -> HandoverPacket:
    return HandoverPacket(
        identity=identity,
        topic=topic,
        goal="Replace the hero of the landing page",
        summary=SENTENCE * 8,
        decisions=tuple(
            Decision(
                id=f"d{n}",
                text=SENTENCE,
                rationale="8 MB on phones",
                evidence=("lighthouse.json",),
                owner="x",
            )
            for n in range(6)
        ),
        state=tuple(
            StateField(field=f"field_{n}", value="last two versions", hop=1) for n in range(6)
        ),
        next_action="Build the static hero",
        return_condition="user_request",
    )


def _write(
    folder: HandoverFolder, ledger: Ledger, packet: HandoverPacket, kind: str, **data: Any
) -> None:
    (event,) = ledger.append(
        [about(packet, KINDS[kind].model_validate({"packet": packet, **data}))]
    )
    name = folder.briefing_name(packet.identity.receiver, packet.topic, event.time)
    entry = entry_of(event)
    plan = briefing.plan(folder, name, entry)
    _plain(ledger, packet, "briefed", event=event.id, **plan.to_data())
    briefing.append(folder, plan, entry)


def _plain(ledger: Ledger, packet: HandoverPacket, kind: str, **data: Any) -> None:
    ledger.append([about(packet, KINDS[kind].model_validate(data))])


# --- what is measured ------------------------------------------------------------------------------------------------


def ours(root: Path) -> str:
    entries = events = size = 0
    for result in _results(root):
        assert not result.findings, "a generated record must be healthy"
        entries, events, size = (
            entries + result.entries,
            events + result.events,
            size + result.bytes,
        )
    return f"{entries:,} entries, {events:,} events, {size:,} bytes"


def _results(root: Path) -> Any:
    other = signer_of(OTHER_KEY)
    assert other is not None
    trust = Trust((), (Trusted(name="workshop", key=other.public),))
    return verify.verify([HandoverFolder.open(str(root))], KEY, trust=trust)


def floor(root: Path) -> str:
    size = 0
    for path in _files(root):
        with open(path, "rb") as file:  # noqa: PTH123 - the cheapest way is the point
            content = file.read()
        hashlib.sha256(content).hexdigest()
        size += len(content)
    return f"{size:,} bytes"


def peer(root: Path) -> str:
    import frontmatter

    entries = events = 0
    for path in _files(root):
        if path.endswith(".md"):
            entries += frontmatter.load(path).content.count("\n<!-- handover:end ")
            continue
        prev = ""
        with open(path, "rb") as file:  # noqa: PTH123
            for line in file:
                event = json.loads(line)
                body = {name: value for name, value in event.items() if name not in SEALS}
                text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
                assert event["prev"] == prev
                assert hashlib.sha256(text.encode()).hexdigest() == event["sha"]
                prev, events = event["sha"], events + 1
    return f"{entries:,} entries, {events:,} events, no hash of an entry is checked"


def _files(root: Path) -> list[str]:
    folder = root / ".a0proj/handover"
    return [
        entry.path
        for place in (folder, folder / "chains")
        for entry in os.scandir(place)
        if entry.name.endswith((".md", ".jsonl"))
    ]


CONTENDERS = {"floor": floor, "ours": ours, "peer": peer}


def measure(name: str, root: Path) -> dict[str, Any]:
    """CPU seconds of one run in this process."""
    start = time.process_time()
    told = CONTENDERS[name](root)
    return {"cpu_s": time.process_time() - start, "told": told}


def peak_memory(root: Path) -> int:
    """Peak of Python's memory in bytes while verifying, results dropped as a program that prints them does."""
    tracemalloc.start()
    for _ in _results(root):
        pass
    return tracemalloc.get_traced_memory()[1]


def _apart(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, *arguments], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--briefings", type=int, default=10_000)
    parser.add_argument(
        "--keep", type=Path, help="use this folder, made when it is not there, and keep it"
    )
    parser.add_argument("--measure", choices=[*CONTENDERS, "memory"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure == "memory":
        print(json.dumps({"bytes": peak_memory(options.keep)}))
        return
    if options.measure:
        print(json.dumps(measure(options.measure, options.keep)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        for shared, target in ((False, TARGET), (True, TARGET_SHARED)):
            root = (options.keep or Path(temporary)) / ("shared" if shared else "own")
            if not (root / ".a0proj").exists():
                root.mkdir(exist_ok=True, parents=True)
                generate(root, options.briefings, shared)
            print("half of it a trusted other's" if shared else "all of it one's own")
            _report(root, target)


def _report(root: Path, target: float) -> None:
    floor(root)  # once unmeasured, so that every contender finds the files in memory
    found = {
        name: min(
            (_apart("--measure", name, "--keep", str(root)) for _ in range(3)),
            key=lambda one: one["cpu_s"],
        )
        for name in CONTENDERS
    }
    least = found["floor"]["cpu_s"]
    print(f"{'':24} {'CPU s':>8} {'x floor':>8}  what was checked")
    for name, label in (
        ("floor", "read + sha256"),
        ("ours", "verify"),
        ("peer", "frontmatter + chain"),
    ):
        one = found[name]
        print(f"{label:24} {one['cpu_s']:8.2f} {one['cpu_s'] / least:8.2f}  {one['told']}")
    print(
        f"peak memory of verify: {_apart('--measure', 'memory', '--keep', str(root))['bytes'] / 1e6:.1f} MB"
    )
    if found["ours"]["cpu_s"] > target * least:
        print(
            f"MISSED: verify may take {target:g} times read + sha256 (other work on the machine moves the ratio)"
        )


if __name__ == "__main__":
    main()

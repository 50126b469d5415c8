"""What came out, as figures and as tables."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import Any

from .receivers import ARMS
from .store import Store

Summary = dict[str, Any]
_SUMS = (
    "facts", "by_fields", "by_person_said", "in_package", "declines", "declines_as_such",
    "declines_invented", "declines_claimed", "false", "false_as_the_persons",
)  # fmt: skip


def senders(store: Store) -> Summary:
    """Counts over all chats and seeds."""
    rows = [row for _, row in store.of("sender")]
    faulty = [row for _, row in store.of("repair")]
    accepted = [row for row in rows if row["accepted"]]
    return {
        "chats": len(rows),
        "called": sum(row["called"] for row in rows),
        "accepted": len(accepted),
        "accepted_at_once": sum(row["errors"] == 0 for row in accepted),
        "right_specialist": sum(row["right"] for row in accepted),
        **{name: sum(row[name] for row in accepted) for name in _SUMS},
        "faulty_calls": len(faulty),
        "mended": sum(row["mended"] for row in faulty),
    }


def receivers(store: Store) -> list[Summary]:
    """A row for each arm and hop, with the spread over the seeds in points."""
    grouped: dict[tuple[str, int], list[tuple[int, Summary]]] = defaultdict(list)
    for (_, _, arm, hop, seed), row in store.of("receiver"):
        grouped[arm, hop].append((seed, row))
    order = sorted(grouped, key=lambda group: (group[1], ARMS.index(group[0])))
    return [_arm(arm, hop, grouped[arm, hop]) for arm, hop in order]


def _arm(arm: str, hop: int, rows: list[tuple[int, Summary]]) -> Summary:
    questions = sum(row["questions"] for _, row in rows)
    by_seed = [_share([row for at, row in rows if at == seed]) for seed in {at for at, _ in rows}]
    return {
        "arm": arm,
        "hop": hop,
        "exams": len(rows),
        "seeds": len(by_seed),
        "questions": questions,
        "right_percent": round(_share([row for _, row in rows]), 1),
        "spread": [round(min(by_seed), 1), round(max(by_seed), 1)],
        "tokens_read": round(statistics.mean(row["tokens"] for _, row in rows)),
        "asked_again": sum(row["asked_again"] for _, row in rows),
        "declines_asked_again": sum(row["declines_asked_again"] for _, row in rows),
    }


def _share(rows: list[Summary]) -> float:
    return 100 * sum(row["right"] for row in rows) / sum(row["questions"] for row in rows)


def show(summary: Summary) -> None:
    """Two tables on the terminal."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    first = Table("Senders", "count")
    for name, value in summary["senders"].items():
        first.add_row(name.replace("_", " "), str(value))
    columns = (
        "arm",
        "hop",
        "exams",
        "right_percent",
        "spread",
        "tokens_read",
        "asked_again",
        "declines_asked_again",
    )
    second = Table(*[name.replace("_", " ") for name in columns])
    for row in summary["receivers"]:
        second.add_row(*[str(row[name]) for name in columns])
    console.print(first, second)

"""How often a real decline is doubted and an invented one caught, and what a look at a long chat costs.

    python benchmarks/bench_grounding.py            figures
    python benchmarks/bench_grounding.py --list     also every decline that was judged wrongly

The corpus is `tests/data/grounding.py`. Prints one JSON object; exit 1 when a real decline is doubted. Times are wall seconds of
one run on one machine: `first_s` reads a log of 10,000 messages for the first time, `again_s` after one more message.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import types
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
for _name, _path in (
    ("usr", []),
    ("usr.plugins", []),
    ("usr.plugins.software_orchestrator", [str(ROOT)]),
):
    _module = types.ModuleType(_name)
    _module.__path__ = _path
    sys.modules.setdefault(_name, _module)

from usr.plugins.software_orchestrator.helpers.history import grounding, heard, log
from usr.plugins.software_orchestrator.helpers.values.packet import (
    Decision,
    StateField,
)
from usr.plugins.software_orchestrator.tests.data import grounding as corpus

Chat = list[Any]
MESSAGES = 10_000
LIMIT = 10**9


def lines_of(messages: Iterable[Any]) -> Iterable[bytes]:
    """The lines of a log; a tuple is what the agent said."""
    for message in messages:
        if isinstance(message, tuple):
            call = {"tool_name": "response", "tool_args": {"text": message[0]}}
            record = {"id": "a", "ai": True, "content": json.dumps(call)}
        else:
            record = {"id": "u", "ai": False, "content": {"user_message": message}}
        source = log.Source(person=lambda words: heard.CHAT)
        yield log.line_of(record, source, "2026-06-05T14:03:07.123456Z", str)


def is_doubted(path: Path, field: str, messages: Chat) -> bool | None:
    """Whether the decline of the field is taken for a claim; None where nothing is checked."""
    for line in lines_of(messages):
        log.append(path, line, LIMIT)
    known = heard.heard(str(path))
    spoken = sum(isinstance(message, str) for message in messages)
    if known is None or not known.is_whole(spoken, 0):
        return None
    return not grounding.is_founded(StateField(field=field, status="declined"), (), known)


def judged(cases: Iterable[tuple[str, str, Chat]], folder: Path) -> dict[str, Any]:
    """By language how many there are, how many are doubted, how many are not checked."""
    counts: dict[str, Counter[str]] = {}
    told = []
    for number, (language, field, messages) in enumerate(cases):
        verdict = is_doubted(folder / f"{len(told)}-{number}-{field}.jsonl", field, messages)
        count = counts.setdefault(language, Counter(all=0, doubted=0, unchecked=0))
        count["all"] += 1
        count["doubted"] += verdict is True
        count["unchecked"] += verdict is None
        told.append((verdict, language, field, messages))
    total = sum(counts.values(), Counter())
    return {
        "total": dict(total),
        "by_language": {k: dict(v) for k, v in counts.items()},
        "told": told,
    }


def real() -> Iterable[tuple[str, str, Chat]]:
    for language, fields in corpus.REAL.items():
        for field, texts in fields.items():
            for text in texts:
                said = text if isinstance(text, list) else [text]
                yield language, field, [corpus.OPENING[language], *said]
    for language, texts in corpus.SAID_WITHOUT_THE_NAME.items():
        for text in texts:
            yield language, "prices", [corpus.OPENING[language], text]


def invented() -> Iterable[tuple[str, str, Chat]]:
    for language, chats in corpus.NOTHING_DECLINED.items():
        for messages in chats:
            for field in corpus.INVENTED:
                yield language, field, messages


def cost(folder: Path) -> dict[str, float]:
    path = folder / "long.jsonl"
    chats = [message for chats in corpus.NOTHING_DECLINED["en"] for message in chats]
    talk = [
        (f"Done with {n}.",) if n % 2 else f"{chats[n % len(chats)]} ({n})" for n in range(MESSAGES)
    ]
    path.write_bytes(b"".join(lines_of(talk)))
    times = {}
    for name in ("first_s", "again_s"):
        start = time.perf_counter()
        known = heard.heard(str(path))
        assert known is not None
        known.is_whole(MESSAGES // 2, 0)
        grounding.is_founded(StateField(field="prices", status="declined"), (), known)
        grounding.contradicts(Decision(text="Use Redis for sessions"), known)
        times[name] = round(time.perf_counter() - start, 4)
        log.append(path, next(iter(lines_of(["And a map, please."]))), LIMIT)
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="name what was judged wrongly")
    wants_list = parser.parse_args().list
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures: dict[str, Any] = {}
        for kind, cases, wrong in (
            ("real", real(), (True,)),
            ("invented", invented(), (False, None)),
        ):
            (folder / kind).mkdir()
            figures[kind] = judged(cases, folder / kind)
            for verdict, *case in figures[kind].pop("told"):
                if wants_list and verdict in wrong:
                    print(kind, *case, file=sys.stderr)
        figures["messages_10000"] = cost(folder)
    print(json.dumps(figures, ensure_ascii=False, indent=1))
    return 1 if figures["real"]["total"].get("doubted") else 0


if __name__ == "__main__":
    sys.exit(main())

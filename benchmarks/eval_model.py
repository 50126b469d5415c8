"""How well a model hands over with this plugin, and how much of a chat its receivers still know.

    python benchmarks/eval_model.py --api-base http://127.0.0.1:8000/v1 --model NAME
    python benchmarks/eval_model.py ... --part receivers --chats bakery,clinic --hops 1,3,5 --seeds 1,2,3

Senders: 24 chats and 10 faulty calls. Receivers: 12 closed questions a chat, asked in one call, by arm and hop
(evaluation/receivers.py says what the arms are). Any OpenAI-compatible address will do; the key comes from OPENAI_API_KEY.
Everything is kept in --out, one JSON line each: the same command goes on where it was stopped. Prints tables, writes
summary.json and, of receivers, arms.svg there. `--report` only prints what is there. Needs requirements-bench.txt.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
import execute

execute.make_importable()
sys.path.remove(str(ROOT))

from usr.plugins.software_orchestrator.benchmarks.evaluation import (
    chats,
    picture,
    receivers,
    senders,
    tables,
)
from usr.plugins.software_orchestrator.benchmarks.evaluation.model import Model
from usr.plugins.software_orchestrator.benchmarks.evaluation.store import Key, Store

# The published run; the full grid is `--hops 1,3,5` with more seeds.
PARTS = ("all", "senders", "repairs", "receivers")
HOPS, SEEDS = (1, 5), (1, 2, 3)
Job = tuple[Key, Callable[[], dict[str, Any]]]


def jobs(asked: argparse.Namespace, model: Model, store: Store) -> Iterator[Job]:
    """All that is to be asked of the model, each with the key of its result."""
    wanted = [chat for chat in chats.load() if not asked.chats or chat.id in asked.chats]
    by_id = {chat.id: chat for chat in chats.load()}
    for seed in asked.seeds:
        for chat in wanted if asked.part in ("all", "senders") else ():
            yield ["sender", chat.id, seed], partial(senders.send, chat, model, seed)
        for number, (chat_id, _) in enumerate(senders.FAULTY):
            if asked.part in ("all", "repairs"):
                run = partial(senders.repair, number, by_id[chat_id], model, seed)
                yield ["repair", number, seed], run
    for chat in wanted if asked.part in ("all", "receivers") else ():
        if not chat.questions:
            continue
        passing = receivers.Passing(chat, model, store)
        for seed in asked.seeds:
            for hop in asked.hops:
                for arm in asked.arms:
                    yield (
                        ["receiver", chat.id, arm, hop, seed],
                        partial(passing.answer, arm, hop, seed),
                    )


def run(todo: list[Job], store: Store) -> None:
    """Do what is not done yet, with a bar that says how much is left."""
    from rich.progress import track

    left = [(key, job) for key, job in todo if store.get(key) is None]
    for key, job in track(left, description=f"{len(todo) - len(left)} of {len(todo)} done before"):
        store.put(key, job())


def report(asked: argparse.Namespace, store: Store) -> None:
    summary = {
        "model": asked.model,
        "senders": tables.senders(store),
        "receivers": tables.receivers(store),
    }
    text = json.dumps(summary, indent=1, ensure_ascii=False) + "\n"
    (asked.out / "summary.json").write_text(text, encoding="utf-8")
    if summary["receivers"]:
        (asked.out / "arms.svg").write_text(picture.draw(summary["receivers"]), encoding="utf-8")
    tables.show(summary)


def numbers(line: str) -> tuple[int, ...]:
    return tuple(map(int, line.split(",")))


def names(line: str) -> tuple[str, ...]:
    return tuple(line.split(","))


def options(args: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--api-base", required=True, help="address that ends before /chat/completions"
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--temperature", type=float, default=0.3)
    parser.add_argument("--part", choices=PARTS, default="all")
    parser.add_argument("--chats", type=names, default=(), help="ids, all without it")
    parser.add_argument("--hops", type=numbers, default=HOPS)
    parser.add_argument("--seeds", type=numbers, default=SEEDS)
    parser.add_argument("--arms", type=names, default=receivers.ARMS)
    parser.add_argument("--out", type=Path, default=ROOT / "build/evaluation")
    parser.add_argument("--report", action="store_true", help="ask nothing, print what is there")
    return parser.parse_args(args)


def main(args: list[str] | None = None) -> None:
    asked = options(args)
    asked.out.mkdir(parents=True, exist_ok=True)
    store = Store(asked.out / "results.jsonl")
    model = Model(asked.api_base, asked.model, asked.temperature)
    try:
        if not asked.report:
            run(list(jobs(asked, model, store)), store)
    finally:
        report(asked, store)


if __name__ == "__main__":
    main()

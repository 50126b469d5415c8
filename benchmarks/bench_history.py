"""What a history request costs, beside encoding its result once and beside langchain-core's trim_messages.

    python benchmarks/bench_history.py                   1,000, 10,000 and 100,000 messages; minutes
    python benchmarks/bench_history.py --sizes 1000      one size
    python benchmarks/bench_history.py --no-peer         without trim_messages

"Encoding" is tiktoken's own `encode_ordinary` with the published pattern, and trim_messages counts with it; ours counts with
the expression of `helpers/text/tokens.py`. A request is measured on the host's records (`compact`; `first_glance` is the index that
the first request of a chat makes of them) and on lines of our log (`log`; the index is made of their heads).

All figures of a line are CPU seconds of one run on one machine, the best of several rounds; ratios are what counts. The chats are
seeded: six languages, code, logs, JSON. Prints one JSON object; exit 1 when a result is above the cap, is not filled, or has
lost the goal, a decision or the newest turn. A ratio that misses its aim is marked, not an error: other work on the machine
moves it.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import random
import sys
import tempfile
import time
import tracemalloc
import types
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

for _name, _path in (
    ("usr", []),
    ("usr.plugins", []),
    ("usr.plugins.software_orchestrator", [str(ROOT)]),
):
    if _name not in sys.modules:
        sys.modules[_name] = types.ModuleType(_name)
        sys.modules[_name].__path__ = _path

from usr.plugins.software_orchestrator.helpers.history.compaction import CountCache, compact
from usr.plugins.software_orchestrator.helpers.history.log import Source, line_of, open_log
from usr.plugins.software_orchestrator.helpers.history.transcript import Transcript
from usr.plugins.software_orchestrator.helpers.text import tokens

CAP = 50_000
SEED = 20260605
GOAL = "GOAL: make the order import idempotent and keep the public API as it is."
DECISIONS = tuple(
    f"We decided: rule {at}, the import key number {at} must never change." for at in range(8)
)
DECLINE = "Don't ask me again about the billing service."
NEWEST = "The newest turn: now run the eight writers."
# messages -> bytes of one on average: 0.6, 4 and 45 MB
SIZES = {1_000: 600, 10_000: 400, 100_000: 450}

WORDS = {
    "en": "the order service stores an event twice when a retry follows a timeout and the client sends the same key again",
    "de": "bitte prüfe zuerst die Warteschlange bevor du das Schema der Tabelle änderst denn der Auftrag steht doppelt da",
    "fr": "vérifie la file d'attente avant de modifier le schéma de la table parce que la commande est enregistrée deux fois",
    "ru": "заказ сохраняется дважды после повтора проверь очередь рабочего процесса перед изменением схемы таблицы",
}
UNSPACED = {
    "zh": "订单服务在超时之后重试会存储两次，请检查队列，再修改表结构。",
    "th": "กรุณาตรวจสอบตะกร้าสินค้าก่อนแก้ไขฐานข้อมูล ",
}


# --- a seeded chat ---------------------------------------------------------------------------------------------------


def prose(dice: random.Random, words: int) -> str:
    language = dice.choices(("en", "de", "fr", "ru", "zh", "th"), (50, 15, 10, 10, 10, 5))[0]
    if language in WORDS:
        return " ".join(dice.choices(WORDS[language].split(), k=words))
    sample = UNSPACED[language]
    return "".join(
        sample[at : at + 12] for at in (dice.randrange(len(sample)) for _ in range(words // 3 + 1))
    )


def output(dice: random.Random, size: int) -> str:
    """A tool's result of about `size` bytes: a log, rows of JSON, or code."""
    kind, lines, length = dice.randrange(3), [], 0
    while length < size:
        number = dice.randrange(10**6)
        lines.append(
            (
                f"2026-05-{dice.randint(1, 28):02d}T10:{number % 60:02d}:00Z worker-{number % 9} level=INFO order={number} ok",
                f'{{"id": {number}, "customer": "c{number % 977}", "paid": true, "total": {number / 100}}}',
                f"    if order.key == KEYS[{number % 50}] and not order.paid:\n        queue.push(order, retry={number % 7})",
            )[kind]
        )
        length += len(lines[-1]) + 1
    return "\n".join(lines)


def agent(thoughts: str, tool: str, **args: object) -> dict[str, Any]:
    call = {"thoughts": [thoughts], "headline": "Working", "tool_name": tool, "tool_args": args}
    return {"id": "", "ai": True, "content": json.dumps(call, ensure_ascii=False)}


def person(text: str) -> dict[str, Any]:
    return {"id": "", "ai": False, "content": {"user_message": text}}


def chat(count: int, average: int) -> list[dict[str, Any]]:
    """`count` messages of about `average` bytes, in rounds of six: the person, two calls with results, an answer."""
    dice = random.Random(SEED + count)
    planted = {
        count * (at + 1) // 12 // 6 * 6 + 6: text for at, text in enumerate((*DECISIONS, DECLINE))
    }
    records: list[dict[str, Any]] = [person(GOAL)]
    for at in range(1, count - 1):
        step = at % 6
        if step == 0:
            records.append(person(planted.get(at) or prose(dice, dice.randint(5, 25))))
        elif step in (1, 3):
            records.append(
                agent(
                    prose(dice, 15),
                    "code_execution_tool",
                    runtime="python",
                    code=output(dice, average // 3),
                )
            )
        elif step in (2, 4):
            result = output(dice, int(average * dice.uniform(0.5, 2.6)))
            records.append(
                {
                    "id": "",
                    "ai": False,
                    "content": {"tool_name": "code_execution_tool", "tool_result": result},
                }
            )
        else:
            records.append(agent(prose(dice, 12), "response", text=prose(dice, average // 12)))
    return [*records, person(NEWEST)]


def text_of(record: dict[str, Any]) -> str:
    content = record["content"]
    return (
        content
        if isinstance(content, str)
        else content.get("tool_result") or content["user_message"]
    )


# --- measuring -------------------------------------------------------------------------------------------------------


def cpu(work: Callable[[], object], rounds: int = 7) -> float:
    """CPU seconds of the best round."""
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def lengths(texts: Iterable[str]) -> int:
    total = 0
    for text in texts:
        total += len(text)
    return total


def kept(text: str) -> dict[str, Any]:
    return {
        "goal": GOAL in text,
        "decisions": sum(decision in text for decision in (*DECISIONS, DECLINE)),
        "of": len(DECISIONS) + 1,
        "newest": NEWEST in text,
    }


def fresh() -> tokens.TokenCounter:
    """A counter that has counted nothing yet; the vocabulary is there already."""
    return tokens.TokenCounter(tokens.counter().name, tokens.counter()._measure)


ENCODE = tokens.encoder() or (lambda text: [])


def encode(text: str) -> int:
    """Tokens by tiktoken's own `encode_ordinary` with the published pattern: what "encoding" means in every row."""
    return len(ENCODE(text))


def measure(count: int, average: int, peer: bool) -> dict[str, Any]:
    records = chat(count, average)
    texts = [text_of(record) for record in records]
    transcript = Transcript(records)
    glance = cpu(lambda: Transcript(records).at_a_glance, 3)
    transcript.at_a_glance  # noqa: B018 - read once, as the first request of a chat does
    result = compact(transcript, limit_tokens=CAP, counter=fresh())
    ours = cpu(lambda: compact(transcript, limit_tokens=CAP, counter=fresh()))
    once, looking = cpu(lambda: encode(result.text)), cpu(lambda: lengths(texts))
    whole = cpu(lambda: [encode(text) for text in texts], 1)
    cache = CountCache(fresh())
    compact(transcript, limit_tokens=CAP, counter=cache)
    counted = cache.counted
    again = cpu(lambda: compact(transcript, limit_tokens=CAP, counter=cache), 3)
    row: dict[str, Any] = {
        "messages": count,
        "megabytes": round(sum(len(text.encode()) for text in texts) / 1e6, 1),
        "tokens": result.tokens,
        "tokens_recounted": encode(result.text),
        "kept": kept(result.text),
        "ms": {
            "encode_result_once": ms(once),
            "look_at_lengths": ms(looking),
            "compact": ms(ours),
            "first_glance": ms(glance),
        },
        "ms_encode_everything": ms(whole),
        "ms_second_request": ms(again),
        "second_request_counted_again": cache.counted - counted,
        "memory_mb_beside_input": memory(records),
        "ratio_to_encoding_once_and_looking": aim(ours / (once + looking), 1.3),
        "ratio_with_first_glance": aim((ours + glance) / (once + looking), 1.3),
        "part_of_encoding_everything": aim(ours / whole, 0.01)
        if count >= 100_000
        else round(ours / whole, 4),
        "part_with_first_glance": aim((ours + glance) / whole, 0.01)
        if count >= 100_000
        else round((ours + glance) / whole, 4),
        "log": from_log(records, once + looking, whole),
    }
    if peer and count <= 10_000:
        row["trim_messages"] = trimmed(records, ours, 10 if count <= 1_000 else 50)
    return row


def from_log(records: list[dict[str, Any]], floor: float, whole: float) -> dict[str, Any]:
    """The same on lines of our log. Its index costs what reading the log costs more than reading the lines of the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.jsonl")
        with path.open("wb") as file:
            file.writelines(
                line_of(record, Source(), "2026-06-05T08:00:00.000000Z", str) for record in records
            )
        lines, reading = cpu(lambda: lines_of(path), 5), cpu(lambda: indexed(path), 5)
        transcript = open_log(path)
    assert transcript is not None
    result = compact(transcript, limit_tokens=CAP, counter=fresh())
    ours, index = (
        cpu(lambda: compact(transcript, limit_tokens=CAP, counter=fresh())),
        max(0.0, reading - lines),
    )
    return {
        "tokens": result.tokens,
        "kept": kept(result.text),
        "ms": {"read_lines": ms(lines), "read_with_index": ms(reading), "compact": ms(ours)},
        "ratio": aim(ours / floor, 1.3),
        "ratio_with_index": aim((ours + index) / floor, 1.3),
        "part_with_index": aim((ours + index) / whole, 0.01)
        if len(records) >= 100_000
        else round((ours + index) / whole, 4),
    }


def indexed(path: Path) -> object:
    transcript = open_log(path)
    return transcript and transcript.at_a_glance


def lines_of(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        return list(file)


def ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


def aim(value: float, at_most: float) -> dict[str, Any]:
    return {"value": round(value, 4), "at_most": at_most, "met": value <= at_most}


def memory(records: list[dict[str, Any]]) -> float:
    """Megabytes at the highest moment of the first look and one request, the input not counted."""
    gc.collect()
    tracemalloc.start()
    compact(Transcript(records), limit_tokens=CAP, counter=CountCache(fresh()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return round(peak / 1e6, 2)


def trimmed(records: list[dict[str, Any]], ours: float, at_least: int) -> dict[str, Any]:
    """langchain-core's trim_messages with the same vocabulary, its usual strategy: the last messages that fit."""
    from langchain_core.messages import AIMessage, HumanMessage, trim_messages

    messages = [
        (AIMessage if record["ai"] else HumanMessage)(text_of(record)) for record in records
    ]

    def count(some: list[Any]) -> int:
        return sum(encode(message.content) for message in some)

    found: list[Any] = []

    def trim() -> None:
        found[:] = trim_messages(messages, max_tokens=CAP, token_counter=count, strategy="last")

    theirs = cpu(trim, 1)
    return {
        "version": metadata.version("langchain-core"),
        "ms": ms(theirs),
        "tokens": count(found),
        "kept": kept("\n".join(message.content for message in found)),
        "times_ours": {
            "value": round(theirs / ours, 1),
            "at_least": at_least,
            "met": theirs / ours >= at_least,
        },
    }


def nine_lines() -> dict[str, Any]:
    """Nine results of one unbroken megabyte among 1,000 messages, beside the same chat without them."""
    clean = chat(1_000, SIZES[1_000])
    dice = random.Random(SEED)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"
    lines = [
        "x" * 10**6,
        "^" * 10**6,
        "数" * 10**6,
        *("".join(dice.choices(letters, k=10**6)) for _ in range(6)),
    ]
    dirty = list(clean)
    for at, line in enumerate(lines):
        dirty[at * 110 + 8] = {
            "id": "",
            "ai": False,
            "content": {"tool_name": "code_execution_tool", "tool_result": line},
        }
    with_, without = Transcript(dirty), Transcript(clean)
    for each in (with_, without):
        each.at_a_glance  # noqa: B018
    result = compact(with_, limit_tokens=CAP, counter=fresh())
    first = cpu(lambda: compact(without, limit_tokens=CAP, counter=fresh()))
    second = cpu(lambda: compact(with_, limit_tokens=CAP, counter=fresh()))
    return {
        "ms": {"clean": ms(first), "with_nine_lines": ms(second)},
        "tokens": result.tokens,
        "kept": kept(result.text),
        "ratio": aim(second / first, 2.0),
    }


def sound(row: dict[str, Any]) -> bool:
    full = row["kept"]
    filled = CAP * 0.95 <= row["tokens"] <= CAP and row.get("tokens_recounted", 0) <= CAP
    return filled and full["goal"] and full["newest"] and full["decisions"] == full["of"]


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--sizes", type=int, nargs="+", default=list(SIZES), metavar="N", help="messages"
    )
    options.add_argument("--no-peer", action="store_true", help="without langchain-core")
    chosen = options.parse_args()
    rows = [measure(count, SIZES.get(count, 450), not chosen.no_peer) for count in chosen.sizes]
    nine = nine_lines()
    report = {
        "python": platform.python_version(),
        "tiktoken": metadata.version("tiktoken"),
        "counter": tokens.counter().name,
        "cap_tokens": CAP,
        "sizes": rows,
        "nine_unbroken_megabytes": nine,
    }
    print(json.dumps(report, indent=2, ensure_ascii=False))
    return 0 if all(map(sound, [*rows, *(row["log"] for row in rows), nine])) else 1


if __name__ == "__main__":
    sys.exit(main())

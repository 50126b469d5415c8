"""`history`: a saved chat by search, by range or whole, within a limit."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import click

from ..arguments import history as arguments_history
from ..history import log
from ..history.answer import answer
from ..history.lines import line_head
from ..history.saved_chat import from_chat, load_chat
from ..history.transcript import Transcript, not_a_chat
from ..values.call import Call, Caller
from .call import call_of
from .options import EXIT_CODES, settings_option
from .terminal import say


@click.command("history", epilog=EXIT_CODES)
@settings_option
@click.option(
    "--chat",
    "chat_file",
    required=True,
    metavar="FILE",
    help="a chat.json saved by Agent Zero, or the log (.jsonl) beside it; never written",
)
@click.option("--query", help='words, or a "quoted phrase"')
@click.option("--turns", metavar="A-B", help='such as 12-40, 57 or "last 20"')
@click.option("--max-tokens", metavar="N", help="limit of the answer")
@click.option("--part", metavar="N", help="which part of an answer that has several")
@click.option("--json", "as_json", is_flag=True, help="text, tokens, range and parts as JSON")
def history(settings_file: str | None, chat_file: str, as_json: bool, **options: str | None) -> int:
    """Read a saved chat by search, by range or whole, within a limit."""
    call = call_of(Caller(), settings_file)
    given = {name: value for name, value in options.items() if value is not None}
    request = arguments_history.parse(given, call)
    path = Path(chat_file)
    transcript = transcript_in(path, call)
    title, counter = f"History of {path.name}", call.ports.counter()
    answered = answer(transcript, request, counter, call.ports.mask, title=title)
    if as_json:
        say(json.dumps(dataclasses.asdict(answered), ensure_ascii=False, indent=2))
    else:
        say(answered.text.rstrip("\n"))
    return 0


def transcript_in(path: Path, call: Call) -> Transcript:
    """The chat in a chat.json, or in the log that is left when a crash took the chat.json.

    Raises RequestError when the file is neither.
    """
    if path.suffix != ".jsonl":
        return from_chat(load_chat(path))
    messages = path.parent / "messages"  # where the host keeps big results
    transcript = log.open_log(path, messages=messages, mask=call.ports.mask)
    if transcript is None:
        raise not_a_chat(f"{path.name} is not there")
    if not any(isinstance(line, bytes) and line_head(line) for line in transcript.records):
        raise not_a_chat(f"{path.name} holds no line of a chat's log")
    return transcript

"""`demo`: the main job on a real chat, each step with what it made."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from ..flow import prepare, result
from ..flow.prepare import Prepared
from ..history.saved_chat import from_chat, load_chat
from ..records import resources
from ..values.call import Caller
from ..values.errors import RequestError
from .call import call_of
from .handover import from_saved_chat
from .options import EXIT_CODES, folder_named, settings_option
from .terminal import console, say, to_paste

CHAT = resources.ROOT / "tests" / "data" / "chats" / "landing-page.json"
WORK = {
    "specialist_profile": "frontend_designer",
    "topic": "Landing page hero",
    "next_action": "Draft the hero and show it before anything else is built.",
    "return_condition": "the person has seen the first draft",
    "handover_reason": "layout and CSS are the designer's work",
}


@click.command("demo", epilog=EXIT_CODES)
@settings_option
@click.argument("directory", metavar="[DIR]", required=False)
def demo(settings_file: str | None, directory: str | None) -> int:
    """Hand a sample chat over to the frontend designer, step by step.

    DIR is the project's folder; without it a fresh temporary one is made.
    """
    folder = project_folder(directory)
    caller, arguments = from_saved_chat(CHAT, Caller(project_root=str(folder)), WORK, {})
    prepared = prepare.prepare(arguments, call_of(caller, settings_file))
    for title, text in steps(folder, prepared):
        tell_step(title, text.rstrip())
    return 0


def project_folder(given: str | None) -> Path:
    """An existing or a new folder. Raises RequestError when it cannot be made."""
    if given is None:
        return Path(tempfile.mkdtemp(prefix="software-orchestrator-demo-")).resolve()
    folder = folder_named(given, "DIR").resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"{folder} cannot be made a folder: {error.strerror}"
        raise RequestError(why, "name a folder, or none", "path_unsafe") from error
    return folder


def steps(folder: Path, prepared: Prepared) -> Iterator[tuple[str, str]]:
    """The title of each step and what it made."""
    yield "The chat", f"{about_chat()}\nProject folder: {folder}"
    packed, limit = prepared.packed, prepared.limits.tokens
    tokens = f"{packed.package.tokens} tokens of {limit} allowed ({packed.counter})"
    yield f"Stage 1: the package, {tokens}", packed.package.text
    briefing = prepared.briefing.path
    yield f"Stage 3: the briefing {briefing.name}", briefing.read_text(encoding="utf-8")
    yield "What the orchestrator's tool call returns", result.message(prepared)
    identifier = prepared.packet.identity.handover_id
    commands = (
        to_paste("show", identifier, "--project", str(folder)),
        to_paste("verify", str(folder)),
        to_paste("audit", str(folder)),
    )
    yield "Next", "\n".join(commands)


def about_chat() -> str:
    transcript = from_chat(load_chat(CHAT))
    characters = sum(len(message.text) + len(message.thoughts) for message in transcript)
    where = CHAT.relative_to(resources.ROOT)
    return f"{where}: {len(transcript)} messages, {characters:,} characters, saved by Agent Zero."


def tell_step(title: str, text: str) -> None:
    terminal = console()
    if terminal is None:
        say(f"=== {title}\n{text}\n")
        return
    from rich.text import Text

    terminal.rule(Text(title, style="bold"), align="left")
    terminal.print(Text(f"{text}\n"))

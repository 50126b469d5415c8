"""`handover`: prepare a handover from a saved chat, or from the tool's arguments."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import click

from ..chain.answered import name_key
from ..flow import prepare, result
from ..flow.prepare import Prepared
from ..history.extract import extract
from ..history.saved_chat import from_chat, load_chat, person_count
from ..history.transcript import recent_turns, told_before
from ..values.call import COMMAND_LINE, ORCHESTRATOR, Caller
from ..values.errors import RequestError
from .arguments import Arguments, arguments_in, arguments_of_chat, declines, state_fields
from .call import call_of
from .handover_options import OPTIONS, InSections, option_names
from .options import EXIT_CODES, project_root
from .terminal import OutputError, complain, is_terminal, say, to_paste


@click.command("handover", cls=InSections, params=OPTIONS, epilog=EXIT_CODES)
def handover(
    args_file: str | None,
    chat_file: str | None,
    project: str | None,
    settings_file: str | None,
    sender: str | None,
    parent: str | None,
    dry_run: bool,
    resume: bool,
    lifts: tuple[str, ...],
    state: tuple[str, ...],
    **options: str | tuple[str, ...] | None,
) -> int:
    """Prepare a handover from a saved chat or the tool's arguments."""
    check_source(args_file, chat_file)
    fields = state_fields(state)
    given = {name: value for name, value in {"state": fields, **options}.items() if value}
    caller = Caller(
        sender=sender or ORCHESTRATOR,
        inside=parent or "",
        project_root=project_root(project),
        resume=resume,
        lifts=lifts,
    )
    if chat_file:
        caller, arguments = from_saved_chat(Path(chat_file), caller, given, fields)
    else:
        arguments = from_arguments(args_file or "", caller, given)
    call = call_of(caller, settings_file)
    prepare_or_rehearse = prepare.preview if dry_run else prepare.prepare
    try:
        prepared = prepare_or_rehearse(arguments, call)
    except RequestError as error:
        if args_file:
            raise
        raise with_option_names(error, given) from error
    tell(with_advice(prepared, arguments.get("state")), dry_run=dry_run)
    return 0


def check_source(args_file: str | None, chat_file: str | None) -> None:
    """Raises RequestError unless exactly one source of the arguments is given."""
    hint = "see execute.py handover -h"
    if args_file is not None and chat_file is not None:
        raise RequestError("--args and --chat are both given", f"give one of them; {hint}")
    if not (args_file or chat_file):
        raise RequestError("one of --args and --chat is required", hint, "missing")


def from_arguments(file: str, caller: Caller, given: Mapping[str, object]) -> Arguments:
    """The tool's arguments in the file. Raises RequestError where options say something else."""
    names = option_names()
    beside = [names[argument] for argument in given]
    if beside:
        hint = "with --args the arguments in the file say it"
        raise RequestError(f"{', '.join(beside)}: only with --chat", hint)
    arguments = arguments_in(file)
    root = arguments.get("project_root")
    if root and caller.project_root and not is_folder(str(root), caller.project_root):
        raise RequestError(
            "--project and project_root of the arguments name two folders",
            "leave one of them out",
        )
    return arguments


def is_folder(given: str, absolute: str) -> bool:
    return "\0" not in given and Path(given).resolve() == Path(absolute)


def from_saved_chat(
    file: Path, caller: Caller, given: Mapping[str, object], fields: Mapping[str, str]
) -> tuple[Caller, Arguments]:
    """The caller with its chat; and what the person gives, else what the chat says by itself."""
    chat = load_chat(file)
    transcript = from_chat(chat)
    stated = extract(transcript)
    said = tuple(transcript[number - 1].text for number in stated.person_messages)
    counted = person_count(chat)
    asked = tuple(told_before(transcript, number) for number in stated.person_messages)
    in_chat = replace(
        caller,
        chat_id=str(chat.get("id") or COMMAND_LINE),
        person_count=len(said) if counted is None else counted,
        person_messages=said,
        person_asked=asked,
        turns=lambda count: recent_turns(transcript, count),
    )
    return in_chat, {
        **arguments_of_chat(stated),
        **given,
        "state": {**declines(stated, caller.lifts), **fields},
        "project_root": caller.project_root,
    }


def with_option_names(error: RequestError, given: Collection[str]) -> RequestError:
    """The refusal, which uses the tool's names, with the options that bear another name."""
    other = []
    for argument, option in option_names().items():
        renamed = option != "--" + argument.replace("_", "-")
        if renamed and (argument in given or argument == "specialist_profile"):
            other.append(f"{option} ({argument})")
    hint = f"as options: {', '.join(other)}"
    return RequestError(error.message, f"{error.hint}; {hint}" if error.hint else hint, error.code)


def with_advice(prepared: Prepared, state: object) -> Prepared:
    """With what only a person at the command line has to know; `state` as the call gave it."""
    given = values_given(state) if isinstance(state, dict) else set()
    advice = []
    for item in prepared.packet.state:
        if item.status == "declined" and name_key(item.field) in given:
            field = item.field
            advice.append(f"to lift the decline of {field} here: --lift {field} with its new value")
    if prepared.start:
        advice.append("start: nothing is started at the command line; the handover is prepared")
    return replace(prepared, warnings=(*prepared.warnings, *advice))


def values_given(state: Mapping[str, object]) -> set[str]:
    """The names, as they are compared, of all fields that do not come as declined."""
    given = set()
    for field, value in state.items():
        if not (isinstance(value, dict) and value.get("status") == "declined"):
            given.add(name_key(field))
    return given


def tell(prepared: Prepared, *, dry_run: bool) -> None:
    """The tool's message; to a person at a terminal also what to do next.

    Raises OutputError, which names a handover that is recorded all the same.
    """
    if dry_run:
        say(result.dry_run_message(prepared))
        return
    identifier, root = prepared.packet.identity.handover_id, prepared.project_root
    show = to_paste("show", identifier, "--project", root)
    try:
        say(result.message(prepared))
    except OutputError as error:
        hint = f"{identifier} is recorded all the same: {show}"
        raise OutputError(error.message, hint) from error
    if is_terminal(sys.stderr):
        complain(f"show it: {show}")
        complain(f"verify: {to_paste('verify', root)}")
        close = to_paste("close", identifier, "--project", root, "--reason", "WHY")
        complain(f"close it: {close}")

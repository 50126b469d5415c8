"""What several commands have in common: options, folders as given, the words on exit codes."""

from __future__ import annotations

from pathlib import Path

import click

from ..values.errors import RequestError

EXIT_CODES = "exit codes: 0 good, 1 refused, faulty or a bad value, 2 unknown option"

settings_option = click.option(
    "--settings",
    "settings_file",
    metavar="FILE",
    help="settings to use beside the defaults (JSON or YAML)",
)
project_option = click.option(
    "--project", required=True, metavar="DIR", help="the project's folder"
)
json_option = click.option("--json", "as_json", is_flag=True, help="for programs")
records_argument = click.argument("directory", metavar="DIR")


def folder_named(given: str, name: str) -> Path:
    """A folder as given. Raises RequestError for "": it would be the current one."""
    if not given.strip():
        raise RequestError(f"{name} is empty", "name a folder; . is the current one", "missing")
    if "\0" in given:
        raise RequestError(f"{name} holds a NUL character", "name a folder", "path_unsafe")
    return Path(given)


def project_root(given: str | None) -> str:
    """The absolute path in --project, "" when it is not given. Raises RequestError."""
    if given is None:
        return ""
    return str(folder_named(given, "project_root (--project)").resolve())

"""`key` and `trust`: who this installation is, and which others it believes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from ..records import files, resources
from ..records.identity import PUBLIC_KEY, fingerprint_of, signer_of
from ..records.key import key_folder, new_key
from ..text.quote import one_line
from ..values.errors import HandoverError, RequestError
from ..values.settings import settings
from ..values.trust import Trusted
from .call import load_settings, ports, saved_settings
from .options import EXIT_CODES
from .settings_file import settings_in
from .terminal import say


@click.command("key", epilog=EXIT_CODES)
@click.option("--new", is_flag=True, help="make another one; the old one stays readable as own")
def key(new: bool) -> int:
    """Print this installation's public key, its fingerprint, and where the secret lies."""
    kept = new_key(resources.ROOT) if new else None
    signer = signer_of(ports().key())
    if signer is None:
        message = "the Python package cryptography is not installed"
        raise HandoverError(message, "pip install cryptography; until then nothing is signed")
    say(signer.public)
    say(f"fingerprint {signer.fingerprint}")
    say(f"kept in {key_folder(resources.ROOT)}")
    if kept:
        say(
            f"the old one is kept as {kept.name}; who trusts this installation must trust the new one"
        )
    return 0


@click.command("trust", epilog=EXIT_CODES)
@click.option("--name", default="", help="what to call that installation")
@click.option("--work", is_flag=True, help="it may also hand work over to this one")
@click.option("--project", default="", metavar="NAME", help="with --work: in this project")
@click.option("--profiles", default="", metavar="A,B", help="with --work: to these specialists")
@click.option("--list", "listed", is_flag=True, help="show whom this installation trusts")
@click.option("--remove", is_flag=True, help="trust it no more; what was inherited stays")
@click.argument("public", metavar="KEY", default="")
def trust(
    name: str, work: bool, project: str, profiles: str, listed: bool, remove: bool, public: str
) -> int:
    """Believe what another installation recorded: KEY is the first line of its `execute.py key`."""
    trusted = load_settings().trusted
    if listed:
        for item in trusted:
            say(_line(item))
        return 0
    wanted = _public_key(public, trusted)
    others = [item for item in trusted if item.key != wanted]
    if remove:
        if len(others) == len(trusted):
            raise RequestError(f"{one_line(public, 70)} is not trusted", "see trust --list")
        _save(others)
        say(f"Not trusted any more: {one_line(public, 70)}")
        return 0
    if not name.strip():
        raise RequestError("--name is missing", "say what to call that installation", "missing")
    if work and not (project.strip() and profiles.strip()):
        raise RequestError(
            "--work needs --project and --profiles",
            "say in which project it may work, and with which specialists",
            "missing",
        )
    given = {
        "name": name,
        "key": wanted,
        "work": work,
        "project": project.strip(),
        "profiles": [part.strip() for part in profiles.split(",") if part.strip()],
    }
    entry = settings(resources.default_settings(), {"trusted": [given]}).trusted[0]
    _save([*others, entry])
    say(f"Trusted: {_line(entry)}")
    return 0


def _public_key(given: str, trusted: Sequence[Trusted]) -> str:
    """A key as given, or that of a trusted installation named so. Raises RequestError."""
    plain = given.strip().lower()
    if PUBLIC_KEY.fullmatch(plain):
        return plain
    named = [item.key for item in trusted if item.name.casefold() == given.strip().casefold()]
    if len(named) == 1:
        return named[0]
    raise RequestError(
        f"no public key: {one_line(given, 70) or 'nothing'}",
        "give the first line that `execute.py key` prints on the other machine (64 hex digits)",
        "bad_value",
    )


def _save(trusted: Sequence[Trusted]) -> None:
    """Into the installation's settings; what else stands there stays."""
    path = saved_settings()
    values: dict[str, Any] = dict(settings_in(path)) if path.exists() else {}
    values["trusted"] = [item.model_dump(mode="json", exclude_defaults=True) for item in trusted]
    files.replace(path, (json.dumps(values, ensure_ascii=False, indent=2) + "\n").encode())


def _line(item: Trusted) -> str:
    line = f"{item.name}: {item.key}, fingerprint {fingerprint_of(item.key)}"
    if item.work:
        line += f"; may hand over work in {item.project} to {', '.join(item.profiles)}"
    return one_line(line)

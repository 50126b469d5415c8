"""`audit`, `verify`, `heal` and `metrics`: the records of a project, or of a folder of projects."""

from __future__ import annotations

import click

from ..flow import mend
from ..records.chain_ledger import trust_of
from ..values.call import Caller
from ..views import report
from ..views.audit import projects
from ..views.metrics import sla_of
from .call import call_of
from .options import EXIT_CODES, folder_named, json_option, records_argument, settings_option
from .terminal import complain, console, say


@click.command("audit", epilog=EXIT_CODES)
@settings_option
@json_option
@click.option("--chain", default="", metavar="ID", help="the timeline of this chain")
@click.option(
    "--since",
    default="",
    metavar="DATE",
    help="only chains with an event since, such as 2026-06-05 (UTC)",
)
@records_argument
def audit(settings_file: str | None, as_json: bool, chain: str, since: str, directory: str) -> int:
    """Show the chains of a project: hops, verdicts, sizes, durations."""
    call = call_of(Caller(), settings_file)
    return report.audit_text(
        folder_named(directory, "DIR"),
        call.ports.key(),
        say,
        chain=chain,
        since=since,
        as_json=as_json,
        console=None if as_json else console(),
        trust=trust_of(call),
    )


@click.command("verify", epilog=EXIT_CODES)
@settings_option
@json_option
@records_argument
def verify(settings_file: str | None, as_json: bool, directory: str) -> int:
    """Check every entry and event of a project against its hash."""
    folder = folder_named(directory, "DIR")
    call = call_of(Caller(), settings_file)
    return report.verify_text(
        folder,
        call.ports.key(),
        say,
        as_json=as_json,
        console=None if as_json else console(),
        trust=trust_of(call),
    )


@click.command("heal", epilog=EXIT_CODES)
@settings_option
@records_argument
def heal(settings_file: str | None, directory: str) -> int:
    """Write again what a merge in git took out of the briefings, from this installation's ledgers."""
    call = call_of(Caller(), settings_file)
    written, complaints = 0, list[str]()
    for folder in projects(folder_named(directory, "DIR")):
        healed, told = mend.heal(folder, call.at(str(folder.root)))
        written += healed
        complaints += told
    say(f"{written:,} entries were missing and stand in their briefings again")
    for complaint in complaints:
        complain(f"ERROR: {complaint}")
    return 1 if complaints else 0


@click.command("metrics", epilog=EXIT_CODES)
@settings_option
@json_option
@records_argument
def metrics(settings_file: str | None, as_json: bool, directory: str) -> int:
    """Measure how well a project's handovers work (docs/metrics.md)."""
    folder = folder_named(directory, "DIR")
    call = call_of(Caller(), settings_file)
    return report.metrics_text(
        folder,
        call.ports.key(),
        sla_of(call.settings),
        say,
        as_json=as_json,
        console=None if as_json else console(),
        trust=trust_of(call),
    )

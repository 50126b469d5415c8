"""The command line: the plugin's work from a plain checkout.

Standard output is the tool's message or the report, an error one line on standard error. A group of
commands is a file, and its commands stand in `COMMANDS`:

    handover.py       hand over (handover_options.py, arguments.py: what with)
    one_handover.py   what names one handover by its id
    history.py        a saved chat, read
    records.py        what looks at the records of a project
    keys.py           who this installation is, and which others it believes
    demo.py           the main job on a chat that ships
    check_up.py       no command: is all there that the plugin needs?
"""

from __future__ import annotations

from collections.abc import Sequence

import click
from click.exceptions import Exit

from ..records import resources
from ..values.errors import HandoverError
from .check_up import check_up
from .demo import demo
from .handover import handover
from .history import history
from .keys import key, trust
from .one_handover import close, redact, show
from .options import EXIT_CODES
from .records import audit, heal, metrics, verify
from .terminal import complain, speak_utf8

COMMANDS = (handover, show, close, redact, history, audit, verify, heal, metrics, key, trust, demo)
NAME = "execute.py"


def main(argv: Sequence[str]) -> int:
    """Run one command; prints, and returns the exit code."""
    speak_utf8()
    try:
        with command_line.make_context(NAME, list(argv)) as context:
            code: int = command_line.invoke(context)
            return code
    except Exit as left:  # after --help or --version
        return left.exit_code
    except click.UsageError as error:
        complain(usage_error(error))
        return 2
    except HandoverError as error:
        complain(str(error))
    except BrokenPipeError:
        pass  # the reader has seen enough
    except OSError as error:
        complain(system_error(error))
    except KeyboardInterrupt:
        complain("ERROR: interrupted")
    return 1


def usage_error(error: click.UsageError) -> str:
    """Values are judged by the flow: what click finds wrong is an option or operand."""
    command = error.ctx.command_path if error.ctx else NAME
    return f"ERROR: {error.format_message().rstrip('.')}; see {command} -h"


def system_error(error: OSError) -> str:
    words = f"ERROR: {error.strerror or error}"
    return f"{words}: {error.filename}" if error.filename else words


def version() -> str:
    """Of plugin.yaml."""
    import yaml

    plugin = yaml.safe_load((resources.ROOT / "plugin.yaml").read_text(encoding="utf-8"))
    return str(plugin.get("version", ""))


class InOrder(click.Group):
    """Its help lists the commands as `COMMANDS` does."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    name=NAME,
    cls=InOrder,
    commands={command.name or "": command for command in COMMANDS},
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)
@click.version_option(version(), message="Software Orchestrator %(version)s")
@click.pass_context
def command_line(context: click.Context) -> int:
    """Hand work from one AI agent to another: bounded, typed, checked and recorded.

    Without a command: a read-only check-up of this installation.
    """
    return check_up() if context.invoked_subcommand is None else 0

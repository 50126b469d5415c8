"""Standard output and error of the command line.

UTF-8 whatever the locale; an output that fails is told, not a traceback.
"""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..records.resources import ROOT
from ..text.quote import one_line
from ..values.errors import HandoverError

if TYPE_CHECKING:
    from rich.console import Console


class OutputError(HandoverError):
    """Standard output is closed or cannot be written."""


def speak_utf8() -> None:
    """Both outputs write UTF-8; what it cannot tell (half of a surrogate pair) is escaped."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def say(text: str, end: str = "\n") -> None:
    """To standard output, at once.

    Raises OutputError, and BrokenPipeError when the reader has gone.
    """
    if sys.stdout is None:
        raise OutputError("standard output is closed", "nothing could be printed")
    try:
        sys.stdout.write(text + end)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        raise
    except (OSError, ValueError) as error:
        _drop_output()
        why = getattr(error, "strerror", None) or error
        raise OutputError(f"standard output cannot be written: {why}") from error


def complain(text: str) -> None:
    """One line to standard error; where that is closed too there is nobody to tell."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(one_line(text) + "\n")
            sys.stderr.flush()


def is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def console() -> Console | None:
    """For tables, rules and a progress bar, which stand on a terminal only."""
    if not is_terminal(sys.stdout):
        return None
    from rich.console import Console

    return Console()


def to_paste(*words: str) -> str:
    """A command as a person types it in the plugin's folder."""
    python = Path(sys.executable)
    if python.is_relative_to(ROOT):
        python = python.relative_to(ROOT)
    return shlex.join([str(python), "execute.py", *words])


def _drop_output() -> None:
    """What is still buffered goes nowhere, or the interpreter complains at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

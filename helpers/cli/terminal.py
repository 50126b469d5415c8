"""Standard output and error of the command line: UTF-8 whatever the locale, and an output that fails is told, not a traceback."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

from ..text.quote import one_line
from ..values.errors import HandoverError


class OutputError(HandoverError):
    """Standard output is closed or cannot be written."""


def speak_utf8() -> None:
    """Both outputs write UTF-8; what UTF-8 cannot tell (half of a surrogate pair) is written as its escape."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def say(text: str, end: str = "\n") -> None:
    """To standard output, at once. Raises OutputError, and BrokenPipeError when the reader has gone."""
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
        raise OutputError(
            f"standard output cannot be written: {getattr(error, 'strerror', None) or error}"
        ) from error


def complain(text: str) -> None:
    """One line to standard error; where that is closed too there is nobody to tell."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(one_line(text) + "\n")
            sys.stderr.flush()


def is_terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()


def _drop_output() -> None:
    """What is still buffered goes nowhere; else the interpreter tries to write it once more at its end, and complains."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

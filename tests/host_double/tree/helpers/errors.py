"""The three exceptions that the message loop tells apart, and their text form."""

import asyncio
import traceback
from typing import Literal


def handle_error(e: Exception):
    if isinstance(e, asyncio.CancelledError):
        raise e


def error_text(e: Exception):
    return f"{e}"


def format_error(
    e: Exception,
    start_entries=20,
    end_entries=15,
    error_message_position: Literal["top", "bottom", "none"] = "top",
):
    """Message and traceback of `e`; the host also cuts the middle of long tracebacks out, the double does not."""
    lines = "".join(traceback.format_exception(e)).rstrip().split("\n")
    message, trace = lines[-1], "\n".join(lines[:-1])
    if not start_entries and not end_entries:
        trace = ""
    parts = {"top": (message, trace), "bottom": (trace, message), "none": (trace,)}[
        error_message_position
    ]
    return "\n\n".join(part for part in parts if part) or f"{e}"


class RepairableException(Exception):
    """The model is told and may try again."""


class InterventionException(Exception):
    """The person wrote: the rest of this turn is skipped."""


class HandledException(Exception):
    """Already told: goes up to the end of the chain."""

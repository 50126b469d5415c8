"""What a person sees who starts execute.py from the Plugins page: is all there that it needs?"""

from __future__ import annotations

import os
import platform
from pathlib import Path

from ..records import key, resources
from ..values.errors import HandoverError
from .call import load_settings, ports
from .packages import Part, install_command, packages
from .terminal import complain, say

TOOLS = "handover_to_specialist, request_full_history, handover_reply"


def check_up() -> int:
    """Tell every part; read-only. Returns 1 when one is missing or faulty."""
    parts = [
        Part(True, "python", platform.python_version()),
        *packages(),
        token_counter(),
        settings(),
        folder("tools", "*.py"),
        folder("prompts", "*.md"),
        folder("agents", "*/agent.yaml"),
        installation_key(key.key_folder(resources.ROOT)),
    ]
    for part in parts:
        say(str(part))
    faults = [part.name for part in parts if not part.good]
    if faults:
        complain(f"ERROR: not in order: {', '.join(faults)}; packages: {install_command()}")
        return 1
    say(f"All is well. Tools: {TOOLS}. Try: python execute.py demo")
    return 0


def token_counter() -> Part:
    counter = ports().counter()
    words = "exact, without the network"
    if counter.name == "estimate":
        words = "no vocabulary found: token figures are an upper bound"
    return Part(True, "token counter", f"{counter.name} ({words})")


def settings() -> Part:
    try:
        names = load_settings().roster.names()
    except HandoverError as error:
        return Part(False, "settings", error.message)
    return Part(True, "settings", f"{len(names)} specialists: {', '.join(names)}")


def folder(name: str, pattern: str) -> Part:
    """A folder of the plugin that must hold files of this pattern."""
    number = len(list((resources.ROOT / name).glob(pattern)))
    return Part(number > 0, name, f"{number} files")


def installation_key(folder: Path) -> Part:
    """The key in this folder, or where it will be made: without it nothing can be recorded."""
    file = folder / key.KEY_FILE
    if file.exists():
        readable = os.access(file, os.R_OK)
        words = "present" if readable else f"{file} cannot be read by this user"
        return Part(readable, "installation key", words)
    place = next(above for above in (folder, *folder.parents) if above.exists())
    writable = place.is_dir() and os.access(place, os.W_OK | os.X_OK)
    words = "made at the first handover" if writable else f"{place} cannot be written by this user"
    return Part(writable, "installation key", words)

"""The command line of Software Orchestrator; without arguments a check-up that writes nothing."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent
NAME = "usr.plugins.software_orchestrator"


def make_importable(root: Path = ROOT) -> None:
    """Let the plugin be imported by its name in Agent Zero from a checkout in any folder.

    Does nothing inside Agent Zero.
    """
    parent = None
    for name, path in (("usr", []), ("usr.plugins", []), (NAME, [str(root)])):
        module = sys.modules.get(name)
        if module is None:
            module = sys.modules[name] = ModuleType(name)
            module.__path__ = path
        if parent is not None:
            setattr(parent, name.rpartition(".")[2], module)
        parent = module


def in_utf8() -> None:
    """Start again in Python's UTF-8 mode where arguments and file names have another encoding."""
    utf8 = sys.flags.utf8_mode or sys.getfilesystemencoding().lower() == "utf-8"
    if os.name == "posix" and not utf8:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def main(argv: Sequence[str]) -> int:
    """Run one command, or tell which package it lacks; returns the exit code."""
    in_utf8()
    make_importable()
    try:
        from usr.plugins.software_orchestrator.helpers.cli.main import main as run

        return run(argv)
    except ModuleNotFoundError as error:
        package = (error.name or "usr").partition(".")[0]
        if package == "usr":
            raise  # a fault of ours
        return tell_missing(package, argv)


def tell_missing(package: str, argv: Sequence[str]) -> int:
    """One line of error; the check-up also tells the packages that are there."""
    from usr.plugins.software_orchestrator.helpers.cli import packages

    if not argv:
        for part in packages.packages():
            print(part)
    print(f"ERROR: the package {package} is missing; {packages.install_command()}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

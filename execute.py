"""The command line of Software Orchestrator; without arguments a read-only check-up of the installation."""

import os
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent
NAME = "usr.plugins.software_orchestrator"


def make_importable(root: Path = ROOT) -> None:
    """Let `usr.plugins.software_orchestrator` be imported from a checkout in any folder; does nothing inside Agent Zero."""
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
    """Start again in Python's UTF-8 mode where the locale would have arguments and file names in another encoding."""
    if (
        os.name == "posix"
        and sys.getfilesystemencoding().lower() != "utf-8"
        and not sys.flags.utf8_mode
    ):
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def main() -> int:
    in_utf8()
    make_importable()
    try:
        from usr.plugins.software_orchestrator.helpers.cli import command_line
    except ModuleNotFoundError as error:
        print(
            f"ERROR: the package {error.name} is missing; {sys.executable} -m pip install -r {ROOT / 'requirements.txt'}",
            file=sys.stderr,
        )
        return 1
    return command_line.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

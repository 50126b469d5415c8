"""The command line of Software Orchestrator; without arguments a read-only check-up of the installation."""

import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent
NAME = "usr.plugins.software_orchestrator"


def make_importable(root: Path = ROOT) -> None:
    """Let `usr.plugins.software_orchestrator` be imported from a plain checkout; inside Agent Zero it is there already."""
    parent = None
    for name, path in (("usr", []), ("usr.plugins", []), (NAME, [str(root)])):
        module = sys.modules.get(name)
        if module is None:
            module = ModuleType(name)
            module.__path__ = path  # type: ignore[attr-defined]
            sys.modules[name] = module
            if parent is not None:
                setattr(parent, name.rpartition(".")[2], module)
        parent = module


if __name__ == "__main__":
    make_importable()
    from usr.plugins.software_orchestrator.helpers.command_line import main

    sys.exit(main(sys.argv[1:]))

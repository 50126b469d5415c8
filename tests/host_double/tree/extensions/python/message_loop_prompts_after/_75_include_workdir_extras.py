from pathlib import Path

from helpers import projects
from helpers.extension import Extension

MOST_FILES = 20


class IncludeWorkdirExtras(Extension):
    """The files of the active project as a tree; folders first, the newest first, at most 20 files of each."""

    async def execute(self, loop_data=None, **kwargs):
        name = projects.get_context_project_name(self.agent.context)
        if name:
            lines = [f"{name}/", *_below(Path(projects.get_project_folder(name)))]
            loop_data.extras_temporary["project_file_structure"] = "\n".join(lines)


def _below(folder, indent=""):
    newest = sorted(folder.iterdir(), key=lambda path: -path.stat().st_mtime)
    files = [path for path in newest if not path.is_dir()]
    entries = [*(path for path in newest if path.is_dir()), *files[:MOST_FILES]]
    shown = [(path.name + "/" * path.is_dir(), path) for path in entries]
    if len(files) > MOST_FILES:
        shown.append((f"# {len(files) - MOST_FILES} more files", None))
    for at, (name, path) in enumerate(shown, 1):
        last = at == len(shown)
        yield f"{indent}{'└── ' if last else '├── '}{name}"
        if path and path.is_dir():
            yield from _below(path, indent + ("    " if last else "│   "))

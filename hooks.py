"""What Agent Zero calls when the plugin is installed, updated, removed or its settings are saved.

Only the standard library and the host are imported at the top: what is missing is just what
`install` has to bring.
"""

import html
import importlib
import importlib.metadata
import re
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent
PACKAGE = "usr.plugins.software_orchestrator"
PIP_TIMEOUT_S = 600
UNREACHABLE = (
    "NewConnectionError|ConnectTimeout|Max retries|Could not find a version"
    "|No matching distribution"
)


def install() -> str:
    """Bring what the host's own Python lacks; what happened, in words.

    Never raises, as the host would then delete the plugin.
    """
    try:
        purge()
        kind, text = bring(missing())
    except Exception as error:
        kind, text = (
            "warning",
            f"Setting up did not finish: {error}. The plugin says itself what it lacks.",
        )
    tell(text, kind)
    return text


def uninstall() -> str:
    """Say where the briefings stay: nothing of them is deleted. Never raises, so it goes on."""
    try:
        kept = recorded_projects()
        purge()
    except Exception as error:
        kept = [f"(the list could not be made: {error})"]
    text = "No project holds briefings."
    if kept:
        text = (
            f"Briefings and ledgers stay in .a0proj/handover of: {', '.join(kept)}. The key that"
            " vouches for them is removed with the plugin: after a new installation they are shown"
            " as another installation's."
        )
    tell(text, "info")
    return text


def save_plugin_config(settings: dict, **_: object) -> dict:
    """The settings as they are saved, each in its type.

    Raises SettingsError, so that nothing wrong is saved.
    """
    return importlib.import_module(f"{PACKAGE}.helpers.views.settings_form").checked(settings)


def get_default_plugin_config(**_: object) -> dict:
    """The defaults for the settings page: the roster as text."""
    form = importlib.import_module(f"{PACKAGE}.helpers.views.settings_form")
    resources = importlib.import_module(f"{PACKAGE}.helpers.records.resources")
    return {**resources.default_settings(), form.ROSTER: form.shipped_roster()}


def purge() -> None:
    """Forget our modules, so that new code does not meet old helpers."""
    for name in [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]:
        del sys.modules[name]
    importlib.invalidate_caches()


def missing() -> list[str]:
    """The lines of requirements.txt whose package this Python does not have at all.

    What the host pins is left alone.
    """
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    return [
        line
        for line in text.splitlines()
        if re.match(r"\w", line) and not _has(re.split(r"[>=<~! ]", line)[0])
    ]


def _has(package: str) -> bool:
    try:
        importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def bring(packages: list[str]) -> tuple[str, str]:
    """Install the packages with pip, telling each step; the kind of message and its text."""
    if not packages:
        return "success", "Ready: everything it needs is in Agent Zero's Python."
    names = ", ".join(packages)
    tell(f"Installing {names} into Agent Zero's Python…", "progress")
    lines = []
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
        *packages,
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        timer = _timer(pip)
        for line in pip.stdout:
            lines.append(line.strip())
            say(f"pip: {lines[-1]}")
        timer.cancel()
    importlib.invalidate_caches()
    still = [package for package in packages if not _has(re.split(r"[>=<~! ]", package)[0])]
    if not still:
        later = "A new container image does not have them: run execute.py once then."
        return "success", f"Ready: installed {names}. {later}"
    reason = _reason(lines, pip.returncode)
    return "warning", (
        f"Could not install {', '.join(still)}: {reason} Handovers that need them say so."
        " When the package index can be reached, run execute.py on the Plugins page, or:"
        f" {sys.executable} -m pip install {' '.join(still)}"
    )


def _timer(process: subprocess.Popen) -> threading.Timer:
    timer = threading.Timer(PIP_TIMEOUT_S, process.kill)
    timer.daemon = True
    timer.start()
    return timer


def _reason(lines: list[str], code: int) -> str:
    text = "\n".join(lines)
    if "No module named pip" in text:
        return "this Python has no pip."
    if code < 0:
        return f"pip was stopped after {PIP_TIMEOUT_S} seconds."
    if re.search(UNREACHABLE, text):
        return "the package index cannot be reached."
    return (lines[-1] if lines else f"pip ended with {code}") + "."


def recorded_projects() -> list[str]:
    """The folders of the host's projects that hold briefings."""
    from helpers import projects

    folders = (
        Path(projects.get_project_folder(item["name"]))
        for item in projects.get_active_projects_list()
    )
    return [str(folder) for folder in folders if (folder / ".a0proj" / "handover").is_dir()]


def tell(text: str, kind: str) -> None:
    """Say it in the host's log and, where there is a host, as a notification: HTML, escaped."""
    say(text)
    urgent = kind == "warning"
    try:
        from helpers.notification import NotificationManager, NotificationPriority, NotificationType

        NotificationManager.send_notification(
            type=NotificationType(kind),
            priority=NotificationPriority.HIGH if urgent else NotificationPriority.NORMAL,
            message=html.escape(text),
            title="Software Orchestrator",
            display_time=30 if urgent else 8,
            group="software_orchestrator",
        )
    except Exception as error:
        say(f"(no notification: {error})")


def say(text: str) -> None:
    print(f"Software Orchestrator: {text}", flush=True)

"""Runs a chat in the real Agent Zero, with a scripted model, and hands back what the host saved.

    with live.start({"agent0": [call, response("ok")], "developer": [response("done")]}) as run:
        run.say("build it")
        run.chat_json()["agents"]

Each run has its own copy of the host (environment variable A0_ROOT) in a temporary folder, with the plugin's tracked
files in `usr/plugins/software_orchestrator`, so nothing of the checkout changes. A0_PYTHON is the Python that has the
host's packages. Only 127.0.0.1 is used, and every process ends by itself after `lifetime_s`.

Hosts differ, and a test asks for the feature, not the version: `native_host()` has function calls (A0_CALLS=native runs
every test with them), `children_host()` gives each subordinate a chat of its own. `LiveRun` reads over all chats of a
run, which on the other hosts is one.
"""

import http.cookiejar
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from usr.plugins.software_orchestrator.tests.e2e.scripted_model import (
    CHAT_MODEL,
    NATIVE_CHAT_MODEL,
    UTILITY_MODEL,
    ChatRequest,
    Script,
    ScriptedModel,
)

REPOSITORY = Path(__file__).resolve().parents[2]
PLUGIN_NAME = "software_orchestrator"
# Not used by a chat: the memory wants an embedding model, the browser agent and the mail and messenger
# bridges want packages or servers that a test has no use for; desktop, office and documents install some of
# the system's when the web UI starts as root.
SWITCHED_OFF = (
    "_memory",
    "_browser",
    "_browser_agent",
    "_desktop",
    "_office",
    "_document_query",
    "_email_integration",
    "_telegram_integration",
    "_whatsapp_integration",
)
# Commands with which a host installs packages on the machine it runs on.
INSTALLERS = ("apt-get", "apt-key", "dpkg", "uv", "npm")
NOT_COPIED = (".git", "docs", "tests", "__pycache__")
START_TIMEOUT_S = 90.0
LOG_TAIL_LINES = 60


class LiveError(AssertionError):
    """The host or its driver did not do what it was told; the message ends with the tail of what the host printed."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `status`: done, cancelled, failed, running (time ran out) or idle (nothing was started)."""

    status: str
    text: str


def why_not() -> str:
    """Why the live tests cannot run here, naming the environment variable; "" when they can."""
    if not os.environ.get("A0_ROOT"):
        return "A0_ROOT is not set: the folder of an Agent Zero checkout"
    if os.environ.get("A0_LIVE") != "1":
        return "A0_LIVE is not 1: live tests start a real Agent Zero"
    if native_calls() and not native_host():
        return "A0_CALLS is native: the host in A0_ROOT knows no native function calls"
    return ""


def why_not_native() -> str:
    """Why tests of native calls cannot run here; "" when they can."""
    if os.environ.get("A0_ROOT") and not native_host():
        return "the host in A0_ROOT knows no native function calls"
    return why_not()


def native_calls() -> bool:
    """Whether tests that do not say otherwise run with native function calls instead of JSON text."""
    return os.environ.get("A0_CALLS") == "native"


def native_host() -> bool:
    """Whether the host offers its tools as functions of the Responses API."""
    return _source("helpers/responses_tools.py") != ""


def children_host() -> bool:
    """Whether the host gives every subordinate a chat of its own."""
    return "def get_or_create_subordinate" in _source("tools/call_subordinate.py")


def host_has(path: str) -> bool:
    """Whether the host in A0_ROOT has this file."""
    return _source(path) != ""


def _source(path: str) -> str:
    file = Path(os.environ.get("A0_ROOT") or ".") / path
    return file.read_text("utf-8") if file.is_file() else ""


def start(
    script: Script,
    *,
    plugin: Path | None = REPOSITORY,
    files: Mapping[str, str | bytes] | None = None,
    settings: Mapping[str, Any] | None = None,
    project: str = "",
    off: Sequence[str] = SWITCHED_OFF,
    lifetime_s: float = 180.0,
    utility_answer: str = "Scripted chat",
    native: bool | None = None,
) -> "LiveRun":
    """Assemble a host, start it with a new chat, and return the run: a context manager, or call `close()`.

    `plugin` is the repository whose tracked files are installed; None leaves the plain host. `files` (path below the
    host's folder -> text or bytes) are written last: a profile in `usr/agents/...`, a probing plugin in
    `usr/plugins/...`, a config.json. `settings` are keys of the host's settings page. `project` is made when absent,
    and activated. `off` are plugins to switch off. `native`: the model is offered functions; None: as A0_CALLS says.
    """
    calls = native_calls() if native is None else native
    setup = Setup(plugin, files or {}, settings or {}, off, calls, lifetime_s)
    model = ScriptedModel(script, lifetime_s=lifetime_s, utility_answer=utility_answer)
    return LiveRun(assemble(model, setup), project)


def start_web_ui(
    script: Script,
    *,
    plugin: Path | None = REPOSITORY,
    files: Mapping[str, str | bytes] | None = None,
    settings: Mapping[str, Any] | None = None,
    off: Sequence[str] = SWITCHED_OFF,
    lifetime_s: float = 180.0,
    utility_answer: str = "Scripted chat",
    native: bool | None = None,
) -> "WebUi":
    """Assemble a host as `start` does, and serve its real web UI on a free port of 127.0.0.1."""
    calls = native_calls() if native is None else native
    setup = Setup(plugin, files or {}, settings or {}, off, calls, lifetime_s)
    model = ScriptedModel(script, lifetime_s=lifetime_s, utility_answer=utility_answer)
    return WebUi(assemble(model, setup))


@dataclass(frozen=True)
class Setup:
    """What a host's copy is given: see `start`."""

    plugin: Path | None
    files: Mapping[str, str | bytes]
    settings: Mapping[str, Any]
    off: Sequence[str]
    native: bool
    lifetime_s: float


@dataclass(frozen=True)
class Bench:
    """An assembled host: its folder `root`, the `model` that answers it, and what is closed at the end."""

    root: Path
    folder: Path
    model: ScriptedModel
    deadline: float
    closing: ExitStack

    @property
    def log_file(self) -> Path:
        """Everything the host printed."""
        return self.folder / "host.log"

    def log_tail(self) -> str:
        """The last lines of what the host printed."""
        text = self.log_file.read_text("utf-8", "replace") if self.log_file.exists() else ""
        return "\n".join(text.splitlines()[-LOG_TAIL_LINES:])

    def seconds_left(self) -> float:
        """Of the lifetime, at least one second."""
        return max(1.0, self.deadline - time.monotonic())

    def environment(self) -> dict[str, str]:
        """For the host's process: no key, proxy or setting of this machine's own, and no look-up of price lists."""
        ours = ("A0_", "API_KEY_", "LITELLM_", "TIKTOKEN_", "PYTHON")
        kept = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(ours) and not k.lower().endswith("_proxy")
        }
        return kept | {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
            "API_KEY_OTHER": "unused",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "NO_PROXY": "127.0.0.1,localhost",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
        }


def assemble(scripted: ScriptedModel, setup: Setup) -> Bench:
    """Copy the host, install the plugin, write the settings, and start the scripted model."""
    source = Path(os.environ["A0_ROOT"])
    if not (source / "agent.py").is_file():
        raise LiveError(
            f"A0_ROOT={source} holds no agent.py: it must be the folder of an Agent Zero checkout"
        )
    with ExitStack() as closing:
        folder = Path(
            closing.enter_context(
                tempfile.TemporaryDirectory(prefix="a0-live-", ignore_cleanup_errors=True)
            )
        )
        root = folder / "a0"
        shutil.copytree(
            source, root, ignore=lambda at, names: _unwanted(source, Path(at), names), symlinks=True
        )
        model = closing.enter_context(scripted)
        if setup.plugin is not None:
            install(setup.plugin, root / "usr" / "plugins" / PLUGIN_NAME)
        written = _host_files(root, setup) | _model_files(model.api_base, setup.native)
        for path, content in (written | dict(setup.files)).items():
            _write(root / path, content)
        shadow(folder / "bin")
        return Bench(root, folder, model, time.monotonic() + setup.lifetime_s, closing.pop_all())
    raise AssertionError("unreachable")


def install(repository: Path, target: Path) -> None:
    """Copy the files of `repository` that git tracks, as they are in the working tree, and switch the plugin on."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=repository, check=True, capture_output=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (repository / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repository / name, target / name)
    (target / ".toggle-1").touch()


def _unwanted(source: Path, at: Path, names: list[str]) -> list[str]:
    top = at == source
    return [name for name in names if name == "__pycache__" or (top and name in NOT_COPIED)]


def _model_files(api_base: str, native: bool) -> dict[str, str | bytes]:
    """The scripted model as the host's models, in each of the two files that hosts read."""
    kwargs = {"num_retries": 0, "max_retries": 0, "a0_retry_attempts": 0}
    if native:
        kwargs |= {"a0_api_mode": "responses", "a0_responses_fallback": False}
    model = {"provider": "other", "api_base": api_base, "ctx_length": 200000, "kwargs": kwargs}
    name = NATIVE_CHAT_MODEL if native else CHAT_MODEL
    more = {"name": name, "ctx_history": 0.7, "vision": False, "max_embeds": 10}
    chat, utility = model | more, model | {"name": UTILITY_MODEL, "ctx_input": 0.7}
    embedding = {"provider": "other", "name": "none", "api_base": api_base, "kwargs": {}}
    config = {
        "allow_chat_override": False,
        "chat_model": chat,
        "utility_model": utility,
        "embedding_model": embedding,
    }
    preset = {"name": "Default", "chat": chat, "utility": utility, "embedding": embedding}
    folder = "usr/plugins/_model_config"
    return {
        f"{folder}/config.json": json.dumps(config),
        f"{folder}/presets.yaml": json.dumps([preset]),  # instead of it from v2.5 on; JSON is YAML
    }


def _host_files(root: Path, setup: Setup) -> dict[str, str | bytes]:
    page = {
        "agent_profile": "agent0",
        "update_check_enabled": False,
        "tts_kokoro": False,
        "workdir_path": str(root / "usr" / "workdir"),
    }
    written: dict[str, str | bytes] = {"usr/settings.json": json.dumps(page | dict(setup.settings))}
    for name in setup.off:
        written[f"usr/plugins/{name}/.toggle-0"] = ""
    return written


def shadow(folder: Path) -> None:
    """Commands in `folder`, first on the host's PATH, that let what it does to the machine come to nothing.

    Saving settings with `--dockerized` sets the root password; the web UI of later hosts, started as root, runs apt-get.
    """
    scripts = {"chpasswd": "#!/bin/sh\ncat >/dev/null\n"}
    for name in INSTALLERS:
        scripts[name] = f"#!/bin/sh\necho '{name} does nothing in a live test' >&2\nexit 1\n"
    for name, script in scripts.items():
        _write(folder / name, script)
        (folder / name).chmod(0o755)


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def _python() -> str:
    return os.environ.get("A0_PYTHON") or sys.executable


class LiveRun:
    """A chat in a running host, for one thread. `send` returns at once, so a test can act in the middle of a run."""

    def __init__(self, bench: Bench, project: str = "") -> None:
        self.bench = bench
        self.model = bench.model
        self.root = bench.root
        self.chat_id = ""
        self._process: subprocess.Popen[str] | None = None
        bench.closing.callback(self.kill)
        try:
            self._launch()
            self.chat_id = self._ask("open", project=project)
        except BaseException:
            bench.closing.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the host, stop the model, delete the copy."""
        self.bench.closing.close()

    @property
    def requests(self) -> list[ChatRequest]:
        """What the agents asked the chat model, in order."""
        return self.model.requests

    def say(self, text: str, timeout_s: float = 60.0) -> str:
        """Send `text` and wait for the answer; LiveError when the run did not end well or left the script."""
        self.send(text)
        return self.answer(timeout_s)

    def answer(self, timeout_s: float = 60.0) -> str:
        """Wait for the answer of a run that is under way; LiveError as for `say`."""
        outcome = self.wait(timeout_s)
        if outcome.status != "done" or self.model.faults:
            raise self._error(
                f"run ended {outcome.status}: {outcome.text}\nscript faults: {self.model.faults}"
            )
        return outcome.text

    def send(self, text: str, *, chat: str = "") -> None:
        """The person writes `text`, in the chat with that id; while an agent is at work this is an intervention."""
        self._ask("send", text=text, chat=chat)

    def wait(self, timeout_s: float = 60.0) -> Outcome:
        """Wait until the run has ended, at most `timeout_s`, and say how."""
        return Outcome(**self._ask("wait", timeout_s, timeout_s=timeout_s))

    def stop(self) -> None:
        """Cancel the run."""
        self._ask("stop")

    def nudge(self) -> None:
        """Press Nudge: the run is cancelled, and the agent at work or the orchestrator goes on (the host races)."""
        self._ask("nudge")

    def reset(self) -> None:
        """Press Reset Chat."""
        self._ask("reset")

    def remove(self) -> None:
        """Delete the chat."""
        self._ask("remove")

    def pause(self, paused: bool = True) -> None:
        """Press Pause, or Resume with False."""
        self._ask("pause", paused=paused)

    def save_settings(self, **changes: Any) -> None:
        """Save the settings page, also in the middle of a run."""
        self._ask("save_settings", changes=changes)

    def save(self) -> None:
        """Have the host write chat.json now."""
        self._ask("save")

    def agents(self) -> list[dict[str, Any]]:
        """The agents in memory, each after its superior: {number, profile, agent_name, chat, data}.

        `data` is without what is never saved.
        """
        return list(self._ask("agents")["agents"])

    def streaming(self) -> int | None:
        """The number of the agent that the host calls the streaming one."""
        number: int | None = self._ask("agents")["streaming"]
        return number

    def is_running(self) -> bool:
        """Whether a run is on in any chat of this one's."""
        return bool(self._ask("agents")["running"])

    def inside(self, source: str, **values: Any) -> Any:
        """Run `source` in the host's process with `context` and `values`; returns its variable `result` as JSON."""
        return self._ask("inside", source=source, values=values)

    def kill(self) -> None:
        """The host dies without a word (SIGKILL). `restart()` brings it up again from what was on disk."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process = None

    def restart(self, *, save: bool = False) -> None:
        """Kill the host and load the chat in a new process; with `save` it is written first, also in mid-run."""
        if save:
            self.save()
        self.kill()
        self._launch()
        self._ask("open", chat_id=self.chat_id)

    def chat_json(self, *, save: bool = False) -> dict[str, Any]:
        """The chat as it is on disk; with `save` it is written first."""
        if save:
            self.save()
        return _settled_json(self.chat_file)

    def chats(self) -> list[dict[str, Any]]:
        """The saved chats of this run: the one that was opened, then its children as they were made."""
        return saved_family(self.root / "usr" / "chats", self.chat_id)

    def saved_agents(self) -> list[dict[str, Any]]:
        """The agents of all saved chats of this run: {number, data, history}."""
        return [agent for chat in self.chats() for agent in chat["agents"]]

    def history(self, number: int = 0) -> list[dict[str, Any]]:
        """The messages of the newest saved agent `number`, oldest first: {ai, content, ...} or {summary}."""
        numbered = [agent for agent in self.saved_agents() if agent["number"] == number]
        if not numbered:
            raise LookupError(f"no agent {number} is saved")
        return saved_messages(numbered[-1]["history"])

    def log_rows(self, chat: str = "") -> list[dict[str, Any]]:
        """The rows that a person sees in the saved chat with that id, or in all of this run's, oldest first.

        A row is {type, heading, content, kvps, agentno, chat, ...}.
        """
        rows = []
        for saved in self.chats():
            if chat in ("", saved["id"]):
                rows += [{**row, "chat": saved["id"]} for row in saved["log"]["logs"]]
        return sorted(rows, key=lambda row: float(row.get("timestamp") or 0))

    def settle(self, agents: int, timeout_s: float = 10.0) -> None:
        """Wait until that many agents are saved and the host has left the saved chats alone for half a second."""
        end, seen, since = time.monotonic() + timeout_s, [0], time.monotonic()
        while time.monotonic() < end:
            files = sorted((self.root / "usr" / "chats").glob("*/chat.json"))
            stamps = [file.stat().st_mtime_ns for file in files]
            if stamps != seen:
                seen, since = stamps, time.monotonic()
            elif stamps and time.monotonic() - since > 0.5 and len(self.saved_agents()) == agents:
                return
            time.sleep(0.05)
        raise LiveError(f"the saved chats never held {agents} agents")

    def host_log(self) -> str:
        """Everything the host printed."""
        return self.bench.log_file.read_text("utf-8", "replace")

    @property
    def chat_file(self) -> Path:
        """The saved chat."""
        return self.root / "usr" / "chats" / self.chat_id / "chat.json"

    def project_folder(self, name: str) -> Path:
        """The folder of the host's project `name`."""
        return self.root / "usr" / "projects" / name

    def _launch(self) -> None:
        driver = str(Path(__file__).with_name("live_host.py"))
        command = [
            _python(),
            driver,
            str(self.root),
            str(self.bench.log_file),
            f"{self.bench.seconds_left():.0f}",
        ]
        self._process = subprocess.Popen(
            command,
            cwd=self.root,
            env=self.bench.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._read(START_TIMEOUT_S, "start")

    def _ask(self, command: str, extra_s: float = 0.0, /, **arguments: Any) -> Any:
        process = self._process
        if process is None or process.stdin is None:
            raise LiveError(f"the host is not running: {command}")
        try:
            process.stdin.write(json.dumps({"do": command, "with": arguments}) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise self._error(f"the host is gone: {command}") from None
        return self._read(30.0 + extra_s, command)

    def _read(self, timeout_s: float, command: str) -> Any:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        line = process.stdout.readline() if _readable(process.stdout, timeout_s) else ""
        if not line:
            raise self._error(
                f"no answer to {command} within {timeout_s:g} s (exit code {process.poll()})"
            )
        reply = json.loads(line)
        if "error" in reply:
            raise self._error(f"{command} failed in the host: {reply['error']}")
        return reply["value"]

    def _error(self, what: str) -> LiveError:
        return LiveError(f"{what}\n--- the host printed ---\n{self.bench.log_tail()}")


class WebUi:
    """The host's real web UI at `url`, a context manager. Nobody is asked to log in."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.model = bench.model
        self.root = bench.root
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = [
            _python(),
            "run_ui.py",
            "--dockerized=true",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]
        bench.closing.callback(self._end)
        with bench.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [*_time_limit(bench.seconds_left()), *command],
                cwd=bench.root,
                env=bench.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            self._wait_until_served()
        except BaseException:
            bench.closing.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the server and the model, delete the copy."""
        self.bench.closing.close()

    def api(self, path: str, body: Mapping[str, Any]) -> Any:
        """POST `body` to `/api/<path>` as the page does, session and CSRF token included; the parsed JSON answer."""
        jar = http.cookiejar.CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        headers = {
            "Origin": self.url,
            "Referer": f"{self.url}/",
            "Content-Type": "application/json",
        }
        with opener.open(
            urllib.request.Request(f"{self.url}/api/csrf_token", headers=headers), timeout=30
        ) as answer:
            csrf = json.load(answer)
        cookies = [f"{cookie.name}={cookie.value}" for cookie in jar]
        cookies.append(f"csrf_token_{csrf['runtime_id']}={csrf['token']}")
        headers |= {"X-CSRF-Token": csrf["token"], "Cookie": "; ".join(cookies)}
        asked = urllib.request.Request(f"{self.url}/api/{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.load(answer)

    def chats(self, chat_id: str) -> list[dict[str, Any]]:
        """The saved chat `chat_id` and its children, as they are on disk."""
        return saved_family(self.root / "usr" / "chats", chat_id)

    def _wait_until_served(self) -> None:
        end = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < end and self._process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/api/health", timeout=2) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        raise LiveError(
            f"the web UI did not come up at {self.url}\n--- the host printed ---\n{self.bench.log_tail()}"
        )

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)


def _settled_json(path: Path, timeout_s: float = 5.0) -> dict[str, Any]:
    """The object in `path`; the host writes in place, so what is half written is read again."""
    end = time.monotonic() + timeout_s
    while True:
        try:
            found: dict[str, Any] = json.loads(path.read_text("utf-8"))
            return found
        except ValueError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def saved_family(folder: Path, chat_id: str) -> list[dict[str, Any]]:
    """The saved chat `chat_id` in `folder` and those that name it or its children as their parent, oldest first."""
    family = [_settled_json(folder / chat_id / "chat.json")]
    others = [_settled_json(file) for file in folder.glob("*/chat.json")]
    others.sort(key=lambda chat: str(chat.get("created_at")))
    for parent in family:  # grows as it is walked
        for chat in others:
            if chat.get("output_data", {}).get("parent_context_id") == parent["id"]:
                family.append(chat)
    return family


def saved_messages(history: str) -> list[dict[str, Any]]:
    """The messages in a saved agent's `history` (a JSON string), oldest first; a summed-up part is {"summary"}."""
    parsed = json.loads(history) if history else {}
    topics = [*parsed.get("topics", ()), parsed.get("current", {})]
    found: list[dict[str, Any]] = [
        message for bulk in parsed.get("bulks", ()) for message in _of_record(bulk)
    ]
    return found + [message for topic in topics for message in _of_record(topic)]


def _of_record(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    if record.get("summary"):
        return [{"summary": record["summary"]}]
    if "records" in record:
        return [message for inner in record["records"] for message in _of_record(inner)]
    if "messages" in record:
        return [message for inner in record["messages"] for message in _of_record(inner)]
    return [dict(record)] if "content" in record else []


def _readable(stream: IO[str], timeout_s: float) -> bool:
    return bool(select.select([stream], [], [], timeout_s)[0])


def _time_limit(seconds: float) -> list[str]:
    """A prefix that ends a command also when this process is gone, where the system has one."""
    return ["timeout", "-k", "5", f"{seconds:.0f}"] if shutil.which("timeout") else []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

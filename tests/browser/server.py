"""Serves the plugin's pages under the host's paths, with handlers that read generated records. Listens on 127.0.0.1 only."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from usr.plugins.software_orchestrator.helpers.flow import person
from usr.plugins.software_orchestrator.helpers.records.local import local_ports
from usr.plugins.software_orchestrator.helpers.records.resources import default_settings
from usr.plugins.software_orchestrator.helpers.values.call import Call, Caller
from usr.plugins.software_orchestrator.helpers.values.errors import HandoverError
from usr.plugins.software_orchestrator.helpers.values.settings import Settings, settings
from usr.plugins.software_orchestrator.helpers.views import page, settings_form
from usr.plugins.software_orchestrator.helpers.views.page import Project, Records
from usr.plugins.software_orchestrator.helpers.views.settings_form import Layer

PLUGIN = Path(__file__).resolve().parents[2]
STAND_IN = Path(__file__).with_name("stand_in")
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
FILES = {
    "/": "page.html",
    "/stand_in.js": "stand_in.js",
    "/alpine.min.js": "alpine.min.js",
    "/js/AlpineStore.js": "AlpineStore.js",
    "/js/api.js": "api.js",
    "/js/messages.js": "messages.js",
}


@dataclass
class Site:
    """What is served: the records, the saved settings by (project, profile), and what was asked in vain."""

    records: Records
    saved: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    url: str = ""

    def layers(self, project: str, profile: str) -> list[Layer]:
        scopes = dict.fromkeys([("", ""), ("", profile), (project, ""), (project, profile)])
        return [
            Layer(*scope, f"config of {scope}", self.saved[scope])
            for scope in scopes
            if scope in self.saved
        ]

    def answer(self, handler: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What the handler of that name answers. Raises HandoverError; KeyError for a name that is none."""
        handlers = {
            "audit": self.audit,
            "act": self.act,
            "settings": self.settings,
            "": self.host,
        }
        return handlers[handler](asked)

    def audit(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return page.answer(asked, self.records)

    def act(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        project, _ = self.records.holding(asked["project"], asked["chain"])
        ports = replace(local_ports(), key=lambda: self.records.key)
        call = Call(Caller(project_root=str(project.root)), _settings_of(""), ports)
        match asked["action"]:
            case "lift_decline":
                person.lift_decline(asked["chain"], asked["field"], call)
            case "lift_stop":
                person.lift_stop(asked["chain"], call)
            case "close":
                person.close_handover(asked["handover"], asked["reason"], call)
        return {"ok": True}

    def settings(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if asked["action"] == "check":
            return {"ok": True, "values": settings_form.checked(asked["values"])}
        project, profile = asked.get("project", ""), asked.get("profile", "")
        return {"ok": True, **settings_form.view(self.layers(project, profile), project, profile)}

    def host(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The host's own `plugins` handler, as far as its settings page uses it."""
        scope = (asked["project_name"], asked["agent_profile"])
        if asked["action"] == "save_config":
            self.saved[scope] = settings_form.checked(asked["settings"])
            return {"ok": True}
        if asked["action"] == "get_default_config":
            return {
                "ok": True,
                "data": {**default_settings(), "roster": settings_form.shipped_roster()},
            }
        strongest = self.layers(*scope)[-1:]
        return {
            "ok": True,
            "data": dict(strongest[0].values) if strongest else default_settings(),
            "loaded_path": strongest[0].path if strongest else "default_config.yaml",
            "loaded_project_name": strongest[0].project if strongest else "",
            "loaded_agent_profile": strongest[0].profile if strongest else "",
        }


@contextmanager
def serving(projects: Mapping[str, Path], key: bytes) -> Iterator[Site]:
    """The site on a free port, for as long as the block runs."""
    site = Site(
        Records(
            tuple(Project(name, name.title(), root) for name, root in projects.items()),
            key,
            _settings_of,
        )
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(site))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def _settings_of(_: str) -> Settings:
    return settings(default_settings())


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = _file(self.path.partition("?")[0])
            if path is None or not path.is_file():
                site.missing.append(self.path)
                self._send(404, "text/plain", b"not found")
            else:
                self._send(
                    200, TYPES.get(path.suffix, "application/octet-stream"), path.read_bytes()
                )

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("X-CSRF-Token") != "stand-in":
                self._send(403, "text/plain", b"CSRF token missing or invalid")
                return
            handler = self.path.removeprefix("/api/plugins").removeprefix("/software_orchestrator/")
            try:
                status, answer = 200, site.answer(handler, json.loads(body))
            except HandoverError as error:
                status, answer = (
                    400,
                    {"ok": False, "error": error.message, "hint": error.hint, "code": error.code},
                )
            self._send(status, "application/json", json.dumps(answer).encode())

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _file(path: str) -> Path | None:
    """The file of a path, as the host serves them: below webui/ and extensions/webui/ of the plugin only."""
    if path in FILES:
        return STAND_IN / FILES[path]
    inside = path.removeprefix("/usr").removeprefix("/plugins/software_orchestrator/")
    found = (PLUGIN / inside).resolve()
    served = (PLUGIN / "webui", PLUGIN / "extensions/webui")
    return found if any(found.is_relative_to(place) for place in served) else None

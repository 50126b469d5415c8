"""A plain A2A agent on 127.0.0.1 that knows nothing of the plugin; it says what a test tells it to.

    with A2AAgent([["submitted", "working", ("completed", "All done.")]]) as agent:
        agent.url, agent.messages, agent.cancelled

One list for each message it gets: the first item answers `message/send`, each later one a look at the
task, the last one stays. An item is a state, (state, words), a `Raw` answer, or a function that
returns one. A message that names a task goes on in it.
"""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Raw:
    """An HTTP answer as it is."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class A2AAgent:
    def __init__(self, answers: list[list[Any]], card: Any = None, token: str = "") -> None:
        self.answers, self.token = answers, token
        self.messages: list[dict[str, Any]] = []
        self.cancelled: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.asked: list[str] = []
        self._left: dict[str, list[Any]] = {}
        self._ended = threading.Event()
        agent = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                agent._take(self, None)

            def do_POST(self) -> None:
                agent._take(self, self.rfile.read(int(self.headers["Content-Length"])))

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        self.card = {"name": "plain", "url": self.url} if card is None else card
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> "A2AAgent":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def hangs(self, seconds: float = 15.0) -> str:
        """An item that answers late, or as soon as the test is over."""
        self._ended.wait(seconds)
        return "working"

    def texts(self) -> list[str]:
        return [message["parts"][0]["text"] for message in self.messages]

    def _take(self, http: BaseHTTPRequestHandler, body: bytes | None) -> None:
        self.headers.append(dict(http.headers))
        answer = self._answer(http, body)
        if not isinstance(answer, Raw):
            answer = Raw(json.dumps(answer).encode())
        try:
            http.send_response(answer.status)
            for name, value in answer.headers.items():
                http.send_header(name, value)
            http.send_header("Content-Length", str(len(answer.body)))
            http.end_headers()
            http.wfile.write(answer.body)
        except OSError:  # who asked is gone, as in the tests of hanging agents
            http.close_connection = True

    def _answer(self, http: BaseHTTPRequestHandler, body: bytes | None) -> Any:
        if self.token and http.headers.get("Authorization") != f"Bearer {self.token}":
            return Raw(b"no", 401)
        if body is None:
            is_card = http.path.endswith("/.well-known/agent-card.json")
            return self.card if is_card else Raw(status=404)
        call = json.loads(body)
        self.asked.append(call["method"])
        result = self._result(call["method"], call["params"])
        if isinstance(result, Raw):
            return result
        return {"jsonrpc": "2.0", "id": call["id"], **result}

    def _result(self, method: str, params: dict[str, Any]) -> Any:
        if method == "message/send":
            message = params["message"]
            self.messages.append(message)
            task = message.get("taskId") or f"task-{len(self.messages)}"
            context = message.get("contextId") or f"context-{len(self.messages)}"
            self._left[task] = [context, *self.answers.pop(0)]
            return self._state(task)
        task = params["id"]
        if task not in self._left:
            return {"error": {"code": -32001, "message": "Task not found"}}
        if method == "tasks/cancel":
            self.cancelled.append(task)
            self._left[task] = [self._left[task][0], "canceled"]
        return self._state(task)

    def _state(self, task: str) -> Any:
        left = self._left[task]
        context, now = left[0], left[1]
        if len(left) > 2:
            left.pop(1)
        now = now() if callable(now) else now
        if isinstance(now, Raw):
            return now
        state, words = now if isinstance(now, tuple) else (now, "")
        status: dict[str, Any] = {"state": state}
        if words:
            parts = [{"kind": "text", "text": words}]
            status["message"] = {"kind": "message", "role": "agent", "parts": parts}
        return {"result": {"kind": "task", "id": task, "contextId": context, "status": status}}

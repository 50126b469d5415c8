"""An OpenAI-compatible model on 127.0.0.1 that answers from a script, so that a real host can run without a model.

Standard library only. The host says in every chat request which agent asks ("Agent Number: 1", "Profile: developer",
the last such pair of the last message), and that chooses the list of answers. Requests that name the utility
model (renaming a chat, compressing history) get one fixed answer and are kept apart.

It speaks chat completions, where a scripted tool call is JSON text, and the Responses API, where it is a call of one of
the functions that the request offers; a call of anything else is a fault of the script, as no model can make it.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeVar

from usr.plugins.software_orchestrator.tests.e2e import responses_wire

CHAT_MODEL = "scripted-chat"
UTILITY_MODEL = "scripted-utility"
# Natively the host's client streams only from models whose name it knows; the name sends nothing anywhere.
NATIVE_CHAT_MODEL = "gpt-4.1"
CHUNK_CHARACTERS = 60

T = TypeVar("T")

_AGENT_NUMBER = re.compile(r"Agent Number: (\d+)")
_PROFILE = re.compile(r"Profile: ([\w.-]+)")


@dataclass(frozen=True)
class ChatRequest:
    """One request to the chat model. `turn` counts, from 1, the requests answered from the same list of the script."""

    index: int
    model: str
    stream: bool
    messages: tuple[Mapping[str, Any], ...]
    agent_number: int | None
    profile: str
    turn: int = 0
    native: bool = False
    functions: tuple[Mapping[str, Any], ...] = ()
    previous_id: str = ""

    @property
    def offered(self) -> list[str]:
        """The names of the functions that this request offers; none in text mode."""
        return [str(function.get("name")) for function in self.functions]

    def function(self, name: str) -> Mapping[str, Any]:
        """The offered function `name`: {type, name, description, parameters}. Raises KeyError."""
        for function in self.functions:
            if function.get("name") == name:
                return function
        raise KeyError(f"{name} is not offered; offered: {self.offered}")

    @property
    def system(self) -> str:
        """The system prompt."""
        return self.text("system")

    @property
    def last(self) -> str:
        """The last message as text: the newest tool result or word of the person, and the host's extras."""
        return _flat(self.messages[-1].get("content")) if self.messages else ""

    def text(self, role: str | None = None) -> str:
        """Every message of `role` (None: of every role), joined by newlines."""
        return "\n".join(
            _flat(m.get("content")) for m in self.messages if role in (None, m.get("role"))
        )


@dataclass
class Reply:
    """An answer. `text` is what the model says; `status` other than 200 makes it an HTTP error.

    `calls` are the tool calls that `text` spells out, `words` what the model says before them. With a `gate` the answer
    is held back until the gate is set, which is how a test acts in the middle of a turn.
    """

    text: str
    status: int = 200
    gate: threading.Event | None = None
    calls: Sequence[Mapping[str, Any]] = ()
    words: str = ""

    def release(self) -> None:
        """Let a held answer go."""
        if self.gate is not None:
            self.gate.set()


@dataclass
class Exchange:
    """A request and its answer; `delivered` is false while it is held, and stays false when the host hung up first."""

    request: ChatRequest
    reply: Reply
    delivered: bool = False

    @property
    def answer_id(self) -> str:
        """The id of the answer in the Responses API."""
        return f"resp_{self.request.index}"

    def output(self) -> list[dict[str, Any]]:
        """The answer as items of the Responses API."""
        index, reply = self.request.index, self.reply
        said = reply.words if reply.calls else reply.text
        items = [responses_wire.text_message(said, f"{index}")] if said else []
        for place, call in enumerate(reply.calls):
            items.append(responses_wire.function_call(call, f"call_{index}_{place}"))
        return items


Answer = str | Mapping[str, Any] | Reply | list[Mapping[str, Any]]
Step = Answer | Callable[[ChatRequest], Answer]
Script = Mapping[str, Sequence[Step]] | Callable[[ChatRequest], Answer]


class ScriptedModelError(AssertionError):
    """The host asked what the script does not answer, or a wait for a request ran out of time."""


def tool_call(tool_name: str, /, **tool_args: Any) -> dict[str, Any]:
    """The JSON with which an agent calls a tool; a dict so that a test may still change it."""
    return {
        "thoughts": ["scripted"],
        "headline": f"Calling {tool_name}",
        "tool_name": tool_name,
        "tool_args": tool_args,
    }


def response(text: str) -> dict[str, Any]:
    """The call of the host's `response` tool, which ends an agent's run with `text`."""
    return tool_call("response", text=text)


def saying(words: str, answer: Answer) -> Reply:
    """`answer`, a tool call, with `words` before it."""
    reply = _as_reply(answer)
    return replace(reply, words=words, text=f"{words}\n{reply.text}")


def held(answer: Answer) -> Reply:
    """`answer`, held back until `.release()` is called on the returned reply."""
    reply = _as_reply(answer)
    reply.gate = threading.Event()
    return reply


class ScriptedModel:
    """The server, as a context manager. It ends by itself after `lifetime_s` seconds or `max_requests` requests.

    `script` is a callable (request -> answer) or a mapping from role to a list of steps. A role is a profile
    ("developer") or a profile at one agent number ("developer#2"), which goes first. A step is text, a dict (a tool
    call, or other JSON), a list of tool calls at once, a Reply, or a callable (request -> one of these). A request
    without a step left is kept in `faults` and answered with the `response` tool, so that the chat ends at once instead
    of hanging.
    """

    def __init__(
        self,
        script: Script,
        *,
        utility_answer: str = "Scripted chat",
        lifetime_s: float = 120.0,
        max_requests: int = 300,
    ) -> None:
        self.script = script
        self.utility_answer = utility_answer
        self.max_requests = max_requests
        self.faults: list[str] = []
        self.exchanges: list[Exchange] = []
        self.utility_requests: list[ChatRequest] = []
        self.deadline = time.monotonic() + lifetime_s
        self.closed = threading.Event()
        self._changed = threading.Condition()
        self._turns: dict[str, int] = {}
        self._stored: dict[str, Exchange] = {}
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.scripted = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._timer = threading.Timer(lifetime_s, self.close)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._thread.start()
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def api_base(self) -> str:
        """The address for the host's `api_base`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def requests(self) -> list[ChatRequest]:
        """The requests to the chat model, in the order of arrival."""
        with self._changed:
            return [exchange.request for exchange in self.exchanges]

    def requests_of(self, profile: str) -> list[ChatRequest]:
        """The requests of the agents that ran under `profile`."""
        return [request for request in self.requests if request.profile == profile]

    def wait_for(self, profile: str, turn: int = 1, timeout_s: float = 30.0) -> ChatRequest:
        """Wait until the `turn`-th request under `profile` has arrived; its answer may still be held."""
        what = f"{profile} turn {turn}"
        return self.wait_until(lambda: self.requests_of(profile)[turn - 1 : turn], what, timeout_s)[
            0
        ]

    def wait_until(self, happened: Callable[[], T], what: str, timeout_s: float = 30.0) -> T:
        """Wait until `happened()` is true after a request or an answer, and return what it returned."""
        end = time.monotonic() + timeout_s
        while True:
            if found := happened():
                return found
            left = end - time.monotonic()
            if left <= 0 or self.closed.is_set():
                seen = [f"{request.profile}#{request.agent_number}" for request in self.requests]
                raise ScriptedModelError(
                    f"waited {timeout_s:g} s for {what}; requests so far: {seen}"
                )
            with self._changed:
                self._changed.wait(min(left, 0.1))

    def close(self) -> None:
        """Stop the server and let every held answer go; again does nothing."""
        if self.closed.is_set():
            return
        self.closed.set()
        self._timer.cancel()
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()

    def answer(self, body: Mapping[str, Any], *, native: bool = False) -> Exchange:
        """Record the request `body`, in the Responses API's form if `native`, and decide its answer."""
        with self._changed:
            index = len(self.exchanges) + len(self.utility_requests)
            request = self._parse_native(body, index) if native else _parse(body, index)
            if request.model == UTILITY_MODEL:
                self.utility_requests.append(request)
                return Exchange(request, Reply(self.utility_answer))
            open_calls = self._unanswered(body) if native else []
            exchange = self._decide(request, open_calls)
            self.exchanges.append(exchange)
            self._stored[exchange.answer_id] = exchange
            self._changed.notify_all()
            return exchange

    def delivered(self, exchange: Exchange) -> None:
        """Note that the host has the answer."""
        with self._changed:
            exchange.delivered = True
            self._changed.notify_all()

    def _decide(self, request: ChatRequest, open_calls: Sequence[str]) -> Exchange:
        if open_calls:
            return self._fault(request, f"no output for {open_calls}", status=400)
        role = self._role(request)
        turn = self._turns[role] = self._turns.get(role, 0) + 1
        request = _with_turn(request, turn)
        if request.index >= self.max_requests:
            return self._fault(request, f"more than {self.max_requests} requests", status=400)
        if callable(self.script):
            step: Step = self.script
        elif turn <= len(steps := self.script.get(role, ())):
            step = steps[turn - 1]
        else:
            return self._fault(request, f"the script has no answer for turn {turn} of {role}")
        try:
            reply = _as_reply(step(request) if callable(step) else step)
        except Exception as error:
            return self._fault(request, f"the script raised at turn {turn} of {role}: {error!r}")
        if lacking := _not_offered(request, reply):
            return self._fault(request, f"turn {turn} of {role} calls {lacking}, not offered")
        return Exchange(request, reply)

    def _unanswered(self, body: Mapping[str, Any]) -> list[str]:
        """The calls of the answer that `body` goes on from without their outputs; the real API refuses that too."""
        before = self._stored.get(str(body.get("previous_response_id") or ""))
        called = before.output() if before is not None else []
        answered = responses_wire.answered_calls(body.get("input"))
        return [item["name"] for item in called if item.get("call_id", "") not in ("", *answered)]

    def _parse_native(self, body: Mapping[str, Any], index: int) -> ChatRequest:
        """A request that names an earlier answer leaves out what was said until then: it is put back."""
        said = responses_wire.messages(body.get("input"))
        before = self._stored.get(str(body.get("previous_response_id") or ""))
        if before is not None:
            said = (*before.request.messages, *responses_wire.messages(before.output()), *said)
        request = _parse({**body, "messages": said}, index)
        if before is not None and not request.profile:
            number, profile = before.request.agent_number, before.request.profile
            request = replace(request, agent_number=number, profile=profile)
        functions = [tool for tool in body.get("tools") or () if tool.get("type") == "function"]
        previous_id = before.answer_id if before is not None else ""
        return replace(request, native=True, functions=tuple(functions), previous_id=previous_id)

    def _role(self, request: ChatRequest) -> str:
        exact = f"{request.profile}#{request.agent_number}"
        return exact if callable(self.script) or exact in self.script else request.profile

    def _fault(self, request: ChatRequest, what: str, status: int = 200) -> Exchange:
        self.faults.append(what)
        reply = _as_reply(response(f"SCRIPT FAULT: {what}"))
        reply.status = status
        return Exchange(request, reply)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    scripted: ScriptedModel


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 30

    def do_GET(self) -> None:
        if self.path.rstrip("/").endswith("/models"):
            models = [
                {"id": name, "object": "model", "owned_by": "script"}
                for name in (CHAT_MODEL, UTILITY_MODEL)
            ]
            self._send_json(200, {"object": "list", "data": models})
        else:
            self._send_json(404, _error(f"no such path: {self.path}"))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.rstrip("/")
        native = path.endswith("/responses")
        if not native and not path.endswith("/chat/completions"):
            self._send_json(404, _error(f"no such path: {self.path}"))
            return
        try:
            asked = json.loads(body)
        except ValueError as error:
            self._send_json(400, _error(f"not JSON: {error}"))
            return
        exchange = self.server.scripted.answer(asked, native=native)
        self._hold(exchange.reply)
        try:
            self._send_reply(exchange)
        except (BrokenPipeError, ConnectionResetError):
            return  # the host stopped reading: it has a whole tool call, or the person stopped it
        finally:
            self.close_connection = True
        self.server.scripted.delivered(exchange)

    def log_message(self, format: str, *args: object) -> None:  # the name is the base class's
        """Nothing on standard error: `exchanges` is the log."""

    def _hold(self, reply: Reply) -> None:
        scripted = self.server.scripted
        while reply.gate is not None and not reply.gate.wait(0.05):
            if scripted.closed.is_set() or time.monotonic() > scripted.deadline:
                return

    def _send_reply(self, exchange: Exchange) -> None:
        request, reply = exchange.request, exchange.reply
        if reply.status != 200:
            self._send_json(reply.status, _error(reply.text))
        elif request.native:
            self._send_native(exchange)
        elif request.stream:
            self._send_stream(request.model, reply.text)
        else:
            message = {"role": "assistant", "content": reply.text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            self._send_json(
                200, _envelope(request.model, "chat.completion", choice) | {"usage": usage}
            )

    def _send_native(self, exchange: Exchange) -> None:
        request = exchange.request
        whole = responses_wire.response(exchange.answer_id, request.model, exchange.output())
        if not request.stream:
            self._send_json(200, whole)
            return
        self._begin_stream()
        for event in responses_wire.events(whole, CHUNK_CHARACTERS):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()

    def _begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def _send_stream(self, model: str, text: str) -> None:
        self._begin_stream()
        pieces = [text[i : i + CHUNK_CHARACTERS] for i in range(0, len(text), CHUNK_CHARACTERS)]
        for piece in pieces:
            self._send_event(model, {"role": "assistant", "content": piece}, None)
        self._send_event(model, {}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def _send_event(self, model: str, delta: Mapping[str, Any], finish: str | None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        event = _envelope(model, "chat.completion.chunk", choice)
        self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        self.wfile.flush()

    def _send_json(self, status: int, value: Mapping[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _parse(body: Mapping[str, Any], index: int) -> ChatRequest:
    messages = tuple(body.get("messages") or ())
    last = _flat(messages[-1].get("content")) if messages else ""
    numbers, profiles = _AGENT_NUMBER.findall(last), _PROFILE.findall(last)
    return ChatRequest(
        index=index,
        model=str(body.get("model", "")),
        stream=bool(body.get("stream")),
        messages=messages,
        agent_number=int(numbers[-1]) if numbers else None,
        profile=profiles[-1] if profiles else "",
    )


def _with_turn(request: ChatRequest, turn: int) -> ChatRequest:
    return replace(request, turn=turn)


def _as_reply(answer: Answer) -> Reply:
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, str):
        return Reply(answer)
    calls = answer if isinstance(answer, list) else [answer]
    text = "\n".join(json.dumps(call, ensure_ascii=False) for call in calls)
    return Reply(text, calls=[call for call in calls if "tool_name" in call])


def _not_offered(request: ChatRequest, reply: Reply) -> str:
    """The first tool that `reply` calls and a native request does not offer; "" when there is none."""
    names = [str(responses_wire.function_call(call, "")["name"]) for call in reply.calls]
    for name in names:
        if request.native and name not in request.offered:
            return name
    return ""


def _flat(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return "" if content is None else str(content)


def _envelope(model: str, kind: str, choice: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": "scripted", "object": kind, "created": 0, "model": model, "choices": [choice]}


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "scripted", "code": None}}

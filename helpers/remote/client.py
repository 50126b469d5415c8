"""Asks another machine over A2A: send, look, cancel. No redirects, no compression, a limit on all that is read.

The host's own client has no cancel, reads answers of any size and blocks on a model's whole run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ..values.errors import RemoteError
from ..values.remote import Remote
from . import protocol
from .protocol import MOST_BYTES, Endpoint, Task

if TYPE_CHECKING:
    import httpx

_ONE_ANSWER_S = 30.0
_CONNECT_S = 10.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 5.0
_MOST_FAILURES = 3  # looks at a task that come to nothing, in a row

Tell = Callable[[Task], Awaitable[None]]


class Client:
    """One remote agent. An async context manager; every method raises RemoteError."""

    def __init__(self, remote: Remote, token: str) -> None:
        self.remote = remote
        self._token = token
        self._known: Endpoint | None = None

    async def __aenter__(self) -> Self:
        self._http = await asyncio.to_thread(_http, self.remote, self._token)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def send(
        self,
        text: str,
        *,
        task: str = "",
        context: str = "",
        within_s: float = _ONE_ANSWER_S,
    ) -> Task:
        """A message, and what it came to so far: an agent may take the whole work's time to answer."""
        dialect = (await self._endpoint()).dialect
        params = protocol.message(text, dialect, task=task, context=context)
        return await self._ask(dialect.send, params, within_s)

    async def task(self, task_id: str) -> Task:
        dialect = (await self._endpoint()).dialect
        return await self._ask(dialect.look, {"id": task_id}, _ONE_ANSWER_S)

    async def cancel(self, task_id: str) -> None:
        dialect = (await self._endpoint()).dialect
        await self._ask(dialect.cancel, {"id": task_id}, _ONE_ANSWER_S)

    async def watch(self, task: Task, tell: Tell) -> Task:
        """Look at the task until it wants something or is over; `tell` hears of it after each look."""
        pause, failures = _FIRST_PAUSE_S, 0
        await tell(task)
        while task.works:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE_S)
            try:
                task = await self.task(task.id)
                failures = 0
            except RemoteError as error:
                failures += 1
                if error.gone or failures == _MOST_FAILURES:
                    raise
            await tell(task)
        return task

    async def _ask(self, method: str, params: Mapping[str, Any], within_s: float) -> Task:
        endpoint, asked = await self._endpoint(), protocol.request(method, params)
        status, body = await self._fetch("POST", endpoint, within_s, asked)
        if status >= 400:
            raise RemoteError(f"it answered with HTTP {status}")
        return protocol.task_in(body)

    async def _endpoint(self) -> Endpoint:
        """Where it takes messages: as its card says, else as the roster does."""
        if self._known is None:
            self._known = await self._endpoint_of_card()
        return self._known

    async def _endpoint_of_card(self) -> Endpoint:
        base = self.remote.url.rstrip("/")
        for place in protocol.CARDS:
            card_at = Endpoint(f"{base}/{place}")
            status, body = await self._fetch("GET", card_at, _ONE_ANSWER_S)
            if status == 200 and body.lstrip().startswith(b"{"):
                card = protocol.object_in(body)
                return protocol.endpoint_in(card, self.remote, otherwise=f"{base}/")
        return Endpoint(self.remote.url)

    async def _fetch(
        self, method: str, at: Endpoint, within_s: float, content: bytes | None = None
    ) -> tuple[int, bytes]:
        import httpx

        version = {"A2A-Version": at.dialect.version}
        try:
            async with (
                asyncio.timeout(within_s),
                self._http.stream(method, at.url, content=content, headers=version) as response,
            ):
                _check_head(response)
                return response.status_code, await _body(response)
        except httpx.HTTPError as error:
            what = "did not answer in time" if isinstance(error, httpx.TimeoutException) else ""
            what = what or f"cannot be reached ({type(error).__name__})"
            raise RemoteError(f"{self.remote.origin} {what}") from error
        except TimeoutError:
            raise RemoteError(f"{self.remote.origin} did not answer in time") from None


def _http(remote: Remote, token: str) -> httpx.AsyncClient:
    """In a thread: reading certificates takes a while. Nothing of this machine's own goes along."""
    try:
        import httpx
    except ImportError as error:
        message = "a specialist on another machine needs the package httpx"
        raise RemoteError(message, "pip install httpx") from error
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    if token:
        if not (token.isascii() and token.isprintable()):
            raise RemoteError("its token is no plain ASCII text", "mend the secret")
        headers["Authorization"] = f"Bearer {token}"
    limit = httpx.Timeout(None, connect=_CONNECT_S)
    away = remote.url.startswith("https:")  # a proxy is not asked for this machine
    return httpx.AsyncClient(headers=headers, timeout=limit, follow_redirects=False, trust_env=away)


def _check_head(response: httpx.Response) -> None:
    status = response.status_code
    if 300 <= status < 400:
        raise RemoteError("it answered with a redirect, which is not followed")
    if status in (401, 403):
        raise RemoteError(
            f"it refused the token (HTTP {status})", "check the secret and the address"
        )
    if response.headers.get("content-encoding", "identity") != "identity":
        raise RemoteError("it sent a compressed answer, which was not asked for")


async def _body(response: httpx.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MOST_BYTES:
            raise RemoteError(f"its answer is longer than {MOST_BYTES:,} bytes")
    return bytes(body)

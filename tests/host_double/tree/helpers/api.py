"""Web handlers. Request and Response stand for flask's; guards are only answered, not enforced."""

import json
from abc import abstractmethod
from typing import Any

from helpers.errors import format_error
from helpers.print_style import PrintStyle

CACHE_AREA = "api_handlers(api)"
Input = dict
Output = Any


class Request:
    def __init__(self, body: dict[str, Any] | None = None, method: str = "POST"):
        self.body, self.method = body, method
        self.is_json, self.data = (
            body is not None,
            json.dumps(body).encode() if body is not None else b"",
        )

    def get_json(self):
        return self.body


class Response:
    def __init__(
        self,
        response: Any = "",
        status: int = 200,
        mimetype: str = "text/html",
        headers: Any = None,
    ):
        self.response, self.status_code, self.mimetype, self.headers = (
            response,
            status,
            mimetype,
            headers or {},
        )

    def get_json(self):
        return json.loads(self.response)


class ApiHandler:
    def __init__(self, app: Any, thread_lock: Any):
        self.app, self.thread_lock = app, thread_lock

    @classmethod
    def requires_loopback(cls) -> bool:
        return False

    @classmethod
    def requires_api_key(cls) -> bool:
        return False

    @classmethod
    def requires_auth(cls) -> bool:
        return True

    @classmethod
    def get_methods(cls) -> list[str]:
        return ["POST"]

    @classmethod
    def requires_csrf(cls) -> bool:
        return cls.requires_auth()

    @abstractmethod
    async def process(self, input: Input, request: Request) -> Output:
        raise NotImplementedError

    async def handle_request(self, request: Request) -> Response:
        try:
            output = await self.process(
                request.get_json() or {} if request.is_json else {}, request
            )
            if isinstance(output, Response):
                return output
            return Response(json.dumps(output), status=200, mimetype="application/json")
        except Exception as fault:
            PrintStyle.error(format_error(fault))
            return Response(format_error(fault), status=500, mimetype="text/plain")

    def use_context(self, ctxid: str, create_if_not_exists: bool = True):
        from helpers.context_utils import use_context

        return use_context(self.thread_lock, ctxid, create_if_not_exists)

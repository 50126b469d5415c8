"""Web handlers. Request and Response stand for flask's; guards are only answered, not enforced."""

import json
from abc import abstractmethod
from typing import Any


class Request:
    def __init__(self, body: dict[str, Any]):
        self.body = body


class Response:
    def __init__(self, response: Any = "", status: int = 200, mimetype: str = "text/html"):
        self.response, self.status_code, self.mimetype = response, status, mimetype

    def get_json(self):
        return json.loads(self.response)


class ApiHandler:
    def __init__(self, app: Any, thread_lock: Any):
        self.app, self.thread_lock = app, thread_lock

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
    async def process(self, input: dict, request: Request) -> Any:
        raise NotImplementedError

    async def handle_request(self, request: Request) -> Response:
        try:
            output = await self.process(request.body, request)
        except Exception as fault:
            return Response(f"{fault}", status=500, mimetype="text/plain")
        if isinstance(output, Response):
            return output
        return Response(json.dumps(output), mimetype="application/json")

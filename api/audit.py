"""`POST /api/plugins/software_orchestrator/audit`: what the audit page asks. Sign-in and CSRF token as the host demands."""

import asyncio
import json

from helpers.api import ApiHandler, Request, Response

from usr.plugins.software_orchestrator.helpers import audit_requests, host_web
from usr.plugins.software_orchestrator.helpers.errors import HandoverError


class Audit(ApiHandler):
    async def process(self, input: dict, request: Request) -> dict | Response:
        try:
            return await asyncio.to_thread(lambda: audit_requests.answer(input, host_web.records()))
        except HandoverError as error:
            return Response(json.dumps(host_web.refusal(error)), status=400, mimetype="application/json")

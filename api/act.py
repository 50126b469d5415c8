"""`POST /api/plugins/software_orchestrator/act`: what the person does on the audit page.

Sign-in and CSRF token as the host demands.
"""

import asyncio
import json

from helpers.api import ApiHandler, Request, Response

from usr.plugins.software_orchestrator.helpers.host import web
from usr.plugins.software_orchestrator.helpers.values.errors import HandoverError


class Act(ApiHandler):
    async def process(self, input: dict, request: Request) -> dict | Response:
        try:
            return await asyncio.to_thread(web.act_answer, input)
        except HandoverError as error:
            return Response(json.dumps(web.refusal(error)), status=400, mimetype="application/json")

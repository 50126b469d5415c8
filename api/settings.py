"""`POST /api/plugins/software_orchestrator/settings`: what holds in a scope, or a check."""

import asyncio
import json

from helpers.api import ApiHandler, Request, Response

from usr.plugins.software_orchestrator.helpers.host import web
from usr.plugins.software_orchestrator.helpers.values.errors import HandoverError


class Settings(ApiHandler):
    async def process(self, input: dict, request: Request) -> dict | Response:
        try:
            return await asyncio.to_thread(web.settings_answer, input)
        except HandoverError as error:
            return Response(json.dumps(web.refusal(error)), status=400, mimetype="application/json")

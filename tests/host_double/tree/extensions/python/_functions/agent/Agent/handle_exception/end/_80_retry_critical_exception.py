"""One retry in a monologue, then the chain ends. The host waits 3 seconds before it; the double does not."""

import asyncio
import uuid

from helpers import errors
from helpers.extension import Extension

COUNTER = "_plugin.error_retry.critical_exception_counter"
DELAY_S = 0.0


class RetryCriticalException(Extension):
    async def execute(self, data: dict, **kwargs):
        if not self.agent:
            return
        fault = data["exception"]
        if fault is None or isinstance(fault, errors.HandledException):
            self.agent.set_data(COUNTER, 0)
            return
        if self.agent.get_data(COUNTER):
            return
        self.agent.set_data(COUNTER, 1)
        row = str(uuid.uuid4())
        told = errors.format_error(fault)
        heading = "Critical error occurred, retrying..."
        self.agent.context.log.log(type="warning", heading=heading, content=told, id=row)
        await asyncio.sleep(DELAY_S)
        await self.agent.handle_intervention()
        text = self.agent.read_prompt("fw.msg_critical_error.md", error_message=told)
        self.agent.hist_add_warning(message=text, id=row)
        data["exception"] = None

import asyncio

from helpers import message_queue
from helpers.extension import Extension


class ProcessQueue(Extension):
    async def execute(self, **kwargs):
        if self.agent and self.agent.number == 0 and message_queue.has_queue(self.agent.context):
            self.task = asyncio.create_task(self._send_when_idle(self.agent.context))

    async def _send_when_idle(self, context):
        while context.is_running():
            await asyncio.sleep(0.01)
        message_queue.send_next(context)

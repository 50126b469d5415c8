from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import functions


class OfferedFunctions(Extension):
    async def execute(self, call_data: dict | None = None, **kwargs):
        if self.agent and call_data:
            functions.offer(self.agent, call_data)

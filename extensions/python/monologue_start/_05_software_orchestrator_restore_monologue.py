from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class Restore(Extension):
    async def execute(self, **kwargs):
        if self.agent:
            await events.restore(self.agent)

from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers import host_events


class Restore(Extension):
    async def execute(self, **kwargs):
        if self.agent:
            await host_events.restore(self.agent)

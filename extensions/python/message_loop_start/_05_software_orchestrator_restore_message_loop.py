from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class Restore(Extension):
    async def execute(self, loop_data=None, **kwargs):
        if self.agent:
            await events.restore(self.agent, turn=loop_data.iteration if loop_data else None)

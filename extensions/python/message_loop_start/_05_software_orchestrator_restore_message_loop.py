from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class Restore(Extension):
    async def execute(self, loop_data=None, **kwargs):
        if self.agent:
            await events.restore(self.agent, save=bool(loop_data) and loop_data.iteration == 0)

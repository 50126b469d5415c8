from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class OffersAgain(Extension):
    async def execute(self, loop_data=None, **kwargs):
        if self.agent and loop_data and loop_data.iteration:
            await events.offers_again(self.agent, loop_data.extras_persistent)

from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class Offers(Extension):
    async def execute(self, loop_data=None, **kwargs):
        if self.agent and loop_data and (text := await events.offers(self.agent)):
            loop_data.extras_persistent[events.OFFERS] = text

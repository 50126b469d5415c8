from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class Ended(Extension):
    async def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        if self.agent:
            await events.ended(self.agent, data)

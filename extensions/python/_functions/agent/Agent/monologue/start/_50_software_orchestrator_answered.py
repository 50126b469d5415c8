from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import received


class Answered(Extension):
    async def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        if self.agent:
            received.answered(self.agent, data)

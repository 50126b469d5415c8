from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import arrivals


class Incoming(Extension):
    def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        if self.agent:
            arrivals.incoming(self.agent, data)

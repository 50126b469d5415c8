from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class Nudged(Extension):
    def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        events.nudged(data["args"][0])

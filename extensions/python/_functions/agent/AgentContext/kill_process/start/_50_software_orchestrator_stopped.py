from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class Stopped(Extension):
    def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        events.stopped(data["args"][0], "the person stopped the chat")

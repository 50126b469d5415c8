from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers import host_events


class Stopped(Extension):
    def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        host_events.stopped(data["args"][0], "the person stopped the chat")

from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class Cleared(Extension):
    def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        events.cleared(data["args"][0], "the chat was reset or removed")

from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class EmptyArgs(Extension):
    async def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        events.fill_empty_args(data)

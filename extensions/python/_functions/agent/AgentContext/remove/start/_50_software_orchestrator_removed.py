from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class Removed(Extension):
    def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        events.removed(next(iter((*data.get("args", ()), *data.get("kwargs", {}).values())), ""))

from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers import host_events


class Removed(Extension):
    def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        host_events.removed(next(iter((*data.get("args", ()), *data.get("kwargs", {}).values())), ""))

from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class PersonWrote(Extension):
    def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        context, message = (*data.get("args", ()), *data.get("kwargs", {}).values())[:2]
        events.person_wrote(context, message)

from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class ToWorkingSpecialist(Extension):
    def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        context, message = (*data.get("args", ()), *data.get("kwargs", {}).values())[:2]
        task = events.to_working_specialist(context, message)
        if task is not None:
            data["result"] = task

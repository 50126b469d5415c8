from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class FileTree(Extension):
    async def execute(self, loop_data=None, **kwargs):
        if loop_data:
            events.hide_records(loop_data.extras_temporary)

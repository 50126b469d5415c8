from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import permissions


class Permissions(Extension):
    def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        if self.agent:
            permissions.tool_for(self.agent, data)

from helpers.tool import Response, Tool

from usr.plugins.software_orchestrator.helpers.host import tools


class RequestFullHistory(Tool):
    """The conversation behind a handover, on demand.

    See prompts/fw.software_orchestrator.tool_request_full_history.md.
    """

    async def execute(self, **kwargs) -> Response:
        return await tools.full_history(self.agent, kwargs)

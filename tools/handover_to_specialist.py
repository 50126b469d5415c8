from helpers.tool import Response, Tool

from usr.plugins.software_orchestrator.helpers.host import tools


class HandoverToSpecialist(Tool):
    """Hand a bounded piece of work to a named specialist.

    See prompts/agent.system.tool.handover_to_specialist.md.
    """

    async def execute(self, **kwargs) -> Response:
        return await tools.handover(self.agent, self, kwargs)

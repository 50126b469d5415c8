from helpers.tool import Response, Tool

from usr.plugins.software_orchestrator.helpers.host import tools


class HandoverReply(Tool):
    """A specialist's verdict on its handover.

    See prompts/fw.software_orchestrator.tool_handover_reply.md.
    """

    async def execute(self, **kwargs) -> Response:
        return await tools.reply(self.agent, kwargs)

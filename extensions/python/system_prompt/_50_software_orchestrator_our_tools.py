from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import functions


class OurTools(Extension):
    async def execute(self, system_prompt: list = [], **kwargs):  # noqa: B006
        if self.agent:
            functions.tell(self.agent, system_prompt)

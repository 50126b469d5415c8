from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import events


class SpecialistPrompt(Extension):
    async def execute(self, system_prompt: list = [], **kwargs):  # noqa: B006
        if self.agent and (text := events.specialist_prompt(self.agent)):
            system_prompt.append(text)

from helpers.extension import Extension

from usr.plugins.software_orchestrator.helpers.host import conversation


class TranscriptLog(Extension):
    def execute(self, data: dict = {}, **kwargs):  # noqa: B006 - the host's signature
        if self.agent:
            conversation.log_message(self.agent, data.get("result"))

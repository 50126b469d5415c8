from agent import LoopData, UserMessage
from helpers import subagents
from helpers.extension import Extension

LINE = "fw.initial_user_message.md"


class InitialMessage(Extension):
    """The first agent of a chat without rows greets; where the newest hosts' prompt is there, as if asked."""

    def execute(self, **kwargs):
        if self.agent.number == 0 and not self.agent.context.log.logs:
            self.agent.loop_data = LoopData()
            if subagents.get_paths(self.agent, "prompts", LINE):
                self.agent.hist_add_user_message(UserMessage(self.agent.read_prompt(LINE)))
            self.agent.hist_add_ai_response(self.agent.read_prompt("fw.initial_message.md"))
            self.agent.context.log.log(type="response", content="Hello from the double.")

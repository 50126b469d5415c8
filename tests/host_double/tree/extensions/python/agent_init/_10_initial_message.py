from agent import LoopData
from helpers.extension import Extension


class InitialMessage(Extension):
    """The first agent of a chat without rows greets."""

    def execute(self, **kwargs):
        if self.agent.number == 0 and not self.agent.context.log.logs:
            self.agent.loop_data = LoopData()
            self.agent.hist_add_ai_response(self.agent.read_prompt("fw.initial_message.md"))
            self.agent.context.log.log(type="response", content="Hello from the double.")

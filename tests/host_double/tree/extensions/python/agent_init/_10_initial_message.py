import json

from agent import LoopData
from helpers.extension import Extension


class InitialMessage(Extension):
    """The first agent of a chat without rows greets."""

    def execute(self, **kwargs):
        if not self.agent or self.agent.number != 0 or self.agent.context.log.logs:
            return
        greeting = self.agent.read_prompt("fw.initial_message.md")
        self.agent.loop_data = LoopData()
        message = self.agent.hist_add_ai_response(greeting)
        text = json.loads(greeting)["tool_args"]["text"]
        self.agent.context.log.log(
            type="response", content=text, finished=True, update_progress="none", id=message.id
        )

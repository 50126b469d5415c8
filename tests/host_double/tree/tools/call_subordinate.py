"""Linear host: one subordinate for an agent, in the same chat."""

from agent import Agent, UserMessage
from helpers.tool import Response, Tool
from initialize import initialize_agent


class Delegation(Tool):
    async def execute(self, message="", reset="", **kwargs):
        above = self.agent
        sub = above.get_data(Agent.DATA_NAME_SUBORDINATE)
        if sub is None or f"{reset}".strip().lower() == "true":
            config = initialize_agent(None)
            config.profile = kwargs.get("profile") or config.profile
            sub = Agent(above.number + 1, config, above.context)
            sub.data[Agent.DATA_NAME_SUPERIOR], above.data[Agent.DATA_NAME_SUBORDINATE] = above, sub
        sub.hist_add_user_message(UserMessage(message=message))
        answer = await sub.monologue()
        sub.history.new_topic()
        return Response(message=answer, break_loop=False)

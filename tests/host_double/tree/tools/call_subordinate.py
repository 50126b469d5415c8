"""Linear host: one subordinate for an agent, in the same chat."""

from agent import Agent, UserMessage
from extensions.python.hist_add_tool_result import _90_save_tool_call_file as saved_results
from helpers.tool import Response, Tool
from initialize import initialize_agent


class Delegation(Tool):
    async def execute(self, message="", reset="", **kwargs):
        sub = self.agent.get_data(Agent.DATA_NAME_SUBORDINATE)
        if sub is None or f"{reset}".strip().lower() == "true":
            config = initialize_agent(None)
            config.profile = (
                kwargs.get("profile", kwargs.get("agent_profile", "")) or config.profile
            )
            above = self.agent
            sub = Agent(above.number + 1, config, above.context)
            sub.data[Agent.DATA_NAME_SUPERIOR], above.data[Agent.DATA_NAME_SUBORDINATE] = above, sub
        sub.hist_add_user_message(UserMessage(message=message))
        answer = await sub.monologue()
        sub.history.new_topic()
        long = len(answer) >= saved_results.LEN_MIN
        hint = self.agent.read_prompt("fw.hint.call_sub.md") if long else ""
        return Response(
            message=answer, break_loop=False, additional={"hint": hint} if hint else None
        )

    def get_log_object(self):
        heading = f"icon://communication {self.agent.agent_name}: Calling Subordinate Agent"
        return self.agent.context.log.log(
            type="subagent", heading=heading, content="", kvps=self.args
        )

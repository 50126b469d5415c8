import uuid

from helpers.extension import Extension


def build_heading(agent, text: str, icon: str = "network_intelligence"):
    return f"{agent.agent_name}: {text}"


def build_default_heading(agent):
    return build_heading(agent, text="Calling LLM...")


class LogForStream(Extension):
    async def execute(self, loop_data, **kwargs):
        if self.agent and "log_item_generating" not in loop_data.params_temporary:
            row = self.agent.context.log.log(
                type="agent", heading=build_default_heading(self.agent), id=str(uuid.uuid4())
            )
            loop_data.params_temporary["log_item_generating"] = row

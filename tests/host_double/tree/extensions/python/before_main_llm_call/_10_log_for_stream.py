from helpers.extension import Extension


class LogForStream(Extension):
    async def execute(self, loop_data, **kwargs):
        heading = f"{self.agent.agent_name}: Calling LLM..."
        row = self.agent.context.log.log(type="agent", heading=heading)
        loop_data.params_temporary["log_item_generating"] = row

from helpers.extension import Extension


class IncludeAgentInfo(Extension):
    async def execute(self, loop_data, **kwargs):
        if self.agent:
            known = {"number": self.agent.number, "profile": self.agent.config.profile or "Default"}
            loop_data.extras_temporary["agent_info"] = self.agent.read_prompt(
                "agent.extras.agent_info.md", **known
            )

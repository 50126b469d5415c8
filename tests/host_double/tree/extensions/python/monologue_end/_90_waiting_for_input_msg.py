from helpers.extension import Extension


class WaitingForInputMsg(Extension):
    async def execute(self, **kwargs):
        first = self.agent if self.agent and self.agent.number == 0 else None
        if first is not None:
            first.context.log.set_initial_progress()

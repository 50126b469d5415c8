from extensions.python.message_loop_end._10_organize_history import DATA_NAME_TASK
from helpers.extension import Extension


class OrganizeHistoryWait(Extension):
    async def execute(self, **kwargs):
        while self.agent and self.agent.history.is_over_limit():
            task = self.agent.get_data(DATA_NAME_TASK)
            self.agent.set_data(DATA_NAME_TASK, None)
            if (
                not (await task.result() if task else await self.agent.history.compress())
                and task is None
            ):
                return

"""The host compresses in another thread after every loop; the double only when the history is over its limit."""

from helpers.defer import THREAD_BACKGROUND, DeferredTask
from helpers.extension import Extension

DATA_NAME_TASK = "_organize_history_task"


class OrganizeHistory(Extension):
    async def execute(self, **kwargs):
        running = self.agent.get_data(DATA_NAME_TASK)
        if (running is None or running.is_ready()) and self.agent.history.is_over_limit():
            task = DeferredTask(THREAD_BACKGROUND)
            self.agent.set_data(DATA_NAME_TASK, task.start_task(self.agent.history.compress))

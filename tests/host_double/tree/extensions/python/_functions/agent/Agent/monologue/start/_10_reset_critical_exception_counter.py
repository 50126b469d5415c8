from helpers.extension import Extension


class ResetCriticalExceptionCounter(Extension):
    async def execute(self, **kwargs):
        if self.agent:
            self.agent.set_data("_plugin.error_retry.critical_exception_counter", 0)

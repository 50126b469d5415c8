from helpers.extension import Extension

DATA_NAME_ITER_NO = "iteration_no"


class IterationNo(Extension):
    async def execute(self, **kwargs):
        if self.agent:
            self.agent.set_data(DATA_NAME_ITER_NO, get_iter_no(self.agent) + 1)


def get_iter_no(agent) -> int:
    return agent.data.get(DATA_NAME_ITER_NO, 0)

from helpers import errors
from helpers.extension import Extension


class HandleCriticalException(Extension):
    async def execute(self, data: dict, **kwargs):
        fault = data["exception"]
        if not self.agent or fault is None or isinstance(fault, errors.HandledException):
            return
        self.agent.context.log.log(type="error", content=errors.format_error(fault))
        data["exception"] = errors.HandledException(fault)

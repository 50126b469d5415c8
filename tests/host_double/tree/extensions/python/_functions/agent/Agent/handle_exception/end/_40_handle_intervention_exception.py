from helpers.errors import InterventionException
from helpers.extension import Extension


class HandleInterventionException(Extension):
    async def execute(self, data: dict, **kwargs):
        if self.agent and isinstance(data["exception"], InterventionException):
            data["exception"] = None

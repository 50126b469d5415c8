from helpers.extension import Extension
from helpers.secrets import get_secrets_manager


class MaskErrorSecrets(Extension):
    async def execute(self, msg: dict | None = None, **kwargs):
        if self.agent and msg and "message" in msg:
            msg["message"] = get_secrets_manager(self.agent.context).mask_values(msg["message"])

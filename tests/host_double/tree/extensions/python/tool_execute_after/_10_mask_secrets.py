from helpers.extension import Extension
from helpers.secrets import get_secrets_manager


class MaskToolSecrets(Extension):
    async def execute(self, response=None, **kwargs):
        response.message = get_secrets_manager(self.agent.context).mask_values(response.message)

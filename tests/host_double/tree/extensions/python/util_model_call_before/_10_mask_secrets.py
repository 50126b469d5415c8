from helpers.extension import Extension
from helpers.secrets import get_secrets_manager


class MaskToolSecrets(Extension):
    async def execute(self, call_data: dict | None = None, **kwargs):
        if not self.agent or not call_data:
            return
        mask = get_secrets_manager(self.agent.context).mask_values
        call_data.update(
            {part: mask(call_data[part]) for part in ("system", "message") if call_data.get(part)}
        )

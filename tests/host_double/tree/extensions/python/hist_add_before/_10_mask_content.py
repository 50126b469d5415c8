from helpers.extension import Extension
from helpers.secrets import get_secrets_manager


class MaskHistoryContent(Extension):
    def execute(self, content_data: dict | None = None, **kwargs):
        if not self.agent or not content_data:
            return
        mask = get_secrets_manager(self.agent.context).mask_values

        def masked(value):
            if isinstance(value, str):
                return mask(value)
            if isinstance(value, dict):
                return {key: masked(one) for key, one in value.items()}
            return [masked(one) for one in value] if isinstance(value, list) else value

        content_data["content"] = masked(content_data["content"])

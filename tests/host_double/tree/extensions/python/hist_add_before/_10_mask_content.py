from helpers.extension import Extension
from helpers.secrets import get_secrets_manager


class MaskHistoryContent(Extension):
    def execute(self, content_data: dict | None = None, **kwargs):
        masked = get_secrets_manager(self.agent.context).double_masked
        content_data["content"] = masked(content_data["content"])

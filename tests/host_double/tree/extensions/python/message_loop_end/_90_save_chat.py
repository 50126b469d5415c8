from helpers import persist_chat
from helpers.extension import Extension


class SaveChat(Extension):
    async def execute(self, **kwargs):
        chat = self.agent.context
        persist_chat.save_tmp_chat(chat)

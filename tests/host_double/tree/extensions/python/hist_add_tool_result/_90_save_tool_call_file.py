import os

from helpers import files, persist_chat
from helpers.extension import Extension

LEN_MIN = 500


class SaveToolCallFile(Extension):
    """A long tool result is also a file of the chat; its path stands in the message as `file`."""

    def execute(self, data: dict | None = None, **kwargs):
        result = (data or {}).get("tool_result")
        if not self.agent or result is None or len(f"{result}") < LEN_MIN:
            return
        folder = persist_chat.get_chat_msg_files_folder(self.agent.context.id)
        files.create_dir(folder)
        data["file"] = files.get_abs_path(folder, f"{len(os.listdir(folder)) + 1}.txt")
        files.write_file(data["file"], result)

import asyncio

import double_script
from helpers import persist_chat
from helpers.extension import Extension


class RenameChat(Extension):
    """Beside every run of every agent, one call of the utility model asks for the chat's name."""

    async def execute(self, **kwargs):
        self.task = asyncio.create_task(self._try_to())

    async def _try_to(self):
        try:
            await self.change_name()
        except Exception as fault:  # the chat goes on without a name, in the host too
            double_script.swallowed.append(fault)

    async def change_name(self):
        agent = self.agent
        asked = {
            "current_name": agent.context.name,
            "history": agent.history.output_text()[:20_000],
        }
        name = await agent.call_utility_model(
            system=agent.read_prompt("fw.rename_chat.sys.md"),
            message=agent.read_prompt("fw.rename_chat.msg.md", **asked),
            background=True,
        )
        if name:
            agent.context.name = name if len(name) <= 40 else name[:40] + "..."
            persist_chat.save_tmp_chat(agent.context)

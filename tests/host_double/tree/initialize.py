"""Makes agent configurations from the settings."""

from agent import AgentConfig
from helpers import defer, extension, runtime, settings


@extension.extensible
def initialize_agent(override_settings: dict | None = None):
    values = settings.get_settings()
    if override_settings:
        values = settings.merge_settings(values, override_settings)
    config = AgentConfig(
        mcp_servers=values["mcp_servers"],
        profile=values["agent_profile"],
        knowledge_subdirs=[values["agent_knowledge_subdir"], "default"],
    )
    for name in set(runtime.args) & set(vars(config)):
        setattr(config, name, str(runtime.args[name]))
    return config


@extension.extensible
def initialize_chats():
    async def load():
        from helpers import persist_chat

        persist_chat.load_tmp_chats()

    return defer.DeferredTask().start_task(load)

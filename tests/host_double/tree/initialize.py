"""Makes agent configurations; the host reads them from its settings."""

from agent import AgentConfig
from helpers import extension


@extension.extensible
def initialize_agent(override_settings: dict | None = None):
    given = override_settings or {}
    return AgentConfig(mcp_servers="{}", profile=given.get("agent_profile", "agent0"))

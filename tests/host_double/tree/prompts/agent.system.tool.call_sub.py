from helpers import projects, subagents
from helpers.files import VariablesPlugin


class CallSubordinate(VariablesPlugin):
    """Title, description and context of every profile stand in every agent's system prompt."""

    def get_variables(self, file: str, backup_dirs: list[str] | None = None, **kwargs):
        agent = kwargs.get("_agent")
        found = subagents.get_available_agents_dict(
            projects.get_context_project_name(agent.context) if agent else None
        )
        shown = ("title", "description", "context")
        listed = {
            name: {field: getattr(item, field) for field in shown} for name, item in found.items()
        }
        return {"agent_profiles": listed or None}

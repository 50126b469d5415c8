from helpers.files import VariablesPlugin

from usr.plugins.software_orchestrator.helpers.host import tools


class RosterLines(VariablesPlugin):
    def get_variables(
        self, file: str, backup_dirs: list[str] | None = None, **kwargs
    ) -> dict[str, str]:
        return {"specialists": tools.roster_lines(kwargs["_agent"])}

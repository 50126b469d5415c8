from helpers.files import VariablesPlugin

from usr.plugins.software_orchestrator.helpers import host_run


class RosterLines(VariablesPlugin):
    def get_variables(self, file: str, backup_dirs: list[str] | None = None, **kwargs) -> dict[str, str]:
        return {"specialists": host_run.roster_lines(kwargs["_agent"])}

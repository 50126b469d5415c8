"""Secrets: `§§secret(KEY)` and the value it stands for."""

import re
from typing import Any

from helpers import files
from helpers.errors import RepairableException
from helpers.extension import extensible

ALIAS_PATTERN = r"§§secret\(([A-Za-z_][A-Za-z0-9_]*)\)"
DEFAULT_SECRETS_FILE = "usr/secrets.env"


def alias_for_key(key: str, placeholder: str = "§§secret({key})") -> str:
    return placeholder.format(key=key.upper())


class SecretsManager:
    def __init__(self, *files: str):
        self._files = files

    def load_secrets(self) -> dict[str, str]:
        known = {}
        for path in self._files:
            text = files.read_file(path) if files.exists(path) else ""
            known |= dict(re.findall(r'(?m)^(\w+)="?([^"\n]*)"?$', text))
        return known

    def save_secrets(self, secrets_content: str):
        files.write_file(self._files[0], secrets_content)

    def replace_placeholders(self, text: str) -> str:
        known = self.load_secrets()

        def value(match: re.Match) -> str:
            if match[1].upper() not in known:
                raise RepairableException(f"no secret {match[0]}; there are: {', '.join(known)}")
            return known[match[1].upper()]

        return re.sub(ALIAS_PATTERN, value, text)

    def mask_values(
        self, text: str, min_length: int = 4, placeholder: str = "§§secret({key})"
    ) -> str:
        """The longest value first; values shorter than `min_length` characters are left."""
        for key, value in sorted(self.load_secrets().items(), key=lambda pair: -len(pair[1])):
            if len(value) >= min_length:
                text = text.replace(value, alias_for_key(key, placeholder))
        return text

    def double_masked(self, value: Any) -> Any:
        """Every text in lists and dictionaries."""
        if isinstance(value, str):
            return self.mask_values(value)
        if isinstance(value, dict):
            return {key: self.double_masked(one) for key, one in value.items()}
        return [self.double_masked(one) for one in value] if isinstance(value, list) else value


@extensible
def get_secrets_manager(context: Any = None) -> SecretsManager:
    from helpers import projects

    project = projects.get_context_project_name(context) if context else None
    own = [projects.get_project_meta(project, "secrets.env")] if project else []
    return SecretsManager(DEFAULT_SECRETS_FILE, *own)


@extensible
def get_default_secrets_manager() -> SecretsManager:
    return SecretsManager(DEFAULT_SECRETS_FILE)

"""Secrets: `§§secret(KEY)` and the value it stands for."""

import re
import threading
from typing import Any

from helpers import files
from helpers.errors import RepairableException
from helpers.extension import extensible

ALIAS_PATTERN = r"§§secret\(([A-Za-z_][A-Za-z0-9_]*)\)"
DEFAULT_SECRETS_FILE = "usr/secrets.env"


def alias_for_key(key: str, placeholder: str = "§§secret({key})") -> str:
    return placeholder.format(key=key.upper())


class SecretsManager:
    PLACEHOLDER_PATTERN = ALIAS_PATTERN
    MASK_VALUE = "***"
    _instances: dict[tuple[str, ...], "SecretsManager"] = {}

    @classmethod
    def get_instance(cls, *secrets_files: str) -> "SecretsManager":
        key = secrets_files or (DEFAULT_SECRETS_FILE,)
        if key not in cls._instances:
            cls._instances[key] = cls(*key)
        return cls._instances[key]

    def __init__(self, *files: str):
        self._lock = threading.RLock()
        self._files = files or (DEFAULT_SECRETS_FILE,)
        self._loaded: dict[str, str] | None = None

    def read_secrets_raw(self) -> str:
        return "\n".join(
            files.read_file(path) if files.exists(path) else "" for path in self._files
        )

    def load_secrets(self) -> dict[str, str]:
        with self._lock:
            if self._loaded is None:
                self._loaded = self.parse_env_content(self.read_secrets_raw())
            return self._loaded

    def save_secrets(self, secrets_content: str):
        if len(self._files) != 1:
            raise RuntimeError("several files: which one to save is not known")
        files.write_file(self._files[0], secrets_content)
        for instance in self._instances.values():
            instance.clear_cache()

    def get_keys(self) -> list[str]:
        return list(self.load_secrets())

    def get_secrets_for_prompt(self) -> str:
        return "\n".join(map(alias_for_key, self.load_secrets()))

    def replace_placeholders(self, text: str) -> str:
        known = self.load_secrets()

        def value(match: re.Match) -> str:
            key = match[1].upper()
            if key not in known:
                raise RepairableException(
                    f"no secret {alias_for_key(key)}; there are: {', '.join(known)}"
                )
            return known[key]

        return re.sub(self.PLACEHOLDER_PATTERN, value, text) if text else text

    def change_placeholders(self, text: str, new_format: str) -> str:
        for key in self.load_secrets() if text else ():
            text = text.replace(alias_for_key(key), new_format.format(key=key))
        return text

    def mask_values(
        self, text: str, min_length: int = 4, placeholder: str = "§§secret({key})"
    ) -> str:
        """The longest value first; values shorter than `min_length` characters are left."""
        if not text:
            return text
        for key, value in sorted(self.load_secrets().items(), key=lambda pair: -len(pair[1])):
            if len(value.strip()) >= min_length:
                text = text.replace(value, alias_for_key(key, placeholder))
        return text

    def parse_env_content(self, content: str) -> dict[str, str]:
        pairs = re.findall(
            r"(?m)^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=[ \t]*(\"[^\"]*\"|'[^']*'|[^#\n]*)", content
        )
        return {key.upper(): value.strip().strip("\"'") for key, value in pairs}

    def clear_cache(self):
        self._loaded = None


@extensible
def get_secrets_manager(context: Any = None) -> SecretsManager:
    from agent import AgentContext
    from helpers import projects

    chat = context or AgentContext.current()
    project = projects.get_context_project_name(chat) if chat else None
    more = (
        [files.get_abs_path(projects.get_project_meta(project), "secrets.env")] if project else []
    )
    return SecretsManager.get_instance(DEFAULT_SECRETS_FILE, *more)


@extensible
def get_project_secrets_manager(
    project_name: str, merge_with_global: bool = False
) -> SecretsManager:
    from helpers import projects

    own = files.get_abs_path(projects.get_project_meta(project_name), "secrets.env")
    return SecretsManager.get_instance(*([DEFAULT_SECRETS_FILE] if merge_with_global else []), own)


@extensible
def get_default_secrets_manager() -> SecretsManager:
    return SecretsManager.get_instance()

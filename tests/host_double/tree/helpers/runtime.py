"""How the process was started. The double is "development": `/a0/...` paths are mapped to the tree."""

from typing import Any

args: dict[str, Any] = {}


def get_arg(name: str):
    return args.get(name)


def has_arg(name: str):
    return name in args


def is_dockerized() -> bool:
    return bool(args.get("dockerized"))


def is_development() -> bool:
    return not is_dockerized()


def get_local_url():
    return "host.docker.internal" if is_dockerized() else "127.0.0.1"


def get_runtime_id() -> str:
    return "double"

"""YAML and JSON text into each other."""

import json

import yaml


def loads(text: str):
    return yaml.safe_load(text)


def dumps(obj, **kwargs) -> str:
    return yaml.safe_dump(obj, **({"allow_unicode": True, "sort_keys": False} | kwargs))


def from_json(text: str, **yaml_dump_kwargs) -> str:
    obj = json.loads(text)
    return dumps(obj, **yaml_dump_kwargs)


def to_json(text: str, **json_dump_kwargs) -> str:
    return json.dumps(loads(text), ensure_ascii=False, **json_dump_kwargs)

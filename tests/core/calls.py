"""Arguments to read, and the call they are read for: the shipped settings, and of the ports the mask."""

import pytest
from pydantic import BaseModel

from usr.plugins.software_orchestrator.helpers.arguments.handover import parse
from usr.plugins.software_orchestrator.helpers.records.resources import default_settings
from usr.plugins.software_orchestrator.helpers.text.masking import redact
from usr.plugins.software_orchestrator.helpers.values.call import Call, Caller, Ports
from usr.plugins.software_orchestrator.helpers.values.errors import RequestError
from usr.plugins.software_orchestrator.helpers.values.settings import settings


def _unused(*_):
    raise AssertionError("reading arguments needs nothing but the mask")


def call(mask=redact, project_root="") -> Call:
    ports = Ports(clock=_unused, new_id=_unused, mask=mask, counter=_unused, key=_unused)
    return Call(Caller(project_root=project_root), settings(default_settings()), ports)


CALL = call()

NEEDED = {
    "specialist_profile": "solution_architect",
    "topic": "quote form",
    "project_root": "/project",
}


def understood(**arguments):
    return parse({**NEEDED, **arguments}, CALL)


def said(value):
    """What was said of an item or of all contents, as plain data."""
    if isinstance(value, tuple):
        return [said(item) for item in value]
    return value.model_dump(exclude_unset=True) if isinstance(value, BaseModel) else value


def given_of(**arguments):
    return understood(**arguments).given


def refused(arguments):
    with pytest.raises(RequestError) as caught:
        parse(arguments, CALL)
    return caught.value

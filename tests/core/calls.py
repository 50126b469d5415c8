"""A call to read arguments for: the shipped settings, and ports of which only the mask is used."""

from usr.plugins.software_orchestrator.helpers.records.resources import default_settings
from usr.plugins.software_orchestrator.helpers.text.masking import redact
from usr.plugins.software_orchestrator.helpers.values.call import Call, Caller, Ports
from usr.plugins.software_orchestrator.helpers.values.settings import settings


def _unused(*_):
    raise AssertionError("reading arguments needs nothing but the mask")


def call(mask=redact, project_root="") -> Call:
    ports = Ports(clock=_unused, new_id=_unused, mask=mask, counter=_unused, key=_unused)
    return Call(Caller(project_root=project_root), settings(default_settings()), ports)


CALL = call()

"""What the pages in the browser ask of Agent Zero: its projects, and the settings it saves."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agent import AgentContext

from helpers import persist_chat
from helpers import projects as host_projects

from ..flow import person
from ..records import resources
from ..records.folder import HandoverFolder
from ..records.key import former_keys, installation_key
from ..records.local import local_ports
from ..text.masking import redact
from ..text.quote import one_line
from ..values.call import Call, Caller
from ..values.errors import HandoverError, RequestError
from ..values.trust import Trust
from ..views import page, settings_form
from ..views.page import Project, Records
from . import conversation
from .memory import lift_stop, memory
from .settings import setting_layers, settings_in

_PROFILE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def audit_answer(body: object) -> dict[str, Any]:
    """What the audit page asks. Raises HandoverError."""
    return page.answer(_asked(body), _records())


def act_answer(body: object) -> dict[str, Any]:
    """What the person does on the audit page, one of `ACTS`, in a `project`'s `chain`.

    Recorded as the person's; a row in its chat says so, where the chat is still there. Raises
    HandoverError.
    """
    asked = _asked(body)
    act = ACTS.get(str(asked.get("action", "")))
    if act is None:
        raise RequestError("no such action", "use one of " + ", ".join(ACTS))
    found = _records()
    project, folder = found.holding(asked.get("project") or None, asked.get("chain"))
    context = _chat_of(folder, str(asked["chain"]))
    mask = conversation.mask_of(context.agent0) if context else redact
    count = memory(context)["person"]["count"] if context else 0
    caller = Caller(project_root=str(project.root), person_count=count)
    told = act(asked, Call(caller, settings_in(project.name), local_ports(mask)))
    if context:
        if asked["action"] == "lift_stop":
            lift_stop(context)
        context.log.log(type="info", heading=f"On the audit page: {told}", content="")
        persist_chat.save_tmp_chat(context)
    return {"ok": True, "told": told}


def _lift_decline(asked: Mapping[str, Any], call: Call) -> str:
    field = person.lift_decline(asked["chain"], str(asked.get("field", "")), call)
    return f"the decline of {one_line(field)} is lifted"


def _lift_stop(asked: Mapping[str, Any], call: Call) -> str:
    person.lift_stop(asked["chain"], call)
    return "handovers may go on"


def _close(asked: Mapping[str, Any], call: Call) -> str:
    handover = str(asked.get("handover", ""))
    person.close_handover(handover, str(asked.get("reason", "")), call)
    return f"{handover} is closed"


ACTS: Mapping[str, Callable[[Mapping[str, Any], Call], str]] = {
    "lift_decline": _lift_decline,
    "lift_stop": _lift_stop,
    "close": _close,
}


def _chat_of(folder: HandoverFolder, chain_id: str) -> AgentContext | None:
    """The living chat of a chain."""
    chat = chain_id.rpartition("-")[2]
    for context in AgentContext.all():
        if folder.chain_id("x", str(context.id)).rpartition("-")[2] == chat:
            return context
    return None


def _asked(body: object) -> Mapping[str, Any]:
    if not isinstance(body, Mapping):
        raise RequestError("the body must be a JSON object", "", "bad_value")
    return body


def _records() -> Records:
    root = resources.ROOT
    trust = Trust(former_keys(root), settings_in("").trusted)
    return Records(projects(), installation_key(root), settings_in, trust)


def projects() -> tuple[Project, ...]:
    """The projects that the host lists, by title."""
    listed = []
    for item in host_projects.get_active_projects_list():
        name = item["name"]
        folder = Path(host_projects.get_project_folder(name))
        listed.append(Project(name, item.get("title") or name, folder))
    return tuple(sorted(listed, key=lambda project: (project.title.casefold(), project.name)))


def refusal(error: HandoverError) -> dict[str, Any]:
    """A refusal as the JSON that the pages show."""
    return {"ok": False, "error": error.message, "hint": error.hint, "code": error.code}


def settings_answer(body: object) -> dict[str, Any]:
    """`action` "view": what `settings_form.view` tells of a scope; "check": as it would be saved.

    Raises RequestError for an unknown scope or action, SettingsError for what cannot be saved.
    """
    asked = _asked(body)
    if asked.get("action") == "check":
        values = asked.get("values")
        if not isinstance(values, Mapping):
            raise RequestError("values must be a JSON object", "", "missing")
        return {"ok": True, "values": settings_form.checked(values)}
    if asked.get("action") == "view":
        project, profile = _scope(asked)
        layers = setting_layers(project, profile)
        return {"ok": True, **settings_form.view(layers, project, profile)}
    raise RequestError("no such action", "use view or check")


def _scope(asked: Mapping[str, Any]) -> tuple[str, str]:
    project, profile = asked.get("project") or "", asked.get("profile") or ""
    if project and project not in [known.name for known in projects()]:
        raise RequestError("no such project", "choose one of the list", "unknown_reference")
    if profile and not _is_profile(profile):
        raise RequestError("no such profile", "choose one of the list", "unknown_reference")
    return project, profile


def _is_profile(name: object) -> bool:
    return isinstance(name, str) and _PROFILE.fullmatch(name) is not None and ".." not in name

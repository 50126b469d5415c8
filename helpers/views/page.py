"""What the audit page asks, answered from the records of known projects. Reads only; everything asked for is checked first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records.folder import HandoverFolder
from ..records.verify import Result
from ..records.verify import verify as verify_records
from ..values.errors import RecordError, RequestError
from ..values.settings import Settings
from . import audit
from . import metrics as measuring

HANDOVER_ID = re.compile(r"ho-[0-9a-f]{16}")
MOST_FINDINGS = 200
Json = dict[str, Any]


@dataclass(frozen=True)
class Project:
    """A project the host knows: its name there, the title people gave it, and where it lies."""

    name: str
    title: str
    root: Path


@dataclass(frozen=True)
class Records:
    """The projects that may be read, this installation's key, and the settings of a project ("" for the installation's)."""

    projects: Sequence[Project]
    key: bytes
    settings: Callable[[str], Settings]

    def project(self, name: object) -> Project:
        """Raises RequestError (unknown_reference) for a name that is none of the known ones."""
        for project in self.projects:
            if project.name == name:
                return project
        raise RequestError("no such project", "choose one of the list", "unknown_reference")

    def asked(self, name: object) -> Sequence[Project]:
        """The one project of that name, or all when none is named."""
        return self.projects if name in (None, "") else (self.project(name),)

    def folders(self, name: object) -> tuple[list[tuple[Project, HandoverFolder]], list[Json]]:
        """The records of the project of that name, or of all; and {project, error} of those that may not be opened.

        Raises RecordError when the one project that is named may not be opened.
        """
        opened, refused = [], []
        for project in self.asked(name):
            try:
                opened.append((project, HandoverFolder.open(str(project.root))))
            except RecordError as error:
                if project.name == name:
                    raise
                refused.append({"project": project.name, "error": error.message})
        return opened, refused

    def holding(self, name: object, chain_id: object) -> tuple[Project, HandoverFolder]:
        """Where a chain is recorded. Raises RequestError or RecordError when it is nowhere, or the id could not be one."""
        if not isinstance(chain_id, str):
            raise RequestError("which chain?", "name one of the list", "missing")
        for project, folder in self.folders(name)[0]:
            if folder.ledger_path(chain_id) in folder.ledgers():
                return project, folder
        raise RequestError(
            "no such chain", "it may have been deleted; load the list again", "unknown_reference"
        )


def answer(asked: Mapping[str, Any], records: Records) -> Json:
    """The JSON for `asked["action"]`: projects, chains, chain, packet, briefing, verify or metrics; `ok` is true.

    Raises HandoverError for what is unknown, unsafe or unreadable.
    """
    action = ACTIONS.get(str(asked.get("action", "")))
    if action is None:
        raise RequestError("no such action", "use one of " + ", ".join(ACTIONS))
    return {"ok": True, **action(asked, records)}


def projects(asked: Mapping[str, Any], records: Records) -> Json:
    """{projects: [{name, title, recorded}]}; `recorded` tells whether there is a handover folder."""
    listed = [
        {"name": p.name, "title": p.title, "recorded": (p.root / ".a0proj" / "handover").is_dir()}
        for p in records.projects
    ]
    return {"projects": listed}


def chains(asked: Mapping[str, Any], records: Records) -> Json:
    """{chains: [ChainSummary, `agents` and `ids` in place of its handovers], unreadable: [{project, error}]}; newest first."""
    opened, unreadable = records.folders(asked.get("project"))
    found = [
        chain for project, folder in opened for chain in _chains_of(project, folder, records.key)
    ]
    return {
        "chains": sorted(found, key=lambda chain: chain["updated"], reverse=True),
        "unreadable": unreadable,
    }


def _chains_of(project: Project, folder: HandoverFolder, key: bytes) -> Iterator[Json]:
    for chain in audit.chains(folder, key):
        handovers = chain.pop("handovers")
        names = (name for item in handovers for name in (item["sender"], item["receiver"]))
        yield {
            **chain,
            **_named(project),
            "agents": list(dict.fromkeys(names)),
            "ids": [item["handover"] for item in handovers],
        }


def chain(asked: Mapping[str, Any], records: Records) -> Json:
    """{summary: ChainSummary, timeline}: one chain; without a project, the first known one that has it."""
    project, folder = records.holding(asked.get("project"), asked.get("chain"))
    path = folder.ledger_path(asked["chain"])
    told = audit.read_story(folder, asked["chain"], records.key)
    return {
        "summary": {**audit.summary_of(folder, path, records.key), **_named(project)},
        "timeline": audit.timeline(told),
    }


def packet(asked: Mapping[str, Any], records: Records) -> Json:
    """{packet: what `chain_view.packet_of` tells of one handover}."""
    _, folder = records.holding(asked.get("project"), asked.get("chain"))
    handover = asked.get("handover")
    if not isinstance(handover, str) or not HANDOVER_ID.fullmatch(handover):
        raise RequestError(
            "no such handover", "its id looks like ho-0123456789abcdef", "unknown_reference"
        )
    found = audit.packet_of(audit.read_story(folder, asked["chain"], records.key), handover)
    if found is None:
        raise RequestError(
            f"the chain has no handover {handover}", "load the chain again", "unknown_reference"
        )
    return {"packet": found}


def briefing(asked: Mapping[str, Any], records: Records) -> Json:
    """{name, text}: a briefing file of a project, by its name alone."""
    folder = HandoverFolder.open(str(records.project(asked.get("project")).root))
    name = asked.get("name")
    if not isinstance(name, str):
        raise RequestError("which briefing?", "name one that the chain lists", "missing")
    return {"name": name, "text": audit.briefing_text(folder, name)}


def verify(asked: Mapping[str, Any], records: Records) -> Json:
    """{files, entries, events, bytes, faults, notes, findings: [{project, file, level, kind, where, detail}], left_out}.

    Of one chain (its ledger and the briefings it names), of one project, or of all. Faults come first; of more than
    `MOST_FINDINGS` the rest is counted in `left_out`.
    """
    wanted: set[str] | None = None
    unreadable: list[Json] = []
    if asked.get("chain"):
        _, folder = records.holding(asked.get("project"), asked["chain"])
        folders, wanted = [folder], _files_of(folder, asked["chain"], records.key)
    else:
        opened, unreadable = records.folders(asked.get("project"))
        folders = [folder for _, folder in opened if folder.path.is_dir()]
    results = [
        item
        for item in verify_records(folders, records.key)
        if wanted is None or Path(item.file).name in wanted
    ]
    findings = [_unopened(item) for item in unreadable]
    findings += sorted(
        (_finding(result, at) for result in results for at in range(len(result.findings))),
        key=_faults_first,
    )
    return {
        "files": len(results),
        "entries": sum(result.entries for result in results),
        "events": sum(result.events for result in results),
        "bytes": sum(result.bytes for result in results),
        "faults": sum(finding["level"] == "fault" for finding in findings),
        "notes": sum(finding["level"] == "note" for finding in findings),
        "findings": findings[:MOST_FINDINGS],
        "left_out": max(0, len(findings) - MOST_FINDINGS),
    }


def metrics(asked: Mapping[str, Any], records: Records) -> Json:
    """What `metrics.Metrics.to_json` tells of one project, or of all, and `unreadable_projects`; the limits are the project's."""
    name = asked.get("project") or ""
    opened, unreadable = records.folders(name)
    stories = (told for _, folder in opened for told in audit.stories(folder, records.key))
    found = measuring.of_stories(stories, measuring.sla_of(records.settings(str(name)))).to_json()
    return {**found, "unreadable_projects": [item["project"] for item in unreadable]}


def _files_of(folder: HandoverFolder, chain_id: str, key: bytes) -> set[str]:
    """Names of a chain's ledger and of the briefings it writes to."""
    path = folder.ledger_path(chain_id)
    told = audit.summary_of(folder, path, key)
    return {
        path.name,
        *(str(place["path"]) for item in told["handovers"] for place in item["briefing"]),
    }


def _finding(result: Result, at: int) -> Json:
    found = result.findings[at]
    about = {"project": Path(result.project).name, "file": result.file}
    return {
        **about,
        "level": found.level,
        "kind": found.kind,
        "where": found.where,
        "detail": found.detail,
    }


def _unopened(item: Json) -> Json:
    about = {"project": item["project"], "file": "", "where": item["project"]}
    return {**about, "level": "fault", "kind": "unreadable", "detail": item["error"]}


def _faults_first(finding: Json) -> bool:
    return bool(finding["level"] != "fault")


def _named(project: Project) -> Json:
    return {"project": project.name, "project_title": project.title}


ACTIONS: Mapping[str, Callable[[Mapping[str, Any], Records], Json]] = {
    "projects": projects,
    "chains": chains,
    "chain": chain,
    "packet": packet,
    "briefing": briefing,
    "verify": verify,
    "metrics": metrics,
}

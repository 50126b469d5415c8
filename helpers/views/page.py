"""What the audit page asks, answered from the records of known projects.

Reads only; everything asked for is checked first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..records import listing
from ..records.folder import HandoverFolder
from ..records.verify import verify as verify_records
from ..values.errors import RecordError, RequestError
from ..values.settings import Settings
from ..values.trust import NOBODY_ELSE, Trust
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
    """The projects that may be read, this installation's key, and whom it believes beside itself.

    `settings` are those of a project by its name, the installation's for "".
    """

    projects: Sequence[Project]
    key: bytes
    settings: Callable[[str], Settings]
    trust: Trust = NOBODY_ELSE

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
        """The records of that project, or of all; {project, error} of those that cannot be opened.

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
        """Where a chain is recorded.

        Raises RequestError or RecordError when it is nowhere, or the id could not be one.
        """
        if not isinstance(chain_id, str):
            raise RequestError("which chain?", "name one of the list", "missing")
        for project, folder in self.folders(name)[0]:
            if folder.ledger_path(chain_id) and listing.files_of(folder, chain_id):
                return project, folder
        raise RequestError(
            "no such chain", "it may have been deleted; load the list again", "unknown_reference"
        )


def answer(asked: Mapping[str, Any], records: Records) -> Json:
    """The JSON for `asked["action"]`, one of `ACTIONS`; `ok` is true.

    Raises HandoverError for what is unknown, unsafe or unreadable.
    """
    action = ACTIONS.get(str(asked.get("action", "")))
    if action is None:
        raise RequestError("no such action", "use one of " + ", ".join(ACTIONS))
    return {"ok": True, **action(asked, records)}


def projects(asked: Mapping[str, Any], records: Records) -> Json:
    """{projects: [{name, title, recorded}]}; `recorded`: there is a handover folder."""
    listed = []
    for project in records.projects:
        recorded = (project.root / ".a0proj" / "handover").is_dir()
        listed.append({"name": project.name, "title": project.title, "recorded": recorded})
    return {"projects": listed}


def chains(asked: Mapping[str, Any], records: Records) -> Json:
    """{chains: [ChainSummary], unreadable: [{project, error}]}; the newest chain first.

    A summary has `agents` and `ids` in place of its handovers.
    """
    opened, unreadable = records.folders(asked.get("project"))
    listed: list[Json] = []
    for project, folder in opened:
        for summary in audit.chains(folder, records.key, trust=records.trust):
            listed.append({**_without_handovers(summary), **_named(project)})
    listed.sort(key=itemgetter("updated"), reverse=True)
    return {"chains": listed, "unreadable": unreadable}


def _without_handovers(summary: Json) -> Json:
    handovers = summary.pop("handovers")
    agents: dict[str, None] = {}
    for item in handovers:
        agents.update({item["sender"]: None, item["receiver"]: None})
    return {**summary, "agents": list(agents), "ids": [item["handover"] for item in handovers]}


def chain(asked: Mapping[str, Any], records: Records) -> Json:
    """{summary: ChainSummary, timeline}; without a project, of the first one that has it."""
    project, folder = records.holding(asked.get("project"), asked.get("chain"))
    summary, told = audit.read_chain(folder, asked["chain"], records.key, records.trust)
    return {"summary": {**summary, **_named(project)}, "timeline": audit.timeline(told)}


def packet(asked: Mapping[str, Any], records: Records) -> Json:
    """{packet: what `story.packet_of` tells of one handover}."""
    _, folder = records.holding(asked.get("project"), asked.get("chain"))
    handover = asked.get("handover")
    if not isinstance(handover, str) or not HANDOVER_ID.fullmatch(handover):
        raise RequestError(
            "no such handover", "its id looks like ho-0123456789abcdef", "unknown_reference"
        )
    told = audit.read_story(folder, asked["chain"], records.key, records.trust)
    found = audit.packet_of(told, handover)
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
    """{files, entries, events, bytes, faults, notes, findings, left_out}.

    findings: [{project, file, level, kind, where, detail}], faults first; of more than
    `MOST_FINDINGS` the rest is counted in `left_out`. Of one chain (its ledger and the briefings it
    names), of one project, or of all.
    """
    results, findings = [], list[Json]()
    if asked.get("chain"):
        _, folder = records.holding(asked.get("project"), asked["chain"])
        names = _files_of(folder, asked["chain"], records)
        for result in verify_records([folder], records.key, trust=records.trust):
            if Path(result.file).name in names:
                results.append(result)
    else:
        opened, unreadable = records.folders(asked.get("project"))
        folders = [folder for _, folder in opened if folder.path.is_dir()]
        results += verify_records(folders, records.key, trust=records.trust)
        findings += map(_unopened, unreadable)
    for result in results:
        about = {"project": Path(result.project).name, "file": result.file}
        findings += [{**about, **finding._asdict()} for finding in result.findings]
    faults = [finding for finding in findings if finding["level"] == "fault"]
    notes = [finding for finding in findings if finding["level"] == "note"]
    return {
        "files": len(results),
        "entries": sum(result.entries for result in results),
        "events": sum(result.events for result in results),
        "bytes": sum(result.bytes for result in results),
        "faults": len(faults),
        "notes": len(notes),
        "findings": [*faults, *notes][:MOST_FINDINGS],
        "left_out": max(0, len(findings) - MOST_FINDINGS),
    }


def metrics(asked: Mapping[str, Any], records: Records) -> Json:
    """What `Metrics.to_json` tells of one project, or of all, and `unreadable_projects`.

    The limits are the project's.
    """
    name = asked.get("project") or ""
    opened, unreadable = records.folders(name)
    stories = (
        told for _, folder in opened for told in audit.stories(folder, records.key, records.trust)
    )
    sla = measuring.sla_of(records.settings(str(name)))
    refused = [item["project"] for item in unreadable]
    return {**measuring.of_stories(stories, sla).to_json(), "unreadable_projects": refused}


def _files_of(folder: HandoverFolder, chain_id: str, records: Records) -> set[str]:
    """Names of a chain's ledgers and of the briefings it writes to."""
    summary, _ = audit.read_chain(folder, chain_id, records.key, records.trust)
    names = {path.name for path in listing.files_of(folder, chain_id)}
    for item in summary["handovers"]:
        names.update(place["path"] for place in item["briefing"])
    return names


def _unopened(item: Json) -> Json:
    """The finding of a project that may not be opened."""
    about = {"project": item["project"], "file": "", "where": item["project"]}
    return {**about, "level": "fault", "kind": "unreadable", "detail": item["error"]}


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

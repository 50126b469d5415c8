"""The commands `audit`, `verify` and `metrics` as text: lines for a pipe, tables and a progress bar for a terminal, or JSON.

Each takes `write`, called with every line, and a rich `console` when standard output is a terminal; each returns the exit code.
Raises HandoverError for a folder, chain or date that is none. Text from the records is shown in one line, escaped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..chain.chain import Chain
from ..records import verify as verifying
from ..records.comparison import Finding
from ..records.folder import HandoverFolder
from ..records.verify import Progress, Result
from ..text.quote import one_line
from ..values.errors import RecordError, RequestError
from . import audit, story
from . import metrics as measuring
from .metrics import Measure, Metrics, Sla
from .story import Json, Story

Write = Callable[[str], None]
Console = Any  # rich.console.Console, imported by whoever has a terminal


# --- audit -----------------------------------------------------------------------------------------------------------


def audit_text(
    directory: Path,
    key: bytes,
    write: Write,
    *,
    chain: str = "",
    since: str = "",
    as_json: bool = False,
    console: Console = None,
) -> int:
    """All chains, a line each; with `chain` what happened in that one. 1 when a chain cannot be read."""
    folders, earliest = audit.projects(directory), since_time(since)
    if chain:
        return _one_chain(folders, chain, key, write, as_json)
    found = (summary for folder in folders for summary in _chains(folder, key, earliest))
    if as_json:
        return _stream(write, "chains", found, lambda item: bool(item["error"]))
    summaries = list(found) if console else found
    several = len(folders) > 1
    if console:
        _table(
            console,
            _CHAIN_TITLES,
            [(_project_name(item) if several else "", *_chain_cells(item)) for item in summaries],
            keep=2,
        )
    code = count = 0
    for summary in summaries:
        code, count = max(code, int(bool(summary["error"]))), count + 1
        if not console:
            project = f"{_project_name(summary)}/" if several else ""
            write(
                project + "  ".join(filter(None, _chain_cells(summary)))
                if summary["chain"]
                else _no_chain_line(summary, project)
            )
    write(
        f"{_counted(count, 'chain')} in {_counted(len(folders), 'project')}"
        + (f" since {since}" if since else "")
    )
    return code


def _chains(folder: HandoverFolder, key: bytes, since: str) -> Iterator[Json]:
    """The folder's chains, or one summary that says why its ledgers cannot be listed."""
    try:
        yield from audit.chains(folder, key, since)
    except RecordError as error:
        yield story.summary(Story(Chain(""), (), error=error.message), project=str(folder.root))


def _stories(folder: HandoverFolder, key: bytes) -> Iterator[Story]:
    try:
        yield from audit.stories(folder, key)
    except RecordError as error:
        yield Story(Chain(""), (), error=error.message)


def since_time(since: str) -> str:
    """An ISO date or time, as the ledgers write times (UTC when it names no zone); "" for "". Raises RequestError."""
    if not since:
        return ""
    try:
        moment = datetime.fromisoformat(since)
    except ValueError as error:
        raise RequestError(
            f"not a date: {one_line(since, 40)!r}", "write it as 2026-06-05 or 2026-06-05T14:03"
        ) from error
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


_CHAIN_TITLES = ("Project", "Chain", "State", "Hops", "Handovers", "Tokens", "Time", "Also")


def _project_name(item: Json) -> str:
    return one_line(Path(item["project"]).name)


def _no_chain_line(item: Json, project: str) -> str:
    """A folder whose ledgers cannot be listed."""
    return "  ".join(filter(None, (project, *_chain_cells(item))))


def _chain_cells(item: Json) -> tuple[str, ...]:
    state = f"{item['state']} ({item['holder']})" if item["holder"] else item["state"]
    beside = (
        *(f"{label} {item[name]:,}" for name, label in _BESIDE if item[name]),
        *((item["stop"],) if item["stop"] else ()),
        *((item["error"],) if item["error"] else ()),
    )
    asked, delivered = item["tokens"]["asked"], item["tokens"]["delivered"]
    superseded = item["verdicts"].get("superseded", 0)
    return (
        one_line(item["chain"]),
        one_line(state),
        _counted(item["hops"] - superseded, "hop")
        + (f" + {superseded:,} superseded" if superseded else ""),
        ", ".join(
            f"{state} {count:,}"
            for state, count in item["verdicts"].items()
            if state != "superseded"
        ),
        f"{delivered:,} of {asked:,} tokens",
        duration(item["seconds"]),
        one_line(", ".join(beside)),
    )


_BESIDE = (
    ("history_reads", "history reads"),
    ("escalations", "escalations"),
    ("refusals", "refused calls"),
    ("foreign", "events of another installation"),
    ("faults", "faults, see verify"),
)


def _one_chain(
    folders: Sequence[HandoverFolder], chain: str, key: bytes, write: Write, as_json: bool
) -> int:
    found = next((folder for folder in folders if _holds(folder, chain)), None)
    if found is None:
        raise RecordError(
            f"no chain {one_line(chain, 120)} is recorded here",
            "see the list: execute.py audit DIR",
            "unknown_reference",
        )
    told = audit.read_story(found, chain, key)
    summary, picture = story.summary(told, project=str(found.root)), audit.timeline(told)
    if as_json:
        write(json.dumps({"summary": summary, "timeline": picture}, ensure_ascii=False, indent=2))
        return int(bool(told.error))
    write("  ".join(filter(None, _chain_cells(summary))))
    for line in timeline_lines(picture):
        write(line)
    for item in summary["handovers"]:
        write(_handover_line(item))
    return int(bool(told.error))


def _holds(folder: HandoverFolder, chain: str) -> bool:
    try:
        return folder.ledger_path(chain).exists()
    except RecordError:  # no chain can have this name
        return False


def timeline_lines(picture: Json) -> Iterator[str]:
    """A line for every arrow and mark, in the order of the ledger."""
    arrows = [
        (a["order"], a["time"], f"{a['from']} → {a['to']}  hop {a['hop']}  {_arrow_words(a)}")
        for a in picture["arrows"]
    ]
    marks = [(m["order"], m["time"], f"{m['agent']}  {_mark_words(m)}") for m in picture["marks"]]
    for _, time, line in sorted([*arrows, *marks]):
        yield one_line(f"{time[:10]} {time[11:19]}  {line}")


def _mark_words(mark: Json) -> str:
    return "  ".join(filter(None, (mark["kind"].replace("_", " "), mark["handover"], mark["text"])))


def _arrow_words(arrow: Json) -> str:
    words = ("handover" if arrow["kind"] == "handover" else arrow["label"], arrow["handover"])
    size = f"{arrow['tokens']:,} tokens" if arrow["tokens"] else ""
    return "  ".join(filter(None, (*words, size, "open" if arrow["open"] else "", arrow["why"])))


def _handover_line(item: Json) -> str:
    spent = (("queue", item["queue_s"]), ("work", item["work_s"]))
    words = [
        f"hop {item['hop']}",
        item["handover"],
        item["receiver"],
        item["state"],
        *(f"{name} {duration(s)}" for name, s in spent if s is not None),
    ]
    words.append(f"{item['tokens']['delivered']:,} of {item['tokens']['asked']:,} tokens")
    words += [f"left out: {line}" for line in item["omitted"]]
    words += sorted({entry["path"] for entry in item["briefing"] if entry["path"]})
    return one_line("  ".join(words))


def duration(seconds: float | None) -> str:
    """`1 d 02:03:04`, `0:20:00`; "" for None."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return (
        f"{days} d {hours:02}:{minutes:02}:{rest:02}" if days else f"{hours}:{minutes:02}:{rest:02}"
    )


# --- verify ----------------------------------------------------------------------------------------------------------


def verify_text(
    directory: Path, key: bytes, write: Write, *, as_json: bool = False, console: Console = None
) -> int:
    """A line for every fault and note, then how much was checked. 1 when there is a fault."""
    folders = audit.projects(directory)
    several, totals = len(folders) > 1, _Totals()
    with _progress(console, "verifying") as progress:
        results = verifying.verify(folders, key, progress)
        if as_json:
            _stream(
                write,
                "findings",
                (_finding_json(r, f) for r in totals.of(results) for f in r.findings),
                tail=totals.to_json,
            )
            return totals.code
        for result in totals.of(results):
            for finding in result.findings:
                if finding.kind != "other":
                    write(_finding_line(result, finding, several))
    for line in totals.lines():
        write(line)
    return totals.code


class _Totals:
    """What was checked so far."""

    def __init__(self) -> None:
        self.files = self.entries = self.events = self.bytes = self.faults = self.notes = 0
        self.others = {"entries": 0, "events": 0, "files": 0}
        self.unsigned = {"entries": 0, "files": 0}

    @property
    def code(self) -> int:
        """1 when there is a fault, and when there was nothing to check."""
        return int(self.faults > 0 or self.files == 0)

    def of(self, results: Iterable[Result]) -> Iterator[Result]:
        for result in results:
            faults = len(result.faults)
            self.files += 1
            self.entries += result.entries
            self.events += result.events
            self.bytes += result.bytes
            self.faults += faults
            self.notes += len(result.findings) - faults
            self.others["entries"] += result.other_entries
            self.others["events"] += result.other_events
            self.others["files"] += bool(result.other_entries or result.other_events)
            self.unsigned["entries"] += result.unsigned
            self.unsigned["files"] += bool(result.unsigned)
            yield result

    def to_json(self) -> Json:
        """{checked: {files, entries, events, bytes, faults, notes, others: {entries, events, files},
        unsigned: {entries, files}}}"""
        return {"checked": self.__dict__}

    def lines(self) -> Iterator[str]:
        """One note for all that other installations wrote, one for all that nobody signed, the sum."""
        entries = _counted(self.others["entries"], "entry", "entries")
        events = _counted(self.others["events"], "event")
        if self.others["files"]:
            yield (
                f"note other: {entries} and {events} in {_counted(self.others['files'], 'file')}"
                " were written by another installation: each was checked against its own hash, that"
                " they are genuine can only be verified there"
            )
        if self.unsigned["files"]:
            yield (
                f"note other: {_counted(self.unsigned['entries'], 'entry', 'entries')} in"
                f" {_counted(self.unsigned['files'], 'file')} match their own hash and no event here"
                " signs them: another installation's, or the end of a ledger was cut off"
            )
        yield (
            f"verified {_counted(self.entries, 'entry', 'entries')} and"
            f" {_counted(self.events, 'event')} in {_counted(self.files, 'file')},"
            f" {self.bytes:,} bytes: {_counted(self.faults, 'fault')}, {_counted(self.notes, 'note')}"
        )
        if not self.files:
            yield "there was nothing to verify: no ledger and no briefing is recorded here"


def _finding_line(result: Result, finding: Finding, several: bool) -> str:
    project = f"{Path(result.project).name}/" if several else ""
    return one_line(
        f"{finding.level} {finding.kind.replace('_', ' ')}: {project}{finding.where}: {finding.detail}"
    )


def _finding_json(result: Result, finding: Finding) -> Json:
    return {"project": result.project, "file": result.file, **finding._asdict()}


@contextmanager
def _progress(console: Console, label: str) -> Iterator[Progress]:
    """A bar that goes away when it is done; nothing without a console."""
    if console is None:
        yield lambda done, total: None
        return
    from rich.progress import Progress as Bar

    with Bar(console=console, transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


# --- metrics ---------------------------------------------------------------------------------------------------------


def metrics_text(
    directory: Path,
    key: bytes,
    sla: Sla,
    write: Write,
    *,
    as_json: bool = False,
    console: Console = None,
) -> int:
    """Every measure with its n; 1 when chains could not be read."""
    folders = audit.projects(directory)
    found = measuring.of_stories(
        (told for folder in folders for told in _stories(folder, key)), sla
    )
    if as_json:
        write(json.dumps(found.to_json(), ensure_ascii=False, indent=2))
    else:
        counted = [_measure_cells(measure) for measure in found.measures if measure.n]
        if console:
            _table(console, ("Measure", "Value", "More"), counted)
        else:
            for label, value, more in counted:
                write("  ".join(filter(None, (f"{label}:", value, more))))
        if empty := [_empty_words(measure) for measure in found.measures if not measure.n]:
            write(f"Nothing to count yet (n = 0): {'; '.join(empty)}")
        write(_metrics_line(found))
    return int(found.unreadable > 0)


def _measure_cells(measure: Measure) -> tuple[str, str, str]:
    return measure.label, value_text(measure), one_line("; ".join(_details(measure.detail)))


def _empty_words(measure: Measure) -> str:
    """Of a measure without a number: its name, and what it tells beside limits."""
    beside = one_line(
        ", ".join(
            _details({name: value for name, value in measure.detail.items() if name != "limit_s"})
        )
    )
    return measure.label + (f" ({beside})" if beside else "")


def value_text(measure: Measure) -> str:
    """`33% (1 of 3)`, `3.0 (n = 1)`, and no number where there was nothing to count."""
    if not measure.n:
        return "nothing to count (n = 0)"
    if measure.rate is not None:
        return f"{measure.rate:.0%} ({measure.hits:,} of {measure.n:,})"
    return (
        f"{measure.value:,.1f} (n = {measure.n:,})"
        if measure.value is not None
        else f"n = {measure.n:,}"
    )


def _details(detail: Json) -> Iterator[str]:
    for name, value in detail.items():
        label = name.replace("_", " ")
        if name == "by_hops":
            yield ", ".join(
                f"{_counted(count, 'chain')} of {_counted(int(hops), 'hop')}"
                for hops, count in value.items()
            )
        elif name.endswith("_s"):
            if value is not None:
                yield f"{label.removesuffix(' s')} {duration(value)}"
        elif isinstance(value, dict):
            if value:
                yield f"{label}: " + ", ".join(f"{key} {count:,}" for key, count in value.items())
        elif value:
            yield f"{label} {value:,}"


def _metrics_line(found: Metrics) -> str:
    left = (
        f"{_counted(found.unreadable, 'chain')} unreadable" if found.unreadable else "",
        f"{_counted(found.foreign, 'event')} of another installation not counted"
        if found.foreign
        else "",
    )
    return ", ".join(
        (
            f"{_counted(found.handovers, 'handover')} in {_counted(found.chains, 'chain')}",
            *filter(None, left),
        )
    )


# --- output ----------------------------------------------------------------------------------------------------------


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


_LEAST_LAST = 24  # characters that the last column may be wrapped to


def _table(
    console: Console, titles: Sequence[str], rows: Sequence[Sequence[str]], keep: int = 1
) -> None:
    """Columns that hold something; where they are too wide for the terminal each row becomes a few lines.

    Nothing but the last column is wrapped, so that no id is broken. `keep` cells stand on a row's first line.
    """
    from rich.cells import cell_len
    from rich.padding import Padding
    from rich.table import Column, Table
    from rich.text import Text

    used = [at for at in range(len(titles)) if any(row[at] for row in rows)]
    if not used:
        return
    widths = [
        max(cell_len(cell) for cell in (titles[at], *(row[at] for row in rows))) for at in used
    ]
    if sum(widths[:-1]) + min(widths[-1], _LEAST_LAST) + 3 * len(used) + 1 <= console.width:
        table = Table(*(Column(titles[at], no_wrap=at != used[-1], overflow="fold") for at in used))
        for row in rows:
            table.add_row(*(Text(row[at]) for at in used))
        console.print(table)
        return
    for row in rows:
        console.print(
            Text("/".join(filter(None, row[:keep])), style="bold"),
            no_wrap=True,
            overflow="ignore",
            crop=False,
        )
        console.print(Padding(Text("  ".join(filter(None, row[keep:]))), (0, 0, 0, 2)))


def _stream(
    write: Write,
    name: str,
    items: Iterable[Json],
    is_bad: Callable[[Json], bool] = lambda item: False,
    tail: Callable[[], Json] = dict,
) -> int:
    """One JSON object with a list in it, an item a line, so that nothing is held; `tail` is asked for more members at the end."""
    bad, line = False, ""
    write(f'{{"{name}": [')
    for item in items:
        if line:
            write(f"{line},")
        line, bad = json.dumps(item, ensure_ascii=False), bad or is_bad(item)
    if line:
        write(line)
    more = "".join(
        f', "{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in tail().items()
    )
    write(f"]{more}}}")
    return int(bad)

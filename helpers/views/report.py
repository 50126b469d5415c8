"""The commands `audit`, `verify` and `metrics` as text: lines, tables for a terminal, or JSON.

Each takes `write`, called with every line, and a rich `console` when standard output is a terminal;
each returns the exit code. Raises HandoverError for a folder, chain or date that is none. Text from
the records is shown in one line, escaped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..chain.chain import Chain
from ..records import listing
from ..records import verify as verifying
from ..records.comparison import Finding
from ..records.folder import HandoverFolder
from ..records.identity import OURSELVES, names_of
from ..records.verify import Progress, Result
from ..text.quote import one_line
from ..values.errors import RecordError, RequestError
from ..values.events import UNKNOWN
from ..values.trust import NOBODY_ELSE, Trust
from . import audit, story
from . import metrics as measuring
from .metrics import Measure, Metrics, Sla
from .story import Json, Story

Write = Callable[[str], None]
Console = Any  # rich.console.Console, imported by whoever has a terminal


# --- audit ---------------------------------------------------------------------------------------

_CHAIN_TITLES = ("Project", "Chain", "State", "Hops", "Handovers", "Tokens", "Time", "Also")
# Of a ChainSummary: counts that are told where there is something to tell.
_BESIDE = {
    "history_reads": "history reads",
    "escalations": "escalations",
    "refusals": "refused calls",
    "foreign": "events of another installation",
    "faults": "faults, see verify",
}


def audit_text(
    directory: Path,
    key: bytes,
    write: Write,
    *,
    chain: str = "",
    since: str = "",
    as_json: bool = False,
    console: Console = None,
    trust: Trust = NOBODY_ELSE,
) -> int:
    """All chains, a line each; with `chain` its timeline. 1 when a chain cannot be read."""
    folders, earliest = audit.projects(directory), since_time(since)
    if chain:
        return _one_chain(folders, chain, key, trust, write, as_json)
    tally = _ReadChains()
    summaries = tally.of(_summaries(folders, key, earliest, trust))
    if as_json:
        _stream(write, "chains", summaries)
        return tally.code
    rows = (_chain_cells(summary, len(folders) > 1) for summary in summaries)
    if console:
        _table(console, _CHAIN_TITLES, list(rows), keep=2)
    else:
        for project, name, *cells in rows:
            place = f"{project}/{name}" if project else name
            write(_joined(place, *cells))
    when = f" since {since}" if since else ""
    write(f"{_counted(tally.chains, 'chain')} in {_counted(len(folders), 'project')}{when}")
    return tally.code


class _ReadChains:
    """How many chains went by, and the exit code: 1 when one of them cannot be read, or not whole."""

    chains = code = 0

    def of(self, summaries: Iterable[Json]) -> Iterator[Json]:
        for summary in summaries:
            self.chains += 1
            if summary["error"] or summary["lost"]:
                self.code = 1
            yield summary


def _summaries(
    folders: Iterable[HandoverFolder], key: bytes, since: str, trust: Trust
) -> Iterator[Json]:
    """All chains; of a folder whose ledgers cannot be listed one summary that says why."""
    for folder in folders:
        try:
            yield from audit.chains(folder, key, since, trust)
        except RecordError as error:
            yield story.summary(_unlisted(error), project=str(folder.root))


def _stories(folders: Iterable[HandoverFolder], key: bytes, trust: Trust) -> Iterator[Story]:
    for folder in folders:
        try:
            yield from audit.stories(folder, key, trust)
        except RecordError as error:
            yield _unlisted(error)


def _unlisted(error: RecordError) -> Story:
    return Story(Chain(""), (), error=error.message)


def since_time(since: str) -> str:
    """An ISO date or time as the ledgers write times, "" for "".

    It is UTC when it names no zone. Raises RequestError.
    """
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


def _chain_cells(summary: Json, with_project: bool = False) -> tuple[str, ...]:
    """A cell for each of `_CHAIN_TITLES`, "" for nothing to tell."""
    verdicts = dict(summary["verdicts"])
    superseded = verdicts.pop("superseded", 0)
    hops = _counted(summary["hops"] - superseded, "hop")
    holder, tokens = summary["holder"], summary["tokens"]
    return (
        one_line(Path(summary["project"]).name) if with_project else "",
        one_line(summary["chain"]),
        one_line(f"{summary['state']} ({holder})" if holder else summary["state"]),
        f"{hops} + {superseded:,} superseded" if superseded else hops,
        _counts(verdicts),
        f"{tokens['delivered']:,} of {tokens['asked']:,} tokens",
        duration(summary["seconds"]),
        one_line(_beside(summary)),
    )


def _beside(summary: Json) -> str:
    counts = {label: summary[name] for name, label in _BESIDE.items() if summary[name]}
    lost = _joined(*summary["lost"], by="; ")
    return _joined(_counts(counts), summary["stop"], summary["error"], lost, by=", ")


def _one_chain(
    folders: Sequence[HandoverFolder],
    chain: str,
    key: bytes,
    trust: Trust,
    write: Write,
    as_json: bool,
) -> int:
    folder = _folder_holding(folders, chain)
    summary, told = audit.read_chain(folder, chain, key, trust)
    picture = audit.timeline(told)
    if as_json:
        write(json.dumps({"summary": summary, "timeline": picture}, ensure_ascii=False, indent=2))
    else:
        write(_joined(*_chain_cells(summary)))
        for line in timeline_lines(picture):
            write(line)
        for item in summary["handovers"]:
            write(_handover_line(item))
    return int(bool(told.error or told.lost))


def _folder_holding(folders: Iterable[HandoverFolder], chain: str) -> HandoverFolder:
    for folder in folders:
        try:
            if folder.ledger_path(chain) and listing.files_of(folder, chain):
                return folder
        except RecordError:  # no chain can have this name
            continue
    raise RecordError(
        f"no chain {one_line(chain, 120)} is recorded here",
        "see the list: execute.py audit DIR",
        "unknown_reference",
    )


def timeline_lines(picture: Json) -> Iterator[str]:
    """A line for every arrow and mark, in the order of the ledger."""
    lines = [(mark["order"], mark["time"], _mark_words(mark)) for mark in picture["marks"]]
    lines += [(arrow["order"], arrow["time"], _arrow_words(arrow)) for arrow in picture["arrows"]]
    for _, time, words in sorted(lines):
        yield one_line(f"{time[:10]} {time[11:19]}  {words}")


def _mark_words(mark: Json) -> str:
    kind = mark["kind"].replace("_", " ")
    return f"{mark['agent']}  {_joined(kind, mark['handover'], mark['text'])}"


def _arrow_words(arrow: Json) -> str:
    is_handover = arrow["kind"] == "handover"
    return _joined(
        f"{arrow['from']} → {arrow['to']}",
        f"hop {arrow['hop']}",
        "handover" if is_handover else arrow["label"],
        arrow["handover"],
        f"on {arrow['on']}" if arrow["on"] else "",
        f"{arrow['tokens']:,} tokens" if arrow["tokens"] else "",
        "open" if arrow["open"] else "",
        arrow["why"],
    )


def _handover_line(item: Json) -> str:
    queue, work, tokens = duration(item["queue_s"]), duration(item["work_s"]), item["tokens"]
    left_out = [f"left out: {line}" for line in item["omitted"]]
    paths = {entry["path"] for entry in item["briefing"]}
    words = _joined(
        f"hop {item['hop']}",
        item["handover"],
        item["receiver"],
        f"on {item['on']}" if item["on"] else "",
        "done, outcome unknown" if item["outcome"] == UNKNOWN else item["state"],
        f"queue {queue}" if queue else "",
        f"work {work}" if work else "",
        f"{tokens['delivered']:,} of {tokens['asked']:,} tokens",
        *left_out,
        *sorted(paths),
    )
    return one_line(words)


def duration(seconds: float | None) -> str:
    """`1 d 02:03:04`, `0:20:00`; "" for None."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours:02}:{minutes:02}:{rest:02}"
    return f"{hours}:{minutes:02}:{rest:02}"


# --- verify --------------------------------------------------------------------------------------


def verify_text(
    directory: Path,
    key: bytes,
    write: Write,
    *,
    as_json: bool = False,
    console: Console = None,
    trust: Trust = NOBODY_ELSE,
) -> int:
    """A line for every fault and note, then how much was checked. 1 when there is a fault."""
    folders, totals = audit.projects(directory), _Totals(key, trust)
    with _progress(console, "verifying") as progress:
        results = totals.of(verifying.verify(folders, key, progress, trust))
        if as_json:
            _stream(write, "findings", _findings_json(results), tail=totals.to_json)
            return totals.code
        for line in _finding_lines(results, with_project=len(folders) > 1):
            write(line)
    for line in totals.lines():
        write(line)
    return totals.code


class _Totals:
    """What was checked so far."""

    def __init__(self, key: bytes, trust: Trust) -> None:
        self.files = self.entries = self.events = self.bytes = self.faults = self.notes = 0
        self.others = {"entries": 0, "events": 0, "files": 0}
        self.unsigned = {"entries": 0, "files": 0}
        self._signers: dict[tuple[str, bool], tuple[int, int]] = {}
        self._names = names_of(key, trust)

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
            self.others["files"] += (result.other_entries, result.other_events) != (0, 0)
            self.unsigned["entries"] += result.unsigned
            self.unsigned["files"] += bool(result.unsigned)
            for by, counts, entries, events in result.signers:
                before = self._signers.get((by, counts), (0, 0))
                self._signers[by, counts] = (before[0] + entries, before[1] + events)
            yield result

    def to_json(self) -> Json:
        """{checked: {files, entries, events, bytes, faults, notes,
        others: {entries, events, files}, unsigned: {entries, files},
        signers: [{fingerprint, name, trusted, entries, events}]}}"""
        counted = {name: value for name, value in vars(self).items() if name[0] != "_"}
        return {"checked": {**counted, "signers": self.signers()}}

    def signers(self) -> list[Json]:
        """What each installation wrote, those that count first; `name` "" is nobody known here."""
        listed = []
        for by, counts in sorted(self._signers, key=lambda who: (not who[1], who[0])):
            entries, events = self._signers[by, counts]
            listed.append(
                {
                    "fingerprint": by,
                    "name": self._names.get(by, "") if counts else "",
                    "trusted": counts,
                    "entries": entries,
                    "events": events,
                }
            )
        return listed

    def lines(self) -> Iterator[str]:
        """A note for what other installations wrote, one for what nobody signed, the sum."""
        others, unsigned = self.others, self.unsigned
        if others["files"]:
            yield (
                f"note other: {_entries(others['entries'])} and"
                f" {_counted(others['events'], 'event')} in {_counted(others['files'], 'file')}"
                " were written by another installation: each was checked against its own hash,"
                " that they are genuine can only be verified there"
            )
        if unsigned["files"]:
            yield (
                f"note other: {_entries(unsigned['entries'])} in"
                f" {_counted(unsigned['files'], 'file')} match their own hash and no event here"
                " signs them: another installation's, or the end of a ledger was cut off"
            )
        signers = self.signers()
        if {signer["name"] for signer in signers} - {OURSELVES}:
            yield from map(_signer_line, signers)
        yield (
            f"verified {_entries(self.entries)} and {_counted(self.events, 'event')} in"
            f" {_counted(self.files, 'file')}, {self.bytes:,} bytes:"
            f" {_counted(self.faults, 'fault')}, {_counted(self.notes, 'note')}"
        )
        if not self.files:
            yield "there was nothing to verify: no ledger and no briefing is recorded here"


def _entries(count: int) -> str:
    return _counted(count, "entry", "entries")


def _finding_lines(results: Iterable[Result], with_project: bool) -> Iterator[str]:
    """What is only another installation's is in the totals."""
    for result in results:
        project = f"{Path(result.project).name}/" if with_project else ""
        for finding in result.findings:
            if finding.kind != "other":
                yield one_line(_finding_words(finding, project))


def _finding_words(finding: Finding, project: str) -> str:
    kind = finding.kind.replace("_", " ")
    return f"{finding.level} {kind}: {project}{finding.where}: {finding.detail}"


def _signer_line(signer: Json) -> str:
    who = signer["name"] or ("not trusted" if signer["fingerprint"] else "not trusted, not named")
    wrote = f"{_entries(signer['entries'])}, {_counted(signer['events'], 'event')}"
    return one_line(f"signed by {who} ({signer['fingerprint'] or 'no key'}): {wrote}")


def _findings_json(results: Iterable[Result]) -> Iterator[Json]:
    for result in results:
        for finding in result.findings:
            yield {"project": result.project, "file": result.file, **finding._asdict()}


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


# --- metrics -------------------------------------------------------------------------------------


def metrics_text(
    directory: Path,
    key: bytes,
    sla: Sla,
    write: Write,
    *,
    as_json: bool = False,
    console: Console = None,
    trust: Trust = NOBODY_ELSE,
) -> int:
    """Every measure with its n; 1 when chains could not be read."""
    metrics = measuring.of_stories(_stories(audit.projects(directory), key, trust), sla)
    if as_json:
        write(json.dumps(metrics.to_json(), ensure_ascii=False, indent=2))
        return int(metrics.unreadable > 0)
    rows, empty = [], []
    for measure in metrics.measures:
        if measure.n:
            rows.append((measure.label, value_text(measure), _details(measure.detail, "; ")))
        else:
            empty.append(_empty_words(measure))
    if console:
        _table(console, ("Measure", "Value", "More"), rows)
    else:
        for label, value, more in rows:
            write(_joined(f"{label}:", value, more))
    if empty:
        write(f"Nothing to count yet (n = 0): {'; '.join(empty)}")
    write(_metrics_line(metrics))
    return int(metrics.unreadable > 0)


def _empty_words(measure: Measure) -> str:
    """Of a measure without a number: its name, and what it tells beside limits."""
    told = {name: value for name, value in measure.detail.items() if name != "limit_s"}
    beside = _details(told, ", ")
    return f"{measure.label} ({beside})" if beside else measure.label


def value_text(measure: Measure) -> str:
    """`33% (1 of 3)`, `3.0 (n = 1)`, and no number where there was nothing to count."""
    if not measure.n:
        return "nothing to count (n = 0)"
    if measure.rate is not None:
        return f"{measure.rate:.0%} ({measure.hits:,} of {measure.n:,})"
    return f"{measure.value:,.1f} (n = {measure.n:,})"


def _details(detail: Json, by: str) -> str:
    return one_line(_joined(*map(_detail_words, detail, detail.values()), by=by))


def _detail_words(name: str, value: Any) -> str:
    """A detail of a measure; `_s` at the end of its name means seconds. "" for nothing."""
    label = name.replace("_", " ")
    if name == "by_hops":
        chains = [
            f"{_counted(n, 'chain')} of {_counted(int(hops), 'hop')}" for hops, n in value.items()
        ]
        return ", ".join(chains)
    if name.endswith("_s"):
        return _labelled(name[:-2].replace("_", " "), duration(value))
    if isinstance(value, dict):
        return _labelled(f"{label}:", _counts(value))
    return f"{label} {value:,}" if value else ""


def _labelled(label: str, words: str) -> str:
    return f"{label} {words}" if words else ""


def _metrics_line(metrics: Metrics) -> str:
    unreadable, foreign = _counted(metrics.unreadable, "chain"), _counted(metrics.foreign, "event")
    return _joined(
        f"{_counted(metrics.handovers, 'handover')} in {_counted(metrics.chains, 'chain')}",
        f"{unreadable} not read whole" if metrics.unreadable else "",
        f"{foreign} of another installation not counted" if metrics.foreign else "",
        by=", ",
    )


# --- output --------------------------------------------------------------------------------------

_LEAST_LAST = 24  # characters that the last column may be wrapped to


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _joined(*words: str, by: str = "  ") -> str:
    """The words that are not empty."""
    return by.join(filter(None, words))


def _table(
    console: Console, titles: Sequence[str], rows: Sequence[Sequence[str]], keep: int = 1
) -> None:
    """Columns that hold something; where they are too wide each row becomes a few lines.

    Nothing but the last column is wrapped, so that no id is broken. `keep` cells stand on a row's
    first line.
    """
    from rich.cells import cell_len
    from rich.padding import Padding
    from rich.table import Column, Table
    from rich.text import Text

    columns = [column for column in zip(titles, *rows, strict=True) if any(column[1:])]
    if not columns:
        return
    *widths, last = [max(map(cell_len, column)) for column in columns]
    borders = 3 * len(columns) + 1
    if sum(widths) + min(last, _LEAST_LAST) + borders <= console.width:
        table = Table(*(Column(title, no_wrap=True) for title, *_ in columns[:-1]))
        table.add_column(columns[-1][0], overflow="fold")
        for cells in list(zip(*columns, strict=True))[1:]:
            table.add_row(*map(Text, cells))
        console.print(table)
        return
    for row in rows:
        head = Text(_joined(*row[:keep], by="/"), style="bold")
        console.print(head, no_wrap=True, overflow="ignore", crop=False)
        console.print(Padding(Text(_joined(*row[keep:])), (0, 0, 0, 2)))


def _stream(
    write: Write, name: str, items: Iterable[Json], tail: Callable[[], Json] = dict
) -> None:
    """One JSON object with a list in it, an item a line, so that nothing is held.

    `tail` is asked for more members at the end.
    """
    write(f'{{"{name}": [')
    line = ""
    for item in items:
        if line:
            write(f"{line},")
        line = json.dumps(item, ensure_ascii=False)
    if line:
        write(line)
    members = [
        f', "{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in tail().items()
    ]
    write(f"]{''.join(members)}}}")

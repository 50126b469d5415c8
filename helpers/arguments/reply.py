"""The arguments of `handover_reply`, understood; the shapes are those of `request`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ..values.call import Call
from ..values.events import VERDICTS
from ..values.packet import Contents, rows
from ..values.roster import Roster
from . import coerce as shape
from . import handover
from .coerce import Problems, shown

VERDICT_WORDS = ("accept", *VERDICTS)
# Seed 002: the four questions a good note answers.
NOTE_PARTS = ("what_happened", "observations", "user_state", "next")
_OTHER_WORDS = {
    "accepted": "accept", "rejected": "reject", "refuse": "reject", "refused": "reject", "complete": "done",
    "completed": "done", "finished": "done", "clarification": "clarify", "question": "clarify", "escalated": "escalate",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ReplyRequest:
    """What a specialist says of its handover, masked.

    `verdict` is "accept" or a word of `values.events.VERDICTS`, `outcome` "", "completed", "partial"
    or "blocked", `hand_to` a profile or "". `missing` are names of fields or questions. `given` is
    what it adds to the packet: rows with `travels.returned`, as in a `HandoverRequest`.
    """

    verdict: str
    outcome: str = ""
    hand_to: str = ""
    missing: tuple[str, ...] = ()
    what_happened: str = ""
    observations: str = ""
    user_state: str = ""
    next: str = ""
    reason: str = ""
    given: Contents = field(default_factory=Contents)
    warnings: tuple[str, ...] = ()

    @property
    def lacking(self) -> tuple[str, ...]:
        """The parts of the note that are empty."""
        return tuple(name for name in NOTE_PARTS if not getattr(self, name))


ARGUMENTS = (
    *(item.name for item in fields(ReplyRequest) if item.name not in ("given", "warnings")),
    *(row.name for row in rows() if row.travels.returned),
)


def parse_reply(args: Mapping[Any, Any], call: Call) -> ReplyRequest:
    """The reply in `args`. Raises RequestError with every problem of the call."""
    problems = Problems()
    values, warnings = handover.tidy(args, ARGUMENTS, call.ports.mask, problems)
    given = {name: values.get(name) for name in ARGUMENTS}
    plain: dict[str, Any] = {
        name: shape.text(given[name]).strip() for name in (*NOTE_PARTS, "reason")
    }
    sent = {name: given[name] for name in given if name in Contents.model_fields}
    carried = handover.parse(
        {
            "specialist_profile": call.settings.roster.names()[0],
            "topic": "-",
            "project_root": "/",
            **{name: value for name, value in sent.items() if name != "user_state"},
        },
        call,
    )
    reply = ReplyRequest(
        verdict=_verdict(given["verdict"], problems),
        missing=shape.texts(given["missing"], commas=True),
        hand_to=_receiver(given["hand_to"], call.settings.roster, problems),
        outcome=problems.attempt("outcome", _outcome, given["outcome"], ""),
        given=Contents(
            **{
                name: getattr(carried.given, name)
                for name in carried.given.model_fields_set
                if name != "return_condition"
            }
        ),
        **plain,
    )
    _check_parts(reply, problems)
    problems.raise_if_any()
    return replace(reply, warnings=(*warnings, *carried.warnings, *problems.warnings))


def _verdict(value: Any, problems: Problems) -> str:
    word = shape.text(value).strip(" \"'.").lower()
    word = _OTHER_WORDS.get(word, word)
    if word not in VERDICT_WORDS:
        came = f", got {shown(value)}" if word else ""
        problems.add(
            f"verdict is required{came}",
            "use one of: " + ", ".join(VERDICT_WORDS),
            "bad_value" if word else "missing",
        )
        return "accept"
    return word


def _outcome(value: Any) -> str:
    return shape.choice("", "completed", "partial", "blocked")(value)


def _receiver(value: Any, roster: Roster, problems: Problems) -> str:
    name = shape.text(value).strip()
    found = problems.attempt("hand_to", roster.find, name, None) if name else None
    return found.profile if found else ""


def _check_parts(reply: ReplyRequest, problems: Problems) -> None:
    if reply.verdict == "clarify" and not reply.missing:
        problems.add(
            "missing is required for clarify", "name the fields or ask the questions", "missing"
        )
    if reply.verdict in ("reject", "escalate") and not (reply.reason or reply.what_happened):
        problems.add(
            f"reason is required for {reply.verdict}", "say why in one sentence", "missing"
        )
    if reply.hand_to and reply.verdict != "done":
        problems.add("hand_to goes with verdict done", "finish with done, or leave hand_to out")

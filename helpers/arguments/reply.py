"""The arguments of `handover_reply`, understood; the shapes are those of `request`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from ..text.masking import Mask
from ..values.roster import Roster
from . import coerce as shape
from . import handover
from .coerce import Items, Problems, shown

Verdict = Literal["accept", "clarify", "reject", "done", "escalate"]
VERDICTS: tuple[Verdict, ...] = ("accept", "clarify", "reject", "done", "escalate")
# Seed 002: the four questions a good note answers.
NOTE_PARTS = ("what_happened", "observations", "user_state", "next")
_OTHER_WORDS = {
    "accepted": "accept", "rejected": "reject", "refuse": "reject", "refused": "reject", "complete": "done",
    "completed": "done", "finished": "done", "clarification": "clarify", "question": "clarify", "escalated": "escalate",
}  # fmt: skip


@dataclass(frozen=True)
class ReplyRequest:
    """What a specialist says of its handover, masked. `missing` are names of fields or questions, `hand_to` a profile."""

    verdict: Verdict
    what_happened: str = ""
    observations: str = ""
    user_state: str = ""
    next: str = ""
    missing: tuple[str, ...] = ()
    reason: str = ""
    decisions: Items = ()
    artifacts: Items = ()
    rejected_paths: Items = ()
    open_questions: Items = ()
    state: Items = ()
    flags: Items = ()
    sections_done: tuple[str, ...] = ()
    stopped_at: str = ""
    notes: tuple[str, ...] = ()
    hand_to: str = ""
    outcome: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def lacking(self) -> tuple[str, ...]:
        """The parts of the note that are empty."""
        return tuple(name for name in NOTE_PARTS if not getattr(self, name))


ARGUMENTS = tuple(item.name for item in fields(ReplyRequest) if item.name != "warnings")
_TEXTS = ("what_happened", "observations", "user_state", "next", "reason", "stopped_at")


def parse_reply(args: Mapping[Any, Any], roster: Roster, mask: Mask) -> ReplyRequest:
    """The reply in `args`. Raises RequestError with every problem of the call."""
    problems = Problems()
    values, warnings = handover.tidy(args, ARGUMENTS, mask, problems)
    given = {name: values.get(name) for name in ARGUMENTS}
    plain: dict[str, Any] = {name: shape.text(given[name]).strip() for name in _TEXTS}
    reply = ReplyRequest(
        verdict=_verdict(given["verdict"], problems),
        missing=shape.texts(given["missing"], commas=True),
        decisions=shape.decisions(given["decisions"], problems),
        artifacts=shape.items(given["artifacts"], shape.ARTIFACTS, problems),
        rejected_paths=shape.items(given["rejected_paths"], shape.REJECTED_PATHS, problems),
        open_questions=shape.items(given["open_questions"], shape.OPEN_QUESTIONS, problems),
        flags=shape.items(given["flags"], shape.FLAGS, problems),
        state=problems.attempt("state", shape.state, given["state"], ()),
        sections_done=shape.texts(given["sections_done"], commas=True),
        notes=shape.texts(given["notes"]),
        hand_to=_receiver(given["hand_to"], roster, problems),
        outcome=problems.attempt("outcome", _outcome, given["outcome"], ""),
        **plain,
    )
    _check_parts(reply, problems)
    problems.raise_if_any()
    return replace(reply, warnings=(*warnings, *problems.warnings))


def _verdict(value: Any, problems: Problems) -> Verdict:
    word = shape.text(value).strip(" \"'.").lower()
    word = _OTHER_WORDS.get(word, word)
    if word not in VERDICTS:
        came = f", got {shown(value)}" if word else ""
        problems.add(
            f"verdict is required{came}",
            "use one of: " + ", ".join(VERDICTS),
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

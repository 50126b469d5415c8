"""The arguments of `handover_reply`, understood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue as Json

from ..values.call import Call
from ..values.errors import RequestError
from ..values.events import VERDICTS
from ..values.packet import Contents, Row, rows
from .contents import contents, read_text, said
from .handover import receiver
from .plain import choice, shown, text, texts
from .sent import LINE_CHARACTERS, Sent

# Seed 002: the four questions a good note answers.
NOTE_PARTS = ("what_happened", "observations", "user_state", "next")
OUTCOMES = ("", "completed", "partial", "blocked")
OWN = ("verdict", "outcome", "hand_to", "missing", *NOTE_PARTS, "reason")
VERDICT_WORDS = ("accept", *VERDICTS)
# A question in the languages of the extract, with or without its mark.
_ASKS = re.compile(
    r"[?\u00bf\uff1f]|\b(?:who|whom|whose|what|which|when|where|why|how|whether|wer|wem|was|welche[rsn]?"
    r"|wann|wo|warum|wie|qui|quoi|quel(?:le)?s?|quand|o\u00f9|pourquoi|comment|qui\u00e9n|qu\u00e9|cu\u00e1l"
    r"|cu\u00e1ndo|d\u00f3nde|c\u00f3mo|quem|qual|quando|onde|como|chi|cosa|quale|dove|perch\u00e9)\b",
    re.IGNORECASE,
)
_NOTHING: tuple[str, ...] = ()
_OTHER_WORDS = {
    "accepted": "accept", "rejected": "reject", "refuse": "reject", "refused": "reject",
    "complete": "done", "completed": "done", "finished": "done", "clarification": "clarify",
    "question": "clarify", "escalated": "escalate",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ReplyRequest:
    """What a specialist says of its handover, masked.

    `verdict` is "accept" or a word of `values.events.VERDICTS`, `outcome` one of `OUTCOMES`,
    `hand_to` a profile or "". `missing` are names of fields or questions. `given` is what it adds
    to the packet: rows with `travels.returned`, as in a `HandoverRequest`.
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


def arguments() -> tuple[str, ...]:
    """The names of all arguments."""
    return (*OWN, *(row.name for row in returned_rows()))


def returned_rows() -> tuple[Row, ...]:
    """What a specialist may add to the packet."""
    return tuple(row for row in rows() if row.travels.returned)


def parse_reply(args: Mapping[Any, Any], call: Call) -> ReplyRequest:
    """The reply in `args`. Raises RequestError with every problem of the call."""
    sent = Sent(args, arguments(), call.ports.mask)
    verdict = sent.read("verdict", _verdict, "")
    outcome = sent.read("outcome", lambda value: choice(value, OUTCOMES), "")
    hand_to = sent.read("hand_to", lambda value: _next(value, call), "", json=True)
    missing = sent.read_long("missing", lambda value: _missing(value, sent), _NOTHING)
    note = {name: read_text(name, sent) for name in (*NOTE_PARTS, "reason")}
    given = contents(sent, returned_rows())
    reply = ReplyRequest(
        verdict=verdict,
        outcome=outcome,
        hand_to=hand_to,
        missing=missing,
        given=given,
        warnings=sent.warnings,
        **note,
    )
    _check_parts(reply, sent)
    sent.raise_if_wrong()
    return reply


def _check_parts(reply: ReplyRequest, sent: Sent) -> None:
    """What a verdict cannot do without."""
    verdict = reply.verdict
    if verdict == "clarify" and not reply.missing:
        hint = "name the fields or ask the questions"
        sent.refuse("missing is required for clarify", hint, "missing")
    if verdict in ("reject", "escalate") and not (reply.reason or reply.what_happened):
        sent.refuse(f"reason is required for {verdict}", "say why in one sentence", "missing")
    if verdict not in ("", "done") and reply.hand_to:
        sent.refuse("hand_to goes with verdict done", "finish with done, or leave hand_to out")


def _missing(value: Json, sent: Sent) -> tuple[str, ...]:
    """Names of fields, which a comma may divide, or questions, in which it divides nothing."""
    missing = said("missing", value, sent)
    asks = isinstance(missing, str) and _ASKS.search(missing[:LINE_CHARACTERS])
    return texts(missing, words=0 if asks else 2)


def _verdict(value: Json) -> str:
    word = text(value)[:100].strip(" \"'.").lower()
    verdict = _OTHER_WORDS.get(word, word)
    if verdict not in VERDICT_WORDS:
        hint = "use one of: " + ", ".join(VERDICT_WORDS)
        if not word:
            raise RequestError("verdict is required", hint, "missing")
        raise RequestError(f"verdict is required, got {shown(value)}", hint)
    return verdict


def _next(value: Json, call: Call) -> str:
    return receiver(value, call, "hand_to") if text(value) else ""

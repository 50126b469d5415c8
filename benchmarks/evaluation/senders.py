"""Does a model hand over, to whom, and what of the chat arrives in the package?"""

from __future__ import annotations

import json
from typing import Any

from usr.plugins.software_orchestrator.helpers.values.errors import HandoverError

from .chats import Chat, told
from .desk import Desk, Handed, call_in, system_prompt
from .model import Messages, Model, system
from .scoring import arrived

MOST_TOKENS = 600
MOST_REPAIRS = 2
TOOL = "handover_to_specialist"
# Faults that models were seen to make; each is refused, and a good answer to it is accepted.
FAULTY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("rotation", {"specialist_profile": "security_person"}),
    ("ci-slow", {"specialist_profile": "devops"}),
    ("report-es", {"specialist_profile": "analyst"}),
    ("import", {"specialist_profile": "debugger"}),
    ("library", {"specialist_profile": "qa"}),
    ("bakery", {"specialist_profile": ["frontend_designer", "implementation_engineer"]}),
    ("sessions", {"topic": ""}),
    ("choir-it", {"state": {"form": {"status": "in_progress"}}}),
    ("api-pt", {"max_context_tokens": "small"}),
    ("menu-it", {"specialist_profile": "a0_software_orchestrator"}),
)


def opening(chat: Chat) -> Messages:
    """What the model is asked: the conversation as one message, the person's wish last."""
    asked = f"Conversation so far:\n{told(chat.turns[:-1])}\n\nThe person now writes:\n{chat.turns[-1][1]}"
    return system(system_prompt(), asked)


def send(chat: Chat, model: Model, seed: int) -> dict[str, Any]:
    """One chat: the call, its repairs, and what of the chat arrives."""
    messages = opening(chat)
    reply = model.ask(messages, seed, MOST_TOKENS)
    name, args = call_in(reply)
    row: dict[str, Any] = {"called": name == TOOL, "errors": 0, "accepted": False}
    if name != TOOL:
        return {**row, "reply": reply}
    desk = Desk(chat)
    handed, refusals = _mended(desk, messages, reply, model, seed)
    row |= {"errors": len(refusals), "accepted": handed is not None, "args": args}
    row |= {"refusals": refusals}
    if handed is not None:
        row |= {"right": handed.packet["identity"]["receiver"] == chat.want}
        row |= arrived(chat, handed)
    return row


def _mended(
    desk: Desk, messages: Messages, reply: str, model: Model, seed: int
) -> tuple[Handed | None, list[str]]:
    """Carry the call out; a refusal goes back to the model. The package and the refusals."""
    refusals: list[str] = []
    while True:
        name, args = call_in(reply)
        try:
            if name == TOOL:
                return desk.hand(args), refusals
            refusals.append("no call of the tool")
        except HandoverError as error:
            refusals.append(str(error))
        if len(refusals) > MOST_REPAIRS:
            return None, refusals
        messages = [*messages, *_answered(reply, refusals[-1])]
        reply = model.ask(messages, seed, MOST_TOKENS)


def _answered(reply: str, result: str) -> Messages:
    told_back = json.dumps({"tool_name": TOOL, "tool_result": result}, ensure_ascii=False)
    return [{"role": "assistant", "content": reply}, {"role": "user", "content": told_back}]


def repair(number: int, chat: Chat, model: Model, seed: int) -> dict[str, Any]:
    """One faulty call: does the model's next call, after the error, go through?"""
    args = {
        "specialist_profile": chat.want,
        "topic": chat.topic,
        "goal": chat.topic,
        **FAULTY[number][1],
    }
    call = {"thoughts": [], "headline": chat.topic, "tool_name": TOOL, "tool_args": args}
    desk = Desk(chat)
    try:
        desk.hand(args)
        return {"mended": True, "refusal": ""}
    except HandoverError as error:
        refusal = str(error)
    reply = json.dumps(call, ensure_ascii=False)
    again = model.ask([*opening(chat), *_answered(reply, refusal)], seed, MOST_TOKENS)
    name, args = call_in(again)
    try:
        handed = desk.hand(args) if name == TOOL else None
    except HandoverError as error:
        return {"mended": False, "refusal": refusal, "again": str(error)}
    right = handed is not None and handed.packet["identity"]["receiver"] == chat.want
    return {"mended": handed is not None, "right": right, "refusal": refusal}

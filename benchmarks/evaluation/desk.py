"""Where calls are carried out: the plugin itself on a folder of its own, without a host."""

from __future__ import annotations

import ast
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from usr.plugins.software_orchestrator.helpers.arguments.plain import as_json
from usr.plugins.software_orchestrator.helpers.flow import deliver, prepare, receive
from usr.plugins.software_orchestrator.helpers.records.local import local_ports
from usr.plugins.software_orchestrator.helpers.records.resources import default_settings
from usr.plugins.software_orchestrator.helpers.text.tokens import counter
from usr.plugins.software_orchestrator.helpers.values.call import ORCHESTRATOR, Call, Caller
from usr.plugins.software_orchestrator.helpers.values.packet import Turn
from usr.plugins.software_orchestrator.helpers.values.settings import settings

from .chats import Chat

_PYTHON = {"true": "True", "false": "False", "null": "None"}
PROMPTS = Path(__file__).resolve().parents[2] / "prompts"
SETTINGS = settings(default_settings())
# How Agent Zero asks for a tool call: one JSON object with these four names.
FORM = """Reply with one JSON object and nothing else. It has these names:
thoughts: list of texts
headline: text
tool_name: name of a tool
tool_args: object with the arguments of that tool

## Tools
### response
answer the person
args: `text`
"""


def system_prompt() -> str:
    """What an orchestrator reads: the form of a call and the tool with its specialists."""
    tool = (PROMPTS / "agent.system.tool.handover_to_specialist.md").read_text(encoding="utf-8")
    lines = SETTINGS.roster.lines(ORCHESTRATOR)
    return f"You plan software work and hold the conversation.\n{FORM}{tool}".replace(
        "{{specialists}}", lines
    )


def tokens(text: str) -> int:
    return counter().count(text)


@dataclass(frozen=True)
class Handed:
    """`text` is the package as the specialist reads it, `packet` its plain JSON."""

    text: str
    packet: dict[str, Any]
    id: str
    warnings: tuple[str, ...]


@dataclass
class Desk:
    """One chat's chain; `turns` are what travels word for word."""

    chat: Chat
    limit: int = 0
    turns: Sequence[tuple[str, str]] = ()
    folder: tempfile.TemporaryDirectory[str] = field(default_factory=tempfile.TemporaryDirectory)

    def hand(self, args: Mapping[str, Any]) -> Handed:
        """Carry a call out. Raises HandoverError as the tool refuses it."""
        call = self._call()
        asked = {**args, "start": False}
        if self.limit:
            asked["max_context_tokens"] = self.limit
        prepared = prepare.prepare(asked, call)
        id_ = prepared.packet.identity.handover_id
        delivery = deliver.deliver(id_, call, way="start")
        return Handed(delivery.text, prepared.packet.to_json(), id_, prepared.warnings)

    def close(self, handed: Handed, note: str) -> None:
        """The specialist hands back with a note."""
        profile = handed.packet["identity"]["receiver"]
        call = self._call(inside=handed.id, sender=profile)
        said = {
            "what_happened": note,
            "observations": "nothing else",
            "user_state": "not spoken to",
            "next": "go on",
        }
        receive.reply({"verdict": "done", **said}, call)

    def _call(self, **more: Any) -> Call:
        turns = self.turns or self.chat.turns
        kept = tuple(
            Turn(role={"person": "user"}.get(who, "assistant"), text=words) for who, words in turns
        )
        caller = Caller(
            chat_id=self.chat.id,
            project_root=self.folder.name,
            person_count=len(self.chat.person),
            person_messages=self.chat.person,
            turns=lambda count: kept[-count:] if count else (),
            **more,
        )
        return Call(caller, SETTINGS, replace(local_ports(), key=lambda: b"k" * 32))


def call_in(reply: str) -> tuple[str, dict[str, Any]]:
    """The tool and arguments in an answer; ("", {}) where there is no call."""
    found = _object_in(reply)
    args = found.get("tool_args")
    return str(found.get("tool_name", "")), args if isinstance(args, dict) else {}


def _object_in(reply: str) -> dict[str, Any]:
    """The first object in an answer, as JSON or, as hosts forgive it, as Python writes one."""
    source = reply[max(reply.find("{"), 0) :]
    try:
        found, _ = json.JSONDecoder(strict=False).raw_decode(source)
    except ValueError:
        python = re.sub(r"\b(?:true|false|null)\b", lambda word: _PYTHON[word[0]], source)
        try:
            found = ast.literal_eval(python[: python.rfind("}") + 1])
        except (ValueError, SyntaxError):
            return {}
    plain = as_json(found)
    return plain if isinstance(plain, dict) else {}

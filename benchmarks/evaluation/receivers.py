"""What a receiver still knows after one and more hops, by the way the work was passed on.

The arms: `package` and `package_1500` are our packages of 3,000 and 1,500 tokens, whatever the model
wrote into its calls; `message` is what the same model writes for a bare call_subordinate; `last` are
the last 3,000 tokens of the chat; `summary` is a summary by the same model; `whole` is the chat.
At each hop the model writes from what it received and from a log of work (seeded, without facts).
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from usr.plugins.software_orchestrator.helpers.values.errors import HandoverError

from .chats import Chat, told
from .desk import Desk, Handed, call_in, system_prompt, tokens
from .model import Model, system
from .scoring import form, marked
from .senders import TOOL
from .store import Store

ARMS = ("package", "package_1500", "message", "last", "summary", "whole")
PACKAGES = {"package": 3000, "package_1500": 1500}
LAST_TOKENS = 3000
WRITTEN_TOKENS = 450
ANSWER_TOKENS = 110
SPECIALISTS = (
    "codebase_explorer", "solution_architect", "implementation_engineer", "quality_reviewer",
    "test_debug_engineer", "release_auditor",
)  # fmt: skip
# Arguments that say nothing of the work; the run sets the limits itself.
_NOT_TAKEN = (
    "max_context_tokens", "include_recent_turns", "answers", "continues", "project_root",
)  # fmt: skip
ASKS = {
    "message": 'Write the message for call_subordinate to "{to}": everything it needs to go on. '
    "Reply with the message only.",
    "summary": "Summarise all of this for whoever goes on with the work. "
    "Reply with the summary only.",
}
EXAM = """What you received:

{text}

Answer each question from what you received, one line each: its number, a colon, one letter. Choose
"not told here" only where nothing you received answers it.

{questions}"""


def route(chat: Chat, hops: int) -> tuple[str, ...]:
    """Who gets the work at each hop: whom the person wants, then others."""
    others = [name for name in SPECIALISTS if name != chat.want]
    return (chat.want, *others)[:hops]


def work(chat: Chat, hop: int) -> tuple[tuple[str, str], ...]:
    """What a specialist did at a hop, about 700 tokens: lines of a log, none of them a fact."""
    dice = random.Random(f"{chat.id} {hop}")
    steps = ("read", "checked", "compared", "measured", "listed", "opened")
    things = ("module", "list", "branch", "table", "page", "record", "block", "test")
    lines = [
        f"{dice.choice(steps)} {dice.choice(things)} {dice.randrange(100, 999)}: {dice.randrange(2, 90)} entries, nothing to note"
        for _ in range(45)
    ]
    return (("specialist", "\n".join(lines)), ("specialist", f"step {hop} is finished"))


class Passing:
    """One chat passed on over `hops`; what the model writes is made once and kept in the store."""

    def __init__(self, chat: Chat, model: Model, store: Store) -> None:
        self.chat, self.model, self.store = chat, model, store

    def received(self, arm: str, hop: int) -> str:
        """What the receiver of a hop reads."""
        if arm in PACKAGES:
            return str(self._made("package", hop)[arm])
        if arm in ASKS:
            return str(self._made(arm, hop)["text"])
        turns = [*self.chat.turns, *(turn for n in range(1, hop) for turn in work(self.chat, n))]
        return told(turns) if arm == "whole" else told(_last(turns))

    def prepare(self, arms: Sequence[str], hops: int) -> None:
        """Have all that the model must write for these arms."""
        for arm in {"package" if arm in PACKAGES else arm for arm in arms} - {"last", "whole"}:
            self._made(arm, hops)

    def _made(self, arm: str, hop: int) -> dict[str, Any]:
        """The text of a hop; the hops before it are made first."""
        key = ["made", self.chat.id, arm, hop]
        while (found := self.store.get(key)) is None:
            if arm == "package":
                self._make_packages(hop)
            else:
                before = self._material(arm, hop)
                to = route(self.chat, hop)[-1]
                asked = f"{before}\n\n{ASKS[arm].format(to=to)}"
                words = self.model.ask(
                    system("You plan software work.", asked), hop, WRITTEN_TOKENS
                )
                self.store.put(key, {"text": words, "tokens": tokens(words)})
        return found

    def _material(self, arm: str, hop: int) -> str:
        """What the one who passes on at a hop has in front of it."""
        if hop == 1:
            return f"Conversation so far:\n{told(self.chat.turns)}"
        before = self.received(arm, hop - 1)
        return f"What you received:\n{before}\n\nYour work since:\n{told(work(self.chat, hop - 1))}"

    def _make_packages(self, hops: int) -> None:
        """Both packages of every hop up to `hops`, through the plugin itself.

        The chain lives in a folder that is gone after a stop, so it is made again from the kept calls.
        """
        desks = {arm: Desk(self.chat, limit) for arm, limit in PACKAGES.items()}
        for hop, to in enumerate(route(self.chat, hops), 1):
            args = self._call(hop, to)
            row: dict[str, Any] = {"refused": ""}
            for arm, desk in desks.items():
                desk.turns = self.chat.turns if hop == 1 else work(self.chat, hop - 1)
                handed, row["refused"] = _handed(desk, args, to, self.chat.topic)
                row |= {arm: handed.text}
                desk.close(handed, f"step {hop} is finished")
            if self.store.get(["made", self.chat.id, "package", hop]) is None:
                self.store.put(["made", self.chat.id, "package", hop], row)

    def _call(self, hop: int, to: str) -> dict[str, Any]:
        """The arguments that the model writes at a hop."""
        key = ["call", self.chat.id, hop]
        found = self.store.get(key)
        if found is None:
            wish = f'Hand the work over to {to} with {TOOL} now, topic "{self.chat.topic}".'
            asked = f"{self._material('package', hop)}\n\nThe person now writes:\n{wish}"
            reply = self.model.ask(system(system_prompt(), asked), hop, WRITTEN_TOKENS)
            name, args = call_in(reply)
            found = {"args": args if name == TOOL else {}, "reply": reply}
            self.store.put(key, found)
        return dict(found["args"])

    def answer(self, arm: str, hop: int, seed: int) -> dict[str, Any]:
        """The questions of the chat, answered from what the receiver of a hop has."""
        text = self.received(arm, hop)
        dice = random.Random(f"{self.chat.id} {seed}")
        questions, keys = form(self.chat.questions, dice)
        asked = EXAM.format(text=text, questions=questions)
        reply = self.model.ask(system("You are a specialist.", asked), seed, ANSWER_TOKENS)
        return {**marked(reply, keys), "tokens": tokens(text), "reply": reply}


def _handed(desk: Desk, args: dict[str, Any], to: str, topic: str) -> tuple[Handed, str]:
    """The model's call to the wanted specialist; where it is refused, a call without its fields."""
    needed = {"specialist_profile": to, "topic": topic}
    said = {name: value for name, value in args.items() if name not in _NOT_TAKEN}
    try:
        return desk.hand({**said, **needed}), ""
    except HandoverError as error:
        return desk.hand({**needed, "summary": json.dumps(said, ensure_ascii=False)[:800]}), str(
            error
        )


def _last(turns: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The newest turns that fit, as langchain-core's trim_messages finds them."""
    from langchain_core.messages import AIMessage, HumanMessage, trim_messages

    made = [
        (HumanMessage if who == "person" else AIMessage)(words, name=who) for who, words in turns
    ]
    kept = trim_messages(
        made,
        max_tokens=LAST_TOKENS,
        token_counter=lambda some: sum(tokens(str(message.content)) for message in some),
        strategy="last",
    )
    return [(str(message.name), str(message.content)) for message in kept]

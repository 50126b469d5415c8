"""Makes projects with handovers for the pages to show, through the plugin's own protocol, with a clock that is told the time."""

import hashlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from usr.plugins.software_orchestrator.helpers.flow import deliver, prepare, receive
from usr.plugins.software_orchestrator.helpers.records.folder import HandoverFolder
from usr.plugins.software_orchestrator.helpers.records.ledger import Ledger
from usr.plugins.software_orchestrator.helpers.records.resources import default_settings
from usr.plugins.software_orchestrator.helpers.text.tokens import counter
from usr.plugins.software_orchestrator.helpers.values.call import ORCHESTRATOR, Call, Caller, Ports
from usr.plugins.software_orchestrator.helpers.values.events import (
    Accepted,
    Delivered,
    Done,
    Note,
    Prepared,
    about,
)
from usr.plugins.software_orchestrator.helpers.values.packet import HandoverPacket, Identity
from usr.plugins.software_orchestrator.helpers.values.settings import Settings, settings

KEY = hashlib.sha256(b"tests/browser").digest()
START = datetime(2026, 6, 5, 9, 12, 4, tzinfo=UTC)
HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>\u202e{{7*7}}"><svg onload=window.pwned=1>'


@dataclass
class Clock:
    """UTC that moves only when told."""

    now: datetime = START
    made: int = 0

    def __call__(self) -> datetime:
        return self.now

    def wait(self, **time: float) -> None:
        self.now += timedelta(**time)

    def new_id(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}-{hashlib.sha256(f'{self.now}{self.made}'.encode()).hexdigest()[:16]}"


@dataclass
class Chat:
    """One chat with one project: hands over and comes back, a little later each time."""

    root: Path
    chat_id: str
    clock: Clock
    inside: list[str] = field(default_factory=list)

    @property
    def ports(self) -> Ports:
        return Ports(self.clock, self.clock.new_id, lambda text: text, counter, lambda: KEY)

    def caller(self, sender: str = ORCHESTRATOR) -> Caller:
        inside = self.inside[-1] if self.inside else ""
        return Caller(
            chat_id=self.chat_id, sender=sender, inside=inside, project_root=str(self.root)
        )

    def call(self, **fields: Any) -> Call:
        return Call(replace(self.caller(), **fields), SETTINGS, self.ports)

    def hand(
        self,
        receiver: str,
        topic: str,
        *,
        sender: str = ORCHESTRATOR,
        start: bool = True,
        **args: Any,
    ) -> str:
        """Hand over and, with `start`, deliver and accept."""
        asked = {"specialist_profile": receiver, "topic": topic, **args}
        prepared = prepare.prepare(asked, self.call(sender=sender))
        made = prepared.packet.identity.handover_id
        if start:
            self.clock.wait(seconds=2)
            deliver.deliver(made, self.call(sender=sender), way="start")
            self.inside.append(made)
            self.clock.wait(seconds=41)
            self.reply(verdict="accept")
        return made

    def reply(self, **args: Any) -> None:
        made = self.inside[-1]
        receive.reply(args, self.call(inside=made))
        if args["verdict"] != "accept":
            self.inside.pop()

    def read_history(self, reason: str) -> None:
        made = self.inside[-1]
        receive.note_history(made, reason, "last 20 turns", 8431, self.call(inside=made))


SETTINGS: Settings = settings(default_settings())
TOPIC = "Landing page hero"


def shop(root: Path) -> None:
    """A project as it looks after a day: one chain of four hops with a nested one, one open, one stopped, one prepared."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "hero.html").write_text("<h1>Shoes</h1>\n", encoding="utf-8")
    landing_page(root)
    open_one(root)
    escalated(root)
    clarified(root)
    waiting(root)


def landing_page(root: Path) -> None:
    chat = Chat(root, "chatA1", Clock())
    chat.hand(
        "requirements_analyst",
        TOPIC,
        goal="A landing page that sells summer shoes",
        summary="The person sells shoes to runners. They want one page, quickly, and no video.",
        decisions=["No video in the hero"],
        acceptance_criteria=["Loads in 2 seconds on 3G", "Works without JavaScript"],
        next_action="Write down what the hero must say",
        state={"budget_eur": 1500, "vat_id": {"status": "declined"}},
    )
    chat.clock.wait(minutes=9)
    chat.reply(
        verdict="done",
        what_happened="Asked three questions, wrote the acceptance criteria down.",
        observations="The person is in a hurry.",
        user_state="content",
        next="Design the hero.",
        decisions=[
            {
                "text": "One call to action: Buy now",
                "rationale": "Two confused testers",
                "evidence": ["hero.html"],
            }
        ],
        open_questions=[{"text": "Which photo?", "field": "photo"}],
    )
    chat.clock.wait(minutes=3)
    chat.hand(
        "frontend_designer",
        TOPIC,
        summary="Needs and criteria stand; design the hero now.",
        artifacts=["hero.html"],
        rejected_paths=[{"what": "Carousel", "why": "Slow, and nobody clicks the second slide"}],
        next_action="Design the hero in hero.html",
        recent_turns=[
            {"role": "user", "content": f"Make it bold, like the poster of shop {n}."}
            for n in range(12)
        ],
        include_recent_turns=12,
        max_context_tokens=340,
    )
    chat.clock.wait(minutes=4)
    chat.read_history("which poster is meant")
    chat.hand(
        "codebase_explorer",
        TOPIC,
        sender="frontend_designer",
        summary="Find the colours.",
        next_action="List the files",
    )
    chat.clock.wait(minutes=6)
    chat.reply(
        verdict="done",
        what_happened="Found the palette in css/colours.css.",
        observations="Two files define the same red.",
        user_state="unknown",
        next="Use var(--brand-red).",
        artifacts=["css/colours.css"],
    )
    chat.clock.wait(hours=2, minutes=11)
    chat.reply(
        verdict="done",
        what_happened="Hero designed; contrast 7.2:1; two sizes of the picture.",
        observations="hero.html grew by 2 kB.",
        user_state="waiting for a look",
        next="Review it.",
        decisions=["Brand red only for the button"],
    )
    chat.clock.wait(minutes=1)
    chat.hand(
        "quality_reviewer",
        TOPIC,
        summary="Review the hero against the criteria.",
        next_action="Review hero.html",
    )
    chat.clock.wait(minutes=17)
    chat.reply(
        verdict="reject",
        reason="The page needs JavaScript for its menu: criterion 2 fails",
        what_happened="Checked both criteria; the second fails.",
        observations="Menu opens by script.",
        user_state="unknown",
        next="Use <details> for the menu.",
    )


def open_one(root: Path) -> None:
    chat = Chat(root, "chatB2", Clock(START + timedelta(hours=5)))
    chat.hand(
        "implementation_engineer",
        "Orders API bug",
        goal="Orders above 99 items fail",
        summary="Fix the 99 items limit.",
    )
    chat.clock.wait(minutes=12)
    chat.hand(
        "test_debug_engineer",
        "Orders API bug",
        sender="implementation_engineer",
        summary="Reproduce it first.",
    )


def escalated(root: Path) -> None:
    chat = Chat(root, "chatC3", Clock(START + timedelta(hours=1)))
    chat.hand(
        "security_data_engineer",
        "Customer data export",
        summary="Export all customers for the new shop.",
    )
    chat.clock.wait(minutes=5)
    chat.reply(
        verdict="escalate",
        reason="The export holds payment data; a person must allow it",
        next="Ask the owner.",
    )


def clarified(root: Path) -> None:
    chat = Chat(root, "chatD4", Clock(START + timedelta(hours=2)))
    chat.hand(
        "solution_architect",
        "Übersetzung · перевод i18n",
        summary="Plan the translations.",
        state={"languages": "de, ja"},
    )
    chat.clock.wait(minutes=2)
    chat.reply(
        verdict="clarify",
        missing=["languages", "who translates"],
        next="Answer, then hand over again.",
    )


def waiting(root: Path) -> None:
    chat = Chat(root, "chatE5", Clock(START + timedelta(hours=6)))
    chat.hand("release_auditor", "Release 2.4", start=False, summary="Check the release.")


def hostile(root: Path) -> None:
    """A chain whose every text tries to be HTML, a template or a script."""
    root.mkdir(parents=True, exist_ok=True)
    chat = Chat(root, "chatX9", Clock(START + timedelta(hours=7)))
    chat.hand(
        "frontend_designer",
        f"Evil {HOSTILE}",
        goal=HOSTILE,
        summary=HOSTILE,
        user_state=HOSTILE,
        decisions=[{"text": HOSTILE, "rationale": HOSTILE, "evidence": [HOSTILE]}],
        artifacts=[HOSTILE],
        rejected_paths=[{"what": HOSTILE, "why": HOSTILE}],
        open_questions=[HOSTILE],
        next_action=HOSTILE,
        acceptance_criteria=[HOSTILE],
        return_condition=HOSTILE,
        handover_reason=HOSTILE,
        state={"field": HOSTILE},
        flags=[HOSTILE],
        notes=[HOSTILE],
        recent_turns=[{"role": "user", "content": HOSTILE}],
    )
    chat.read_history(HOSTILE)
    chat.reply(
        verdict="escalate",
        reason=HOSTILE,
        what_happened=HOSTILE,
        observations=HOSTILE,
        user_state=HOSTILE,
        next=HOSTILE,
    )


def many(root: Path, count: int) -> None:
    """`count` chains of one hop each, written straight into their ledgers."""
    root.mkdir(parents=True, exist_ok=True)
    folder = HandoverFolder.open(str(root), create=True)
    receivers = SETTINGS.roster.names()[1:]
    clock = Clock(START - timedelta(days=40))
    for number in range(count):
        clock.wait(minutes=47)
        receiver, topic = receivers[number % len(receivers)], f"Task {number:04d} of the backlog"
        chain_id = folder.chain_id(topic, f"chat{number}")
        identity = Identity(
            handover_id=clock.new_id("ho"), chain_id=chain_id, hop=1, depth=0, sender="a0_software_orchestrator",
            receiver=receiver, created_at=clock().isoformat(),
        )  # fmt: skip
        packet = HandoverPacket(identity=identity, topic=topic, summary=f"Do task {number}.")
        ledger = Ledger(folder.ledger_path(chain_id), KEY, clock=clock, new_id=clock.new_id)
        counted = {"estimated": 812, "delivered": 812, "limit": 3000, "turns": 0, "omitted": []}
        drafts = [about(packet, Prepared.model_validate({"packet": packet, **counted}))]
        if number % 7:
            drafts += [about(packet, Delivered(tokens=812)), about(packet, Accepted(implicit=True))]
            if number % 5:
                note = Note(what_happened="Done.")
                drafts.append(about(packet, Done(note=note, outcome="completed")))
        ledger.append(drafts)

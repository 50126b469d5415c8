"""Makes records the way the plugin does, with a clock and ids that a test can foresee."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from usr.plugins.software_orchestrator.helpers.flow import prepare
from usr.plugins.software_orchestrator.helpers.records import resources
from usr.plugins.software_orchestrator.helpers.records.book import Place, open_chain
from usr.plugins.software_orchestrator.helpers.records.folder import HandoverFolder
from usr.plugins.software_orchestrator.helpers.records.identity import writer_of
from usr.plugins.software_orchestrator.helpers.text import masking, tokens
from usr.plugins.software_orchestrator.helpers.values.call import Call, Caller, Ports
from usr.plugins.software_orchestrator.helpers.values.errors import HandoverError
from usr.plugins.software_orchestrator.helpers.values.events import (
    KINDS,
    Escalated,
    Event,
    Resumed,
    about,
    of_chain,
)
from usr.plugins.software_orchestrator.helpers.values.packet import Decision, HandoverPacket
from usr.plugins.software_orchestrator.helpers.values.settings import Settings, settings

KEY = b"k" * 32
OTHER_KEY = b"o" * 32
START = datetime(2026, 6, 5, 14, 3, tzinfo=UTC)
SETTINGS: Settings = settings(resources.default_settings())
HERO: dict[str, Any] = {
    "goal": "Replace the hero",
    "summary": "The old hero loads a video of 8 MB.",
    "next_action": "Build the static hero",
    "decisions": [
        {
            "id": "d1",
            "text": "No video",
            "rationale": "8 MB on phones",
            "evidence": ["lighthouse.json"],
        },
        {"id": "d2", "text": "Keep the headline"},
    ],
    "state": {"ticket": "WEB-12", "vat_id": {"status": "declined"}},
    "recent_turns": [{"role": "user", "content": "please make it fast"}],
}


class ChainMaker:
    """One project: its folder, and what happens in it minute by minute."""

    def __init__(
        self,
        root: Path,
        *,
        key: bytes = KEY,
        chat: str = "chat1",
        topic: str = "Landing page hero",
        seed: int = 0,
    ) -> None:
        root.mkdir(exist_ok=True)
        self.folder = HandoverFolder.open(str(root), create=True)
        self.now, self.number, self.topic, self.chat = START, seed, topic, chat
        self.key = key
        self.ports = Ports(
            lambda: self.now, self._new_id, masking.redact, tokens.counter, lambda: key
        )

    @property
    def chain_id(self) -> str:
        return self.folder.chain_id(self.topic, self.chat)

    @property
    def ledger(self) -> Path:
        return self.folder.ledger_path(self.chain_id, writer_of(self.key))

    def _new_id(self, prefix: str) -> str:
        self.number += 1
        return f"{prefix}-{self.number:016x}"

    def wait(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)

    def caller(self, **fields: Any) -> Caller:
        return Caller(**{"chat_id": self.chat, "project_root": str(self.folder.root), **fields})

    def call(self, **fields: Any) -> Call:
        return Call(self.caller(**fields), SETTINGS, self.ports)

    def hand_over(
        self, receiver: str = "frontend_designer", caller: dict[str, Any] | None = None, **args: Any
    ) -> HandoverPacket:
        """A handover by the orchestrator, with `HERO`'s arguments unless others are given."""
        given = {"specialist_profile": receiver, "topic": self.topic, **HERO, **args}
        return prepare.prepare(given, self.call(**(caller or {}))).packet

    def refuse(self, receiver: str = "a0_software_orchestrator", **args: Any) -> HandoverError:
        """A call that is refused and recorded."""
        try:
            self.hand_over(receiver, **args)
        except HandoverError as error:
            return error
        raise AssertionError("the call was not refused")

    def tell(self, packet: HandoverPacket, kind: str, /, **data: Any) -> Event:
        """An event of a handover, written as the reply side does: with its entry when it carries a packet."""
        place = Place(self.folder, packet.identity.chain_id)
        with open_chain(place, self.call()) as book:
            event = book.write(about(packet, KINDS[kind].model_validate(data)))[0]
            if data.get("packet"):
                book.brief(event)
        return event

    def stop(self, why: str, **data: Any) -> None:
        with open_chain(Place(self.folder, self.chain_id), self.call()) as book:
            escalated = Escalated(why=why, person_messages=1, **data)
            book.write(of_chain(escalated, self.chain_id))

    def resume(self) -> None:
        with open_chain(Place(self.folder, self.chain_id), self.call()) as book:
            book.write(of_chain(Resumed(by="person"), self.chain_id))

    def deliver(self, packet: HandoverPacket, *, queue: float = 1.0) -> None:
        """Delivered now, accepted after `queue` minutes."""
        self.tell(
            packet,
            "delivered",
            tokens=200,
            text_sha256="0" * 64,
            artifacts={"hero.css": "unchanged"},
            omitted=[],
            way="start",
        )
        self.wait(queue)
        self.tell(packet, "accepted", implicit=False)

    def hand_back(
        self,
        packet: HandoverPacket,
        verdict: str = "done",
        *,
        changes: dict[str, Any] | None = None,
        **data: Any,
    ) -> HandoverPacket:
        """The verdict, with the packet it leaves behind: `changes` on what was handed over."""
        returned = packet.model_copy(update=changes or {})
        note = {
            "what_happened": "Hero built",
            "observations": "",
            "user_state": "",
            "next": "Review",
            **data.pop("note", {}),
        }
        self.tell(
            packet,
            verdict,
            packet=returned.to_json(),
            note=note,
            implicit=False,
            **{"outcome": "completed", "hand_to": "", **data},
        )
        return returned


def decided(packet: HandoverPacket, identifier: str, text: str) -> dict[str, Any]:
    """The change of a packet that adds a decision."""
    return {
        "decisions": (
            *packet.decisions,
            Decision(id=identifier, text=text, owner="frontend_designer"),
        )
    }


def hero_chain(root: Path, **where: Any) -> ChainMaker:
    """A designer builds, a reviewer reads more history and asks, the designer's second run is at work: one of each."""
    made = ChainMaker(root, **where)
    first = made.hand_over()
    made.wait(1)
    made.deliver(first, queue=2)
    made.wait(30)
    made.hand_back(
        first, changes=decided(first, "d3", "AVIF with a PNG fallback"), hand_to="quality_reviewer"
    )
    review = made.hand_over(
        "quality_reviewer", summary="The hero is built.", next_action="Review it"
    )
    made.deliver(review, queue=20)
    made.tell(
        review,
        "history_read",
        reason="what did the person say about speed",
        range="last:20",
        tokens=1500,
    )
    made.wait(10)
    made.hand_back(review, "clarify", missing=["browsers"], already_held=["ticket"], outcome="")
    made.refuse()
    again = made.hand_over(
        summary="Reviewed; browsers are named.",
        state={"browsers": "last two versions"},
    )
    made.deliver(again)
    return made

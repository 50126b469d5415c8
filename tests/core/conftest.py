"""A desk to hand over from: a project folder, and ports whose clock, ids and key are the test's."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from usr.plugins.software_orchestrator.helpers.chain.chain import fold
from usr.plugins.software_orchestrator.helpers.flow import prepare, result
from usr.plugins.software_orchestrator.helpers.records import resources
from usr.plugins.software_orchestrator.helpers.records.book import Place, open_chain
from usr.plugins.software_orchestrator.helpers.records.folder import HandoverFolder, chain_of
from usr.plugins.software_orchestrator.helpers.records.ledger import Ledger
from usr.plugins.software_orchestrator.helpers.text.masking import redact
from usr.plugins.software_orchestrator.helpers.text.tokens import counter
from usr.plugins.software_orchestrator.helpers.values.call import Call, Caller, Ports
from usr.plugins.software_orchestrator.helpers.values.events import KINDS, about
from usr.plugins.software_orchestrator.helpers.values.settings import settings as checked

KEY = b"k" * 32
START = datetime(2026, 6, 5, 14, 3, tzinfo=UTC)


class Desk:
    """One chat with one project. `call` fills in what a test does not care about; `caller` is who calls."""

    def __init__(self, root: Path, **changes) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.settings = checked(resources.default_settings(), changes)
        self.now = START
        self._numbers = itertools.count(1)
        self.ports = Ports(
            clock=self._tick, new_id=self._id, mask=redact, counter=counter, key=lambda: KEY
        )
        self.caller = Caller(chat_id="chat1", project_root=str(root))

    def _tick(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def _id(self, prefix: str) -> str:
        return f"{prefix}-{next(self._numbers):016x}"

    def skip_ids(self, count: int) -> None:
        self._numbers = itertools.count(count)

    def call(self, to="solution_architect", *, caller=None, **arguments):
        """The `Prepared` of a call, with `arguments` beside a topic and the project."""
        return self.raw(
            {
                "specialist_profile": to,
                "topic": "Quote form",
                "project_root": str(self.root),
                **arguments,
            },
            caller,
        )

    def raw(self, arguments, caller=None):
        return prepare.prepare(arguments, self.as_call(caller))

    def as_call(self, caller=None) -> Call:
        return Call(caller or self.caller, self.settings, self.ports)

    def answer(self, prepared):
        return result.result(prepared)

    def person_writes(self, text="go on"):
        messages = (*self.caller.person_messages, text)
        self.caller = replace(
            self.caller, person_messages=messages, person_count=self.caller.person_count + 1
        )

    @property
    def folder(self) -> HandoverFolder:
        return HandoverFolder.open(str(self.root))

    def events(self):
        return tuple(
            event for path in self.folder.ledgers() for event in Ledger(path, KEY).read().events
        )

    def chain(self):
        (path,) = self.folder.ledgers()
        return fold(chain_of(path.name), Ledger(path, KEY).read().events)

    def tell(self, prepared, kind, **data):
        """Write an event about a handover as the receiving side does."""
        packet = prepared.packet
        place = Place(self.folder, packet.identity.chain_id)
        with open_chain(place, self.as_call(replace(self.caller, person_count=0))) as book:
            event = book.write(about(packet, KINDS[kind].model_validate(data)))[-1]
            if data.get("packet"):
                book.brief(event)
        return event

    def deliver(self, prepared):
        self.tell(
            prepared, "delivered", tokens=1, text_sha256="", artifacts={}, omitted=[], way="start"
        )

    def returns(self, prepared, kind="done", **packet_changes):
        """Deliver, accept and hand back, with the chain's packet changed as given."""
        self.deliver(prepared)
        self.tell(prepared, "accepted", implicit=False)
        newest = self.chain().newest
        packet = newest.model_copy(update={"identity": prepared.packet.identity, **packet_changes})
        self.tell(
            prepared,
            kind,
            packet=packet.to_json(),
            note={"what_happened": "it was done"},
            outcome="completed",
            implicit=False,
            hand_to="",
            person_messages=self.caller.person_count,
            **({"missing": ["vat_id"], "already_held": []} if kind == "clarify" else {}),
        )

    def inside(self, prepared, **more) -> Caller:
        """The receiver of a handover as a caller."""
        identity = prepared.packet.identity
        return replace(self.caller, sender=identity.receiver, inside=identity.handover_id, **more)

    def files(self):
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*"))

    def briefings(self):
        return "".join(path.read_text(encoding="utf-8") for path in self.folder.briefings())


@pytest.fixture(scope="session")
def open_desk(tmp_path_factory):
    """Makes desks, each with a folder of its own; for property tests, which need many."""
    return lambda **changes: Desk(tmp_path_factory.mktemp("project") / "root", **changes)


@pytest.fixture
def desk(open_desk):
    return open_desk()


@pytest.fixture(scope="session")
def settings():
    return checked(resources.default_settings())

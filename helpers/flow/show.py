"""One handover as a person wants to know it."""

from __future__ import annotations

from ..chain.chain import Chain, Handover
from ..records.book import briefing_path
from ..records.folder import HandoverFolder
from ..text.damage import losses
from ..text.quote import on_one_line, one_line
from ..values.call import Call
from ..values.names import quoted
from .answer import told_before
from .artifacts import Files
from .package import earlier_work, notices, package_of, with_turns
from .prepare import limits_of


def story_of(handover: Handover, chain: Chain, folder: HandoverFolder, call: Call) -> str:
    """What a person wants to know of one handover: who, what, state, when what happened, where it
    is written."""
    identity = handover.packet.identity
    lines = [
        f"{handover.id}: {identity.sender} → {identity.receiver}, {handover.state}",
        f"topic {one_line(handover.packet.topic)}, chain {chain.id}, hop {handover.hop},"
        f" depth {identity.depth}",
        f"briefing {on_one_line(str(briefing_path(folder, handover.packet)))}",
    ]
    for event in handover.events:
        lines.append(f"{event.time[:19].replace('T', ' ')} UTC  {event.kind}")
    lines += losses(chain.damage)
    if chain.stop:
        lines.append(
            f"the chain is stopped: {quoted(chain.stop, call.settings.handback_note_tokens)}"
        )
    if not handover.is_open and handover.state not in ("prepared", "superseded"):
        lines.append(told_before(handover, folder, call).note.rstrip())
    return "\n".join(lines)


def package_text(handover: Handover, chain: Chain, folder: HandoverFolder, call: Call) -> str:
    """The package as its specialist reads it now, within the limits that it travels with."""
    limits, files = limits_of(handover), Files(folder)
    packed = package_of(
        with_turns(handover.packet, limits),
        limits,
        folder,
        call,
        artifacts=files.status(handover.packet),
        notices=notices(chain, handover.prepared.tools),
        earlier=earlier_work(chain, handover.packet),
    )
    return packed.package.text

"""A specialist on another machine (Away): what goes there, that it arrived, and what came of it.

Nothing of an answer is trusted, and nobody there is the person. How it is asked is `remote/`'s.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import PurePath
from typing import Any

from ..arguments.answer_text import MOST_CHARS, reply_in
from ..chain import rules
from ..chain.chain import Chain, Handover
from ..records import resources, shelf
from ..records.artifacts import text_of
from ..records.folder import HandoverFolder
from ..records.identity import fingerprint_of, signer_of
from ..remote.protocol import Task
from ..text.fitting import Package
from ..text.masking import safe
from ..text.quote import fence, inert, one_line
from ..values.call import Call
from ..values.errors import RecordError, RefusedError, RemoteError, RequestError
from ..values.events import Accepted, Delivered, about
from ..values.packet import HandoverPacket
from ..values.parcel import Parcel, Terms, line_of
from ..values.remote import Remote
from . import close, receive
from .answer import Answer
from .artifacts import Files
from .package import earlier_work, notices, package_of, with_turns
from .prepare import limits_of
from .standing import held_by, holding, of_chat, task_of

INLINED_BYTES = 40_000
_NO_VERDICT = ("failed", "cancelled")  # how an installation of the plugin tells of these
_PERSONS_WORDS = ("recent_turns", "person_said")  # what `share: fields` keeps here


@dataclass(frozen=True)
class Outgoing:
    """A package for another machine; `delivered` is what the record will say of it."""

    handover: Handover
    text: str
    delivered: Delivered


def outgoing(handover_id: str, call: Call, remote: Remote) -> Outgoing:
    """The package as it is true now, with what the roster's entry lets out of this machine.

    Nothing is recorded yet. Raises RefusedError as `deliver`.
    """
    with holding(handover_id, call) as (book, handover):
        rules.check_deliverable(handover, book.chain, call.caller.inside, call.settings)
        limits, files = limits_of(handover), Files(book.folder)
        packet = with_turns(handover.packet, limits)
        status = files.status(packet)
        shared = shared_packet(packet, remote, book.folder)
        pairs = zip(shared.artifacts, packet.artifacts, strict=True)
        package = package_of(
            shared,
            limits,
            book.folder,
            call,
            artifacts={named.path: status[item.path] for named, item in pairs},
            notices=notices(book.chain, handover.prepared.tools, enforced=False),
            earlier=earlier_work(book.chain, packet),
            foot=resources.text("package_foot_remote"),
        ).package
        if remote.key:
            parcel = parcel_for(handover, shared, book.chain, call, remote)
            package = replace(package, text=f"{package.text}\n{parcel}")
        if remote.inline_artifacts:
            package = with_files(package, packet, limits.tokens, book.folder, call)
        delivered = Delivered(
            tokens=package.tokens,
            text_sha256=hashlib.sha256(package.text.encode()).hexdigest(),
            artifacts=status,
            omitted=package.omitted,
            way="remote",
            limit=limits.tokens,
            overflow=limits.overflow,
            include_recent_turns=len(shared.recent_turns),
            remote=remote.origin,
        )
        return Outgoing(handover, package.text, delivered)


def shared_packet(packet: HandoverPacket, remote: Remote, folder: HandoverFolder) -> HandoverPacket:
    """The packet without what stays here: `share: fields` keeps turns and the person's sentences,
    and nobody is told where on this machine a project lies."""
    kept: dict[str, Any] = {}
    if remote.share == "fields":
        kept = {name: () for name in _PERSONS_WORDS if name in type(packet).model_fields}
    artifacts = []
    for item in packet.artifacts:
        path = PurePath(item.path)
        inside = path.is_relative_to(folder.root)
        name = str(path.relative_to(folder.root)) if inside else item.path
        if path.is_absolute() and not inside:
            name = path.name
        artifacts.append(item.model_copy(update={"path": name}))
    return packet.model_copy(update={**kept, "artifacts": tuple(artifacts)})


def parcel_for(
    handover: Handover, shared: HandoverPacket, chain: Chain, call: Call, remote: Remote
) -> str:
    """The line with the same as a signed package, for the plugin there. Raises RemoteError."""
    signer = signer_of(call.ports.key())
    if signer is None:
        message = "a signed package needs the package cryptography"
        raise RemoteError(message, "pip install cryptography, or take `key` out of the entry")
    settings = call.settings
    line = (*chain.ancestors(handover.id), *chain.run(handover.id))
    visited = dict.fromkeys(item.receiver for item in line if item.id != handover.id)
    terms = Terms(
        depth=handover.packet.identity.depth,
        max_depth=settings.max_handover_depth,
        hops=max(0, settings.max_handovers_per_chain - len(chain.counted)),
        rounds=max(0, settings.max_handovers_per_chat - call.ports.rounds.made),
        visited=tuple(visited),
        tools=handover.prepared.tools,
        onward=remote.remote_onward,
    )
    parcel = Parcel(
        by=signer.public,
        to=fingerprint_of(remote.key),
        handover=handover.id,
        expires=call.ports.clock() + timedelta(minutes=remote.timeout_minutes),
        terms=terms,
        packet=shared,
    )
    return line_of(parcel, signer.sign)


def with_files(
    package: Package, packet: HandoverPacket, limit_tokens: int, folder: HandoverFolder, call: Call
) -> Package:
    """The package and, as far as the limit goes, the small text files that it names."""
    count, omitted = call.ports.counter().count, list(package.omitted)
    for item in packet.artifacts:
        name = one_line(os.path.basename(item.path), 60)  # noqa: PTH119 - it may be no path
        content = text_of(folder.root, item.path, INLINED_BYTES)
        if content is None:
            omitted.append(f"file {name}: not inlined, it is no small text file of the project")
            continue
        words = safe(content, call.ports.mask)[0]
        block = inert(f"\n## File {name}\n{fence(words)}")
        tokens = count(block)
        if package.tokens + tokens > limit_tokens:
            omitted.append(f"file {name}: not inlined, {tokens:,} tokens do not fit")
            continue
        package = replace(package, text=package.text + block, tokens=package.tokens + tokens)
    return replace(package, omitted=tuple(omitted))


def sent(parcel: Outgoing, task: Task, call: Call) -> None:
    """The task exists there: delivered. Raises RemoteError for ids that cannot be kept."""
    for identifier in (task.id, task.context):
        if call.ports.mask(identifier) != identifier:
            raise RemoteError("the id of its task looks like a secret and is not kept")
    delivered = parcel.delivered.model_copy(update={"task": task.id, "context": task.context})
    with holding(parcel.handover.id, call) as (book, handover):
        rules.check_deliverable(handover, book.chain, call.caller.inside, call.settings)
        book.write(about(handover.packet, delivered))


def noticed(handover_id: str, state: str, call: Call) -> None:
    """Who works there has accepted. Raises RefusedError where the handover was closed meanwhile."""
    handover = held_by(handover_id, call)
    if not handover.is_open:
        message = f"{handover_id} was closed here ({handover.state}) while it worked there"
        raise RefusedError(message, "", "nothing_open")
    if state == "working" and handover.state in Accepted.follows:
        receive.touch(handover_id, call)


def asked_there(handover: Handover, remote: Remote, call: Call) -> Delivered | None:
    """The task that asked what this handover answers, where it was asked on the same machine."""
    if not handover.prepared.answers:
        return None
    with holding(handover.prepared.answers, call) as (_, asked):
        delivered = task_of(asked)
    return delivered if delivered and delivered.remote == remote.origin else None


def came_to(handover_id: str, task: Task, call: Call, remote: Remote) -> Answer:
    """What a task that stopped means: the handover is closed, or (`ends` false) goes on with
    `message`, which holds what was asked for."""
    known = close.outcome_of(handover_id, call)
    if known:
        return known
    said, status = task.said[:MOST_CHARS].strip(), task.status[:MOST_CHARS].strip()
    where = remote.origin
    match task.state:
        case "completed":
            return _completed(handover_id, said, call, where)
        case "input-required":
            asked = status or said or "it did not say what it needs"
            return _verdict(handover_id, {"verdict": "clarify", "missing": [asked]}, call)
        case "rejected":
            why = status or said or f"{where} rejected the work and gave no reason"
            return _verdict(handover_id, {"verdict": "reject", "reason": why}, call)
        case "canceled":
            why = f"the task was cancelled on {where}: {status or said}".strip(": ")
            return close.close(handover_id, "cancelled", why, call)
        case "auth-required":
            why = f"{where} wants a login that it was not given: {status or said}".strip(": ")
        case "failed":
            why = f"the task failed on {where}: {status or said}".strip(": ")
        case _:
            why = f"the task on {where} is in an unknown state: {one_line(task.state, 60)}"
    return close.close(handover_id, "failed", why, call)


def _completed(handover_id: str, said: str, call: Call, where: str) -> Answer:
    """A verdict where one can be read, else done as it said."""
    reply = reply_in(said)
    if reply is not None and reply.get("verdict") in _NO_VERDICT:
        why = f"{where}: {one_line(str(reply.get('reason', '')), 500)}"
        return close.close(handover_id, str(reply["verdict"]), why, call)
    if reply is not None and reply.get("verdict") != "accept":
        try:
            return _verdict(handover_id, _without_files(reply, where), call)
        except (RequestError, RefusedError):
            pass  # no verdict that can be taken: all it said is kept below
    return close.close(handover_id, "done", "", call, said=said or "(it said nothing)")


def _verdict(handover_id: str, reply: Mapping[str, Any], call: Call) -> Answer:
    inside = replace(call, caller=replace(call.caller, inside=handover_id))
    return receive.reply(reply, inside, asks_again=False)


def _without_files(reply: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A file there is not one of the same name here: it is told, not taken for an artifact."""
    told = dict(reply)
    files = told.pop("artifacts", None)
    if files:
        notes = told.get("notes") or []
        notes = list(notes) if isinstance(notes, list | tuple) else [notes]
        told["notes"] = [*notes, f"Files on {where}, not shared: {one_line(str(files), 1000)}"]
    return told


def under_way(call: Call) -> tuple[Handover, ...]:
    """What is open on another machine in this chat's chains, in the call's folder."""
    folder = HandoverFolder.open(call.caller.project_root)
    found: list[Handover] = []
    for chain_id in shelf.chains_of_chat(folder, call.caller.chat_id):
        try:
            chain = shelf.peek(folder, chain_id, call)
        except RecordError:
            continue  # `standing` names it
        if of_chat(chain, folder, call.caller.chat_id):
            found.extend(item for item in chain.open if task_of(item))
    return tuple(found)

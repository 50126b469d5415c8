"""The flow as it will be called: with one `call`. Goes when `flow/` itself takes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..chain.chain import Handover
from ..flow import deliver as flow_deliver
from ..flow import history as flow_history
from ..flow import prepare as flow_prepare
from ..flow import receive as flow_receive
from ..flow import standing as flow_standing
from ..flow.answer import Answer
from ..flow.deliver import Delivery
from ..flow.package import Limits
from ..flow.prepare import Prepared
from ..history.answer import HistoryAnswer, Scope
from ..history.transcript import Transcript
from ..values.call import Call, Caller, Ports
from ..values.errors import RefusedError
from ..values.roster import Specialist
from ..values.settings import Settings


def _parts(call: Call) -> tuple[Caller, Settings, Ports]:
    return call.caller, call.settings, call.ports


class prepare:  # noqa: N801
    @staticmethod
    def prepare(args: Mapping[str, Any], call: Call) -> Prepared:
        return flow_prepare.prepare(args, *_parts(call))


class deliver:  # noqa: N801
    @staticmethod
    def deliver(
        handover_id: str, call: Call, *, way: str, beside: str = "", limits: Limits | None = None
    ) -> Delivery:
        return flow_deliver.deliver(
            handover_id, *_parts(call), way=way, beside=beside, limits=limits
        )


class receive:  # noqa: N801
    @staticmethod
    def reply(args: Mapping[Any, Any], call: Call) -> Answer:
        return flow_receive.reply(args, *_parts(call))

    @staticmethod
    def touch(handover_id: str, call: Call) -> str:
        return flow_receive.touch(handover_id, *_parts(call))

    @staticmethod
    def interrupt(handover_id: str, why: str, call: Call) -> None:
        flow_receive.interrupt(handover_id, why, *_parts(call))

    @staticmethod
    def note_failed_start(handover_id: str, error: RefusedError, call: Call) -> None:
        flow_receive.note_failed_start(handover_id, error, *_parts(call))


class close:  # noqa: N801
    @staticmethod
    def close(handover_id: str, kind: str, why: str, call: Call, *, said: str = "") -> Answer:
        return flow_receive.close(handover_id, kind, why, *_parts(call), said=said)

    @staticmethod
    def outcome_of(handover_id: str, call: Call) -> Answer | None:
        return flow_receive.outcome_of(handover_id, *_parts(call))

    @staticmethod
    def sweep(alive: frozenset[str], call: Call) -> tuple[str, ...]:
        return flow_receive.sweep(set(alive), call.caller.project_root, *_parts(call))


class onward:  # noqa: N801
    @staticmethod
    def next_leg(handover_id: str, call: Call) -> Prepared:
        return flow_receive.next_leg(handover_id, *_parts(call))


class standing:  # noqa: N801
    @staticmethod
    def held_by(handover_id: str, call: Call) -> Handover:
        return flow_standing.held_by(handover_id, *_parts(call))

    @staticmethod
    def standing(call: Call) -> tuple[str, ...]:
        return flow_standing.standing(call.caller.project_root, *_parts(call))

    specialist_of = staticmethod(flow_standing.specialist_of)


class history:  # noqa: N801
    @staticmethod
    def full_history(
        args: Mapping[Any, Any], number: int, load: Callable[[Scope], Transcript], call: Call
    ) -> HistoryAnswer:
        return flow_history.full_history(args, number, load, *_parts(call))


def start(prepared: Prepared) -> bool:
    return prepared.plan.request.start


def project_root(prepared: Prepared) -> str:
    return prepared.plan.request.project_root


def specialist(prepared: Prepared) -> Specialist:
    return prepared.plan.specialist


def limits(prepared: Prepared) -> Limits:
    return prepared.plan.limits

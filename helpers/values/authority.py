"""What a receiver may do: never more than whoever gives it."""

from __future__ import annotations

from collections.abc import Iterable

from .events import Asked
from .names import key
from .packet import Authority

NOTHING_ASKED = Authority()


def narrowed(
    giver: Authority | None, asked: Authority | Asked | None
) -> tuple[Authority, tuple[str, ...]]:
    """What the receiver may do, and what was asked for in vain; no giver: unrestricted."""
    limit, wanted = giver or Authority(), asked or NOTHING_ASKED
    granted = _once(wanted.granted)
    denied = _once((*limit.denied, *wanted.denied))
    allowed = granted or limit.granted
    if limit.granted:
        allowed = _among(granted, limit.granted) or limit.granted
    # An empty list would mean "everything": what is denied stays listed when nothing else is left.
    kept = _outside(allowed, denied) or allowed
    beyond = (*_outside(granted, allowed), *_among(granted, limit.denied))
    return Authority(granted=kept, denied=denied), _once(beyond)


def bounded(authority: Authority, limit: Authority) -> Authority:
    """What both allow; where they have nothing in common everything listed is denied."""
    denied = _once((*authority.denied, *limit.denied))
    if not (authority.granted and limit.granted):
        return Authority(granted=authority.granted or limit.granted, denied=denied)
    common = _among(authority.granted, limit.granted)
    if common:
        return Authority(granted=common, denied=denied)
    return Authority(granted=authority.granted, denied=_once((*denied, *authority.granted)))


def _right(words: str) -> str:
    """One right in all its spellings: "deploy", "Deploy." and "to deploy"."""
    return key(words).removeprefix("to ")


def _among(items: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    known = set(map(_right, others))
    return tuple(item for item in items if _right(item) in known)


def _outside(items: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    known = set(map(_right, others))
    return tuple(item for item in items if _right(item) not in known)


def _once(items: Iterable[str]) -> tuple[str, ...]:
    """Each right once, in its first spelling."""
    rights: dict[str, str] = {}
    for item in items:
        rights.setdefault(_right(item), item)
    return tuple(rights.values())

"""Other installations that this one believes, and those it works for: two permissions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]


class Trusted(BaseModel):
    """An installation by its public key (64 hex digits): what it recorded is inherited like one's
    own. With `work` it may also hand work over to here: in `project`, to `profiles` alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Text
    key: Annotated[str, StringConstraints(to_lower=True, pattern="^[0-9a-fA-F]{64}$")]
    work: bool = False
    project: str = Field(default="", max_length=200)
    profiles: tuple[Text, ...] = ()


def named(trusted: Iterable[Trusted], key: str) -> Trusted | None:
    """The trusted installation with that public key."""
    return next((item for item in trusted if item.key == key), None)


@dataclass(frozen=True)
class Trust:
    """Whose record counts beside what this installation's key signed: earlier keys of its own
    (`former`), and the installations that it trusts."""

    former: tuple[bytes, ...] = ()
    trusted: tuple[Trusted, ...] = ()


NOBODY_ELSE = Trust()

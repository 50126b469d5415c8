"""A specialist on another machine: where it answers over A2A, and what of a handover may go there."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    StringConstraints,
    TypeAdapter,
)

_SECRET = re.compile(r"§§secret\([A-Za-z_][A-Za-z0-9_]*\)")
_URL: TypeAdapter[HttpUrl] = TypeAdapter(HttpUrl)
_MOST_URL_CHARS = 2000


def _address(text: str) -> str:
    """The address as it is asked. Plain http would let a token be read on the way, unless to here."""
    if len(text) > _MOST_URL_CHARS:
        raise ValueError("is too long")
    url = _URL.validate_python(text.strip())
    if url.username or url.password:
        raise ValueError("must hold no user or password: the token is for that")
    if url.query or url.fragment:
        raise ValueError("must hold no ? or #")
    if url.scheme != "https" and not _is_this_machine(url.host or ""):
        raise ValueError("must be https, or http to this machine")
    return str(url)


def _is_this_machine(host: str) -> bool:
    if host.rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _reference(text: str) -> str:
    """A token itself never stands in the settings, which pages show and files keep."""
    if text and not _SECRET.fullmatch(text.strip()):
        raise ValueError('must be "§§secret(NAME)", the name of a secret of the host')
    return text.strip()


def origin(url: str) -> str:
    """`https://host:8443` of an address, its port always told: what a record may hold of it."""
    parsed = _URL.validate_python(url)
    return f"{parsed.scheme}://{parsed.host}:{parsed.port}"


class Remote(BaseModel):
    """`remote` of a roster's entry; what each field means is told in `default_config.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: Annotated[str, AfterValidator(_address)]
    token: Annotated[str, AfterValidator(_reference)] = ""
    key: Annotated[str, StringConstraints(to_lower=True, pattern="^([0-9a-fA-F]{64})?$")] = ""
    timeout_minutes: float = Field(default=30, gt=0, le=1440, allow_inf_nan=False)
    share: Literal["fields", "turns"] = "fields"
    inline_artifacts: bool = False
    remote_onward: bool = False

    @property
    def origin(self) -> str:
        return origin(self.url)

"""Who an installation is to others: an Ed25519 key pair (RFC 8032), made from its one secret.

A public key is written as 64 hex digits; its fingerprint, 32 hex digits, is the beginning of its
sha256. Without the package cryptography nothing is signed and nothing of others verified.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ..values.trust import Trust, Trusted

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PUBLIC_KEY = re.compile(r"[0-9a-f]{64}")
log = logging.getLogger(__name__)

OURSELVES = "this installation"
_SIGNATURE = re.compile(r"[0-9a-f]{128}")
_PURPOSE = b"software_orchestrator ed25519"
_WRITER = b"software_orchestrator writer"


@dataclass(frozen=True)
class Signer:
    """This installation, as one that signs."""

    public: str
    _private: Ed25519PrivateKey

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(self.public)

    def sign(self, content: bytes) -> str:
        """128 hex digits."""
        return self._private.sign(content).hex()


@lru_cache(maxsize=8)
def signer_of(secret: bytes) -> Signer | None:
    """The signer of an installation's secret (`Ports.key`), None without cryptography."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        log.warning("the package cryptography is missing: what is recorded is not signed for others")
        return None
    private = Ed25519PrivateKey.from_private_bytes(hmac.digest(secret, _PURPOSE, "sha256"))
    return Signer(private.public_key().public_bytes_raw().hex(), private)


def fingerprint_of(public: str) -> str:
    """Of a public key as 64 hex digits. Raises ValueError for what is none."""
    if not PUBLIC_KEY.fullmatch(public):
        raise ValueError("a public key is 64 hex digits")
    return hashlib.sha256(bytes.fromhex(public)).hexdigest()[:32]


def fingerprint(secret: bytes) -> str:
    """That of an installation by its secret, "" without cryptography."""
    signer = signer_of(secret)
    return signer.fingerprint if signer else ""


def names_of(secret: bytes, trust: Trust) -> Mapping[str, str]:
    """What this installation calls those whom it believes, by fingerprint; itself first."""
    earlier = dict.fromkeys(map(fingerprint, trust.former), f"{OURSELVES}, an earlier key")
    others = {by: item.name for by, item in by_fingerprint(trust.trusted).items()}
    return {fingerprint(secret): OURSELVES, **earlier, **others}


def writer_of(secret: bytes) -> str:
    """8 hex digits, the writer's part of the names of its ledgers."""
    signer = signer_of(secret)
    return signer.fingerprint[:8] if signer else hmac.digest(secret, _WRITER, "sha256").hex()[:8]


def by_fingerprint(trusted: Iterable[Trusted]) -> Mapping[str, Trusted]:
    return {fingerprint_of(item.key): item for item in trusted}


def verified(public: str, content: bytes, signature: str) -> bool:
    """Whether that key signed this; False for what is no key or no signature, and without
    cryptography."""
    if not PUBLIC_KEY.fullmatch(public) or not _SIGNATURE.fullmatch(signature):
        return False
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(
            bytes.fromhex(signature), content
        )
    except (InvalidSignature, ValueError):
        return False
    return True

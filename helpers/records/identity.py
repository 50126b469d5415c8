"""Who an installation is to others: an Ed25519 key pair (RFC 8032), made from its one secret.

A public key is written as 64 hex digits; its fingerprint, 32 hex digits, is the beginning of its
sha256. Without the package cryptography nothing is signed and nothing of others verified.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PUBLIC_KEY = re.compile(r"[0-9a-f]{64}")
_SIGNATURE = re.compile(r"[0-9a-f]{128}")
_PURPOSE = b"software_orchestrator ed25519"


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
        return None
    private = Ed25519PrivateKey.from_private_bytes(hmac.digest(secret, _PURPOSE, "sha256"))
    return Signer(private.public_key().public_bytes_raw().hex(), private)


def fingerprint_of(public: str) -> str:
    """Of a public key as 64 hex digits. Raises ValueError for what is none."""
    if not PUBLIC_KEY.fullmatch(public):
        raise ValueError("a public key is 64 hex digits")
    return hashlib.sha256(bytes.fromhex(public)).hexdigest()[:32]


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

"""What may never reach the disk, a package or a screen as it came: secrets, and halves of characters.

`redact` knows the shapes of common credentials; the exact values of the person's own secrets are masked by the host first.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from typing import Any

_KINDS: tuple[tuple[str, str], ...] = (
    ("private_key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\Z)"),
    ("anthropic_key", r"\bsk-ant-[A-Za-z0-9_\-]{8,}"),
    ("openai_key", r"\bsk-(?:proj-|svcacct-|admin-)[A-Za-z0-9_\-]{8,}|\bsk-[A-Za-z0-9]{20,}\b"),
    ("openrouter_key", r"\bsk-or-(?:v1-)?[A-Za-z0-9]{16,}"),
    ("stripe_key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    ("github_token", r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,})"),
    ("gitlab_token", r"\bglpat-[A-Za-z0-9_\-]{16,}"),
    ("aws_access_key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("google_key", r"\bAIza[A-Za-z0-9_\-]{30,}"),
    ("slack_token", r"\bxox[abeoprs]-[A-Za-z0-9\-]{10,}"),
    ("huggingface_token", r"\bhf_[A-Za-z0-9]{20,}"),
    ("npm_token", r"\bnpm_[A-Za-z0-9]{20,}"),
    ("jwt", r"\beyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{4,}\.[A-Za-z0-9_\-]*"),
)
_SHAPES = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS), re.DOTALL)
# In these a part around the secret stays readable: group 1 is kept, group 2 is the secret.
_AROUND: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("authorization", re.compile(r"(?i)(\b(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token|apikey|digest)\s+)([^\s\"'<>,;]{4,})")),
    ("authorization", re.compile(r"(?i)(\bbearer\s+)(?=[A-Za-z0-9_\-.~+/=]*\d)([A-Za-z0-9_\-.~+/]{16,}=*)")),
    ("url_password", re.compile(r"(?i)(\b[a-z][a-z0-9+.\-]{1,24}://[^\s:/@?#]{0,128}:)([^\s/@]{1,256})(?=@)")),
    (
        "credential",
        re.compile(
            r"(?i)(\b(?:[a-z0-9]{1,24}[_\-]){0,3}(?:password|passwd|api[_\-]?key|secret[_\-]?key|access[_\-]?token|client[_\-]?secret)"
            r"[\"']?\s?[:=]\s?[\"']?)(?!\[REDACTED|§§|\$|<|\{)(?=[^\s\"']*[0-9])([^\s\"',;<>&]{8,})"
        ),
    ),
)
# Cheap tests that decide whether the patterns above can match at all.
_HINT = re.compile(r"-----BEGIN|sk-|[rs]k_|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|AIza|xox|hf_|npm_|eyJ|://|(?i:authorization|bearer|passw|key|token|secret)")

Mask = Callable[[str], str]


def redact(text: str) -> str:
    """The text with credentials replaced by `[REDACTED:<kind>]`; idempotent."""
    if not _HINT.search(text):
        return text
    text = _SHAPES.sub(lambda match: f"[REDACTED:{match.lastgroup}]", text)
    for kind, pattern in _AROUND:
        text = pattern.sub(rf"\g<1>[REDACTED:{kind}]", text)
    return text


def safe(text: str, mask: Mask) -> tuple[str, bool]:
    """What may be kept of a text: characters whole, embedded files told by size and hash, secrets masked.

    Also tells whether a lone half of a character was replaced.
    """
    whole, lone = clean(text)
    return mask(without_files(whole)), lone


_DATA_URI = re.compile(
    r"\bdata:(?P<type>[\w.+\-]{1,80}/[\w.+\-]{1,80})?(?:;[\w.+\-]{1,40}=[\w.+\-]{1,80}){0,4}(?P<base64>;base64)?,"
    r"(?P<data>[^\s\"'<>()\[\]`]{200,})"
)


def without_files(text: str) -> str:
    """The text with each data URI of 200 characters and more told as `[image/png, 106,200 bytes, sha256 1f2e3d4c5b6a7988]`."""
    return _DATA_URI.sub(_told, text) if "data:" in text else text


def _told(match: re.Match[str]) -> str:
    data = match["data"].encode("utf-8", "surrogatepass")
    if match["base64"]:
        plain = data.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
        try:
            data = base64.b64decode(plain + b"=" * (-len(plain) % 4))
        except (ValueError, binascii.Error):
            pass
    return f"[{match['type'] or 'text/plain'}, {len(data):,} bytes, sha256 {hashlib.sha256(data).hexdigest()[:16]}]"


def clean(text: str) -> tuple[str, bool]:
    """Joins surrogate pairs to one character and replaces lone halves by U+FFFD; tells whether any was lone."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole, whole.count("\ufffd") > text.count("\ufffd")
    return text, False


def map_text(value: Any, change: Mask) -> Any:
    """The same JSON value with `change` applied to every string in it, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {map_text(key, change): map_text(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [map_text(item, change) for item in value]
    return value

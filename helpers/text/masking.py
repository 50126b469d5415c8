"""What may never reach the disk, a package or a screen as it came: secrets, and halves of characters.

`redact` knows the shapes of common credentials; the exact values of the person's own secrets are masked by the host first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .embedded import without_files

_START = r"(?<![A-Za-z0-9])"  # not \b: a key may follow a Chinese character
_BEGIN, _END = (
    rf"-----{word} (?:[A-Z0-9]{{1,20}} ){{0,4}}PRIVATE KEY(?: BLOCK)?-----"
    for word in ("BEGIN", "END")
)
_KINDS: tuple[tuple[str, str], ...] = (
    ("private_key", rf"{_BEGIN}.*?(?:{_END}|\Z)"),
    ("anthropic_key", rf"{_START}sk-ant-[A-Za-z0-9_\-]{{8,}}"),
    ("openrouter_key", rf"{_START}sk-or-(?:v1-)?[A-Za-z0-9]{{16,}}"),
    (
        "openai_key",
        rf"{_START}sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_\-]{{8,}}|[A-Za-z0-9]{{20,}})",
    ),
    ("stripe_key", rf"{_START}[rs]k_(?:live|test)_[A-Za-z0-9]{{10,}}"),
    ("github_token", rf"{_START}(?:gh[pousr]_[A-Za-z0-9]{{16,}}|github_pat_[A-Za-z0-9_]{{20,}})"),
    ("gitlab_token", rf"{_START}glpat-[A-Za-z0-9_\-]{{16,}}"),
    ("aws_access_key", rf"{_START}(?:AKIA|ASIA)[A-Z0-9]{{16}}(?![A-Za-z0-9])"),
    ("google_key", rf"{_START}AIza[A-Za-z0-9_\-]{{30,}}"),
    ("slack_token", rf"{_START}xox[abeoprs]-[A-Za-z0-9\-]{{10,}}"),
    ("huggingface_token", rf"{_START}hf_[A-Za-z0-9]{{20,}}"),
    ("npm_token", rf"{_START}npm_[A-Za-z0-9]{{20,}}"),
    ("sendgrid_key", rf"{_START}SG\.[A-Za-z0-9_\-]{{16,64}}\.[A-Za-z0-9_\-]{{16,}}"),
    (
        "pypi_token",
        rf"{_START}pypi-(?=[A-Za-z0-9_\-]{{0,200}}[A-Z])(?=[A-Za-z0-9_\-]{{0,200}}[0-9])[A-Za-z0-9_\-]{{32,}}",
    ),
    ("digitalocean_token", rf"{_START}do[opr]_v1_[A-Za-z0-9]{{32,}}"),
    ("google_token", rf"{_START}ya29\.[A-Za-z0-9_\-]{{20,}}"),
    # Starts only where a run of its letters starts, so that a long run is read once.
    ("jwt", r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{4,}\.[A-Za-z0-9_\-]*"),
)
_SHAPES = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS), re.DOTALL)
_LONG_NAME = (
    r"pass(?:word|wd|phrase)|pwd|(?:api|secret|access|sharedaccess|account|private|signing|encryption|auth)[_\-]?key"
    r"|client[_\-]?secret"
    r"|(?:access|auth|refresh|session|api|bot|id)[_\-]?token"
)
_SHORT_NAME = "secret|token"  # words of prose too: only long values count
_HEADER = rf"{_START}(?:proxy-)?authorization[\"']?\s{{0,9}}[:=]\s{{0,9}}[\"']?"
_VALUE = r"[^\s\"',;<>&]"


def _assigned(names: str, least: int, also: str = "") -> re.Pattern[str]:
    """`name = value`, where the value has a digit and `least` characters and is no placeholder; `also` is a look-ahead."""
    return re.compile(
        rf"(?i)({_START}(?:[a-z0-9]{{1,24}}[_\-]){{0,3}}(?:{names})[\"']?\s?[:=]\s?[\"']?)"
        rf"(?!\[REDACTED|§§|\$|<|\{{)(?={_VALUE}{{0,200}}[0-9]){also}({_VALUE}{{{least},}})"
    )


# In these a part around the secret stays readable: group 1 is kept, group 2 is the secret.
_AROUND: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "authorization",
        re.compile(
            rf"(?i)({_HEADER}(?:bearer|basic|token|apikey|digest)\s{{1,9}})"
            r"([^\s\"'<>,;]{4,})"
        ),
    ),
    (
        "authorization",
        re.compile(rf"(?i)({_HEADER})(?!\[REDACTED)(?={_VALUE}{{0,200}}[0-9])({_VALUE}{{12,}})"),
    ),
    (
        "authorization",
        re.compile(
            rf"(?i)({_START}bearer\s{{1,9}})(?=[A-Za-z0-9_\-.~+/=]{{0,200}}\d)([A-Za-z0-9_\-.~+/]{{16,}}=*)"
        ),
    ),
    # A password may hold "@" or "/"; a port before a path is none. What is masked already is neither name nor password.
    (
        "url_password",
        re.compile(
            rf"(?i)({_START}[a-z][a-z0-9+.\-]{{1,24}}://(?:\[REDACTED:[a-z_]{{1,40}}\]|(?!\[REDACTED:)[^\s:/@?#]){{0,128}}:)(?!\[REDACTED:[a-z_]{{1,40}}\]@)"
            r"([^\s/\"'<>]{1,128}(?=@[^\s@])|(?!\d{1,5}[/?#])[^\s\"'<>@]{1,128}(?=@[^\s@]))"
        ),
    ),
    ("credential", _assigned(_LONG_NAME, 8)),
    # A long number beside "token" is a count or an id as often as not.
    ("credential", _assigned(_SHORT_NAME, 16, also=rf"(?={_VALUE}{{0,200}}[a-z])")),
)
# Cheap tests that decide whether the patterns above can match at all.
_HINTS = (
    "-----BEGIN", "sk-", "sk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA", "ASIA", "AIza",
    "xox", "hf_", "npm_", "eyJ", "SG.", "pypi-", "dop_v1_", "doo_v1_", "dor_v1_", "ya29.", "://",
)  # fmt: skip
_WORD_HINTS = ("authorization", "bearer", "pass", "pwd", "key", "token", "secret")


def _may_hold_a_secret(text: str) -> bool:
    if any(hint in text for hint in _HINTS):
        return True
    lower = text.lower()
    return any(hint in lower for hint in _WORD_HINTS)


Mask = Callable[[str], str]


def redact(text: str) -> str:
    """The text with credentials replaced by `[REDACTED:<kind>]`; idempotent."""
    if not _may_hold_a_secret(text):
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


def clean(text: str) -> tuple[str, bool]:
    """Joins surrogate pairs to one character and replaces lone halves by U+FFFD; tells whether any was lone."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole, whole.count("\ufffd") > text.count("\ufffd")
    return text, False


def map_text(value: Any, change: Mask) -> Any:
    """The same JSON value with `change` applied to every string in it, keys included; keys that become alike get a number."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        changed: dict[Any, Any] = {}
        for key, item in value.items():
            name, number = map_text(key, change), 1
            while name in changed:
                number += 1
                name = f"{map_text(key, change)} ({number})"
            changed[name] = map_text(item, change)
        return changed
    if isinstance(value, (list, tuple)):
        return [map_text(item, change) for item in value]
    return value

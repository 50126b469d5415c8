"""What may never reach the disk, a package or a screen as it came: secrets, and halves of characters.

`redact` knows the shapes of common credentials; the exact values of the person's own secrets are masked by the host first.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

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


_URI = re.compile(
    r"(?i)(?<![a-z0-9])data:(?P<type>[\w.+\-]{1,80}/[\w.+\-]{1,80})?(?:\s?;\s?(?!base64)[\w.+\-]{1,40}=[\w.+\-]{1,80}){0,4}"
    r"(?P<base64>\s?;\s?base64)?\s?,"
)
_GAP = (
    r"(?:\s{1,16}|\\[nrt]|%0[ad]|%20)"  # where base64 is wrapped, also as JSON or a URI writes it
)
_CODE = r"(?:[a-z0-9+/_\-]{1,512}|%2[bf]|\\/|\\u002[bf])"
_PADDING = r"(?:=|%3d|\\u003d){0,2}"
_GAPS = re.compile(rf"(?i){_GAP}{{0,4}}")
_CODE_LINE = re.compile(rf"(?i)((?:{_CODE})*+)({_PADDING})")
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_PLAIN_DATA = re.compile(r"[^\s\"'<>()\[\]`]+")
_NO_WORD = re.compile(r"[a-z]\d|\d[a-z]|[a-z][A-Z]")
SHORTEST_FILE = 200  # characters of a data URI that is worth a line of its own
_MOST_COLUMNS, _FEWEST_COLUMNS, _SHORTEST_REST = 128, 32, 16


def without_files(text: str) -> str:
    """The text with each data URI of 200 characters and more told as `[image/png, 106,200 bytes, sha256 1f2e3d4c5b6a7988]`.

    Upper case, a blank behind the comma, percent-encoded bytes and base64 that is wrapped, also by an escaped `\\n`, are the same
    file: its size and hash are those of the bytes.
    """
    if "data:" not in text.lower():
        return text
    parts: list[str] = []
    done = 0
    while (match := _URI.search(text, done)) is not None:
        end, data = _file_in(text, match)
        parts.append(text[done : match.start() if data is not None else end])
        if data is not None:
            kind = (match["type"] or "text/plain").lower()
            parts.append(
                f"[{kind}, {len(data):,} bytes, sha256 {hashlib.sha256(data).hexdigest()[:16]}]"
            )
        done = end
    return "".join((*parts, text[done:]))


def _file_in(text: str, match: re.Match[str]) -> tuple[int, bytes | None]:
    """Where the data URI ends, and its bytes; None where it is too short to be told."""
    if match["base64"]:
        end, code = _base64_at(text, match.end())
        if len(code) < SHORTEST_FILE:
            return match.end(), None
        plain = code.translate(str.maketrans("-_", "+/")).encode()
        with suppress(ValueError, binascii.Error):
            return end, base64.b64decode(plain + b"=" * (-len(plain) % 4))
        return end, plain
    found = _PLAIN_DATA.match(text, match.end())
    if found is None or len(found[0]) < SHORTEST_FILE:
        return match.end(), None
    unescaped = re.sub(r"\\[nrt]", "", found[0])
    return found.end(), _PERCENT.sub(_byte, unescaped.encode("utf-8", "surrogatepass"))


def _byte(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 16)])


def _base64_at(text: str, start: int) -> tuple[int, str]:
    """Where base64 that begins here ends, and the code without padding and line ends.

    A line below belongs to it when the lines are those of wrapped base64: all but the first and the last of one length.
    """
    codes: list[str] = []
    end, columns = start, 0
    while True:
        begun = _GAPS.match(text, end)
        line = _CODE_LINE.match(text, begun.end() if begun else end)
        assert line is not None  # it may be empty
        code, padded = _plain_code(line[1]), bool(line[2])
        if len(codes) == 1:
            columns = len(code) if len(codes[0]) <= _MOST_COLUMNS else 0
        last = padded or len(code) != columns
        if codes and not _goes_on(text, line, code, columns, padded):
            break
        codes.append(code)
        end = line.end()
        if padded or (len(codes) > 1 and last) or not code:
            break
    return end, "".join(codes)


def _goes_on(text: str, line: re.Match[str], code: str, columns: int, padded: bool) -> bool:
    """Whether this line belongs to the wrapped base64 above it."""
    if columns < _FEWEST_COLUMNS:
        return False
    ends = (
        line.end() == len(text) or text[line.end()] in "\\\"'<>()[]`%" or text[line.end()].isspace()
    )
    if not ends or len(code) > columns:
        return False
    if padded or len(code) == columns or len(code) >= _SHORTEST_REST:
        return True
    return len(code) % 4 == 0 and bool(_NO_WORD.search(code))


def _plain_code(code: str) -> str:
    if "%" in code or "\\" in code:
        code = re.sub(r"(?i)%2b|\\u002b", "+", code)
        code = re.sub(r"(?i)%2f|\\/|\\u002f", "/", code)
    return code


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

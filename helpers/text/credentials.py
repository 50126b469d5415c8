"""What a secret looks like: shapes of common credentials, and names beside which one stands.

No expression here reads a text more than once: a repeat without an upper bound is the last thing in
its pattern, or nothing that follows it can fail.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

# Joins texts that are masked together. White space to every pattern; a secret that reaches over
# several texts leaves as many behind.
BETWEEN: Final = "\x1f"
CREDENTIAL: Final = "[REDACTED:credential]"

_START: Final = r"(?<![A-Za-z0-9])"  # not \b: a key may follow a Chinese character
_BODY: Final = r"(?=[A-Za-z0-9_\-]{0,80}[0-9])[A-Za-z0-9_\-]{16,}"
_HEX: Final = r"[0-9a-fA-F]{32}(?![A-Za-z0-9])"
# What a token is called, how it begins, and how it goes on.
_TOKENS: Final[tuple[tuple[str, str, str], ...]] = (
    ("anthropic_key", "sk-ant-", r"[A-Za-z0-9_\-]{8,}"),
    ("openrouter_key", "sk-or-", r"(?:v1-)?[A-Za-z0-9]{16,}"),
    ("openai_key", "sk-proj- sk-svcacct- sk-admin-", r"[A-Za-z0-9_\-]{8,}"),
    ("openai_key", "sk-", r"[A-Za-z0-9]{20,}"),
    ("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"[A-Za-z0-9+/]{10,}"),
    ("github_token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"[A-Za-z0-9_]{16,}"),
    ("gitlab_token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- gloas-", r"[\w\-.]{16,}"),
    ("aws_access_key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("aws_bedrock_key", "ABSK", r"[A-Za-z0-9+/]{60,}={0,2}"),
    ("google_key", "AIza", r"[A-Za-z0-9_\-]{30,}"),
    ("google_token", "ya29. 1//0", r"[A-Za-z0-9_\-]{20,}"),
    ("google_secret", "GOCSPX-", r"[A-Za-z0-9_\-]{16,}"),
    ("slack_token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"[A-Za-z0-9\-]{10,}"),
    ("huggingface_token", "hf_ api_org_", r"[A-Za-z0-9]{20,}"),
    ("npm_token", "npm_", r"[A-Za-z0-9]{20,}"),
    ("sendgrid_key", "SG.", r"[A-Za-z0-9_\-]{16,64}\.[A-Za-z0-9_\-]{16,}"),
    ("pypi_token", "pypi-", r"(?=[\w\-]{0,200}[A-Z])(?=[\w\-]{0,200}[0-9])[A-Za-z0-9_\-]{32,}"),
    ("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", r"[A-Za-z0-9]{32,}"),
    ("docker_token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_\-]{16,}"),
    ("vault_token", "hvs. hvb. hvr.", r"[A-Za-z0-9_\-]{16,}"),
    ("groq_key", "gsk_", _BODY),
    ("xai_key", "xai-", _BODY),
    ("shopify_token", "shpat_ shpca_ shppa_ shpss_", _HEX),
    ("twilio_key", "SK", _HEX),
    ("mailgun_key", "key-", _HEX),
    ("databricks_token", "dapi", _HEX),
    ("age_key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{20,}"),
    ("azure_secret", "8Q~ 7Q~", r"[A-Za-z0-9_.~\-]{24,}"),
    (
        "api_key",
        "r8_ pplx- nvapi- tvly- csk- tgp_v1_ lsv2_pt_ lsv2_sk_ pcsk_ sbp_ sb_secret_ nfp_ vcp_ vck_"
        " lin_api_ ntn_ figd_ sq0atp- sq0csp- PMAK- ATATT3 ATCTT3 glsa_ glc_ NRAK- sntrys_ sntryu_"
        " pul- rubygems_ pscale_tkn_ pscale_pw_ dp.pt. dp.st. HRKU- fo1_ dt0c01. bkua_",
        _BODY,
    ),
)  # fmt: skip
_BEGIN, _END = (
    rf"-----{word} (?:[A-Z0-9]{{1,20}} ){{0,4}}PRIVATE KEY(?: BLOCK)?-----"
    for word in ("BEGIN", "END")
)
_PEM_LINES: Final = r"[A-Za-z0-9+/=\r\n]*+"
_SHAPES: Final = (
    # Cut off, it hides the rest of its text, and of the texts behind it those that go on with it.
    (
        "private_key",
        rf"{_BEGIN}[^\x1f]*?(?:{_END}|\Z|(?=\x1f)"
        rf"(?:\x1f{_PEM_LINES}(?=\x1f|\Z))*+(?:\x1f{_PEM_LINES}{_END})?)",
    ),
    ("private_key", r"PuTTY-User-Key-File-\d[^\x1f]*?(?:Private-MAC: [0-9a-f]{1,128}|(?=\x1f)|\Z)"),
    # Starts only where a run of its letters starts, so that a long run is read once.
    (
        "jwt",
        r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,4000}\.eyJ[A-Za-z0-9_\-]{4,16000}"
        r"\.[A-Za-z0-9_\-]*",
    ),
    ("telegram_token", rf"{_START}(?:bot)?\d{{8,10}}:AA[A-Za-z0-9_\-]{{32,}}"),
)


def _one_expression() -> tuple[re.Pattern[str], tuple[str, ...]]:
    """All shapes in one expression, and the kind of each of its groups."""
    shapes = list(_SHAPES)
    for kind, prefixes, rest in _TOKENS:
        begins = "|".join(map(re.escape, prefixes.split()))
        anywhere = _START if kind != "azure_secret" else ""
        shapes.append((kind, f"{anywhere}(?:{begins}){rest}"))
    expression = "|".join(f"({pattern})" for _, pattern in shapes)
    return re.compile(expression, re.DOTALL), tuple(kind for kind, _ in shapes)


_ANY_SHAPE, _KINDS = _one_expression()

# --- a name and a value


def _names(*names: str) -> str:
    """An expression for names in small or capital letters that is quick to find no name.

    It begins with a set of letters instead of ignoring case, so that `re` skips all others.
    """
    begins = {name[0] for name in names} | {name[0].upper() for name in names}
    rest = "|".join(f"(?<={name[0]}){name[1:]}" for name in names)
    return f"[{''.join(sorted(begins))}](?i:{rest})"


def _behind(noun: str, words: str) -> str:
    """That the noun just read is the end of a name such as `api_key`."""
    return "|".join(f"(?<={word}{gap}{noun})" for word in words.split() for gap in ("", r"[_\-\s]"))


_PASSWORDS: Final = (
    "pass(?:word|wd|phrase|code)", "pwd", "passwort", "kennwort", "contrase[nñ]a", "senha",
    "mot de passe", "пароль", "密码", "パスワード",
)  # fmt: skip
_PASSWORD: Final = _names(*_PASSWORDS)
_PASSWORD_HINTS: Final = "pass pwd kennwort contrase senha пароль 密码 パスワード"
_KEYS: Final = (
    "api app secret access account storage master service private signing encryption auth license"
    " deploy ssh subscription"
)
_TOKENS_OF: Final = "access auth refresh session api bot id private deploy bearer"
_KEY: Final = (
    rf"{_names('key', 'token', 'secret', 'auth')}(?i:{_behind('key', _KEYS)}"
    rf"|{_behind('token', _TOKENS_OF)}|{_behind('secret', 'client')}|(?<=_auth))"
)
_SHORT: Final = _names("secret", "token")  # words of prose too: only long values count
_CLOSE: Final = r"[\"'`*\]\\]{0,4}"
_OPEN: Final = r"[\"'`*\\]{0,4}"
_GIVEN: Final = rf"{_CLOSE}\s{{0,3}}(?:=>|:=|[:=|：＝])(?:</\w{{1,8}}>)?{_CLOSE}\s{{0,4}}"
_AS_VALUE: Final = r"[\"']\s{1,4}value\s?=\s?|[\"'\]]{0,2}>\s{0,4}"  # of XML
_TO: Final = rf"(?:{_GIVEN}|{_AS_VALUE})"
_SAID: Final = r"\s{1,3}(?:is|was|ist|lautet|war|es|est)\s{1,3}"
_ONE: Final = r"(?:[^\s\"'`,;<>&\\]|&(?![\w.\-]{1,40}=)|\\(?![\"'`nrt]))"  # of a bare value
_QUOTED_ONE: Final = r"[^\s\"'`\\]"
_PLACEHOLDER: Final = (
    r"\\?\[REDACTED|§§|\$[A-Z_{(]|<|\{|%[A-Z(]|\*{3}|x{4}|\.{3}"
    r"|\d{1,4}[\-–][a-z]{2}|[A-Za-z_.]{1,60}[(\[]"  # "8-character", a call or look-up in code
)
_ALGORITHM: Final = r"(?i:argon|sha-?\d|md5|s?crypt|bcrypt|pbkdf|aes|base64|utf)"
_DIGIT: Final = rf"(?={_ONE}{{0,200}}[0-9])"
_LETTER: Final = rf"(?={_ONE}{{0,200}}[A-Za-z])"
_SIGN: Final = r"[!@#$%^*+?~][A-Za-z0-9]"  # within a word; at its end prose has them too
_MIXED: Final = rf"(?={_ONE}{{0,200}}(?:[0-9]|{_SIGN}))"
_MIXED_QUOTED: Final = rf"(?={_QUOTED_ONE}{{0,200}}(?:[0-9]|{_SIGN}|[a-z][A-Z]))"
_HEADER: Final = rf"{_START}(?i:proxy-)?(?i:authorization){_CLOSE}\s{{0,9}}[:=]\s{{0,9}}{_OPEN}"
_MARKER: Final = r"\[REDACTED:[a-z_]{1,40}\]"
_OPTION: Final = r"(?<![\w\-])--?[a-z\-]{0,30}"
_WEBHOOK: Final = (
    r"hooks\.slack\.com/(?:services|workflows|triggers)/|hooks\.zapier\.com/hooks/catch/"
    r"|(?:\w{1,20}\.)?discord(?:app)?\.com/api/webhooks/\d{1,30}/|outlook\.office\.com/webhook/"
    r"|[\w\-]{1,60}\.webhook\.office\.com/webhookb2/|maker\.ifttt\.com/trigger/\w{1,60}/with/key/"
)
# The kind; words of which one must be there (in small letters); what stands before the
# secret and stays; the secret. None is a placeholder. The order counts.
_AROUND: Final[tuple[tuple[str, str, str, str], ...]] = (
    (
        "authorization", "authorization",
        rf"{_HEADER}(?i:bearer|basic|token|apikey|digest)\s{{1,9}}", r"[^\s\"'`<>,;\\]{4,}",
    ),
    ("authorization", "authorization", _HEADER, rf"{_DIGIT}{_ONE}{{12,}}"),
    (
        "authorization", "bearer",
        rf"{_START}(?i:bearer)\s{{1,9}}",
        r"(?=[A-Za-z0-9_\-.~+/=]{0,200}\d)[A-Za-z0-9_\-.~+/]{16,}=*",
    ),
    # A password may hold "@" or "/"; a port before a path is none. What is masked already is
    # neither name nor password.
    (
        "url_password", "//",
        rf"{_START}[A-Za-z][A-Za-z0-9+.\-]{{1,24}}:\\?//"
        rf"(?:{_MARKER}|(?!\[REDACTED:)[^\s:/@?#]){{0,128}}:(?!\\?{_MARKER}@)",
        r"[^\s/\"'<>]{1,128}(?=@[^\s@])|(?!\d{1,5}[/?#])[^\s\"'<>@]{1,128}(?=@[^\s@])",
    ),
    ("webhook_url", "hook", rf"https?:\\?//(?:{_WEBHOOK})", r"[^\s\"'`<>()\[\]]{8,}"),
    (
        "signature", "sig key= auth= code=",
        r"[?&](?i:sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature|key|auth"
        r"|code(?==\S{32}))=",
        r"(?=[A-Za-z0-9%/+=_.~\-]{0,200}[0-9])[A-Za-z0-9%/+=_.~\-]{16,}",
    ),
    (
        "cookie", "cookie",
        rf"{_START}(?i:set-)?(?i:cookie){_CLOSE}:\s{{0,3}}{_OPEN}[\w.\-]{{1,60}}=",
        rf"{_DIGIT}{_ONE}{{16,}}",
    ),
    # command lines and netrc
    (
        "credential", "-u",
        r"(?<!\S)(?:-u|--user|--proxy-user)[ =][\"']?[^\s:\"'/$]{1,64}:",
        r"(?!\d{1,9}(?!\S))[^\s\"']+",
    ),
    (
        "credential", _PASSWORD_HINTS,
        rf"{_OPTION}(?:(?i:pass)|{_PASSWORD})[ =]{_OPEN}",
        rf"(?={_ONE}{{0,200}}(?:[0-9]|{_SIGN}|[a-z][A-Z])){_ONE}{{4,}}",
    ),
    (
        "credential", "token secret key",
        rf"{_OPTION}(?i:token|secret|api-?key|access-?key|secret-?key)[ =]{_OPEN}",
        rf"{_DIGIT}{_LETTER}{_ONE}{{8,}}",
    ),
    (
        "credential", "pass mysql redis-cli login",
        r"\b(?:sshpass\s-p\s?|mysql\w{0,10}\s[^\n;|]{0,80}?-p|redis-cli\s[^\n;|]{0,80}?-a\s"
        rf"|docker login\s[^\n;|]{{0,80}}?-p\s){_OPEN}",
        rf"{_ONE}{{4,}}",
    ),
    (
        "credential", "login account",
        r"\b(?:machine\s{1,9}\S{1,255}|default)\s{1,9}"
        r"(?:(?:login|account)\s{1,9}\S{1,128}\s{1,9}){1,2}password\s{1,9}",
        r"\S+",
    ),
    # a name and what it is given
    (
        "credential", _PASSWORD_HINTS,
        rf"{_PASSWORD}(?:{_TO}|{_SAID}|\s{{1,3}})\\?[\"'`]",
        rf"{_MIXED_QUOTED}{_QUOTED_ONE}{{4,}}",
    ),
    (
        "credential", _PASSWORD_HINTS,
        rf"<[\w.:\-]{{0,40}}{_PASSWORD}>", r"[^\s<>]{1,200}(?=</)",
    ),
    ("credential", _PASSWORD_HINTS, rf"{_PASSWORD}{_TO}{_OPEN}", rf"{_MIXED}{_ONE}{{6,}}"),
    (
        "credential", _PASSWORD_HINTS,
        rf"{_PASSWORD}{_SAID}(?!{_ALGORITHM})", rf"{_MIXED}{_LETTER}{_ONE}{{6,}}",
    ),
    (
        "credential", "key token secret auth",
        rf"{_KEY}{_TO}{_OPEN}", rf"{_DIGIT}{_ONE}{{8,}}",
    ),
    # A long number beside "token" is a count or an id as often as not.
    (
        "credential", "token secret",
        rf"{_SHORT}(?:{_TO}\\?[\"'`]|=)", rf"{_DIGIT}{_LETTER}{_ONE}{{8,}}",
    ),
    (
        "credential", "token secret",
        rf"{_SHORT}{_TO}{_OPEN}", rf"{_DIGIT}{_LETTER}{_ONE}{{16,}}",
    ),
)  # fmt: skip


def _beside(before: str, secret: str) -> re.Pattern[str]:
    return re.compile(rf"({before})(?!{_PLACEHOLDER})({secret})")


_BESIDE: Final = tuple(
    (kind, frozenset(hints.split()), _beside(before, secret))
    for kind, hints, before, secret in _AROUND
)
_HINTS: Final = sorted({hint for _, hints, _ in _BESIDE for hint in hints})
_BEGINNINGS: Final = ("-----BEGIN", "PuTTY-")
_PREFIXES: Final = ("eyJ", ":AA", *(" ".join(prefixes for _, prefixes, _ in _TOKENS)).split())
_SHORTEST_TOKEN: Final = 13


def redact(text: str) -> str:
    """The text with credentials replaced by `[REDACTED:<kind>]`; idempotent."""
    if _may_hold_a_shape(text):
        text = _ANY_SHAPE.sub(_hide_shape, text)
    lower = text.lower()
    present = {hint for hint in _HINTS if hint in lower}
    for kind, hints, pattern in _BESIDE:
        if hints & present:
            text = pattern.sub(rf"\g<1>[REDACTED:{kind}]", text)
    return text


def _may_hold_a_shape(text: str) -> bool:
    """A cheap look: tokens are long words, and prose has few of them."""
    long_words = " ".join([word for word in text.split() if len(word) >= _SHORTEST_TOKEN])
    if long_words and any(map(long_words.__contains__, _PREFIXES)):
        return True
    return any(map(text.__contains__, _BEGINNINGS))


def _hide_shape(match: re.Match[str]) -> str:
    assert match.lastindex is not None
    return f"[REDACTED:{_KINDS[match.lastindex - 1]}]" + BETWEEN * match[0].count(BETWEEN)


_SECRET_FIELD: Final = re.compile(
    rf"(?:.*_)?(?:{'|'.join(_PASSWORDS)}|(?:{_KEYS.replace(' ', '|')})_?key"
    r"|\w{0,30}(?:accesskey|token|secret)|credentials?|authorization|.{1,30}_pass)"
)
_HARMLESS_FIELD: Final = re.compile(
    r"(?:.*_)?(?:design|color|css|theme|font|stop|eos|bos|pad|unk|page)_token"
)
_STANDS_FOR_A_VALUE: Final = re.compile(
    r"\s*(?:\[REDACTED:\w{1,40}\]|§§\w{1,40}\([^()]*\)|\$\{?[A-Z_][A-Z0-9_]*\}?|<[^<>]*>"
    r"|\{\{[^{}]*\}\}|\*{3,})?\s*"
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_LETTER: Final = re.compile(r"\W+")


@lru_cache(maxsize=1024)
def names_a_secret(name: str) -> bool:
    """Whether a field of that name holds a secret, whatever the value looks like."""
    if len(name) > 200:
        return False
    plain = _NO_LETTER.sub("_", _CAMEL.sub("_", name)).strip("_").lower()
    return bool(_SECRET_FIELD.fullmatch(plain)) and not _HARMLESS_FIELD.fullmatch(plain)


def is_placeholder(value: str) -> bool:
    """Whether a text stands for a value: `[REDACTED:…]`, `§§secret(X)`, `$X`, `<your key>`, ""."""
    return bool(_STANDS_FOR_A_VALUE.fullmatch(value))

"""Which specialist a word means that names none: by spelling, title, purpose, and what words share."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

# Words of the trade that lead to the same specialist. The first ones say it as a purpose would.
_MEANINGS = tuple(
    line.split()
    for line in (
        "reviews quality tests qa assurance inspector critic checker",
        "tests tester testing test automation sdet verification",
        "debug debugger bug bugs fault causes troubleshooter investigator bugfixer",
        "code coder coding developer dev programmer programming implementer implementation backend"
        " fullstack builder software",
        "design architect architecture structure planner blueprint",
        "css ui ux layout frontend designer web html webdesigner look graphic accessibility a11y",
        "schemas migrations data database db dba sql storage postgres privacy dpo gdpr",
        "auth security secrets infosec appsec login cryptography crypto",
        "penetration hacker pentest pentester redteam attacker",
        "deploy build ops operations devops sre ci docker kubernetes infrastructure infra cloud"
        " sysadmin admin platform pipeline runtime deployer deployment",
        "requirements analyst analysis product scope criteria ba owner stakeholder business",
        "maps explorer codebase code reader researcher archaeologist navigator",
        "release auditor audit go no-go shipping releaser",
    )
)
_LETTERS = re.compile(r"[^\W_]+")
_LONGEST = 64  # characters of what came
_MOST = 3
_BEGINS = 4  # letters of a word that another may begin with: test, tester
_STEM = 6  # letters in which two forms of a word agree: implementer, implementation


def nearest(wanted: str, described: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """At most three names, the best first; none where nothing speaks for one.

    `described` maps each name to its texts: name, title, purpose. A word counts less the more
    names share it, so that "engineer" points at nobody.
    """
    texts = {name: _words(" ".join(parts)) for name, parts in described.items()}
    shared = Counter(word for words in texts.values() for word in words)
    asked = _words(wanted[:_LONGEST])
    scores = {}
    for name, words in texts.items():
        scores[name] = sum(_weight(word, words, shared) for word in asked) + _spelt(wanted, name)
    best = max(scores.values(), default=0)
    found = [name for name, score in scores.items() if score >= max(0.3, 0.6 * best)]
    return tuple(sorted(found, key=scores.__getitem__, reverse=True)[:_MOST])


def _words(text: str) -> frozenset[str]:
    return frozenset(_LETTERS.findall(text.lower()))


def _weight(asked: str, words: Iterable[str], shared: Mapping[str, int]) -> float:
    """How much a word speaks for who is described with `words`."""
    meant = {word for group in _MEANINGS if asked in group for word in group}
    weight = 0.0
    for word in words:
        if _akin(asked, word):
            weight += 2 / shared[word]
        elif word in meant:
            weight += 1 / shared[word]
    return weight


def _akin(word: str, other: str) -> bool:
    """Whether two words are forms of one."""
    shorter, longer = sorted((word, other), key=len)
    if shorter == longer or (len(shorter) >= _BEGINS and longer.startswith(shorter)):
        return True
    return len(shorter) >= _STEM and shorter[:_STEM] == longer[:_STEM]


def _spelt(wanted: str, name: str) -> float:
    """How alike two names are; a likeness that may be chance counts nothing."""
    ratio = difflib.SequenceMatcher(None, wanted[:_LONGEST], name).ratio()
    return 2 * ratio if ratio >= 0.75 else 0.0

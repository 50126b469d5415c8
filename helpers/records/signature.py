"""Which lines of a ledger an installation signed, whatever stands between them.

`own` runs over the lines of one installation in one file: own_0 is "", own_n the sha256 of own_(n-1)
and sha_n (hex digits). The last line of each write carries `sig`, the Ed25519 signature of the chain's
id and `own` up to that line: one check of the last one covers all of that installation's lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .identity import verified

MOST_CHECKS = 200  # of signatures, for one installation and file; one takes about 0.1 ms
_LONGEST_WRITE = 8  # lines that are looked for behind lines of others


class Signed(NamedTuple):
    """A line by its sha; `sig` is "" where it does not end a write."""

    sha: str
    sig: str = ""


def run_over(shas: Iterable[str], own: str = "") -> str:
    """`own` after these lines, 64 hex digits."""
    for sha in shas:
        own = hashlib.sha256((own + sha).encode()).hexdigest()
    return own


def content(chain: str, own: str) -> bytes:
    """What a `sig` is over."""
    return f"software_orchestrator ledger\n{chain}\n{own}".encode()


def covered(lines: Sequence[Signed], chain: str, public: str) -> frozenset[str]:
    """The shas of the lines that the installation with that public key signed.

    What others put between its writes drops out. A write that was cut short counts with the next.
    """
    check = _Checks(chain, public)
    own, true = "", list[Signed]()
    rest = lines
    while rest:
        start, end = 0, check.true_prefix(rest, own)
        if not end:
            start, end = check.true_write(rest, own)
        if not end:
            break
        own = run_over((line.sha for line in rest[start:end]), own)
        true += rest[start:end]
        rest = rest[end:]
    return frozenset(line.sha for line in true)


class _Checks:
    """Signature checks of one installation's lines in one file, a bounded number."""

    def __init__(self, chain: str, public: str) -> None:
        self._chain, self._public = chain, public
        self._left = MOST_CHECKS

    def true_prefix(self, lines: Sequence[Signed], own: str) -> int:
        """How many lines from the first on are signed with none between them: most often all."""
        runs, ends = [], []
        for number, line in enumerate(lines, 1):
            own = run_over((line.sha,), own)
            runs.append(own)
            if line.sig:
                ends.append(number)
        low, high = 0, len(ends)  # the first `low` writes are true, those after `high` are not
        middle = high
        while low < high:
            number = ends[middle - 1]
            if self._passes(runs[number - 1], lines[number - 1]):
                low = middle
            else:
                high = middle - 1
            middle = (low + high + 1) // 2
        return ends[low - 1] if low else 0

    def true_write(self, lines: Sequence[Signed], own: str) -> tuple[int, int]:
        """Where the first true write begins and ends, behind lines of others; (0, 0) for none."""
        for end, line in enumerate(lines, 1):
            starts = (0, *range(end - 1, max(0, end - _LONGEST_WRITE), -1))
            for start in starts if line.sig else ():
                after = run_over((one.sha for one in lines[start:end]), own)
                if self._passes(after, line):
                    return start, end
        return 0, 0

    def _passes(self, own: str, line: Signed) -> bool:
        self._left -= 1
        return self._left >= 0 and verified(self._public, content(self._chain, own), line.sig)

"""Who an installation is to others: its key pair, its fingerprint, and what it signed."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.records.identity import (
    fingerprint_of,
    signer_of,
    verified,
)
from usr.plugins.software_orchestrator.helpers.records.resources import default_settings
from usr.plugins.software_orchestrator.helpers.values.errors import SettingsError
from usr.plugins.software_orchestrator.helpers.values.settings import settings
from usr.plugins.software_orchestrator.helpers.values.trust import named

OURS, OTHER = signer_of(b"a" * 32), signer_of(b"b" * 32)
DEFAULTS = default_settings()


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_only_who_signed_is_believed_and_only_for_what_was_signed(content, other):
    signature = OURS.sign(content)
    assert verified(OURS.public, content, signature)
    assert not verified(OTHER.public, content, signature)
    assert verified(OURS.public, other, signature) == (other == content)


def test_one_secret_is_one_signer_for_ever():
    assert signer_of(b"a" * 32).public == OURS.public
    assert len(OURS.fingerprint) == 32
    assert OURS.fingerprint == fingerprint_of(OURS.public) != OTHER.fingerprint


@pytest.mark.parametrize("rubbish", ["", "x", "0" * 64, "0" * 63, "g" * 64, "é" * 64])
def test_rubbish_verifies_nothing_and_raises_nothing(rubbish):
    assert not verified(rubbish, b"x", OURS.sign(b"x"))
    assert not verified(OURS.public, b"x", rubbish)


def test_whom_one_trusts_stands_in_the_settings_of_the_installation_alone():
    entry = {"name": "workshop", "key": OURS.public.upper()}
    held = settings(DEFAULTS, {"trusted": [entry]}, project=[{"trusted": []}])
    assert named(held.trusted, OURS.public).name == "workshop"
    assert not named(held.trusted, OURS.public).work
    assert settings(DEFAULTS, project=[{"trusted": [entry]}]).trusted == ()
    as_text = f"- name: workshop\n  key: {OURS.public}\n"
    assert settings(DEFAULTS, {"trusted": as_text}).trusted == held.trusted


@pytest.mark.parametrize(
    "wrong",
    [
        "x",
        [{"name": "a"}],
        [{"key": OURS.public}],
        [{"name": "a", "key": "12"}],
        {"a": 1},
        "- [",
        7,
    ],
)
def test_a_trust_that_is_none_is_refused_by_name(wrong):
    with pytest.raises(SettingsError, match="trusted"):
        settings(DEFAULTS, {"trusted": wrong})


def test_without_cryptography_nothing_is_signed_and_nothing_believed():
    lines = (
        "import sys; sys.modules['cryptography'] = None; import execute; execute.make_importable()",
        "from usr.plugins.software_orchestrator.helpers.records.identity import signer_of, verified",
        f"assert signer_of(b'a' * 32) is None and not verified('{OURS.public}', b'x', '{OURS.sign(b'x')}')",
    )
    root = __file__.partition("/tests/")[0]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], cwd=root, check=False)
    assert done.returncode == 0

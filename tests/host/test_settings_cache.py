"""Settings are read and checked once for every change of their files, and a hostile file is bounded."""

import json

import pytest
from host_double.handover_kit import done, hand_over, respond

SAVED = "usr/plugins/software_orchestrator/config.json"


@pytest.fixture
def built(host, monkeypatch):
    """How often settings were put together, as a list."""
    from usr.plugins.software_orchestrator.helpers.host import settings as host_settings
    from usr.plugins.software_orchestrator.helpers.views import settings_form

    host_settings._built.cache_clear()
    calls, build = [], settings_form.settings
    monkeypatch.setattr(
        settings_form, "settings", lambda *said, **more: calls.append(said) or build(*said, **more)
    )
    return calls


def save(host, **values):
    host.root.joinpath(SAVED).write_text(json.dumps(values), "utf-8")


def settings_of(host):
    from usr.plugins.software_orchestrator.helpers.host.settings import settings_of

    return settings_of(host.agent0)


def refused(host):
    from usr.plugins.software_orchestrator.helpers.values.errors import SettingsError

    with pytest.raises(SettingsError) as caught:
        settings_of(host)
    return caught.value.message


def test_a_whole_handover_builds_the_settings_once_for_each_profile(host, built):
    host.project("acme")
    host.script({"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [done()]})
    assert host.say("Please build the hero") == "ok"
    assert len(built) == 1


def test_a_saved_change_holds_at_the_next_look_and_is_built_once(host, built):
    assert settings_of(host).max_handover_depth == 3
    save(host, max_handover_depth=2)
    assert [settings_of(host).max_handover_depth for _ in range(3)] == [2, 2, 2]
    save(host, max_handover_depth=12)
    assert settings_of(host).max_handover_depth == 12
    host.root.joinpath(SAVED).unlink()
    assert settings_of(host).max_handover_depth == 3
    assert len(built) == 3


def test_settings_that_cannot_be_used_are_not_built_again_either(host, built):
    save(host, max_handover_depth="lots")
    assert refused(host) == refused(host)
    assert "max_handover_depth" in refused(host)
    assert len(built) == 1


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"roster": {f"p{number}": {} for number in range(3000)}}),
        json.dumps({"roster": "".join(f"p{number}:\n" for number in range(3000))}),
        json.dumps({"tomorrow": "x" * 1_000_001}),
        "[" * 100_000,
        "{ not json",
        "[]",
    ],
    ids=["roster", "roster as text", "too long", "nested", "no json", "no object"],
)
def test_a_hostile_file_of_a_project_is_refused_and_named(host, built, text):
    folder = host.project("acme")
    path = folder / ".a0proj/plugins/software_orchestrator/config.json"
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    message = refused(host)
    assert "500" in message or "acme" in message
    assert refused(host) == message
    assert len(built) <= 1

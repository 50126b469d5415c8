"""The roster as text, and the settings page as data: what holds, where it comes from, what is saved."""

from contextlib import suppress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.records.resources import default_settings
from usr.plugins.software_orchestrator.helpers.values.errors import SettingsError
from usr.plugins.software_orchestrator.helpers.values.roster import MAX_TEXT_CHARS, from_text
from usr.plugins.software_orchestrator.helpers.values.settings import settings
from usr.plugins.software_orchestrator.helpers.views import settings_form
from usr.plugins.software_orchestrator.helpers.views.settings_form import Layer

DEFAULTS = default_settings()
INSTALLATION = Layer("", "", "a/config.json", {"max_context_tokens": 2000, "git_ignore": "all"})
PROJECT = Layer("shop", "", "b/config.json", {"git_ignore": "none"})
NARROW = Layer("shop", "hacker", "c/config.json", {"lock_timeout_s": 3})


def test_a_roster_as_text_means_the_same_as_the_mapping():
    as_text = settings(DEFAULTS, {"roster": settings_form.shipped_roster()}).roster
    assert as_text == settings(DEFAULTS).roster


def test_the_shipped_roster_as_text_is_that_of_default_config_yaml():
    assert yaml.safe_load(settings_form.shipped_roster()) == DEFAULTS["roster"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [b", "line 1"),
        ("hacker:\n\ttitle: x", "line 2"),
        ("a: &x {title: A}\nb: *x", "aliases"),
        ("hacker: {}\nhacker: {}", '"hacker" is given twice'),
        ("hacker:\n  title: A\n  title: B", '"title" is given twice'),
        ("- hacker", "must map profile names"),
        ("just words", "must map profile names"),
        ("", "must map profile names"),
        ("hacker: !!python/object/apply:os.system [true]", "line 1"),
        ("hacker:\n  can_handoff_to: [nobody]", "nobody"),
        ("hacker:\n  sla_minutes: -1", "sla_minutes"),
        ("[" * 5000, "no YAML"),
        ("#" * (MAX_TEXT_CHARS + 1), "characters"),
    ],
)
def test_a_roster_text_that_cannot_be_used_is_refused_and_the_place_named(text, words):
    with pytest.raises(SettingsError, match="roster") as refused:
        settings(DEFAULTS, {"roster": text})
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.text(max_size=200))
def test_any_text_is_a_value_or_a_settings_error(text):
    with suppress(SettingsError):
        from_text(text)


def test_each_setting_is_in_one_group_with_its_comment_type_and_range():
    fields = [field for group in settings_form.groups() for field in group["fields"]]
    assert [field["key"] for field in fields] == list(DEFAULTS)
    assert all(len(field["help"]) > 20 and "#" not in field["help"] for field in fields)
    by_key = {field["key"]: field for field in fields}
    assert (by_key["max_handover_depth"]["minimum"], by_key["max_handover_depth"]["maximum"]) == (
        1,
        20,
    )
    assert by_key["max_context_tokens"]["minimum"] == 1
    assert by_key["git_ignore"]["choices"] == ["chains", "all", "none"]
    kinds = {field["key"]: field["kind"] for field in fields}
    assert {kinds[key] for key in ("transcript_log", "roster", "lock_timeout_s")} == {
        "boolean",
        "roster",
        "number",
    }


def test_what_holds_is_told_with_the_scope_it_comes_from():
    held = settings_form.view([INSTALLATION, PROJECT, NARROW], "shop", "hacker")
    assert held["effective"]["max_context_tokens"] == {"value": 2000, "source": "installation"}
    assert held["effective"]["git_ignore"] == {"value": "none", "source": "project shop"}
    assert held["effective"]["lock_timeout_s"] == {
        "value": 3,
        "source": "project shop, profile hacker",
    }
    assert held["inherited"]["lock_timeout_s"] == {
        "value": DEFAULTS["lock_timeout_s"],
        "source": "default",
    }
    assert (held["own"], held["saved_in"]) == ({"lock_timeout_s": 3}, "c/config.json")


def test_what_holds_is_what_the_protocol_uses():
    layers = [INSTALLATION, PROJECT, NARROW]
    used = settings(DEFAULTS, *(layer.values for layer in layers))
    shown = settings_form.view(layers, "shop", "hacker")["effective"]
    assert {key: shown[key]["value"] for key in DEFAULTS if key != "roster"} == {
        key: getattr(used, key) for key in DEFAULTS if key != "roster"
    }


def test_a_roster_saved_as_a_mapping_is_shown_as_text():
    layer = Layer("", "", "x", {"roster": {"hacker": {"title": "Häcker 🥷", "can_handoff_to": []}}})
    shown = settings_form.view([layer])["own"]["roster"]
    assert "Häcker 🥷" in shown
    assert yaml.safe_load(shown) == layer.values["roster"]


def test_what_is_saved_and_cannot_be_used_is_said():
    assert (
        "git_ignore" in settings_form.view([Layer("", "", "x", {"git_ignore": "some"})])["problem"]
    )
    assert settings_form.view([])["problem"] == ""


def test_saved_values_have_their_type_and_empty_ones_are_left_out_to_be_inherited():
    values = {"max_context_tokens": "2500", "lock_timeout_s": "1.5", "of_a_later_version": 1}
    saved = settings_form.checked({**values, "git_ignore": "", "transcript_log": None})
    assert saved == {"max_context_tokens": 2500, "lock_timeout_s": 1.5, "of_a_later_version": 1}


def test_a_roster_is_saved_as_it_was_written():
    text = "# ours\nhacker:\n  can_handoff_to: []  # nobody\n"
    assert settings_form.checked({"roster": text}) == {"roster": text}

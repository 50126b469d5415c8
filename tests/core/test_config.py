"""Settings: layers over the defaults, and one clear error for a value that is none."""

import pytest

from usr.plugins.software_orchestrator.helpers.records import resources
from usr.plugins.software_orchestrator.helpers.values.errors import SettingsError
from usr.plugins.software_orchestrator.helpers.values.settings import settings

DEFAULTS = resources.default_settings()


def wrong(layer):
    with pytest.raises(SettingsError) as caught:
        settings(DEFAULTS, layer)
    return str(caught.value)


def test_the_defaults_are_valid_and_every_key_is_known():
    found = settings(DEFAULTS)
    assert set(DEFAULTS) == set(type(found).model_fields)
    for name, value in DEFAULTS.items():
        if name != "roster":
            held = getattr(found, name)
            assert (list(held) if isinstance(held, tuple) else held) == value


def test_a_later_layer_wins_and_what_it_leaves_out_or_leaves_empty_stays():
    found = settings(
        DEFAULTS,
        {"max_handover_depth": 2, "git_ignore": "all"},
        {"max_handover_depth": 1, "git_ignore": None},
    )
    assert (found.max_handover_depth, found.git_ignore) == (1, "all")


def test_an_unknown_setting_is_ignored():
    assert settings(DEFAULTS, {"tomorrow": 1}) == settings(DEFAULTS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_context_tokens", 0),
        ("max_context_tokens", "lots"),
        ("max_context_tokens", True),
        ("max_context_tokens", 10**9),
        ("max_context_tokens", 2.5),
        ("include_recent_turns", -1),
        ("include_recent_turns", False),
        ("max_handover_depth", 0),
        ("git_ignore", "some"),
        ("transcript_log", "perhaps"),
        ("lock_timeout_s", float("inf")),
        ("lock_timeout_s", float("nan")),
        ("sla_queue_minutes", float("inf")),
        ("sla_queue_minutes", -1),
        ("chain_sla_minutes", float("inf")),
        ("transcript_log_max_mb", float("inf")),
        ("default_return_condition", 7),
        ("lock_timeout_s", True),
    ],
)
def test_a_bad_value_is_one_line_that_names_the_setting_and_what_came(name, value):
    error = wrong({name: value})
    assert f"setting {name}" in error
    assert str(value) in error
    assert "\n" not in error


@pytest.mark.parametrize("value", ["3000", 3000, 3000.0])
def test_a_number_may_come_as_a_form_sends_it(value):
    assert settings(DEFAULTS, {"max_context_tokens": value}).max_context_tokens == 3000


@pytest.mark.parametrize("layer", [[], "x", 3])
def test_a_layer_that_is_no_mapping_is_a_clear_error(layer):
    assert "settings must be" in wrong(layer)


def test_a_saved_roster_is_the_whole_list():
    found = settings(DEFAULTS, {"roster": {"hacker": {"can_handoff_to": []}}})
    assert found.roster.names() == ("hacker",)


def test_a_field_left_out_of_a_shipped_entry_comes_from_it():
    found = settings(
        DEFAULTS, {"roster": {"hacker": {"can_handoff_to": [], "title": "Red Team"}}}
    ).roster.find("hacker")
    assert (found.title, found.marker) == ("Red Team", DEFAULTS["roster"]["hacker"]["marker"])


def test_the_defaults_are_not_changed_by_reading_them():
    before = repr(DEFAULTS)
    settings(DEFAULTS, {"roster": {"hacker": {"can_handoff_to": [], "title": "x"}}})
    assert repr(DEFAULTS) == before


@pytest.mark.parametrize("roster", [{"hacker": {}}, {"hacker": None}, "hacker:\n  title: Red Team"])
def test_an_edge_that_ships_to_an_entry_that_was_removed_goes_with_it(roster):
    assert settings(DEFAULTS, {"roster": roster}).roster.find("hacker").can_handoff_to == ()


def test_an_edge_that_ships_to_an_entry_that_is_kept_stays():
    found = settings(
        DEFAULTS, {"roster": {"frontend_designer": {"requires": ["goal"]}, "quality_reviewer": {}}}
    ).roster
    assert found.find("frontend_designer").can_handoff_to == ("quality_reviewer",)
    assert found.find("quality_reviewer").can_handoff_to == ("frontend_designer",)


def test_an_edge_that_is_written_to_an_entry_that_was_removed_is_named():
    error = wrong({"roster": {"hacker": {"can_handoff_to": ["security_data_engineer"]}}})
    assert 'roster.hacker.can_handoff_to names "security_data_engineer"' in error

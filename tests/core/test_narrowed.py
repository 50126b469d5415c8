"""From a project's settings only what narrows counts: it comes along with a clone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.records import resources
from usr.plugins.software_orchestrator.helpers.values.errors import SettingsError
from usr.plugins.software_orchestrator.helpers.values.settings import (
    FromProject,
    Settings,
    settings,
)
from usr.plugins.software_orchestrator.helpers.values.tools import ToolCall
from usr.plugins.software_orchestrator.helpers.views import settings_form
from usr.plugins.software_orchestrator.helpers.views.settings_form import Layer

DEFAULTS = resources.default_settings()
CAPS = [name for name in DEFAULTS if name.startswith("max_") or "_max_" in name]
OURS = settings(DEFAULTS)


def of_project(*layers, ours=()):
    return settings(DEFAULTS, *ours, project=layers)


def rule_of(name):
    return [item for item in Settings.model_fields[name].metadata if isinstance(item, FromProject)]


@pytest.mark.parametrize("name", CAPS)
@given(ours=st.integers(1, 20), theirs=st.integers(1, 20))
def test_of_a_cap_the_lower_one_counts(name, ours, theirs):
    held = of_project({name: theirs}, ours=[{name: ours}])
    assert getattr(held, name) == min(ours, theirs)


def test_every_cap_and_what_decides_who_may_do_what_is_narrowed():
    assert all(
        rule_of(name) for name in (*CAPS, "lock_timeout_s", "handback_note_tokens", "roster")
    )


@pytest.mark.parametrize(("ours", "theirs"), [(False, True), (True, False), (False, False)])
def test_the_chat_is_logged_only_where_both_say_so(ours, theirs):
    held = of_project({"transcript_log": theirs}, ours=[{"transcript_log": ours}])
    assert not held.transcript_log


def test_what_limits_nothing_is_the_projects_own():
    held = of_project({"chain_sla_minutes": 9999, "git_ignore": "none"})
    assert (held.chain_sla_minutes, held.git_ignore) == (9999, "none")


HOSTILE = {
    "a0_software_orchestrator": {"can_handoff_to": ["hacker", "intruder", "frontend_designer"]},
    "frontend_designer": {
        "title": "Hacker",
        "purpose": "obey",
        "can_handoff_to": ["hacker", "quality_reviewer"],
        "requires": ["goal"],
        "authority": {"granted": ["read", "deploy"], "denied": ["push"]},
    },
    "quality_reviewer": {},
    "Hacker": {"can_handoff_to": ["frontend_designer"]},
    "intruder": {"can_handoff_to": ["hacker"]},
}


def with_roster(theirs, **ours):
    own = {**DEFAULTS["roster"], **ours}
    return of_project({"roster": theirs}, ours=[{"roster": own}]).roster


def test_a_projects_roster_adds_nobody_no_edge_no_authority_and_no_words():
    designer = {"authority": {"granted": ["read", "write"], "denied": []}}
    held = with_roster(HOSTILE, frontend_designer=designer)
    assert held.known("intruder") is None
    assert held.find("hacker").can_handoff_to == ()
    entry, own = held.find("frontend_designer"), OURS.roster.find("frontend_designer")
    assert entry.can_handoff_to == ("quality_reviewer",)
    assert (entry.title, entry.purpose) == (own.title, own.purpose)
    assert entry.requires == ("goal",)
    assert entry.authority.granted == ("read",)
    assert entry.authority.denied == ("push",)


def test_who_is_left_out_of_a_projects_roster_gets_no_work_and_keeps_its_own_edges():
    held = with_roster({"frontend_designer": {}, "hacker": {}})
    assert held.known("quality_reviewer") is None
    assert held.allows("a0_software_orchestrator", "hacker")
    assert held.allows("quality_reviewer", "frontend_designer")
    assert not held.allows("release_auditor", "hacker")


def test_a_roster_of_strangers_is_an_error_that_says_what_a_project_can_do():
    with pytest.raises(SettingsError, match="project"):
        with_roster({"intruder": {}})


def test_an_entry_of_ours_that_does_not_ship_keeps_what_a_project_leaves_out():
    ours = {"translator": {"can_handoff_to": ["hacker"]}, "hacker": {}}
    held = of_project({"roster": {"translator": {}, "hacker": {}}}, ours=[{"roster": ours}]).roster
    assert held.allows("translator", "hacker")


def test_the_page_shows_what_counts_and_where_that_was_said():
    installation = Layer("", "", "a", {"max_handover_depth": 2})
    saved = {"max_handover_depth": 9, "max_handovers_per_chain": 4, "roster": HOSTILE}
    shown = settings_form.view([installation, Layer("shop", "", "b", saved)], "shop")
    effective = shown["effective"]
    assert effective["max_handover_depth"] == {"value": 2, "source": "installation"}
    assert effective["max_handovers_per_chain"] == {"value": 4, "source": "project shop"}
    assert "intruder" not in effective["roster"]["value"]
    assert shown["own"]["max_handover_depth"] == 9


def test_a_projects_roster_only_takes_tools_away():
    ours = {"denied": ["browser"], "allowed": ["b*", "text_editor"]}
    theirs = {"denied": ["text_editor:write"], "allowed": ["*", "mcp.*"]}
    held = with_roster({"hacker": {"tools": theirs}}, hacker={"tools": ours})
    rules = held.tools_of("hacker")
    assert rules.allows(ToolCall("text_editor", ("read",)))
    for refused in (ToolCall("browser"), ToolCall("text_editor", ("write",)), ToolCall("input")):
        assert not rules.allows(refused)
    assert not held.tools_of("quality_reviewer").allows(ToolCall("text_editor", ("write",)))

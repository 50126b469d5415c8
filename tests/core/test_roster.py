"""The allow-list: found by any spelling, and wrong entries are load errors that name entry and field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.records.resources import default_settings
from usr.plugins.software_orchestrator.helpers.values import roster as values_roster
from usr.plugins.software_orchestrator.helpers.values.errors import RequestError, SettingsError
from usr.plugins.software_orchestrator.helpers.values.roster import MAX_ENTRIES, build, normal


def wrong(raw):
    with pytest.raises(SettingsError) as caught:
        build(raw)
    return str(caught.value)


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        ({"data_engineer": {}, "data-engineer": {}}, ("data_engineer", "data-engineer")),
        ({"data_engineer": {}, "Data Engineer": {}}, ("Data Engineer", "not a profile name")),
        ({"a": {"can_handoff_to": ["nobody"]}}, ("roster.a.can_handoff_to", "nobody")),
        ({"a": {"can_handoff_to": ["A"]}}, ("roster.a.can_handoff_to", "itself")),
        ({"a": {"sla_minutes": -1}}, ("roster.a.sla_minutes", "-1")),
        ({"a": {"sla_minutes": "soon"}}, ("roster.a.sla_minutes", "soon")),
        ({"a": {"sla_minutes": float("inf")}}, ("roster.a.sla_minutes",)),
        ({"a": {"tilte": "A"}}, ("roster.a.tilte",)),
        ({"a": {"can_handoff_to": "b"}}, ("roster.a.can_handoff_to",)),
        ({"a": ["x"]}, ("roster.a", "list")),
        ({"a": "x"}, ("roster.a", "str")),
        ({"a": {"authority": {"may": ["read"]}}}, ("roster.a.authority.may",)),
        ({"a": {"authority": {"granted": "read"}}}, ("roster.a.authority.granted",)),
        ({}, ("roster must map",)),
        (None, ("roster must map",)),
        ([], ("roster must map",)),
        ("x", ("roster must map",)),
        ({"": {}}, ("not a profile name",)),
        ({"../x": {}}, ("not a profile name",)),
        ({"a": {1: 2}}, ("roster.a",)),
        ({"a": {"requires": [1]}}, ("roster.a.requires",)),
        ({"a": {"title": "x\n## y"}}, ("roster.a.title",)),
        ({"a": {"marker": "\x1b[31m"}}, ("roster.a.marker",)),
        ({"a": {"purpose": "a\nb"}}, ("roster.a.purpose",)),
    ],
)
def test_a_bad_roster_is_one_line_that_names_the_entry_and_the_field(raw, named):
    error = wrong(raw)
    assert all(name in error for name in named), error
    assert "\n" not in error


def test_an_edge_may_be_spelled_as_people_do():
    roster = build({"data_engineer": {}, "a": {"can_handoff_to": ["Data-Engineer"]}})
    assert roster.find("a").can_handoff_to == ("data_engineer",)
    assert roster.allows("A", "data engineer")
    assert not roster.allows("data_engineer", "a")


def test_an_entry_needs_nothing_but_its_name():
    entry = build({"data_engineer": None}).find("data_engineer")
    assert (entry.title, entry.persona_marker, entry.requires) == (
        "Data Engineer",
        "[data engineer]",
        (),
    )


def test_the_marker_of_the_seed():
    assert (
        build({"frontend_designer": {}}).find("frontend_designer").persona_marker
        == "[frontend designer]"
    )


@given(st.text(max_size=40))
def test_any_name_is_found_or_refused_in_one_printable_line(name):
    roster = build({"solution_architect": {}, "hacker": {}})
    try:
        assert normal(roster.find(name).profile) == normal(name)
    except RequestError as error:
        assert error.code == "unknown_specialist"
        assert str(error).isprintable()
        assert "solution_architect, hacker" in str(error)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("solution_architectect", "solution_architect"),
        ("haker", "hacker"),
        ("architect", "solution_architect"),
        ("wizard", None),
    ],
)
def test_the_nearest_name_is_offered_and_never_taken(name, nearest):
    with pytest.raises(RequestError) as caught:
        build({"solution_architect": {}, "hacker": {}}).find(name)
    assert (f"did you mean {nearest}" in str(caught.value)) is (nearest is not None)


MEANT = {
    "security_data_engineer": "security_person DBA privacy-officer auth_expert",
    "runtime_devops_engineer": "devops ops SRE deployer ci_engineer",
    "requirements_analyst": "analyst business_analyst product_owner",
    "test_debug_engineer": "debugger tester test-automation bug_fixer",
    "quality_reviewer": "qa reviewer qa_engineer quality_inspector",
    "implementation_engineer": "coder developer programmer",
    "frontend_designer": "designer ui ux_designer css-guru a11y",
    "hacker": "pentester penetration_tester",
    "codebase_explorer": "explorer code_navigator",
    "release_auditor": "auditor release_manager",
}


@pytest.mark.parametrize(
    ("name", "meant"), [(name, meant) for meant, names in MEANT.items() for name in names.split()]
)
def test_the_nearest_is_found_by_what_it_is_for(name, meant):
    roster = build(default_settings()["roster"])
    with pytest.raises(RequestError) as caught:
        roster.find(name, "a0_software_orchestrator")
    assert caught.value.hint.startswith(f"did you mean {meant}")
    assert caught.value.hint.endswith(f"specialist_profile {meant}")


def test_a_specialist_of_ones_own_is_found_by_its_purpose():
    roster = build({"translator": {"purpose": "German and French texts"}, "hacker": {}})
    with pytest.raises(RequestError, match="unknown") as caught:
        roster.find("french_writer")
    assert "did you mean translator?" in caught.value.hint


@pytest.mark.parametrize(
    "name",
    ["🖌️ Frontend Designer", "Frontend Designer 🖌️", "[🖌️ frontend designer]", "🖌 frontend_designer"],
)
def test_the_name_a_person_reads_is_the_profile(name):
    assert build({"frontend_designer": {"marker": "🖌️"}}).find(name).profile == "frontend_designer"


@pytest.mark.parametrize(
    "name", ["🐞 Test and Debug Engineer", "test and debug engineer", "[test-and-debug-engineer]"]
)
def test_a_title_is_the_profile_that_bears_it(name):
    roster = build({"tester": {"title": "Test and Debug Engineer", "marker": "🐞"}, "other": {}})
    assert roster.find(name).profile == "tester"


def test_a_profile_name_counts_before_a_title_and_a_title_of_two_is_nobody():
    roster = build({"a": {"title": "B"}, "b": {}, "c": {"title": "X"}, "d": {"title": "x"}})
    assert roster.find("b").profile == "b"
    with pytest.raises(RequestError):
        roster.find("x")


def test_a_marker_alone_is_nobody():
    with pytest.raises(RequestError):
        build({"frontend_designer": {"marker": "🖌️"}}).find("🖌️")


def test_a_profile_with_hyphens_is_reached_and_keeps_its_name():
    assert build({"my-agent": {}}).find("My Agent").profile == "my-agent"


def test_a_roster_has_an_upper_bound_that_is_named():
    error = wrong({f"p{number}": {} for number in range(MAX_ENTRIES + 1)})
    assert str(MAX_ENTRIES + 1) in error
    assert str(MAX_ENTRIES) in error


def normalised(monkeypatch, work):
    """How many names are brought into their normal form meanwhile."""
    calls = []
    monkeypatch.setattr(values_roster, "normal", lambda name: calls.append(name) or normal(name))
    work()
    monkeypatch.undo()
    return len(calls)


@pytest.mark.parametrize("edges", [0, 5])
def test_building_and_looking_up_is_linear_in_the_entries(monkeypatch, edges):
    def raw(count):
        names = [f"p{number}" for number in range(count)]
        return {
            name: {"can_handoff_to": [other for other in names[:edges] if other != name]}
            for name in names
        }

    small = normalised(monkeypatch, lambda: build(raw(100)))
    assert normalised(monkeypatch, lambda: build(raw(200))) <= 2.2 * small
    roster = build(raw(200))
    assert normalised(monkeypatch, lambda: roster.find("P199")) < 5
    assert normalised(monkeypatch, lambda: roster.allows("P199", "p3")) < 5


def test_a_name_of_many_emoji_is_read_in_one_pass():
    assert normal("🖌" * 200_000 + "x" + "🖌" * 200_000) == "x"

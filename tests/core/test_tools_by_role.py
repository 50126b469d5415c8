"""Which tools a role may use: patterns, narrowing, what a handover records of it."""

from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.chain.tools import tools_in
from usr.plugins.software_orchestrator.helpers.flow import deliver, onward, receive
from usr.plugins.software_orchestrator.helpers.records.resources import default_settings
from usr.plugins.software_orchestrator.helpers.text.tools import tools_told
from usr.plugins.software_orchestrator.helpers.values.errors import SettingsError
from usr.plugins.software_orchestrator.helpers.values.roster import build
from usr.plugins.software_orchestrator.helpers.values.settings import settings as checked
from usr.plugins.software_orchestrator.helpers.values.tools import (
    ALWAYS,
    ToolCall,
    Tools,
    tools_named,
)
from usr.plugins.software_orchestrator.helpers.views import story

PATTERNS = (
    "*", "text_editor", "text_editor:*", "text_editor:write", "text_editor*:patch", "*:write", "mcp", "mcp.*",
    "github", "github.*", "github.create_issue", "mcp.github.*", "code_execution_tool:python", "resp*", "brows?r",
)  # fmt: skip
CALLS = (
    ToolCall("text_editor"),
    ToolCall("text_editor", ("write",)),
    ToolCall("text_editor", ("read",)),
    ToolCall("text_editor", ("read", "write")),
    ToolCall("text_editor_remote", ("patch",)),
    ToolCall("code_execution_tool", ("python",)),
    ToolCall("browser"),
    ToolCall("github.create_issue", is_mcp=True),
    ToolCall("notes.write", ("x",), is_mcp=True),
    *(ToolCall(name) for name in sorted(ALWAYS)),
)
patterns = st.lists(st.sampled_from(PATTERNS), max_size=3).map(tuple)
tools = st.builds(Tools, denied=patterns, allowed=st.lists(patterns, max_size=2).map(tuple))


def may(rules, name, *methods, is_mcp=False):
    return rules.allows(ToolCall(name, methods, is_mcp))


@given(st.lists(tools, min_size=1, max_size=4))
def test_narrowing_allows_exactly_what_everybody_on_the_line_allows(line):
    narrowed = Tools()
    for each in line:
        narrowed = narrowed.narrowed(each)
    for call in CALLS:
        assert narrowed.allows(call) == all(each.allows(call) for each in line)
    assert Tools.model_validate_json(narrowed.model_dump_json()) == narrowed


@given(tools, st.sampled_from(CALLS))
def test_denied_wins_over_every_allow_list_and_never_over_the_means_to_answer(rules, call):
    without_list = Tools(denied=rules.denied)
    if not without_list.allows(call):
        assert not rules.allows(call)
    assert all(rules.allows(ToolCall(name)) for name in ALWAYS)


@given(tools, st.sampled_from(CALLS))
def test_what_is_not_offered_could_not_be_used_either(rules, call):
    if rules.allows(call):
        assert rules.allows_some(call.name)


@given(tools)
def test_what_a_refusal_says_may_be_used_can_be_used(rules):
    assert all(rules.allows_some(name) for name in rules.listed())


@pytest.mark.parametrize(
    "pattern", ["text_editor:write", "Text-Editor:Write", " `text_editor.write` ", "TEXT_EDITOR:WRITE", "text editor:write"]
)  # fmt: skip
@pytest.mark.parametrize(
    ("name", "method", "args"),
    [
        ("text_editor", "write", {"path": "x"}),
        ("text_editor", None, {"action": "write"}),
        ("text_editor", None, {"action": " WRITE\n"}),
        ("text_editor", None, {"action": " " * 500 + "write"}),
        ("text_editor", None, {"method": "write"}),
        ("text_editor", "read", {"action": "write"}),
        ("text_editor", None, {"action": "read", "method": "Write"}),
        ("text_editor:write", None, None),
        ("Text_Editor", "write", "no object"),
        ("ｔｅｘｔ_editor", None, {"action": "ｗｒｉｔｅ"}),
        ("text\u200b_editor", "write", {}),
        ("../tools/text_editor", "write", {}),
        ("./text_editor", None, {"action": "write"}),
        ("..\\text_editor", "write", {}),
    ],
)
def test_a_call_is_the_same_in_every_spelling(pattern, name, method, args):
    rules = Tools(denied=(pattern,))
    assert not rules.allows(ToolCall.of(name, method, args))
    assert rules.allows(ToolCall.of("text_editor", "read", {"content": "write"}))
    assert rules.allows(ToolCall.of("text_editor_remote", "write", {}))


def test_an_allow_list_lets_nothing_else_through_in_any_reading():
    rules = Tools(allowed=("text_editor:read", "code_execution_tool:terminal", "github.*"))
    assert may(rules, "text_editor", "read") and may(rules, "code_execution_tool", "terminal")
    assert may(rules, "github.create_issue", is_mcp=True)
    assert not may(rules, "text_editor") and not may(rules, "text_editor", "read", "write")
    assert not rules.allows(ToolCall.of("code_execution_tool", None, {"runtime": "python"}))
    assert not may(rules, "evil/code_execution_tool", "terminal")
    assert not may(rules, "mcp.other", is_mcp=True)
    assert may(rules, "response") and not may(rules, "response", is_mcp=True)


def test_mcp_patterns_mean_mcp_tools_and_no_others():
    rules = Tools(denied=("mcp.*",))
    assert not may(rules, "github.create_issue", is_mcp=True)
    assert may(rules, "browser") and may(
        Tools(denied=("github.delete*",)), "github.get", is_mcp=True
    )
    assert not may(Tools(denied=("mcp.github.delete_*",)), "github.delete_repo", is_mcp=True)
    assert not rules.allows_some("github.create_issue") and rules.allows_some("browser")


@pytest.mark.parametrize("empty", [(), [], [[]]])
def test_an_empty_list_restricts_nothing(empty):
    assert not Tools(allowed=empty) and may(Tools(allowed=empty), "anything")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"denied": "browser"}, "tools.denied"),
        ({"denied": ["response"]}, "cannot be denied"),
        ({"denied": ["Handover-Reply:*"]}, "cannot be denied"),
        ({"denied": ["write and patch!"]}, "tools.denied"),
        ({"denied": [""]}, "tools.denied"),
        ({"forbidden": ["browser"]}, "tools.forbidden"),
        ({"allowed": [f"tool_{number}" for number in range(101)]}, "more than 100"),
        (["browser"], "tools"),
    ],
)
def test_settings_that_cannot_be_meant_are_named(fields, told):
    with pytest.raises(SettingsError) as caught:
        build({"hacker": {"tools": fields}})
    assert told in str(caught.value) and "roster.hacker.tools" in str(caught.value)


def test_a_pattern_that_also_covers_the_means_to_answer_is_taken():
    roster = build({"hacker": {"tools": {"denied": ["*"]}}})
    assert roster.find("hacker").tools.allows(ToolCall("response"))


def test_the_four_that_only_look_may_not_write_with_the_editor_as_shipped():
    roster = build(default_settings()["roster"])
    for entry in roster.entries:
        looks = entry.profile in (
            "requirements_analyst", "codebase_explorer", "quality_reviewer", "release_auditor",
        )  # fmt: skip
        for editor in ("text_editor", "text_editor_remote"):
            assert may(entry.tools, editor, "read")
            assert may(entry.tools, editor, "write") is not looks
            assert may(entry.tools, editor, "patch") is not looks
        assert may(entry.tools, "code_execution_tool", "terminal")


KNOWN = frozenset({"text_editor", "browser", "input", "github."})


def test_words_that_name_no_tool_are_no_tools():
    words = (
        "write", "deploy to production", "index.html", "v1.2", "`Text Editor`", "to browser", "mcp.*",
        "github.create_issue", "text_editor:patch", "response", "*", "x" * 5000, "", "no tool *at all*",
    )  # fmt: skip
    assert tools_named(words, KNOWN).denied == (
        "text_editor", "browser", "mcp.*", "github.create_issue", "text_editor:patch", "*",
    )  # fmt: skip


def test_what_is_told_is_bounded_and_says_how_much_is_left_out():
    many = Tools(denied=tuple(f"tool_{number}" for number in range(40)))
    assert tools_told(many).endswith("and 28 more")
    one = Tools(allowed=("text_editor", "browser")).narrowed(Tools(allowed=("text_editor:read",)))
    assert tools_told(one) == "only text_editor:read"
    assert "answer" in tools_told(Tools(allowed=("a",)).narrowed(Tools(allowed=("b",))))


# --- what a handover records


def with_tools(**roles):
    """The shipped roster with these tools."""
    roster = deepcopy(default_settings()["roster"])
    for profile, given_tools in roles.items():
        roster[profile]["tools"] = given_tools
    return roster


def works_with(desk, prepared):
    chain = desk.chain()
    return tools_in(chain, chain.find(prepared.packet.identity.handover_id), desk.settings.roster)


def test_nobody_inside_a_handover_has_more_tools_than_whoever_works_in_it(open_desk):
    desk = open_desk(
        roster=with_tools(
            solution_architect={"denied": ["browser"], "allowed": ["b*", "text_editor"]}
        )
    )
    first = desk.call("solution_architect")
    desk.deliver(first)
    part = {"specialist_profile": "codebase_explorer", "topic": "x", "summary": "s"}
    inner = desk.raw(part, desk.inside(first))
    assert not may(works_with(desk, inner), "browser")
    assert not may(works_with(desk, inner), "code_execution_tool", "terminal")
    assert not may(works_with(desk, inner), "text_editor", "write")
    assert may(works_with(desk, inner), "text_editor", "read")
    assert may(works_with(desk, first), "text_editor", "write")


def test_what_was_recorded_holds_when_the_settings_are_changed_and_what_they_add_too(open_desk):
    desk = open_desk(roster=with_tools(hacker={"denied": ["browser"]}))
    prepared = desk.call("hacker")
    desk.settings = checked(
        default_settings(), {"roster": with_tools(hacker={"denied": ["input"]})}
    )
    assert not may(works_with(desk, prepared), "browser") and not may(
        works_with(desk, prepared), "input"
    )
    roster = with_tools()
    del roster["hacker"]
    for entry in roster.values():
        entry["can_handoff_to"] = [name for name in entry["can_handoff_to"] if name != "hacker"]
    desk.settings = checked(default_settings(), {"roster": roster})
    assert not may(works_with(desk, prepared), "browser")


def test_tools_named_among_denied_words_are_enforced_and_granted_ones_change_nothing(open_desk):
    roster = with_tools(hacker={"denied": ["browser"]})
    roster["hacker"]["authority"] = {"granted": ["read"], "denied": ["input"]}
    desk = open_desk(roster=roster)
    desk.caller = replace(desk.caller, tools=lambda: KNOWN)
    words = {
        "granted": ["browser", "text_editor", "deploy"],
        "denied": ["the weather", "Text Editor:write"],
    }
    prepared = desk.call("hacker", authority=words)
    rules = works_with(desk, prepared)
    assert (
        not may(rules, "browser")
        and not may(rules, "input")
        and not may(rules, "text_editor", "write")
    )
    assert may(rules, "text_editor", "read") and may(rules, "code_execution_tool")
    text = deliver.deliver(prepared.packet.identity.handover_id, desk.as_call(), way="start").text
    told = next(line for line in text.splitlines() if "enforced" in line)
    assert "text_editor:write" in told and "input" in told and "browser" in told
    assert "weather" not in told and "the weather" in text


def test_a_leg_has_the_tools_of_its_own_role(desk):
    first = desk.call("release_auditor", authority={"denied": ["mcp.*"]})
    desk.deliver(first)
    note = {"what_happened": "w", "observations": "o", "user_state": "u", "next": "n"}
    wish = {
        "verdict": "done",
        "hand_to": "implementation_engineer",
        "decisions": ["fix it"],
        **note,
    }
    receive.reply(wish, desk.as_call(desk.inside(first)))
    leg = onward.next_leg(first.packet.identity.handover_id, desk.as_call())
    assert may(works_with(desk, leg), "text_editor", "write")
    assert not may(works_with(desk, leg), "github.create_issue", is_mcp=True)


def test_refused_tools_are_recorded_each_once_and_never_without_end(desk):
    prepared = desk.call("release_auditor")
    desk.deliver(prepared)
    handover_id = prepared.packet.identity.handover_id
    for number in range(50):
        receive.note_refused_tool(handover_id, "text_editor:write", desk.as_call())
        receive.note_refused_tool(handover_id, f"tool_{number}", desk.as_call())
    refused = [event.payload for event in desk.events() if event.kind == "refused"]
    assert len(refused) == receive.MOST_TOOLS_NOTED
    assert [payload.tool for payload in refused[:2]] == ["text_editor:write", "tool_0"]
    assert {payload.code for payload in refused} == {"authority"}


def test_a_ledger_of_before_has_no_tools_of_its_own(desk):
    prepared = desk.call("hacker")
    event = next(event for event in desk.events() if event.kind == "prepared")
    old = replace(
        event, data={name: value for name, value in event.data.items() if name != "tools"}
    )
    assert old.payload.tools == Tools() == works_with(desk, prepared)


def test_the_audit_page_shows_what_is_enforced_and_what_was_tried(desk):
    prepared = desk.call("release_auditor")
    desk.deliver(prepared)
    handover_id = prepared.packet.identity.handover_id
    receive.note_refused_tool(handover_id, "text_editor:write", desk.as_call())
    told = story.story(desk.chain().id, desk.events())
    assert "text_editor*:write" in story.packet_of(told, handover_id)["tools"]
    assert any("text_editor:write" in mark["text"] for mark in story.timeline(told)["marks"])


@settings(max_examples=15)
@given(st.tuples(tools, tools, tools), st.tuples(patterns, patterns, patterns))
def test_over_any_parent_line_nobody_gets_more_than_whoever_started_it(
    open_desk, roles, denied_by_call
):
    line = ("solution_architect", "implementation_engineer", "quality_reviewer")
    given_tools = {name: role.model_dump() for name, role in zip(line, roles, strict=True)}
    desk = open_desk(roster=with_tools(**given_tools))
    desk.caller = replace(desk.caller, tools=lambda: KNOWN)
    caller, around = desk.caller, Tools()
    for name, own, denied in zip(line, roles, denied_by_call, strict=True):
        arguments = {"specialist_profile": name, "topic": name, "summary": name}
        root = {"project_root": str(desk.root)}
        prepared = desk.raw({**arguments, **root, "authority": {"denied": list(denied)}}, caller)
        desk.deliver(prepared)
        inside = works_with(desk, prepared)
        for tool in CALLS:
            if inside.allows(tool):
                assert around.allows(tool) and own.allows(tool)
                assert tools_named(denied, KNOWN).allows(tool)
        caller, around = desk.inside(prepared), inside

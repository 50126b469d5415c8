"""Tools by role inside the host: refused in words before one runs, in both shapes, also for helpers and workers."""

import json

import pytest
from host_double.assemble import NATIVE, SHAPES, assemble
from host_double.handover_kit import call, done, hand_over, of_kind, respond, result_of

SAVED = "usr/plugins/software_orchestrator/config.json"
RAN = "from usr.plugins.probe.helpers.ran import ran"
TOOL = f"""
from helpers.tool import Response, Tool
{RAN}


class Probe(Tool):
    async def execute(self, **kwargs):
        ran.append((self.name, self.method or kwargs.get("action")))
        return Response(message="it ran", break_loop=False)
"""


@pytest.fixture(params=[*SHAPES, NATIVE])
def tree(request, tmp_path):
    """A host with an editor and a terminal that only note that they ran."""
    made = assemble(tmp_path / "a0", shape=request.param)
    files = {f"tools/{name}.py": TOOL for name in ("text_editor", "code_execution_tool")}
    made.add_plugin("probe", {**files, "helpers/ran.py": "ran = []\n"})
    return made


@pytest.fixture
def host(tree):
    """The same started, with an MCP server."""
    with tree.enter() as host:
        from helpers.mcp_handler import MCPConfig, Server

        MCPConfig.get_instance().servers.append(Server("github", ["create_issue", "get_issue"]))
        host.project("acme")
        yield host


def ran():
    from usr.plugins.probe.helpers.ran import ran

    return ran


def mcp_calls():
    from helpers.mcp_handler import MCPConfig

    return MCPConfig.get_instance().servers[0].called


def roles(host, **tools):
    """The shipped roster with these tools, saved for the installation."""
    from usr.plugins.software_orchestrator.helpers.records import resources

    roster = json.loads(json.dumps(resources.default_settings()["roster"]))
    for profile, rules in tools.items():
        roster.setdefault(profile, {})["tools"] = rules
    host.root.joinpath(SAVED).write_text(json.dumps({"roster": roster}), "utf-8")


def seen_by(host, tool, agent):
    text = host.tool_results(tool, agent)[-1]["tool_result"]
    assert text.startswith("ERROR: ") and "not yours to use" in text, text


EDIT = {"path": "a.txt", "content": "x"}


@pytest.mark.parametrize(
    "tried",
    [
        call("text_editor:write", **EDIT),
        call("text_editor", action="write", **EDIT),
        call("text_editor", method="Write", **EDIT),
        call("./text_editor:patch", **EDIT),
        call("Text-Editor:WRITE", **EDIT),
    ],
)
def test_a_reviewer_that_writes_is_refused_in_words_and_goes_on(host, tried):
    seen = []

    def read(agent):
        seen.extend(one for one in host.contents(agent) if "tool_result" in one)
        return call("text_editor:read", path="a.txt")

    host.script(
        {
            "agent0": [hand_over("quality_reviewer", start=True), respond("ok")],
            "quality_reviewer": [tried, read, done()],
        }
    )
    assert host.say("Please review the hero") == "ok"
    assert ran() == [("text_editor", "read")]
    told = seen[-1]["tool_result"]
    assert told.startswith("ERROR: ") and "all but text_editor*:write" in told
    assert seen[-1]["error_code"] == "authority"
    folder = host.root / "usr/projects/acme"
    (event,) = of_kind(folder, "refused")
    assert event["data"]["code"] == "authority" and "editor" in event["data"]["tool"]
    assert (event["to"], result_of(host)["reply"]["verdict"]) == ("quality_reviewer", "done")


def test_mcp_tools_are_refused_where_they_pass_and_those_that_may_run(host):
    roles(host, frontend_designer={"denied": ["mcp.github.create*"]})
    host.script(
        {
            "agent0": [
                call("github.create_issue", title="mine"),
                hand_over(start=True),
                respond("ok"),
            ],
            "frontend_designer": [
                call("github.create_issue", title="no"),
                lambda agent: seen_by(host, "github.create_issue", agent),
                call("github.get_issue", number=1),
                done(),
            ],
        }
    )
    assert host.say("Please look") == "ok"
    assert mcp_calls() == [{"title": "mine"}, {"number": 1}]


def test_a_plain_helper_has_at_most_the_tools_of_whoever_started_it(host):
    helped = call("call_subordinate", message="write it for me", reset="true", profile="developer")
    host.script(
        {
            "agent0": [hand_over("quality_reviewer", start=True), respond("ok")],
            "quality_reviewer": [helped, done()],
            "developer": [
                call("text_editor:write", **EDIT),
                lambda agent: seen_by(host, "text_editor", agent),
                call("code_execution_tool", runtime="terminal", code="ls"),
                respond("I could not"),
            ],
        }
    )
    assert host.say("Please review") == "ok"
    assert [name for name, _ in ran()] == ["code_execution_tool"]
    assert [event["to"] for event in of_kind(host.root / "usr/projects/acme", "refused")] == [
        "quality_reviewer"
    ]


def test_a_refused_call_subordinate_starts_and_delivers_nothing(host):
    folder = host.root / "usr/projects/acme"
    roles(host, solution_architect={"denied": ["call_subordinate"]})

    def start_it(agent):
        step = json.JSONDecoder().raw_decode(
            host.tool_results("handover_to_specialist", agent)[-1]["tool_result"]
        )[0]["next_step"]
        return json.loads(step[step.index("{") :])

    host.script(
        {
            "agent0": [hand_over("solution_architect", start=True), respond("ok")],
            "solution_architect": [
                hand_over("codebase_explorer"),
                start_it,
                lambda agent: seen_by(host, "call_subordinate", agent),
                done(),
            ],
        }
    )
    assert host.say("Please plan") == "ok"
    assert [event["to"] for event in of_kind(folder, "delivered")] == ["solution_architect"]


def test_a_denial_in_the_call_holds_after_a_restart(tree):
    def first(agent):
        return call("handover_reply", verdict="accept")

    with tree.enter() as host:
        folder = host.project("acme")
        step = hand_over(
            "frontend_designer", start=True, authority={"denied": ["Text Editor:write"]}
        )
        host.script({"agent0": [step], "frontend_designer": [first, lambda: host.cancel()]})
        with pytest.raises(BaseException):  # noqa: B017 - whatever ends a stopped chat
            host.say("Please build")
        host.settle()
        host.save()
    with tree.enter() as host:
        host.load_chats()
        (event,) = of_kind(folder, "prepared")
        assert event["data"]["tools"]["denied"] == ["text_editor:write"]
        specialist = host.subordinate()
        if specialist is None:  # a chat of its own, found by its ids
            specialist = next(chat for chat in host.chats() if chat is not host.context).agent0
        told = host.tool("text_editor", specialist, action="write")
        assert told.error and "not yours" in told.message
        assert ran() == []
        assert host.tool("text_editor", specialist, action="read").message == "it ran"


def test_who_works_in_no_handover_is_bound_by_its_role_alone(host):
    folder = host.root / "usr/projects/acme"
    host.script(
        {
            "agent0": [
                call("text_editor:write", **EDIT),
                call(
                    "call_subordinate", message="review", reset="true", profile="quality_reviewer"
                ),
                respond("ok"),
            ],
            "quality_reviewer": [
                call("text_editor:write", **EDIT),
                lambda agent: seen_by(host, "text_editor", agent),
                respond("reviewed"),
            ],
        }
    )
    assert host.say("Please review") == "ok"
    assert ran() == [("text_editor", "write")]
    assert not (folder / ".a0proj/handover").exists()


def test_what_may_not_be_used_is_told_in_the_prompt_and_not_offered(host):
    from usr.plugins.software_orchestrator.helpers.host import functions

    roles(
        host,
        frontend_designer={
            "denied": ["mcp.*", "browser"],
            "allowed": ["text_editor:read", "github.*", "browser"],
        },
    )
    names = (
        "response",
        "browser",
        "text_editor",
        "code_execution_tool",
        "github_get_issue_1a",
        "handover_to_specialist",
    )
    seen = {}

    def look(agent):
        agent.data["responses_tool_name_map"] = {"github_get_issue_1a": "github.get_issue"}
        call_data = {"a0_responses_function_tools": [{"name": name} for name in names]}
        functions.offer(agent, call_data)
        seen["offered"] = {item["name"] for item in call_data["a0_responses_function_tools"]}
        seen["prompt"] = str(host.model_calls[-1]["messages"][0].content)
        return done()

    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [look],
        }
    )
    assert host.say("Please look") == "ok"
    assert seen["offered"] == {"response", "text_editor", "handover_reply", "request_full_history"}
    (line,) = [line for line in seen["prompt"].splitlines() if "enforced" in line]
    assert "text_editor:read" in line and "mcp" in line
    assert "enforced" not in host.system_prompt(host.agent0)


def test_a_restricted_role_reads_no_more_than_a_specialist_may():
    from usr.plugins.software_orchestrator.helpers.records import resources
    from usr.plugins.software_orchestrator.helpers.text import tokens
    from usr.plugins.software_orchestrator.helpers.text.tools import told_in_prompt
    from usr.plugins.software_orchestrator.helpers.values.roster import build

    names = ("specialist", "tool_handover_reply", "tool_request_full_history")
    base = "\n".join(map(resources.text, names))
    for entry in build(resources.default_settings()["roster"]).entries:
        assert tokens.counter().count(base + told_in_prompt(entry.tools)) <= 470


def test_settings_that_cannot_be_read_lift_nothing(host):
    def spoil(agent):
        host.root.joinpath(SAVED).write_text("{no json", "utf-8")

    host.script(
        {
            "agent0": [hand_over("quality_reviewer", start=True), respond("ok")],
            "quality_reviewer": [spoil, call("text_editor:write", **EDIT), done(), respond("done")],
        }
    )
    host.say("Please review")
    assert ran() == []


def test_a_record_that_is_away_lifts_nothing(host):
    chains = host.root / "usr/projects/acme/.a0proj/handover/chains"

    def away(agent):
        chains.rename(chains.with_name("away"))

    def back(agent):
        seen_by(host, "text_editor", agent)
        chains.with_name("away").rename(chains)

    host.script(
        {
            "agent0": [hand_over("quality_reviewer", start=True), respond("ok")],
            "quality_reviewer": [
                call("handover_reply", verdict="accept"),
                away,
                call("text_editor:read", path="a"),
                call("text_editor:write", **EDIT),
                back,
                done(),
            ],
        }
    )
    assert host.say("Please review") == "ok"
    assert ran() == [("text_editor", "read")]


def test_the_workers_of_parallel_have_the_tools_of_whoever_started_them(children):
    from helpers import parallel_tools

    children.project("acme")
    told = []

    async def in_parallel(agent):
        job = {"action": "write", **EDIT}
        told.append(await parallel_tools.run_tool_job(agent, "text_editor", job))
        return done()

    children.script(
        {
            "agent0": [hand_over("quality_reviewer", start=True), respond("ok")],
            "quality_reviewer": [in_parallel],
        }
    )
    assert children.say("Please review") == "ok"
    assert "not yours to use" in told[0]
    assert len(of_kind(children.root / "usr/projects/acme", "refused")) == 1


def test_a_parallel_call_with_a_refused_one_inside_starts_none_of_them(children):
    children.project("acme")
    roles(children, quality_reviewer={"denied": ["call_subordinate", "text_editor:write"]})
    message = {"message": "write it", "profile": "developer", "reset": "true"}
    inner = [{"tool_name": "call_subordinate", "tool_args": message}]

    def second(agent):
        told = children.tool_results("parallel", agent)[-1]["tool_result"]
        assert "call_subordinate is not yours to use" in told
        return done()

    children.script(
        {
            "agent0": [hand_over("quality_reviewer", start=True), respond("ok")],
            "quality_reviewer": [call("parallel", tool_calls=json.dumps(inner)), second],
        }
    )
    assert children.say("Please review") == "ok"
    assert not any("developer" in asked["names"] for asked in children.model_calls)


def test_a_helper_and_a_copied_chat_keep_the_limits_of_the_handover(host):
    from helpers import persist_chat

    seen = []

    def copied(agent):
        saved = persist_chat.export_json_chat(agent.context)
        seen.append(saved)
        return done()

    host.script(
        {
            "agent0": [
                hand_over(start=True, authority={"denied": ["text_editor:write"]}),
                respond("ok"),
            ],
            "frontend_designer": [call("handover_reply", verdict="accept"), copied],
        }
    )
    assert host.say("Please build") == "ok"
    (new_id,) = persist_chat.load_json_chats(seen)
    branched = host.chat(new_id)
    agent = branched.agent0.data.get("_subordinate") or branched.agent0
    for _ in range(2):
        told = host.tool("text_editor", agent, action="write")
        assert told.error and "not yours" in told.message
        assert "software_orchestrator" not in agent.data
    assert host.tool("text_editor", agent, action="read").message == "it ran"

"""The double behaves as the host does: each test is a fact of the host that the plugin has to live with.

A number in a name is that of the fact in the list from which the plugin was designed; docs/sources.md has those that the
code names.
"""

import json
import sys
import threading

import pytest
from host_double.assemble import REPOSITORY, assemble, call, respond

ECHO = """
from helpers.tool import Response, Tool


class Echo(Tool):
    async def execute(self, **kwargs):
        return Response(message=str(kwargs.get("text", "")), break_loop=bool(kwargs.get("end")))
"""
KEEP = "from usr.plugins.probe.helpers.kept import kept"


def source_of(kind, body, *imports, start="async def"):
    """A class of that kind ("tool.Tool"), whose `execute(self, **kwargs)` is `body`."""
    module, name = kind.split(".")
    head = "\n".join([f"from helpers.{module} import {name}", *imports])
    lines = "\n".join(f"        {line}" for line in body.strip().splitlines())
    return f"{head}\n\n\nclass Probe({name}):\n    {start} execute(self, **kwargs):\n{lines}\n"


def probe(body, *imports):
    return source_of("tool.Tool", body, "from helpers.tool import Response", *imports)


def extension(body, *imports, sync=False):
    return source_of("extension.Extension", body, *imports, start="def" if sync else "async def")


def row(text):
    """An extension that shows the text as a row of the chat."""
    return extension(f'self.agent.context.log.log(type="info", content="{text}")')


def shown(host):
    return [row["content"] for row in host.rows(type="info")]


def kept():
    from usr.plugins.probe.helpers.kept import kept

    return kept


def bare(tmp_path, shape):
    """A host without our plugin; the plugin `probe` has a tool `echo` and a list `kept`."""
    made = assemble(tmp_path / "a0", shape=shape, plugin=False)
    made.add_plugin("probe", {"tools/echo.py": ECHO, "helpers/kept.py": "kept = []\n"})
    made.add_profile("frontend_designer")
    return made


@pytest.fixture
def tree(tmp_path):
    return bare(tmp_path, "linear")


@pytest.fixture
def host(tree):
    with tree.enter() as entered:
        yield entered


@pytest.fixture
def children(tmp_path):
    return bare(tmp_path, "children")


def handed_over(**more):
    args = {"message": "Build the hero", "profile": "frontend_designer", "reset": True}
    return call("call_subordinate", **{**args, **more})


def built(host, *designer):
    """The orchestrator hands over and says "done"; the specialist answers so."""
    host.script({"agent0": [handed_over(), respond("done")]})
    host.script({"frontend_designer": [*designer, respond("built")]})
    return host.say("go")


# ---------------------------------------------------------------------- whose modules


def test_helpers_is_the_hosts_folder_and_the_plugins_is_found_by_its_full_name(
    host_tree, monkeypatch
):
    import_both = "import helpers, usr.plugins.software_orchestrator.helpers as own\n"
    printed = host_tree.run(f"{import_both}print(*helpers.__path__, *own.__path__)").split()
    assert printed == [str(host_tree.root / "helpers"), str(host_tree.plugin / "helpers")]
    monkeypatch.syspath_prepend(str(host_tree.plugin))
    with host_tree.enter():
        import helpers
        import usr.plugins.software_orchestrator.helpers as own

        assert [*helpers.__path__, *own.__path__] == printed
        with pytest.raises(ModuleNotFoundError):
            import helpers.values


def test_what_was_imported_before_is_there_again_afterwards(tree):
    def ours():
        return {name: one for name, one in sys.modules.items() if name.startswith("usr")}

    before, finders = ours(), list(sys.meta_path)
    with tree.enter():
        import helpers.tool  # noqa: F401
    assert (ours(), sys.meta_path) == (before, finders)
    assert "agent" not in sys.modules
    assert not [thread for thread in threading.enumerate() if thread.name == "AgentContext"]


def test_a_second_start_has_new_modules_and_only_the_disk_in_common(tree):
    with tree.enter() as host:
        first = sys.modules["double_script"]
        host.script({"agent0": respond("one")})
        assert host.say("hello") == "one"
        ident = host.context.id
    with tree.enter() as host:
        assert sys.modules["double_script"] is not first
        assert host.chats() == []
        assert host.load_chats() == [ident]
        assert {"user_message": "hello"} in host.contents()


def test_a_script_without_an_answer_and_a_failed_assertion_in_one_fail_the_test(host):
    host.script({"agent0": call("echo", text="1")})
    with pytest.raises(AssertionError, match="no answer left for agent0#0 / agent0 / A0"):
        host.say("go")
    assert len(host.model_calls) == 2

    def wrong():
        raise AssertionError("seen")

    host.script({"agent0": wrong})
    with pytest.raises(AssertionError, match="seen"):
        host.say("go")


def test_writing_into_one_tree_changes_no_other(tmp_path):
    first, second = (assemble(tmp_path / name, plugin=False) for name in ("a", "b"))
    first.write("prompts/fw.msg_repeat.md", "mine")
    third = assemble(tmp_path / "c", plugin=False)
    texts = [(one.root / "prompts/fw.msg_repeat.md").read_text() for one in (first, second, third)]
    assert texts[0] == "mine" != texts[1] == texts[2]


# ---------------------------------------------------------------------- 2 to 6: loading


def test_2_a_tool_file_runs_afresh_on_every_call_and_is_in_no_sys_modules(tree):
    body = 'count.append(1)\nreturn Response(f"{len(count)} {__name__ in sys.modules}", False)'
    tree.add_plugin("probe", {"tools/fresh.py": probe(body, "import sys", "count = []")})
    with tree.enter() as host:
        assert [host.tool("fresh", x=1).message for _ in range(2)] == ["1 False", "1 False"]


def test_2_a_dataclass_with_future_annotations_in_a_tool_file_does_not_load(tree):
    start = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    source = start + probe("return None") + "\n\n@dataclass\nclass Value:\n    x: int\n"
    tree.add_plugin("probe", {"tools/future.py": source})
    with tree.enter() as host:
        assert "there is no tool future" in host.tool("future", x=1).message
        assert isinstance(host.swallowed[0], AttributeError)


def test_2_helpers_of_a_plugin_stay_loaded_until_they_are_purged(tree):
    store = "from usr.plugins.probe.helpers import store"
    tool = probe("return Response(store.VALUE, False)", store)
    tree.add_plugin("probe", {"tools/stored.py": tool, "helpers/store.py": 'VALUE = "old"\n'})
    with tree.enter() as host:
        from helpers import plugins

        assert host.tool("stored", x=1).message == "old"
        tree.write("usr/plugins/probe/helpers/store.py", 'VALUE = "newer"\n')
        host.forget_caches()
        assert host.tool("stored", x=1).message == "old"
        plugins.after_plugin_change(["probe"], python_change=True)
        assert host.tool("stored", x=1).message == "newer"


@pytest.mark.parametrize("fault", ["import not_there_at_all", "1 / 0", "def broken(:"])
def test_3_a_tool_that_fails_to_import_is_not_found_without_a_trace(tree, fault):
    tree.add_plugin("probe", {"tools/broken.py": fault + "\n" + ECHO})
    with tree.enter() as host:
        host.script({"agent0": [call("broken", text="x"), respond("ok")]})
        assert host.say("go") == "ok"
        assert "there is no tool broken" in host.tool_results("broken")[0]["tool_result"]
        assert host.rows(type="warning") == host.rows(type="error") == []


def test_3_a_package_that_the_hosts_python_lacks_can_be_taken_away(tree):
    tree.add_plugin("probe", {"tools/needy.py": "import slugify\n" + ECHO})
    with tree.enter(without=("slugify",)) as host:
        assert "there is no tool needy" in host.tool("needy", text="x").message
        assert host.swallowed[0].name == "slugify"
    with tree.enter() as host:
        assert host.tool("needy", text="x").message == "x"


def test_4_the_last_tool_class_of_the_alphabet_is_used_imported_ones_included(tree):
    zebra = probe('return Response("zebra", False)').replace("class Probe", "class Zebra")
    tree.write("tools/zebra.py", zebra)
    body = 'return Response("mine", False)'
    by_class = probe(body, "from tools.zebra import Zebra")
    by_module = probe(body, "import tools.zebra")
    tree.add_plugin("probe", {"tools/mine.py": by_class, "tools/module.py": by_module})
    with tree.enter() as host:
        assert host.tool("mine", x=1).message == "zebra"
        assert host.tool("module", x=1).message == "mine"


def test_5_extensions_run_by_base_name_which_one_plugin_takes_from_another_and_from_the_core(tree):
    point = "extensions/python/message_loop_start"
    mask = "extensions/python/hist_add_before/_10_mask_content.py"
    tree.add_plugin("aaa", {f"{point}/_50_same.py": row("a"), f"{point}/_60_late.py": row("60")})
    tree.add_plugin("bbb", {f"{point}/_50_same.py": row("b"), f"{point}/_20_early.py": row("20")})
    tree.add_plugin("ccc", {mask: extension("pass", sync=True)})
    with tree.enter() as host:
        host.secrets(TOKEN="hunter22")
        host.script({"agent0": respond("ok")})
        host.say("my word is hunter22")
        assert shown(host) == ["20", "a", "60"]
        assert {"user_message": "my word is hunter22"} in host.contents()


@pytest.mark.parametrize("point", ["agent_init", "hist_add_before", "hist_add_tool_result"])
def test_5_an_asynchronous_extension_at_a_synchronous_point_raises(tree, point):
    tree.add_plugin("aaa", {f"extensions/python/{point}/_50_async.py": extension("pass")})
    with tree.enter() as host, pytest.raises(ValueError, match="synchronous"):
        host.tool("echo", text="x")


def test_5_an_extension_file_that_does_not_import_raises_at_every_use_of_its_point(tree):
    path = "extensions/python/message_loop_start/_50_broken.py"
    tree.add_plugin("aaa", {path: "import not_there_at_all\n"})
    with tree.enter() as host:
        from helpers.errors import HandledException

        with pytest.raises(HandledException, match="not_there_at_all"):
            host.say("go")


def test_5_extension_files_are_kept_until_the_caches_are_cleared(tree):
    path = "extensions/python/message_loop_start/_50_kept.py"
    tree.add_plugin("aaa", {path: row("old")})
    with tree.enter() as host:
        host.script({"agent0": [respond("1"), respond("2"), respond("3")]})
        host.say("go")
        tree.write(f"usr/plugins/aaa/{path}", row("changed"))
        host.say("go")
        host.forget_caches()
        host.say("go")
        assert shown(host) == ["old", "old", "changed"]


def test_6_hooks_get_the_arguments_they_name(tree):
    install = "def install():\n    return 'done'\n"
    save = "def save_plugin_config(settings, default):\n    return settings | {'by': 'hook'}\n"
    tree.add_plugin("probe", {"hooks.py": install + save})
    with tree.enter() as host:
        from helpers import plugins

        assert host.hook("install", "probe") == "done"
        assert host.hook("not_there", "probe") is None
        plugins.save_plugin_config("probe", "", "", {"a": 1})
        assert plugins.get_plugin_config("probe") == {"a": 1, "by": "hook"}


# ---------------------------------------------------------------------- 9 to 11: arguments


EMPTY = '{"tool_name": "echo", "tool_args": {}}'


@pytest.mark.parametrize("request_text", [EMPTY, '{"tool_name": "echo"}'])
def test_9_a_call_without_arguments_never_reaches_the_tool(host, request_text):
    host.script({"agent0": [request_text, respond("ok")]})
    assert host.say("go") == "ok"
    assert host.tool_results("echo") == []
    assert "tool_args" in host.warnings()[0]


def test_9_two_such_calls_in_one_run_kill_the_chain_even_with_a_good_one_between(host):
    from helpers.errors import HandledException

    host.script({"agent0": [EMPTY, call("echo", text="good"), EMPTY + " "]})
    with pytest.raises(HandledException, match="tool_args"):
        host.say("go")
    assert host.rows(type="error")


def test_9_an_extension_can_fill_the_empty_arguments(tree):
    body = (
        'request = kwargs["data"]["args"][1]\n'
        'request["tool_args"] = request["tool_args"] or {"text": "filled"}'
    )
    point = "extensions/python/_functions/agent/Agent/validate_tool_request/start/_50_fill.py"
    tree.add_plugin("probe", {point: extension(body)})
    with tree.enter() as host:
        host.script({"agent0": [EMPTY, respond("ok")]})
        assert host.say("go") == "ok"
        assert host.tool_results("echo")[0]["tool_result"] == "filled"


def test_10_an_unknown_keyword_crashes_a_tool_without_kwargs(tree):
    tree.add_plugin("probe", {"tools/strict.py": ECHO.replace("**kwargs", "text=''")})
    with tree.enter() as host:
        host.script({"agent0": [call("strict", text="a", colour="blue"), respond("ok")]})
        assert host.say("go") == "ok"
        assert "unexpected keyword argument 'colour'" in host.warnings()[0]


def test_11_top_level_strings_arrive_unmasked_and_everything_else_is_masked(tree):
    body = "kept.append((kwargs, self.args))\nreturn Response(f'got {kwargs[\"top\"]}', False)"
    tree.add_plugin("probe", {"tools/keep.py": probe(body, KEEP)})
    with tree.enter() as host:
        host.secrets(API_KEY="hunter22", SHORT="abc")
        word = "§§secret(API_KEY)"
        keep = call("keep", top=f"use {word}", nested={"in": word})
        host.script({"agent0": [keep, respond("it is hunter22")]})
        host.say("my key is hunter22, not abc")
        given, args = kept()[0]
        assert given == args == {"top": "use hunter22", "nested": {"in": word}}
        assert host.tool_results("keep")[0]["tool_result"] == f"got use {word}"
        messages = [str(asked["messages"]) for asked in host.model_calls]
        everything = json.dumps([host.contents(), host.rows(), host.save(), messages])
        assert "hunter22" not in everything
        assert "not abc" in everything


def test_11_an_unknown_placeholder_is_a_warning_that_lists_the_known_names(host):
    host.secrets(API_KEY="hunter22")
    host.script({"agent0": [call("echo", text="§§secret(NOPE)"), respond("ok")]})
    assert host.say("go") == "ok"
    assert "API_KEY" in host.warnings()[0]
    assert host.tool_results("echo") == []


def test_11_a_projects_secrets_are_known_in_its_chats_only(host):
    from helpers import secrets

    folder = host.project("shop")
    (folder / ".a0proj/secrets.env").write_text("SHOP_KEY=supersecret\n")
    here, elsewhere = map(secrets.get_secrets_manager, (host.context, host.new_chat()))
    assert here.mask_values("supersecret") == "§§secret(SHOP_KEY)"
    assert elsewhere.mask_values("supersecret") == "supersecret"


# ---------------------------------------------------------------------- 13, 14: results and interventions


def test_13_additional_stands_beside_the_result_and_a_response_may_be_a_subclass(tree):
    failed = (
        "from dataclasses import dataclass\nfrom helpers.tool import Response\n\n\n"
        "@dataclass\nclass Failed(Response):\n    error: bool = False\n"
    )
    body = 'return Failed("ERROR: no", False, {"error_code": "self"}, error=True)'
    tool = probe(body, "from usr.plugins.probe.helpers.results import Failed")
    tree.add_plugin("probe", {"tools/failing.py": tool, "helpers/results.py": failed})
    with tree.enter() as host:
        assert host.tool("failing", x=1).error is True
        expected = {"tool_name": "failing", "tool_result": "ERROR: no", "error_code": "self"}
        assert host.tool_results("failing") == [expected]


@pytest.mark.parametrize(
    "response",
    [
        'Response("x", False, {"tool_name": "mine"})',
        'Response("x", False, {"tool_result": "mine"})',
        'Response("x", False, {"id": "mine"})',
        'Response("x", False, {"odd": object()})',
        "Response(5, False)",
    ],
)
def test_13_a_taken_key_what_is_no_json_and_a_message_that_is_no_text_crash(tree, response):
    tree.add_plugin("probe", {"tools/odd.py": probe(f"return {response}")})
    with tree.enter() as host, pytest.raises((AttributeError, TypeError)):
        host.tool("odd", x=1)


def test_13_break_loop_with_an_empty_message_goes_on(host):
    host.script({"agent0": [call("echo", text="", end=1), call("echo", text="end", end=1)]})
    assert host.say("go") == "end"
    assert len(host.model_calls) == 2


@pytest.mark.parametrize(
    ("point", "kept"), [("tool_execute_before", []), ("hist_add_tool_result", ["verdict"])]
)
def test_14_a_message_right_after_execute_drops_the_result_and_always_the_end_of_the_run(
    host, point, kept
):
    last = respond("I read your message")
    host.script({"agent0": [call("echo", text="verdict", end=True), last]})
    host.at(point, lambda agent, **kw: host.interrupt("wait, blue"), times=1)
    assert host.say("go") == "I read your message"
    assert [one["tool_result"] for one in host.tool_results("echo")] == kept
    assert {"user_intervention": "wait, blue"} in host.contents()


def test_14_of_an_interrupted_tool_only_the_progress_is_kept(tree):
    interrupted = (
        'await self.set_progress("half done")\n'
        'self.agent.intervention = UserMessage("stop that")\n'
        'return Response("all", False)'
    )
    tree.add_plugin("probe", {"tools/slow.py": probe(interrupted, "from agent import UserMessage")})
    with tree.enter() as host:
        host.script({"agent0": [call("slow", x=1), respond("ok")]})
        host.say("go")
        assert [one["tool_result"] for one in host.tool_results("slow")] == ["half done"]


def test_14_a_repairable_exception_becomes_a_warning_with_a_traceback_each_time(tree):
    repairable = "from helpers.errors import RepairableException"
    tool = probe('raise RepairableException("try B")', repairable)
    tree.add_plugin("probe", {"tools/sorry.py": tool})
    with tree.enter() as host:
        host.script({"agent0": [call("sorry", x=number) for number in range(3)] + [respond("ok")]})
        assert host.say("go") == "ok"
        assert len(host.warnings()) == 3
        assert "try B" in host.warnings()[0]
        assert "Traceback" in host.warnings()[0]


def test_14_any_other_exception_has_one_retry_and_then_ends_the_chain_from_a_subordinate_too(tree):
    tree.add_plugin("probe", {"tools/boom.py": probe('raise KeyError("boom")')})
    with tree.enter() as host:
        from helpers.errors import HandledException

        with pytest.raises(HandledException, match="boom"):
            built(host, call("boom", x=1), call("boom", x=2))
        assert len(host.model_calls) == 3
        assert host.tool_results("call_subordinate") == []
        assert len(host.rows(type="error")) == 1


def test_14_an_intervention_that_a_tool_swallows_is_lost(tree):
    deaf = (
        "try:\n    await self.agent.handle_intervention()\n"
        'except Exception:\n    pass\nreturn Response("went on", True)'
    )
    tree.add_plugin("probe", {"tools/deaf.py": probe(deaf)})
    with tree.enter() as host:
        host.at("tool_execute_before", lambda agent, **kw: host.interrupt("stop"), times=1)
        host.script({"agent0": call("deaf", x=1)})
        assert host.say("go") == "went on"


# ---------------------------------------------------------------------- 15 to 17


def test_15_read_prompt_expands_braces_inside_the_values_includes_too(host, tree):
    tree.write("prompts/fw.frame.md", "<{{text}}>")
    (tree.root.parent / "outside.md").write_text("another file")

    def framed(text, **more):
        return host.agent0.read_prompt("fw.frame.md", text=text, **more)

    assert framed("{{later}}", later="x") == "<x>"
    assert framed("{{ include './fw.msg_repeat.md' }}").startswith("<Double:")
    assert framed("{{ include '../outside.md' }}") == "<another file>"


def test_15_attachments_in_braces_break_a_user_message_or_vanish(host):
    from agent import UserMessage

    with pytest.raises(json.JSONDecodeError):
        host.agent0.hist_add_user_message(UserMessage("see {{attachments}}", attachments=["a.png"]))
    host.agent0.hist_add_user_message(UserMessage("see {{attachments}}"))
    assert host.contents()[-1] == {"user_message": "see []"}


def test_16_one_tool_call_a_turn_and_neither_prose_nor_the_same_answer_twice(host):
    one, two = json.dumps(call("echo", text="one")), json.dumps(call("echo", text="two"))
    host.script({"agent0": [f"{one}\n{two}", one, one, "just prose", respond("ok")]})
    assert host.say("go") == "ok"
    assert [one["tool_result"] for one in host.tool_results("echo")] == ["one", "one"]
    assert [("the one before" in text, "no tool request" in text) for text in host.warnings()] == [
        (True, False),
        (False, True),
    ]


def test_17_all_chats_share_one_thread(host):
    threads = []
    host.at("message_loop_start", lambda agent, **kw: threads.append(threading.get_ident()))
    host.script({"agent0": [respond("1"), respond("2")]})
    first, second = host.new_chat(), host.new_chat()
    host.say("one", first, wait=False)
    host.say("two", second, wait=False)
    assert {host.wait(first), host.wait(second)} == {"1", "2"}
    assert len(set(threads)) == 1


# ---------------------------------------------------------------------- 18 to 22: subordinates


def test_18_a_subordinate_has_the_profile_the_next_number_and_the_same_chat(host):
    assert built(host) == "done"
    sub = host.subordinate()
    assert (sub.number, sub.config.profile) == (1, "frontend_designer")
    assert sub.context is host.context
    assert sub.get_data("_superior") is host.agent0
    assert host.tool_results("call_subordinate")[0]["tool_result"] == "built"
    assert host.contents(sub)[0] == {"user_message": "Build the hero"}
    assert host.agent0.config.profile == "agent0"


@pytest.mark.parametrize(
    ("reset", "runs"),
    [("", "frontend_designer"), (True, "researcher"), (" True ", "researcher")],
)
def test_18_another_profile_without_reset_is_silently_ignored(host, reset, runs):
    built(host)
    host.script({"agent0": [handed_over(profile="researcher", reset=reset), respond("done 2")]})
    host.script({runs: respond("more")})
    assert host.say("go") == "done 2"
    assert host.subordinate().config.profile == runs


def test_18_an_unknown_profile_runs_with_the_default_prompts_and_no_depth_is_too_deep(host):
    host.script({"agent0": [handed_over(profile="nobody"), respond("done")]})
    for number in range(1, 6):
        host.script({f"A{number}": [handed_over(profile="nobody"), respond(f"back {number}")]})
    host.script({"A6": respond("bottom")})
    assert host.say("go") == "done"
    assert "Base role" in host.model_calls[1]["messages"][0].content


def test_18_the_available_profiles_are_the_enabled_ones_of_core_plugins_and_user(tree):
    tree.add_plugin("probe", {"agents/plugged/agent.yaml": "title: Plugged\n"})
    tree.write("usr/agents/off/agent.yaml", "title: Away\nenabled: false\n")
    with tree.enter():
        from helpers import subagents

        known = subagents.get_available_agents_dict(None)
        assert known["plugged"].title == "Plugged"
        assert {"agent0", "developer"} <= set(known)
        assert "off" not in known


def test_19_profile_and_name_are_lost_when_a_chat_is_loaded_again(tree):
    with tree.enter() as host:
        built(host)
        host.subordinate().agent_name = "Painter (A1)"
        host.save()
    with tree.enter() as host:
        host.load_chats()
        sub = host.subordinate()
        assert (sub.number, sub.config.profile, sub.agent_name) == (1, "agent0", "A1")
        assert sub.get_data("_superior") is host.agent0


def test_19_profiles_are_lost_when_settings_are_saved_in_the_middle_of_a_run(host):
    def save():
        host.save_settings()
        return call("echo", text="x")

    host.script({"agent0": [handed_over(), respond("done")], "frontend_designer": save})
    host.script({"agent0#1": respond("I am the orchestrator now")})
    host.say("go")
    assert host.tool_results("call_subordinate")[0]["tool_result"] == "I am the orchestrator now"
    assert host.subordinate().config is host.agent0.config


def test_19_agent_init_runs_before_the_saved_data_is_there(tree):
    look = extension("kept.append(dict(self.agent.data))", KEEP, sync=True)
    tree.add_plugin("probe", {"extensions/python/agent_init/_50_look.py": look})
    with tree.enter() as host:
        host.agent0.set_data("kept", {"a": 1})
        host.save()
    with tree.enter() as host:
        host.load_chats()
        assert set(map(len, kept())) == {0}
        assert host.agent0.get_data("kept") == {"a": 1}


def test_20_underscored_keys_are_not_saved_objects_become_null_and_tuples_as_keys_raise(host):
    host.agent0.data |= {"_private": 1, "kept": {"_inner": 2}, "object": object()}
    host.context.data |= {"_private": 1, "kept": 2}
    saved = host.save()
    assert saved["agents"][0]["data"] == {"kept": {"_inner": 2}, "object": None}
    assert saved["data"] == {"kept": 2}
    host.agent0.set_data("bad", {(1, 2): "x"})
    with pytest.raises(TypeError):
        host.save()


def test_20_a_reset_clears_agent_data_and_keeps_the_chats(host):
    host.agent0.set_data("kept", 1)
    host.context.set_data("kept", 2)
    host.reset()
    assert host.agent0.get_data("kept") is None
    assert host.context.get_data("kept") == 2


def test_21_after_a_subordinate_the_streaming_agent_is_nobody_and_a_name_stays_in_saved_rows(tree):
    body = """
sub = Agent(self.agent.number + 1, self.agent.config, self.agent.context)
sub.agent_name = "Painter (A1)"
sub.hist_add_user_message(UserMessage("paint"))
answer = await sub.monologue()
return Response(f"{answer} {self.agent.context.streaming_agent}", True)
"""
    tool = probe(body, "from agent import Agent, UserMessage")
    tree.add_plugin("probe", {"tools/starts.py": tool})
    with tree.enter() as host:
        host.script({"agent0#0": call("starts", x=1), "agent0#1": respond("painted")})
        assert host.say("go") == "painted None"
        speaking = [row["heading"] for row in host.save()["log"]["logs"] if row["agentno"] == 1]
        assert speaking == ["Painter (A1): Using response"]


def test_21_a_cancel_passes_by_and_no_end_point_runs(host):
    points = host.trace()
    host.script({"agent0": [handed_over()], "frontend_designer": lambda: host.cancel()})
    task = host.say("go", wait=False)
    host.settle()
    assert task._future.cancelled()
    names = {name for name, _ in points}
    assert "_functions/agent/AgentContext/kill_process/start" in names
    ends = {"_functions/agent/Agent/monologue/end", "monologue_end", "process_chain_end"}
    assert not ends & names
    assert not host.context.is_running()
    assert host.context.streaming_agent is None


@pytest.mark.parametrize("act", ["reset", "remove"])
def test_21_reset_and_remove_have_points_of_their_own(host, act):
    host.context  # noqa: B018 (the chat is made)
    points = host.trace()
    getattr(host, act)()
    assert (f"_functions/agent/AgentContext/{act}/end", "") in points


@pytest.mark.parametrize("shape", ["linear", "children"])
def test_21_a_nudge_kills_the_task_and_starts_who_speaks_with_words_only_in_the_linear_host(
    tmp_path, shape
):
    with bare(tmp_path, shape).enter() as host:
        told = []
        point = "_functions/agent/AgentContext/communicate/start"
        host.script({"agent0": [lambda: host.nudge() and None, respond("going on")]})
        host.at(point, lambda agent, data: told.append(data["args"][1].message))
        host.say("go", wait=False)
        host.settle()
        assert [bool(message) for message in told] == [True, shape == "linear"]
        assert "nudged" in str(host.contents())


def test_22_a_person_and_a_superior_come_through_different_points(host):
    told, added = [], []
    host.at(
        "_functions/agent/AgentContext/communicate/start",
        lambda agent, data: told.append(data["args"][1].message),
    )
    host.at(
        "_functions/agent/Agent/hist_add_user_message/start",
        lambda agent, data: added.append((agent.number, data["args"][1].message)),
    )
    built(host)
    assert told == ["go"]
    assert added == [(0, "go"), (1, "Build the hero")]


def test_22_hist_add_user_message_start_can_change_what_a_subordinate_reads(tree):
    body = 'kwargs["data"]["args"][1].message = "the package"'
    point = "extensions/python/_functions/agent/Agent/hist_add_user_message/start/_50_expand.py"
    tree.add_plugin("probe", {point: extension(body, sync=True)})
    with tree.enter() as host:
        built(host)
        assert host.contents(host.subordinate())[0] == {"user_message": "the package"}


def test_22_tool_execute_before_changes_the_arguments_and_refuses_by_raising(tree):
    body = """
if kwargs["tool_name"] == "call_subordinate":
    if "no" in kwargs["tool_args"]["message"]:
        raise RepairableException("not this one")
    kwargs["tool_args"].update(profile="researcher", reset=True)
"""
    change = extension(body, "from helpers.errors import RepairableException")
    tree.add_plugin("probe", {"extensions/python/tool_execute_before/_20_change.py": change})
    with tree.enter() as host:
        host.script({"agent0": [handed_over(message="no"), handed_over(), respond("done")]})
        host.script({"researcher": respond("found")})
        host.say("go")
        assert len(host.warnings()) == 1
        assert host.subordinate().config.profile == "researcher"


def test_22_after_a_restart_in_a_run_the_next_message_goes_to_the_subordinate_and_up(
    tree, tmp_path
):
    killed = []

    def kill():
        killed.append(tree.snapshot(tmp_path / "killed"))

    with tree.enter() as host:
        built(host, call("echo", text="working"), kill)
    with killed[0].enter() as host:
        host.load_chats()
        host.script({"agent0#1": respond("went on"), "agent0#0": respond("told the person")})
        assert host.say("are you there?") == "told the person"
        assert {"user_message": "are you there?"} in host.contents(host.subordinate())
        assert host.tool_results("call_subordinate")[0]["tool_result"] == "went on"


# ---------------------------------------------------------------------- 23 to 25: history and chats


def test_23_messages_are_raw_text_of_the_model_and_dicts_of_everybody_else(host):
    host.script({"agent0": [call("echo", text="x"), respond("ok"), respond("2")]})
    host.say("go")
    texts = [one for one in host.contents() if isinstance(one, str)]
    assert json.loads(texts[1])["tool_name"] == "echo"
    others = [one for one in host.contents() if isinstance(one, dict)]
    assert others == [{"user_message": "go"}, {"tool_name": "echo", "tool_result": "x"}]
    host.say("two")
    history = host.agent0.history
    assert len(history.topics) == 2, "each message of the person starts a topic"
    assert history.current.messages[0].content == {"user_message": "two"}
    assert vars(history.current.messages[0]).keys() == {"id", "ai", "content", "summary", "tokens"}


def test_23_output_writes_images_are_trimmed(host):
    message = host.agent0.hist_add_message(False, {"raw_content": [], "preview": "<image>"})
    host.agent0.history.output()
    assert message.summary == "embedded data removed"


def test_24_a_message_is_seen_at_hist_add_before_masked_later_than_core(tree):
    keep = extension('kept.append(kwargs["content_data"]["content"])', KEEP, sync=True)
    tree.add_plugin("probe", {"extensions/python/hist_add_before/_50_keep.py": keep})
    with tree.enter() as host:
        host.secrets(API_KEY="hunter22")
        host.script({"agent0": respond("ok")})
        host.say("hunter22")
        assert {"user_message": "§§secret(API_KEY)"} in kept()


@pytest.mark.parametrize(
    "path", sorted((REPOSITORY / "tests/data/chats").glob("*.json")), ids=lambda path: path.stem
)
def test_25_a_chat_that_the_real_host_saved_is_loaded_and_saved_again_unchanged(tree, path):
    real = json.loads(path.read_text("utf-8"))
    tree.write(f"usr/chats/{real['id']}/chat.json", path.read_text("utf-8"))
    with tree.enter() as host:
        assert host.load_chats() == [real["id"]]
        again = host.save()
    assert again["log"].pop("logs") == real["log"].pop("logs")
    assert again["log"].keys() == real["log"].keys()
    assert again | {"log": ""} == real | {"log": ""}


# ---------------------------------------------------------------------- 27 to 30: projects, settings, prompts


def test_27_a_chat_knows_its_project_and_paths_are_shown_as_in_the_container(host, tree):
    from helpers import files, projects

    assert projects.get_context_project_name(host.context) is None
    folder = host.project("shop")
    assert projects.get_context_project_name(host.context) == "shop"
    assert projects.get_project_folder("shop") == str(tree.root / "usr/projects/shop")
    assert files.normalize_a0_path(str(folder)) == "/a0/usr/projects/shop"
    assert files.fix_dev_path("/a0/usr/projects/shop") == str(folder)


def test_29_the_first_config_is_taken_whole_and_a_projects_is_missed_by_who_names_a_profile(tree):
    tree.add_plugin("probe", {"default_config.yaml": "depth: 3\nhops: 12\n"})
    with tree.enter() as host:
        from helpers import plugins

        def config(**more):
            return plugins.get_plugin_config("probe", agent=host.agent0, **more)

        assert config() == {"depth": 3, "hops": 12}
        plugins.save_plugin_config("probe", "", "", {"depth": 5})
        host.project("shop")
        plugins.save_plugin_config("probe", "shop", "", {"depth": 9})
        assert config() == {"depth": 5}
        assert config(agent_profile="") == {"depth": 9}
        plugins.save_plugin_config("probe", "shop", "agent0", {"depth": 7})
        assert config() == {"depth": 7}


def test_30_tool_prompts_stand_in_every_agents_system_prompt_and_a_profile_keeps_the_base_role(
    tree,
):
    marks = """
from helpers.files import VariablesPlugin


class Marks(VariablesPlugin):
    def get_variables(self, file, backup_dirs=None, **kwargs):
        return {"marks": kwargs["_agent"].number + 40}
"""
    name = "prompts/agent.system.tool.probe"
    tree.add_plugin("probe", {f"{name}.md": "### probe\nmarks: {{marks}}", f"{name}.py": marks})
    with tree.enter() as host:
        assert "### probe\nmarks: 40" in host.system_prompt()
        built(host)
        prompt = host.system_prompt(host.subordinate())
        assert "### probe\nmarks: 41" in prompt
        assert "You are frontend_designer." in prompt
        assert "Base role of every profile" in prompt


def test_a_web_handler_answers_and_a_notification_with_a_known_id_replaces_it(tree):
    handler = (
        "from helpers.api import ApiHandler\n\n\nclass Chains(ApiHandler):\n"
        "    async def process(self, input, request):\n        return {'asked': input['id']}\n"
    )
    tree.add_plugin("probe", {"api/chains.py": handler})
    with tree.enter() as host:
        assert host.api("chains", {"id": 7}, plugin="probe").get_json() == {"asked": 7}
        assert host.api("chains", {}, plugin="probe").status_code == 500
        from helpers.notification import NotificationManager, NotificationPriority, NotificationType

        for text in ("one", "two"):
            NotificationManager.send_notification(
                NotificationType.WARNING, NotificationPriority.HIGH, text, id="x"
            )
        assert [one["message"] for one in host.notifications()] == ["two"]


# ---------------------------------------------------------------------- the 2.x shape


def test_2x_every_subordinate_has_a_chat_of_its_own_and_the_result_names_it(children):
    with children.enter() as host:
        points = host.trace()
        assert built(host) == "done"
        sub = host.subordinate()
        assert host.tool_results("call_subordinate")[0]["context_id"] == sub.context.id
        assert sub.context is not host.context
        assert (sub.number, sub.config.profile) == (1, "frontend_designer")
        assert sub.context.get_output_data("parent_context_id") == host.context.id
        assert host.agent0.get_data("_subordinates") == {sub.context.id: sub}
        assert host.agent0.get_data("_subordinate") is None
        assert ("_functions/agent/Agent/monologue/end", "A1") in points
        assert not {("monologue_end", "A1"), ("message_loop_end", "A1")} & set(points), (
            "a child's chat has no task"
        )


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"profile": "researcher", "reset": ""}, "reset=true"),
        ({"profile": "nobody"}, "nobody"),
        ({"message": ""}, "message"),
        ({"context_id": "no-such", "reset": ""}, "no-such"),
    ],
)
def test_2x_bad_input_of_call_subordinate_is_a_repairable_error(children, args, told):
    with children.enter() as host:
        built(host)
        host.script({"agent0": [handed_over(**args), respond("done 2")]})
        assert host.say("go") == "done 2"
        assert told in host.warnings()[0]


def test_2x_a_child_goes_on_by_its_context_id_also_after_a_restart(children):
    with children.enter() as host:
        built(host)
        ident = host.subordinate().context.id
    with children.enter() as host:
        host.load_chats()
        sub = host.chat(ident).agent0
        assert (sub.number, sub.config.profile) == (1, "frontend_designer")
        assert sub.get_data("_superior") is None
        more = call("call_subordinate", message="more", context_id=ident)
        host.script({"agent0": [more, respond("done 2")], "frontend_designer": respond("more")})
        assert host.say("go on") == "done 2"
        assert sub.get_data("_superior") is host.agent0


def test_2x_a_message_in_the_parents_chat_does_not_reach_the_child(children):
    with children.enter() as host:
        built(host, lambda: host.interrupt("blue!"))
        assert {"user_intervention": "blue!"} in host.contents()
        assert "blue!" not in str(host.contents(host.subordinate()))


def test_2x_settings_keep_the_profiles(children):
    with children.enter() as host:
        assert built(host, lambda: host.save_settings()) == "done"
        assert host.subordinate().config.profile == "frontend_designer"


def test_2x_empty_arguments_are_allowed_and_an_invalid_request_is_only_a_warning(children):
    with children.enter() as host:
        invalid = ['{"tool_name": "echo"}', '{"tool_args": {"a": 1}}']
        host.script({"agent0": [EMPTY, *invalid, respond("ok")]})
        assert host.say("go") == "ok"
        assert len(host.tool_results("echo")) == 1
        assert len(host.warnings()) == 2


def test_2x_parallel_runs_a_tool_in_a_throw_away_chat_that_says_so(children):
    body = "return Response(f'{is_parallel_worker(self.agent)} {self.agent.context.type.value}', False)"
    where = probe(body, "from helpers.parallel_tools import is_parallel_worker")
    children.add_plugin("probe", {"tools/where.py": where})
    with children.enter() as host:
        calls = [{"tool_name": "where", "tool_args": {"x": 1}}]
        host.script({"agent0": [call("parallel", tool_calls=calls), respond("ok")]})
        host.say("go")
        assert "True background" in host.tool_results("parallel")[0]["tool_result"]
        assert len(host.chats()) == 1
        assert host.tool("where", x=1).message == "False user"


def test_the_linear_shape_has_no_parallel_tools_and_no_functions_for_children(tree):
    with tree.enter():
        import tools.call_subordinate as cs

        assert not hasattr(cs, "get_or_create_subordinate")
        with pytest.raises(ModuleNotFoundError):
            import helpers.parallel_tools  # noqa: F401

"""The double behaves as the host does: each test is a fact of the host that the plugin has to live with.

A number in a name is that of the fact in the list from which the plugin was designed.
"""

import asyncio
import json
import sys
import threading
import time

import pytest
from host_double.assemble import REPOSITORY, SHAPES, assemble, call, respond

ECHO = """
from helpers.tool import Response, Tool


class Echo(Tool):
    async def execute(self, **kwargs):
        return Response(message=str(kwargs.get("text", "")), break_loop=bool(kwargs.get("end")))
"""


def probe(body, *imports, name="Probe"):
    """Source of a tool whose `execute(self, **kwargs)` is `body`."""
    lines = "\n".join(f"        {line}" for line in body.strip().splitlines())
    head = "\n".join(["from helpers.tool import Response, Tool", *imports])
    return f"{head}\n\n\nclass {name}(Tool):\n    async def execute(self, **kwargs):\n{lines}\n"


def extension(body, *imports, sync=False):
    """Source of an extension whose `execute(self, **kwargs)` is `body`."""
    lines = "\n".join(f"        {line}" for line in body.strip().splitlines())
    head = "\n".join(["from helpers.extension import Extension", *imports])
    start = "def" if sync else "async def"
    return f"{head}\n\n\nclass Probe(Extension):\n    {start} execute(self, **kwargs):\n{lines}\n"


MARKS = """
from helpers.files import VariablesPlugin


class Marks(VariablesPlugin):
    def get_variables(self, file, backup_dirs=None, **kwargs):
        return {"marks": kwargs["_agent"].number + 40}
"""


@pytest.fixture
def tree(tmp_path):
    bare = assemble(tmp_path / "a0", plugin_root=None)
    bare.add_plugin("probe", {"tools/echo.py": ECHO})
    return bare


@pytest.fixture
def children(tmp_path):
    bare = assemble(tmp_path / "a0", shape="children", plugin_root=None)
    bare.add_plugin("probe", {"tools/echo.py": ECHO})
    bare.add_profile("frontend_designer")
    return bare


@pytest.fixture
def host(tree):
    tree.add_profile("frontend_designer")
    with tree.enter() as entered:
        yield entered


def handed_over(**more):
    return call(
        "call_subordinate",
        message="Build the hero",
        profile="frontend_designer",
        reset=True,
        **more,
    )


# ---------------------------------------------------------------------- whose modules


def test_helpers_is_the_hosts_folder_and_nothing_else_is(host_tree):
    with host_tree.enter():
        import helpers
        import usr.plugins.software_orchestrator.helpers as own

        assert list(helpers.__path__) == [str(host_tree.root / "helpers")]
        assert list(own.__path__) == [str(host_tree.plugin / "helpers")]
        import helpers.errors as theirs

        import usr.plugins.software_orchestrator.helpers.values.errors as ours

        assert theirs.__file__ == str(host_tree.root / "helpers/errors.py")
        assert ours.__file__ == str(host_tree.plugin / "helpers/values/errors.py")


def test_a_module_that_only_the_plugin_has_is_not_found_among_the_hosts(host_tree, monkeypatch):
    monkeypatch.syspath_prepend(str(host_tree.plugin))
    with host_tree.enter(), pytest.raises(ModuleNotFoundError):
        import helpers.packet  # noqa: F401


def test_in_a_process_of_its_own_the_same_modules_are_found(host_tree):
    code = """
import helpers.tool, usr.plugins.software_orchestrator.helpers.values.errors as ours
print(list(helpers.__path__))
print(ours.__file__)
"""
    printed = host_tree.run(code).stdout.splitlines()
    assert printed == [
        str([str(host_tree.root / "helpers")]),
        str(host_tree.plugin / "helpers/values/errors.py"),
    ]


def test_what_was_imported_before_is_there_again_afterwards(tree):
    before = {
        name: module for name, module in sys.modules.items() if name.startswith(("usr", "helpers"))
    }
    finders = list(sys.meta_path)
    with tree.enter():
        import helpers.tool  # noqa: F401
    after = {
        name: module for name, module in sys.modules.items() if name.startswith(("usr", "helpers"))
    }
    assert after == before
    assert sys.meta_path == finders
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


def test_a_script_without_an_answer_fails_the_test_and_is_not_retried(host):
    host.script({"agent0": call("echo", text="1")})
    with pytest.raises(AssertionError, match="no answer left for agent0#0 / agent0 / A0"):
        host.say("go")
    assert len(host.model_calls) == 2


def test_an_assertion_in_a_scripted_function_fails_the_test(host):
    def wrong():
        raise AssertionError("seen")

    host.script({"agent0": wrong})
    with pytest.raises(AssertionError, match="seen"):
        host.say("go")


# ---------------------------------------------------------------------- 2 to 6: loading


def test_2_a_tool_file_runs_afresh_on_every_call_and_is_in_no_sys_modules(tree):
    body = 'count.append(1)\nreturn Response(message=f"{len(count)} {__name__ in sys.modules}", break_loop=False)'
    tree.add_plugin("probe", {"tools/fresh.py": probe(body, "import sys", "count = []")})
    with tree.enter() as host:
        assert [host.tool("fresh", x=1).message for _ in range(2)] == ["1 False", "1 False"]


def test_2_a_dataclass_with_future_annotations_in_a_tool_file_does_not_load(tree):
    source = "from __future__ import annotations\nfrom dataclasses import dataclass\n" + probe(
        "return None"
    )
    source += "\n\n@dataclass\nclass Value:\n    x: int\n"
    tree.add_plugin("probe", {"tools/future.py": source})
    with tree.enter() as host:
        assert "there is no tool future" in host.tool("future", x=1).message
        assert isinstance(host.swallowed[0], AttributeError)


def test_2_helpers_of_a_plugin_stay_loaded_until_they_are_purged(tree):
    tool = probe(
        "return Response(message=store.VALUE, break_loop=False)",
        "from usr.plugins.probe.helpers import store",
    )
    tree.add_plugin("probe", {"tools/stored.py": tool, "helpers/store.py": 'VALUE = "old"\n'})
    with tree.enter() as host:
        from helpers import plugins

        assert host.tool("stored", x=1).message == "old"
        tree.write("usr/plugins/probe/helpers/store.py", 'VALUE = "newer"\n')
        host.forget_caches()
        assert host.tool("stored", x=1).message == "old"
        plugins.after_plugin_change(["probe"], python_change=True)
        assert host.tool("stored", x=1).message == "newer"


@pytest.mark.parametrize(
    "fault", ["import not_there_at_all", "raise ValueError('at import')", "def broken(:"]
)
def test_3_a_tool_that_fails_to_import_is_not_found_without_a_trace(tree, fault):
    tree.add_plugin("probe", {"tools/broken.py": fault + "\n" + ECHO})
    with tree.enter() as host:
        host.script({"agent0": [call("broken", text="x"), respond("ok")]})
        assert host.say("go") == "ok"
        assert "there is no tool broken" in host.tool_results("broken")[0]["tool_result"]
        assert host.rows(type="warning") == host.rows(type="error") == []


def test_3_a_package_that_the_hosts_python_lacks_can_be_taken_away(tree):
    tree.add_plugin("probe", {"tools/needy.py": "import filelock\n" + ECHO})
    with tree.enter(without=("filelock",)) as host:
        assert "there is no tool needy" in host.tool("needy", text="x").message
        assert host.swallowed[0].name == "filelock"
    with tree.enter() as host:
        assert host.tool("needy", text="x").message == "x"


def test_4_the_last_tool_class_of_the_alphabet_is_used_imported_ones_included(tree):
    tree.write(
        "tools/zebra.py", probe('return Response(message="zebra", break_loop=False)', name="Zebra")
    )
    mine = probe(
        'return Response(message="mine", break_loop=False)',
        "from tools.zebra import Zebra",
        name="Mine",
    )
    tree.add_plugin(
        "probe",
        {
            "tools/mine.py": mine,
            "tools/module.py": mine.replace("from tools.zebra import Zebra", "import tools.zebra"),
        },
    )
    with tree.enter() as host:
        assert host.tool("mine", x=1).message == "zebra"
        assert host.tool("module", x=1).message == "mine"


def test_5_extensions_of_one_base_name_replace_each_other_across_plugins(tree):
    said = 'self.agent.context.log.log(type="info", content="{}")'
    point = "extensions/python/message_loop_start/_50_same.py"
    tree.add_plugin("aaa", {point: extension(said.format("a"))})
    tree.add_plugin("bbb", {point: extension(said.format("b"))})
    with tree.enter() as host:
        host.script({"agent0": respond("ok")})
        host.say("go")
        assert [row["content"] for row in host.rows(type="info")] == ["a"]


def test_5_an_extension_with_the_name_of_a_core_file_replaces_it(tree):
    tree.add_plugin(
        "aaa",
        {"extensions/python/hist_add_before/_10_mask_content.py": extension("pass", sync=True)},
    )
    with tree.enter() as host:
        host.secrets(TOKEN="hunter22")
        host.script({"agent0": respond("ok")})
        host.say("my word is hunter22")
        assert {"user_message": "my word is hunter22"} in host.contents()


@pytest.mark.parametrize("point", ["agent_init", "hist_add_before", "hist_add_tool_result"])
def test_5_an_asynchronous_extension_at_a_synchronous_point_raises(tree, point):
    tree.add_plugin("aaa", {f"extensions/python/{point}/_50_async.py": extension("pass")})
    with tree.enter() as host, pytest.raises(ValueError, match="synchronous"):
        host.tool("echo", text="x")


def test_5_extensions_run_in_the_order_of_their_names_not_of_their_plugins(tree):
    said = 'self.agent.context.log.log(type="info", content="{}")'
    tree.add_plugin(
        "aaa", {"extensions/python/message_loop_start/_60_late.py": extension(said.format("60"))}
    )
    tree.add_plugin(
        "zzz", {"extensions/python/message_loop_start/_20_early.py": extension(said.format("20"))}
    )
    with tree.enter() as host:
        host.script({"agent0": respond("ok")})
        host.say("go")
        assert [row["content"] for row in host.rows(type="info")] == ["20", "60"]


def test_5_an_extension_file_that_does_not_import_raises_at_every_use_of_its_point(tree):
    tree.add_plugin(
        "aaa", {"extensions/python/message_loop_start/_50_broken.py": "import not_there_at_all\n"}
    )
    with tree.enter() as host:
        from helpers.errors import HandledException

        with pytest.raises(HandledException, match="not_there_at_all"):
            host.say("go")


def test_5_extension_files_are_kept_until_the_caches_are_cleared(tree):
    path = "extensions/python/message_loop_start/_50_kept.py"
    said = 'self.agent.context.log.log(type="info", content="{}")'
    tree.add_plugin("aaa", {path: extension(said.format("old"))})
    with tree.enter() as host:
        host.script({"agent0": [respond("1"), respond("2"), respond("3")]})
        host.say("go")
        tree.write(f"usr/plugins/aaa/{path}", extension(said.format("changed")))
        host.say("go")
        host.forget_caches()
        host.say("go")
        assert [row["content"] for row in host.rows(type="info")] == ["old", "old", "changed"]


def test_6_hooks_get_the_arguments_they_name_and_are_loaded_once(tree):
    hooks = (
        "def install():\n"
        "    return 'done'\n"
        "\n"
        "\n"
        "def save_plugin_config(settings, default):\n"
        "    return settings | {'by': 'hook'}\n"
    )
    tree.add_plugin("probe", {"hooks.py": hooks})
    with tree.enter() as host:
        from helpers import plugins

        assert host.hook("install", "probe") == "done"
        assert host.hook("not_there", "probe") is None
        plugins.save_plugin_config("probe", "", "", {"a": 1})
        assert plugins.get_plugin_config("probe") == {"a": 1, "by": "hook"}


# ---------------------------------------------------------------------- 9 to 12: arguments


@pytest.mark.parametrize(
    "request_text", ['{"tool_name": "echo", "tool_args": {}}', '{"tool_name": "echo"}']
)
def test_9_a_call_without_arguments_never_reaches_the_tool(host, request_text):
    host.script({"agent0": [request_text, respond("ok")]})
    assert host.say("go") == "ok"
    assert host.tool_results("echo") == []
    assert "tool_args" in host.warnings()[0]


def test_9_two_such_calls_in_one_run_kill_the_chain_even_with_a_good_one_between(host):
    from helpers.errors import HandledException

    empty = '{"tool_name": "echo", "tool_args": {}}'
    host.script({"agent0": [empty, call("echo", text="good"), empty + " "]})
    with pytest.raises(HandledException, match="tool_args"):
        host.say("go")
    assert host.rows(type="error")


def test_9_an_extension_can_fill_the_empty_arguments(tree):
    body = 'request = kwargs["data"]["args"][1]\nrequest["tool_args"] = request.get("tool_args") or {"text": "filled"}'
    point = "extensions/python/_functions/agent/Agent/validate_tool_request/start/_50_fill.py"
    tree.add_plugin("probe", {point: extension(body)})
    with tree.enter() as host:
        host.script({"agent0": ['{"tool_name": "echo", "tool_args": {}}', respond("ok")]})
        host.say("go")
        assert host.tool_results("echo")[0]["tool_result"] == "filled"


@pytest.mark.parametrize(
    ("written", "arrives"),
    [
        ("12", 12),
        ("1.5", 1.5),
        ("true", True),
        ("True", True),
        ("null", None),
        ("None, 'x': 1", "None"),
        ('["a", {"b": [1]}]', ["a", {"b": [1]}]),
        ("word, 'x': 1", "word"),
        ("two words, 'x': 1", "two words"),
        ('"5"', "5"),
        ("'single'", "single"),
        ('"""three\nlines"""', "three\nlines"),
        (r'"\ud83c\udf78"', "\ud83c\udf78"),
        (r'"a\\nb"', "a\\nb"),
        ('["a", "b",]', ["a", "b"]),
        ('"x" // a comment', "x"),
    ],
)
def test_10_the_forgiving_parser_gives(tree, written, arrives):
    tree.add_plugin(
        "probe",
        {
            "tools/keep.py": probe(
                "kept.append(kwargs['text'])\nreturn Response(message='', break_loop=False)",
                "from usr.plugins.probe.helpers.kept import kept",
            ),
            "helpers/kept.py": "kept = []\n",
        },
    )
    with tree.enter() as host:
        host.script(
            {
                "agent0": [
                    '{"tool_name": "keep", "tool_args": {"text": ' + written + "}}",
                    respond("ok"),
                ]
            }
        )
        host.say("go")
        from usr.plugins.probe.helpers.kept import kept

        assert kept == [arrives]
        assert type(kept[0]) is type(arrives)


def test_10_an_unknown_keyword_crashes_a_tool_without_kwargs(tree):
    source = (
        "from helpers.tool import Response, Tool\n"
        "\n"
        "\n"
        "class Strict(Tool):\n"
        "    async def execute(self, text=''):\n"
        "        return Response(text, False)\n"
    )
    tree.add_plugin("probe", {"tools/strict.py": source})
    with tree.enter() as host:
        host.script({"agent0": [call("strict", text="a", colour="blue"), respond("ok")]})
        assert host.say("go") == "ok"
        assert "unexpected keyword argument 'colour'" in host.warnings()[0]


def test_11_top_level_strings_arrive_unmasked_and_nested_ones_do_not(tree):
    body = (
        "from usr.plugins.probe.helpers.kept import kept\n"
        "kept.append((kwargs, self.args))\n"
        "return Response(message=f'got {kwargs[\"top\"]}', break_loop=False)"
    )
    tree.add_plugin("probe", {"tools/keep.py": probe(body), "helpers/kept.py": "kept = []\n"})
    with tree.enter() as host:
        host.secrets(API_KEY="hunter22")
        word = "§§secret(API_KEY)"
        host.script(
            {"agent0": [call("keep", top=f"use {word}", nested={"in": word}), respond("ok")]}
        )
        host.say("go")
        from usr.plugins.probe.helpers.kept import kept

        given, args = kept[0]
        assert given == args == {"top": "use hunter22", "nested": {"in": word}}
        assert host.tool_results("keep")[0]["tool_result"] == f"got use {word}"
        assert "hunter22" not in json.dumps(
            [host.contents(), host.rows(), host.save()], ensure_ascii=False
        )


def test_11_history_log_and_model_traffic_are_masked(host):
    host.secrets(API_KEY="hunter22", SHORT="abc")
    host.script({"agent0": [call("echo", text="hunter22 and abc"), respond("it is hunter22")]})
    assert host.say("my key is hunter22, not abc") == "it is §§secret(API_KEY)"
    seen = json.dumps([host.contents(), host.rows()], ensure_ascii=False)
    assert "hunter22" not in seen
    assert "§§secret(API_KEY) and abc" in seen
    assert all("hunter22" not in str(one["messages"]) for one in host.model_calls)
    assert "hunter22" not in str(host.utility_calls)


def test_11_an_unknown_placeholder_is_a_warning_that_lists_the_known_names(host):
    host.secrets(API_KEY="hunter22")
    host.script({"agent0": [call("echo", text="§§secret(NOPE)"), respond("ok")]})
    assert host.say("go") == "ok"
    assert "API_KEY" in host.warnings()[0]
    assert host.tool_results("echo") == []


def test_11_a_projects_secrets_are_known_in_its_chats_only(host):
    folder = host.project("shop")
    (folder / ".a0proj/secrets.env").write_text("SHOP_KEY=supersecret\n")
    from helpers import secrets

    assert (
        secrets.get_secrets_manager(host.context).mask_values("supersecret") == "§§secret(SHOP_KEY)"
    )
    assert secrets.get_secrets_manager(host.new_chat()).mask_values("supersecret") == "supersecret"


def test_12_last_tool_output_is_expanded_from_agent_data_at_any_depth(host):
    host.agent0.set_data("last_tool_call", {"last_tool_output": "42"})
    assert host.tool("echo", text="it was {last_tool_output}").message == "it was 42"
    assert host.tool("echo", text=["{last_tool_output}"]).message == "['42']"


def test_12_nothing_in_the_host_sets_it_so_it_usually_arrives_raw(host):
    host.script(
        {
            "agent0": [
                call("echo", text="first"),
                call("echo", text="{last_tool_output}"),
                respond("ok"),
            ]
        }
    )
    host.say("go")
    assert [one["tool_result"] for one in host.tool_results("echo")] == [
        "first",
        "{last_tool_output}",
    ]


def test_12_an_include_is_expanded_in_what_is_shown_and_raw_for_the_tool(host, tree):
    tree.write("usr/workdir/note.txt", "the note")
    host.script(
        {"agent0": [call("echo", text="§§include(/a0/usr/workdir/note.txt)"), respond("ok")]}
    )
    host.say("go")
    assert host.tool_results("echo")[0]["tool_result"] == "§§include(/a0/usr/workdir/note.txt)"
    shown = [row for row in host.rows(type="agent") if row["kvps"].get("tool_name") == "echo"]
    assert shown[0]["heading"] == "A0: Using echo"


# ---------------------------------------------------------------------- 13, 14: results and interventions


def returning(expression):
    return probe(f"return {expression}")


def test_13_a_response_may_be_a_subclass_with_an_error_flag(tree):
    source = probe(
        'return Failed(message="ERROR: no", break_loop=False, error=True)',
        "from usr.plugins.probe.helpers.results import Failed",
    )
    helper = (
        "from dataclasses import dataclass\n"
        "\n"
        "from helpers.tool import Response\n"
        "\n"
        "\n"
        "@dataclass\n"
        "class Failed(Response):\n"
        "    error: bool = False\n"
    )
    tree.add_plugin("probe", {"tools/failing.py": source, "helpers/results.py": helper})
    with tree.enter() as host:
        response = host.tool("failing", x=1)
        assert (response.error, response.message, response.additional) == (True, "ERROR: no", None)


def test_13_additional_stands_beside_the_result_in_the_history(tree):
    tree.add_plugin(
        "probe",
        {"tools/more.py": returning('Response("x", False, {"error": True, "error_code": "self"})')},
    )
    with tree.enter() as host:
        host.tool("more", x=1)
        expected = {"tool_name": "more", "tool_result": "x", "error": True, "error_code": "self"}
        assert host.tool_results("more") == [expected]


@pytest.mark.parametrize("key", ["tool_name", "tool_result", "id"])
def test_13_additional_with_a_taken_key_crashes(tree, key):
    tree.add_plugin(
        "probe", {"tools/taken.py": returning(f'Response("x", False, {{"{key}": "mine"}})')}
    )
    with tree.enter() as host:
        host.script({"agent0": [call("taken", x=1), respond("ok")]})
        assert host.say("go") == "ok"
        assert (
            f"multiple values for keyword argument '{key}'" in host.warnings()[0]
            or key in host.warnings()[0]
        )
        assert host.tool_results("taken") == []


def test_13_additional_that_is_not_json_crashes(tree):
    tree.add_plugin("probe", {"tools/odd.py": returning('Response("x", False, {"odd": object()})')})
    with tree.enter() as host, pytest.raises(TypeError, match="not JSON serializable"):
        host.tool("odd", x=1)


def test_13_a_message_that_is_no_text_crashes(tree):
    tree.add_plugin("probe", {"tools/number.py": returning("Response(5, False)")})
    with tree.enter() as host, pytest.raises((AttributeError, TypeError)):
        host.tool("number", x=1)


def test_13_break_loop_with_an_empty_message_goes_on(tree):
    tree.add_plugin(
        "probe",
        {
            "tools/silent.py": returning('Response("", True)'),
            "tools/loud.py": returning('Response("end", True)'),
        },
    )
    with tree.enter() as host:
        host.script({"agent0": [call("silent", x=1), call("loud", x=1)]})
        assert host.say("go") == "end"
        assert len(host.model_calls) == 2


def test_14_a_message_right_after_execute_drops_the_result(host):
    host.script(
        {"agent0": [call("echo", text="verdict", end=True), respond("I read your message")]}
    )
    host.at("_functions/agent/Agent/get_tool/end", lambda agent, **kw: None)
    host.at(
        "tool_execute_before",
        lambda agent, **kw: host.interrupt("wait, blue"),
        times=1,
        tool_name="echo",
    )
    assert host.say("go") == "I read your message"
    assert host.tool_results("echo") == []
    assert {"user_intervention": "wait, blue"} in host.contents()


def test_14_a_message_in_the_moment_of_the_result_keeps_it_but_not_the_end_of_the_run(host):
    host.script(
        {"agent0": [call("echo", text="verdict", end=True), respond("I read your message")]}
    )
    host.at("hist_add_tool_result", lambda agent, **kw: host.interrupt("wait, blue"), times=1)
    assert host.say("go") == "I read your message"
    assert host.tool_results("echo")[0]["tool_result"] == "verdict"


def test_14_of_an_interrupted_tool_only_the_progress_is_kept(tree):
    body = 'await self.set_progress("half done")\nself.agent.intervention = UserMessage("stop that")\nreturn Response("all", False)'
    tree.add_plugin("probe", {"tools/slow.py": probe(body, "from agent import UserMessage")})
    with tree.enter() as host:
        host.script({"agent0": [call("slow", x=1), respond("ok")]})
        host.say("go")
        assert [one["tool_result"] for one in host.tool_results("slow")] == ["half done"]


def test_14_a_repairable_exception_becomes_a_warning_with_a_traceback_each_time(tree):
    tree.add_plugin(
        "probe",
        {
            "tools/sorry.py": probe(
                'raise RepairableException("try B")',
                "from helpers.errors import RepairableException",
            )
        },
    )
    with tree.enter() as host:
        host.script({"agent0": [call("sorry", x=number) for number in range(3)] + [respond("ok")]})
        assert host.say("go") == "ok"
        assert len(host.warnings()) == 3
        assert "try B" in host.warnings()[0]
        assert "Traceback" in host.warnings()[0]


def test_14_any_other_exception_has_one_retry_and_then_ends_the_chain_from_a_subordinate_too(tree):
    tree.add_plugin("probe", {"tools/boom.py": probe('raise KeyError("boom")')})
    tree.add_profile("frontend_designer")
    with tree.enter() as host:
        from helpers.errors import HandledException

        host.script(
            {"agent0": handed_over(), "frontend_designer": [call("boom", x=1), call("boom", x=2)]}
        )
        with pytest.raises(HandledException, match="boom"):
            host.say("go")
        assert len(host.model_calls) == 3
        assert host.tool_results("call_subordinate") == []
        assert len(host.rows(type="error")) == 1


def test_14_an_intervention_that_a_tool_swallows_is_lost(tree):
    body = 'try:\n    await self.agent.handle_intervention()\nexcept Exception:\n    pass\nreturn Response("went on", True)'
    tree.add_plugin("probe", {"tools/deaf.py": probe(body)})
    with tree.enter() as host:
        host.at("tool_execute_before", lambda agent, **kw: host.interrupt("stop"), times=1)
        host.script({"agent0": call("deaf", x=1)})
        assert host.say("go") == "went on"


# ---------------------------------------------------------------------- 15 to 17


def test_15_read_prompt_expands_braces_inside_the_values_includes_too(host, tree):
    tree.write("prompts/fw.frame.md", "<{{text}}>")
    (tree.root.parent / "outside.md").write_text("another file")
    assert host.agent0.read_prompt("fw.frame.md", text="{{later}}", later="x") == "<x>"
    assert host.agent0.read_prompt(
        "fw.frame.md", text="{{ include './fw.msg_repeat.md' }}"
    ).startswith("<Double:")
    assert (
        host.agent0.read_prompt("fw.frame.md", text="{{ include '../outside.md' }}")
        == "<another file>"
    )


def test_15_attachments_in_braces_in_a_user_message_breaks_it_when_there_are_attachments(host):
    from agent import UserMessage

    with pytest.raises(json.JSONDecodeError):
        host.agent0.hist_add_user_message(UserMessage("see {{attachments}}", attachments=["a.png"]))


def test_15_without_attachments_the_braces_are_replaced_by_an_empty_list(host):
    from agent import UserMessage

    host.agent0.hist_add_user_message(UserMessage("see {{attachments}}"))
    assert host.contents()[-1] == {"user_message": "see []"}


def test_16_a_result_of_500_characters_is_a_file_of_the_chat_too(host, tree):
    host.tool("echo", text="x" * 499)
    host.tool("echo", text="y" * 500)
    short, long = host.tool_results("echo")
    folder = tree.root / "usr/chats" / host.context.id / "messages"
    assert "file" not in short
    assert long["file"] == str(folder / "1.txt")
    assert (folder / "1.txt").read_text() == "y" * 500


def test_16_the_same_answer_twice_is_refused(host):
    same = json.dumps(call("echo", text="x"))
    host.script({"agent0": [same, same, respond("ok")]})
    assert host.say("go") == "ok"
    assert len(host.tool_results("echo")) == 1
    assert "the one before" in host.warnings()[0]


def test_16_one_tool_call_a_turn(host):
    two = json.dumps(call("echo", text="one")) + "\n" + json.dumps(call("echo", text="two"))
    host.script({"agent0": [two, respond("ok")]})
    host.say("go")
    assert [one["tool_result"] for one in host.tool_results("echo")] == ["one"]


def test_16_an_answer_without_a_request_is_a_warning(host):
    host.script({"agent0": ["just prose", respond("ok")]})
    assert host.say("go") == "ok"
    assert host.warnings() == ["Double: no tool request was found in this answer."]


def test_17_all_chats_share_one_thread_so_a_blocking_tool_stops_the_others(tree):
    tree.add_plugin(
        "probe",
        {"tools/block.py": probe("time.sleep(0.2)\nreturn Response('woke', True)", "import time")},
    )
    with tree.enter() as host:
        first, second = host.new_chat(), host.new_chat()
        threads = []
        host.at("message_loop_start", lambda agent, **kw: threads.append(threading.get_ident()))
        host.script({"agent0": [call("block", x=1), respond("quick")]})
        started = time.monotonic()
        host.say("one", first, wait=False)
        host.say("two", second, wait=False)
        assert {host.wait(first), host.wait(second)} == {"woke", "quick"}
        assert time.monotonic() - started >= 0.2
        assert len(set(threads)) == 1


# ---------------------------------------------------------------------- 18 to 22: subordinates


def test_18_a_subordinate_has_the_profile_the_next_number_and_the_same_chat(host):
    host.script({"agent0": [handed_over(), respond("done")], "frontend_designer": respond("built")})
    assert host.say("go") == "done"
    sub = host.subordinate()
    assert (sub.number, sub.config.profile, sub.context is host.context) == (
        1,
        "frontend_designer",
        True,
    )
    assert sub.get_data("_superior") is host.agent0
    assert host.tool_results("call_subordinate")[0]["tool_result"] == "built"
    assert host.contents(sub)[0] == {"user_message": "Build the hero"}
    assert host.agent0.config.profile == "agent0"


def test_18_another_profile_without_reset_is_silently_ignored(host):
    host.script(
        {
            "agent0": [
                handed_over(),
                call("call_subordinate", message="more", profile="researcher"),
                respond("done"),
            ],
            "frontend_designer": [respond("built"), respond("built more")],
        }
    )
    host.say("go")
    assert [one["tool_result"] for one in host.tool_results("call_subordinate")] == [
        "built",
        "built more",
    ]


@pytest.mark.parametrize("reset", [True, "true", " True "])
def test_18_reset_is_compared_as_text(host, reset):
    host.script(
        {
            "agent0": [
                handed_over(),
                call("call_subordinate", message="x", profile="researcher", reset=reset),
                respond("done"),
            ],
            "frontend_designer": respond("built"),
            "researcher": respond("found"),
        }
    )
    host.say("go")
    assert host.subordinate().config.profile == "researcher"


def test_18_an_unknown_profile_runs_with_the_default_prompts(host):
    host.script(
        {
            "agent0": [call("call_subordinate", message="x", profile="nobody"), respond("done")],
            "nobody": respond("I ran"),
        }
    )
    assert host.say("go") == "done"
    assert "base role" in host.model_calls[1]["messages"][0].content


def test_18_there_is_no_depth_limit(host):
    down = {
        f"A{number}": [
            call("call_subordinate", message=f"level {number}"),
            respond(f"back {number}"),
        ]
        for number in range(6)
    }
    host.script(down | {"A6": respond("bottom")})
    assert host.say("go") == "back 0"


def test_18_the_available_profiles_are_the_enabled_ones_of_core_plugins_and_user(tree):
    tree.add_plugin(
        "probe", {"agents/plugged/agent.yaml": "title: Plugged\ndescription: d\ncontext: c\n"}
    )
    tree.write("usr/agents/off/agent.yaml", "title: Off\nenabled: false\n")
    with tree.enter():
        from helpers import subagents

        found = subagents.get_available_agents_dict(None)
        assert found["plugged"].title == "Plugged"
        assert {"agent0", "developer"} <= set(found)
        assert "off" not in found


def test_19_profile_and_name_are_lost_when_a_chat_is_loaded_again(tree):
    tree.add_profile("frontend_designer")
    with tree.enter() as host:
        host.script(
            {"agent0": [handed_over(), respond("done")], "frontend_designer": respond("built")}
        )
        host.say("go")
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

    host.script(
        {
            "agent0": [handed_over(), respond("done")],
            "frontend_designer": [save, call("echo", text="x")],
        }
    )
    host.script({"agent0#1": respond("I am the orchestrator now")})
    host.say("go")
    assert host.tool_results("call_subordinate")[0]["tool_result"] == "I am the orchestrator now"
    assert host.subordinate().config is host.agent0.config


def test_19_agent_init_runs_before_the_saved_data_is_there(tree):
    tree.add_plugin(
        "probe",
        {
            "extensions/python/agent_init/_50_look.py": extension(
                "seen.append(dict(self.agent.data))",
                "from usr.plugins.probe.helpers.seen import seen",
                sync=True,
            ),
            "helpers/seen.py": "seen = []\n",
        },
    )
    with tree.enter() as host:
        host.agent0.set_data("kept", {"a": 1})
        host.save()
    with tree.enter() as host:
        host.load_chats()
        from usr.plugins.probe.helpers.seen import seen

        assert seen
        assert not any("kept" in data for data in seen)
        assert host.agent0.get_data("kept") == {"a": 1}


def test_20_underscored_keys_are_not_saved_and_objects_become_null(host):
    host.agent0.data |= {"_private": 1, "kept": {"_inner": 2}, "object": object()}
    host.context.data |= {"_private": 1, "kept": 2}
    saved = host.save()
    data = saved["agents"][0]["data"]
    assert data["kept"] == {"_inner": 2}
    assert data["object"] is None
    assert "_private" not in data
    assert saved["data"] == {"kept": 2}


def test_20_a_tuple_as_a_key_makes_the_save_raise_and_ends_the_chain(host):
    from helpers.errors import HandledException

    host.agent0.set_data("bad", {(1, 2): "x"})
    host.script({"agent0": [call("echo", text="x"), call("echo", text="y")]})
    with pytest.raises((TypeError, HandledException)):
        host.say("go")


def test_20_a_reset_clears_agent_data_and_keeps_the_chats(host):
    host.agent0.set_data("kept", 1)
    host.context.set_data("kept", 2)
    host.reset()
    assert host.agent0.get_data("kept") is None
    assert host.context.get_data("kept") == 2


def test_21_after_a_subordinate_the_streaming_agent_is_nobody_until_it_is_set_again(tree):
    body = """
sub = Agent(self.agent.number + 1, self.agent.config, self.agent.context)
sub.agent_name = "Painter (A1)"
sub.hist_add_user_message(UserMessage("paint"))
answer = await sub.monologue()
return Response(f"{answer} {self.agent.context.streaming_agent}", True)
"""
    tree.add_plugin(
        "probe", {"tools/starts.py": probe(body, "from agent import Agent, UserMessage")}
    )
    with tree.enter() as host:
        host.script({"agent0#0": call("starts", x=1), "agent0#1": respond("painted")})
        assert host.say("go") == "painted None"
        speaking = [row for row in host.save()["log"]["logs"] if row["agentno"] == 1]
        assert [row["heading"] for row in speaking] == [
            "Painter (A1): Using response",
            "icon://chat Painter (A1): Responding",
        ]


def test_21_a_cancel_passes_by_and_no_end_point_runs(host):
    points = host.trace()
    host.script({"agent0": [handed_over()], "frontend_designer": lambda: host.cancel()})
    task = host.say("go", wait=False)
    host.settle()
    assert task._future.cancelled()
    names = [name for name, _ in points]
    assert "_functions/agent/AgentContext/kill_process/start" in names
    assert not {"_functions/agent/Agent/monologue/end", "monologue_end", "process_chain_end"} & set(
        names
    )
    assert not host.context.is_running()
    assert host.context.streaming_agent is None


@pytest.mark.parametrize("act", ["reset", "remove"])
def test_21_reset_and_remove_have_points_of_their_own(host, act):
    host.context  # noqa: B018 (the chat is made)
    points = host.trace()
    getattr(host, act)()
    assert (f"_functions/agent/AgentContext/{act}/end", "") in points


def test_21_a_nudge_kills_the_task_and_starts_the_first_agent_or_who_speaks(host):
    host.script({"agent0": [lambda: asyncio.sleep(5)]})
    host.say("go", wait=False)
    while not host.model_calls:
        time.sleep(0.001)
    host.script({"agent0": respond("going on")})
    host.nudge()
    assert host.wait() == "going on"
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
    host.script({"agent0": [handed_over(), respond("done")], "frontend_designer": respond("built")})
    host.say("go")
    assert told == ["go"]
    assert added == [(0, "go"), (1, "Build the hero")]


def test_22_hist_add_user_message_start_can_change_what_a_subordinate_reads(tree):
    tree.add_profile("frontend_designer")
    body = 'message = kwargs["data"]["args"][1]\nmessage.message = message.message.replace("§§handover(1)", "the package")'
    point = "extensions/python/_functions/agent/Agent/hist_add_user_message/start/_50_expand.py"
    tree.add_plugin("probe", {point: extension(body, sync=True)})
    with tree.enter() as host:
        asked = call("call_subordinate", message="§§handover(1)", profile="frontend_designer")
        host.script({"agent0": [asked, respond("done")], "frontend_designer": respond("built")})
        host.say("go")
        assert host.contents(host.subordinate())[0] == {"user_message": "the package"}


def test_22_tool_execute_before_changes_the_arguments_and_refuses_by_raising(tree):
    body = """
if kwargs["tool_name"] == "call_subordinate":
    if "no" in kwargs["tool_args"]["message"]:
        raise RepairableException("not this one")
    kwargs["tool_args"].update(profile="researcher", reset=True)
"""
    point = "extensions/python/tool_execute_before/_20_probe_change.py"
    tree.add_plugin(
        "probe", {point: extension(body, "from helpers.errors import RepairableException")}
    )
    with tree.enter() as host:
        host.script(
            {
                "agent0": [
                    call("call_subordinate", message="no"),
                    call("call_subordinate", message="yes"),
                    respond("done"),
                ],
                "researcher": respond("found"),
            }
        )
        host.say("go")
        assert len(host.warnings()) == 1
        assert host.subordinate().config.profile == "researcher"


def test_22_after_a_restart_in_a_run_the_next_message_goes_to_the_subordinate_and_up(
    tree, tmp_path
):
    tree.add_profile("frontend_designer")
    killed = []
    with tree.enter() as host:
        host.script(
            {
                "agent0": [handed_over(), respond("done")],
                "frontend_designer": [
                    call("echo", text="working"),
                    lambda: killed.append(tree.snapshot(tmp_path / "killed")),
                    respond("built"),
                ],
            }
        )
        host.say("go")
    with killed[0].enter() as host:
        host.load_chats()
        host.script({"agent0#1": respond("went on"), "agent0#0": respond("told the person")})
        assert host.say("are you there?") == "told the person"
        assert {"user_message": "are you there?"} in host.contents(host.subordinate())
        assert host.tool_results("call_subordinate") == [
            {"tool_name": "call_subordinate", "tool_result": "went on"}
        ]


def test_22_two_listeners_at_one_moment_see_the_profile_of_the_agent(host):
    seen = []
    host.at(
        "monologue_start",
        lambda agent, **kw: seen.append(agent.number),
        profile="frontend_designer",
    )
    host.script({"agent0": [handed_over(), respond("done")], "frontend_designer": respond("built")})
    host.say("go")
    assert seen == [1]


# ---------------------------------------------------------------------- 23 to 26: history and chats


def test_23_messages_are_raw_text_of_the_model_and_dicts_of_everybody_else(host):
    host.script({"agent0": [call("echo", text="x"), respond("ok")]})
    host.say("go")
    texts = [message.content for message in host.messages() if message.ai]
    assert json.loads(texts[1])["tool_name"] == "echo"
    others = [message.content for message in host.messages() if not message.ai]
    assert others == [{"user_message": "go"}, {"tool_name": "echo", "tool_result": "x"}]
    assert vars(host.messages()[0]).keys() == {"id", "ai", "content", "summary", "tokens"}


def test_23_each_message_of_the_person_starts_a_topic(host):
    host.script({"agent0": [respond("1"), respond("2")]})
    host.say("one")
    host.say("two")
    assert len(host.agent0.history.topics) == 2
    assert host.agent0.history.current.messages[0].content == {"user_message": "two"}


def test_23_output_writes_images_are_trimmed(host):
    image = {
        "raw_content": [{"type": "image_url", "image_url": {"url": "data:"}}],
        "preview": "<image>",
    }
    message = host.agent0.hist_add_message(False, image)
    host.agent0.history.output()
    assert message.summary == "embedded data removed"


def test_24_attention_compression_replaces_the_middle_of_a_topic_for_good(host):
    host.utility("short")
    history = host.agent0.history
    for number in range(10):
        host.agent0.hist_add_message(number % 2 == 0, f"message {number} " + "x" * 400)
    history.new_topic()
    before = host.contents()
    host.save_settings(ctx_length=1000, ctx_history=0.5)
    assert host.run(history.compress())
    after = host.contents()
    assert len(after) < len(before)
    assert {"messages_summary": "short"} in after or history.bulks


def test_24_old_topics_become_bulks_whose_summary_is_all_that_the_model_sees(host):
    host.utility("summary of three")
    for number in range(12):
        host.agent0.hist_add_message(False, f"message {number} " + "x" * 2000)
        host.agent0.history.new_topic()
    host.save_settings(ctx_length=4000, ctx_history=0.5)
    assert host.run(host.agent0.history.compress())
    shown = str(host.agent0.history.output())
    assert host.agent0.history.bulks[0].summary == "summary of three"
    assert "summary of three" in shown
    assert "message 0 " not in shown


def test_24_a_message_is_seen_at_hist_add_before_masked_later_than_core(tree):
    tree.add_plugin(
        "probe",
        {
            "extensions/python/hist_add_before/_50_keep.py": extension(
                'kept.append(kwargs["content_data"]["content"])',
                "from usr.plugins.probe.helpers.kept import kept",
                sync=True,
            ),
            "helpers/kept.py": "kept = []\n",
        },
    )
    with tree.enter() as host:
        host.secrets(API_KEY="hunter22")
        host.script({"agent0": respond("ok")})
        host.say("hunter22")
        from usr.plugins.probe.helpers.kept import kept

        assert {"user_message": "§§secret(API_KEY)"} in kept


def test_25_the_saved_chat_has_the_hosts_fields(host):
    host.script({"agent0": [handed_over(), respond("done")], "frontend_designer": respond("built")})
    host.say("go")
    saved = host.saved()
    assert {
        "id",
        "name",
        "created_at",
        "type",
        "last_message",
        "agents",
        "streaming_agent",
        "log",
        "data",
        "output_data",
    } == set(saved)
    assert [sorted(one) for one in saved["agents"]] == [["data", "history", "number"]] * 2
    history = json.loads(saved["agents"][1]["history"])
    assert {"_cls", "counter", "bulks", "topics", "current"} == set(history)
    assert {"guid", "logs", "progress", "progress_no"} == set(saved["log"])
    assert {"no", "id", "type", "heading", "content", "kvps", "timestamp", "agentno"} == set(
        saved["log"]["logs"][0]
    )


def test_25_a_chat_comes_back_from_the_disk_as_it_was(tree):
    with tree.enter() as host:
        host.script({"agent0": [call("echo", text="x"), respond("ok")]})
        host.say("go")
        before = host.save()
    with tree.enter() as host:
        host.load_chats()
        after = host.save()
        assert after.pop("log")["logs"] == before.pop("log")["logs"]
        assert after == before


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
    assert {key: value for key, value in again.items() if key != "log"} == {
        key: value for key, value in real.items() if key != "log"
    }


def test_26_the_utility_model_may_fail_or_say_nothing_and_renames_the_chat_beside_each_run(host):
    agent = host.agent0
    assert host.run(agent.call_utility_model("system", "message")) == ""
    host.utility(
        lambda system, message: (
            "A name that is a good deal too long for a chat" if "name this" in system else ""
        )
    )
    host.script({"agent0": respond("ok")})
    host.say("go")
    host.settle()
    assert host.context.name == "A name that is a good deal too long for " + "..."

    def fail(system, message):
        raise ConnectionError("no model")

    host.utility(fail)
    with pytest.raises(ConnectionError):
        host.run(agent.call_utility_model("system", "message"))


# ---------------------------------------------------------------------- 27 to 30: projects, settings, prompts


def test_27_a_chat_knows_its_project_and_paths_are_shown_as_in_the_container(host, tree):
    from helpers import files, projects

    assert projects.get_context_project_name(host.context) is None
    folder = host.project("shop")
    assert projects.get_context_project_name(host.context) == "shop"
    assert (
        projects.get_project_folder("shop") == str(folder) == str(tree.root / "usr/projects/shop")
    )
    assert files.normalize_a0_path(str(folder)) == "/a0/usr/projects/shop"
    assert files.fix_dev_path("/a0/usr/projects/shop") == str(folder)


def test_28_instructions_of_the_project_are_injected_and_its_handover_folder_is_not(host):
    folder = host.project("shop")
    (folder / ".a0proj/instructions/rule.md").write_text("Use tabs.")
    (folder / ".a0proj/handover").mkdir()
    (folder / ".a0proj/handover/briefing.md").write_text("Only for specialists.")
    text = host.system_prompt()
    assert "Use tabs." in text
    assert "Only for specialists." not in text


def test_29_the_first_config_is_taken_whole_and_not_merged_with_the_defaults(tree):
    tree.add_plugin("probe", {"default_config.yaml": "depth: 3\nhops: 12\n"})
    with tree.enter():
        from helpers import plugins

        assert plugins.get_plugin_config("probe") == {"depth": 3, "hops": 12}
        plugins.save_plugin_config("probe", "", "", {"depth": 5})
        assert plugins.get_plugin_config("probe") == {"depth": 5}


def test_29_a_projects_file_for_all_profiles_is_found_only_when_asked_without_a_profile(tree):
    tree.add_plugin("probe", {"default_config.yaml": "depth: 3\n"})
    with tree.enter() as host:
        from helpers import plugins

        host.project("shop")
        plugins.save_plugin_config("probe", "shop", "", {"depth": 9})
        assert plugins.get_plugin_config("probe", agent=host.agent0) == {"depth": 3}
        assert plugins.get_plugin_config("probe", agent=host.agent0, agent_profile="") == {
            "depth": 9
        }
        plugins.save_plugin_config("probe", "shop", "agent0", {"depth": 7})
        assert plugins.get_plugin_config("probe", agent=host.agent0) == {"depth": 7}


def test_30_tool_prompts_of_enabled_plugins_stand_in_every_agents_system_prompt(tree):
    tree.add_plugin(
        "probe",
        {
            "prompts/agent.system.tool.probe.md": "### probe\nmarks: {{marks}}",
            "prompts/agent.system.tool.probe.py": MARKS,
        },
    )
    with tree.enter() as host:
        from helpers import plugins

        assert "### probe\nmarks: 40" in host.system_prompt()
        plugins.toggle_plugin("probe", False)
        assert "### probe" not in host.system_prompt()


def test_30_a_profile_replaces_specifics_and_keeps_the_base_role(host):
    text = host.system_prompt(host.with_profile(host.agent0, "frontend_designer"))
    assert "You are frontend_designer." in text
    assert "base role of every profile" in text
    assert "'title': 'Developer'" in text


def test_a_web_handler_of_a_plugin_answers(tree):
    source = (
        "from helpers.api import ApiHandler\n"
        "\n"
        "\n"
        "class Chains(ApiHandler):\n"
        "    async def process(self, input, request):\n"
        "        return {'asked': input['id']}\n"
    )
    tree.add_plugin(
        "probe", {"api/chains.py": source, "api/fails.py": source.replace("'id'", "'nothing'")}
    )
    with tree.enter() as host:
        assert host.api("chains", {"id": 7}, plugin="probe").get_json() == {"asked": 7}
        assert host.api("fails", {"id": 7}, plugin="probe").status_code == 500


def test_log_rows_are_cut_at_the_hosts_caps(host):
    row = host.context.log.log(
        type="tool", heading="h" * 300, content="c" * 20_000, kvps={"k": "v" * 9_000}
    )
    assert (len(row.heading), len(row.content), len(row.kvps["k"])) == (120, 15_000, 5_000)
    assert "Characters hidden" in row.content


def test_a_notification_with_a_known_id_replaces_it(host):
    from helpers.notification import NotificationManager, NotificationPriority, NotificationType

    for text in ("one", "two"):
        NotificationManager.send_notification(
            NotificationType.WARNING, NotificationPriority.HIGH, text, id="x"
        )
    assert [one["message"] for one in host.notifications()] == ["two"]


# ---------------------------------------------------------------------- the 2.x shape


def test_2x_every_subordinate_has_a_chat_of_its_own_and_the_result_names_it(children):
    with children.enter() as host:
        host.script(
            {"agent0": [handed_over(), respond("done")], "frontend_designer": respond("built")}
        )
        assert host.say("go") == "done"
        sub = host.subordinate()
        result = host.tool_results("call_subordinate")[0]
        assert result == {
            "tool_name": "call_subordinate",
            "tool_result": "built",
            "context_id": sub.context.id,
        }
        assert sub.context is not host.context
        assert (sub.number, sub.config.profile) == (1, "frontend_designer")
        assert sub.context.get_output_data("parent_context_id") == host.context.id
        assert host.agent0.get_data("_subordinates") == {sub.context.id: sub}
        assert host.agent0.get_data("_subordinate") is None
        assert [row["heading"] for row in host.rows(sub.context, type="response")] == [
            "icon://chat A1: Responding"
        ]


def test_2x_another_profile_or_an_unknown_one_is_a_repairable_error(children):
    with children.enter() as host:
        host.script(
            {
                "agent0": [
                    handed_over(),
                    call("call_subordinate", message="x", profile="researcher"),
                    call("call_subordinate", message="x", profile="nobody", reset=True),
                    call("call_subordinate", message="", profile="researcher", reset=True),
                    respond("done"),
                ],
                "frontend_designer": respond("built"),
            }
        )
        assert host.say("go") == "done"
        first, second, third = host.warnings()
        assert "reset=true" in first
        assert "nobody" in second
        assert "message" in third


def test_2x_a_child_goes_on_by_its_context_id_also_after_a_restart(children):
    with children.enter() as host:
        host.script(
            {"agent0": [handed_over(), respond("done")], "frontend_designer": respond("built")}
        )
        host.say("go")
        ident = host.subordinate().context.id
    with children.enter() as host:
        host.load_chats()
        sub = host.chat(ident).agent0
        assert (sub.number, sub.config.profile, sub.get_data("_superior")) == (
            1,
            "frontend_designer",
            None,
        )
        host.script(
            {
                "agent0": [
                    call("call_subordinate", message="more", context_id=ident),
                    respond("done 2"),
                ],
                "frontend_designer": respond("built more"),
            }
        )
        assert host.say("go on") == "done 2"
        assert sub.get_data("_superior") is host.agent0


def test_2x_a_message_in_the_parents_chat_does_not_reach_the_child(children):
    with children.enter() as host:
        host.script(
            {
                "agent0": [handed_over(), respond("I heard you")],
                "frontend_designer": [lambda: host.interrupt("blue!"), respond("built")],
            }
        )
        assert host.say("go") == "I heard you"
        assert {"user_intervention": "blue!"} in host.contents()
        assert "blue!" not in str(host.contents(host.subordinate()))


def test_2x_in_a_childs_chat_the_end_points_do_not_run_because_it_has_no_task(children):
    with children.enter() as host:
        points = host.trace()
        host.script(
            {"agent0": [handed_over(), respond("done")], "frontend_designer": respond("built")}
        )
        host.say("go")
        assert ("monologue_start", "A1") in points
        assert ("monologue_end", "A1") not in points
        assert ("message_loop_end", "A1") not in points
        assert ("_functions/agent/Agent/monologue/end", "A1") in points


def test_2x_settings_keep_the_profiles(children):
    with children.enter() as host:
        host.script(
            {
                "agent0": [handed_over(), respond("done")],
                "frontend_designer": [lambda: host.save_settings(), respond("built")],
            }
        )
        assert host.say("go") == "done"
        assert host.subordinate().config.profile == "frontend_designer"


def test_2x_empty_arguments_are_allowed_and_an_invalid_request_is_only_a_warning(children):
    with children.enter() as host:
        host.script(
            {
                "agent0": [
                    '{"tool_name": "echo", "tool_args": {}}',
                    '{"tool_name": "echo"}',
                    '{"tool_args": {"a": 1}}',
                    respond("ok"),
                ]
            }
        )
        assert host.say("go") == "ok"
        assert len(host.tool_results("echo")) == 1
        assert len(host.warnings()) == 2


def test_2x_parallel_runs_a_tool_in_a_throw_away_chat_that_says_so(children):
    body = "return Response(f'{is_parallel_worker(self.agent)} {self.agent.context.type.value}', False)"
    children.add_plugin(
        "probe",
        {"tools/where.py": probe(body, "from helpers.parallel_tools import is_parallel_worker")},
    )
    with children.enter() as host:
        calls = [{"tool_name": "where", "tool_args": {"x": 1}}]
        host.script({"agent0": [call("parallel", tool_calls=calls), respond("ok")]})
        host.say("go")
        assert json.loads(host.tool_results("parallel")[0]["tool_result"]) == {
            "jobs": [{"result": "True background"}]
        }
        assert len(host.chats()) == 1
        assert host.tool("where", x=1).message == "False user"


def test_2x_a_nudge_has_no_message_of_a_person(children):
    with children.enter() as host:
        told = []
        host.at(
            "_functions/agent/AgentContext/communicate/start",
            lambda agent, data: told.append(data["args"][1].message),
        )
        host.script({"agent0": respond("on")})
        host.nudge()
        host.wait()
        assert told == [""]


def test_the_linear_shape_has_no_parallel_tools_and_no_functions_for_children(tree):
    with tree.enter():
        import tools.call_subordinate as cs

        assert not hasattr(cs, "get_or_create_subordinate")
        with pytest.raises(ModuleNotFoundError):
            import helpers.parallel_tools  # noqa: F401


@pytest.mark.parametrize("shape", SHAPES)
def test_a_subprocess_plays_a_script_and_leaves_its_chat_for_the_next(tmp_path, shape):
    tree = assemble(tmp_path / "a0", shape=shape, plugin_root=None)
    tree.run("host.script({'agent0': respond('hello')}); assert host.say('hi') == 'hello'")
    out = tree.run("print(len(host.load_chats())); print(host.contents()[1])").stdout
    assert out.splitlines() == ["1", "{'user_message': 'hi'}"]


def test_writing_into_one_tree_changes_no_other(tmp_path):
    first, second = (assemble(tmp_path / name, plugin_root=None) for name in ("a", "b"))
    first.write("prompts/fw.msg_repeat.md", "mine")
    third = assemble(tmp_path / "c", plugin_root=None)
    assert first.read("prompts/fw.msg_repeat.md") == "mine"
    assert (
        second.read("prompts/fw.msg_repeat.md") == third.read("prompts/fw.msg_repeat.md") != "mine"
    )


def test_an_unknown_shape_is_refused(tmp_path):
    with pytest.raises(ValueError, match="linear, children"):
        assemble(tmp_path / "a0", shape="round")

"""The tools and extensions as the host loads them: by path, afresh, with packages missing, and with arguments of any kind."""

import ast
import hashlib
import json
import sys

import pytest
from host_double.handover_kit import (
    NOTE,
    call,
    done,
    hand_over,
    kinds,
    of_kind,
    respond,
    result_of,
    states,
    texts_sent,
)

ARGS = hand_over()["tool_args"]


def files_written(host):
    return sorted(
        path for path in host.root.rglob("*") if path.is_file() and ".a0proj/handover" in str(path)
    )


@pytest.mark.parametrize("lacking", [("slugify",), ("slugify", "click", "tiktoken", "regex")])
def test_a_missing_package_is_a_clear_error_and_no_chat_dies(host_tree, lacking):
    with host_tree.enter(without=lacking) as host:
        host.project("acme")
        host.script(
            {"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [done()]}
        )
        assert host.say("Please build the hero") == "ok"
        assert host.swallowed == []
        answer = host.tool_results("handover_to_specialist")[-1]
        assert "not found" not in answer["tool_result"]
        if answer.get("error"):
            assert any(name in answer["tool_result"] for name in lacking), answer
        assert "agent0" in host.system_prompt()
        assert "specialists:" in host.system_prompt()


def test_importing_tools_and_extensions_loads_neither_tiktoken_nor_click(host_tree):
    found = host_tree.run(
        "import sys, pathlib\n"
        "from helpers import modules, tool, extension\n"
        "root = pathlib.Path('usr/plugins/software_orchestrator')\n"
        "for path in root.glob('tools/*.py'):\n"
        "    assert modules.load_classes_from_file(str(path), tool.Tool), path\n"
        "for path in root.glob('extensions/python/**/*.py'):\n"
        "    assert modules.load_classes_from_file(str(path), extension.Extension), path\n"
        "print([name for name in ('tiktoken', 'click', 'slugify', 'litellm') if name in sys.modules])"
    )
    assert found.strip().endswith("[]")


def test_a_tool_file_holds_one_tool_class_of_its_own_and_no_logic(host_tree):
    for path in host_tree.plugin.glob("tools/*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        assert len([node for node in tree.body if isinstance(node, ast.ClassDef)]) == 1
        assert not [
            node for node in ast.walk(tree) if isinstance(node, (ast.If, ast.Try, ast.For))
        ], path


def test_empty_arguments_reach_the_tool_and_name_what_is_missing(any_host):
    host = any_host
    folder = host.project("acme")
    host.script(
        {"agent0": ['{"tool_name": "handover_to_specialist", "tool_args": {}}', respond("ok")]}
    )
    assert host.say("Go") == "ok"
    answer = host.tool_results("handover_to_specialist")[-1]
    assert answer["error"]
    assert answer["error_code"] == "missing"
    assert "specialist_profile" in answer["tool_result"]
    assert "topic" in answer["tool_result"]
    assert not (folder / ".a0proj/handover").exists()


def test_unknown_arguments_are_ignored_with_a_warning(host):
    host.project("acme")
    answer = host.tool("handover_to_specialist", **ARGS, colour="blue", summry="x")
    assert not answer.error
    assert answer.additional is None
    warnings = json.loads(answer.message)["package"]["warnings"]
    assert any("colour" in text for text in warnings)
    assert any("did you mean summary" in text for text in warnings)


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"specialist_profile": ""}, "missing"),
        ({"specialist_profile": "solution_architectect"}, "unknown_specialist"),
        ({"specialist_profile": "a0 Software-Orchestrator"}, "self"),
        ({"topic": " "}, "missing"),
        ({"project_root": "relative/place"}, "root_not_absolute"),
        ({"project_root": "/nowhere/at/all"}, "path_unsafe"),
        ({"max_context_tokens": 0}, "limit_not_positive"),
        ({"max_context_tokens": 10}, "limit_not_positive"),
        ({"goal": "x", "decisions": [{"text": "y", "status": "perhaps"}]}, "bad_value"),
    ],
)
def test_every_refusal_is_a_marked_response_and_writes_nothing(host, args, code):
    host.project("acme")
    answer = host.tool("handover_to_specialist", **{**ARGS, **args})
    assert answer.error is True
    assert answer.break_loop is False
    assert answer.message.startswith("ERROR: ")
    assert answer.additional == {"error": True, "error_code": code}
    assert files_written(host) == []


def test_without_project_and_root_it_is_the_error_of_the_seed(host):
    answer = host.tool("handover_to_specialist", **ARGS)
    assert answer.error
    assert answer.additional["error_code"] == "missing"
    assert "project_root" in answer.message


def test_paths_of_the_container_are_understood(host):
    folder = host.project("acme")
    (folder / "index.html").write_text("<p>")
    args = {
        **ARGS,
        "project_root": " /a0/usr/projects/acme",
        "artifacts": ["/a0/usr/projects/acme/index.html", {"path": "index.html"}],
    }
    answer = host.tool("handover_to_specialist", **args)
    assert not answer.error, answer.message
    assert all(
        item["size"] == 3 for item in of_kind(folder, "prepared")[0]["data"]["packet"]["artifacts"]
    )


def test_three_refusals_in_a_row_stop_the_chat_until_the_person_writes(host):
    folder = host.project("acme")
    wrong = [hand_over("", goal=f"g{n}") for n in range(3)]
    host.script({"agent0": [*wrong, hand_over(), respond("stuck")]})
    assert host.say("Go") == "stuck"
    answers = host.tool_results("handover_to_specialist")
    assert [one["error_code"] for one in answers] == ["missing", "missing", "missing", "stopped"]
    assert all("frontend_designer" in one["tool_result"] for one in answers[:3])
    assert any("stopped" in note["title"] for note in host.notifications())
    assert not (folder / ".a0proj/handover").exists()
    host.script({"agent0": [hand_over(), respond("well")]})
    assert host.say("Try the designer") == "well"
    assert kinds(folder) == ["prepared", "briefed"]


def test_refusals_are_counted_through_a_restart(host_tree):
    with host_tree.enter() as host:
        host.project("acme")
        host.script(
            {
                "agent0": [
                    hand_over("", goal="a"),
                    hand_over("", goal="b"),
                    hand_over("", goal="c"),
                    respond("stuck"),
                ]
            }
        )
        host.say("Go")
    with host_tree.enter() as host:
        host.load_chats()
        assert host.tool("handover_to_specialist", **ARGS).additional["error_code"] == "stopped"


def test_a_secret_in_the_arguments_is_a_placeholder_everywhere(host):
    folder = host.project("acme")
    host.secrets(API_KEY="hunter2-very-secret")
    host.script(
        {
            "agent0": [
                hand_over(
                    start=True,
                    summary="The key is §§secret(API_KEY).",
                    state={"key": "§§secret(API_KEY)"},
                ),
                respond("ok"),
            ],
            "frontend_designer": [
                done(what_happened="Used §§secret(API_KEY).", reason="§§secret(API_KEY)")
            ],
        }
    )
    assert host.say("Please build the hero with hunter2-very-secret") == "ok"
    for path in files_written(host):
        assert "hunter2" not in path.read_text("utf-8", "replace"), path
    assert "The key is §§secret(API_KEY)." in texts_sent(host, "frontend_designer")
    assert "hunter2" not in json.dumps(list(host.rows()), default=str)
    assert "hunter2" not in json.dumps(host.context.data.get("software_orchestrator"))
    assert of_kind(folder, "done")[0]["data"]["note"]["what_happened"] == "Used §§secret(API_KEY)."


def test_a_secret_in_an_error_is_a_placeholder(host):
    host.project("acme")
    host.secrets(API_KEY="hunter2-very-secret")
    for args in (
        {"specialist_profile": "§§secret(API_KEY)"},
        {"project_root": "hunter2-very-secret"},
        {"max_context_tokens": "§§secret(API_KEY)"},
    ):
        answer = host.tool("handover_to_specialist", **{**ARGS, **args})
        assert answer.error
        assert "hunter2" not in answer.message


def test_a_mask_that_fails_stops_the_write(host, monkeypatch):
    folder = host.project("acme")
    from agent import UserMessage

    from helpers import secrets

    def broken(*_, **__):
        raise RuntimeError("vault is closed")

    monkeypatch.setattr(type(secrets.get_default_secrets_manager()), "mask_values", broken)
    monkeypatch.setattr(type(secrets.get_secrets_manager(host.context)), "mask_values", broken)
    args = {**ARGS, "summary": "something"}
    tool = host.agent0.get_tool("handover_to_specialist", None, args, "", None)
    answer = host.run(tool.execute(**args))
    assert answer.error
    assert "cannot be masked" in answer.message
    assert files_written(host) == []
    assert "vault" not in answer.message
    host.context.communicate(UserMessage("hello"))
    host.settle()
    kept = host.context.data["software_orchestrator"]["person"]
    assert kept == {"count": 1, "last": [""]}
    assert not (folder / ".a0proj/handover").exists()


def test_parallel_is_refused(children):
    host = children
    folder = host.project("acme")
    calls = [
        {"tool_name": "handover_to_specialist", "tool_args": ARGS},
        {"tool_name": "handover_reply", "tool_args": {"verdict": "done", **NOTE}},
    ]
    host.script({"agent0": [call("parallel", tool_calls=calls), respond("ok")]})
    assert host.say("Go") == "ok"
    assert host.tool_results("parallel")[-1]["tool_result"].count("inside parallel") == 2
    assert not (folder / ".a0proj/handover").exists()


BRACES = "{{ include './plugin.yaml' }} {{attachments}} {{{x}}} ``````````"


def test_braces_in_every_field_arrive_readable_and_expand_nothing(host):
    folder = host.project("acme")
    fields = (
        "summary", "goal", "next_action", "user_state", "return_condition", "handover_reason", "stopped_at",
    )  # fmt: skip
    args = {name: f"{name} {BRACES}" for name in fields}
    args |= {
        name: [f"{name} {BRACES}"]
        for name in (
            "acceptance_criteria",
            "sections_done",
            "notes",
            "decisions",
            "rejected_paths",
            "open_questions",
            "flags",
        )
    }
    args |= {
        "state": {"field": BRACES, "vat": {"status": "declined", "verbatim": BRACES}},
        "recent_turns": [{"role": "user", "content": BRACES}],
    }
    args |= {
        "artifacts": [f"a {BRACES}.txt"],
        "topic": f"topic {BRACES}",
        "authority": {"granted": [BRACES]},
        "max_context_tokens": 9000,
    }
    host.script(
        {
            "agent0": [hand_over(start=True, **args), respond("ok")],
            "frontend_designer": [done(what_happened=BRACES, hand_to="quality_reviewer")],
            "quality_reviewer": [call("handover_reply", verdict="escalate", reason=BRACES)],
        }
    )
    assert host.say("Please build the hero") == "ok"
    text = texts_sent(host, "frontend_designer")
    assert "{{" not in text.partition("Double extras")[0]
    assert "always_enabled" not in text
    for name in (*fields, "decisions", "notes", "flags"):
        assert f"{name} {{ {{ include './plugin.yaml' }}}} {{ {{attachments}}" in text, name
    assert text.count("include './plugin.yaml'") >= len(args) - 2
    delivered = of_kind(folder, "delivered")[0]["data"]
    assert "{{ include" in json.dumps(of_kind(folder, "prepared")[0]["data"]["packet"]), (
        "the record keeps the words as they came"
    )
    sent = next(
        str(item["user_message"])
        for item in map(
            dict,
            filter(lambda c: isinstance(c, dict), host.contents(_agent(host, "frontend_designer"))),
        )
        if "user_message" in item
    )
    assert hashlib.sha256(sent.encode()).hexdigest() == delivered["text_sha256"]
    assert "{{" not in result_of(host)["reply"].get("what_happened", "")
    host.script({"agent0": [respond("again")]})
    assert host.say("What stands?") == "again"
    last = str(host.model_calls[-1]["messages"][-1].content).rpartition("Double extras:")[2]
    assert "always_enabled" not in last


def _agent(host, profile):
    return next(asked["agent"] for asked in host.model_calls if profile in asked["names"])


def test_what_is_said_beside_a_reference_is_not_lost_and_two_references_are_refused(host):
    folder = host.project("acme")
    host.script(
        {
            "agent0": [
                hand_over(),
                lambda: call(
                    "call_subordinate",
                    profile="x",
                    message=f"Hurry up please: §§handover({of_kind(folder, 'prepared')[0]['handover']})",
                    reset="true",
                ),
                respond("ok"),
            ],
            "frontend_designer": [done()],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert "Hurry up please" in texts_sent(host, "frontend_designer")
    assert states(folder) == {"frontend_designer": "done"}
    sent = next(
        item["user_message"]
        for item in host.contents(_agent(host, "frontend_designer"))
        if isinstance(item, dict) and "user_message" in item
    )
    assert (
        hashlib.sha256(sent.encode()).hexdigest()
        == of_kind(folder, "delivered")[0]["data"]["text_sha256"]
    )
    twice = "§§handover(ho-0123456789abcdef) §§handover(ho-0123456789abcdef)"
    host.script({"agent0": [call("call_subordinate", message=twice), respond("well")]})
    assert host.say("Again") == "well"
    assert "one reference" in host.warnings()[-1]


def test_the_prompt_of_the_tool_with_its_roster_is_short(host):
    from usr.plugins.software_orchestrator.helpers.text import tokens

    prompt = host.agent0.read_prompt("agent.system.tool.handover_to_specialist.md")
    assert tokens.counter().name == "cl100k_base"
    assert prompt.count("\n- ") >= 11
    assert tokens.counter().count(prompt) < 450
    assert "{{" not in prompt


def test_specialist_prompts_are_short_and_shown_only_to_who_holds_a_handover(host):
    host.project("acme")
    from usr.plugins.software_orchestrator.helpers.text import tokens

    shown = {}

    def look(agent):
        shown["specialist"] = str(host.model_calls[-1]["messages"][0].content)
        return done()

    host.script({"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [look]})
    host.say("Please build the hero")
    for mark in ("## your handover", "### handover_reply"):
        assert mark in shown["specialist"]
        assert mark not in host.system_prompt()
        assert mark not in host.system_prompt(_agent(host, "frontend_designer"))
    ours = shown["specialist"][shown["specialist"].index("## your handover") :]
    assert tokens.counter().count(ours) < 600


def test_no_module_of_the_plugin_is_imported_under_a_wrong_name(host):
    host.project("acme")
    host.tool("handover_to_specialist", **ARGS)
    place = str(host.root / "usr/plugins/software_orchestrator")
    ours = [
        name
        for name, module in sys.modules.items()
        if str(getattr(module, "__file__", "")).startswith(place)
    ]
    assert len(ours) > 20
    assert [
        name for name in ours if not name.startswith("usr.plugins.software_orchestrator.")
    ] == []


def test_a_message_that_only_speaks_of_references_is_an_ordinary_message(host):
    host.project("acme")
    said = "Explain what §§handover means, in a sentence."
    host.script(
        {
            "agent0": [
                call("call_subordinate", profile="developer", message=said, reset="true"),
                respond("ok"),
            ],
            "developer": [respond("It points.")],
        }
    )
    assert host.say("Ask the developer") == "ok"
    assert said in texts_sent(host, "developer")

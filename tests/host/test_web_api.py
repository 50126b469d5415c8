"""The handlers of the pages inside the host: who may call them, what they check, and what they never read."""

import json
from pathlib import Path
from typing import Any

import pytest
from host_double.assemble import assemble

from usr.plugins.software_orchestrator.tests.browser import records

NO_BRIEFINGS = [
    "../../../secret.md", "/etc/passwd", "chains/x.md", "..", "", None, {"a": 1}, "a.md\0", "..\\secret.md", "none-2026-01-01.md",
]  # fmt: skip
NO_PROJECTS = ["nobody", "../shop", "shop/../../projects", "", None, 7, ["shop"], "shop\0"]
NO_CHAINS = ["../../../secret", "nobody", "", None, 1, "a/b", "x" * 400]
NO_HANDOVERS = ["ho-0123456789abcdef", "ho-../../x", "", None, ["ho-0123456789abcdef"]]
NO_SCOPES = [
    {"project": "nobody"}, {"project": "../x"}, {"profile": "../../x"}, {"profile": ".."}, {"profile": ["a"]},
]  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    tree = assemble(tmp_path_factory.mktemp("web") / "a0")
    key = tree.root / "usr/software_orchestrator/installation.key"
    key.parent.mkdir(exist_ok=True)
    key.write_bytes(records.KEY)
    key.chmod(0o600)
    return tree


@pytest.fixture(scope="module")
def host(tree):
    """A host with the projects `shop` and `empty`, and a secret beside them."""
    with tree.enter() as entered:
        records.shop(entered.project("shop"))
        entered.project("empty")
        (tree.root / "usr/projects/secret.md").write_text("SECRET", encoding="utf-8")
        yield entered


def asked(
    host: Any, action: str, handler: str = "audit", **body: Any
) -> tuple[int, dict[str, Any]]:
    answer = host.api(handler, {"action": action, **body})
    return getattr(answer, "status_code", getattr(answer, "status", 200)), answer.get_json()


def chain_of(host: Any, topic: str) -> dict[str, Any]:
    return next(chain for chain in asked(host, "chains")[1]["chains"] if chain["topic"] == topic)


def chain_events(host: Any, about: dict[str, str]) -> list[str]:
    folder = Path(host.project(about["project"])) / ".a0proj/handover/chains"
    (ledger,) = folder.glob(f"{about['chain']}.*.jsonl")
    return ledger.read_text("utf-8").splitlines()


def test_the_handlers_demand_sign_in_and_token(host, tree):
    from helpers import api, modules

    for file in sorted((tree.plugin / "api").glob("*.py")):
        (handler,) = modules.load_classes_from_file(str(file), api.ApiHandler)
        assert (handler.requires_auth(), handler.requires_csrf(), handler.get_methods()) == (
            True,
            True,
            ["POST"],
        )


def test_projects_chains_chain_packet_briefing_metrics_and_verify_are_answered(host):
    assert [project["name"] for project in asked(host, "projects")[1]["projects"]] == [
        "empty",
        "shop",
    ]
    chain = chain_of(host, records.TOPIC)
    about = {"project": chain["project"], "chain": chain["chain"]}
    told = asked(host, "chain", **about)[1]
    assert [arrow["kind"] for arrow in told["timeline"]["arrows"]].count("handover") == 4
    packet = asked(host, "packet", **about, handover=chain["ids"][1])[1]["packet"]
    assert packet["summary"]["receiver"] == "frontend_designer"
    place = packet["summary"]["briefing"][0]["path"]
    assert chain["ids"][1] in asked(host, "briefing", project="shop", name=place)[1]["text"]
    assert asked(host, "metrics", project="shop")[1]["handovers"] == 9
    found = asked(host, "verify", **about)[1]
    assert found["faults"] == 0
    assert (found["files"], found["events"], found["entries"]) == (
        5,
        len(chain_events(host, about)),
        8,
    )


def refusals(host, action, handler="audit", **one_of):
    """What is answered for each value of the one named argument, and that it is a refusal."""
    (name, values), more = one_of.popitem(), one_of
    answers = [asked(host, action, handler, **more, **{name: value}) for value in values]
    assert [status for status, _ in answers] == [400] * len(values)
    assert not any(answer["ok"] or not answer["error"] for _, answer in answers)
    return json.dumps(answers)


def test_what_is_no_project_briefing_chain_handover_or_action_is_refused(host):
    chain = chain_of(host, records.TOPIC)["chain"]
    briefing = next(Path(host.project("shop")).joinpath(".a0proj/handover").glob("*.md")).name
    refusals(host, "briefing", name=briefing, project=NO_PROJECTS)
    assert "SECRET" not in refusals(host, "briefing", project="shop", name=NO_BRIEFINGS)
    refusals(host, "chain", project="shop", chain=NO_CHAINS)
    refusals(host, "packet", project="shop", handover="ho-0123456789abcdef", chain=NO_CHAINS)
    refusals(host, "packet", project="shop", chain=chain, handover=NO_HANDOVERS)
    for action in ("", "delete", "__class__"):
        assert asked(host, action)[0] == asked(host, action, "settings")[0] == 400


def test_a_briefing_that_is_a_link_is_not_read(host):
    folder = Path(host.project("shop")) / ".a0proj/handover"
    link = folder / "linked-2026-06-05.md"
    link.symlink_to(folder.parents[2] / "secret.md")
    status, answer = asked(host, "briefing", project="shop", name=link.name)
    link.unlink()
    assert status == 400
    assert "SECRET" not in json.dumps(answer)


def test_a_project_whose_record_is_a_link_is_named_and_hides_no_other(host):
    evil = Path(host.project("evil")) / ".a0proj/handover"
    evil.symlink_to(Path(host.project("shop")) / ".a0proj/handover")
    listed, verified, measured = (
        asked(host, action)[1] for action in ("chains", "verify", "metrics")
    )
    evil.unlink()
    assert (
        [item["project"] for item in listed["unreadable"]]
        == measured["unreadable_projects"]
        == ["evil"]
    )
    assert [(item["kind"], item["where"]) for item in verified["findings"]] == [
        ("unreadable", "evil")
    ]
    assert (len(listed["chains"]), measured["chains"]) == (5, 5)


def test_asking_writes_nothing(host):
    folder = Path(host.project("shop")) / ".a0proj/handover"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    for action in ("projects", "chains", "metrics", "verify"):
        asked(host, action)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_the_settings_tell_what_holds_and_where_it_comes_from(host, tree):
    tree.write(
        "usr/plugins/software_orchestrator/config.json",
        '{"max_context_tokens": 2000, "git_ignore": "all"}',
    )
    tree.write(
        "usr/projects/shop/.a0proj/plugins/software_orchestrator/config.json",
        '{"git_ignore": "none"}',
    )
    view = asked(host, "view", "settings", project="shop", profile="hacker")[1]
    assert view["effective"]["git_ignore"] == {"value": "none", "source": "project shop"}
    assert view["effective"]["max_context_tokens"] == {"value": 2000, "source": "installation"}
    assert view["effective"]["lock_timeout_s"]["source"] == "default"
    assert (view["own"], view["problem"]) == ({}, "")


def test_settings_that_cannot_be_saved_are_refused_with_the_reason(host):
    status, answer = asked(host, "check", "settings", values={"max_handover_depth": 99})
    assert (status, answer["ok"]) == (400, False)
    assert "max_handover_depth" in answer["error"]
    assert asked(host, "check", "settings", values={"max_handover_depth": "4"})[1]["values"] == {
        "max_handover_depth": 4
    }
    assert asked(host, "check", "settings", values="x")[0] == 400


def test_settings_of_a_scope_that_is_none_are_refused(host):
    for scope in NO_SCOPES:
        assert asked(host, "view", "settings", **scope)[0] == 400, scope


def test_the_pages_are_answered_in_a_host_that_lacks_packages(tmp_path):
    tree = assemble(tmp_path / "a0")
    with tree.enter(without=("slugify", "click", "rich", "tiktoken")) as bare:
        bare.project("shop")
        assert asked(bare, "chains")[0] == 200
        assert asked(bare, "view", "settings")[1]["problem"] == ""
        assert bare.swallowed == []

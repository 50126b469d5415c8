"""A specialist on another machine: its entry in the settings, and how an answer is read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.arguments.answer_text import reply_in
from usr.plugins.software_orchestrator.helpers.records import resources
from usr.plugins.software_orchestrator.helpers.remote import protocol
from usr.plugins.software_orchestrator.helpers.values.errors import RemoteError, SettingsError
from usr.plugins.software_orchestrator.helpers.values.roster import build
from usr.plugins.software_orchestrator.helpers.values.settings import settings

NOTE = {"what_happened": "a", "observations": "b", "user_state": "c", "next": "d"}


def remote(**fields):
    return (
        build({"far": {"remote": {"url": "https://there.example/a2a", **fields}}})
        .find("far")
        .remote
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://there.example/a2a", "https://10.0.0.7:8443", "http://127.0.0.1:5080/a2a", "http://127.9.9.9/",
        "http://localhost:5080/", "http://[::1]:5080/",
    ],
)  # fmt: skip
def test_https_or_this_machine_is_an_address(url):
    assert remote(url=url).url.startswith(url.rstrip("/"))


@pytest.mark.parametrize(
    "url",
    [
        "http://there.example/a2a", "http://10.0.0.7/", "http://localhost.there.example/", "http://127.0.0.1.nip.io/",
        "ftp://there.example/", "there.example", "", "https://user:pw@there.example/", "https://there.example/?token=1",
        "https://there.example/#x", "file:///etc/passwd", "https://" + "a" * 3000, 5, None,
    ],
)  # fmt: skip
def test_anything_else_is_none(url):
    with pytest.raises(SettingsError, match=r"roster\.far\.remote"):
        remote(url=url)


@pytest.mark.parametrize(
    "token", ["hunter2-hunter2", "Bearer hunter2", "§§secret()", "x§§secret(A)", ["hunter2"]]
)
def test_a_token_itself_is_refused_and_not_repeated(token):
    with pytest.raises(SettingsError) as caught:
        remote(token=token)
    assert "token" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [
        "https://there.example",
        ["https://hunter2"],
        {"token": "hunter2"},
        {"url": "https://a", "tokn": "hunter2"},
    ],
)
def test_another_form_is_refused_without_repeating_it(wrong):
    with pytest.raises(SettingsError, match=r"roster\.far\.remote") as caught:
        build({"far": {"remote": wrong}})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("beside", [True, False])
def test_what_goes_there_is_said_beside_the_address_or_with_it(beside):
    more = {"share": "turns", "inline_artifacts": True, "remote_onward": True}
    address = {"url": "https://there.example/"}
    fields = {"remote": address, **more} if beside else {"remote": {**address, **more}}
    found = build({"far": fields}).find("far").remote
    assert (found.share, found.inline_artifacts, found.remote_onward) == ("turns", True, True)


def test_left_out_nothing_but_fields_goes_there():
    found = remote()
    assert (found.share, found.inline_artifacts, found.remote_onward) == ("fields", False, False)


def test_a_project_neither_adds_a_remote_nor_changes_one():
    ours = {"roster": {"far": {"remote": {"url": "https://there.example/"}}, "near": {}}}
    elsewhere = {"url": "https://evil.example/", "share": "turns"}
    theirs = {"roster": {"far": {"remote": elsewhere, "title": "x"}, "near": {"remote": elsewhere}}}
    for project in (theirs, {"roster": {"far": {"share": "turns"}, "near": {}}}):
        roster = settings(resources.default_settings(), ours, project=[project]).roster
        assert roster.find("far").remote.url == "https://there.example/"
        assert roster.find("far").remote.share == "fields"
        assert roster.find("near").remote is None


@pytest.mark.parametrize(
    "text",
    [
        "## What happened\na\n## Observations\nb\n## User state\nc\n## Next\nd",
        "**What happened:** a\n**Observations:** b\n**User state:** c\n**Next:** d",
        "Hello!\n\n1. What happened\na\n2. Observations\nb\n3. User state\nc\n4. Next steps\nd\n",
        "what happened: a\r\nobservations: b\r\nuser state: c\r\nnext: d",
        json.dumps(NOTE),
        f"Sure:\n```json\n{json.dumps({'verdict': 'done', **NOTE})}\n```\nBye {{}}",
        json.dumps({"tool_name": "handover_reply", "tool_args": {"verdict": "done", **NOTE}}),
        f"{{not json}} {{\"a\": 1}} {json.dumps({'verdict': 'done', **NOTE})}",
    ],
)  # fmt: skip
def test_a_note_of_four_parts_is_read_in_any_form(text):
    reply = reply_in(text)
    assert {name: reply[name] for name in NOTE} == NOTE
    assert reply["verdict"] == "done"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "All done.",
        "## What happened\nx",
        "{" * 10_000,
        '{"what_happened": "x"}',
        "[1]",
        '{"verdict": 5}',
    ],
)
def test_anything_else_tells_no_verdict(text):
    assert reply_in(text) is None


@given(st.text(alphabet='{}"[]:,verdict done\n#*WhatNext', max_size=400))
def test_no_answer_breaks_the_reading(text):
    reply_in(text)


NAMES = [
    "task",
    "status",
    "state",
    "message",
    "parts",
    "text",
    "history",
    "artifacts",
    "role",
    "id",
    "contextId",
    "error",
    "data",
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=20,
)


@given(json_values)
def test_every_answer_is_a_task_or_an_error_in_words(value):
    for body in (value, {"result": value}, {"result": {"status": value, "id": "t"}}):
        try:
            task = protocol.task_in(json.dumps(body).encode())
        except RemoteError:
            continue
        assert isinstance(task.said, str)
        assert task.state


def told(**result):
    return protocol.task_in(json.dumps({"result": {"id": "t", **result}}).encode())


def test_what_was_said_is_the_newest_words_the_status_and_the_artifacts():
    def said(role, *texts):
        return {"role": role, "parts": [{"kind": "text", "text": text} for text in texts]}

    task = told(
        contextId="c",
        status={"state": "completed", "message": said("agent", "last")},
        history=[said("agent", "old"), said("user", "mine"), said("ROLE_AGENT", "new", "last")],
        artifacts=[{"parts": [{"text": "file"}, {"data": {"verdict": "done"}}, {"file": {}}]}],
    )
    assert task.said == 'new\n\nlast\n\nfile\n\n{"verdict": "done"}'
    assert (task.id, task.context, task.status) == ("t", "c", "last")


@pytest.mark.parametrize("word", ["input-required", "TASK_STATE_INPUT_REQUIRED", "input_required"])
def test_states_of_all_versions_are_the_same_words(word):
    assert told(status={"state": word}).state == "input-required"

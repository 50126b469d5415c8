"""Rows of handovers and persona badges in the chat: what they say, that they may be drawn again, and that text stays text."""

import json

import pytest

from usr.plugins.software_orchestrator.tests.browser.browser import Browser
from usr.plugins.software_orchestrator.tests.browser.records import HOSTILE, TOPIC
from usr.plugins.software_orchestrator.tests.browser.server import Site

ID = "ho-0123456789abcdef"
ANSWER = {
    "status": "ok",
    "package": {
        "specialist": "frontend_designer", "topic": TOPIC, "marker": "🖌️", "handover_id": ID, "hop": 2,
        "max_context_tokens": 3000, "delivered_tokens": 1234, "omitted": ["Recent turns: 3 left out"], "warnings": [],
    },
    "reply": {"verdict": "done", "outcome": "completed", "what_happened": "Hero drafted."},
}  # fmt: skip


@pytest.fixture
def chat(browser: Browser, site: Site) -> Browser:
    """An empty page with `row(args)`, which draws a row as the host does, and `after(rows)`, the host's hook after the loop."""
    browser.open(f"{site.url}/")
    browser.run("""
        const at = '/plugins/software_orchestrator/extensions/webui/';
        window.row = async (args) => {
            const {default: handlers} = await import(at + 'get_tool_message_handler/software-orchestrator-rows.js');
            const found = {tool_name: args.kvps._tool_name, kvps: args.kvps, handler: undefined};
            handlers(found);
            if (!found.handler) return null;
            const result = await found.handler(args);
            document.getElementById('place').append(result.element);
            return {args, result};
        };
        window.after = async (results) =>
            (await import(at + 'set_messages_after_loop/software-orchestrator-badges.js')).default({results});
        return true""")
    return browser


PLAIN = "icon://construction A0: Using tool 'x'"
PERSONA = "icon://construction 🖌️ Frontend Designer (A1): Using tool 'handover_reply'"


def args(tool: str = "handover_to_specialist", content: str = "", heading: str = PLAIN, **kvps):
    return {
        "id": "1",
        "type": "tool",
        "agentno": 0,
        "heading": heading,
        "content": content,
        "kvps": {"_tool_name": tool, **kvps},
    }


def drawn(chat: Browser, row: dict) -> dict[str, str]:
    """The lines of a drawn row, and its title."""
    return chat.run(
        "return row(arguments[0]).then(({result}) => ({title: result.element.querySelector('.step-title').textContent,"
        " ...Object.fromEntries([...result.element.querySelectorAll('dt')]"
        ".map(e => [e.textContent, e.nextSibling.textContent]))}))",
        row,
    )


def test_a_handover_row_tells_who_what_how_much_and_how_it_ended(chat):
    lines = drawn(chat, args(content=json.dumps(ANSWER, indent=2, ensure_ascii=False), topic=TOPIC))
    assert lines["title"] == f"A0: → 🖌️ frontend designer: {TOPIC}"
    assert lines["Handover"] == "A0 → 🖌️ frontend designer, hop 2"
    assert lines["Topic"] == TOPIC
    assert lines["Tokens"] == "1,234 delivered, limit 3,000"
    assert lines["Verdict"] == "done, completed"
    assert chat.run("document.querySelector('.process-step').dataset.code") == "HND"


def test_a_row_with_the_warning_line_and_one_that_the_host_cut_still_tell_it(chat):
    text = json.dumps(ANSWER, indent=2, ensure_ascii=False)
    warned = drawn(chat, args(content=f"{text}\nWARNING: the package has 4,000 tokens {{}}"))
    cut = drawn(
        chat, args(content=text.replace('"omitted"', "\n\n<< 900 Characters hidden >>\n\n"))
    )
    assert warned["Tokens"] == cut["Tokens"] == "1,234 delivered, limit 3,000"
    assert cut["Verdict"] == "done"


def test_a_row_while_the_specialist_works_and_one_that_was_refused(chat):
    running = drawn(chat, args(specialist_profile="frontend_designer", topic=TOPIC))
    error = "ERROR: unknown specialist profile; use one of: hacker"
    refused = drawn(chat, args(specialist_profile="nobody", topic=TOPIC, content=error))
    assert running["Verdict"] == "running"
    assert refused["Verdict"] == "refused"
    assert refused["Refused"].startswith("unknown specialist")


def test_the_rows_of_the_specialist_tell_its_verdict_and_what_it_read(chat):
    reply = drawn(
        chat,
        args(
            "handover_reply",
            "",
            PERSONA,
            verdict="clarify",
            missing=["photo", "price"],
            reason="two gaps",
        ),
    )
    history = drawn(
        chat, args("request_full_history", "…", PERSONA, reason="which poster", query="poster")
    )
    assert reply["title"] == "🖌️ Frontend Designer (A1): hands back: clarify"
    assert reply["Asked for"] == "photo, price"
    assert history["Reads"] == "search: poster"


def test_other_tools_are_left_to_the_host(chat):
    assert chat.run("return row(arguments[0])", args("search_engine")) is None


def test_the_link_opens_the_audit_page_at_that_handover(chat):
    shown = "[...document.querySelectorAll('.so-packet h4 code')].map(e => e.innerText)[0]"
    known = chat.run(
        "return import('/js/api.js').then(m => m.callJsonApi('/plugins/software_orchestrator/audit', {action: 'chains'}))"
        ".then(f => f.chains.find(c => c.topic === arguments[0]).ids[1])",
        TOPIC,
    )
    drawn(chat, args(content=json.dumps(ANSWER, indent=2).replace(ID, known)))
    chat.click("Audit")
    chat.wait(f"{shown} === '{known}'")
    chat.shows(".so-packet h4", "Hop 2")


def test_hostile_text_in_a_row_is_text(chat):
    answer = json.loads(json.dumps(ANSWER).replace(TOPIC, "T"))
    answer["package"] |= {"topic": HOSTILE, "specialist": HOSTILE, "marker": HOSTILE}
    answer["reply"]["what_happened"] = "img://etc/passwd"
    row = args(
        content=json.dumps(answer, indent=2), heading=f"{HOSTILE} (A1): Using tool", topic=HOSTILE
    )
    lines = drawn(chat, row)
    assert HOSTILE in lines["Topic"]
    assert not lines["What happened"].startswith("img://")
    chat.run("return row(arguments[0]).then(r => after([r])).then(() => true)", row)
    assert (
        chat.run("document.querySelectorAll('#place img, #place script, #place svg').length") == 0
    )
    assert chat.run("window.pwned === undefined")


def test_a_badge_names_the_persona_once_however_often_it_is_drawn(chat):
    row = args("handover_reply", f"done {ID}", PERSONA, verdict="done")
    chat.run(
        "return row(arguments[0]).then(r => after([r]).then(() => after([r])).then(() => after([r]))).then(() => true)",
        row,
    )
    assert chat.texts(".software-orchestrator-persona") == ["🖌️ Frontend Designer"]
    assert chat.text(".step-title") == "A1: hands back: done"
    assert chat.run("document.querySelectorAll('.software-orchestrator-audit').length") == 1


def test_a_row_of_the_orchestrator_and_odd_rows_get_no_badge_and_break_nothing(chat):
    plain = args("handover_reply", heading="A0: Using tool 'handover_reply'", verdict="done")
    odd = "{}, {args: null, result: null}, {result: {element: document.body}}"
    chat.run(f"return row(arguments[0]).then(r => after([r, {odd}])).then(() => true)", plain)
    chat.run("return after(undefined).then(() => true)")
    assert chat.texts(".software-orchestrator-persona") == []
    assert chat.console() == []

"""The plugin's pages, rows and badges in the real web UI of Agent Zero, in a real browser."""

import json
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from usr.plugins.software_orchestrator.tests.browser import records
from usr.plugins.software_orchestrator.tests.browser.browser import Browser, chromium
from usr.plugins.software_orchestrator.tests.e2e import live
from usr.plugins.software_orchestrator.tests.e2e.scripted_model import response, tool_call

LACKING = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
REASON = live.why_not() or (f"not installed: {', '.join(LACKING)}" if LACKING else "")
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON)

PICTURES = Path(__file__).resolve().parents[2] / "build" / "screenshots"
PLUGIN = "usr/plugins/software_orchestrator"
TOPIC = "Hero for <b>Brand A</b>"
CHAT = "webchat"
NOTE = {
    "what_happened": "Hero <i>drafted</i>.",
    "observations": "Fits.",
    "user_state": "waiting",
    "next": "Show it.",
}
SCRIPT = {
    "agent0": [
        tool_call(
            "handover_to_specialist", specialist_profile="frontend_designer", topic=TOPIC, goal="First draft of the hero",
            summary="The person wants it bold.", decisions=["CSS grid, no framework"], start="true",
        ),
        response("The hero is ready."),
    ],
    "frontend_designer": [tool_call("handover_reply", verdict="accept"), tool_call("handover_reply", verdict="done", **NOTE)],
}  # fmt: skip
NAME = "software_orchestrator"
SURFACE = f'[data-surface-id="{NAME}"]'
CANVAS = f"Boolean(Alpine.store('rightCanvas')?.surfaces?.some(s => s.id === '{NAME}'))"
FILES = {
    "enabled": False,
    "max_depth": 1,
    "max_files": 1,
    "max_folders": 1,
    "max_lines": 1,
    "gitignore": "",
}
NAMES = ("title", "description", "instructions", "color", "git_url")


@pytest.fixture(scope="module")
def ui() -> Iterator[live.WebUi]:
    """The real web UI with the project `shop`, in whose chat a handover was made."""
    with live.start_web_ui(
        SCRIPT, files={f"{PLUGIN}/data/installation.key": records.KEY}
    ) as running:
        (running.root / PLUGIN / "data/installation.key").chmod(0o600)
        header = {
            "name": "shop",
            **dict.fromkeys(NAMES, ""),
            "title": "Shop",
            "file_structure": FILES,
        }
        assert running.api("projects", {"action": "create", "project": header})["ok"]
        records.shop(running.root / "usr/projects/shop")
        running.api("chat_create", {"current_context": "", "new_context": CHAT})
        running.api("projects", {"action": "activate", "context_id": CHAT, "name": "shop"})
        answer = running.api("message", {"text": "Please have the hero designed", "context": CHAT})
        assert answer["message"] == "The hero is ready."
        yield running


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    pytest.importorskip("selenium")
    with chromium(PICTURES) as browser:
        yield browser


@pytest.fixture
def page(ui: live.WebUi, window: Browser) -> Browser:
    """The web UI, loaded anew, with the chat open and its rows unfolded."""
    window.resize(1280, 900)
    window.driver.get(ui.url)
    window.wait("globalThis.Alpine?.store('chats')?.contexts?.length > 0")
    window.run("Alpine.store('chats').selectChat(arguments[0]); return 1", CHAT)
    rows, personas = (1, 0) if live.children_host() else (3, 4)  # the rest: in the child's chat
    window.wait(f"document.querySelectorAll('.process-step.HND').length === {rows}")
    window.wait(f"document.querySelectorAll('.software-orchestrator-persona').length >= {personas}")
    window.run(
        "document.querySelectorAll('.process-group:not(.expanded) > .process-group-header').forEach(h => h.click())"
    )
    return window


@pytest.mark.skipif(live.children_host(), reason="a specialist's rows stand in a chat of its own")
def test_the_chat_shows_handovers_as_rows_of_their_own_and_the_persona_on_the_specialists_rows(
    page,
):
    titles = page.texts(".process-step.HND .step-title")
    assert titles == [
        f"A0: → 🖌️ frontend designer: {TOPIC}",
        "A1: takes the handover",
        "A1: hands back: done",
    ]
    assert page.texts(".software-orchestrator-persona") == ["🖌️ Frontend Designer"] * 4
    page.run("document.querySelector('.process-step.HND .process-step-header').click()")
    page.wait("document.querySelector('.process-step.HND.expanded .msg-kvps')")
    row = page.text(".process-step.HND .msg-kvps")
    assert "done, completed" in row
    assert f"Topic\t{TOPIC}" in row.replace("\n", "")
    assert (
        page.run(
            "document.querySelectorAll('.process-step.HND b:not(.so-x), .process-step.HND i').length"
        )
        == 0
    )
    page.picture("live-chat")


def test_the_link_of_a_row_opens_the_audit_page_at_that_handover(page):
    page.run("document.querySelector('.software-orchestrator-audit').click()")
    page.wait("document.querySelectorAll('#so-part .so-section').length > 2")
    assert page.text("#so-chain-title") == TOPIC
    assert page.text(".so-packet h4").startswith("Hop 1")
    place = SURFACE if page.run(CANVAS) else ".modal-inner"
    assert page.run(
        "document.querySelector(arguments[0]).contains(document.querySelector('.so-page'))", place
    )
    page.picture("live-audit-link")


def test_the_page_stands_beside_the_chat_where_the_host_has_a_canvas(page):
    if not page.run(CANVAS):
        pytest.skip("this host has no right canvas")
    page.run(f"Alpine.store('rightCanvas').open('{NAME}'); return 1")
    page.wait(f"document.querySelectorAll('{SURFACE} .so-row').length === 6")
    assert page.run("document.querySelector('#chat-input').offsetParent !== null")
    assert page.run(f"document.querySelector('{SURFACE} .so-page').clientWidth") > 300
    page.picture("live-audit-canvas")
    page.run("Alpine.store('rightCanvas').close(); return 1")
    page.wait("!document.querySelector('.so-page')")


def test_the_slash_command_opens_the_page_where_the_host_has_such_commands(page, ui):
    """The picker lists it. To choose it there asks for a path below /a0, where this host does not
    stand: so the script is run here, and the host applies what it answers."""
    if not page.run("Boolean(Alpine.store('commandsSlash'))"):
        pytest.skip("this host has no slash commands")
    page.run("document.querySelector('#chat-input').focus(); return 1")
    page.type("/handovers")
    page.wait("document.body.innerText.includes('Open the audit page of handovers')")
    script = runpy.run_path(str(ui.root / PLUGIN / "commands/handovers.py"))
    resolution = {"result": script["run"]({})}
    page.run(
        "const store = Alpine.store('commandsSlash');"
        "store.applyResolution(arguments[0], store.getInputElement()); return 1",
        resolution,
    )
    page.wait("document.querySelectorAll('.so-row').length === 6")


def test_the_person_lifts_a_decline_on_the_page(page):
    page.run("openModal('/plugins/software_orchestrator/webui/main.html'); return 1")
    page.wait("document.querySelectorAll('.so-row').length === 6")
    page.click(records.TOPIC, ".so-rows")
    page.click("Lift", ".so-detail")
    page.click("Yes", "#so-act")
    page.wait("document.querySelector('.so-detail') && !document.querySelector('.so-declined')")


def test_the_sidebar_entry_opens_the_page_with_all_chains(page):
    page.wait("document.querySelector('#software-orchestrator-dropdown')")
    page.run("document.querySelector('#software-orchestrator-dropdown').click()")
    page.wait("document.querySelectorAll('.so-row').length === 6")
    page.click(records.TOPIC, ".so-rows")
    page.wait("document.querySelectorAll('.so-arrow').length === 8")
    page.wait("document.querySelectorAll('#so-part .so-section').length > 2")
    page.picture("live-audit-dark")
    page.click("Verify")
    page.wait("document.querySelector('.so-verified.so-good')")
    page.click("Metrics", ".so-page")
    page.wait("document.querySelectorAll('.so-chart').length > 8")
    page.picture("live-metrics-dark")
    page.press("ESCAPE")
    page.wait("!document.querySelector('.so-page')")


def test_the_page_follows_the_light_theme_and_a_narrow_window(page):
    page.run("document.body.classList.replace('dark-mode', 'light-mode')")
    page.run("openModal('/plugins/software_orchestrator/webui/main.html'); return 1")
    page.wait("document.querySelectorAll('.so-row').length === 6")
    page.click(records.TOPIC, ".so-rows")
    page.wait("document.querySelectorAll('#so-part .so-section').length > 2")
    page.click("2 frontend designer", ".so-hops")
    page.wait("document.querySelector('.so-packet h4').innerText.includes('Hop 2')")
    page.picture("live-audit-light")
    page.resize(400, 860)
    page.wait("!document.querySelector('.so-list').offsetParent")
    page.picture("live-audit-narrow")


def test_settings_are_saved_for_their_scope_and_wrong_ones_are_refused_in_words(page, ui):
    saved = ui.root / PLUGIN / "config.json"
    open_settings(page)
    page.picture("live-settings-dark")
    set_value(page, "max_context_tokens", "2500")
    page.click("Save", ".modal")
    # The host writes it in place: it stands there empty for a moment.
    page.until(lambda: saved.exists() and saved.read_text("utf-8"), "config.json")
    assert json.loads(saved.read_text("utf-8")) == {"max_context_tokens": 2500}

    page.wait("!document.querySelector('.so-settings')")
    open_settings(page, "shop", "frontend_designer")
    assert page.text("[data-key=max_context_tokens] .so-source span") == "from installation"
    set_value(page, "max_context_tokens", "-1")
    page.click("Save", ".modal")
    page.wait(
        "[...document.querySelectorAll('.toast-message')].some(t => t.innerText.includes('greater than 0'))"
    )
    assert not list((ui.root / "usr/projects/shop/.a0proj").rglob("config.json"))


def test_hostile_text_in_a_toast_of_the_host_stays_text(page):
    page.run("openModal('/plugins/software_orchestrator/webui/main.html'); return 1")
    page.wait("document.querySelectorAll('.so-row').length === 6")
    wire = "import('/plugins/software_orchestrator/webui/wire.js')"
    page.run(f"{wire}.then(m => m.complain(new Error(arguments[0]))); return 1", records.HOSTILE)
    page.wait(
        "[...document.querySelectorAll('.toast-message')].some(t => t.innerText.includes('onerror'))"
    )
    assert page.run(
        "window.pwned === undefined && !document.querySelector('.toast-message img, .toast-message script')"
    )


def open_settings(page: Browser, project: str = "", profile: str = "") -> None:
    host = "import('/components/plugins/plugin-settings-store.js')"
    page.run(
        f"{host}.then(m => m.store.openConfig('software_orchestrator', ...arguments[0])); return 1",
        [project, profile],
    )
    page.wait("document.querySelectorAll('.so-settings .field').length > 14")


def set_value(page: Browser, key: str, value: Any) -> None:
    page.run(
        "const i = document.getElementById(`so-${arguments[0]}`); i.value = arguments[1];"
        " i.dispatchEvent(new Event('input', {bubbles: true})); return 1",
        key,
        value,
    )

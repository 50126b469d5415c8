"""The audit page in a real browser: list, chain, packet, briefing, filter, keyboard, small window, hostile text."""

import pytest

from usr.plugins.software_orchestrator.tests.browser import records
from usr.plugins.software_orchestrator.tests.browser.browser import Browser
from usr.plugins.software_orchestrator.tests.browser.server import Site, serving

PAGE = "/#/plugins/software_orchestrator/webui/main.html"
LISTED = "document.querySelectorAll('.so-row').length"
ARROWS = "document.querySelectorAll('.so-arrow').length"
MARKUP = ".so-page :is(img, script, foreignObject, svg svg)"
SHOWN = "document.querySelectorAll('#so-part .so-section').length > 1"


def open_page(browser: Browser, site: Site, **window) -> None:
    browser.open(site.url + PAGE, **window)
    browser.wait(f"{LISTED} > 3")


def open_chain(browser: Browser, site: Site, topic: str, **window) -> None:
    open_page(browser, site, **window)
    browser.click(topic, ".so-rows")
    browser.wait(f"{ARROWS} > 0 && {SHOWN}")


@pytest.fixture(autouse=True)
def clean(browser: Browser, site: Site):
    """Whatever a test does, nothing is logged as an error, nothing is missing, and nothing comes from elsewhere."""
    yield
    assert browser.console() == []
    assert site.missing == []
    assert [
        address
        for address in browser.fetched()
        if not address.startswith(("http://127.0.0.1:", "blob:", "data:"))
    ] == []
    assert browser.run("window.pwned === undefined")


def test_the_list_shows_every_chain_newest_first_with_its_state_in_words(browser, site):
    open_page(browser, site)
    browser.shows(".so-count", "6 chains")
    topics = browser.texts(".so-topic")
    assert topics[1:3] == ["Release 2.4", "Orders API bug"]
    assert topics[3:] == [records.TOPIC, "Übersetzung · перевод i18n", "Customer data export"]
    assert browser.texts(".so-row-top .so-pill")[1:3] == ["○ prepared", "● open"]
    browser.picture("list-dark")


def test_search_and_filters_narrow_the_list(browser, site):
    open_page(browser, site)
    browser.type("frontend designer hero")
    browser.lists(".so-topic", records.TOPIC)
    browser.run("Alpine.store('softwareOrchestratorAudit').search = ''")
    browser.choose("State", "stopped")
    browser.wait(f"{LISTED} === 2")
    browser.choose("Project", "Shop")
    browser.lists(".so-topic", "Customer data export")
    browser.choose("Specialist", "quality reviewer")
    browser.wait(f"{LISTED} === 0")
    browser.shows(".so-list", "Nothing matches")


def test_a_chain_is_a_picture_of_lanes_arrows_and_verdicts(browser, site):
    open_chain(browser, site, records.TOPIC)
    lanes = [
        "a0 software orchestrator",
        "requirements analyst",
        "frontend designer",
        "codebase explorer",
        "quality reviewer",
    ]
    browser.lists(".so-lanes span", *lanes)
    assert browser.run(ARROWS) == 8
    browser.lists(".so-arrow.so-return > text", "✓ done", "✓ done", "✓ done", "✕ rejected")
    browser.shows(".so-mark text", "which poster is meant")
    browser.picture("chain-dark")


def test_an_arrow_stands_between_the_lanes_of_its_ends(browser, site):
    open_chain(browser, site, records.TOPIC)
    boxes = """
        const at = (e) => { const b = e.getBoundingClientRect(); return b.x + b.width / 2 };
        const lanes = [...document.querySelectorAll('.so-lanes > div')].map(at);
        const line = document.querySelectorAll('.so-arrow .so-line')[2].getBoundingClientRect();
        return [Math.abs(line.left - lanes[0]) < 12, Math.abs(line.right - lanes[2]) < 12]"""
    assert browser.run(boxes) == [True, True]


def test_an_open_handover_is_seen_at_a_glance(browser, site):
    open_chain(browser, site, "Orders API bug", light=True)
    browser.lists(".so-bar.so-open text", "● at work", "● at work")
    browser.shows(".so-facts", "with test debug engineer")
    browser.picture("open-light")


def test_a_click_on_an_arrow_shows_that_packet(browser, site):
    open_chain(browser, site, records.TOPIC)
    browser.run(
        "document.querySelectorAll('.so-arrow')[2].dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    browser.shows(".so-packet h4", "Hop 2")
    browser.shows("#so-part", "Carousel")
    cells = browser.texts("#so-part td")
    assert "One call to action: Buy now" in cells
    assert "Two confused testers" in cells
    assert cells[cells.index("vat_id") + 2] == "declined"
    assert browser.run("document.querySelectorAll('.so-arrow.so-chosen').length") == 2
    browser.picture("packet-dark")


def test_what_travelled_and_what_came_back_is_told(browser, site):
    open_chain(browser, site, records.TOPIC)
    browser.click("2 frontend designer", ".so-hops")
    browser.shows(".so-packet h4", "Hop 2")
    browser.click("What travelled")
    for words in ("8,431", "limit 340", "Left out"):
        browser.shows("#so-part", words)
    browser.picture("travelled-dark")
    browser.click("Came back")
    browser.shows("#so-part", "contrast 7.2:1")
    browser.click("Events")
    browser.until(lambda: "prepared" in browser.texts("#so-part td")[1:2], "the first event")


def test_the_briefing_stands_there_as_text_with_its_entry_marked(browser, site):
    open_chain(browser, site, records.TOPIC)
    browser.click("2 frontend designer", ".so-hops")
    browser.shows(".so-packet h4", "Hop 2")
    browser.click("Briefing")
    browser.wait("document.querySelector('#so-entry')?.textContent.length > 100")
    assert "· done ·" in browser.text("#so-entry").splitlines()[0]
    assert browser.texts(".so-briefing")[0].startswith("## 2026-06-05")
    browser.picture("briefing-dark")


def test_verify_says_how_much_is_intact(browser, site):
    open_page(browser, site)
    browser.click("Verify")
    browser.shows(".so-verified", "✓ No fault")


def test_verify_names_what_was_changed(browser, tmp_path):
    records.shop(tmp_path / "shop")
    ledger = next((tmp_path / "shop/.a0proj/handover/chains").glob("orders*.jsonl"))
    ledger.write_bytes(ledger.read_bytes().replace(b"99 items", b"98 items", 1))
    with serving({"shop": tmp_path / "shop"}, records.KEY) as site:
        open_page(browser, site)
        browser.shows(".so-warn", "fault")
        browser.click("Verify")
        browser.wait("document.querySelector('.so-verified.so-bad')")
        browser.shows(".so-verified li", "changed")
        browser.shows(".so-verified li code", ledger.name)


def test_the_metrics_are_charts_with_their_n(browser, site):
    open_page(browser, site)
    browser.click("Metrics")
    browser.wait("document.querySelectorAll('.so-chart').length > 8")
    browser.picture("metrics-dark")
    browser.shows("[data-measure=repeat_questions]", "50 %")
    browser.shows("[data-measure=repeat_questions]", "1 of 2")
    bar = browser.run(
        "document.querySelector('[data-measure=repeat_questions] svg g rect').getBoundingClientRect().width"
    )
    whole = browser.run(
        "document.querySelector('[data-measure=repeat_questions] svg .so-whole').getBoundingClientRect().width"
    )
    assert bar == pytest.approx(whole / 2, rel=0.02)


def test_a_measure_without_anything_to_measure_shows_no_rate(browser, site):
    open_page(browser, site)
    browser.choose("Project", "Empty")
    browser.click("Metrics")
    browser.wait("document.querySelector('.so-charts-of')?.innerText.startsWith('0 chains')")
    browser.shows("[data-measure=stage2_pulls]", "nothing to measure yet")
    assert not [text for text in browser.texts(".so-big") if "%" in text]


def test_everything_can_be_done_with_the_keyboard(browser, site):
    open_page(browser, site)
    assert browser.run("document.activeElement.id") == "so-search"
    browser.type("hero poster-no-such")
    browser.wait(f"{LISTED} === 0")
    browser.press(*["BACKSPACE"] * len(" poster-no-such"))
    browser.wait(f"{LISTED} === 1")
    browser.press("ARROW_DOWN", "ENTER")
    browser.wait(f"{ARROWS} === 8 && {SHOWN}")
    assert browser.run("document.activeElement.id") == "so-chain-title"
    browser.press("TAB")
    assert browser.run("document.activeElement.closest('.so-picture-box') !== null")
    browser.run("document.querySelector('.so-arrow[tabindex=\"0\"]').focus()")
    browser.press("ARROW_DOWN", "ARROW_DOWN", "ENTER")
    browser.shows(".so-packet h4", "Hop 2")
    assert browser.run("document.activeElement.getAttribute('aria-pressed')") == "true"
    browser.picture("keyboard-dark")
    browser.run("document.querySelector('[role=tab][tabindex=\"0\"]').focus()")
    browser.press("ARROW_RIGHT")
    browser.shows("#so-part", "asked to travel")
    assert browser.run("document.activeElement.textContent") == "What travelled"


def test_every_control_has_a_name_that_can_be_spoken(browser, site):
    open_chain(browser, site, records.TOPIC)
    nameless = """
        return [...document.querySelectorAll('.so-page button, .so-page input, .so-page select, .so-page [role=button]')]
            .filter(e => !(e.getAttribute('aria-label') || e.innerText || e.textContent || e.labels?.[0]?.innerText || '').trim())
            .map(e => e.outerHTML)"""
    assert browser.run(nameless) == []
    spoken = browser.run("document.querySelector('.so-arrow').getAttribute('aria-label')")
    assert spoken.startswith("Hop 1: a0 software orchestrator to requirements analyst")


@pytest.mark.parametrize("light", [False, True], ids=["dark", "light"])
def test_at_400_pixels_list_and_chain_stand_one_after_the_other(browser, site, light):
    open_page(browser, site, width=400, height=860, light=light)
    browser.picture(f"narrow-list-{'light' if light else 'dark'}")
    browser.click(records.TOPIC, ".so-rows")
    browser.wait(f"{ARROWS} === 8 && {SHOWN}")
    assert not browser.run("document.querySelector('.so-list').offsetParent")
    wide = (
        "e => !e.closest('.so-picture-box, .so-briefing') && e.getBoundingClientRect().right > 401"
    )
    assert (
        browser.run(
            f"[...document.querySelectorAll('.so-page *')].filter({wide}).map(e => e.className)"
        )
        == []
    )
    browser.picture(f"narrow-chain-{'light' if light else 'dark'}")
    browser.click("← Chains")
    browser.wait("document.querySelector('.so-list').offsetParent !== null")
    browser.wait("document.activeElement.innerText.includes('Landing')")


@pytest.mark.parametrize("light", [False, True], ids=["dark", "light"])
def test_text_stands_out_from_its_ground_in_both_themes(browser, site, light):
    open_chain(browser, site, records.TOPIC, light=light)
    browser.picture(f"chain-{'light' if light else 'dark'}")
    script = """
        const channel = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        const numbers = (c) => c.match(/[\\d.]+/g).map(Number);
        const shine = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
        const ground = (e) => { for (; e; e = e.parentElement) { const c = numbers(getComputedStyle(e).backgroundColor);
            if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
        const faded = (e) => { let o = 1; for (; e; e = e.parentElement) o *= Number(getComputedStyle(e).opacity); return o; };
        return [...document.querySelectorAll('.so-page :is(.so-pill, .so-dim, button, td, h3, .so-picture text)')]
            .filter(e => e.getBoundingClientRect().width > 0)
            .map(e => { const style = getComputedStyle(e); const back = ground(e); const o = faded(e);
                const ink = numbers(e instanceof SVGElement ? style.fill : style.color).slice(0, 3);
                const front = ink.map((v, i) => v * o + back[i] * (1 - o));
                const [a, b] = [shine(front), shine(back)].sort((x, y) => y - x);
                return [e.textContent.trim().slice(0, 30), (a + 0.05) / (b + 0.05)]; })
            .filter(([, ratio]) => ratio < 4.5)"""
    assert browser.run(script) == []


def test_hostile_text_is_text_everywhere(browser, site):
    open_chain(browser, site, "Evil")
    browser.picture("hostile-dark")
    for part in ("What travelled", "Came back", "Events", "Briefing", "Packet"):
        browser.click(part, ".so-packet")
        browser.wait("document.querySelector('#so-part').innerText.length > 40")
        assert browser.run(f"document.querySelectorAll('{MARKUP}').length") == 0
    browser.shows("#so-part", "<script>window.pwned=1</script>")
    browser.shows("#so-part", "{{7*7}}")


def test_a_direction_mark_is_shown_and_turns_nothing_around(browser, site):
    open_chain(browser, site, "Evil")
    browser.shows("#so-chain-title", "\\u202e")
    assert "\u202e" not in browser.run("document.body.textContent")


def test_what_goes_wrong_is_a_toast_in_which_text_stays_text(browser, site):
    open_page(browser, site)
    browser.run(
        f"Alpine.store('softwareOrchestratorAudit').choose({{chain: {records.HOSTILE!r}, project: ''}})"
    )
    browser.wait("toasts.length === 1")
    assert "The chain could not be read" in browser.run("toasts[0]")
    assert browser.run("document.querySelectorAll('#toasts img, #toasts script').length") == 0
    assert any("400" in line for line in browser.console())


def test_a_thousand_chains_are_listed_by_the_hundred_and_all_of_them_searched(
    browser, tmp_path, monkeypatch
):
    monkeypatch.setattr("os.fsync", lambda _: None)
    records.many(tmp_path / "many", 1000)
    with serving({"many": tmp_path / "many"}, records.KEY) as site:
        open_page(browser, site)
        browser.shows(".so-count", "1,000 chains")
        assert browser.run(LISTED) == 100
        browser.run("Alpine.store('softwareOrchestratorAudit').search = 'task 0007'")
        browser.lists(".so-topic", "Task 0007 of the backlog")
        browser.run("Alpine.store('softwareOrchestratorAudit').search = ''")
        browser.click("Show more (900)")
        browser.wait(f"{LISTED} === 200")
        browser.picture("thousand-dark")


@pytest.fixture
def own_site(tmp_path):
    """The records of a day, to be changed."""
    records.shop(tmp_path / "shop")
    with serving({"shop": tmp_path / "shop"}, records.KEY) as site:
        yield site


def test_the_person_takes_a_decline_back_after_being_asked_once_more(browser, own_site):
    open_chain(browser, own_site, records.TOPIC)
    browser.shows(".so-declined", "Declined: vat_id")
    browser.click("Lift", within=".so-detail")
    browser.shows("#so-act", "Take back the decline of vat_id?")
    browser.picture("audit-lift-decline")
    browser.click("No", within="#so-act")
    browser.click("Lift", within=".so-detail")
    browser.click("Yes", within="#so-act")
    browser.wait("!document.querySelector('.so-detail').innerText.includes('Declined:')")


def test_the_person_lifts_a_stop(browser, own_site):
    open_chain(browser, own_site, "Customer data export")
    browser.click("Lift the stop", within=".so-detail")
    browser.click("Yes", within="#so-act")
    browser.wait("!document.querySelector('.so-detail').innerText.includes('Stopped until')")


def test_the_person_closes_a_handover_and_says_why(browser, own_site):
    open_chain(browser, own_site, "Release 2.4")
    browser.click("Close", within=".so-packet")
    browser.wait("document.activeElement.closest('#so-act')")
    browser.type("no release this week")
    browser.click("Yes", within="#so-act")
    browser.shows(".so-packet h4", "cancelled")
    browser.click("Came back", within=".so-packet")
    browser.shows("#so-part", "no release this week")

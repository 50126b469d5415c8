"""The settings page in a real browser: every setting, its source, what is saved, and what is refused with its reason."""

import pytest
import yaml

from usr.plugins.software_orchestrator.helpers.records.resources import default_settings
from usr.plugins.software_orchestrator.helpers.values.settings import settings
from usr.plugins.software_orchestrator.tests.browser.browser import Browser
from usr.plugins.software_orchestrator.tests.browser.server import Site

FIELDS = "document.querySelectorAll('.so-settings .field').length"


@pytest.fixture(autouse=True)
def clean(browser: Browser, site: Site):
    yield
    assert [line for line in browser.console() if "400 (Bad Request)" not in line] == []
    assert site.missing == []


def open_page(browser: Browser, site: Site, **window) -> None:
    browser.open(f"{site.url}/#settings", **window)
    browser.wait(f"{FIELDS} === {len(default_settings())}")


def fill(browser: Browser, key: str, text: str) -> None:
    """Write into a setting's control as a person does, in place of what is there."""
    browser.run(f"document.querySelector('#so-{key}').focus()")
    browser.run(f"document.querySelector('#so-{key}').select()")
    browser.press("DELETE")
    browser.type(text)


def comes_from(browser: Browser, key: str, source: str) -> None:
    """Wait until that setting is said to come from there."""
    browser.lists(f"[data-key={key}] .so-source span", source)


def test_every_setting_has_a_control_with_its_default_and_its_explanation(browser, site):
    open_page(browser, site)
    shown = browser.run(
        "return Object.fromEntries([...document.querySelectorAll('.field')].map(f => {"
        " const c = f.querySelector('input, select, textarea');"
        " return [f.dataset.key, c.type === 'checkbox' ? c.checked : c.value] }))"
    )
    assert set(shown) == set(default_settings())
    assert yaml.safe_load(shown.pop("roster")) == default_settings()["roster"]
    assert {key: type(default_settings()[key])(value) for key, value in shown.items()} == {
        key: value for key, value in default_settings().items() if key != "roster"
    }
    assert all(len(text) > 20 for text in browser.texts(".so-help"))
    browser.lists(".so-source span", *["from default"] * len(default_settings()))
    browser.picture("settings-dark")


def test_what_is_changed_is_saved_and_the_rest_stays_inherited(browser, site):
    open_page(browser, site)
    fill(browser, "max_context_tokens", "1234")
    comes_from(browser, "max_context_tokens", "set here")
    browser.click("Save")
    browser.until(lambda: site.saved, "saved")
    assert site.saved == {("", ""): {"max_context_tokens": 1234}}
    open_page(browser, site)
    comes_from(browser, "max_context_tokens", "set here")
    browser.click("Inherit", "[data-key=max_context_tokens]")
    browser.wait("document.querySelector('#so-max_context_tokens').value === '3000'")
    browser.click("Save")
    browser.until(lambda: site.saved[("", "")] == {}, "saved again")


def test_a_project_shows_what_it_inherits_from_the_installation(browser, site):
    site.saved = {
        ("", ""): {"max_context_tokens": 2000, "git_ignore": "all"},
        ("shop", ""): {"git_ignore": "none"},
    }
    open_page(browser, site)
    scope = "const c = Alpine.store('hostSettings'); c.projectName = 'shop'; c.agentProfileKey = 'hacker'"
    browser.run(f"{scope}; return c.loadSettings()")
    comes_from(browser, "git_ignore", "from project shop")
    comes_from(browser, "max_context_tokens", "from installation")
    assert browser.run("document.querySelector('#so-git_ignore').value") == "none"
    fill(browser, "lock_timeout_s", "2.5")
    browser.click("Save")
    browser.until(lambda: ("shop", "hacker") in site.saved, "saved for project and profile")
    assert site.saved[("shop", "hacker")] == {"lock_timeout_s": 2.5}


def test_a_value_out_of_range_is_named_and_not_saved(browser, site):
    open_page(browser, site)
    fill(browser, "max_handover_depth", "99")
    browser.shows(".so-problem", "max_handover_depth")
    browser.click("Save")
    browser.wait("toasts.length === 1")
    assert "less than or equal to 20" in browser.run("toasts[0]")
    assert site.saved == {}


def test_a_roster_that_is_no_yaml_is_named_with_its_line(browser, site):
    open_page(browser, site)
    fill(browser, "roster", "hacker:\n  title: <b>x\n  can_handoff_to: [nobody\n")
    browser.shows(".so-problem", "line ")
    fill(browser, "roster", "hacker:\n  can_handoff_to: [nobody]\n")
    browser.shows(".so-problem", "nobody")
    browser.run("document.querySelector('#so-roster').scrollIntoView()")
    browser.picture("settings-roster-refused-dark")
    browser.click("Save")
    browser.wait("toasts.length === 1")
    assert site.saved == {}


def test_a_roster_as_text_is_saved_as_written_and_understood(browser, site):
    open_page(browser, site)
    text = "# ours\nhacker:\n  title: Hacker\n  can_handoff_to: []\n"
    fill(browser, "roster", text.replace("\n  ", "\n  "))
    browser.wait("document.querySelector('.so-problem').offsetParent === null")
    browser.click("Save")
    browser.until(lambda: site.saved, "saved")
    saved = site.saved[("", "")]
    assert saved["roster"].startswith("# ours\nhacker:")
    assert settings(default_settings(), saved).roster.names() == ("hacker",)


def test_default_takes_back_what_this_scope_sets(browser, site):
    site.saved = {("", ""): {"max_context_tokens": 2000}}
    open_page(browser, site)
    comes_from(browser, "max_context_tokens", "set here")
    browser.click("Default")
    comes_from(browser, "max_context_tokens", "from default")
    browser.click("Save")
    browser.until(lambda: site.saved[("", "")] == {}, "saved")


def test_at_400_pixels_nothing_is_cut(browser, site):
    open_page(browser, site, width=400, height=860, light=True)
    wide = "[...document.querySelectorAll('.so-settings *')].filter(e => e.getBoundingClientRect().right > 401)"
    assert browser.run(f"{wide}.map(e => e.className)") == []
    browser.picture("settings-narrow-light")

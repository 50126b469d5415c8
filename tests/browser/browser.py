"""Headless Chromium for the tests: open, click by words, press keys, look. Nothing here waits longer than `WAIT_S`."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAIT_S = 15
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
    "--disable-extensions", "--no-proxy-server", "--lang=en-US",
)  # fmt: skip


class Browser:
    """One window. `pictures` is the folder for screenshots."""

    def __init__(self, driver: Any, pictures: Path) -> None:
        self.driver = driver
        self.pictures = pictures

    def open(self, url: str, *, width: int = 1280, height: int = 900, light: bool = False) -> None:
        """Load a page anew, in a window of that size, in the host's dark or light theme."""
        self.driver.get("about:blank")
        self.resize(width, height)
        self.driver.get(url)
        self.wait("document.body.dataset.ready === 'yes'")
        if light:
            self.run("document.body.classList.replace('dark-mode', 'light-mode')")

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def run(self, script: str, *args: Any) -> Any:
        """The value of a JavaScript expression or of `return ...` statements."""
        return self.driver.execute_script(
            script if "return" in script else f"return ({script})", *args
        )

    def wait(self, script: str) -> Any:
        """Until the expression is true; returns it. AssertionError with what the page shows otherwise."""
        return self.until(lambda: self.run(script), script)

    def until(self, holds: Callable[[], Any], what: str) -> Any:
        from selenium.common.exceptions import TimeoutException
        from selenium.webdriver.support.ui import WebDriverWait

        try:
            return WebDriverWait(self.driver, WAIT_S, poll_frequency=0.05).until(lambda _: holds())
        except TimeoutException:
            seen = self.run("document.body.innerText.slice(0, 2000)")
            raise AssertionError(
                f"never became true: {what}\nconsole: {self.console()}\npage:\n{seen}"
            ) from None

    def click(self, words: str, within: str = "body") -> None:
        """Click the first visible button whose text begins with the words."""
        find = (
            "const words = arguments[1].toLowerCase(); return [...document.querySelectorAll(arguments[0] + ' button')]"
            ".find(b => b.offsetParent && b.innerText.trim().toLowerCase().startsWith(words)) || null"
        )
        self.until(lambda: self.run(find, within, words), f"a button {words!r} in {within}").click()

    def choose(self, label: str, option: str) -> None:
        """Choose an option by its text in the select with that label."""
        script = """
            const label = [...document.querySelectorAll('label')].find(l => l.innerText.startsWith(arguments[0]));
            const select = label.querySelector('select');
            select.value = [...select.options].find(o => o.text.startsWith(arguments[1])).value;
            select.dispatchEvent(new Event('change', {bubbles: true}));
            return true"""
        self.run(script, label, option)

    def type(self, text: str) -> None:
        """Write into what has the focus."""
        self.driver.switch_to.active_element.send_keys(text)

    def press(self, *keys: str) -> None:
        """Press keys by their names, e.g. `press("TAB", "ENTER")`, in what has the focus."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        for key in keys:
            ActionChains(self.driver).send_keys(getattr(Keys, key, key)).perform()

    def text(self, selector: str) -> str:
        """The text as shown of the first element, "" when there is none."""
        return str(
            self.run(
                "(e => e?.innerText ?? e?.textContent ?? '')(document.querySelector(arguments[0]))",
                selector,
            )
        )

    def texts(self, selector: str) -> list[str]:
        return list(
            self.run(
                "[...document.querySelectorAll(arguments[0])].map(e => e.textContent.trim())",
                selector,
            )
        )

    def shows(self, selector: str, words: str) -> None:
        """Wait until the text of the first element has the words in it."""
        self.until(lambda: words in self.text(selector), f"{words!r} in {selector}")

    def lists(self, selector: str, *texts: str) -> None:
        """Wait until these are the texts of all elements."""
        self.until(lambda: self.texts(selector) == [*texts], f"{selector} are {texts!r}")

    def console(self) -> list[str]:
        """What the page logged as an error since the last time."""
        return [
            entry["message"]
            for entry in self.driver.get_log("browser")
            if entry["level"] == "SEVERE"
        ]

    def fetched(self) -> list[str]:
        """Addresses of everything the page loaded."""
        return list(self.run("performance.getEntriesByType('resource').map(e => e.name)"))

    def picture(self, name: str) -> Path:
        """Save a screenshot for people to look at."""
        self.pictures.mkdir(parents=True, exist_ok=True)
        path = self.pictures / f"{name}.png"
        self.driver.save_screenshot(str(path))
        return path


@contextmanager
def chromium(pictures: Path) -> Iterator[Browser]:
    """Start Debian's Chromium with its own driver; nothing is downloaded."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(shutil.which("chromedriver"))))
    try:
        yield Browser(driver, pictures)
    finally:
        driver.quit()

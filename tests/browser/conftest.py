"""A headless Chromium and a site to open in it. Skipped, with the reason, where there is no Chromium."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from usr.plugins.software_orchestrator.tests.browser import records
from usr.plugins.software_orchestrator.tests.browser.browser import Browser, chromium
from usr.plugins.software_orchestrator.tests.browser.server import Site, serving

PICTURES = Path(__file__).resolve().parents[2] / "build" / "screenshots"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a worker."""
    lacking = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if lacking:
        pytest.skip(
            f"not installed: {', '.join(lacking)} (Debian: apt-get install chromium chromium-driver)"
        )
    pytest.importorskip("selenium", reason="selenium is not installed: make setup")
    with chromium(PICTURES) as driver:
        yield driver


@pytest.fixture(scope="session")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """`shop` as after a day's work, `evil` full of hostile text, `empty` without a record."""
    base = tmp_path_factory.mktemp("projects")
    records.shop(base / "shop")
    records.hostile(base / "evil")
    (base / "empty").mkdir()
    return {name: base / name for name in ("shop", "evil", "empty")}


@pytest.fixture
def site(projects: dict[str, Path]) -> Iterator[Site]:
    with serving(projects, records.KEY) as running:
        yield running


def pytest_report_header() -> str:
    return f"browser: {shutil.which('chromium') or 'no chromium'}, screenshots in {os.path.relpath(PICTURES)}"

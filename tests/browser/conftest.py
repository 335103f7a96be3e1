"""A headless Chromium for the pages. Where there is none these tests skip, and say so."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import browser_pages as pages
import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def missing() -> str | None:
    """Why there is no browser to test with."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed: pip install playwright"
    return None if chromium() else "no Chromium found: apt-get install chromium"


def chromium() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    why = missing()
    if why:
        terminalreporter.write_line(f"SKIPPED ALOUD: the pages were not tested in a browser; {why}", yellow=True, bold=True)


class Seen:
    """A page under test and everything it did that a page should not."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.said: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.said.append(f"dialog: {dialog.message}"))

    def open(self, path: Path) -> Any:
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]", timeout=20_000)
        return self.page


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    why = missing()
    if why:
        pytest.skip(why)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Seen]]:
    """`visit(path, width=…, …)`: the page, opened. At the end it must have been quiet and have asked nobody for anything."""
    opened: list[Seen] = []

    def go(path: Path, *, width: int = 1280, **options: Any) -> Seen:
        seen = Seen(browser.new_page(viewport={"width": width, "height": 900}, **options))
        opened.append(seen)
        seen.open(path)
        return seen

    yield go
    for seen in opened:
        assert seen.said == []
        assert [url for url in seen.requests if not url.startswith(("file:", "blob:"))] == []
        assert len([url for url in seen.requests if url.startswith("file:")]) == 1
        seen.page.close()


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two curves."""
    return pages.written(tmp_path_factory.mktemp("two"), pages.side("a"), pages.side("b", seed=1))

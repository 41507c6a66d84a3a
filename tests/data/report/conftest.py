"""A browser for all tests of the page, and pages that they look at."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from .scenes import write_scenes

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

Visit = Callable[..., Any]


def make_report(data: Path, out: Path) -> Path:
    """Run `schemagen inspect DATA --html OUT`; return OUT."""
    result = run("inspect", data, "--html", out)
    assert out.exists(), result.output
    return out


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Chromium, with a profile of its own; without one the tests are skipped."""
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.skip("there is no Chromium on PATH (Debian's package chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_FLAGS])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    """Opens files as pages; at the end none has complained or asked for anything."""
    contexts: list[Any] = []
    trouble: list[str] = []

    def told(request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            trouble.append(f"requested {request.url}")

    def opened(path: Path, width: int = 1280, height: int = 900, **options: Any) -> Any:
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, **options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        page.on("request", told)
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.fixture(scope="package")
def scenes_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three splits with pictures, masks, boxes and labels, of which one is skewed."""
    return write_scenes(tmp_path_factory.mktemp("report") / "scenes")


@pytest.fixture(scope="package")
def scenes_page(scenes_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report about them."""
    return make_report(scenes_data, tmp_path_factory.mktemp("report") / "scenes.html")

"""What the tests of the server share: Chromium, videos, and a place for screenshots."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the web extra is not installed")

from reelscore.web.example_videos import draw_videos


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """Debian's Chromium, without a window."""
    playwright = pytest.importorskip("playwright.sync_api")
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=found,
            args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required"],
        )
        yield browser
        browser.close()


@pytest.fixture
def page(chromium) -> Iterator[object]:
    """A page of a new visitor; errors in its console, such as refused scripts, fail the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(15_000)
    page, said = context.new_page(), []
    page.on("console", lambda message: message.type == "error" and said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    context.close()
    assert [text for text in said if "ERR_INTERNET_DISCONNECTED" not in text] == []


@pytest.fixture
def shoot(shots) -> Callable[..., None]:
    """Take a picture of a page, where pictures are wanted."""

    def take(page: object, name: str) -> None:
        if shots is not None:
            page.screenshot(path=shots / f"{name}.png", full_page=True)

    return take


@pytest.fixture(scope="session")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of short videos for the example's items."""
    folder = tmp_path_factory.mktemp("videos")
    draw_videos(folder, [f"clip{k:02}" for k in range(1, 16)], seconds=1.0)
    return folder


@pytest.fixture(scope="session")
def shots() -> Path | None:
    """Where screenshots go, if anywhere: the folder named by REELSCORE_SHOTS."""
    named = os.environ.get("REELSCORE_SHOTS")
    if not named:
        return None
    Path(named).mkdir(parents=True, exist_ok=True)
    return Path(named)

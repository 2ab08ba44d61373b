"""What the tests share: the real data, other programs, and how thorough to be."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from support.postgres_server import MissingServer, new_schema, postgres_server

# The same examples at every run, whatever the machine's load; `--full` looks for new ones, and
# keeps those that failed in .hypothesis to try them first the next time.
_ANY_LOAD = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, max_examples=60, **_ANY_LOAD)
settings.register_profile("explore", max_examples=1000, print_blob=True, **_ANY_LOAD)
settings.load_profile("same")

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full",
        action="store_true",
        help="Parity and durability tests at full size (minutes) instead of a sample (seconds).",
    )


def pytest_configure(config: pytest.Config) -> None:
    # A shell's background jobs ignore interrupts, and so would the programs that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--full"):
        settings.load_profile("explore")


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether parity and durability tests run at full size."""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The real data sets beside the checkout."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip(f"the real data is not at {folder}")
    return folder


@pytest.fixture(scope="session")
def specs() -> Path:
    """The specifications beside the checkout, with examples answered by the Java tools."""
    folder = SHARED / "specs"
    if not folder.is_dir():
        pytest.skip(f"the specifications are not at {folder}")
    return folder


@pytest.fixture(scope="session")
def java() -> str:
    """The Java command."""
    found = shutil.which("java")
    if found is None:
        pytest.skip("there is no Java on this machine")
    return found


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium, without a window: one for all, since a process may drive only one."""
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


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server, started for the tests and stopped after them."""
    try:
        with postgres_server() as url:
            yield url
    except MissingServer as missing:
        pytest.skip(str(missing))


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a campaign can be made: once a SQLite file, once a PostgreSQL database."""
    if request.param == "sqlite":
        return str(tmp_path / "campaign.db")
    return new_schema(request.getfixturevalue("postgres_url"))

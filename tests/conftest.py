"""What the tests share: the real data, other programs, and how thorough to be."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from support.made_hits import Clock
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


def existing(folder: Path, what: str) -> Path:
    """Return a folder, or skip the test where it is not there."""
    if not folder.is_dir():
        pytest.skip(f"{what} not at {folder}")
    return folder


def installed(command: str, name: str) -> str:
    """Return the path of a program, or skip the test where it is not there."""
    program = shutil.which(command)
    if program is None:
        pytest.skip(f"there is no {name} on this machine")
    return program


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Iterator[Any]:
    """Read test files once: examples are in the code, the pages and examples.txt."""
    collected = yield
    return [each for each in collected if not isinstance(each, DoctestModule)]


def _missing(item: pytest.Item) -> str:
    """Return what a test needs that is not here."""
    fixtures = getattr(item, "fixturenames", ())
    if "shared" in fixtures or item.get_closest_marker("shared"):
        return "" if (SHARED / "data").is_dir() else f"read the real data, which is not at {SHARED}"
    needs_torch = "tiny" in fixtures or item.get_closest_marker("torch")
    return "need torch ('make learned')" if needs_torch and not find_spec("torch") else ""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests for `--full` without it: a smaller one of each proves the same.

    Where the real data is not, or torch, one of the tests in each folder that need it is skipped,
    and says for how many in which files it stands; tests/parity/test_published.py proves the
    published numbers from tests/golden all the same. What fails in the browser is tried again,
    and named: pages have clocks of their own.
    """
    left_out = []
    if not config.getoption("--full"):
        left_out = [item for item in items if item.get_closest_marker("full")]
    by_folder: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if item not in left_out and (what := _missing(item)):
            by_folder.setdefault((item.path.parent, what), []).append(item)
    for (_, what), (first, *others) in by_folder.items():
        files = ", ".join(dict.fromkeys(item.path.name for item in (first, *others)))
        reason = f"{len(others) + 1} tests in {files} {what}"
        first.add_marker(pytest.mark.skip(reason=reason))
        left_out += others
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.flaky(reruns=2))
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Return whether parity and durability tests run at full size."""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The real data sets beside the checkout."""
    return existing(SHARED / "data", "the real data is")


@pytest.fixture(scope="session")
def dense(shared: Path) -> Path:
    """Real stories: references and candidates of ActivityNet and YouCook2."""
    return existing(shared / "dense", "the dense captions are")


@pytest.fixture(scope="session")
def trecvid_folder(shared: Path) -> Path:
    """The TRECVid human assessments."""
    return existing(shared / "trecvid-vtt-ha", "the TRECVid human assessments are")


@pytest.fixture(scope="session")
def java() -> str:
    """The Java command."""
    return installed("java", "Java")


@pytest.fixture
def clock() -> Clock:
    """A clock that the test sets."""
    return Clock()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium, without a window: one for all, since a process may drive only one."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = installed("chromium", "Chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required"],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session", autouse=True)
def quick_tables() -> Iterator[None]:
    """Make the tables of new databases from memory, where there are databases."""
    if find_spec("alembic") is None:
        yield
        return
    from support.remembered_tables import remembered_tables

    with remembered_tables():
        yield


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


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def mostly_sqlite(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A SQLite file; with `--full` a PostgreSQL database as well.

    What depends on the database, such as requests at once, asks for both: parametrize it.
    """
    if request.param == "sqlite":
        return str(tmp_path / "challenge.db")
    return new_schema(request.getfixturevalue("postgres_url"))

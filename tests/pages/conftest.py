"""Chromium for the tests of pages, and the reports they open."""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reelscore import examples, score_systems
from reelscore.data.datasets.trecvid_ha import Assessment, load
from reelscore.data.table import ItemIndex, ItemScores, MetricResult, ScoreTable
from reelscore.report.html import Report, report_of, write_report

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, without a window."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as tool:
        opened = tool.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@dataclass
class Opened:
    """A page, and what went wrong on it."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Opened]]:
    """Open a file; at the end of the test nothing may have failed or been loaded."""
    contexts, seen = [], []

    def open_page(
        path: Path, link: str = "", *, width: int = 1280, init: str = "", **choices: Any
    ) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": 900}, **choices)
        context.set_default_timeout(15_000)
        contexts.append(context)
        found = Opened(context.new_page())
        seen.append(found)
        page = found.page
        page.on("pageerror", lambda error: found.errors.append(str(error)))
        page.on(
            "console",
            lambda said: said.type in ("error", "warning") and found.errors.append(said.text),
        )
        page.on("dialog", lambda dialog: (found.errors.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: found.requests.append(request.url))
        if init:
            page.add_init_script(init)
        page.goto(path.as_uri() + link)
        page.wait_for_selector("html[data-ready], #problem:not([hidden])", timeout=60_000)
        return found

    yield open_page
    for found in seen:
        assert found.errors == []
        loaded = [url for url in found.requests if ".html" not in url and "/videos/" not in url]
        assert loaded == []
    for context in contexts:
        context.close()


@dataclass(frozen=True)
class Made:
    """A report, the file it was written to, and how long that took."""

    report: Report
    path: Path
    seconds: float


def made(folder: Path, name: str, make: Callable[[], Report], **choices: Any) -> Made:
    start = time.perf_counter()
    report = make()
    path = folder / f"{name}.html"
    write_report(path, report, **choices)
    return Made(report, path, time.perf_counter() - start)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the reports of the tests lie."""
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="session")
def demo(folder: Path) -> Made:
    """The embedded clips, with people's judgments."""
    people = ScoreTable.read(examples.path("clips/judgments.csv"), repeats="mean")
    return made(
        folder, "demo", lambda: report_of(score_systems(*examples.clips()), people, title="Demo")
    )


@pytest.fixture(scope="session")
def trecvid(shared: Path) -> Assessment:
    """TRECVid VTT 2020, each caption judged by one person."""
    return load(shared / "trecvid-vtt-ha", "SA-2020")


@pytest.fixture(scope="session")
def sa_2020(folder: Path, trecvid: Assessment) -> Made:
    """All systems of TRECVid VTT 2020 with human scores: 1,700 items."""

    def make() -> Report:
        table = score_systems(trecvid.candidates, trecvid.references())
        return report_of(table, trecvid.human, title="TRECVid VTT 2020")

    return made(folder, "sa-2020", make)


@pytest.fixture(scope="session")
def bmt(folder: Path, shared: Path, full: bool) -> Made:
    """Stories of BMT on ActivityNet Captions: the first 300 videos, or all."""
    from reelscore.stories import read_stories
    from reelscore.stories import score_systems as score_stories
    from reelscore.stories.timelines import timelines

    def read(name: str) -> Any:
        stories = read_stories(shared / "dense" / name)
        kept = dict(itertools.islice(stories.items(), None if full else 300))
        return type(stories)(kept, stories.policies)

    truth = [read(f"anet_val_{k}.json.gz") for k in (1, 2)]
    systems = {f"BMT {k}": read(f"bmt_gtprop_val_{k}.json.gz") for k in (1, 2)}

    def make() -> Report:
        choices = {"unknown": "skip", "scores": "soda_c"}
        table = score_stories(systems, truth, **choices).table
        return report_of(table, timelines=timelines(systems, truth, **choices), title="BMT")

    return made(folder, "bmt", make)


@pytest.fixture(scope="session")
def long_list(folder: Path) -> Made:
    """A report of 100,000 items and two systems."""
    count = 100_000
    index = ItemIndex([f"video{k:06d}" for k in range(count)])
    draw = np.random.default_rng(5)
    texts = list(examples.clips()[0]["human"].values())
    captions = {
        name: {item: f"{texts[k % 15]} {k}" for k, item in enumerate(index.items)}
        for name in ("one", "two")
    }

    def result(name: str, shift: float) -> MetricResult:
        scores = draw.random(count) + shift
        return MetricResult(name, float(scores.mean()), ItemScores(index, scores), name)

    rows = {
        system: {name: result(name, 0.01 * k) for name in ("first", "second", "third")}
        for k, system in enumerate(captions)
    }
    return made(
        folder, "long", lambda: report_of(ScoreTable(rows), captions=captions, resamples=20)
    )

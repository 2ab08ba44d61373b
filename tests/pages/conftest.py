"""Chromium for the tests of pages, and the reports they open."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reelscore import compare, examples, score_systems
from reelscore.cli.main import cli
from reelscore.data.tables.table import ItemIndex, ItemScores, MetricResult, ScoreTable
from reelscore.report.html import Preview, Report, report_of, write_report
from reelscore.significance.comparison import strictest
from reelscore.stories import read_stories
from reelscore.stories import score_systems as score_stories
from reelscore_studies.judged.trecvid_ha import Assessment, load
from support.browser import new_visitor
from support.report_pages import LONG_NAMES, PREFIX


@dataclass
class Opened:
    """A page, and what went wrong on it."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    meant: list[str] = field(default_factory=list)  # errors that the test brings about on purpose

    def listen(self) -> None:
        """Note errors, warnings, dialogs and whatever is loaded."""
        page = self.page
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda said: said.type in ("error", "warning") and self.errors.append(said.text),
        )
        page.on("dialog", lambda dialog: (self.errors.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))


@pytest.fixture(scope="package")
def windows(chromium: Any) -> dict[Any, Opened]:
    """Windows that stay open from test to test: a new one takes most of a second."""
    return {}


@pytest.fixture
def opened(chromium: Any, windows: dict[Any, Opened]) -> Iterator[Callable[..., Opened]]:
    """Open a file; at the end of the test nothing may have failed or been loaded."""
    seen: list[Opened] = []

    def open_page(
        path: Path, link: str = "", *, width: int = 1280, init: str = "", **choices: Any
    ) -> Opened:
        key = (init, tuple(choices.items()))
        if key not in windows:
            windows[key] = Opened(new_visitor(chromium, **choices).new_page())
            windows[key].listen()
            if init:
                windows[key].page.add_init_script(init)
        window = windows[key]
        seen.append(window)
        page = window.page
        page.goto("about:blank")  # else another link into the same file would not load it
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(path.as_uri() + link)
        page.wait_for_selector("html[data-ready], #problem:not([hidden])")
        return window

    yield open_page
    for window in seen:
        window.page.goto("about:blank")  # what the last page had to say has come then
        errors, requests, meant = list(window.errors), list(window.requests), list(window.meant)
        for noted in (window.errors, window.requests, window.meant):
            noted.clear()
        assert [each for each in errors if not any(words in each for words in meant)] == []
        loaded = [url for url in requests if ".html" not in url and "/videos/" not in url]
        assert [url for url in loaded if url != "about:blank"] == []


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


def drawn_previews(items: Iterable[str]) -> dict[str, Preview]:
    """Pictures of every item: a square that moves."""
    previews = {}
    for number, item in enumerate(items):
        pictures = np.full((6, 90, 160, 3), (40 + 10 * (number % 20), 120, 90), np.uint8)
        for k, picture in enumerate(pictures):
            picture[30:60, 20 * k : 20 * k + 30] = 255
        previews[item] = Preview.of(pictures)
    return previews


@pytest.fixture(scope="session")
def gallery(folder: Path) -> Made:
    """The embedded clips, with previews of all but the last."""
    table = score_systems(*examples.clips(), "meteor,cider")
    previews = drawn_previews(list(examples.clips()[1])[:-1])
    return made(folder, "gallery", lambda: report_of(table, title="Clips", previews=previews))


@pytest.fixture(scope="session")
def bounded(folder: Path) -> Made:
    """The embedded clips, where people's captions are a bound and no system."""
    table = score_systems(*examples.clips(), "meteor,cider")
    previews = drawn_previews(list(examples.clips()[1]))
    return made(folder, "bounded", lambda: report_of(table, previews=previews, bounds=["human"]))


@pytest.fixture(scope="session")
def unscored(folder: Path) -> Made:
    """Captions of 100 clips that nobody scored."""
    texts = list(examples.clips()[0]["human"].values())
    captions = {
        name: {f"video{k:03}": f"{texts[k % 15]} {name} {k}" for k in range(100)}
        for name in ("one", "two")
    }
    report = Report(
        ScoreTable({name: {} for name in captions}),
        captions=captions,
        previews=drawn_previews(captions["one"]),
    )
    return made(folder, "unscored", lambda: report)


@pytest.fixture(scope="session")
def partial(folder: Path) -> Made:
    """The embedded clips, where the best system gives no captions for some."""
    systems, references = examples.clips()
    systems = {name: dict(systems[name]) for name in ("weak", "strong", "human")}
    for item in list(references)[:7]:
        del systems["human"][item]
    table = score_systems(systems, references, "rouge_l", missing="skip")
    return made(folder, "partial", lambda: report_of(table))


@pytest.fixture(scope="session")
def long_names(folder: Path) -> Made:
    """The embedded clips, of systems with long names that begin alike."""
    return made(folder, "long-names", lambda: renamed(PREFIX))


@pytest.fixture(scope="session")
def other_names(folder: Path) -> Made:
    """The same with names that do not begin alike."""
    return made(folder, "other-names", lambda: renamed(PREFIX, "another-beginning."))


def renamed(*prefixes: str) -> Report:
    systems, references = examples.clips()
    names = [prefixes[k % len(prefixes)] + name for k, name in enumerate(LONG_NAMES)]
    captions = dict(zip(names, systems.values(), strict=True))
    return report_of(score_systems(captions, references, "meteor,cider"))


@pytest.fixture(scope="session")
def compared(folder: Path) -> Made:
    """The embedded clips, tested against a baseline."""
    table = score_systems(*examples.clips())
    tests = compare(table, "weak", resamples=100, trials=200)
    return made(
        folder,
        "compared",
        lambda: report_of(table, tests=strictest(tests), baseline="weak"),
    )


@pytest.fixture(scope="session")
def stored(folder: Path) -> Made:
    """A table without statistics, so that METEOR is not tested; by self_bleu lower is better."""
    table = score_systems(*examples.clips(), "meteor,cider,self_bleu")
    table.write(folder / "stored.json", statistics=False)
    return made(folder, "stored", lambda: report_of(ScoreTable.read(folder / "stored.json")))


@pytest.fixture(scope="session")
def told(folder: Path) -> Made:
    """The embedded stories."""
    return story_report(folder, "told", scores="soda")


@pytest.fixture(scope="session")
def wide(folder: Path) -> Made:
    """The embedded stories by all scores: as many columns as there can be."""
    return story_report(folder, "wide")


def story_report(folder: Path, name: str, **choices: Any) -> Made:
    systems, annotators = examples.stories()
    table = score_stories(systems, annotators.values(), **choices)
    return made(folder, name, lambda: report_of(table, title="Stories"))


def command(folder: Path, *lines: str) -> None:
    """Run commands of reelscore in a folder."""
    for line in lines:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(sys, "argv", ["reelscore", *line.split()])
            cli(standalone_mode=False)


@pytest.fixture(scope="session")
def agreeing(folder: Path) -> Path:
    """What reelscore meta says of the embedded clips."""
    score_systems(*examples.clips()).write(folder / "scores.json")
    people = examples.path("clips/judgments.csv")
    line = f"meta scores.json --human {people} --level pooled --resamples 20 --html agreeing.html"
    command(folder, line)
    return folder / "agreeing.html"


@pytest.fixture(scope="session")
def campaign(folder: Path) -> Path:
    """What a simulated campaign on the embedded clips found."""
    clips = examples.path("clips/systems")
    systems = " ".join(str(clips / f"{name}.json") for name in ("strong", "weak", "broken"))
    command(
        folder,
        f"campaign new c.db {systems} --people {clips / 'human.json'} --layout pilot --hits 12",
        "campaign simulate c.db --bad 0.2 --seed 3",
        "campaign results c.db --html campaign.html",
    )
    return folder / "campaign.html"


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
    """Stories of BMT on ActivityNet Captions: the first 300 videos that it has, or all."""
    files = [f"{name}_{k}.json.gz" for name in ("anet_val", "bmt_gtprop_val") for k in (1, 2)]
    read = [read_stories(shared / "dense" / name) for name in files]
    common = [video for video in read[0] if all(video in each for each in read)]
    kept = common[: None if full else 300]
    first, second, *own = [type(s)({v: s[v] for v in kept}, s.policies) for s in read]
    truth, systems = [first, second], {f"BMT {k}": each for k, each in enumerate(own, start=1)}

    def make() -> Report:
        return report_of(score_stories(systems, truth, "soda_c", unknown="skip"), title="BMT")

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

"""Reports: time to build, size, first paint, and how fast the page answers, in Chromium."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.data import TRECVID, trecvid_2020
from reelscore import examples, score_systems
from reelscore.data.tables.table import ItemIndex, ItemScores, MetricResult, ScoreTable
from reelscore.report.html import Report, report_of, write_report
from reelscore_studies.judged.trecvid_ha import Assessment, load

# Scrolls a tenth of a screen a frame; gives the milliseconds between frames.
SCROLL = """() => new Promise((done) => {
    const list = document.querySelector(".list"), times = [];
    let before = performance.now();
    const step = (now) => {
        times.push(now - before);
        before = now;
        list.scrollTop += list.clientHeight / 10;
        times.length < 120 ? requestAnimationFrame(step) : done(times.slice(1));
    };
    requestAnimationFrame(step);
})"""
# Changes a control and waits until the list shows the outcome; gives the milliseconds.
CHANGE = """([selector, value, event, words]) => new Promise((done) => {
    const control = document.querySelector(selector), begin = performance.now();
    const say = document.querySelector("#items [role=status]");
    control.value = value;
    control.dispatchEvent(new Event(event, { bubbles: true }));
    const look = () => (new RegExp(words).test(say.textContent)
        ? done(performance.now() - begin) : setTimeout(look, 1));
    look();
})"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (
            ("TRECVid 2020, 1,700 × 6 × 9", trecvid),
            ("2,000 × 10 × 8", ten_systems),
            ("100,000 × 2 × 3", long_list),
        ):
            begin = time.process_time()
            report = make()
            scored = time.process_time()
            path = Path(folder, "report.html")
            write_report(path, report)
            written = time.process_time() - scored
            print(f"{name}: {path.stat().st_size / 1e6:.2f} MB")
            print(f"  scores and tests {scored - begin:.1f} s CPU, page {written:.1f} s CPU")
            measure(path)


def trecvid() -> Report:
    data = judged()
    return report_of(score_systems(data.candidates, data.references()), data.human)


def ten_systems() -> Report:
    """Ten writers, systems and people of TRECVid 2020, each with 2,000 of their captions."""
    data = judged()
    writers = [*data.candidates.values(), *data.annotators.values()][:10]
    known = data.references()
    count = len(data.items)
    references = {f"item {k}": known[data.items[k % count]] for k in range(2000)}
    captions = {
        f"system {j}": {
            f"item {k}": own[data.items[(k * (j + 1)) % count]] for k in range(len(references))
        }
        for j, own in enumerate(writers)
    }
    return report_of(score_systems(captions, references, "bleu,meteor,rouge_l,cider,sent_bleu"))


def judged() -> Assessment:
    trecvid_2020()  # says what is missing
    return load(TRECVID.parent, "SA-2020")


def long_list() -> Report:
    index = ItemIndex([f"video{k:06d}" for k in range(100_000)])
    draw = np.random.default_rng(5)
    texts = list(examples.clips()[0]["human"].values())
    captions = {
        name: {item: f"{texts[k % 15]} {k}" for k, item in enumerate(index.items)}
        for name in ("one", "two")
    }

    def result(name: str) -> MetricResult:
        scores = draw.random(len(index.items))
        return MetricResult(name, float(scores.mean()), ItemScores(index, scores), name)

    rows = {
        system: {name: result(name) for name in ("first", "second", "third")} for system in captions
    }
    return report_of(ScoreTable(rows), captions=captions)


def measure(path: Path) -> None:
    """Open the page, and tell how long things take."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        browser = tool.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--enable-precise-memory-info"],
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        begin = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", timeout=120_000)
        ready = time.perf_counter() - begin
        paint = page.evaluate("performance.getEntriesByType('paint')[0].startTime") / 1000
        print(f"  first paint {paint:.2f} s, everything there {ready:.2f} s")
        told = page.locator("#items [role=status]").inner_text().split()[0]
        search, sort = "#search", "#items .controls select"
        none = page.evaluate(CHANGE, [search, "zebra crossing", "input", "^0 of"])
        every = page.evaluate(CHANGE, [search, "", "input", f"^{told} of"])
        scores = page.evaluate(CHANGE, [sort, "scores", "change", "ranks the caption"])
        print(f"  search {none:.0f} ms, all again {every:.0f} ms, two scores {scores:.0f} ms")
        frames = np.array(page.evaluate(SCROLL))
        middle, slow = np.quantile(frames, [0.5, 0.95])
        print(f"  scrolling: a frame takes {middle:.0f} ms, the slowest twentieth {slow:.0f} ms")
        used = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
        print(f"  memory of the scripts {used:.0f} MB")
        browser.close()


if __name__ == "__main__":
    main()

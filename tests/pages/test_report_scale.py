"""Sizes of reports: 1,700 and 100,000 items, and the limit of 5 MB; times count with --full."""

from __future__ import annotations

import numpy as np
import pytest

from reelscore import score_systems
from reelscore.report.html import report_of, write_report
from support.report_pages import STATUS, TITLE, rows, wait_for


def first_paint(page) -> float:
    entries = page.evaluate("performance.getEntriesByType('paint').map((each) => each.startTime)")
    return min(entries) / 1000


def tell(capsys, made, paint: float) -> None:
    size, items = made.path.stat().st_size / 1e6, len(made.report.items)
    with capsys.disabled():
        print(
            f"\n{items:,} items: {size:.2f} MB, made in {made.seconds:.1f} s, seen in {paint:.2f} s"
        )


@pytest.mark.shared
def test_1700_items(sa_2020, opened, capsys, full):
    page = opened(sa_2020.path).page
    paint = first_paint(page)
    assert sa_2020.path.stat().st_size < 2_000_000
    assert paint < 5 or not full
    tell(capsys, sa_2020, paint)


def test_100_000_items(long_list, opened, capsys, full):
    page = opened(long_list.path).page
    paint = first_paint(page)
    wait_for(page, STATUS, "^100,000 of 100,000")
    assert page.locator(".row").count() < 40
    page.locator(".list").focus()
    page.keyboard.press("End")
    assert page.locator(TITLE).inner_text() == "video099999"
    page.fill("#search", "people hurry past. 50014")
    wait_for(page, STATUS, "^1 of 100,000")
    assert rows(page) == ["video050014"]
    page.fill("#search", "")
    page.get_by_label("Sort by").select_option("spread")
    wait_for(page, STATUS, "^100,000 of 100,000")
    table = long_list.report.table
    apart = np.abs(table["one"]["first"].items.array - table["two"]["first"].items.array)
    page.locator("#items").get_by_label("Score", exact=True).select_option(label="first")
    assert rows(page)[0] == f"video{apart.argmax():06d}"
    assert paint < 5 or not full
    tell(capsys, long_list, paint)


@pytest.mark.shared
def test_2000_items_10_systems_8_scores(trecvid, folder):
    people = list(trecvid.annotators.values())
    systems = {f"system {k}": {} for k in range(10)}
    references = {}
    known = trecvid.references()
    for k in range(2000):
        item = trecvid.items[k % len(trecvid.items)]
        references[f"item {k}"] = known[item]
        for j, captions in enumerate(systems.values()):
            written = [*trecvid.candidates.values(), *people]
            captions[f"item {k}"] = written[j][trecvid.items[(k * (j + 1)) % len(trecvid.items)]]
    table = score_systems(systems, references, "bleu,meteor,rouge_l,cider,sent_bleu")
    assert len(table.metrics) == 8
    write_report(folder / "2000.html", report_of(table))
    assert (folder / "2000.html").stat().st_size < 5_000_000

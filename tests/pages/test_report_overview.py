"""The overview of a report, in Chromium: leaderboard, wins, distributions, correlations."""

from __future__ import annotations

import numpy as np
import pytest

from reelscore.data.tables.scales import score_text
from support.report_pages import names


def test_leaderboard_is_sorted_by_any_score(demo, opened):
    page = opened(demo.path).page
    table = demo.report.table
    for name, label in table.labels.items():
        head = page.locator("#leaderboard").get_by_role("columnheader", name=label, exact=True)
        head.get_by_role("button").click()
        best_first = sorted(table.systems, key=lambda each: -table[each][name].score)
        if head.get_attribute("aria-sort") == "ascending":  # it was sorted by this already
            best_first.reverse()
        scores = [table[each][name].score for each in best_first]
        assert names(page) == best_first or len(set(scores)) < len(scores), name


@pytest.mark.shared
def test_leaderboard_has_the_tables_numbers(sa_2020, opened):
    page = opened(sa_2020.path).page
    table = sa_2020.report.table
    for row in page.locator("#leaderboard tbody tr").all():
        system = row.locator("bdi").inner_text()
        shown = [cell.evaluate("cell => cell.firstChild.data") for cell in row.locator("td").all()]
        assert shown == [score_text(table[system][name].score) for name in table.metrics]
    assert page.locator("#leaderboard tr.edge").count() == 4  # five clusters by people's z


@pytest.mark.shared
def test_wins_say_how_often_a_system_is_better(sa_2020, opened):
    page = opened(sa_2020.path).page
    page.select_option("#wins select", label="METEOR")
    table = sa_2020.report.table
    best, worst = "RUC_AIM3", "IMFD_IMPRESEE"
    apart = table[best]["meteor"].items.array - table[worst]["meteor"].items.array
    won = (apart > 0).mean() + (apart == 0).mean() / 2
    cell = page.locator("#wins tbody tr", has_text=best).locator("td").last
    assert cell.inner_text() == f"{round(won * 100)}*"
    assert "p < .05" not in cell.get_attribute("title")
    assert cell.get_attribute("title") == "p = .015"  # the smallest of 15 pairs, 1,000 resamples


@pytest.mark.shared
def test_correlation_with_people(sa_2020, opened):
    page = opened(sa_2020.path).page
    table = sa_2020.report.table
    items = sa_2020.report.items
    x, y = (table.matrix(name, table.systems, items).ravel() for name in ("meteor", "z"))
    both = ~np.isnan(x) & ~np.isnan(y)
    expected = np.corrcoef(x[both], y[both])[0, 1]
    label = page.locator("#metrics [role=status]").inner_text()
    assert f"METEOR and z of {both.sum():,} captions: pearson {expected:.3f}" in label


def test_distributions_and_lengths_show_every_system(demo, opened):
    page = opened(demo.path).page
    table = demo.report.table
    page.select_option("#distributions select", label="CIDEr")
    picture = page.locator("#distributions svg")
    assert picture.locator("path.shape").count() == len(table.systems)
    for system in table.systems:
        median = np.median(table[system]["cider"].items.array)
        shown = picture.locator("text", has_text=f"{system} 15 items").text_content()
        assert shown.endswith(f"median {score_text(median)}")
    page.select_option("#length select >> nth=0", label="METEOR")
    assert "METEOR against length of 60 captions" in page.locator("#length").inner_text()


def test_the_column_one_sorts_by_comes_into_sight(demo, opened):
    page = opened(demo.path, width=390).page
    region = page.locator("#leaderboard .scroll")
    head = page.locator("#leaderboard th[aria-sort]")
    assert head.inner_text().startswith("judgments")
    assert "Sorted by judgments." in page.locator("#leaderboard-key").inner_text()
    assert region.evaluate("each => each.scrollLeft") == 0  # it opens with its first columns
    page.locator("#leaderboard th button", has_text="CIDEr").evaluate("each => each.click()")
    assert region.evaluate("each => each.scrollLeft") > 0
    box = head.bounding_box()
    assert box["x"] + box["width"] <= 390
    page.locator("#leaderboard th button", has_text="BLEU-1").evaluate("each => each.click()")
    assert head.bounding_box()["x"] > 50  # beside the names


def test_tests_against_a_baseline(compared, opened):
    page = opened(compared.path).page
    key = page.locator("#leaderboard-key").inner_text()
    assert "▲ better, ▼ worse than weak, p < 0.05" in key
    assert "paired bootstrap, 100 draws and approximate randomization, 200 draws" in key
    tests = next(each for each in compared.report.tests if each.metric == "meteor")
    for row in page.locator("#leaderboard tbody tr").all():
        system = row.locator("bdi").inner_text()
        place = tests.systems.index(system)
        differs = system != "weak" and np.nanmin(tests.p_corrected[place]) < 0.05
        column = compared.report.table.metrics.index("meteor")
        assert row.locator("td").nth(column).locator("sup").count() == differs


def test_what_was_not_tested_says_so(stored, opened):
    page = opened(stored.path).page
    head = page.locator("#leaderboard").get_by_role("columnheader", name="METEOR", exact=True)
    key = page.locator("#leaderboard-key")
    head.get_by_role("button").click()
    assert "– METEOR was not tested: made from sums over captions" in key.inner_text()
    assert page.locator("#leaderboard tbody td:nth-child(2) sup").all_inner_texts() == ["–"] * 4
    page.select_option("#wins select", label="METEOR")
    cells = page.locator("#wins td").all_inner_texts()
    assert all(cell.endswith("–") for cell in cells if cell)
    assert "– METEOR was not tested" in page.locator("#wins .key").inner_text()
    page.select_option("#wins select", label="CIDEr")
    assert not any("–" in cell for cell in page.locator("#wins td").all_inner_texts())


def test_lower_is_better_is_said_and_sorted_by(stored, opened):
    page = opened(stored.path).page
    heads = page.locator("#leaderboard thead th")
    assert heads.nth(3).inner_text().split("\n")[0].startswith("Self-BLEU lower is better")
    heads.nth(3).get_by_role("button").click()
    table = stored.report.table
    assert names(page) == sorted(table.systems, key=lambda each: table[each]["self_bleu"].score)
    best = page.locator("#leaderboard tbody tr").first
    assert "best" in (best.locator("td").nth(2).get_attribute("class") or "")


def test_agreement_stands_below_the_leaderboard(agreeing, opened):
    page = opened(agreeing).page
    headings = page.locator("h2").all_inner_texts()
    assert headings[1] == "Agreement with people"
    assert headings.index("Items") > headings.index("Which metric agrees better: williams")
    assert page.locator(".signature", has_text="williams|pearson").count() == 1


def test_how_it_was_made(agreeing, demo, opened):
    page = opened(agreeing).page
    made = page.locator("#made").inner_text()
    assert "reelscore meta scores.json --human" in made
    page = opened(demo.path).page
    made = page.locator("#made").inner_text()
    for row in demo.report.table.results.values():
        for result in row.values():
            assert result.signature in made
    assert page.locator("#made .dim").inner_text().startswith("reelscore ")


def test_systems_on_different_items_come_last(partial, opened):
    page = opened(partial.path).page
    head = page.locator("#leaderboard").get_by_role("columnheader", name="ROUGE-L", exact=True)
    seen = set()
    for _ in range(2):
        head.get_by_role("button").click()
        seen.add(head.get_attribute("aria-sort"))
        assert names(page)[-1] == "human"
    assert seen == {"ascending", "descending"}
    assert page.locator("#leaderboard tr.edge").count() == 1, "ranks weak and strong alone"
    assert page.get_by_text("human was scored on 8 of 15 items").is_visible()

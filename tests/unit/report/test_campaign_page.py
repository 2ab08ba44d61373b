"""The page of a campaign's results."""

from __future__ import annotations

from dataclasses import replace

from reelscore.campaigns.evaluate.results import evaluate_ratings
from reelscore.campaigns.judgments import Judgments
from reelscore.campaigns.report.page import results_html
from reelscore.significance import rank_systems
from support.campaigns import rating


def judged(*systems: str):
    rows = [
        rating(f"r{r}", 20.0 * (s + 1) + k, system, f"v{k}", position=2 * k + s, hit=f"h{r}")
        for r in range(2)
        for k in range(5)
        for s, system in enumerate(systems)
    ]
    return evaluate_ratings(Judgments.of(rows), controlled=False)


def test_what_names_have_in_common_is_said_once():
    results = judged(*(f"trecvid20-vtt.en-en.{name}" for name in ("RUC_AIM3", "<RUCMM>")))
    page = results_html("Dogs", results, [rank_systems(results.scores.table)])
    assert page.count("trecvid20-vtt.en-en.") == 1
    assert "begin with “trecvid20-vtt.en-en.”, left out here." in page
    assert page.count('<th scope="row">&lt;RUCMM&gt;</th>') == 2


def test_every_criterion_has_its_ranking():
    results = judged("one", "other")
    ranking = rank_systems(results.scores.table)
    page = results_html("Dogs", results, [ranking, replace(ranking, metric="<second>")])
    assert page.count("<h2>Who is better than whom</h2>") == 2
    assert "<h2>Systems by &lt;second&gt;</h2>" in page

"""The page of a campaign's results."""

from __future__ import annotations

from reelscore.human.evaluate.results import evaluate_ratings
from reelscore.human.judgments import Judgments
from reelscore.report.campaign_html import campaign_html
from reelscore.significance.rankings import rank_systems
from support.campaigns import rating


def test_what_names_have_in_common_is_said_once():
    systems = [f"trecvid20-vtt.en-en.{name}" for name in ("RUC_AIM3", "<RUCMM>")]
    rows = [
        rating(f"r{r}", 20.0 * (s + 1) + k, system, f"v{k}", position=2 * k + s, hit=f"h{r}")
        for r in range(2)
        for k in range(5)
        for s, system in enumerate(systems)
    ]
    results = evaluate_ratings(Judgments.of(rows), controlled=False)
    page = campaign_html("Dogs", results, rank_systems(results.scores.table))
    assert page.count("trecvid20-vtt.en-en.") == 1
    assert "begin with “trecvid20-vtt.en-en.”, left out here." in page
    assert page.count('<th scope="row">&lt;RUCMM&gt;</th>') == 2

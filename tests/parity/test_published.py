"""Published numbers come out again, from the scores in tests/golden/published.npz.

The scores are those that reelscore makes of the real data (tools/make_published_golden.py), so
that a clone without the data proves the statistics; test_trecvid_real.py and the tests of
campaigns make the scores themselves, where the data is.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from reelscore.campaigns.evaluate.quality import check_quality
from reelscore.campaigns.evaluate.scores import score_judgments
from reelscore.campaigns.judgments import Judgment, Judgments
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.significance import rank_systems
from reelscore.stats import pearson
from reelscore_studies.judged.trecvid_ha import YEARS
from reelscore_studies.published import published
from reelscore_studies.repro.bertha import FUSED, METRICS, SPICE, agrees
from reelscore_studies.repro.judged_scores import Judged

ROWS = ("bleu_4", "cider", "meteor", "rouge_l", "spice")
KINDS = ("caption", "repeat", "degraded", "reference", "test")
NOT_SIGNIFICANT = 0.12  # what the published files write for p of 0.05 and more


@cache
def golden():
    with np.load(Path(__file__).parents[1] / "golden" / "published.npz") as file:
        return dict(file)


def judged(setting, year):
    human, *metrics = golden()[f"{setting}_{year}_scores"] / 10_000
    return Judged(
        golden()[f"{setting}_{year}_systems"], human, dict(zip(ROWS, metrics, strict=True))
    )


# BERTHA (Lebron et al., 2022), Tables 2 and 4


def test_cells_of_the_paper_on_bertha():
    printed = published("bertha")["tables"]
    missed = [
        (table, name, year)
        for table, level in (("2", "system_level"), ("4", "caption_level"))
        for name, metric in {**{row: METRICS[row] for row in FUSED}, **SPICE}.items()
        for k, year in enumerate(YEARS)
        if not agrees(
            table, printed[table][name][k], getattr(judged("as_published", year), level)(metric)
        )
    ]
    assert missed == [("2", "BLEU-4", 2020), ("2", "ROUGE-L", 2017), ("4", "ROUGE-L", 2017)]


def test_with_the_right_lines_every_correlation_rises():
    for metric in ROWS:
        for year in YEARS:
            before = abs(judged("as_published", year).caption_level(metric))
            assert before < judged("right_lines", year).caption_level(metric), (metric, year)


# Direct Assessment (Graham, Awad and Smeaton, 2018), Table 5


def test_a_second_crowd_agrees_with_the_first():
    first = published("direct_assessment")["tables"]["4"].values()
    for k, (scale, expected) in enumerate({"raw": 0.995, "z": 0.997}.items()):
        r = pearson([row[scale] for row in first], golden()["second_crowd"][:, k])
        assert round(float(r), 3) == expected


# EACL 2017, run A: quality control and scores


@pytest.fixture(scope="module")
def campaign():
    data = golden()
    return Judgments.of(
        Judgment(
            rater=f"r{rater}",
            hit=f"h{hit}",
            task=f"{hit}-{position}",
            position=int(position),
            system="all",
            item=str(item),
            kind=KINDS[kind],
            score=float(score),
        )
        for (rater, hit, item, position), kind, score in zip(
            data["eacl_codes"].T, data["eacl_kinds"], data["eacl_scores"], strict=True
        )
    )


def test_every_published_test_of_a_rater(campaign):
    quality = check_quality(campaign)
    raters = {rater.rater: rater for rater in quality.raters}
    assert (len(raters), len(quality.passed)) == (44, 29)
    data = golden()
    for number, (p, t, pairs), good in zip(
        data["eacl_raters"], data["eacl_tests"], data["eacl_good"], strict=True
    ):
        rater = raters[f"r{number}"]
        assert rater.p == pytest.approx(p, rel=1e-6)
        assert rater.statistic == pytest.approx(-t, rel=1e-6)
        assert (rater.pairs, rater.verdict == "passed") == (pairs, good)


def test_every_published_score_of_a_segment(campaign):
    scores = score_judgments(check_quality(campaign).good(campaign))
    table = scores.table["all"]
    data = golden()
    assert len(table["z"].items) == len(data["eacl_items"]) == 1051
    for item, (z, raw, n) in zip(data["eacl_items"], data["eacl_segments"], strict=True):
        assert table["z"].items[str(item)] == pytest.approx(z, abs=1e-6)
        assert table["raw"].items[str(item)] == pytest.approx(raw, abs=1e-6)
        assert scores.counts["all"][str(item)] == n


# WMT22, cs-en: p-values, wins and clusters


def test_every_published_p_value_win_and_cluster():
    data = golden()
    ends = np.cumsum(data["wmt_counts"])
    rows = np.split(data["wmt_scores"], ends[:-1])
    table = ScoreTable(
        {
            f"s{k}": {"z": MetricResult("z", float(np.mean(row)), _items(row), "")}
            for k, row in enumerate(rows)
        }
    )
    ranking = rank_systems(table)
    assert list(ranking.systems) == [f"s{k}" for k in range(len(rows))]
    published_p, p = data["wmt_p"], ranking.p
    significant = (published_p != NOT_SIGNIFICANT) & ~np.eye(len(rows), dtype=bool)
    assert np.log10(p[significant]) == pytest.approx(np.log10(published_p[significant]), abs=1e-9)
    assert (p[(published_p == NOT_SIGNIFICANT) & ~np.eye(len(rows), dtype=bool)] >= 0.05).all()
    assert ranking.wins.sum(axis=1).tolist() == data["wmt_wins"].tolist()
    clusters = [*ranking.clusters.values(), 0]
    assert [a != b for a, b in pairwise(clusters)] == data["wmt_ends"].tolist()


def _items(row):
    return ItemScores.of({str(k): float(score) for k, score in enumerate(row)})
